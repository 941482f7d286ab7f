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
// The GPU gets the same operators inside another frame, gpu_frame.go, with sinks of its own:
// gpu_write.go, gpu_share.go (sums and their like) and gpu_group.go.
package emit
