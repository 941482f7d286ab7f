// Package tuples is what pipelines leave behind: arrays of tuples, whose layout layout.Tuple
// describes. A sink writes them into a Buffer, chunk by chunk; finished ones are Rows, pieces of
// memory in order; a Word reads a field of many tuples at once.
package tuples
