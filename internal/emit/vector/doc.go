// Package vector writes the front of a filtered scan: tests of 64 rows at a time, and the list of those that pass.
//
// In: a scanned.Table, its predicates and semi-join filters. Out: a loop over the rows that pass, and those
// predicates that are left to its body. Read front.go, then mask.go.
package vector
