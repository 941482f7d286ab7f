// Package code holds a function while it is written: values in registers, the columns of the row at hand, blocks of
// control flow, and the words of the context that the function asks for.
//
// In: an ir.Builder and what the surroundings can do (Abilities). Out: instructions, Words for the executor to fill,
// literals and errors. What surrounds a row, a loop of the CPU or a warp, is not known here or in the packages
// above that write expressions. Read value.go, then env.go.
package code
