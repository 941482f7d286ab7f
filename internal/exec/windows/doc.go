// Package windows computes window functions over tuples that a sink has collected, all of them, with room for the results.
// Tuples are ordered by the keys of a window (exec/sorting says where keys change); then blocks of whole partitions are
// taken one after the other: columns of arguments are read into arrays, functions computed by loops over arrays, and
// results written back into the tuples.
//
// In: tuples.Rows and a plan.Window. Out: the same tuples, filled in, in the order of the last window. Read window.go for
// the blocks, frame.go for which rows a function looks at; then each kind of function has its file. No function takes
// time in proportion to the size of the frame for a row, but for those whose values are that long (string_agg, array_agg) and
// a few that are rarely asked for (mode, mad, entropy, skewness …): see fold.go.
package windows
