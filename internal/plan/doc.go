// Package plan is the logical plan: relational operators over typed columns.
//
// In: what a front end (sql, datalog) binds. Out: a tree of Nodes that opt
// rewrites and pipe cuts into pipelines. Columns are identified by ColID, unique in
// a query, never by position, so that operators can be moved freely. Read
// node.go, then expr.go.
package plan
