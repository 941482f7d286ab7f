package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// folds separates the aggregates of a group that Go computes from those of generated code: each kind gets a grouping of
// its own, joined on the keys. Everything that a fold reads becomes a column of its input.
func (s *state) folds(g *plan.Group) plan.Node {
	if slices.ContainsFunc(g.Aggs, func(a plan.Agg) bool { return a.Func != plan.Folded }) {
		s.readTwice(g)
	}
	rest := &plan.Group{Input: g.Input, Keys: g.Keys, KeyCols: g.KeyCols}
	fold := &plan.Group{Keys: g.Keys, KeyCols: g.KeyCols}
	for _, a := range g.Aggs {
		if a.Func == plan.Folded {
			fold.Aggs = append(fold.Aggs, a)
		} else {
			rest.Aggs = append(rest.Aggs, a)
		}
	}
	fold.Input = g.Input
	if len(rest.Aggs) == 0 {
		return s.columnsForFold(fold)
	}
	keys := fold.KeyCols
	fold = s.reread(fold)
	j := &plan.Join{Kind: plan.Inner, Left: s.columnsForFold(fold), AtMostOne: true, Right: rest}
	if distinctly(rest) {
		j.Right = s.distinctGroup(rest)
	}
	for k := range keys {
		s.addKey(j, s.ref(fold.KeyCols[k]), s.ref(keys[k]), true)
	}
	return j
}

// columnsForFold computes what a fold reads in a projection below it.
func (s *state) columnsForFold(g *plan.Group) plan.Node {
	in := plan.Produced(g.Input)
	p := &plan.Project{Input: g.Input, Keep: in.Slice()}
	column := func(e plan.Expr) plan.Expr {
		if r, ok := e.(*plan.Ref); ok && in.Has(r.ID) {
			return r
		}
		i := slices.IndexFunc(p.Exprs, func(x plan.Expr) bool { return plan.EqualExpr(x, e) })
		if i < 0 {
			i = len(p.Exprs)
			p.Exprs, p.Cols = append(p.Exprs, e), append(p.Cols, s.newCol(nameOf(s.cols, e), e))
		}
		return s.ref(p.Cols[i])
	}
	g.Keys = slices.Clone(g.Keys)
	for i, k := range g.Keys {
		g.Keys[i] = column(k)
	}
	g.Aggs = slices.Clone(g.Aggs)
	for i := range g.Aggs {
		a := &g.Aggs[i]
		filter := a.Filter
		a.MapExprs(func(e plan.Expr) plan.Expr {
			if filter != nil && e != filter && mayFail(e) { // it is only looked at where the filter is true
				e = plan.NewCall(plan.Case, e.Type(), filter, e, plan.NullConst(e.Type()))
			}
			return column(e)
		})
	}
	if len(p.Cols) > 0 {
		g.Input = p
	}
	return g
}
