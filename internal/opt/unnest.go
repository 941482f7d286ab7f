package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// unnest replaces every subquery and every dependent join by ordinary joins
// (T. Neumann, A. Kemper: Unnesting Arbitrary Queries, BTW 2015). Trees are treated bottom-up: when
// a subquery is joined to the rows around it, its own subqueries are joins already, and
// references that skip a level are still free and wait for their turn.
//
// A subquery becomes a join in one of two ways. Most are correlated by predicates that can be
// pulled up into the join condition (unnest_pull.go); a grouping on the way turns an
// equality with an outer column into a group key. The others are evaluated for the distinct
// values of the outer columns, the domain (unnest_domain.go).
func (s *state) unnest() { s.roots(s.unnestTree) }

func (s *state) unnestTree(n plan.Node) plan.Node {
	plan.MapInputs(n, s.unnestTree)
	switch x := n.(type) {
	case *plan.Filter:
		return s.unnestFilter(x)
	case *plan.Project:
		l := lifter{s: s, node: x.Input}
		for i, e := range x.Exprs {
			x.Exprs[i] = l.lift(e)
		}
		x.Input = l.node
	case *plan.Group:
		l := lifter{s: s, node: x.Input}
		for i, e := range x.Keys {
			x.Keys[i] = l.lift(e)
		}
		for i := range x.Aggs {
			a := &x.Aggs[i]
			a.Filter = l.lift(a.Filter)
			a.Arg = l.liftIf(a.Filter, a.Arg)
			for k, e := range a.More {
				a.More[k] = l.liftIf(a.Filter, e)
			}
			for k := range a.Order {
				a.Order[k].X = l.liftIf(a.Filter, a.Order[k].X)
			}
		}
		x.Input = l.node
	case *plan.Repeat:
		l := lifter{s: s, node: x.Input}
		x.Count = l.lift(x.Count)
		x.Input = l.node
	case *plan.Values:
		return s.unnestValues(x)
	case *plan.Join:
		return s.unnestJoin(x)
	}
	return n
}

// lifter replaces subqueries in expressions by columns, for which it joins the subqueries to
// node.
type lifter struct {
	s    *state
	node plan.Node
	// guards are conditions without which the subquery at hand must not be evaluated; under is their
	// conjunction as a column of node while a subquery that may fail is joined, else nil.
	guards []plan.Expr
	under  plan.Expr
}

func (l *lifter) lift(e plan.Expr) plan.Expr {
	if e == nil || !plan.HasSubquery(e) {
		return e
	}
	switch x := e.(type) {
	case *plan.Call:
		y := *x
		y.Args = l.liftArgs(x)
		return &y
	case *plan.Subquery:
		for i, n := range x.Needle {
			x.Needle[i] = l.lift(n)
		}
		return l.subquery(x, false)
	}
	return e
}

// withSubqueries parts conjuncts into those without and those with subqueries.
func withSubqueries(preds []plan.Expr) (plain, subs []plan.Expr) {
	for _, p := range preds {
		var buf [8]plan.Expr
		for _, c := range plan.Conjuncts(buf[:0], p) {
			if plan.HasSubquery(c) {
				subs = append(subs, c)
			} else {
				plain = append(plain, c)
			}
		}
	}
	return plain, subs
}

// unnestFilter treats conjuncts that are subqueries as semi or anti joins. Predicates without
// subqueries go below, so that fewer rows reach the joins.
func (s *state) unnestFilter(x *plan.Filter) plan.Node {
	plain, subs := withSubqueries(x.Preds)
	if len(subs) == 0 {
		return x
	}
	l := lifter{s: s, node: filter(x.Input, plain)}
	var above []plan.Expr
	for _, c := range subs {
		above = append(above, l.conjunct(c)...)
	}
	return filter(l.node, above)
}

// filter puts a Filter on n unless there are no predicates.
func filter(n plan.Node, preds []plan.Expr) plan.Node {
	if len(preds) == 0 {
		return n
	}
	return &plan.Filter{Input: n, Preds: preds}
}

// conjunct lifts a predicate whose NULL means the same as false, and returns what is left to be
// tested above.
func (l *lifter) conjunct(c plan.Expr) []plan.Expr {
	negated := false
	e := c
	for {
		x, ok := e.(*plan.Call)
		if !ok {
			break
		}
		if x.Op == plan.Not {
			negated = !negated
		} else if x.Op != plan.IsTrue || negated {
			break
		}
		e = x.Args[0]
	}
	q, ok := e.(*plan.Subquery)
	if !ok {
		return []plan.Expr{l.lift(c)}
	}
	for i, n := range q.Needle {
		q.Needle[i] = l.lift(n)
	}
	switch {
	case q.Kind == plan.Exists:
		return l.exists(q, negated)
	case q.Kind == plan.In && q.Cmp == plan.Eq && negated:
		return l.notIn(q)
	case q.Kind == plan.In && q.Cmp == plan.Eq:
		return l.in(q)
	case negated:
		return []plan.Expr{plan.Negate(l.subquery(q, false))}
	}
	return []plan.Expr{l.subquery(q, true)}
}

// exists joins EXISTS or NOT EXISTS as a condition.
func (l *lifter) exists(q *plan.Subquery, negated bool) []plan.Expr {
	q.Plan = l.s.unnestTree(q.Plan)
	r, always := existential(q.Plan)
	if always {
		return []plan.Expr{plan.BoolConst(!negated)}
	}
	if free := plan.FreeRefs(r); free.Empty() {
		e := l.existsAlone(r)
		if negated {
			e = plan.Negate(e)
		}
		return []plan.Expr{e}
	}
	kind := plan.Semi
	if negated {
		kind = plan.Anti
	}
	l.joinSub(&plan.Join{Kind: kind, Left: l.node, Right: r}, q.Pos)
	return nil
}

// existsAlone answers an EXISTS that does not depend on the row: count at most one row, once.
func (l *lifter) existsAlone(r plan.Node) plan.Expr {
	n := l.s.cols.New("exists", types.TInt64, true)
	l.cross(&plan.Group{Input: &plan.Sort{Input: r, Limit: 1}, Aggs: []plan.Agg{{Func: plan.CountStar, Col: n}}})
	return plan.Compare(plan.Gt, l.s.ref(n), plan.NewConst(types.IntValue(types.TInt64, 0)))
}

// cross joins a relation of exactly one row.
func (l *lifter) cross(r plan.Node) {
	j := &plan.Join{Kind: plan.Inner, Left: l.node, Right: r, AtMostOne: true}
	if j.Right = l.gated(r); j.Right != r { // then there may be no row
		j.Kind = plan.Left
		l.s.pad(plan.Left, r)
	}
	l.node = j
}

// in joins IN as a condition: a semi join.
func (l *lifter) in(q *plan.Subquery) []plan.Expr {
	q.Plan = l.s.unnestTree(q.Plan)
	if len(q.Needle) == 1 && exactlyOne(q.Plan) {
		return []plan.Expr{l.subquery(q, true)}
	}
	j := &plan.Join{Kind: plan.Semi, Left: l.node, Right: dropOrder(q.Plan), On: needles(l.s, q)}
	l.joinSub(j, q.Pos)
	return nil
}

// notIn joins NOT IN as a condition. A NULL on either side makes the comparison unknown and
// the row fails, unless there is nothing to compare with.
func (l *lifter) notIn(q *plan.Subquery) []plan.Expr {
	s := l.s
	q.Plan = s.unnestTree(q.Plan)
	if len(q.Needle) == 1 && exactlyOne(q.Plan) {
		return []plan.Expr{plan.Negate(l.subquery(q, false))}
	}
	r := dropOrder(q.Plan)
	on := needles(s, q)
	free := plan.FreeRefs(r)
	if l.neverNull(q, r) || !free.Empty() || len(on) > 1 {
		if !l.neverNull(q, r) {
			// Any row for which the comparison is not false keeps the left row out.
			eq := plan.AndOf(on...)
			on = []plan.Expr{plan.Negate(plan.NewCall(plan.IsTrue, types.TBool, plan.Negate(eq)))}
		}
		l.joinSub(&plan.Join{Kind: plan.Anti, Left: l.node, Right: r, On: on}, q.Pos)
		return nil
	}
	return []plan.Expr{plan.Negate(s.ref(l.mark3(q, r)))}
}

// mark3 joins an uncorrelated IN of one needle whose NULLs matter: a mark join with that key alone.
func (l *lifter) mark3(q *plan.Subquery, r plan.Node) plan.ColID {
	m := l.s.cols.New("mark", types.TBool, false)
	l.node = &plan.Join{Kind: plan.Mark, Left: l.node, Right: l.gated(r), MarkCol: m,
		LKeys: []plan.Expr{q.Needle[0]}, RKeys: []plan.Expr{l.s.ref(q.Output[0])}}
	return m
}

// mark2 joins a condition whose result is only true or not true.
func (l *lifter) mark2(r plan.Node, on []plan.Expr, pos int) plan.Expr {
	m := l.s.cols.New("mark", types.TBool, false)
	l.joinSub(&plan.Join{Kind: plan.Mark, Left: l.node, Right: r, On: on, MarkCol: m}, pos)
	return plan.NewCall(plan.IsTrue, types.TBool, l.s.ref(m))
}

// needles are the equalities of an IN.
func needles(s *state, q *plan.Subquery) []plan.Expr {
	on := make([]plan.Expr, len(q.Needle))
	for i, e := range q.Needle {
		on[i] = plan.Compare(plan.Eq, e, s.ref(q.Output[i]))
	}
	return on
}

// neverNull reports that no comparison of an IN can be unknown.
func (l *lifter) neverNull(q *plan.Subquery, r plan.Node) bool {
	left, right := plan.NotNullCols(l.s.q, l.node), plan.NotNullCols(l.s.q, r)
	for i, e := range q.Needle {
		if !plan.NotNullExpr(e, &left) || !right.Has(q.Output[i]) {
			return false
		}
	}
	return true
}

// subquery joins q to the rows and returns the expression for its value. condition says that NULL
// may be taken for false.
func (l *lifter) subquery(q *plan.Subquery, condition bool) plan.Expr {
	q.Plan = l.s.unnestTree(q.Plan)
	if q.Kind == plan.Exists {
		r, always := existential(q.Plan)
		if always {
			return plan.BoolConst(true)
		}
		q.Plan = r
	}
	leave := l.enterGuard(q)
	e := l.joined(q, condition)
	leave()
	return e
}

// joined does the work of subquery.
func (l *lifter) joined(q *plan.Subquery, condition bool) plan.Expr {
	s := l.s
	switch q.Kind {
	case plan.Scalar:
		return l.scalar(q)
	case plan.Exists:
		if free := plan.FreeRefs(q.Plan); free.Empty() {
			return l.existsAlone(q.Plan)
		}
		return l.mark2(q.Plan, nil, q.Pos)
	}
	if len(q.Needle) == 1 && exactlyOne(q.Plan) {
		v := l.scalar(&plan.Subquery{Kind: plan.Scalar, Plan: q.Plan, Output: q.Output, T: s.cols.Get(q.Output[0]).Type, Pos: q.Pos})
		return plan.Compare(q.Cmp, q.Needle[0], v)
	}
	if q.Kind == plan.All && q.Cmp == plan.Ne {
		y := *q
		y.Kind, y.Cmp = plan.In, plan.Eq
		return plan.Negate(l.joined(&y, false))
	}
	if q.Kind == plan.In && q.Cmp == plan.Eq {
		return l.inValue(q)
	}
	return l.quantified(q, condition)
}

// inValue is an IN whose value is used: in a select list, under OR, in a CASE.
func (l *lifter) inValue(q *plan.Subquery) plan.Expr {
	s := l.s
	r := dropOrder(q.Plan)
	free := plan.FreeRefs(r)
	switch {
	case l.neverNull(q, r):
		return l.mark2(r, needles(s, q), q.Pos)
	case len(q.Needle) == 1 && free.Empty():
		return s.ref(l.mark3(q, r))
	}
	// Two questions: is there an equal row, and is there one for which equality is unknown?
	again, names := plan.CloneNode(s.cols, r)
	eqs := needles(s, q)
	unknown := make([]plan.Expr, len(eqs))
	for i, e := range eqs {
		unknown[i] = names.Expr(e)
	}
	isTrue := l.mark2(r, eqs, q.Pos)
	isNull := l.mark2(again, []plan.Expr{plan.NewCall(plan.IsNull, types.TBool, plan.AndOf(unknown...))}, q.Pos)
	return plan.NewCall(plan.Case, types.TBool,
		isTrue, plan.BoolConst(true), isNull, plan.NullConst(types.TBool), plan.BoolConst(false))
}

// unnestValues makes rows with subqueries or outer references a union of projections, which have
// an input to join to.
func (s *state) unnestValues(x *plan.Values) plan.Node {
	plainRows := true
	for _, r := range x.Rows {
		for _, e := range r {
			plainRows = plainRows && plan.IsConst(e)
		}
	}
	if plainRows {
		return x
	}
	arm := func(row []plan.Expr, cols []plan.ColID) plan.Node {
		p := &plan.Project{Input: &plan.Values{Rows: [][]plan.Expr{{}}}, Exprs: row, Cols: cols}
		return s.unnestTree(p)
	}
	if len(x.Rows) == 1 {
		return arm(x.Rows[0], x.Cols)
	}
	u := &plan.SetOp{Cols: x.Cols}
	for _, row := range x.Rows {
		cols := make([]plan.ColID, len(row))
		for i := range row {
			cols[i] = s.copyCol(x.Cols[i])
		}
		u.Args = append(u.Args, arm(row, cols))
		u.InCols = append(u.InCols, cols)
	}
	return u
}

// unnestJoin treats subqueries in ON, and dependent joins.
func (s *state) unnestJoin(x *plan.Join) plan.Node {
	plain, subs := withSubqueries(x.On)
	if len(subs) == 0 {
		if x.Dependent {
			if n := onTop(x); n != nil {
				return n
			}
			return s.joinSub(x, nil, diag.NoPos)
		}
		return x
	}
	if x.Kind == plan.Inner {
		x.On = plain
		f := &plan.Filter{Preds: subs}
		if f.Input = plan.Node(x); x.Dependent {
			f.Input = s.joinSub(x, nil, diag.NoPos)
		}
		return s.unnestFilter(f)
	}
	x.On = plain
	var below []plan.Expr
	for i, c := range subs {
		if s.oneSided(x, c, i > 0 || len(plain) > 0) {
			x.On = append(x.On, s.liftSide(x, c))
		} else {
			below = append(below, c)
		}
	}
	if len(below) > 0 {
		// A condition on both sides is one that right rows meet or fail for each left row: as if
		// the right side were LATERAL (select * from … where condition). One that may fail is tested
		// after the others.
		if slices.ContainsFunc(below, failsInside) {
			x.On, below = slices.Concat(x.On[len(plain):], nil), slices.Concat(plain, below)
		}
		x.Right = s.unnestFilter(&plan.Filter{Input: x.Right, Preds: below})
		x.Dependent = true
	}
	if x.Dependent {
		return s.joinSub(x, nil, diag.NoPos)
	}
	return x
}

// oneSided reports that each subquery of an outer join's condition can be evaluated on one side: it
// refers to no more, and needs no guard, which may refer to the other: other conjuncts, if guarded, or parts of
// its own. Of a full join there is no other way.
func (s *state) oneSided(x *plan.Join, c plan.Expr, guarded bool) bool {
	left, right := plan.Produced(x.Left), plan.Produced(x.Right)
	ok := true
	plan.WalkExpr(c, func(e plan.Expr) bool {
		switch y := e.(type) {
		case *plan.Call:
			guarded = guarded || sometimes(y.Op)
		case *plan.Subquery:
			refs := plan.Refs(y)
			if refs.Intersects(&left) && refs.Intersects(&right) {
				if ok = false; x.Kind == plan.Full {
					panic(diag.Unsupported(y.Pos, "a subquery in a full join's condition that refers to both sides"))
				}
			} else if guarded && x.Kind != plan.Full && subqueryFails(y) {
				ok = false
			}
			return false // what is in it goes with it
		}
		return true
	})
	return ok
}

// liftSide evaluates the subqueries of an outer join's condition on the side to which they
// refer.
func (s *state) liftSide(x *plan.Join, e plan.Expr) plan.Expr {
	switch y := e.(type) {
	case *plan.Call:
		z := *y
		z.Args = make([]plan.Expr, len(y.Args))
		for i, a := range y.Args {
			z.Args[i] = s.liftSide(x, a)
		}
		return &z
	case *plan.Subquery:
		right := plan.Produced(x.Right)
		side := &x.Left
		if refs := plan.Refs(y); refs.Intersects(&right) {
			side = &x.Right
		}
		l := lifter{s: s, node: *side}
		v := l.lift(y)
		*side = l.node
		s.pad(x.Kind, x.Right)
		return v
	}
	return e
}
