// Package emit writes Flounder IR for a pipeline: operators and expressions become
// one function that takes a range of rows.
//
// In: a pipe.Pipeline and the facts of the moment (chunk shapes, finished hash tables).
// Out: a Fragment: the ir.Func, what must stand in its context block, and the layout of the
// tuples that its sink writes. The style is produce/consume: the source opens the row
// loop, each operator adds its part and calls the next, the sink ends it. Read emit.go, then
// an operator such as filter.go. Expressions are written by package scalar, over package code (what a value is, how
// columns are found) and package text.
//
// What surrounds a row is a frame (frame.go): rowloop.go for the CPU, warp.go for a GPU, each with its way to write
// tuples, to find groups and to go over the matches of a join. Operators know no more of it.
package emit
