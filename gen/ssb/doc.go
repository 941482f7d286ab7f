// Package ssb generates the five tables of the Star Schema Benchmark, row for row equal to the reference
// generator, with one exception: below scale factor 1 the reference cuts the date table short, and the
// one here always has all days from 1992 to 1998.
//
// Tables lists them; see package gen for how to generate a range of rows. Any range can be generated
// alone, and nothing that is kept grows with the scale factor.
//
// The reference generates all tables in one run, and some of its random streams serve two tables, so
// that where a table's stream begins depends on the size of another table; see streams.go.
package ssb
