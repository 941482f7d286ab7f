package emit

import (
	"sort"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// At a scan every row passes through the filters, so their shape matters more than
// anything else: bounds on one column become one unsigned comparison; tests whose outcome
// the processor can predict are branches, the others are computed without branches and
// decided by one; what drops most comes first; string searches come last.

// unpredictable is the share of passing rows within which a branch would often be
// mispredicted.
const (
	mostlyFails  = 0.04
	mostlyPasses = 0.96
)

// scanFilters drops rows by the scan's predicates and semi-join filters.
func (e *emitter) scanFilters(preds []plan.Expr, filters []scanned.Filter) {
	var ranges []*scanned.Bounds
	var compares, rest []plan.Expr
	for _, p := range preds {
		var buf [8]plan.Expr
		for _, c := range plan.Conjuncts(buf[:0], p) {
			switch {
			case e.table.AddBounds(&ranges, c):
			case e.plainCompare(c):
				compares = append(compares, c)
			default:
				rest = append(rest, c)
			}
		}
	}
	sort.SliceStable(ranges, func(i, j int) bool {
		if e.Can.Parameters { // other literals let others pass
			return ranges[i].Col < ranges[j].Col
		}
		return ranges[i].Share < ranges[j].Share
	})
	sort.SliceStable(filters, func(i, j int) bool { return filters[i].Share < filters[j].Share })

	var doubtful []*scanned.Bounds
	for _, r := range ranges {
		doubt := r.Share > mostlyFails && r.Share < mostlyPasses || e.Can.Parameters
		if !e.Off.BranchFree && doubt && r.Lo <= r.Hi && len(ranges)+len(compares) > 1 {
			doubtful = append(doubtful, r)
			continue
		}
		e.branchRange(r)
	}
	early := 0
	for early < len(filters) && filters[early].Share < 0.3 {
		e.semiFilter(filters[early])
		early++
	}
	if e.Off.BranchFree {
		rest, compares = append(compares, rest...), nil
	}
	e.oneBranch(doubtful, compares)
	for _, f := range filters[early:] {
		e.semiFilter(f)
	}
	for _, p := range orderPreds(rest) {
		e.Detail("where", func(n plan.Names) string { return n.Expr(p) })
		e.filter(p)
	}
}

// plainCompare reports a comparison of two integer columns.
func (e *emitter) plainCompare(x plan.Expr) bool {
	c, ok := x.(*plan.Call)
	if !ok || !c.Op.IsComparison() {
		return false
	}
	_, ok1 := e.table.Integer(c.Args[0])
	_, ok2 := e.table.Integer(c.Args[1])
	return ok1 && ok2
}

// test opens a register whose unsigned comparison with bound tells whether the row passes:
// it does if not above.
func (e *emitter) test(r *scanned.Bounds) (x ir.Val, own bool, bound ir.Val) {
	v := e.Column(r.Col)
	all := v.Desc.Range
	if r.Lo == 0 && all.Lo.Sign() >= 0 && !e.Can.Parameters {
		return v.A, false, ir.K(r.Hi)
	}
	near := all.Fits64() && all.Hi.Lo-all.Lo.Lo < 1<<32
	t, bound := e.above(v, r.Lo, r.Hi-r.Lo, near)
	return t.V(), true, bound
}

// above: a thread's registers have 64 bits.
func (e *rowLoop) above(v code.Value, lo, span int64, _ bool) (ir.Reg, ir.Val) {
	t := e.Int("above")
	e.B.Op2(ir.Sub, t, v.A, ir.K(lo))
	return t, ir.K(span)
}

// above works on halves where they tell as much: a GPU's registers have 32 bits, and so have parameters that it reads for many rows.
func (e *warp) above(v code.Value, lo, span int64, near bool) (ir.Reg, ir.Val) {
	if !near {
		t := e.Int("above")
		e.B.Op2(ir.Sub, t, v.A, e.Fact(lo))
		return t, e.Fact(span)
	}
	t, w := e.word("above"), e.asWord("value", v.A)
	e.B.Op2(ir.Sub, t, w.V(), e.factWord(lo).V())
	e.B.Clear(w)
	return t, e.factWord(span).V()
}

// branchRange drops the row by a branch.
func (e *emitter) branchRange(r *scanned.Bounds) {
	e.Detail("where", func(n plan.Names) string { return n.And(r.Preds) })
	if r.Lo > r.Hi {
		e.skip(ir.Always, ir.K(0), ir.K(0))
		return
	}
	v := e.Column(r.Col)
	min, max := int64(v.Desc.Range.Lo.Lo), int64(v.Desc.Range.Hi.Lo)
	below, above, point := r.Lo > min, r.Hi < max, r.Lo == r.Hi
	if e.Can.Parameters { // by the query, whatever its literals are
		below, above, point = r.Below, r.Above, r.Point
	}
	switch {
	case !below && !above:
	case point:
		e.skipWhere(ir.NE, v, r.Lo)
	case !below:
		e.skipWhere(ir.GT, v, r.Hi)
	case !above:
		e.skipWhere(ir.LT, v, r.Lo)
	default:
		x, own, bound := e.test(r)
		e.skip(ir.UGT, x, bound)
		if own {
			e.B.Clear(x.R)
		}
	}
}

// skipWhere drops the row if its value compares so with a number of the query.
func (e *emitter) skipWhere(c ir.Cond, v code.Value, k int64) {
	e.Comparing(c, v, code.Value{Desc: layout.Desc{Range: layout.Between(k, k)}, A: e.Fact(k)}, e.skip)
}

// oneBranch decides several doubtful tests by a single branch.
func (e *emitter) oneBranch(ranges []*scanned.Bounds, compares []plan.Expr) {
	if len(ranges)+len(compares) == 1 {
		for _, r := range ranges {
			e.branchRange(r)
		}
		for _, c := range compares {
			e.Detail("where", func(n plan.Names) string { return n.Expr(c) })
			e.filter(c)
		}
		return
	}
	if len(ranges)+len(compares) > 0 {
		e.Detail("where", func(n plan.Names) string {
			var all []plan.Expr
			for _, r := range ranges {
				all = append(all, r.Preds...)
			}
			return n.And(append(all, compares...)) + ", by one branch"
		})
	}
	ok := ir.NoReg
	add := func(c ir.Cond, x, y ir.Val) {
		if ok == ir.NoReg {
			ok = e.Int("pass")
			e.B.Set(ok, c, x, y)
			return
		}
		t := e.Int("pass2")
		e.B.Set(t, c, x, y)
		e.B.Op2(ir.And, ok, ok.V(), t.V())
		e.B.Clear(t)
	}
	// Registers opened by column loads come first, so that ok is cleared before them.
	for _, r := range ranges {
		e.Column(r.Col)
	}
	for _, r := range ranges {
		x, own, bound := e.test(r)
		add(ir.ULE, x, bound)
		if own {
			e.B.Clear(x.R)
		}
	}
	for _, c := range compares {
		call := c.(*plan.Call)
		l, r := e.Eval(call.Args[0]), e.Eval(call.Args[1])
		add(scalar.Conds[call.Op], l.A, r.A)
		e.Free(l, r)
	}
	if ok != ir.NoReg {
		e.skip(ir.EQ, ok.V(), ir.K(0))
		e.B.Clear(ok)
	}
}
