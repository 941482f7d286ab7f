package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// orderedBy is what x is compared and sorted by: of what bytes do not compare, a key that Go computes (see types.OrderKey); of others x itself.
// It fails for types that have no order.
func orderedBy(x plan.Expr, pos int) plan.Expr { return comparedBy(x, "an ordering", pos) }

// equalBy is what tells whether values of x are equal, likewise.
func equalBy(x plan.Expr, pos int) plan.Expr { return comparedBy(x, "an equality", pos) }

func comparedBy(x plan.Expr, what string, pos int) plan.Expr {
	t := x.Type()
	for t.Kind == types.List {
		t = t.Elem()
	}
	if t == types.TJSON {
		fail(diag.UndefinedFunction, pos, "could not identify %s operator for type json", what)
	}
	return groupedBy(x, pos)
}

// groupedBy is equalBy where JSON is told apart by its text, as DuckDB does it: PostgreSQL has no groups of JSON.
func groupedBy(x plan.Expr, pos int) plan.Expr {
	if !x.Type().Keyed() {
		return x
	}
	return computed(plan.NewApply(funcs.OrderKey, types.KeyType(x.Type()), pos, x))
}

// unkeyed is what orderedBy made x of.
func unkeyed(x plan.Expr) plan.Expr {
	if c, ok := x.(*plan.Call); ok && c.Fn == funcs.OrderKey {
		return c.Args[0]
	}
	return x
}

// sortable adds the columns to n that its rows are sorted by where the keys themselves are not that.
func (b *binder) sortable(n plan.Node, keys []orderKey, pos int) (plan.Node, []orderKey) {
	p := &plan.Project{Input: n}
	out := make([]orderKey, len(keys))
	for i, k := range keys {
		if x := orderedBy(b.ref(k.col), pos); x.Type() != b.cols.Get(k.col).Type {
			k.col = b.newCol(b.cols.Get(k.col).Name, x)
			p.Exprs, p.Cols = append(p.Exprs, x), append(p.Cols, k.col)
		}
		out[i] = k
	}
	if p.Cols == nil {
		return n, keys
	}
	p.Keep = n.Produces(nil)
	return p, out
}
