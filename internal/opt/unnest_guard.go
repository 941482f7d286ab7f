package opt

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A subquery that becomes a join is evaluated for all rows, wherever it stood. Where it stood behind
// a condition, as in
//
//	case when b <> 0 then a / b in (select …) end
//
// rows that fail the condition must not raise its errors. So the condition, the guard, goes with the
// subquery:
//
//   - what the join compares is NULL where the guard does not hold (guardAll), and so are needles;
//   - a subquery that is computed for the values of outer columns is computed for those of rows
//     that pass the guard (under);
//   - what in the subquery depends on no row at all is not computed unless some row passes the
//     guard: a gate (gated), which package exec keeps shut.
//
// A left row that fails the guard then has no match, or the match of another row: its value is not looked at.
// None of this is done for subqueries that cannot fail.

// liftArgs lifts the operands of a call, those that it does not always evaluate under their guards.
func (l *lifter) liftArgs(x *plan.Call) []plan.Expr {
	out := make([]plan.Expr, len(x.Args))
	outer := l.guards
	defer func() { l.guards = outer }()
	for i, a := range x.Args {
		switch {
		case x.Op == plan.Case && i%2 == 1:
			out[i] = l.liftIf(isTrue(out[i-1]), a)
			l.guard(plan.Negate(isTrue(out[i-1])))
			continue
		case x.Op == plan.Case:
			out[i] = l.lift(a)
			continue
		}
		out[i] = l.lift(a)
		switch x.Op {
		case plan.Coalesce:
			l.guard(plan.NewCall(plan.IsNull, types.TBool, out[i]))
		case plan.And:
			l.guard(plan.Negate(isTrue(plan.Negate(out[i]))))
		case plan.Or:
			l.guard(plan.Negate(isTrue(out[i])))
		}
	}
	return out
}

func isTrue(e plan.Expr) plan.Expr { return plan.NewCall(plan.IsTrue, types.TBool, e) }

// guard adds a condition to those of what is lifted next.
func (l *lifter) guard(c plan.Expr) { l.guards = append(l.guards[:len(l.guards):len(l.guards)], c) }

// liftIf lifts e, which is evaluated where c is true; nil is always.
func (l *lifter) liftIf(c, e plan.Expr) plan.Expr {
	outer := l.guards
	if c != nil {
		l.guard(c)
	}
	e = l.lift(e)
	l.guards = outer
	return e
}

// enterGuard prepares the joins for a subquery that must be guarded; the result ends that.
func (l *lifter) enterGuard(q *plan.Subquery) (leave func()) {
	outer := l.under
	leave = func() { l.under = outer }
	l.under = nil
	if len(l.guards) == 0 || !subqueryFails(q) {
		return leave
	}
	g := isTrue(plan.AndOf(l.guards...))
	id := l.s.newCol("guard", g)
	l.node = &plan.Project{Input: l.node, Keep: l.node.Produces(nil), Exprs: []plan.Expr{g}, Cols: []plan.ColID{id}}
	l.under = l.s.ref(id)
	for i, n := range q.Needle {
		q.Needle[i] = nullUnless(l.under, n)
	}
	return leave
}

// subqueryFails reports a subquery whose evaluation can raise an error.
func subqueryFails(q *plan.Subquery) bool {
	for _, n := range q.Needle {
		if mayFail(n) {
			return true
		}
	}
	if q.Kind == plan.Scalar && !exactlyOne(q.Plan) {
		return true // more than one row
	}
	return anyExpr(q.Plan, mayFail)
}

// failsInside reports an expression that can raise an error, by itself or by a subquery in it.
func failsInside(e plan.Expr) bool {
	found := mayFail(e)
	plan.WalkExpr(e, func(e plan.Expr) bool {
		if q, ok := e.(*plan.Subquery); ok {
			found = found || subqueryFails(q)
		}
		return !found
	})
	return found
}

// anyExpr reports that a plan, or a subquery in it, evaluates an expression that f is true for, or
// counts matches.
func anyExpr(n plan.Node, f func(plan.Expr) bool) bool {
	found := false
	plan.WalkNode(n, func(n plan.Node) bool {
		if j, ok := n.(*plan.Join); ok && j.Kind == plan.Single && !j.AtMostOne {
			found = true
		}
		plan.NodeExprs(n, func(e plan.Expr) {
			found = found || f(e)
			plan.WalkExpr(e, func(e plan.Expr) bool {
				if q, ok := e.(*plan.Subquery); ok {
					found = found || q.Kind == plan.Scalar && !exactlyOne(q.Plan) || anyExpr(q.Plan, f)
				}
				return !found
			})
		})
		return !found
	})
	return found
}

// nullUnless is e where the guard holds, else NULL; e itself if it cannot fail.
func nullUnless(guard, e plan.Expr) plan.Expr {
	if guard == nil || !mayFail(e) {
		return e
	}
	return plan.NewCall(plan.Case, e.Type(), guard, e, plan.NullConst(e.Type()))
}

// guardAll guards the conditions of a join. Of an equality it is enough to guard the left operand, which
// leaves it a key; the right one depends on right rows alone.
func guardAll(on []plan.Expr, guard plan.Expr, left *plan.ColSet) []plan.Expr {
	if guard == nil {
		return on
	}
	out := make([]plan.Expr, len(on))
	for i, p := range on {
		out[i] = nullUnless(guard, p)
		x, ok := p.(*plan.Call)
		if !ok || x.Op != plan.Eq && x.Op != plan.NotDistinct || out[i] == p {
			continue
		}
		for k, a := range x.Args {
			refs, other := plan.Refs(a), plan.Refs(x.Args[1-k])
			if refs.SubsetOf(left) && !other.Intersects(left) {
				y := *x
				y.Args = []plan.Expr{x.Args[0], x.Args[1]}
				y.Args[k] = nullUnless(guard, a)
				out[i] = &y
				break
			}
		}
	}
	return out
}

// under is the rows of n for which the guard holds.
func under(n plan.Node, guard plan.Expr) plan.Node {
	if guard == nil {
		return n
	}
	return &plan.Filter{Input: n, Preds: []plan.Expr{guard}}
}

// joinSub joins a subquery, under the guard if there is one.
func (l *lifter) joinSub(j *plan.Join, pos int) {
	left := l.node
	n := l.s.joinSub(j, l.under, pos)
	l.node = left
	j.Right = l.gated(j.Right)
	l.node = n
}

// gated puts the right side of a subquery's join behind a gate, if something in it may fail that does not
// depend on the row: it is evaluated only if some row passes the guard. Sums that might overflow are not
// worth that.
func (l *lifter) gated(r plan.Node) plan.Node {
	if l.under == nil || !anyExpr(r, failsEasily) {
		return r
	}
	rows, _ := plan.CloneNode(l.s.cols, under(l.node, l.under))
	var some plan.Node = &plan.Sort{Input: rows, Limit: 1}
	if free := plan.FreeRefs(rows); !free.Empty() { // a limit would be one for all values from outside
		yes := plan.BoolConst(true)
		some = &plan.Group{Input: rows, Keys: []plan.Expr{yes}, KeyCols: []plan.ColID{l.s.newCol("some", yes)}}
	}
	return &plan.Join{Kind: plan.Semi, Left: r, Right: some, Gate: true}
}

// failsEasily reports an operation that fails on ordinary values: a division by something that may be
// zero, a cast of a text, a root. Overflows are no such thing.
func failsEasily(e plan.Expr) bool {
	found := false
	plan.WalkExpr(e, func(e plan.Expr) bool {
		x, ok := e.(*plan.Call)
		if !ok || !x.MayFail() {
			return !found
		}
		switch x.Op {
		case plan.Div, plan.Mod:
			c, ok := x.Args[1].(*plan.Const)
			found = found || !ok || c.V.Null || c.V == types.Value{Type: c.V.Type}
		case plan.Cast:
			found = found || x.Args[0].Type().Phys() == types.PhysStr && x.T.Kind != types.Text
		case plan.Substring, plan.Sqrt, plan.Ln, plan.Log10, plan.Power, plan.Apply:
			found = true
		}
		return !found
	})
	return found
}
