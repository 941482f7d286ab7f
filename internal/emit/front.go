package emit

import (
	"sort"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A filtered scan on the CPU has a front. It tests 64 rows at a time with vector instructions, without any
// branch on what the rows hold, and writes the numbers of those that pass to a short list; then the body
// runs over the list, row by row, and neither guesses wrong nor reads what it does not need. Both take
// turns on stretches short enough that what the front has read is still in the first-level cache.

// frontRows is the length of such a stretch.
const frontRows = 1024

// fewestRows is the size of tables for which the front's code is worth the time to make it.
const fewestRows = 512

// worthFront is the share of passing rows up to which a front pays: branches that nearly always go one way
// cost less than a list.
const worthFront = 0.9

// fewRows is the share of passing rows from which on the body looks rows up in memory sooner than the front,
// which does so for all 64 at a time.
const fewRows = 0.08

// front is the tests of a scan that work on masks, and those that do not.
type front struct {
	tests   []maskTest
	setup   []func() // what the test at hand wants worked out once per morsel
	rest    []plan.Expr
	filters []ScanFilter
	share   float64 // of rows that pass
}

// maskTest clears the bits of the rows of a mask that fail.
type maskTest struct {
	share float64 // of rows that pass
	cost  float64 // cycles for 64 rows
	say   func(n plan.Names) string
	mask  masker
	setup []func()
	looks bool   // values up in memory, row by row
	leave func() // leaves it to the body
}

// front finds the tests of a scan that can work on masks; nil if that does not pay.
func (e *emitter) front(s *pipe.Table) *front {
	if e.Target != ir.CPU || !e.SIMD || e.Rows < fewestRows {
		return nil
	}
	f := &front{share: 1}
	var ranges []*rangeTest
	var floats []*floatTest
	for _, p := range s.Filter {
		var buf [8]plan.Expr
		for _, c := range plan.Conjuncts(buf[:0], p) {
			if e.addRange(&ranges, c) || e.addFloat(&floats, c) {
				continue
			}
			m, ok := e.masker(f, c, true)
			m.say = func(n plan.Names) string { return "where " + n.Expr(c) }
			f.add(m, ok, func() { f.rest = append(f.rest, c) })
		}
	}
	for _, r := range ranges {
		m, ok := e.rangeMask(f, r)
		f.add(m, ok, func() { f.rest = append(f.rest, r.preds...) })
	}
	for _, t := range floats {
		f.add(e.floatMask(t), true, func() { f.rest = append(f.rest, t.preds...) })
	}
	for _, sf := range e.Filters {
		m, ok := e.filterMask(f, sf)
		f.add(m, ok, func() { f.filters = append(f.filters, sf) })
	}
	if m, ok := e.topMask(f); ok {
		f.add(m, ok, nil)
	}
	// What drops most for its price comes first.
	sort.SliceStable(f.tests, func(i, j int) bool {
		a, b := &f.tests[i], &f.tests[j]
		return (1-a.share)/a.cost > (1-b.share)/b.cost
	})
	keep := f.tests[:0]
	for _, t := range f.tests {
		if t.looks && (!e.Gather || f.share < fewRows) {
			t.leave()
			continue
		}
		f.share *= t.share
		keep = append(keep, t)
	}
	f.tests = keep
	if len(f.tests) == 0 || f.share > worthFront {
		return nil
	}
	return f
}

// add takes a test with what it has asked to be worked out before, or leaves it to the body.
func (f *front) add(t maskTest, ok bool, leave func()) {
	t.setup, f.setup = f.setup, nil
	if !ok {
		leave()
		return
	}
	t.leave = leave
	f.tests = append(f.tests, t)
}

// rangeMask is the test of folded bounds.
func (e *emitter) rangeMask(f *front, r *rangeTest) (maskTest, bool) {
	c, ok := e.maskCol(r.col)
	if !ok {
		return maskTest{}, false
	}
	m := e.inRange(f, c, r.lo, r.hi)
	m.share = r.share
	m.say = func(n plan.Names) string { return "where " + n.And(r.preds) }
	return m, true
}

// filterMask is a semi-join filter.
func (e *emitter) filterMask(f *front, sf ScanFilter) (maskTest, bool) {
	c, ok := e.maskCol(sf.Col)
	if !ok || sf.Kind == layout.Bloom {
		return maskTest{}, false
	}
	m := e.inRange(f, c, int64(sf.Range.Lo.Lo), int64(sf.Range.Hi.Lo))
	m.say = func(n plan.Names) string { return "semi-join filter on " + e.Cols.Get(sf.Col).Name }
	m.share = sf.Share
	if sf.Kind == layout.Bitmap {
		m.cost, m.looks = m.cost+gatherCost, true
		m.mask = e.both(m.mask, e.inBitmap(f, c, code.Word{Kind: code.WordFilter, Index: sf.Index}, 0, int64(sf.Range.Lo.Lo)))
	}
	return m, true
}

// emptyBelow is the share of passing rows under which many blocks have none.
const emptyBelow = 0.05

// frontLoop emits the front and, inside its loop over stretches, the body's loop over rows.
func (e *emitter) frontLoop(f *front, body func(i ir.Reg)) {
	list := e.Scratch(4 * (frontRows + 64))
	next, last := e.Scratch(8), e.Scratch(8)
	at, end := e.Int("row"), e.Int("end")
	e.B.Load8(at, ir.At(ir.Ctx, layout.CtxLo))
	e.B.Load8(end, ir.At(ir.Ctx, layout.CtxHi))
	e.B.Store(ir.At(ir.Ctx, next), at.V(), 8)
	e.B.Store(ir.At(ir.Ctx, last), end.V(), 8)
	e.B.Clear(at, end)
	for i := range f.tests {
		for _, work := range f.tests[i].setup {
			work()
		}
	}
	e.openFuel()
	cur := e.Int("listend")
	stretches := e.B.Loop()
	at, end = e.Int("row"), e.Int("end")
	e.B.Load8(at, ir.At(ir.Ctx, next))
	e.B.Load8(end, ir.At(ir.Ctx, last))
	e.B.Break(stretches, ir.GE, at.V(), end.V())
	stop := e.Int("stop")
	e.B.Op2(ir.Add, stop, at.V(), ir.K(frontRows))
	e.B.Sel(end, ir.LT, stop.V(), end.V(), stop.V(), end.V())
	e.B.Clear(stop)
	e.B.Store(ir.At(ir.Ctx, next), end.V(), 8)
	e.B.Lea(cur, ir.At(ir.Ctx, list))
	e.frontBlocks(f, at, end, cur)
	e.B.Clear(at, end)

	e.B.Comment("rows that passed")
	sel := e.Int("list")
	e.B.Lea(sel, ir.At(ir.Ctx, list))
	e.B.Continue(stretches, ir.UGE, sel.V(), cur.V())
	l := e.B.Loop()
	e.skipTo = l
	e.place = rowPlace{
		later: func(n int64) ir.Reg {
			later, lastOne := e.Int("later"), e.Int("last")
			e.B.Lea(later, ir.At(sel, int(4*n)))
			e.B.Lea(lastOne, ir.At(cur, -4))
			e.B.Sel(later, ir.ULT, later.V(), lastOne.V(), later.V(), lastOne.V())
			e.B.Clear(lastOne)
			e.B.Load(later, ir.At(later, 0), 4, false)
			return later
		},
		count: func() ir.Reg {
			n, first := e.Int("n"), e.Int("first")
			e.B.Lea(first, ir.At(ir.Ctx, list))
			e.B.Op2(ir.Sub, n, sel.V(), first.V())
			e.B.Op2(ir.Shr, n, n.V(), ir.K(2))
			e.B.Clear(first)
			return n
		},
		every: len(f.rest) == 0 && len(f.filters) == 0,
	}
	e.fetchAhead(e.lookAheads())
	e.Block(func() {
		i := e.Int("row")
		e.B.Load(i, ir.At(sel, 0), 4, false)
		body(i)
		e.B.Clear(i)
	})
	e.B.Next(l)
	e.B.Op2(ir.Add, sel, sel.V(), ir.K(4))
	e.B.EndLoop(l, ir.ULT, sel.V(), cur.V())
	e.B.Clear(sel)
	e.B.EndLoop(stretches, ir.Always, ir.K(0), ir.K(0))
	e.B.Clear(cur)
	e.closeFuel()
}

// frontBlocks lists the rows from at to end that pass, from cur on.
func (e *emitter) frontBlocks(f *front, at, end, cur ir.Reg) {
	l := e.B.Loop()
	m, left := e.Int("mask"), e.Int("left")
	e.B.Op2(ir.Sub, left, end.V(), at.V())
	e.B.Op2(ir.Shl, m, ir.K(1), left.V())
	e.B.Op2(ir.Sub, m, m.V(), ir.K(1))
	e.B.Sel(m, ir.LT, left.V(), ir.K(64), m.V(), ir.K(-1))
	e.B.Clear(left)
	share := 1.0
	for i := range f.tests {
		t := &f.tests[i]
		e.Detail("64 rows", t.say)
		t.mask(m, at)
		share *= t.share
	}
	if share < emptyBelow {
		e.B.Continue(l, ir.EQ, m.V(), ir.K(0))
	}
	n := e.Int("passed")
	e.B.Pick(n, m.V(), at.V(), ir.At(cur, 0))
	e.B.Lea(cur, ir.AtIndex(cur, n, 4, 0))
	e.B.Clear(n, m)
	e.B.Next(l)
	e.B.Op2(ir.Add, at, at.V(), ir.K(64))
	e.B.EndLoop(l, ir.LT, at.V(), end.V())
}

// maskCol is a scanned integer column, as its codes are stored.
type maskCol struct {
	k     int // in Scan.Cols
	shape Shape
	d     layout.Desc
	name  string
}
