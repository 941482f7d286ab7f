package bind

import (
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// sort orders the rows of n and cuts them to LIMIT and OFFSET. What a number of rows alone does not say (ties, a share of all
// rows, a number that is known only when the query runs) numbers the rows before.
func (b *binder) sort(n plan.Node, keys []orderKey, q *ast.Query) plan.Node {
	n, keys = b.sortable(n, keys, orderPos(q))
	out := &plan.Sort{Input: n, Limit: -1, Keys: make([]plan.SortKey, 0, len(keys))}
next:
	for _, k := range keys {
		for _, have := range out.Keys {
			if have.Col == k.col {
				continue next // an earlier key on the same column decides
			}
		}
		out.Keys = append(out.Keys, plan.SortKey{Col: k.col, Desc: k.desc, NullsFirst: k.nullsFirst})
	}
	if q.WithTies && len(keys) == 0 {
		fail(diag.SyntaxError, q.Limit.Position(), "WITH TIES cannot be specified without ORDER BY clause")
	}
	limit, offset := b.rowCount(q.Limit, "LIMIT", diag.InvalidLimit, q.LimitPercent), b.rowCount(q.Offset, "OFFSET", diag.InvalidOffset, false)
	first, plainLimit := rows(limit)
	skip, plainOffset := rows(offset)
	if plainLimit && plainOffset && (!q.WithTies || first <= 0) && !q.LimitPercent {
		out.Limit, out.Offset = first, max(skip, 0)
	} else {
		out.Input = b.numberedLimit(n, out.Keys, limit, offset, q.LimitPercent, q.WithTies)
	}
	if len(out.Keys) == 0 && out.Limit < 0 && out.Offset == 0 {
		return out.Input
	}
	return out
}

// rows is a number of rows that is known: -1 for none.
func rows(e plan.Expr) (n int64, known bool) {
	if e == nil {
		return -1, true
	}
	c, ok := e.(*plan.Const)
	if !ok || c.V.Null || c.V.Type.Kind != types.Int64 {
		return 0, ok && c.V.Null
	}
	return c.V.I, true
}

// rowCount binds LIMIT and OFFSET; nil is none, as NULL is. It may be a subquery, but refers to no row.
func (b *binder) rowCount(x ast.Expr, clause, code string, percent bool) plan.Expr {
	if x == nil {
		return nil
	}
	t := types.TInt64
	if percent {
		t = types.TFloat64
	}
	e := b.assign(b.expr(&scope{clause: clause}, x), t, x.Position(), clause)
	c, ok := e.(*plan.Const)
	switch {
	case !ok:
		return plan.NewApply(funcs.RowCount(clause, code), t, x.Position(), e)
	case c.V.Null:
		return nil
	case percent && !(c.V.F >= 0 && c.V.F <= 100):
		fail(code, x.Position(), "a share of the rows must be between 0 and 100 percent")
	case c.V.I < 0:
		fail(code, x.Position(), "%s must not be negative", clause)
	}
	return e
}

// numberedLimit keeps the rows after the offset, up to the limit, by their numbers in the order of keys: so many, or so many percent
// of all. With ties they end behind the last row that is equal to one of these.
func (b *binder) numberedLimit(n plan.Node, keys []plan.SortKey, limit, offset plan.Expr, percent, ties bool) plan.Node {
	w, number := b.ranked(n, plan.RowNumber, nil, keys)
	last := number
	if ties {
		last = b.add(w, plan.WindowFunc{Func: plan.Rank, Frame: plan.DefaultFrame()}, plan.WindowSpec{Order: keys})
	}
	if percent {
		all := b.add(w, plan.WindowFunc{Func: plan.WinAgg, Agg: plan.CountStar, Frame: wholeFrame()}, plan.WindowSpec{})
		limit = plan.NewApply(funcs.ShareOfRows, types.TInt64, diag.NoPos, all, limit)
	}
	f := &plan.Filter{Input: w}
	if offset != nil {
		if offset = unlessNull(offset, 0); !plan.IsConst(offset) { // a subquery stands in one place only
			id := b.newCol("offset", offset)
			f.Input = &plan.Project{Input: w, Keep: w.Produces(nil), Exprs: []plan.Expr{offset}, Cols: []plan.ColID{id}}
			offset = b.ref(id)
		}
		f.Preds = append(f.Preds, plan.Compare(plan.Gt, number, offset))
		last = plan.NewCall(plan.Sub, types.TInt64, last, offset)
	}
	if limit != nil {
		f.Preds = append(f.Preds, plan.Compare(plan.Le, last, unlessNull(limit, math.MaxInt64)))
	}
	return f
}

// unlessNull is e, or n where it is NULL.
func unlessNull(e plan.Expr, n int64) plan.Expr {
	if plan.IsConst(e) {
		return e
	}
	return plan.NewCall(plan.Coalesce, types.TInt64, e, plan.NewConst(types.IntValue(types.TInt64, n)))
}

func wholeFrame() plan.Frame {
	return plan.Frame{Unit: plan.RowsFrame, Start: plan.FrameBound{Kind: plan.UnboundedPreceding}, End: plan.FrameBound{Kind: plan.UnboundedFollowing}}
}

// ranked computes a ranking function for the rows of n.
func (b *binder) ranked(n plan.Node, f plan.WinFunc, partition []plan.ColID, order []plan.SortKey) (*plan.Window, plan.Expr) {
	w := &plan.Window{Input: n}
	return w, b.add(w, plan.WindowFunc{Func: f, Frame: plan.DefaultFrame()}, plan.WindowSpec{Partition: partition, Order: order})
}

// add adds a function of the type of its argument, or BIGINT without one, to a window operator.
func (b *binder) add(w *plan.Window, f plan.WindowFunc, spec plan.WindowSpec) plan.Expr {
	f.Spec = slices.IndexFunc(w.Specs, func(o plan.WindowSpec) bool {
		return slices.Equal(o.Partition, spec.Partition) && slices.Equal(o.Order, spec.Order)
	})
	if f.Spec < 0 {
		f.Spec = len(w.Specs)
		w.Specs = append(w.Specs, spec)
	}
	t := types.TInt64
	if len(f.Args) > 0 && f.Func != plan.WinAgg {
		t = b.cols.Get(f.Args[0]).Type
	}
	f.Col = b.cols.New(f.Func.String(), t, f.NeverNull())
	w.Funcs = append(w.Funcs, f)
	return b.ref(f.Col)
}

// orderPos is where ORDER BY is.
func orderPos(q *ast.Query) int {
	if len(q.OrderBy) == 0 || q.OrderBy[0].X == nil { // ALL
		return diag.NoPos
	}
	return q.OrderBy[0].X.Position()
}
