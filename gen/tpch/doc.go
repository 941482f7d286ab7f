// Package tpch generates the eight tables of TPC-H, row for row equal to the reference dbgen.
//
// Tables lists them; see package gen for how to generate a range of rows. Any range can be generated
// alone, and nothing that is kept grows with the scale factor. Comments are substrings of one random
// text of 300 MiB, the same for every scale factor, of which only the parts that are asked for are
// built; ReleaseText gives that memory back.
//
// Read schema.go first, then orders.go and lineitem.go, the only tables that depend on each other.
package tpch
