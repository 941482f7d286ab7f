// Package sorting orders tuples. Keys become numbers, packed into words (keys.go), which a radix
// sort orders (radix.go); tuples are compared only where texts are long or few are left (sort.go).
// Where a word tells all there is to know of a tuple, tuples are written anew instead of being
// visited (bare.go), and where only the first rows are wanted, a few times as many are kept at any
// time (topn.go).
//
// In: tuples.Rows, the keys, and the threads and memory of a query. Out: the same rows in order.
// Nothing here knows where tuples come from.
package sorting
