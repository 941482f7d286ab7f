package opt

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// scalar joins a scalar subquery and returns its value.
func (l *lifter) scalar(q *plan.Subquery) plan.Expr {
	s := l.s
	r, out := dropOrder(q.Plan), q.Output[0]
	free, left := plan.FreeRefs(r), plan.Produced(l.node)
	if free.Intersects(&left) {
		r, out = s.limitOne(r, out)
	}
	if free.Intersects(&left) || l.under != nil { // what stands above an aggregate is then evaluated in its place
		if c := s.aggChain(r); c != nil {
			return l.aggregated(c, c.value(s, out), q.Pos)
		}
	}
	if exactlyOne(r) && !free.Intersects(&left) {
		l.cross(r)
		return s.ref(out)
	}
	l.joinSub(&plan.Join{Kind: plan.Single, Left: l.node, Right: r}, q.Pos)
	return s.ref(out)
}

// limitOne rewrites a correlated LIMIT 1, which cannot be evaluated for all outer rows at once, as
// an aggregate, which can. Other limits stay, and number the rows (unnest_limit.go).
func (s *state) limitOne(r plan.Node, out plan.ColID) (plan.Node, plan.ColID) {
	// Look through projections to the limit; they move below the aggregate.
	var tops []*plan.Project
	n := r
	for {
		p, ok := n.(*plan.Project)
		if !ok {
			break
		}
		tops = append(tops, p)
		n = p.Input
	}
	x, ok := n.(*plan.Sort)
	if !ok || x.Limit != 1 || x.Offset != 0 || len(x.Keys) > 1 {
		return r, out
	}
	in := x.Input
	if len(x.Keys) == 1 {
		if in = s.firstRows(x); in == nil {
			return r, out
		}
	}
	if len(tops) > 0 {
		tops[len(tops)-1].Input = in
		in = tops[0]
	}
	c := s.cols.New(s.cols.Get(out).Name, s.cols.Get(out).Type, false)
	return &plan.Group{Input: in, Aggs: []plan.Agg{{Func: plan.AnyValue, Arg: s.ref(out), Col: c}}}, c
}

// firstRows keeps the rows that ORDER BY k LIMIT 1 may choose from: those with the smallest or largest
// k. The second copy of the input is correlated in the same way. nil: the first may be NULLs, which no aggregate finds.
func (s *state) firstRows(x *plan.Sort) plan.Node {
	k := x.Keys[0]
	notNull := plan.NotNullCols(s.q, x.Input)
	if k.NullsFirst && !notNull.Has(k.Col) {
		return nil
	}
	again, names := plan.CloneNode(s.cols, x.Input)
	f := plan.Min
	if k.Desc {
		f = plan.Max
	}
	best := s.cols.New("first", s.cols.Get(k.Col).Type, false)
	g := &plan.Group{Input: again, Aggs: []plan.Agg{{Func: f, Arg: s.ref(names.Get(k.Col)), Col: best}}}
	return &plan.Filter{
		Input: &plan.Join{Kind: plan.Inner, Left: x.Input, Right: g, AtMostOne: true},
		Preds: []plan.Expr{plan.Compare(plan.NotDistinct, s.ref(k.Col), s.ref(best))},
	}
}

// aggChain is a grouping without keys under projections and filters: exactly one row before the
// filters, for any outer row. The chain above it can be evaluated after the join, on a row whose
// group is missing as well.
type aggChain struct {
	group  *plan.Group
	values map[plan.ColID]plan.Expr // what the projections compute, in columns of the group
	having []plan.Expr
}

func (s *state) aggChain(n plan.Node) *aggChain {
	switch x := n.(type) {
	case *plan.Group:
		if len(x.Keys) > 0 {
			return nil
		}
		return &aggChain{group: x, values: map[plan.ColID]plan.Expr{}}
	case *plan.Sort:
		if x.Limit < 0 && x.Offset == 0 {
			return s.aggChain(x.Input)
		}
	case *plan.Filter:
		if c := s.aggChain(x.Input); c != nil {
			for _, p := range x.Preds {
				c.having = append(c.having, c.expr(p))
			}
			return c
		}
	case *plan.Project:
		if c := s.aggChain(x.Input); c != nil {
			for i, e := range x.Exprs {
				c.values[x.Cols[i]] = c.expr(e)
			}
			return c
		}
	}
	return nil
}

// expr writes an expression in columns of the group.
func (c *aggChain) expr(e plan.Expr) plan.Expr {
	return plan.Substitute(e, func(id plan.ColID) plan.Expr { return c.values[id] })
}

// value is the chain's result column, NULL if HAVING removes the row.
func (c *aggChain) value(s *state, out plan.ColID) plan.Expr {
	e := c.expr(s.ref(out))
	if len(c.having) > 0 {
		e = plan.NewCall(plan.Case, e.Type(), plan.AndOf(c.having...), e, plan.NullConst(e.Type()))
	}
	return e
}

// aggregated joins the group of a chain and returns value, with the aggregates of an empty group where
// there is none.
func (l *lifter) aggregated(c *aggChain, value plan.Expr, pos int) plan.Expr {
	s := l.s
	left := plan.Produced(l.node)
	free := plan.FreeRefs(c.group)
	if !free.Intersects(&left) {
		l.cross(c.group)
		return value
	}
	free.Intersect(left)
	g, on, ok := s.pullGroup(c.group, &free)
	if !ok {
		g, on = s.groupDomain(under(l.node, l.under), c.group, &free, pos)
	}
	s.pad(plan.Left, g)
	l.node = &plan.Join{Kind: plan.Left, Left: l.node, Right: l.gated(g), On: guardAll(on, l.under, &left)}
	return s.emptyGroup(g, value)
}

// emptyGroup replaces counts in an expression by zero where the group is missing.
func (s *state) emptyGroup(g *plan.Group, e plan.Expr) plan.Expr {
	return plan.Substitute(e, func(id plan.ColID) plan.Expr {
		for i := range g.Aggs {
			if a := &g.Aggs[i]; a.Col == id && (a.Func == plan.Count || a.Func == plan.CountStar) {
				return s.countOrZero(id)
			}
		}
		return nil
	})
}

func (s *state) countOrZero(id plan.ColID) plan.Expr {
	t := s.cols.Get(id).Type
	return plan.NewCall(plan.Coalesce, t, s.ref(id), plan.NewConst(types.IntValue(t, 0)))
}

// quantified is needle op ANY or ALL: a comparison with the smallest or largest value, and what NULLs
// and emptiness make of it.
func (l *lifter) quantified(q *plan.Subquery, condition bool) plan.Expr {
	s := l.s
	if len(q.Needle) != 1 {
		panic(diag.Unsupported(q.Pos, "ANY or ALL with a row and an operator other than ="))
	}
	x, v := q.Needle[0], s.ref(q.Output[0])
	agg := func(f plan.AggFunc, arg plan.Expr, t types.Type) plan.Agg {
		return plan.Agg{Func: f, Arg: arg, Col: s.cols.New(f.String(), t, false)}
	}
	lo, hi := agg(plan.Min, v, v.Type()), agg(plan.Max, v, v.Type())
	all, some := agg(plan.CountStar, nil, types.TInt64), agg(plan.Count, v, types.TInt64)
	g := &plan.Group{Input: dropOrder(q.Plan), Aggs: []plan.Agg{lo, hi, all, some}}
	with := func(a plan.Agg) plan.Expr { return plan.Compare(q.Cmp, x, s.ref(a.Col)) }

	zero := plan.NewConst(types.IntValue(types.TInt64, 0))
	empty := plan.Compare(plan.Eq, s.ref(all.Col), zero)
	nulls := plan.Compare(plan.Gt, s.ref(all.Col), s.ref(some.Col))
	isNull := plan.NewCall(plan.IsNull, types.TBool, x)
	yes, no, unknown := plan.BoolConst(true), plan.BoolConst(false), plan.NullConst(types.TBool)
	less := q.Cmp == plan.Lt || q.Cmp == plan.Le
	var e plan.Expr
	if q.Kind == plan.In {
		var cmp plan.Expr
		switch {
		case q.Cmp == plan.Ne:
			cmp = plan.OrOf(with(lo), with(hi))
		case less:
			cmp = with(hi)
		default:
			cmp = with(lo)
		}
		e = cmp
		if !condition {
			e = plan.NewCall(plan.Case, types.TBool, cmp, yes, empty, no, plan.OrOf(isNull, nulls), unknown, no)
		}
	} else {
		var cmp plan.Expr
		switch {
		case q.Cmp == plan.Eq:
			cmp = plan.AndOf(with(lo), with(hi))
		case less:
			cmp = with(lo)
		default:
			cmp = with(hi)
		}
		e = plan.NewCall(plan.Case, types.TBool, empty, yes, isNull, unknown, plan.Negate(cmp), no, nulls, unknown, yes)
		if condition {
			e = plan.OrOf(empty, plan.AndOf(cmp, plan.Negate(nulls)))
		}
	}
	return l.aggregated(&aggChain{group: g}, e, q.Pos)
}
