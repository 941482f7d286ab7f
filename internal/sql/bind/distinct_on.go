package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// distinctOn binds DISTINCT ON (…), whose entries are named like those of ORDER BY.
func (b *binder) distinctOn(s *scope, sel *ast.Select, items []item) []orderKey {
	var on []orderKey
	for _, x := range sel.DistinctOn {
		on = append(on, b.orderKey(s, x, items, "DISTINCT ON"))
	}
	return on
}

// keepFirst keeps one row for each value of the keys: the first by the order, of which the keys must be the beginning.
func (b *binder) keepFirst(r *result, keys, order []orderKey) {
	rest := orderBehind(keys, order)
	n, keys := b.sortable(r.node, keys, keys[0].at.pos)
	g := &plan.Group{Input: n}
	cols := make([]outCol, len(keys))
	for i, k := range keys {
		cols[i].id = k.col
	}
	b.groupKeys(g, cols)
	// All from one row: any_value would look for values that are not NULL.
	first := plan.Agg{Func: plan.First}
	if len(rest) > 0 {
		first = plan.Agg{Func: plan.Folded, Fold: funcs.FirstRow}
		for _, k := range rest {
			first.Order = append(first.Order, plan.AggOrder{X: b.ref(k.col), Desc: k.desc, NullsFirst: k.nullsFirst})
		}
	}
	keep := func(id plan.ColID) {
		if slices.Contains(g.KeyCols, id) || slices.ContainsFunc(g.Aggs, func(a plan.Agg) bool { return a.Col == id }) {
			return
		}
		a := first
		a.Arg, a.Col = b.ref(id), id
		g.Aggs = append(g.Aggs, a)
	}
	for i := range r.cols {
		keep(r.cols[i].id)
	}
	for _, k := range order { // rows will be sorted by them
		keep(k.col)
	}
	r.node = g
}

// orderBehind is what ORDER BY says after the keys of DISTINCT ON, which it must begin with, in any order of them.
func orderBehind(keys, order []orderKey) []orderKey {
	mismatch := func(pos int) {
		fail(diag.InvalidColumnReference, pos, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
	}
	var rest []orderKey
	for _, k := range order {
		switch at := slices.IndexFunc(keys, func(o orderKey) bool { return o.col == k.col }); {
		case at < 0:
			rest = append(rest, k)
		case len(rest) > 0:
			mismatch(keys[at].at.pos)
		}
	}
	for i, k := range keys {
		if len(rest) > 0 && !slices.ContainsFunc(order, func(o orderKey) bool { return o.col == k.col }) {
			mismatch(keys[i].at.pos)
		}
	}
	return rest
}
