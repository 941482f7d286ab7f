// Package session is the walk of a query from text to rows: parse, bind, optimize, cut into
// pipelines, run. It also holds what a connection remembers: settings and prepared statements.
//
// In: SQL text and a context. Out: a Result that delivers Arrow record batches. Read
// session.go, then query.go.
package session
