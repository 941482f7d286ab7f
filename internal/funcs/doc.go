// Package funcs is the registry of SQL's functions: one row per name and types, with what it means.
//
// In: a name. Out: its rows (Find), of which the binder takes the one that fits the arguments best. A row is an operation of
// package plan, for which there is code, or a function that Go computes at a cut of the pipeline (Row.Fn), or
// something the binder makes of other operations. Adding a function is adding a row: read row.go, then any of
// the tables (text_table.go, math_table.go, date_table.go …). docs/functions.md is written from the rows, and
// the examples in them are run by the tests of package session.
package funcs
