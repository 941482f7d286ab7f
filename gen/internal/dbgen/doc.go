// Package dbgen is the common ancestry of the TPC-H and SSB generators: seekable streams of random
// numbers, weighted word lists, and the few kinds of text that both build from them.
//
// The reference generators give every column a random stream of its own and let every row consume a
// fixed quantity of it, used or not. Here a Stream stands at the beginning of a row and steps from row
// to row by one multiplication, and a Rand draws the numbers of one row. A Stream can be created at any
// row, which is what makes the tables seekable.
//
// Read rng.go first.
package dbgen
