package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/emit/vector"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// source opens the row loop and emits everything inside it.
func (e *emitter) source() {
	e.maxRows = layout.Between(0, max(e.Rows, 1))
	if e.countsRows() {
		e.countRows()
		return
	}
	switch s := e.Pipeline.Source.(type) {
	case *pipe.Table:
		e.B.Comment("scan " + s.Scan.Table.Name)
		if f := e.front(s); f != nil {
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
	case *pipe.Buffer:
		e.B.Comment("scan tuples")
		e.rows(func(i ir.Reg) { e.tupleRow(s, i) })
	case *pipe.Series:
		e.B.Comment("series")
		e.rows(func(i ir.Reg) { e.seriesRow(s.Node, i) })
	case *pipe.Constants:
		e.B.Comment("constants")
		e.rows(func(i ir.Reg) { e.tupleRow(&pipe.Buffer{}, i) })
	case *pipe.Stage:
		e.B.Comment("scan buffered tuples")
		e.rows(func(i ir.Reg) { e.tupleRow(&pipe.Buffer{}, i) })
	}
}

// front is the scan's front; nil if there is none.
func (e *emitter) front(s *pipe.Table) *vector.Front {
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
func (e *emitter) rows(body func(i ir.Reg)) {
	if e.Target == ir.GPU {
		e.laneRows(body)
		return
	}
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
func (e *emitter) placeInMorsel(i ir.Reg) scanned.Place {
	if e.Target == ir.GPU {
		return scanned.Place{}
	}
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
func (e *emitter) openFuel() {
	e.fuel = ir.NoReg
	if e.fansOut() {
		e.fuel = e.Int("fuel")
		e.B.Mov(e.fuel, ir.K(tickEvery))
	}
}

func (e *emitter) closeFuel() {
	if e.fuel != ir.NoReg {
		e.B.Clear(e.fuel)
	}
}

// tickEvery is how many matches pass between two looks of the executor.
const tickEvery = 1 << 15

// fansOut reports a probe that can find many tuples for one row.
func (e *emitter) fansOut() bool {
	if e.Pipeline == nil { // a lookup table's function
		return false
	}
	for _, op := range e.Pipeline.Ops {
		if p, ok := op.(*pipe.Probe); ok && !e.Tables[p.Build].Kind.Unique() {
			return true
		}
	}
	return false
}

// tick counts a match.
func (e *emitter) tick() {
	if e.fuel == ir.NoReg {
		return
	}
	e.B.Op2(ir.Sub, e.fuel, e.fuel.V(), ir.K(1))
	e.When(ir.LE, e.fuel.V(), ir.K(0), func() {
		e.B.Yield(layout.YieldTick)
		e.B.Mov(e.fuel, ir.K(tickEvery))
	}, nil)
}

// skip drops the current row under a condition.
func (e *emitter) skip(c ir.Cond, x, y ir.Val) {
	if e.Target == ir.GPU {
		e.B.Break(e.skipTo, c, x, y)
		return
	}
	e.B.Continue(e.skipTo, c, x, y)
}

// scanRow emits the body of a scan: what the tests let pass goes to the first operator.
func (e *emitter) scanRow(s *pipe.Table, i ir.Reg, preds []plan.Expr, filters []scanned.Filter) {
	e.row = i
	for k, id := range s.Scan.Cols {
		e.BindLazy(id, func() code.Value { return e.table.Load(k, i) })
	}
	if e.Off.PostProjection {
		e.readAll(s, preds, filters)
	}
	e.scanFilters(preds, filters)
	e.dropEarly()
	e.clearDead(0)
	e.consume(0)
}

// readAll reads all columns that the pipeline needs, before any row is dropped.
func (e *emitter) readAll(s *pipe.Table, preds []plan.Expr, filters []scanned.Filter) {
	need := e.live[0]
	for _, p := range preds {
		plan.AddRefs(&need, p)
	}
	for _, f := range filters {
		need.Add(f.Col)
	}
	for _, id := range s.Scan.Cols {
		if need.Has(id) {
			e.Column(id)
		}
	}
}

// scansText reports a column of the scan whose texts are read one after the other.
func (e *emitter) scansText(id plan.ColID) bool {
	d, ok := e.table.DescOf(id)
	return ok && d.Form == layout.Str
}

// seriesRow computes element i of a series.
func (e *emitter) seriesRow(s *plan.Series, i ir.Reg) {
	e.BindLazy(s.Col, func() code.Value {
		r := e.Int(e.Cols.Get(s.Col).Name)
		e.B.Op2(ir.Mul, r, i.V(), ir.K(s.Step))
		e.B.Op2(ir.Add, r, r.V(), ir.K(s.From))
		return code.IntValue(e.Cols.Get(s.Col).Type, r, layout.Between(min(s.From, s.Last()), max(s.From, s.Last())))
	})
	e.clearDead(0)
	e.consume(0)
}

// tupleRow binds the fields of tuple i of a buffer.
func (e *emitter) tupleRow(s *pipe.Buffer, i ir.Reg) {
	p := e.Int("tuple")
	e.B.Load8(p, ir.At(ir.Ctx, layout.CtxSource))
	if e.Indirect {
		e.B.Load8(p, ir.AtIndex(p, i, 8, 0))
	} else {
		off := e.Int("off")
		e.B.Op2(ir.Mul, off, i.V(), ir.K(int64(e.Tuple.Size)))
		e.B.Op2(ir.Add, p, p.V(), off.V())
		e.B.Clear(off)
	}
	if s.Flag != pipe.AllTuples {
		f := e.Int("flag")
		e.B.Load(f, ir.At(p, e.Tuple.Flag), 1, false)
		want := int64(1)
		if s.Flag == pipe.Unmatched {
			want = 0
		}
		e.skip(ir.NE, f.V(), ir.K(want))
		e.B.Clear(f)
	}
	for k := range e.Tuple.Fields {
		f := &e.Tuple.Fields[k]
		e.BindLazy(plan.ColID(f.ID), func() code.Value { return e.loadField(p, f, ir.K(0)) })
	}
	for k, from := range s.From {
		if f := e.Tuple.Find(int32(from)); f != nil && s.To[k] != from {
			e.BindLazy(s.To[k], func() code.Value { return e.loadField(p, f, ir.K(0)) })
		}
	}
	if e.Merge {
		e.mergeRow(p)
	} else {
		e.clearDead(0)
		e.consume(0)
	}
	e.B.Clear(p)
}
