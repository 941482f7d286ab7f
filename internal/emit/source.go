package emit

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/code"
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
		e.B.Comment("scan " + s.Scan.Table.Name)
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
func (e *emitter) placeInMorsel(i ir.Reg) rowPlace {
	if e.Target == ir.GPU {
		return rowPlace{}
	}
	return rowPlace{
		later: func(n int64) ir.Reg {
			later, last := e.Int("later"), e.Int("last")
			e.B.Load8(last, ir.At(ir.Ctx, layout.CtxHi))
			e.B.Op2(ir.Sub, last, last.V(), ir.K(1))
			e.B.Lea(later, ir.At(i, int(n)))
			e.B.Sel(later, ir.LT, later.V(), last.V(), later.V(), last.V())
			e.B.Clear(last)
			return later
		},
		count: func() ir.Reg {
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
func (e *emitter) scanRow(s *pipe.Table, i ir.Reg, preds []plan.Expr, filters []ScanFilter) {
	e.row = i
	for k, id := range s.Scan.Cols {
		e.BindLazy(id, func() code.Value { return e.loadColumn(s.Scan, k, i) })
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
			e.Column(id)
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
func (e *emitter) loadColumn(scan *plan.Scan, k int, i ir.Reg) code.Value {
	shape := e.Shapes[k]
	name := e.Cols.Get(scan.Cols[k]).Name
	v := code.Value{Desc: e.columnDesc(scan, k), Null: ir.K(0)}
	p := e.LoadWord(e.PartName(name, ".data"), code.Word{Kind: code.WordData, Index: k})

	at := func(w int) ir.Mem { return ir.AtIndex(p, i, w, 0) }
	sixteen := func() { // turn p into the address of element i
		off := e.Int("off")
		e.B.Op2(ir.Shl, off, i.V(), ir.K(4))
		e.B.Op2(ir.Add, p, p.V(), off.V())
		e.B.Clear(off)
	}
	switch shape.Enc {
	case column.EncInt, column.EncDict:
		r := e.Int(name)
		e.B.Load(r, at(int(shape.Width)), int(shape.Width), false)
		e.B.Clear(p)
		if shape.Based {
			base := e.LoadWord(e.PartName(name, ".base"), code.Word{Kind: code.WordBase, Index: k})
			e.B.Op2(ir.Add, r, r.V(), base.V())
			e.B.Clear(base)
		}
		v.A, v.OwnA = r.V(), true
		switch want := v.Desc.Form; {
		case shape.Enc == column.EncDict && want == layout.Str:
			// Other segments of this column are not coded: the plain form serves all.
			v = e.dictOfChunk(v, k)
		case want == layout.I128:
			v.Desc.Form = layout.I64
			v.Desc.Range = layout.Range{} // sign unknown
			v = e.Wide(v)
			v.Desc = e.columnDesc(scan, k)
		}
	case column.EncI128, column.EncIvl:
		sixteen()
		a, b := e.Int(name), e.Int(e.PartName(name, ".hi"))
		e.B.Load8(a, ir.At(p, 0))
		e.B.Load8(b, ir.At(p, 8))
		e.B.Clear(p)
		v.A, v.B, v.OwnA, v.OwnB = a.V(), b.V(), true, true
		if v.Desc.Form == layout.I64 {
			e.B.Clear(b)
			v.B, v.OwnB = ir.Val{}, false
		}
	case column.EncF64:
		r := e.Float(name)
		e.B.FLoad(r, at(int(shape.Width)), int(shape.Width))
		e.B.Clear(p)
		v.A, v.OwnA = r.V(), true
	case column.EncStr:
		sixteen()
		s := e.Called(e.Descriptor(p, code.Word{Kind: code.WordHeap, Index: k}), name)
		e.B.Clear(p)
		v.A, v.B, v.OwnA, v.OwnB = s.A, s.B, true, true
	}
	if shape.Nulls {
		np := e.LoadWord(e.PartName(name, ".nulls"), code.Word{Kind: code.WordNull, Index: k})
		n := e.Int(e.PartName(name, ".null"))
		e.B.Load(n, ir.AtIndex(np, i, 1, 0), 1, false)
		e.B.Clear(np)
		v.Null, v.OwnNull = n.V(), true
	} else if v.Desc.Nullable {
		// Only other segments have NULLs; code after this must look the same for all.
		n := e.Int(e.PartName(name, ".null"))
		e.B.Mov(n, ir.K(0))
		v.Null, v.OwnNull = n.V(), true
	}
	return v
}

// dictOfChunk decodes a code by the dictionary of the chunk at hand.
func (e *emitter) dictOfChunk(v code.Value, k int) code.Value {
	desc := e.LoadWord("desc", code.Word{Kind: code.WordDesc, Index: k})
	off := e.Int("off")
	e.B.Op2(ir.Shl, off, v.A, ir.K(4))
	e.B.Op2(ir.Add, desc, desc.V(), off.V())
	e.B.Clear(off)
	s := e.Descriptor(desc, code.Word{Kind: code.WordDHeap, Index: k})
	e.B.Clear(desc)
	e.B.Clear(v.A.R)
	s.Desc = v.Desc
	return s
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
