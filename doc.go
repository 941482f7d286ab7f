// Package kelpie is an analytical SQL engine in a Go package: it compiles every query to machine
// code and answers in Arrow record batches. There is no cgo and nothing to install.
//
//	db, err := kelpie.Open()
//	defer db.Close()
//	s := db.Session()
//	res, err := s.Query(ctx, "select name, price from items where price < $1", 20)
//	defer res.Close()
//	for batch, err := range res.Batches() {
//		…
//	}
//
// A DB holds tables, a Session the settings of one user of it, and a Result the rows of one
// statement: as Arrow batches (Batches, Reader) or row by row (Next and Scan). A mistake in a
// statement is an *Error with PostgreSQL's SQLSTATE, a place in the text and often a hint.
//
// The dialect is PostgreSQL's. Read kelpie.go first, then session.go and result.go.
package kelpie
