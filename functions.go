package kelpie

import "github.com/kelpiedb/kelpie/internal/session"

// Function is a function, operator or aggregate of SQL.
type Function struct {
	Name      string
	Signature string // lpad(text, bigint [, text])
	Result    string // its type, or what an aggregate computes
	Group     string // such as Text or Aggregates
	Example   string // an expression and its value, as "abs(-1) → 1"; "" if there is none
}

// Functions are all that there are, those of one name one after the other for the types that they take.
func Functions() []Function {
	var out []Function
	for _, f := range session.Functions() {
		out = append(out, Function(f))
	}
	return out
}
