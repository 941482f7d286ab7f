package opt

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// pushdown moves every predicate as far down as it can go. On its way it strengthens outer
// joins whose padded rows a predicate rejects, and finds join keys.
func (s *state) pushdown() {
	s.roots(func(n plan.Node) plan.Node { return s.push(n, nil) })
}

// push returns n with preds applied to its rows, at the deepest place. preds refer to columns that n
// produces.
func (s *state) push(n plan.Node, preds []plan.Expr) plan.Node {
	for _, p := range preds {
		if c, ok := p.(*plan.Const); ok && (c.V.Null || c.V.I == 0) {
			return empty(n)
		}
	}
	switch x := n.(type) {
	case *plan.Scan:
		var all plan.ExprList
		for _, p := range x.Filter {
			all.Add(p)
		}
		for _, p := range preds {
			all.Add(p)
		}
		x.Filter = all.Exprs
		return x
	case *plan.Filter:
		return s.push(x.Input, s.conjunction(append(preds[:len(preds):len(preds)], x.Preds...)))
	case *plan.Project:
		return s.pushProject(x, preds)
	case *plan.Sort:
		if x.Limit < 0 && x.Offset == 0 {
			x.Input = s.push(x.Input, preds)
			return x
		}
		x.Input = s.push(x.Input, nil)
	case *plan.Recursive: // rows that nobody wants may bring others that somebody does
		x.Init, x.Step = s.push(x.Init, nil), s.push(x.Step, nil)
	case *plan.Repeat:
		return s.pushRepeat(x, preds)
	case *plan.Group:
		return s.pushGroup(x, preds)
	case *plan.Window:
		return s.pushWindow(x, preds)
	case *plan.SetOp:
		for i, a := range x.Args {
			in := make([]plan.Expr, len(preds))
			for k, p := range preds {
				in[k] = plan.Substitute(p, func(id plan.ColID) plan.Expr {
					for c := range x.Cols {
						if x.Cols[c] == id {
							return s.ref(x.InCols[i][c])
						}
					}
					return nil
				})
			}
			x.Args[i] = s.push(a, in)
		}
		return x
	case *plan.Join:
		return s.pushJoin(x, preds)
	}
	return filter(n, preds)
}

// empty replaces a subtree that has no rows.
func empty(n plan.Node) plan.Node { return &plan.Values{Cols: n.Produces(nil)} }

func isEmpty(n plan.Node) bool {
	v, ok := n.(*plan.Values)
	return ok && len(v.Rows) == 0
}

// pushProject writes predicates in terms of the projection's input.
func (s *state) pushProject(x *plan.Project, preds []plan.Expr) plan.Node {
	in := make([]plan.Expr, len(preds))
	for i, p := range preds {
		in[i] = s.foldExpr(throughProject(x, p))
	}
	x.Input = s.push(x.Input, s.conjunction(in))
	if isEmpty(x.Input) {
		return empty(x)
	}
	return x
}

func throughProject(x *plan.Project, e plan.Expr) plan.Expr {
	return plan.Substitute(e, func(id plan.ColID) plan.Expr {
		for i, c := range x.Cols {
			if c == id {
				return x.Exprs[i]
			}
		}
		return nil
	})
}

// pushRepeat pushes predicates that hold for all copies of a row or for none.
func (s *state) pushRepeat(x *plan.Repeat, preds []plan.Expr) plan.Node {
	below, above := splitPreds(preds, func(refs *plan.ColSet) bool { return !refs.Has(x.Col) })
	if x.Input = s.push(x.Input, below); isEmpty(x.Input) {
		return empty(x)
	}
	return filter(x, above)
}

// splitPreds cuts predicates in those that may be tested below a node, where there are other rows, as far as their columns tell, and those that must stay above. What is
// another each time, such as random(), stays: rows that belong together would be kept in part.
func splitPreds(preds []plan.Expr, passes func(refs *plan.ColSet) bool) (below, above []plan.Expr) {
	for _, p := range preds {
		if refs := plan.Refs(p); passes(&refs) && !plan.Volatile(p) {
			below = append(below, p)
		} else {
			above = append(above, p)
		}
	}
	return below, above
}

// pushGroup pushes predicates on keys below a grouping: they keep or drop whole groups.
func (s *state) pushGroup(x *plan.Group, preds []plan.Expr) plan.Node {
	keys := plan.MakeColSet(x.KeyCols...)
	below, above := splitPreds(preds, func(refs *plan.ColSet) bool { return len(x.Keys) > 0 && refs.SubsetOf(&keys) })
	for i, p := range below {
		below[i] = s.foldExpr(plan.Substitute(p, func(id plan.ColID) plan.Expr {
			for i, c := range x.KeyCols {
				if c == id {
					return x.Keys[i]
				}
			}
			return nil
		}))
	}
	x.Input = s.push(x.Input, s.conjunction(below))
	if isEmpty(x.Input) && len(x.Keys) > 0 {
		return empty(x)
	}
	return filter(x, above)
}

// pushWindow pushes predicates below on columns by which all windows are partitioned: they keep or drop whole partitions.
func (s *state) pushWindow(x *plan.Window, preds []plan.Expr) plan.Node {
	by := x.PartitionedBy()
	below, above := splitPreds(preds, func(refs *plan.ColSet) bool { return !refs.Empty() && refs.SubsetOf(&by) })
	if x.Input = s.push(x.Input, below); isEmpty(x.Input) {
		return empty(x)
	}
	return filter(x, above)
}

// pushJoin treats an inner join together with the inner joins below it; the other kinds one by one.
func (s *state) pushJoin(x *plan.Join, preds []plan.Expr) plan.Node {
	s.strengthen(x, preds)
	if x.Kind == plan.Inner {
		return s.pushBlock(x, preds)
	}
	left, right := plan.Produced(x.Left), plan.Produced(x.Right)
	var toLeft, toRight, on, above []plan.Expr
	for _, p := range preds {
		refs := plan.Refs(p)
		switch {
		case x.Kind != plan.Full && refs.SubsetOf(&left):
			toLeft = append(toLeft, p)
		default:
			above = append(above, p)
		}
	}
	for _, p := range x.On {
		refs := plan.Refs(p)
		switch {
		case x.Kind != plan.Full && refs.SubsetOf(&right) && !(refs.Empty() && x.Kind != plan.Semi):
			// Right rows that fail a condition of their own match nothing.
			toRight = append(toRight, p)
		case x.Kind == plan.Semi && refs.SubsetOf(&left):
			toLeft = append(toLeft, p)
		default:
			on = append(on, p)
		}
	}
	x.On = on
	s.takeKeys(x, &left, &right)
	if x.Kind != plan.Full {
		toRight = append(toRight, s.implied(x, toLeft)...)
	}
	x.Left = s.push(x.Left, s.conjunction(toLeft))
	x.Right = s.push(x.Right, s.conjunction(toRight))
	switch {
	case isEmpty(x.Left) && x.Kind != plan.Full:
		return empty(x)
	case isEmpty(x.Right) && x.Kind == plan.Semi:
		return empty(x)
	case isEmpty(x.Right) && x.Kind == plan.Anti:
		return filter(x.Left, above)
	}
	return filter(x, above)
}

// implied carries conditions on left keys over to the right keys that must equal them: other right
// rows have no partner.
func (s *state) implied(x *plan.Join, leftPreds []plan.Expr) []plan.Expr {
	var out []plan.Expr
	if x.Kind == plan.Mark && len(x.LKeys) == 1 && len(x.On) == 0 {
		return nil // right NULLs must stay
	}
	for i := range x.LKeys {
		l, ok1 := x.LKeys[i].(*plan.Ref)
		r, ok2 := x.RKeys[i].(*plan.Ref)
		if !ok1 || !ok2 || x.NullSafe != nil && x.NullSafe[i] {
			continue
		}
		for _, p := range leftPreds {
			if q := transfer(p, l, r); q != nil {
				out = append(out, q)
			}
		}
	}
	return out
}

// transfer rewrites a predicate on column from alone as one on to, given that they are
// equal. nil if it refers to other columns, or must not be evaluated on other rows.
func transfer(p plan.Expr, from, to *plan.Ref) plan.Expr {
	if from.T.IsFloat() || !onlyColumn(p, from.ID) {
		return nil
	}
	return plan.MapExpr(p, func(e plan.Expr) plan.Expr {
		if r, ok := e.(*plan.Ref); ok && r.ID == from.ID {
			return to
		}
		return e
	})
}

// onlyColumn reports that a predicate reads one column, at least once, and cannot fail.
func onlyColumn(e plan.Expr, id plan.ColID) bool {
	found, ok := false, true
	plan.WalkExpr(e, func(e plan.Expr) bool {
		switch x := e.(type) {
		case *plan.Ref:
			found = true
			ok = ok && x.ID == id
		case *plan.Call:
			ok = ok && !x.MayFail()
		case *plan.Subquery:
			ok = false
		}
		return ok
	})
	return found && ok
}

// strengthen replaces an outer join by a stricter one where a predicate above rejects the rows
// that it pads with NULLs.
func (s *state) strengthen(x *plan.Join, preds []plan.Expr) {
	if x.Kind == plan.Single {
		_, rk := s.keyCols(x)
		if s.uniqueOn(x.Right, rk, false) {
			x.Kind = plan.Left
			x.AtMostOne = true
		}
	}
	if x.Kind != plan.Left && x.Kind != plan.Full {
		return
	}
	left, right := plan.Produced(x.Left), plan.Produced(x.Right)
	rejectsRight, rejectsLeft := false, false
	for _, p := range preds {
		rejectsRight = rejectsRight || plan.NullRejecting(p, &right)
		rejectsLeft = rejectsLeft || plan.NullRejecting(p, &left)
	}
	switch {
	case x.Kind == plan.Left && rejectsRight:
		x.Kind = plan.Inner
	case x.Kind == plan.Full && rejectsLeft && rejectsRight:
		x.Kind = plan.Inner
	case x.Kind == plan.Full && rejectsLeft:
		x.Kind = plan.Left
	case x.Kind == plan.Full && rejectsRight:
		x.Kind = plan.Left
		swap(x)
	}
}

// swap exchanges the sides of a join.
func swap(x *plan.Join) {
	x.Left, x.Right = x.Right, x.Left
	x.LKeys, x.RKeys = x.RKeys, x.LKeys
}

// takeKeys moves equalities between the sides from On to the keys.
func (s *state) takeKeys(x *plan.Join, left, right *plan.ColSet) {
	if x.Kind == plan.Mark && len(x.LKeys) == 1 && len(x.On) == 0 {
		return
	}
	var rest []plan.Expr
	for _, e := range x.On {
		l, r, ok := plan.EquiSides(e, left, right)
		if ok {
			l, r, ok = sameKeys(l, r)
		}
		if !ok {
			rest = append(rest, e)
			continue
		}
		s.addKey(x, l, r, e.(*plan.Call).Op == plan.NotDistinct)
	}
	x.On = rest
}

func (s *state) addKey(x *plan.Join, l, r plan.Expr, nullSafe bool) {
	for i := range x.LKeys {
		if plan.EqualExpr(x.LKeys[i], l) && plan.EqualExpr(x.RKeys[i], r) {
			if x.NullSafe != nil && !nullSafe {
				x.NullSafe[i] = false
			}
			return
		}
	}
	x.LKeys = append(x.LKeys[:len(x.LKeys):len(x.LKeys)], l)
	x.RKeys = append(x.RKeys[:len(x.RKeys):len(x.RKeys)], r)
	if nullSafe && x.NullSafe == nil {
		x.NullSafe = make([]bool, len(x.LKeys)-1, len(x.LKeys))
	}
	if x.NullSafe != nil {
		x.NullSafe = append(x.NullSafe, nullSafe)
	}
}

// sameKeys gives two key expressions one type: decimals of one scale may differ in
// precision.
func sameKeys(l, r plan.Expr) (plan.Expr, plan.Expr, bool) {
	a, b := l.Type(), r.Type()
	if plan.SameKeyType(a, b) {
		return l, r, true
	}
	if a.Kind != types.Decimal || b.Kind != types.Decimal || a.Scale != b.Scale {
		return l, r, false
	}
	both := types.TDecimal(int(max(a.Prec, b.Prec)), int(a.Scale))
	if a != both {
		l = plan.NewCall(plan.Cast, both, l)
	}
	if b != both {
		r = plan.NewCall(plan.Cast, both, r)
	}
	return l, r, true
}
