package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// joinSub joins Right, which may refer to columns of Left, and returns an equivalent without
// such references. Right has no subqueries and no dependent joins inside. Left rows for which guard
// does not hold, if there is one, have no match, and nothing is evaluated for them.
func (s *state) joinSub(j *plan.Join, guard plan.Expr, pos int) plan.Node {
	j.Dependent = false
	s.pad(j.Kind, j.Right)
	left := plan.Produced(j.Left)
	free := plan.FreeRefs(j.Right)
	if guard != nil && j.Kind == plan.Single {
		j.On = append(j.On[:len(j.On):len(j.On)], guard) // a second match is an error
	}
	if !free.Intersects(&left) {
		j.On = guardAll(j.On, guard, &left)
		return j
	}
	free.Intersect(left)
	if j.Kind == plan.Inner || j.Kind == plan.Left && len(j.On) == 0 {
		if n, ok := s.joinChain(j, pos); ok {
			return n
		}
	}
	backup := plan.CopyNode(j.Right)
	exists := j.Kind == plan.Semi || j.Kind == plan.Anti || j.Kind == plan.Mark
	if r, on, ok := s.pull(j.Right, &free, exists); ok {
		j.Right = r
		j.On = guardAll(slices.Concat(j.On, on), guard, &left)
		s.pad(j.Kind, r) // pulling made more columns visible
		return j
	}
	j.Right = backup
	j.On = guardAll(j.On, guard, &left)
	return s.joinDomain(j, guard, &free, pos)
}

// joinChain treats LATERAL (select count(*) …): one row for every left row.
func (s *state) joinChain(j *plan.Join, pos int) (plan.Node, bool) {
	c := s.aggChain(j.Right)
	out := j.Right.Produces(nil)
	if c == nil || len(c.having) > 0 || len(out) == 0 {
		return nil, false
	}
	values := make([]plan.Expr, len(out))
	for i, id := range out {
		values[i] = c.expr(s.ref(id))
	}
	l := lifter{s: s, node: j.Left}
	p := &plan.Project{Keep: j.Left.Produces(nil)}
	// One join for all values: rename the aggregates, since the projection takes their names.
	names := make(plan.Renaming, s.cols.Len())
	g := c.group
	for i := range g.Aggs {
		id := g.Aggs[i].Col
		names[id] = s.copyCol(id)
		g.Aggs[i].Col = names[id]
	}
	row := make([]plan.Expr, len(out))
	for i := range values {
		row[i] = names.Expr(values[i])
	}
	all := l.aggregated(&aggChain{group: g}, plan.AndOf(row...), pos)
	if len(row) == 1 {
		p.Exprs = []plan.Expr{all}
	} else {
		p.Exprs = all.(*plan.Call).Args
	}
	p.Cols = out
	p.Input = l.node
	return filter(p, j.On), true
}

// pad takes back the promise that columns are never NULL when an outer join is about to
// fill them.
func (s *state) pad(kind plan.JoinKind, right plan.Node) {
	if kind != plan.Left && kind != plan.Single && kind != plan.Full {
		return
	}
	for _, id := range right.Produces(nil) {
		s.cols.Get(id).NotNull = false
	}
}

// pull removes the predicates that refer to outer columns from a tree and returns them, to
// be tested at the join above. What they need is made visible. exists says that it does not matter how
// often a row occurs. ok is false when outer columns are used in other ways; the tree is then spoilt.
func (s *state) pull(n plan.Node, outer *plan.ColSet, exists bool) (out plan.Node, preds []plan.Expr, ok bool) {
	if free := plan.FreeRefs(n); !free.Intersects(outer) {
		return n, nil, true
	}
	switch x := n.(type) {
	case *plan.Filter:
		in, preds, ok := s.pull(x.Input, outer, exists)
		if !ok {
			return nil, nil, false
		}
		keep, up := split(x.Preds, outer)
		return filter(in, keep), append(preds, up...), true
	case *plan.Project:
		for _, e := range x.Exprs {
			if uses(e, outer) {
				return nil, nil, false
			}
		}
		in, preds, ok := s.pull(x.Input, outer, exists)
		if !ok {
			return nil, nil, false
		}
		x.Input = in
		have, below := plan.Produced(x), plan.Produced(in)
		for _, p := range preds {
			for id := range plan.Refs(p).All {
				if !have.Has(id) && below.Has(id) {
					x.Keep = append(x.Keep[:len(x.Keep):len(x.Keep)], id)
					have.Add(id)
				}
			}
		}
		return x, preds, true
	case *plan.Group:
		if len(x.Keys) == 0 {
			return nil, nil, false // an empty group has a row too
		}
		g, preds, ok := s.pullGroup(x, outer)
		return g, preds, ok
	case *plan.Repeat:
		if uses(x.Count, outer) {
			return nil, nil, false
		}
		in, preds, ok := s.pull(x.Input, outer, exists)
		x.Input = in
		return x, preds, ok
	case *plan.Join:
		return s.pullJoin(x, outer, exists)
	case *plan.Sort:
		return s.pullLimit(x, outer, exists)
	}
	return nil, nil, false
}

func (s *state) pullJoin(x *plan.Join, outer *plan.ColSet, exists bool) (plan.Node, []plan.Expr, bool) {
	for _, k := range slices.Concat(x.LKeys, x.RKeys) {
		if uses(k, outer) {
			return nil, nil, false
		}
	}
	keep, up := split(x.On, outer)
	if x.Kind != plan.Inner {
		if right := plan.FreeRefs(x.Right); len(up) > 0 || x.Kind == plan.Full || right.Intersects(outer) {
			if x.Kind != plan.Semi || !exists {
				return nil, nil, false
			}
			x.Kind = plan.Inner // an EXISTS in an EXISTS: its columns become visible, rows may repeat
		}
	}
	l, lp, ok := s.pull(x.Left, outer, exists)
	if !ok {
		return nil, nil, false
	}
	r, rp, ok := s.pull(x.Right, outer, exists)
	if !ok {
		return nil, nil, false
	}
	if len(rp) > 0 {
		x.AtMostOne = false
	}
	x.Left, x.Right, x.On = l, r, keep
	return x, slices.Concat(lp, rp, up), true
}

// pullGroup pulls correlation through a grouping: inner = outer below means that the group of the
// outer value is wanted, so inner becomes a key.
func (s *state) pullGroup(x *plan.Group, outer *plan.ColSet) (*plan.Group, []plan.Expr, bool) {
	for _, k := range x.Keys {
		if uses(k, outer) {
			return nil, nil, false
		}
	}
	for _, a := range x.Aggs {
		free := false
		a.EachExpr(func(e plan.Expr) { free = free || uses(e, outer) })
		if free {
			return nil, nil, false
		}
	}
	backup := plan.CopyNode(x.Input)
	in, preds, ok := s.pull(x.Input, outer, false)
	if ok {
		made := plan.Produced(in)
		for _, p := range preds {
			_, _, equi := plan.EquiSides(p, &made, outer)
			ok = ok && equi
		}
	}
	if !ok {
		x.Input = backup
		return nil, nil, false
	}
	made := plan.Produced(in)
	y := &plan.Group{Input: in, Keys: slices.Clone(x.Keys), KeyCols: slices.Clone(x.KeyCols), Aggs: x.Aggs}
	up := make([]plan.Expr, len(preds))
	for i, p := range preds {
		inner, out, _ := plan.EquiSides(p, &made, outer)
		at := slices.IndexFunc(y.Keys, func(k plan.Expr) bool { return plan.EqualExpr(k, inner) })
		if at < 0 {
			at = len(y.Keys)
			y.Keys = append(y.Keys, inner)
			y.KeyCols = append(y.KeyCols, s.newCol(nameOf(s.cols, inner), inner))
		}
		up[i] = plan.Compare(p.(*plan.Call).Op, s.ref(y.KeyCols[at]), out)
	}
	return y, up, true
}

// nameOf is a name for a column that holds e.
func nameOf(cols *plan.Columns, e plan.Expr) string {
	if r, ok := e.(*plan.Ref); ok {
		return cols.Get(r.ID).Name
	}
	return "expr"
}

// split separates predicates that refer to outer columns.
func split(preds []plan.Expr, outer *plan.ColSet) (without, with []plan.Expr) {
	for _, p := range preds {
		if uses(p, outer) {
			with = append(with, p)
		} else {
			without = append(without, p)
		}
	}
	return without, with
}

// uses reports whether e refers to a column of the set.
func uses(e plan.Expr, set *plan.ColSet) bool {
	switch x := e.(type) {
	case *plan.Ref:
		return set.Has(x.ID)
	case *plan.Call:
		for _, a := range x.Args {
			if uses(a, set) {
				return true
			}
		}
	case *plan.Subquery:
		r := plan.Refs(x)
		return r.Intersects(set)
	}
	return false
}

// existential simplifies a plan of which only whether it has rows matters. always: it has one in
// any case.
func existential(n plan.Node) (out plan.Node, always bool) {
	for {
		if exactlyOne(n) {
			return n, true
		}
		switch x := n.(type) {
		case *plan.Project:
			n = x.Input
		case *plan.Window:
			n = x.Input
		case *plan.Sort:
			if x.Offset != 0 || x.Limit == 0 {
				return n, false
			}
			n = x.Input
		case *plan.Group:
			if len(x.Keys) == 0 {
				return n, false
			}
			n = x.Input
		default:
			return n, false
		}
	}
}

// dropOrder removes sorting that nobody sees: at the top of a subquery, without a limit.
func dropOrder(n plan.Node) plan.Node {
	switch x := n.(type) {
	case *plan.Sort:
		if x.Limit < 0 && x.Offset == 0 {
			return dropOrder(x.Input)
		}
	case *plan.Project:
		x.Input = dropOrder(x.Input)
	}
	return n
}

// exactlyOne reports a plan that always has one row.
func exactlyOne(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.Group:
		return len(x.Keys) == 0
	case *plan.Values:
		return len(x.Rows) == 1
	case *plan.Series:
		return x.N == 1
	case *plan.Project:
		return exactlyOne(x.Input)
	case *plan.Window:
		return exactlyOne(x.Input)
	case *plan.Sort:
		return x.Limit != 0 && x.Offset == 0 && exactlyOne(x.Input)
	case *plan.Join:
		switch x.Kind {
		case plan.Inner:
			return len(x.On) == 0 && len(x.LKeys) == 0 && exactlyOne(x.Left) && exactlyOne(x.Right)
		case plan.Left:
			return exactlyOne(x.Left) && exactlyOne(x.Right)
		case plan.Mark, plan.Single:
			return exactlyOne(x.Left)
		}
	}
	return false
}
