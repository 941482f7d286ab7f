package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// simpleKeys groups by numbers of a small range where the query says something longer that they
// determine and that determines them: the start of a day, month or year is a timestamp, but its date will do;
// of a CASE with constant texts the number of the branch will. What the query wants is made
// of them above the grouping, once per group. Small ranges need no hashing.
func (s *state) simpleKeys() {
	s.mapNodes(func(n plan.Node) plan.Node {
		g, ok := n.(*plan.Group)
		if !ok {
			return n
		}
		p := &plan.Project{Input: g}
		keys, cols := slices.Clone(g.Keys), slices.Clone(g.KeyCols)
		for i, k := range g.Keys {
			short, full := s.simpler(k)
			if short == nil {
				p.Keep = append(p.Keep, g.KeyCols[i])
				continue
			}
			id := s.newCol(s.cols.Get(g.KeyCols[i]).Name, short)
			keys[i], cols[i] = short, id
			p.Exprs, p.Cols = append(p.Exprs, full(s.ref(id))), append(p.Cols, g.KeyCols[i])
		}
		if len(p.Cols) == 0 {
			return n
		}
		for _, a := range g.Aggs {
			p.Keep = append(p.Keep, a.Col)
		}
		g.Keys, g.KeyCols = keys, cols
		return p
	})
}

// simpler is a shorter key and how the key is made of it; nil if there is none.
func (s *state) simpler(k plan.Expr) (short plan.Expr, full func(plan.Expr) plan.Expr) {
	x, ok := k.(*plan.Call)
	if !ok {
		return nil, nil
	}
	switch x.Op {
	case plan.DateTrunc:
		unit, ok := x.Args[0].(*plan.Const)
		if !ok {
			return nil, nil
		}
		switch unit.V.S {
		case "day", "week", "month", "quarter", "year":
			return plan.NewCall(plan.Cast, types.TDate, x), func(d plan.Expr) plan.Expr { return plan.NewCall(plan.Cast, x.T, d) }
		}
	case plan.Case:
		return s.numbered(x)
	}
	return nil, nil
}

// numbered replaces the constant texts of a CASE by numbers. Equal texts have equal numbers.
func (s *state) numbered(x *plan.Call) (short plan.Expr, full func(plan.Expr) plan.Expr) {
	if x.T.Phys() != types.PhysStr {
		return nil, nil
	}
	var texts []plan.Expr
	y := plan.NewCall(plan.Case, types.TInt32, slices.Clone(x.Args)...)
	for i, a := range x.Args {
		if i%2 == 0 && i < len(x.Args)-1 {
			continue // a condition
		}
		c, ok := a.(*plan.Const)
		if !ok {
			return nil, nil
		}
		if c.V.Null {
			y.Args[i] = plan.NullConst(types.TInt32)
			continue
		}
		k := slices.IndexFunc(texts, func(t plan.Expr) bool { return plan.EqualExpr(t, a) })
		if k < 0 {
			k = len(texts)
			texts = append(texts, a)
		}
		y.Args[i] = plan.NewConst(types.IntValue(types.TInt32, int64(k)))
	}
	if len(texts) < 2 {
		return nil, nil
	}
	return y, func(n plan.Expr) plan.Expr {
		var args []plan.Expr
		for k, t := range texts {
			args = append(args, plan.Compare(plan.Eq, n, plan.NewConst(types.IntValue(types.TInt32, int64(k)))), t)
		}
		return plan.NewCall(plan.Case, x.T, args...)
	}
}
