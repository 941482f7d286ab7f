package emit

import (
	"math"
	"sort"

	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// At a scan every row passes through the filters, so their shape matters more than
// anything else: bounds on one column become one unsigned comparison; tests whose outcome
// the processor can predict are branches, the others are computed without branches and
// decided by one; what drops most comes first; string searches come last.

// rangeTest is a conjunction of bounds on one integer column.
type rangeTest struct {
	col    plan.ColID
	lo, hi int64
	share  float64     // of rows that pass, by the column's range
	preds  []plan.Expr // what it stands for
}

// unpredictable is the share of passing rows within which a branch would often be
// mispredicted.
const (
	mostlyFails  = 0.04
	mostlyPasses = 0.96
)

// scanFilters drops rows by the scan's predicates and semi-join filters.
func (e *emitter) scanFilters(preds []plan.Expr, filters []ScanFilter) {
	var ranges []*rangeTest
	var compares, rest []plan.Expr
	for _, p := range preds {
		var buf [8]plan.Expr
		for _, c := range plan.Conjuncts(buf[:0], p) {
			switch {
			case e.addRange(&ranges, c):
			case e.plainCompare(c):
				compares = append(compares, c)
			default:
				rest = append(rest, c)
			}
		}
	}
	sort.SliceStable(ranges, func(i, j int) bool { return ranges[i].share < ranges[j].share })
	sort.SliceStable(filters, func(i, j int) bool { return filters[i].Share < filters[j].Share })

	var doubtful []*rangeTest
	for _, r := range ranges {
		if !e.Off.BranchFree && r.share > mostlyFails && r.share < mostlyPasses && len(ranges)+len(compares) > 1 {
			doubtful = append(doubtful, r)
			continue
		}
		e.branchRange(r)
	}
	early := 0
	for early < len(filters) && filters[early].Share < 0.3 {
		e.scanFilter(filters[early])
		early++
	}
	if e.Off.BranchFree {
		rest, compares = append(compares, rest...), nil
	}
	e.oneBranch(doubtful, compares)
	for _, f := range filters[early:] {
		e.scanFilter(f)
	}
	for _, p := range orderPreds(rest) {
		e.Detail("where", func(n plan.Names) string { return n.Expr(p) })
		e.filter(p)
	}
}

// integerColumn reports a column of the scan that is an integer in a register and never NULL.
func (e *emitter) integerColumn(x plan.Expr) (layout.Desc, bool) {
	ref, ok := x.(*plan.Ref)
	if !ok {
		return layout.Desc{}, false
	}
	d, ok := e.scanDesc(ref.ID)
	return d, ok && d.Form == layout.I64 && !d.Nullable
}

// addRange folds a comparison of an integer column with a literal into the column's range.
func (e *emitter) addRange(ranges *[]*rangeTest, x plan.Expr) bool {
	c, ok := x.(*plan.Call)
	if !ok || !c.Op.IsComparison() || c.Op == plan.Ne {
		return false
	}
	op, l, r := c.Op, c.Args[0], c.Args[1]
	if _, ok := l.(*plan.Const); ok {
		op, l, r = op.Mirror(), r, l
	}
	k, ok := r.(*plan.Const)
	d, okCol := e.integerColumn(l)
	if !ok || !okCol || k.V.Null || k.V.Type.Phys() > types.PhysI128 || !k.V.Int128().FitsInt64() || !d.Range.Fits64() {
		return false
	}
	id, v := l.(*plan.Ref).ID, k.V.I
	if v == math.MinInt64 || v == math.MaxInt64 {
		return false
	}
	lo, hi := literalRange(op, v)
	var t *rangeTest
	for _, r := range *ranges {
		if r.col == id {
			t = r
		}
	}
	first, last := int64(d.Range.Lo.Lo), int64(d.Range.Hi.Lo)
	if t == nil {
		t = &rangeTest{col: id, lo: first, hi: last}
		*ranges = append(*ranges, t)
	}
	t.preds = append(t.preds, x)
	t.lo, t.hi = max(t.lo, lo), min(t.hi, hi)
	t.share = rangeShare(d.Range, t.lo, t.hi)
	return true
}

// plainCompare reports a comparison of two integer columns.
func (e *emitter) plainCompare(x plan.Expr) bool {
	c, ok := x.(*plan.Call)
	if !ok || !c.Op.IsComparison() {
		return false
	}
	_, ok1 := e.integerColumn(c.Args[0])
	_, ok2 := e.integerColumn(c.Args[1])
	return ok1 && ok2
}

// test opens a register whose unsigned comparison with bound tells whether the row passes:
// it does if not above.
func (e *emitter) test(r *rangeTest) (x ir.Val, own bool, bound int64) {
	v := e.Column(r.col)
	if r.lo == 0 && v.Desc.Range.Lo.Sign() >= 0 {
		return v.A, false, r.hi
	}
	t := e.Int("above")
	e.Literal(r.lo, func(k ir.Val) { e.B.Op2(ir.Sub, t, v.A, k) })
	return t.V(), true, r.hi - r.lo
}

// branchRange drops the row by a branch.
func (e *emitter) branchRange(r *rangeTest) {
	e.Detail("where", func(n plan.Names) string { return n.And(r.preds) })
	if r.lo > r.hi {
		e.skip(ir.Always, ir.K(0), ir.K(0))
		return
	}
	v := e.Column(r.col)
	min, max := int64(v.Desc.Range.Lo.Lo), int64(v.Desc.Range.Hi.Lo)
	switch {
	case r.lo <= min && r.hi >= max:
	case r.lo == r.hi:
		e.Literal(r.lo, func(k ir.Val) { e.skip(ir.NE, v.A, k) })
	case r.lo <= min:
		e.Literal(r.hi, func(k ir.Val) { e.skip(ir.GT, v.A, k) })
	case r.hi >= max:
		e.Literal(r.lo, func(k ir.Val) { e.skip(ir.LT, v.A, k) })
	default:
		x, own, bound := e.test(r)
		e.Literal(bound, func(k ir.Val) { e.skip(ir.UGT, x, k) })
		if own {
			e.B.Clear(x.R)
		}
	}
}

// oneBranch decides several doubtful tests by a single branch.
func (e *emitter) oneBranch(ranges []*rangeTest, compares []plan.Expr) {
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
				all = append(all, r.preds...)
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
		e.Column(r.col)
	}
	for _, r := range ranges {
		x, own, bound := e.test(r)
		e.Literal(bound, func(k ir.Val) { add(ir.ULE, x, k) })
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
