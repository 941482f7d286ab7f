package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// foldedGroup leaves to Go what generated code cannot compute.
func (s *state) foldedGroup(g *plan.Group) plan.Node {
	if distinctly(g) || !slices.ContainsFunc(g.Aggs, s.spreadable) {
		return s.folds(g)
	}
	top := s.splitGroup(g, true)
	if p, ok := top.(*plan.Project); ok && g.Folded() {
		p.Input = s.folds(g)
	}
	return top
}

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
	below := s.newColumnsBelow(g)
	g.Keys = slices.Clone(g.Keys)
	for i, k := range g.Keys {
		g.Keys[i] = below.column(k)
	}
	g.Aggs = slices.Clone(g.Aggs)
	for i := range g.Aggs {
		below.arguments(&g.Aggs[i])
	}
	below.put(g)
	return g
}

// columnsBelow is a projection below a group that is to read columns alone.
type columnsBelow struct {
	s  *state
	in plan.ColSet
	p  *plan.Project
}

func (s *state) newColumnsBelow(g *plan.Group) *columnsBelow {
	in := plan.Produced(g.Input)
	return &columnsBelow{s, in, &plan.Project{Input: g.Input, Keep: in.Slice()}}
}

// column is a column with the value of e.
func (c *columnsBelow) column(e plan.Expr) plan.Expr {
	if r, ok := e.(*plan.Ref); ok && c.in.Has(r.ID) {
		return r
	}
	i := slices.IndexFunc(c.p.Exprs, func(x plan.Expr) bool { return plan.EqualExpr(x, e) })
	if i < 0 {
		i = len(c.p.Exprs)
		c.p.Exprs, c.p.Cols = append(c.p.Exprs, e), append(c.p.Cols, c.s.newCol(nameOf(c.s.cols, e), e))
	}
	return c.s.ref(c.p.Cols[i])
}

// arguments makes columns of all that an aggregate reads.
func (c *columnsBelow) arguments(a *plan.Agg) {
	filter := a.Filter
	a.MapExprs(func(e plan.Expr) plan.Expr {
		if filter != nil && e != filter && mayFail(e) { // it is only looked at where the filter is true
			e = plan.NewCall(plan.Case, e.Type(), filter, e, plan.NullConst(e.Type()))
		}
		return c.column(e)
	})
}

// put has the group read the columns.
func (c *columnsBelow) put(g *plan.Group) {
	if len(c.p.Cols) > 0 {
		g.Input = c.p
	}
}
