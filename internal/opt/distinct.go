package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// distinct replaces aggregates over distinct values by a grouping that removes the duplicates and a
// second one that aggregates. Other aggregates beside them are computed in parts by the first
// and combined by the second. Several different arguments take a grouping each, joined on the keys. Aggregates that Go
// computes take one of their own, too.
func (s *state) distinct() {
	s.mapNodes(func(n plan.Node) plan.Node {
		g, ok := n.(*plan.Group)
		switch {
		case ok && g.Folded():
			return s.foldedGroup(g)
		case ok && distinctly(g):
			return s.distinctGroup(g)
		}
		return n
	})
}

// distinctly reports that some aggregate is over distinct values.
func distinctly(g *plan.Group) bool {
	return slices.ContainsFunc(g.Aggs, func(a plan.Agg) bool { return a.Distinct })
}

func (s *state) distinctGroup(g *plan.Group) plan.Node {
	s.dropDistinct(g)
	// Averages without DISTINCT have to be combined from sums and counts.
	top := s.splitGroup(g, false)
	args := distinctArgs(g)
	var body plan.Node
	switch len(args) {
	case 0:
		return top
	case 1:
		body = s.twoLevels(g, args[0])
	default:
		body = s.distinctJoin(g)
	}
	if p, ok := top.(*plan.Project); ok {
		p.Input = body
		return p
	}
	return body
}

// dropDistinct removes DISTINCT where it changes nothing, and FILTER from those that keep it:
// a value that does not count is a NULL.
func (s *state) dropDistinct(g *plan.Group) {
	for i := range g.Aggs {
		a := &g.Aggs[i]
		if !a.Distinct {
			continue
		}
		cols := plan.Refs(a.Arg)
		if _, plain := a.Arg.(*plan.Ref); plain {
			for _, k := range g.Keys {
				if r, ok := k.(*plan.Ref); ok {
					cols.Add(r.ID)
				}
			}
			if s.uniqueOn(g.Input, cols, false) {
				a.Distinct = false
				continue
			}
		}
		if a.Filter != nil {
			t := a.Arg.Type()
			a.Arg = plan.NewCall(plan.Case, t, a.Filter, a.Arg, plan.NullConst(t))
			a.Filter = nil
		}
	}
}

// distinctArgs lists the different arguments of DISTINCT aggregates.
func distinctArgs(g *plan.Group) []plan.Expr {
	var args []plan.Expr
	for _, a := range g.Aggs {
		if a.Distinct && !plan.ContainsExpr(args, a.Arg) {
			args = append(args, a.Arg)
		}
	}
	return args
}

// twoLevels groups by the keys and arg, then by the keys.
func (s *state) twoLevels(g *plan.Group, arg plan.Expr) plan.Node {
	inner := &plan.Group{Input: g.Input, Keys: append(slices.Clone(g.Keys), arg)}
	outer := &plan.Group{Input: inner, KeyCols: g.KeyCols}
	for i, k := range g.Keys {
		id := g.KeyCols[i]
		if !isColumn(k, id) {
			id = s.copyCol(id)
		}
		inner.KeyCols = append(inner.KeyCols, id)
		outer.Keys = append(outer.Keys, &plan.Ref{ID: id, T: k.Type()})
	}
	value := s.newCol(nameOf(s.cols, arg), arg)
	inner.KeyCols = append(inner.KeyCols, value)
	c := combiner{s: s, inner: inner, outer: outer}
	for _, a := range g.Aggs {
		if a.Distinct {
			outer.Aggs = append(outer.Aggs, plan.Agg{Func: a.Func, Arg: s.ref(value), Col: a.Col})
		} else {
			c.combine(a)
		}
	}
	if len(c.exprs) == 0 {
		return outer
	}
	p := &plan.Project{Input: outer, Exprs: c.exprs, Cols: c.cols}
	done := plan.MakeColSet(c.cols...)
	for _, id := range outer.Produces(nil) {
		if !done.Has(id) && !c.hidden.Has(id) {
			p.Keep = append(p.Keep, id)
		}
	}
	return p
}

// isColumn reports that e is just that column. Group keys that are plain columns keep their names.
func isColumn(e plan.Expr, id plan.ColID) bool {
	r, ok := e.(*plan.Ref)
	return ok && r.ID == id
}

// combiner computes an aggregate in two steps.
type combiner struct {
	s            *state
	inner, outer *plan.Group
	exprs        []plan.Expr
	cols         []plan.ColID
	hidden       plan.ColSet
}

func (c *combiner) combine(a plan.Agg) {
	s := c.s
	t := s.cols.Get(a.Col).Type
	part := a
	if !isColumn(a.Arg, a.Col) {
		part.Col = s.cols.New(s.cols.Get(a.Col).Name, t, false)
	}
	c.inner.Aggs = append(c.inner.Aggs, part)
	up := plan.Agg{Func: a.Func, Arg: s.ref(part.Col), Col: a.Col}
	switch a.Func {
	case plan.Min, plan.Max, plan.AnyValue, plan.BoolAnd, plan.BoolOr:
		c.outer.Aggs = append(c.outer.Aggs, up)
		return
	case plan.Sum, plan.Count, plan.CountStar:
	default:
		panic(diag.Internalf("opt distinct", "cannot combine %s", a.Func))
	}
	up.Func = plan.Sum
	sumType, _ := types.SumType(t)
	if sumType == t {
		c.outer.Aggs = append(c.outer.Aggs, up)
		return
	}
	// The sum of sums has a wider type; counts of nothing are zero.
	up.Col = s.cols.New("sum", sumType, false)
	c.hidden.Add(up.Col)
	c.outer.Aggs = append(c.outer.Aggs, up)
	var e plan.Expr = plan.NewCall(plan.Cast, t, s.ref(up.Col))
	if a.Func != plan.Sum {
		e = plan.NewCall(plan.Coalesce, t, e, plan.NewConst(types.IntValue(t, 0)))
	}
	c.exprs = append(c.exprs, e)
	c.cols = append(c.cols, a.Col)
}

// distinctJoin computes the aggregates of each distinct argument, and those without, apart,
// and joins the results: every grouping has the same groups.
func (s *state) distinctJoin(g *plan.Group) plan.Node {
	s.readTwice(g)
	args := distinctArgs(g)
	var parts []*plan.Group
	part := func(want func(plan.Agg) bool) {
		p := &plan.Group{Input: g.Input, Keys: g.Keys, KeyCols: g.KeyCols}
		for _, a := range g.Aggs {
			if want(a) {
				p.Aggs = append(p.Aggs, a)
			}
		}
		if len(p.Aggs) > 0 {
			parts = append(parts, p)
		}
	}
	// The first part reads the input itself, the others copies. Aggregates that go by the name of a column of the input, as values of JSONB keys do, are in the first.
	part(func(a plan.Agg) bool { return !a.Distinct })
	for _, arg := range args {
		part(func(a plan.Agg) bool { return a.Distinct && plan.EqualExpr(a.Arg, arg) })
	}

	var out plan.Node
	for i, p := range parts {
		keys := p.KeyCols
		if i > 0 {
			p = s.reread(p)
		}
		var n plan.Node = p
		if ds := distinctArgs(p); len(ds) > 0 {
			n = s.twoLevels(p, ds[0])
		}
		if i == 0 {
			out = n
			continue
		}
		j := &plan.Join{Kind: plan.Inner, Left: out, Right: n, AtMostOne: true}
		for k := range keys {
			s.addKey(j, s.ref(keys[k]), s.ref(p.KeyCols[k]), true)
		}
		out = j
	}
	return out
}

// reread is the same grouping over a copy of its input, with other names for the keys.
func (s *state) reread(p *plan.Group) *plan.Group {
	in, names := plan.CloneNode(s.cols, p.Input)
	out := &plan.Group{Input: in, Aggs: slices.Clone(p.Aggs)}
	for i, k := range p.Keys {
		out.Keys = append(out.Keys, names.Expr(k))
		out.KeyCols = append(out.KeyCols, s.copyCol(p.KeyCols[i]))
	}
	for i := range out.Aggs {
		out.Aggs[i].MapExprs(names.Expr)
	}
	return out
}
