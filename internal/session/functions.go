package session

import (
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// Function is a function or operator as its users see it.
type Function struct {
	Name      string
	Signature string // lpad(text, bigint [, text])
	Result    string // the name of its type, or what an aggregate computes
	Group     string // of the reference
	Example   string // an expression and its value, "" if there is none
}

// Functions are all functions, operators, aggregates and window functions.
func Functions() []Function {
	var out []Function
	for i := range funcs.Rows {
		r := &funcs.Rows[i]
		out = append(out, Function{r.Name, r.Signature(), r.ResultName(), r.Group, r.Example})
	}
	for _, a := range bind.Aggregates() {
		out = append(out, Function{a.Name, a.Name + "(" + a.Args + ")", a.Doc, "Aggregates", ""})
	}
	for _, w := range bind.WindowFunctions() {
		out = append(out, Function{w.Name, w.Name + "(" + w.Args + ")", w.Doc, "Window functions", ""})
	}
	return out
}
