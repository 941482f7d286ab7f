// Package gen is what the data generators have in common: the description of a table, the columnar
// batch that a generator fills, and the reference's .tbl text format.
//
// A Table is cut into units that can be generated alone and in any order. A unit is a row, except in
// the tables of order lines, where it is an order. Generate fills a Batch with the rows of a range of
// units; integers, decimals and dates arrive as int64 and strings as one arena with offsets, so that
// an engine copies them into its columns without parsing text. All functions may be called from many
// goroutines, each with a Batch of its own.
//
// Read table.go first, then batch.go; the benchmarks themselves are in gen/tpch and gen/ssb.
package gen
