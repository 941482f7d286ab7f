package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
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
		e.scan(s)
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

// scanRow emits the body of a scan: what the tests let pass goes to the first operator.
func (e *emitter) scanRow(s *pipe.Table, i ir.Reg, preds []plan.Expr, filters []scanned.Filter) {
	e.row = i
	for k, id := range s.Scan.Cols {
		e.BindLazy(id, func() code.Value {
			e.reads(k)
			return e.table.Load(k, i)
		})
	}
	if e.Off.PostProjection {
		e.readAll(s, preds, filters)
	}
	if e.readFirst {
		e.behind = -1 // the front tested all that there is to test
		e.readSoon(s)
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

// lasting is the share of rows that joins keep of those that pass the scan, as far as it is known.
func (e *emitter) lasting() float64 {
	share := 1.0
	for _, op := range e.Pipeline.Ops {
		p, ok := op.(*pipe.Probe)
		if !ok || p.Kind != pipe.ProbeInner && p.Kind != pipe.ProbeSemi || e.filtered(p) {
			continue
		}
		probing := p.Join.Left
		if p.Join.BuildLeft {
			probing = p.Join.Right
		}
		share *= min(p.Join.Props().Rows/max(probing.Props().Rows, 1), 1)
	}
	return share
}

// readSoon reads the columns that rows will need if they come to the end, but for texts.
func (e *emitter) readSoon(s *pipe.Table) {
	for _, id := range s.Scan.Cols {
		if e.live[0].Has(id) && !e.scansText(id) && !e.keyOfProven(id) {
			e.Column(id)
		}
	}
}

// keyOfProven reports a column that nobody needs but a probe that cannot tell anything new.
func (e *emitter) keyOfProven(id plan.ColID) bool {
	for i, op := range e.Pipeline.Ops {
		if p, ok := op.(*pipe.Probe); ok && e.proven(p, i) && !e.live[i+1].Has(id) {
			if ref, ok := p.Keys[0].(*plan.Ref); ok && ref.ID == id {
				return true
			}
		}
	}
	return false
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
		e.B.Op2(ir.Mul, r, i.V(), e.Fact(s.Step))
		e.B.Op2(ir.Add, r, r.V(), e.Fact(s.From))
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
		e.merge(p)
	} else {
		e.clearDead(0)
		e.consume(0)
	}
	e.B.Clear(p)
}
