// Package eval computes expressions in Go, over values: what the optimizer knows before a query
// runs (constants, entries of a dictionary), and what is not worth generating code for.
//
// In: a plan.Expr and the values of the columns that it reads. Out: a types.Value, or an error
// with its SQLSTATE and the place in the query text. Generated code and this package must agree on
// every operation that both know; the tests of package session hold them to it. Read eval.go for
// the operations that choose what they look at, then ops.go, which has one case per operation.
package eval
