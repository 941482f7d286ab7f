package opt

import "github.com/kelpiedb/kelpie/internal/plan"

// common computes what several expressions of an operator have in common once, in a projection below it:
// sum(price * (1 - discount)) and sum(price * (1 - discount) * (1 + tax)). The projection costs nothing by
// itself: generated code computes a column where it is first used and keeps it in a register.
func (s *state) common() {
	s.mapNodes(func(n plan.Node) plan.Node {
		switch n := n.(type) {
		case *plan.Group:
			list := make([]*plan.Expr, 0, len(n.Keys)+len(n.Aggs))
			for i := range n.Keys {
				list = append(list, &n.Keys[i])
			}
			for i := range n.Aggs {
				if a := &n.Aggs[i]; a.Arg != nil && a.Filter == nil {
					list = append(list, &a.Arg)
				}
			}
			n.Input = s.shareParts(n.Input, list)
		case *plan.Project:
			list := make([]*plan.Expr, len(n.Exprs))
			for i := range n.Exprs {
				list[i] = &n.Exprs[i]
			}
			n.Input = s.shareParts(n.Input, list)
		}
		return n
	})
}

// shareParts puts repeated parts of expressions over in into a projection of in.
func (s *state) shareParts(in plan.Node, list []*plan.Expr) plan.Node {
	if len(list) < 2 {
		return in
	}
	seen := map[uint64]int{}
	repeated := false
	for _, e := range list {
		walkAlways(*e, func(c *plan.Call) {
			h := plan.HashExpr(c)
			seen[h]++
			repeated = repeated || seen[h] == 2
		})
	}
	if !repeated {
		return in
	}
	p := &plan.Project{Input: in}
	for _, e := range list {
		*e = s.replaceCommon(*e, seen, p)
	}
	if len(p.Exprs) == 0 {
		return in
	}
	have := plan.Produced(in)
	for id := range have.All {
		p.Keep = append(p.Keep, id)
	}
	return p
}

// walkAlways calls f for the calls in e that are computed whenever e is, largest first. Parts of CASE and its
// like are not: they may fail where they are not asked for.
func walkAlways(e plan.Expr, f func(*plan.Call)) {
	c, ok := e.(*plan.Call)
	if !ok {
		return
	}
	if refs := plan.Refs(c); refs.Empty() {
		return
	}
	if c.Op != plan.Cast { // which costs less than a register
		f(c)
	}
	if sometimes(c.Op) {
		return
	}
	for _, a := range c.Args {
		walkAlways(a, f)
	}
}

// sometimes reports operations that do not compute all of their operands.
func sometimes(op plan.Op) bool {
	return op == plan.Case || op == plan.Coalesce || op == plan.And || op == plan.Or
}

// replaceCommon replaces the largest repeated parts of e by columns of p.
func (s *state) replaceCommon(e plan.Expr, seen map[uint64]int, p *plan.Project) plan.Expr {
	c, ok := e.(*plan.Call)
	if !ok {
		return e
	}
	if refs := plan.Refs(c); !refs.Empty() && seen[plan.HashExpr(c)] > 1 {
		for i, x := range p.Exprs {
			if plan.EqualExpr(x, c) {
				return s.ref(p.Cols[i])
			}
		}
		id := s.newCol("common", c)
		p.Exprs, p.Cols = append(p.Exprs, c), append(p.Cols, id)
		return s.ref(id)
	}
	if sometimes(c.Op) {
		return c
	}
	out := *c
	out.Args = make([]plan.Expr, len(c.Args))
	for i, a := range c.Args {
		out.Args[i] = s.replaceCommon(a, seen, p)
	}
	return &out
}
