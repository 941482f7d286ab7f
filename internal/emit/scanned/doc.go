// Package scanned says what a table that is scanned looks like to the code of one pipeline: the columns of a segment by
// their shapes, bounds on them, and the semi-join filters that stand before them.
//
// In: a plan.Scan and the shapes of its chunks. Out: code that reads a column at a row. Read column.go.
package scanned
