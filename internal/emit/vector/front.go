package vector

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A filtered scan on the CPU has a front. It tests 64 rows at a time with vector instructions, without any
// branch on what the rows hold, and writes the numbers of those that pass to a short list; then the body
// runs over the list, row by row, and neither guesses wrong nor reads what it does not need. Both take
// turns on stretches short enough that what the front has read is still in the first-level cache.

// frontRows is the length of such a stretch.
const frontRows = 1024

// Options are a scan and what it tests.
type Options struct {
	*scanned.Table
	Preds   []plan.Expr
	Filters []scanned.Filter
	Top     *plan.SortKey // the first key of a top-N: rows behind its bound are dropped
	Gather  bool          // looking each row's value up in memory is worth while
	// Tabulate makes a table of a predicate's outcomes by the codes of a dictionary column.
	Tabulate func(x plan.Expr, id plan.ColID, d layout.Desc) int
}

// Front is the tests of a scan that work on masks, and those that do not.
type Front struct {
	Options
	Rest []plan.Expr      // what the body must test
	Left []scanned.Filter // likewise

	tests      []maskTest
	setup      []func()   // what the test at hand wants worked out once per morsel
	How        phys.Front // which tests it makes
	list       int        // context offset of the numbers of rows that passed
	next, last int        // context offsets: where the next stretch begins, where the last one ends
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

// New finds the tests of a scan that can work on masks; nil if that does not pay.
func New(o Options) *Front {
	if !phys.MayVector(o.Rows) {
		return nil
	}
	f := &Front{Options: o}
	var ranges []*scanned.Bounds
	var floats []*floatTest
	for _, p := range o.Preds {
		var buf [8]plan.Expr
		for _, c := range plan.Conjuncts(buf[:0], p) {
			if f.AddBounds(&ranges, c) || f.addFloat(&floats, c) {
				continue
			}
			m, ok := f.masker(c, true)
			m.say = func(n plan.Names) string { return "where " + n.Expr(c) }
			f.add(m, ok, func() { f.Rest = append(f.Rest, c) })
		}
	}
	for _, r := range ranges {
		m, ok := f.rangeMask(r)
		f.add(m, ok, func() { f.Rest = append(f.Rest, r.Preds...) })
	}
	for _, t := range floats {
		f.add(f.floatMask(t), true, func() { f.Rest = append(f.Rest, t.preds...) })
	}
	for _, sf := range o.Filters {
		m, ok := f.filterMask(sf)
		f.add(m, ok, func() { f.Left = append(f.Left, sf) })
	}
	if o.Top != nil {
		if m, ok := f.topMask(*o.Top); ok {
			f.add(m, ok, nil)
		}
	}
	facts := make([]phys.Test, len(f.tests))
	for i, t := range f.tests {
		facts[i] = phys.Test{Share: t.share, Cost: t.cost, Looks: t.looks}
	}
	if f.How = phys.ChooseVectorFront(facts, f.Gather); f.How.Rows == 0 {
		return nil
	}
	for _, i := range f.How.Left {
		f.tests[i].leave()
	}
	keep := make([]maskTest, len(f.How.Tests))
	for k, i := range f.How.Tests {
		keep[k] = f.tests[i]
	}
	f.tests = keep
	return f
}

// add takes a test with what it has asked to be worked out before, or leaves it to the body.
func (f *Front) add(t maskTest, ok bool, leave func()) {
	t.setup, f.setup = f.setup, nil
	if !ok {
		leave()
		return
	}
	t.leave = leave
	f.tests = append(f.tests, t)
}

// rangeMask is the test of folded bounds.
func (f *Front) rangeMask(r *scanned.Bounds) (maskTest, bool) {
	c, ok := f.maskCol(r.Col)
	if !ok {
		return maskTest{}, false
	}
	m := f.inRange(c, r.Lo, r.Hi)
	m.share = r.Share
	m.say = func(n plan.Names) string { return "where " + n.And(r.Preds) }
	return m, true
}

// filterMask is a semi-join filter.
func (f *Front) filterMask(sf scanned.Filter) (maskTest, bool) {
	c, ok := f.maskCol(sf.Col)
	if !ok || sf.Kind == layout.Bloom {
		return maskTest{}, false
	}
	m := f.inRange(c, int64(sf.Range.Lo.Lo), int64(sf.Range.Hi.Lo))
	m.say = func(n plan.Names) string { return "semi-join filter on " + f.Cols.Get(sf.Col).Name }
	m.share = sf.Share
	if sf.Kind == layout.Bitmap {
		m.cost, m.looks = m.cost+gatherCost, true
		m.mask = f.both(m.mask, f.inBitmap(c, code.Word{Kind: code.WordFilter, Index: sf.Index}, 0, int64(sf.Range.Lo.Lo)))
	}
	return m, true
}

// emptyBelow is the share of passing rows under which many blocks have none.
const emptyBelow = 0.05

// Prepare works out what the tests want to know once per morsel.
func (f *Front) Prepare() {
	f.list = f.Scratch(4 * (frontRows + 64))
	f.next, f.last = f.Scratch(8), f.Scratch(8)
	at, end := f.Int("row"), f.Int("end")
	f.B.Load8(at, ir.At(ir.Ctx, layout.CtxLo))
	f.B.Load8(end, ir.At(ir.Ctx, layout.CtxHi))
	f.B.Store(ir.At(ir.Ctx, f.next), at.V(), 8)
	f.B.Store(ir.At(ir.Ctx, f.last), end.V(), 8)
	f.B.Clear(at, end)
	for i := range f.tests {
		for _, work := range f.tests[i].setup {
			work()
		}
	}
}

// Loop emits the front and, inside its loop over stretches, a loop over the rows that passed, whose number is given to
// begin with the place of its row. A row that is dropped continues that loop.
func (f *Front) Loop(begin func(loop int32, p scanned.Place), body func(i ir.Reg)) {
	cur := f.Int("listend")
	stretches := f.B.Loop()
	at, end := f.Int("row"), f.Int("end")
	f.B.Load8(at, ir.At(ir.Ctx, f.next))
	f.B.Load8(end, ir.At(ir.Ctx, f.last))
	f.B.Break(stretches, ir.GE, at.V(), end.V())
	stop := f.Int("stop")
	f.B.Op2(ir.Add, stop, at.V(), ir.K(frontRows))
	f.B.Sel(end, ir.LT, stop.V(), end.V(), stop.V(), end.V())
	f.B.Clear(stop)
	f.B.Store(ir.At(ir.Ctx, f.next), end.V(), 8)
	f.B.Lea(cur, ir.At(ir.Ctx, f.list))
	f.blocks(at, end, cur)
	f.B.Clear(at, end)

	f.B.Comment("rows that passed")
	sel := f.Int("list")
	f.B.Lea(sel, ir.At(ir.Ctx, f.list))
	f.B.Continue(stretches, ir.UGE, sel.V(), cur.V())
	l := f.B.Loop()
	begin(l, f.place(sel, cur))
	f.Block(func() {
		i := f.Int("row")
		f.B.Load(i, ir.At(sel, 0), 4, false)
		body(i)
		f.B.Clear(i)
	})
	f.B.Next(l)
	f.B.Op2(ir.Add, sel, sel.V(), ir.K(4))
	f.B.EndLoop(l, ir.ULT, sel.V(), cur.V())
	f.B.Clear(sel)
	f.B.EndLoop(stretches, ir.Always, ir.K(0), ir.K(0))
	f.B.Clear(cur)
}

// place is the place of the row at sel in the list up to cur.
func (f *Front) place(sel, cur ir.Reg) scanned.Place {
	return scanned.Place{
		Later: func(n int64) ir.Reg {
			later, lastOne := f.Int("later"), f.Int("last")
			f.B.Lea(later, ir.At(sel, int(4*n)))
			f.B.Lea(lastOne, ir.At(cur, -4))
			f.B.Sel(later, ir.ULT, later.V(), lastOne.V(), later.V(), lastOne.V())
			f.B.Clear(lastOne)
			f.B.Load(later, ir.At(later, 0), 4, false)
			return later
		},
		Count: func() ir.Reg {
			n, first := f.Int("n"), f.Int("first")
			f.B.Lea(first, ir.At(ir.Ctx, f.list))
			f.B.Op2(ir.Sub, n, sel.V(), first.V())
			f.B.Op2(ir.Shr, n, n.V(), ir.K(2))
			f.B.Clear(first)
			return n
		},
		Every: len(f.Rest) == 0 && len(f.Left) == 0,
	}
}

// blocks lists the rows from at to end that pass, from cur on.
func (f *Front) blocks(at, end, cur ir.Reg) {
	l := f.B.Loop()
	m, left := f.Int("mask"), f.Int("left")
	f.B.Op2(ir.Sub, left, end.V(), at.V())
	f.B.Op2(ir.Shl, m, ir.K(1), left.V())
	f.B.Op2(ir.Sub, m, m.V(), ir.K(1))
	f.B.Sel(m, ir.LT, left.V(), ir.K(64), m.V(), ir.K(-1))
	f.B.Clear(left)
	share := 1.0
	for i := range f.tests {
		t := &f.tests[i]
		f.Detail("64 rows", t.say)
		t.mask(m, at)
		share *= t.share
	}
	if share < emptyBelow {
		f.B.Continue(l, ir.EQ, m.V(), ir.K(0))
	}
	n := f.Int("passed")
	f.B.Pick(n, m.V(), at.V(), ir.At(cur, 0))
	f.B.Lea(cur, ir.AtIndex(cur, n, 4, 0))
	f.B.Clear(n, m)
	f.B.Next(l)
	f.B.Op2(ir.Add, at, at.V(), ir.K(64))
	f.B.EndLoop(l, ir.LT, at.V(), end.V())
}
