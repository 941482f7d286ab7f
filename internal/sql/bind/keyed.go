package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Groups and set operations are bound by the columns that they have. Once a statement is whole, those whose bytes do not say what is equal
// get a key beside them by which rows are grouped and matched.

// byKeys does that for a plan and the subqueries in it.
func (b *binder) byKeys(n plan.Node) {
	plan.WalkNode(n, func(n plan.Node) bool {
		switch n := n.(type) {
		case *plan.Group:
			b.groupByKeys(n)
		case *plan.Join:
			n.LKeys, n.RKeys = matchedBy(n.LKeys), matchedBy(n.RKeys)
		}
		plan.NodeExprs(n, func(e plan.Expr) {
			plan.WalkExpr(e, func(e plan.Expr) bool {
				if s, ok := e.(*plan.Subquery); ok {
					b.byKeys(s.Plan)
				}
				return true
			})
		})
		return true
	})
}

func matchedBy(keys []plan.Expr) []plan.Expr {
	out := slices.Clone(keys)
	for i, k := range out {
		out[i] = groupedBy(k, diag.NoPos)
	}
	return out
}

// groupByKeys groups by keys of values. The value of a group is one of those that its rows have, the same whatever the order in which they
// come: the least by its bytes.
func (b *binder) groupByKeys(g *plan.Group) {
	below := &plan.Project{}
	g.Keys, g.KeyCols, g.Aggs = slices.Clone(g.Keys), slices.Clone(g.KeyCols), slices.Clone(g.Aggs) // others may read them
	for i, k := range g.Keys {
		if !k.Type().Keyed() {
			continue
		}
		value, ok := k.(*plan.Ref)
		if !ok { // it may have a subquery, which is computed once
			id := b.newCol(b.cols.Get(g.KeyCols[i]).Name, k)
			below.Exprs, below.Cols = append(below.Exprs, k), append(below.Cols, id)
			value = b.ref(id).(*plan.Ref)
		}
		key := groupedBy(value, diag.NoPos)
		g.Aggs = append(g.Aggs, plan.Agg{Func: plan.Min, Arg: value, Col: g.KeyCols[i]})
		g.Keys[i], g.KeyCols[i] = key, b.newCol(b.cols.Get(value.ID).Name, key)
	}
	if len(below.Exprs) > 0 {
		below.Input, below.Keep = g.Input, g.Input.Produces(nil)
		g.Input = below
	}
	for i := range g.Aggs {
		if a := &g.Aggs[i]; a.Func == plan.Count && a.Distinct {
			a.Arg = groupedBy(a.Arg, diag.NoPos)
		}
	}
}
