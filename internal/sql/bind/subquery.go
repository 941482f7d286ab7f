package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// scalarSubquery binds (select …) used as a value.
func (b *binder) scalarSubquery(s *scope, e *ast.Subquery) plan.Expr {
	r := b.query(e.Query, s)
	if len(r.cols) != 1 {
		fail(diag.SyntaxError, e.Pos, "subquery must return only one column")
	}
	id := r.cols[0].id
	return s.noteQuery(&plan.Subquery{Kind: plan.Scalar, Plan: r.node, Output: []plan.ColID{id}, T: b.cols.Get(id).Type, Pos: e.Pos}, e)
}

// arrayQuery is ARRAY(select …): a list of the rows in their order, empty if there are none.
func (b *binder) arrayQuery(s *scope, e *ast.ArrayQuery) plan.Expr {
	r := b.query(e.Query, s)
	if len(r.cols) != 1 {
		fail(diag.SyntaxError, e.Pos, "subquery must return only one column")
	}
	id := r.cols[0].id
	t := b.listOf(b.cols.Get(id).Type, e.Pos)
	list := plan.Agg{Func: plan.Folded, Fold: funcs.FindFold("array_agg", false).Fold, Arg: b.ref(id), Col: b.cols.New("array", t, false)}
	g := &plan.Group{Input: r.node}
	if sort, ok := r.node.(*plan.Sort); ok { // the order of rows is not kept by what is above a sort, but by an aggregate
		for _, k := range sort.Keys {
			list.Order = append(list.Order, plan.AggOrder{X: b.ref(k.Col), Desc: k.Desc, NullsFirst: k.NullsFirst})
		}
		if sort.Limit < 0 && sort.Offset == 0 {
			g.Input = sort.Input
		}
	}
	g.Aggs = []plan.Agg{list}
	sub := s.noteQuery(&plan.Subquery{Kind: plan.Scalar, Plan: g, Output: []plan.ColID{list.Col}, T: t, Pos: e.Pos}, e)
	return &plan.Call{Op: plan.Coalesce, T: t, Args: []plan.Expr{sub, plan.NewConst(types.ListValue(t.Elem(), nil))}, Pos: e.Pos}
}

func (b *binder) exists(s *scope, e *ast.Exists) plan.Expr {
	r := b.query(withColumn(e.Query), s)
	return s.noteQuery(&plan.Subquery{Kind: plan.Exists, Plan: r.node, T: types.TBool, Pos: e.Pos}, e)
}

// withColumn gives a query of rows without columns one, for those who only ask for its rows.
func withColumn(q *ast.Query) *ast.Query {
	sel, ok := q.Body.(*ast.Select)
	if !ok || len(sel.Items) > 0 {
		return q
	}
	out, with := *q, *sel
	with.Items = []ast.SelectItem{{X: &ast.Literal{Pos: sel.Pos, Kind: ast.LitInt, Text: "1"}}}
	out.Body = &with
	return &out
}

// inQuery binds x IN (select …); x may be a row.
func (b *binder) inQuery(s *scope, e *ast.InQuery) plan.Expr {
	q := b.anySubquery(s, e.X, plan.In, plan.Eq, e.Query, e.Pos)
	return negateIf(e.Not, q, e.Pos)
}

// quantified binds x op ANY (…) and x op ALL (…).
func (b *binder) quantified(s *scope, e *ast.Quantified) plan.Expr {
	op := comparison(e.Op)
	if e.Query != nil {
		if op == plan.OpNone {
			unsupported(e.Pos, "%s with ANY or ALL of a subquery", e.Op)
		}
		kind := plan.In
		if e.All {
			kind = plan.All
		}
		return b.anySubquery(s, e.X, kind, op, e.Query, e.Pos)
	}
	array, ok := e.Array.(*ast.Array)
	if !ok {
		return b.quantifiedList(s, e)
	}
	x := b.expr(s, e.X)
	list := make([]plan.Expr, len(array.Elems))
	for i, y := range array.Elems {
		list[i] = b.expr(s, y)
	}
	at := func(i int) place { return place{e.Pos, e.X.Position(), array.Elems[i].Position()} }
	switch {
	case len(list) == 0:
		return plan.BoolConst(e.All)
	case op == plan.Eq && !e.All:
		return b.anyOf(s, e.X, x, list, at)
	case op == plan.Ne && e.All:
		return not(b.anyOf(s, e.X, x, list, at), e.Pos)
	}
	parts := make([]plan.Expr, len(list))
	for i, y := range list {
		if i > 0 {
			x = b.again(s, e.X, x)
		}
		if op == plan.OpNone {
			parts[i] = b.likeOp(e.Op, x, y, at(i))
		} else {
			parts[i] = b.compare(op, x, y, at(i))
		}
	}
	if e.All {
		return and(e.Pos, parts...)
	}
	return or(e.Pos, parts...)
}

// likeOp is x LIKE y for the four names that ANY and ALL know.
func (b *binder) likeOp(op string, x, y plan.Expr, at place) plan.Expr {
	neg, fold := false, false
	switch op {
	case "like":
	case "not like":
		neg = true
	case "ilike":
		fold = true
	case "not ilike":
		neg, fold = true, true
	default:
		unsupported(at.op, "%s with ANY or ALL", op)
	}
	x, y = b.settle(x), b.settle(y)
	if x.Type().Kind != types.Text || y.Type().Kind != types.Text {
		panic(noOperator(op, x, y, at.op))
	}
	return negateIf(neg, b.match(x, y, `\`, fold, at.op, at.r), at.op)
}

// anySubquery binds needle op ANY/ALL (select …). Needle and output get common types,
// by casts on either side.
func (b *binder) anySubquery(s *scope, x ast.Expr, kind plan.SubKind, op plan.Op, q *ast.Query, pos int) plan.Expr {
	xs := []ast.Expr{x}
	if row, ok := x.(*ast.Row); ok {
		xs = row.Elems
	}
	needle := make([]plan.Expr, len(xs))
	for i, x := range xs {
		needle[i] = b.expr(s, x)
	}
	r := b.query(q, s)
	switch {
	case len(r.cols) > len(xs):
		fail(diag.SyntaxError, pos, "subquery has too many columns")
	case len(r.cols) < len(xs):
		fail(diag.SyntaxError, pos, "subquery has too few columns")
	}
	out := make([]plan.Expr, len(xs))
	changed := false
	for i := range xs {
		out[i] = b.ref(r.cols[i].id)
		at := place{pos, xs[i].Position(), r.cols[i].pos}
		var y plan.Expr = out[i]
		if r.cols[i].lit != nil {
			y = r.cols[i].lit
		}
		l, o, ok := b.unify(needle[i], y, at)
		if !ok {
			panic(noOperator(op.String(), needle[i], y, pos))
		}
		// The pair may become a hash key, for which decimals must agree in precision too.
		if lt, ot := l.Type(), o.Type(); lt.Kind == types.Decimal && lt != ot {
			t, _ := types.CommonType(lt, ot)
			l, o = b.convert(l, t, at.l), b.convert(o, t, at.r)
		}
		if l.Type() == types.TJSON {
			panic(noOperator(op.String(), needle[i], y, pos))
		}
		l, o = equalBy(l, at.l), equalBy(o, at.r)
		needle[i] = l
		if !plan.EqualExpr(o, out[i]) && !(r.cols[i].lit != nil && o.Type() == out[i].Type()) {
			out[i], changed = o, true
		}
	}
	if len(xs) > 1 && !(op == plan.Eq && kind == plan.In) && !(op == plan.Ne && kind == plan.All) {
		return b.anyRow(r, kind, op, needle, out, pos)
	}
	sub := &plan.Subquery{Kind: kind, Cmp: op, Needle: needle, T: types.TBool, Pos: pos, Output: make([]plan.ColID, len(xs))}
	if changed {
		p := b.project(r.node, len(out))
		for i, e := range out {
			sub.Output[i] = p.col(e, r.cols[i].name)
		}
		sub.Plan = p.done()
		return sub
	}
	for i := range out {
		sub.Output[i] = r.cols[i].id
	}
	sub.Plan = r.node
	return sub
}

// anyRow compares a row with those of a subquery by anything but IN: it counts how the comparisons end. One that is true decides
// ANY, one that is false ALL; otherwise one that is unknown makes the result unknown.
func (b *binder) anyRow(r result, kind plan.SubKind, op plan.Op, needle, out []plan.Expr, pos int) plan.Expr {
	input := r.node
	if once, ok := b.computedOnce(needle).(*plan.Project); ok { // comparisons name the needle several times
		input = &plan.Join{Kind: plan.Inner, Left: once, Right: input}
	}
	pair := func(op plan.Op, i int) plan.Expr { return plan.Compare(op, needle[i], out[i]) }
	var is plan.Expr
	switch op {
	case plan.Eq, plan.Ne:
		parts := make([]plan.Expr, len(needle))
		for i := range parts {
			parts[i] = pair(op, i)
		}
		if is = and(pos, parts...); op == plan.Ne {
			is = or(pos, parts...)
		}
	default:
		is = rowOrder(op, pair, len(needle), pos)
	}
	decides, otherwise := is, false
	if kind == plan.All {
		decides, otherwise = plan.Negate(is), true
	}
	g := &plan.Group{Input: input}
	some := func(name string, e plan.Expr) plan.Expr {
		id := b.cols.New(name, types.TBool, false)
		g.Aggs = append(g.Aggs, plan.Agg{Func: plan.BoolOr, Arg: e, Col: id})
		return b.ref(id)
	}
	value := plan.NewCall(plan.Case, types.TBool,
		some("decides", decides), plan.BoolConst(!otherwise),
		some("unknown", plan.NewCall(plan.IsNull, types.TBool, is)), plan.NullConst(types.TBool), plan.BoolConst(otherwise))
	id := b.newCol("any", value)
	p := &plan.Project{Input: g, Exprs: []plan.Expr{value}, Cols: []plan.ColID{id}}
	return &plan.Subquery{Kind: plan.Scalar, Plan: p, Output: []plan.ColID{id}, T: types.TBool, Pos: pos}
}
