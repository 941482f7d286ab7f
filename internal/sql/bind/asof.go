package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// An ASOF join gives each left row the right row that is closest by an inequality, among those that are equal in the other
// conditions. Both sides are put below each other and sorted by the operands of the inequality, so that what a left row is
// looking for is the last right row before it. Each right row begins a run, and the left rows that follow are part of it:
//
//	key  operand  side   run  price
//	x    09:00    right  1    10
//	x    09:30    right  2    11
//	x    10:00    left   2    → 11: the first value of the run

// asOf is the join j, whose conditions are those of an ASOF join. It makes columns of its own for those of rels, both sides.
func (b *binder) asOf(j *plan.Join, t *ast.Join, rels []*rel) plan.Node {
	if t.Kind != ast.InnerJoin && t.Kind != ast.LeftJoin {
		unsupported(t.Pos, "ASOF %s JOIN", t.Kind)
	}
	if j.Dependent {
		unsupported(t.Pos, "an ASOF JOIN with a LATERAL subquery")
	}
	for _, r := range rels {
		for i := range r.cols {
			b.column(r, i)
		}
	}
	lkeys, rkeys, order := b.asOfConditions(j, t)
	left, right := j.Left.Produces(nil), j.Right.Produces(nil)

	u := &plan.SetOp{}
	made := make(plan.Renaming, b.cols.Len())
	column := func(like plan.ColID) plan.ColID {
		c := b.cols.Get(like)
		id := b.cols.New(c.Name, c.Type, false)
		u.Cols = append(u.Cols, id)
		return id
	}
	for _, id := range slices.Concat(left, right) {
		made[id] = column(id)
	}
	var lk, rk []plan.ColID
	lnode, rnode := b.asOfSide(j.Left, lkeys, &lk), b.asOfSide(j.Right, rkeys, &rk)
	var present []plan.Expr
	for _, id := range rk { // a right row with a NULL is close to nothing
		present = append(present, plan.Negate(plan.NewCall(plan.IsNull, types.TBool, b.ref(id))))
	}
	rnode = &plan.Filter{Input: rnode, Preds: present}
	var keys []plan.ColID
	for _, id := range lk {
		keys = append(keys, column(id))
	}
	mark := b.cols.New("right", types.TBool, false) // TRUE or NULL
	u.Cols = append(u.Cols, mark)
	u.Args = []plan.Node{
		b.padded(lnode, slices.Concat(left, make([]plan.ColID, len(right)), lk, []plan.ColID{0}), u),
		b.padded(rnode, slices.Concat(make([]plan.ColID, len(left)), right, rk, []plan.ColID{0}), u)}
	// The last column of padded is NULL on both sides; on the right it says so.
	rp := u.Args[1].(*plan.Project)
	rp.Exprs[len(rp.Exprs)-1] = plan.BoolConst(true)

	operand := keys[len(keys)-1]
	keys = keys[:len(keys)-1]
	order[0].Col = operand
	order[1].Col = mark
	runs := &plan.Window{Input: u}
	run := b.add(runs, plan.WindowFunc{Func: plan.WinAgg, Agg: plan.Count, Args: []plan.ColID{mark}, Frame: plan.Frame{
		Unit: plan.RowsFrame, Start: plan.FrameBound{Kind: plan.UnboundedPreceding}, End: plan.FrameBound{Kind: plan.CurrentRow}}},
		plan.WindowSpec{Partition: keys, Order: order})
	first := &plan.Window{Input: runs}
	spec := plan.WindowSpec{Partition: append(slices.Clone(keys), run.(*plan.Ref).ID), Order: []plan.SortKey{{Col: mark}}}
	for _, id := range right {
		made[id] = b.add(first, plan.WindowFunc{Func: plan.FirstValue, Args: []plan.ColID{made[id]}, Frame: plan.DefaultFrame()}, spec).(*plan.Ref).ID
	}
	out := &plan.Filter{Input: first, Preds: []plan.Expr{plan.NewCall(plan.IsNull, types.TBool, b.ref(mark))}}
	if t.Kind == ast.InnerJoin {
		out.Preds = append(out.Preds, plan.Compare(plan.Gt, run, plan.NewConst(types.IntValue(types.TInt64, 0))))
	}
	for _, r := range rels {
		r.scan, r.shared, r.stored, r.sides = nil, nil, false, nil
		for i := range r.cols {
			c := &r.cols[i]
			c.expr = made.Expr(c.expr)
			if c.id != 0 {
				c.id = made.Get(c.id)
			}
		}
	}
	return out
}

// asOfConditions takes the conditions of j apart: the keys of both sides, of which the last are the operands of the inequality,
// and how rows of both are sorted, by the operand and then by the side.
func (b *binder) asOfConditions(j *plan.Join, t *ast.Join) (lkeys, rkeys []plan.Expr, order []plan.SortKey) {
	left, right := plan.Produced(j.Left), plan.Produced(j.Right)
	hint := "ON a.key = b.key AND a.time >= b.time: equalities, and one inequality between both sides"
	var lop, rop plan.Expr
	for _, p := range j.On {
		c, ok := p.(*plan.Call)
		if !ok || len(c.Args) != 2 {
			panic(diag.Unsupported(t.Pos, "an ASOF JOIN with such a condition").WithHint("%s", hint))
		}
		l, r, op := c.Args[0], c.Args[1], c.Op
		if refs := plan.Refs(l); refs.Intersects(&right) {
			l, r, op = r, l, op.Mirror()
		}
		lrefs, rrefs := plan.Refs(l), plan.Refs(r)
		if !lrefs.SubsetOf(&left) || !rrefs.SubsetOf(&right) || lrefs.Empty() || rrefs.Empty() {
			panic(diag.Unsupported(t.Pos, "an ASOF JOIN with a condition that does not compare both sides").WithHint("%s", hint))
		}
		switch op {
		case plan.Eq:
			lkeys, rkeys = append(lkeys, l), append(rkeys, r)
			continue
		case plan.Lt, plan.Le, plan.Gt, plan.Ge:
		default:
			panic(diag.Unsupported(t.Pos, "an ASOF JOIN with such a condition").WithHint("%s", hint))
		}
		if lop != nil {
			panic(diag.Errorf(diag.SyntaxError, t.Pos, "an ASOF JOIN has one inequality only").WithHint("%s", hint))
		}
		lop, rop = l, r
		// A left row comes after the right rows that it may take; NULLs take none. The mark of right rows is not NULL.
		order = []plan.SortKey{{Desc: op == plan.Lt || op == plan.Le, NullsFirst: true}, {NullsFirst: op == plan.Lt || op == plan.Gt}}
	}
	if lop == nil {
		panic(diag.Errorf(diag.SyntaxError, t.Pos, "an ASOF JOIN needs an inequality").WithHint("%s", hint))
	}
	return append(lkeys, lop), append(rkeys, rop), order
}

// asOfSide computes the keys of one side beside its columns.
func (b *binder) asOfSide(n plan.Node, keys []plan.Expr, ids *[]plan.ColID) plan.Node {
	p := &plan.Project{Input: n, Keep: n.Produces(nil)}
	for _, e := range keys {
		id := b.newCol("key", e)
		p.Exprs, p.Cols = append(p.Exprs, e), append(p.Cols, id)
		*ids = append(*ids, id)
	}
	return p
}

// padded makes n an input of u, with NULL for columns that it has not.
func (b *binder) padded(n plan.Node, cols []plan.ColID, u *plan.SetOp) plan.Node {
	p := &plan.Project{Input: n}
	in := make([]plan.ColID, len(cols))
	for i, id := range cols {
		if in[i] = id; id != 0 {
			p.Keep = append(p.Keep, id)
			continue
		}
		e := plan.NullConst(b.cols.Get(u.Cols[i]).Type)
		in[i] = b.newCol(b.cols.Get(u.Cols[i]).Name, e)
		p.Exprs, p.Cols = append(p.Exprs, e), append(p.Cols, in[i])
	}
	u.InCols = append(u.InCols, in)
	return p
}
