// Package folds makes groups of collected rows in Go, for aggregates that look at all rows of a group at once: in an order,
// or at those in its middle.
//
// In: tuples, and a plan.Group whose aggregates are folds of columns. Out: a tuple for each group. Rows are sorted by the
// keys; stretches of whole groups are computed on all threads. Read groups.go.
package folds
