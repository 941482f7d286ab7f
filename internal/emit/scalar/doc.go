// Package scalar writes expressions: a plan.Expr over the columns of the row at hand becomes a code.Value.
//
// In: expressions and what ranges, dictionaries and NULLs are known of their columns. Out: code, with as few checks as
// those facts leave. CanEmit says for which operations there is code at all. Read expr.go, then arith.go.
package scalar
