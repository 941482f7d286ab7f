package pipe

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// Spread gives each arithmetic operation of a projection or of an aggregate's argument an operator of its own, as engines have them that run
// one operator at a time: in pipelines that are wanted so, and what comes to a sink of theirs. It comes before Unfuse.
func (p *Program) Spread(wanted func(q *Pipeline) bool) {
	s := &spreader{cols: p.Query.Cols, tails: map[*Aggregate][]Op{}}
	into := map[Sink]bool{}
	for _, q := range p.Pipelines {
		into[q.Sink] = into[q.Sink] || wanted(q)
	}
	for _, q := range p.Pipelines {
		if q.Loop != nil || !into[q.Sink] {
			continue
		}
		var ops []Op
		for _, op := range q.Ops {
			if m, ok := op.(*Map); ok {
				ops = append(ops, s.projection(m)...)
			} else {
				ops = append(ops, op)
			}
		}
		if a, ok := q.Sink.(*Aggregate); ok {
			ops = append(ops, s.arguments(a)...)
		}
		q.Ops = ops
	}
}

type spreader struct {
	cols  *plan.Columns
	tails map[*Aggregate][]Op // what comes before a sink, in all pipelines that end there
}

// projection is a map as operators of one operation each, and one for all that is no arithmetic.
func (s *spreader) projection(m *Map) (out []Op) {
	rest := &Map{Node: m.Node}
	for i, x := range m.Exprs {
		y := s.spread(x, &out)
		rest.Exprs, rest.Cols = append(rest.Exprs, y), append(rest.Cols, m.Cols[i])
	}
	return append(out, rest)
}

// arguments computes those of aggregates. One with a filter is only looked at where that is true.
func (s *spreader) arguments(a *Aggregate) []Op {
	if out, ok := s.tails[a]; ok {
		return out
	}
	var out []Op
	g := *a.Group
	g.Aggs = slices.Clone(g.Aggs)
	for i := range g.Aggs {
		if x := &g.Aggs[i]; x.Filter == nil && arithmetic(x.Arg) {
			x.Arg = s.define(s.spread(x.Arg, &out), &out)
		}
	}
	if len(out) > 0 {
		a.Group = &g
	}
	s.tails[a] = out
	return out
}

// spread is x with columns, which operators before define, for the operations among its operands.
func (s *spreader) spread(x plan.Expr, out *[]Op) plan.Expr {
	if !arithmetic(x) {
		return x
	}
	c := x.(*plan.Call)
	y := *c
	y.Args = slices.Clone(c.Args)
	for i, a := range c.Args {
		if arithmetic(a) {
			y.Args[i] = s.define(s.spread(a, out), out)
		}
	}
	return &y
}

// define is a reference to a column that has the value of x.
func (s *spreader) define(x plan.Expr, out *[]Op) plan.Expr {
	id := s.cols.New("expr", x.Type(), false)
	*out = append(*out, &Map{Exprs: []plan.Expr{x}, Cols: []plan.ColID{id}})
	return s.cols.NewRef(id)
}

// arithmetic reports an operation on numbers, of which all operands are computed in any case.
func arithmetic(x plan.Expr) bool {
	c, ok := x.(*plan.Call)
	if !ok {
		return false
	}
	switch c.Op {
	case plan.Add, plan.Sub, plan.Mul, plan.Div, plan.Mod, plan.Neg:
		return true
	}
	return false
}
