// Package automaton makes tables of regular expressions: deterministic automata over bytes, of which generated code and Go take one
// step for each byte of a text, whatever the pattern.
//
// What goes in is a pattern in the syntax of Go's package regexp, whose meaning it has; what comes out is a Table, or nil where there is
// none that is small: then regexp does the work. Texts are valid UTF-8. Read table.go first.
package automaton
