// Package tables organizes the build sides of joins: the tuples that a sink has collected become a
// layout.Table that generated code probes, addressed by the key (dense.go) or hashed (hash.go), and
// their keys become sets, bitmaps or Bloom filters, by which scans drop rows early (set.go).
//
// In: buffers of tuples, and the threads and memory of a query. Out: a Builder with the table, which
// lasts as long as the query reads it. Nothing here knows where tuples come from or who probes.
// Read table.go first; keys.go reads keys in batches for all the others.
package tables
