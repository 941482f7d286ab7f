package emit

import (
	"cmp"
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// laneFront is the front of a selective scan on a GPU. Each lane takes several rows that lie side by side, reads their columns by
// wide loads and tests all of them without branches: the result is a mask with a bit for each row. Then comes a loop over
// the ones, in which the operators run and other columns are read.
type laneFront struct {
	*warp
	how      phys.Front
	n        int // rows of a lane at a time
	ranges   []*scanned.Bounds
	compares []frontCompare
	filters  []scanned.Filter
	rest     []plan.Expr      // predicates and
	left     []scanned.Filter // filters that rows must pass one by one

	first ir.Reg         // the lane's first row
	short ir.Reg         // the same in 32 bits; NoReg: that is too few
	mask  ir.Reg         // which of its rows pass, 32 bits
	vecs  map[int]ir.Reg // by column of the scan: the first of the registers that hold the lane's rows
}

// frontCompare is a comparison of two columns of one width: the value of column small is at most that of column large, or
// below it where strict.
type frontCompare struct {
	small, large int
	strict       bool
	pred         plan.Expr
}

// front is the scan's front; nil if there is none.
func (e *warp) front(s *pipe.Table) *laneFront {
	if !e.Arrays || e.Off.RowFront || e.Off.RangeChecks || e.Off.PostProjection {
		return nil
	}
	f := &laneFront{warp: e, vecs: map[int]ir.Reg{}}
	var ranges []*scanned.Bounds
	for _, p := range s.Filter {
		for _, c := range plan.Conjuncts(nil, p) {
			if !e.table.AddBounds(&ranges, c) && !f.addCompare(c) {
				f.rest = append(f.rest, c)
			}
		}
	}
	var tests []phys.Test
	for _, c := range f.compares {
		tests = append(tests, phys.Test{Share: 0.5, Width: f.width(c.small)})
	}
	slices.SortStableFunc(ranges, func(a, b *scanned.Bounds) int { return cmp.Compare(a.Col, b.Col) })
	for _, r := range ranges {
		w := f.width(f.column(r.Col))
		if w == 0 || r.Lo > r.Hi {
			f.rest = append(f.rest, r.Preds...)
			continue
		}
		tests = append(tests, phys.Test{Share: r.Share, Width: w})
		f.ranges = append(f.ranges, r)
	}
	var filters []scanned.Filter
	first := len(tests)
	for _, x := range e.Filters {
		w := f.width(f.column(x.Col))
		if w == 0 || x.Kind != layout.Bitmap || x.Range.Lo.Cmp(x.Range.Hi) > 0 {
			f.left = append(f.left, x)
			continue
		}
		filters = append(filters, x)
		tests = append(tests, phys.Test{Share: x.Share, Width: w, Looks: true, Cost: lookCost(x)})
	}
	f.how = phys.ChooseLaneFront(tests)
	if f.n = f.how.Rows; f.n == 0 {
		return nil
	}
	for _, i := range f.how.Tests {
		if i >= first {
			f.filters = append(f.filters, filters[i-first])
		}
	}
	for _, i := range f.how.Left { // only what looks values up is left
		f.left = append(f.left, filters[i-first])
	}
	return f
}

// lookCost is what it costs to look a row up in a filter.
func lookCost(x scanned.Filter) float64 {
	if near(x) {
		return 1
	}
	return 3
}

// near reports a bitmap that is expected in the cache near by.
func near(x scanned.Filter) bool { return x.Range.Span(1<<62) <= 64<<10*8 }

// column is the place of a column in the scan.
func (f *laneFront) column(id plan.ColID) int { return slices.Index(f.table.Scan.Cols, id) }

// width is how many bytes the codes of a column have, 0 if the front cannot test it.
func (f *laneFront) width(k int) int {
	if k < 0 {
		return 0
	}
	sh, d := f.table.Shapes[k], f.table.Desc(k)
	if sh.Enc != column.EncInt || !sh.Based || sh.Nulls || sh.Width > 4 || d.Form != layout.I64 || d.Nullable || !d.Range.Fits64() {
		return 0
	}
	return int(sh.Width)
}

// least is the value whose code is 0, most the greatest code.
func (f *laneFront) least(k int) int64 { return int64(f.table.Desc(k).Range.Lo.Lo) }
func (f *laneFront) most(k int) int64 {
	r := f.table.Desc(k).Range
	return int64(r.Hi.Lo) - int64(r.Lo.Lo)
}

// top is the highest bit of a code of so many bytes.
func top(width int) int64 { return 1 << (8*width - 1) }

// addCompare takes a comparison of two columns, if their codes have the same width and leave a bit to spare.
func (f *laneFront) addCompare(x plan.Expr) bool {
	if !f.plainCompare(x) {
		return false
	}
	c := x.(*plan.Call)
	a, b := f.column(c.Args[0].(*plan.Ref).ID), f.column(c.Args[1].(*plan.Ref).ID)
	w := f.width(a)
	if w != 1 && w != 2 || f.width(b) != w {
		return false
	}
	lo, hi := min(f.least(a), f.least(b)), max(f.least(a)+f.most(a), f.least(b)+f.most(b))
	if hi-lo >= top(w) {
		return false
	}
	t := frontCompare{small: a, large: b, pred: x}
	switch c.Op {
	case plan.Lt:
		t.strict = true
	case plan.Le:
	case plan.Gt:
		t.small, t.large, t.strict = b, a, true
	case plan.Ge:
		t.small, t.large = b, a
	default:
		return false
	}
	f.compares = append(f.compares, t)
	return true
}

// beginShort opens the register with the lane's first row in 32 bits, where numbers of rows have no more: addresses are computed from
// that for less. endShort ends it.
func (f *laneFront) beginShort() {
	if f.short = ir.NoReg; f.Rows < 1<<32 {
		f.short = f.word("first")
		f.B.Op1(ir.Narrow, f.short, f.first.V())
	}
}

func (f *laneFront) endShort() {
	if f.short != ir.NoReg {
		f.B.Clear(f.short)
	}
}

// loop is the loop of a scan with a front: steps of n rows for each lane, and in each the rows that pass.
func (f *laneFront) loop(body func(i ir.Reg)) {
	e := f.warp
	first, n, step := e.openRows(int64(f.n))
	f.first = first
	l := e.B.Loop()
	has, any := e.word("has"), e.word("any")
	e.B.Set(has, ir.LT, first.V(), n.V())
	e.B.Op1(ir.Ballot, any, has.V())
	e.B.Break(l, ir.EQ, any.V(), ir.K(0))
	f.beginShort()
	f.mask = e.word("mask")
	e.B.Mov(f.mask, ir.K(0))
	e.When(ir.NE, has.V(), ir.K(0), func() { f.test(n) }, nil)
	t := e.word("t")
	e.warpLoop(while{c: ir.NE, x: f.mask.V(), y: ir.K(0)}, func() {
		i := e.Int("row")
		e.B.Op1(ir.Ctz, t, f.mask.V())
		if f.short != ir.NoReg {
			e.B.Op2(ir.Add, t, t.V(), f.short.V())
			e.B.Op1(ir.WidenU, i, t.V())
		} else {
			e.B.Op1(ir.WidenU, i, t.V())
			e.B.Op2(ir.Add, i, i.V(), first.V())
		}
		body(i)
		e.B.Clear(i)
	}, func() {
		e.B.Op2(ir.Sub, t, f.mask.V(), ir.K(1))
		e.B.Op2(ir.And, f.mask, f.mask.V(), t.V())
	})
	e.B.Clear(t, has, any, f.mask)
	f.endShort()
	e.B.Op2(ir.Add, first, first.V(), step.V())
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.closeRows(first, n, step)
}
