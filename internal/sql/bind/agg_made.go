package bind

import "github.com/kelpiedb/kelpie/internal/sql/ast"

// madeAggregates rewrite aggregates as others with a filter. A call with another number of arguments stays as it is, and is
// refused as one of the other.
var madeAggregates = map[string]func(*ast.Func) *ast.Func{
	"count_if": countIf, "countif": countIf,
	"approx_count_distinct": func(e *ast.Func) *ast.Func {
		f := *e
		f.Distinct = true
		return &f
	},
	"regr_count": func(e *ast.Func) *ast.Func { return ofPairs(e, -1) },
	"regr_avgx":  func(e *ast.Func) *ast.Func { return ofPairs(e, 1) },
	"regr_avgy":  func(e *ast.Func) *ast.Func { return ofPairs(e, 0) },
}

// countIf is count(*) FILTER (WHERE x).
func countIf(e *ast.Func) *ast.Func {
	if len(e.Args) != 1 || e.Distinct {
		return e
	}
	f := *e
	f.Args, f.Star = nil, true
	f.Filter = both(e.Pos, e.Filter, e.Args[0].X)
	return &f
}

// ofPairs is an aggregate of one of two arguments, cast to a double, or count(*) for -1, over the rows in which neither is NULL.
func ofPairs(e *ast.Func, arg int) *ast.Func {
	if len(e.Args) != 2 {
		return e
	}
	f := *e
	y, x := e.Args[0].X, e.Args[1].X
	f.Filter = both(e.Pos, e.Filter, &ast.IsNull{Pos: e.Pos, X: y, Not: true})
	f.Filter = both(e.Pos, f.Filter, &ast.IsNull{Pos: e.Pos, X: x, Not: true})
	if arg < 0 {
		f.Args, f.Star = nil, true
		return &f
	}
	double := ast.TypeName{Pos: e.Pos, Name: "double precision"}
	f.Args = []ast.Arg{{X: &ast.Cast{Pos: e.Pos, X: e.Args[arg].X, Type: double}}}
	return &f
}

// both is the conjunction of two conditions, of which the first may be missing.
func both(pos int, a, b ast.Expr) ast.Expr {
	if a == nil {
		return b
	}
	return &ast.Logical{Pos: pos, Op: ast.And, Args: []ast.Expr{a, b}}
}
