package opt

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// foldLogic simplifies AND and OR, in three-valued logic.
func (s *state) foldLogic(x *plan.Call) plan.Expr {
	var buf [8]plan.Expr
	flat := buf[:0]
	if x.Op == plan.And {
		flat = plan.Conjuncts(flat, x)
	} else {
		flat = plan.Disjuncts(flat, x)
	}
	// What is left of constants: the one that decides, or NULL.
	all := plan.ExprList{Exprs: make([]plan.Expr, 0, len(flat))}
	for _, a := range flat {
		if c, ok := a.(*plan.Const); ok && !c.V.Null {
			return plan.BoolConst(x.Op == plan.Or)
		}
		all.Add(a)
	}
	out := all.Exprs
	if x.Op == plan.Or {
		out = mergeIns(out)
		if len(out) > 1 {
			return s.factor(out)
		}
	}
	if len(out) == len(x.Args) && len(out) > 1 {
		same := true
		for i := range out {
			same = same && out[i] == x.Args[i]
		}
		if same {
			return x
		}
	}
	if x.Op == plan.And {
		return plan.AndOf(out...)
	}
	return plan.OrOf(out...)
}

// mergeIns makes x = 1 OR x = 2 OR x IN (3, 4) one IN list.
func mergeIns(ors []plan.Expr) []plan.Expr {
	type group struct {
		at   int // in out
		many bool
		vals plan.ExprList
	}
	var needles plan.ExprList
	var groups []*group
	var out []plan.Expr
	for _, e := range ors {
		needle, vals := inParts(e)
		if needle == nil {
			out = append(out, e)
			continue
		}
		var g *group
		if i := needles.Find(needle); i >= 0 {
			g = groups[i]
			g.many = true
		} else {
			needles.Add(needle)
			g = &group{at: len(out)}
			groups = append(groups, g)
			out = append(out, e)
		}
		for _, v := range vals {
			g.vals.Add(v)
		}
	}
	for i, g := range groups {
		if g.many {
			out[g.at] = plan.NewCall(plan.InList, types.TBool, append([]plan.Expr{needles.Exprs[i]}, g.vals.Exprs...)...)
		}
	}
	return out
}

// inParts takes x = c or x IN (c, …) apart; needle is nil for anything else.
func inParts(e plan.Expr) (needle plan.Expr, vals []plan.Expr) {
	x, ok := e.(*plan.Call)
	if !ok {
		return nil, nil
	}
	switch x.Op {
	case plan.Eq:
		if c, ok := x.Args[1].(*plan.Const); ok && !c.V.Null {
			return x.Args[0], x.Args[1:]
		}
	case plan.InList:
		return x.Args[0], x.Args[1:]
	}
	return nil, nil
}

// factor takes conjuncts that all disjuncts have in common out of a disjunction:
// (a AND x) OR (a AND y) is a AND (x OR y), also in three-valued logic. Join conditions hidden in
// an OR (TPC-H 19) become join keys that way.
func (s *state) factor(ors []plan.Expr) plan.Expr {
	parts := make([][]plan.Expr, len(ors))
	for i, o := range ors {
		parts[i] = plan.Conjuncts(nil, o)
	}
	var common []plan.Expr
	for _, c := range parts[0] {
		everywhere := true
		for _, p := range parts[1:] {
			everywhere = everywhere && plan.ContainsExpr(p, c)
		}
		if everywhere {
			common = append(common, c)
		}
	}
	if len(common) == 0 {
		return plan.OrOf(ors...)
	}
	rest := make([]plan.Expr, len(parts))
	for i, p := range parts {
		var r []plan.Expr
		for _, c := range p {
			if !plan.ContainsExpr(common, c) {
				r = append(r, c)
			}
		}
		rest[i] = plan.AndOf(r...)
	}
	return s.foldOne(plan.AndOf(append(common, s.foldOne(plan.OrOf(rest...)))...))
}
