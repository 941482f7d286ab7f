// Package groups keeps the groups of an aggregation: a Table per worker, which generated code fills
// and asks to grow (table.go), by parts of the hash when there are many (parts.go), and one result
// of them all at the end (merge.go). Groups that several workers have are combined by generated code,
// which a Merger runs; everything else is done here, by threads that never meet.
package groups
