package emit

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
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
		e.b.Comment("scan " + s.Scan.Table.Name)
		if f := e.front(s); f != nil {
			e.frontLoop(f, func(i ir.Reg) { e.scanRow(s, i, f.rest, f.filters) })
			return
		}
		soon := e.lookAheads()
		e.rows(func(i ir.Reg) {
			e.place = e.placeInMorsel(i)
			e.place.every = len(s.Filter) == 0 && len(e.Filters) == 0
			e.fetchAhead(soon)
			e.scanRow(s, i, s.Filter, e.Filters)
		})
	case *pipe.Buffer:
		e.b.Comment("scan tuples")
		e.rows(func(i ir.Reg) { e.tupleRow(s, i) })
	case *pipe.Series:
		e.b.Comment("series")
		e.rows(func(i ir.Reg) { e.seriesRow(s.Node, i) })
	case *pipe.Constants:
		e.b.Comment("constants")
		e.rows(func(i ir.Reg) { e.tupleRow(&pipe.Buffer{}, i) })
	case *pipe.Stage:
		e.b.Comment("scan buffered tuples")
		e.rows(func(i ir.Reg) { e.tupleRow(&pipe.Buffer{}, i) })
	}
}

// rows loops over the morsel. A row that is dropped continues the loop.
func (e *emitter) rows(body func(i ir.Reg)) {
	if e.Target == ir.GPU {
		e.laneRows(body)
		return
	}
	i, n := e.int("row"), e.int("end")
	e.b.Load8(i, ir.At(ir.Ctx, layout.CtxLo))
	e.b.Load8(n, ir.At(ir.Ctx, layout.CtxHi))
	e.openFuel()
	l := e.b.Loop()
	e.skipTo = l
	e.block(func() { body(i) })
	e.b.Next(l)
	e.b.Op2(ir.Add, i, i.V(), ir.K(1))
	e.b.EndLoop(l, ir.LT, i.V(), n.V())
	e.b.Clear(i, n)
	e.closeFuel()
}

// placeInMorsel is the place of row i in a loop over a morsel.
func (e *emitter) placeInMorsel(i ir.Reg) rowPlace {
	if e.Target == ir.GPU {
		return rowPlace{}
	}
	return rowPlace{
		later: func(n int64) ir.Reg {
			later, last := e.int("later"), e.int("last")
			e.b.Load8(last, ir.At(ir.Ctx, layout.CtxHi))
			e.b.Op2(ir.Sub, last, last.V(), ir.K(1))
			e.b.Lea(later, ir.At(i, int(n)))
			e.b.Sel(later, ir.LT, later.V(), last.V(), later.V(), last.V())
			e.b.Clear(last)
			return later
		},
		count: func() ir.Reg {
			n, lo := e.int("n"), e.int("lo")
			e.b.Load8(lo, ir.At(ir.Ctx, layout.CtxLo))
			e.b.Op2(ir.Sub, n, i.V(), lo.V())
			e.b.Clear(lo)
			return n
		},
	}
}

// openFuel begins to count matches, where a row may have many.
func (e *emitter) openFuel() {
	e.fuel = ir.NoReg
	if e.fansOut() {
		e.fuel = e.int("fuel")
		e.b.Mov(e.fuel, ir.K(tickEvery))
	}
}

func (e *emitter) closeFuel() {
	if e.fuel != ir.NoReg {
		e.b.Clear(e.fuel)
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
	e.b.Op2(ir.Sub, e.fuel, e.fuel.V(), ir.K(1))
	e.when(ir.LE, e.fuel.V(), ir.K(0), func() {
		e.b.Yield(layout.YieldTick)
		e.b.Mov(e.fuel, ir.K(tickEvery))
	}, nil)
}

// skip drops the current row under a condition.
func (e *emitter) skip(c ir.Cond, x, y ir.Val) {
	if e.Target == ir.GPU {
		e.b.Break(e.skipTo, c, x, y)
		return
	}
	e.b.Continue(e.skipTo, c, x, y)
}

// scanRow emits the body of a scan: what the tests let pass goes to the first operator.
func (e *emitter) scanRow(s *pipe.Table, i ir.Reg, preds []plan.Expr, filters []ScanFilter) {
	e.row = i
	for k, id := range s.Scan.Cols {
		e.bindLazy(id, func() value { return e.loadColumn(s.Scan, k, i) })
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
func (e *emitter) readAll(s *pipe.Table, preds []plan.Expr, filters []ScanFilter) {
	need := e.live[0]
	for _, p := range preds {
		plan.AddRefs(&need, p)
	}
	for _, f := range filters {
		need.Add(f.Col)
	}
	for _, id := range s.Scan.Cols {
		if need.Has(id) {
			e.column(id)
		}
	}
}

// columnDesc is what a snapshot says of a scanned column, the same for all its segments.
func (e *emitter) columnDesc(scan *plan.Scan, k int) layout.Desc {
	ord := scan.Ordinal[k]
	t := scan.Table.Columns[ord].Type
	st := &scan.Snap.Stats[ord]
	d := layout.Desc{Type: t, Nullable: st.NullCount > 0}
	if e.Off.RangeChecks {
		d.Nullable = !scan.Table.Columns[ord].NotNull
	}
	switch t.Phys() {
	case types.PhysI64, types.PhysI128:
		d.Range = layout.TypeRange(t)
		if e.Off.RangeChecks {
			break
		}
		if st.HasRange {
			d.Range = layout.Range{Known: true, Lo: st.Min.Int128(), Hi: st.Max.Int128()}
		} else if scan.Snap.Rows == st.NullCount {
			d.Range = layout.Between(0, 0)
		}
	}
	d.Form = layout.FormOf(t, d.Range)
	if st.Dict != nil {
		d.Form, d.Dict, d.Range = layout.Code, st.Dict, layout.Between(0, int64(max(st.DictLen-1, 0)))
	}
	return d
}

// scanDesc is the description of a scanned column without loading it.
func (e *emitter) scanDesc(id plan.ColID) (layout.Desc, bool) {
	t, ok := e.Pipeline.Source.(*pipe.Table)
	if !ok {
		return layout.Desc{}, false
	}
	for k, c := range t.Scan.Cols {
		if c == id {
			return e.columnDesc(t.Scan, k), true
		}
	}
	return layout.Desc{}, false
}

// scansText reports a column of the scan whose texts are read one after the other.
func (e *emitter) scansText(id plan.ColID) bool {
	if e.Pipeline == nil { // a lookup table's function
		return false
	}
	d, ok := e.scanDesc(id)
	return ok && d.Form == layout.Str
}

// loadColumn reads column k of a table at row i.
func (e *emitter) loadColumn(scan *plan.Scan, k int, i ir.Reg) value {
	shape := e.Shapes[k]
	name := e.Cols.Get(scan.Cols[k]).Name
	v := value{d: e.columnDesc(scan, k), null: ir.K(0)}
	p := e.loadWord(e.partName(name, ".data"), Word{Kind: WordData, Index: k})

	at := func(w int) ir.Mem { return ir.AtIndex(p, i, w, 0) }
	sixteen := func() { // turn p into the address of element i
		off := e.int("off")
		e.b.Op2(ir.Shl, off, i.V(), ir.K(4))
		e.b.Op2(ir.Add, p, p.V(), off.V())
		e.b.Clear(off)
	}
	switch shape.Enc {
	case column.EncInt, column.EncDict:
		r := e.int(name)
		e.b.Load(r, at(int(shape.Width)), int(shape.Width), false)
		e.b.Clear(p)
		if shape.Based {
			base := e.loadWord(e.partName(name, ".base"), Word{Kind: WordBase, Index: k})
			e.b.Op2(ir.Add, r, r.V(), base.V())
			e.b.Clear(base)
		}
		v.a, v.ownA = r.V(), true
		switch want := v.d.Form; {
		case shape.Enc == column.EncDict && want == layout.Str:
			// Other segments of this column are not coded: the plain form serves all.
			v = e.dictOfChunk(v, k)
		case want == layout.I128:
			v.d.Form = layout.I64
			v.d.Range = layout.Range{} // sign unknown
			v = e.wide(v)
			v.d = e.columnDesc(scan, k)
		}
	case column.EncI128, column.EncIvl:
		sixteen()
		a, b := e.int(name), e.int(e.partName(name, ".hi"))
		e.b.Load8(a, ir.At(p, 0))
		e.b.Load8(b, ir.At(p, 8))
		e.b.Clear(p)
		v.a, v.b, v.ownA, v.ownB = a.V(), b.V(), true, true
		if v.d.Form == layout.I64 {
			e.b.Clear(b)
			v.b, v.ownB = ir.Val{}, false
		}
	case column.EncF64:
		r := e.float(name)
		e.b.FLoad(r, at(int(shape.Width)), int(shape.Width))
		e.b.Clear(p)
		v.a, v.ownA = r.V(), true
	case column.EncStr:
		sixteen()
		s := e.called(e.descriptor(p, Word{Kind: WordHeap, Index: k}), name)
		e.b.Clear(p)
		v.a, v.b, v.ownA, v.ownB = s.a, s.b, true, true
	}
	if shape.Nulls {
		np := e.loadWord(e.partName(name, ".nulls"), Word{Kind: WordNull, Index: k})
		n := e.int(e.partName(name, ".null"))
		e.b.Load(n, ir.AtIndex(np, i, 1, 0), 1, false)
		e.b.Clear(np)
		v.null, v.ownNull = n.V(), true
	} else if v.d.Nullable {
		// Only other segments have NULLs; code after this must look the same for all.
		n := e.int(e.partName(name, ".null"))
		e.b.Mov(n, ir.K(0))
		v.null, v.ownNull = n.V(), true
	}
	return v
}

// dictOfChunk decodes a code by the dictionary of the chunk at hand.
func (e *emitter) dictOfChunk(v value, k int) value {
	desc := e.loadWord("desc", Word{Kind: WordDesc, Index: k})
	off := e.int("off")
	e.b.Op2(ir.Shl, off, v.a, ir.K(4))
	e.b.Op2(ir.Add, desc, desc.V(), off.V())
	e.b.Clear(off)
	s := e.descriptor(desc, Word{Kind: WordDHeap, Index: k})
	e.b.Clear(desc)
	e.b.Clear(v.a.R)
	s.d = v.d
	return s
}

// seriesRow computes element i of a series.
func (e *emitter) seriesRow(s *plan.Series, i ir.Reg) {
	e.bindLazy(s.Col, func() value {
		r := e.int(e.Cols.Get(s.Col).Name)
		e.b.Op2(ir.Mul, r, i.V(), ir.K(s.Step))
		e.b.Op2(ir.Add, r, r.V(), ir.K(s.From))
		return intVal(e.Cols.Get(s.Col).Type, r, layout.Between(min(s.From, s.Last()), max(s.From, s.Last())))
	})
	e.clearDead(0)
	e.consume(0)
}

// tupleRow binds the fields of tuple i of a buffer.
func (e *emitter) tupleRow(s *pipe.Buffer, i ir.Reg) {
	p := e.int("tuple")
	e.b.Load8(p, ir.At(ir.Ctx, layout.CtxSource))
	if e.Indirect {
		e.b.Load8(p, ir.AtIndex(p, i, 8, 0))
	} else {
		off := e.int("off")
		e.b.Op2(ir.Mul, off, i.V(), ir.K(int64(e.Tuple.Size)))
		e.b.Op2(ir.Add, p, p.V(), off.V())
		e.b.Clear(off)
	}
	if s.Flag != pipe.AllTuples {
		f := e.int("flag")
		e.b.Load(f, ir.At(p, e.Tuple.Flag), 1, false)
		want := int64(1)
		if s.Flag == pipe.Unmatched {
			want = 0
		}
		e.skip(ir.NE, f.V(), ir.K(want))
		e.b.Clear(f)
	}
	for k := range e.Tuple.Fields {
		f := &e.Tuple.Fields[k]
		e.bindLazy(plan.ColID(f.ID), func() value { return e.loadField(p, f, ir.K(0)) })
	}
	for k, from := range s.From {
		if f := e.Tuple.Find(int32(from)); f != nil && s.To[k] != from {
			e.bindLazy(s.To[k], func() value { return e.loadField(p, f, ir.K(0)) })
		}
	}
	if e.Merge {
		e.mergeRow(p)
	} else {
		e.clearDead(0)
		e.consume(0)
	}
	e.b.Clear(p)
}
