// Package plot draws charts as SVG text: bars, lines and shares.
//
// In: a Chart, whose values are plain numbers. Out: an SVG document that is the same for the same numbers, byte for byte, and
// that shows on light and dark pages. Read chart.go first; svg.go has what all kinds share.
package plot
