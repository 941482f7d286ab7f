package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/emit/vector"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// rowLoop is the frame of the CPU: a thread takes a morsel row by row, or those rows that the front of a scan lists, and
// has the state of its sink for itself.
type rowLoop struct {
	*emitter
	skipTo int32  // the loop whose Next a dropped row goes to
	fuel   ir.Reg // matches until the next layout.YieldTick; NoReg where rows have few
}

// scan loops over the rows of a table; what later rows need is fetched on the way.
func (e *rowLoop) scan(s *pipe.Table) {
	if f := e.front(s); f != nil {
		e.f.How.Front = f.How
		f.Prepare()
		e.openFuel()
		f.Loop(func(loop int32, p scanned.Place) {
			e.skipTo, e.place = loop, p
			e.fetchAhead(e.lookAheads())
		}, func(i ir.Reg) { e.scanRow(s, i, f.Rest, f.Left) })
		e.closeFuel()
		return
	}
	soon := e.lookAheads()
	e.rows(func(i ir.Reg) {
		e.place = e.placeInMorsel(i)
		e.place.Every = len(s.Filter) == 0 && len(e.Filters) == 0
		e.fetchAhead(soon)
		e.scanRow(s, i, s.Filter, e.Filters)
	})
}

// front is the scan's front; nil if there is none.
func (e *rowLoop) front(s *pipe.Table) *vector.Front {
	if !e.Can.Masks {
		return nil
	}
	o := vector.Options{Table: e.table, Preds: s.Filter, Filters: e.Filters, Gather: e.Gather, Tabulate: e.Tabulate}
	if k, ok := e.topKey(); ok {
		o.Top = &k
	}
	return vector.New(o)
}

// rows loops over the morsel. A row that is dropped continues the loop.
func (e *rowLoop) rows(body func(i ir.Reg)) {
	i, n := e.Int("row"), e.Int("end")
	e.B.Load8(i, ir.At(ir.Ctx, layout.CtxLo))
	e.B.Load8(n, ir.At(ir.Ctx, layout.CtxHi))
	e.openFuel()
	l := e.B.Loop()
	e.skipTo = l
	e.Block(func() { body(i) })
	e.B.Next(l)
	e.B.Op2(ir.Add, i, i.V(), ir.K(1))
	e.B.EndLoop(l, ir.LT, i.V(), n.V())
	e.B.Clear(i, n)
	e.closeFuel()
}

// placeInMorsel is the place of row i in a loop over a morsel.
func (e *rowLoop) placeInMorsel(i ir.Reg) scanned.Place {
	return scanned.Place{
		Later: func(n int64) ir.Reg {
			later, last := e.Int("later"), e.Int("last")
			e.B.Load8(last, ir.At(ir.Ctx, layout.CtxHi))
			e.B.Op2(ir.Sub, last, last.V(), ir.K(1))
			e.B.Lea(later, ir.At(i, int(n)))
			e.B.Sel(later, ir.LT, later.V(), last.V(), later.V(), last.V())
			e.B.Clear(last)
			return later
		},
		Count: func() ir.Reg {
			n, lo := e.Int("n"), e.Int("lo")
			e.B.Load8(lo, ir.At(ir.Ctx, layout.CtxLo))
			e.B.Op2(ir.Sub, n, i.V(), lo.V())
			e.B.Clear(lo)
			return n
		},
	}
}

// openFuel begins to count matches, where a row may have many.
func (e *rowLoop) openFuel() {
	e.fuel = ir.NoReg
	if e.fansOut() {
		e.fuel = e.Int("fuel")
		e.B.Mov(e.fuel, ir.K(tickEvery))
	}
}

func (e *rowLoop) closeFuel() {
	if e.fuel != ir.NoReg {
		e.B.Clear(e.fuel)
	}
}

// tickEvery is how many matches pass between two looks of the executor.
const tickEvery = 1 << 15

// fansOut reports an operator that can make many rows of one.
func (e *rowLoop) fansOut() bool {
	if e.Pipeline == nil { // a lookup table's function
		return false
	}
	for _, op := range e.Pipeline.Ops {
		if p, ok := op.(*pipe.Probe); ok && !e.Tables[p.Build].Kind.Unique() {
			return true
		}
		if _, ok := op.(*pipe.Repeat); ok {
			return true
		}
	}
	return false
}

// tick counts a match.
func (e *rowLoop) tick() {
	if e.fuel == ir.NoReg {
		return
	}
	e.B.Op2(ir.Sub, e.fuel, e.fuel.V(), ir.K(1))
	e.When(ir.LE, e.fuel.V(), ir.K(0), func() {
		e.B.Yield(layout.YieldTick)
		e.B.Mov(e.fuel, ir.K(tickEvery))
	}, nil)
}

// skip drops the row under a condition.
func (e *rowLoop) skip(c ir.Cond, x, y ir.Val) { e.B.Continue(e.skipTo, c, x, y) }

// exit ends the query with an error under a condition.
func (e *rowLoop) exit(status int32, c ir.Cond, x, y ir.Val) { e.B.Exit(status, c, x, y) }

func (e *rowLoop) alone() bool { return true }

// setOnce: a store costs nothing.
func (e *rowLoop) setOnce(at ir.Mem) { e.B.Store(at, ir.K(1), 1) }

// tally adds one to a counter.
func (e *rowLoop) tally(off int) {
	n := e.Int("rows")
	e.B.Load8(n, ir.At(ir.Ctx, off))
	e.B.Op2(ir.Add, n, n.V(), ir.K(1))
	e.B.Store(ir.At(ir.Ctx, off), n.V(), 8)
	e.B.Clear(n)
}

// write puts a tuple at the sink's cursor.
func (e *rowLoop) write(t *layout.Tuple, r written) {
	out := e.newTuple(t.Size)
	e.storeRow(out, t, r)
	e.B.Clear(out)
}

// newTuple makes room for a tuple at the sink's cursor and returns its address; the
// executor is asked for more space when there is none.
func (e *rowLoop) newTuple(size int) ir.Reg {
	p, end := e.Int("out"), e.Int("outend")
	e.B.Load8(p, ir.At(ir.Ctx, layout.CtxCur))
	e.B.Load8(end, ir.At(ir.Ctx, layout.CtxEnd))
	e.When(ir.UGE, p.V(), end.V(), func() {
		e.B.Yield(layout.YieldGrow)
		e.B.Load8(p, ir.At(ir.Ctx, layout.CtxCur))
	}, nil)
	e.B.Lea(end, ir.At(p, size))
	e.B.Store(ir.At(ir.Ctx, layout.CtxCur), end.V(), 8)
	e.B.Clear(end)
	return p
}

// matches loops over the tuples that may match the row.
func (e *rowLoop) matches(p *probe) {
	if p.op.Kind == pipe.ProbeOuter {
		e.matchesOrNone(p)
		return
	}
	e.multiply(p.t.Rows)
	cur, end := e.candidates(p)
	outer := e.skipTo
	l := e.B.Loop()
	e.Block(func() {
		e.B.Break(l, ir.UGE, cur.V(), end.V())
		e.skipTo = l
		e.mismatch(p, cur, func(c ir.Cond, x, y ir.Val) { e.skip(c, x, y) })
		e.bindMatch(p, cur)
		for _, x := range orderPreds(p.op.On) {
			e.filter(x)
		}
		e.setFlag(p, cur)
		e.consume(p.i + 1)
	})
	e.B.Next(l)
	e.tick()
	e.B.Op2(ir.Add, cur, cur.V(), ir.K(int64(p.t.Tuple.Size)))
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.skipTo = outer
	e.B.Clear(cur, end)
	e.probeDone(p)
}

// exists looks at one candidate after the other.
func (e *rowLoop) exists(p *probe, rest func(found ir.Reg)) { rest(e.findAny(p)) }

// matchesOrNone goes on with each match, or once with NULLs where there is none.
func (e *rowLoop) matchesOrNone(p *probe) {
	e.multiply(p.t.Rows)
	cur, end := e.candidates(p)
	any := e.Int("any")
	e.B.Mov(any, ir.K(0))
	outer := e.skipTo
	l := e.B.Loop()
	e.Block(func() {
		r := e.nextMatch(p, cur, end)
		e.When(ir.EQ, r.V(), ir.K(0), func() { e.B.Break(l, ir.NE, any.V(), ir.K(0)) }, nil)
		e.B.Mov(any, ir.K(1))
		e.skipTo = l
		e.outerRow(p, r, func() { e.consume(p.i + 1) })
		e.B.Clear(r)
	})
	e.B.Next(l)
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.skipTo = outer
	e.B.Clear(cur, end, any)
	e.probeDone(p)
}

// together: a thread has its rows for itself.
func (e *rowLoop) together(int, plan.Expr, []plan.Expr, func()) bool { return false }
