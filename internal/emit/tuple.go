package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Whole-tuple helpers: dematerialize (loadField), materialize (storeField), and the layout of
// what is to be stored.

// loadField reads a field of the tuple at p. miss, when a register, is 1 if p is only the
// zero tuple of an outer row without match: then the field is NULL.
func (e *emitter) loadField(p ir.Reg, f *layout.Field, miss ir.Val) value {
	v := value{d: f.Desc, null: ir.K(0)}
	if f.Desc.Form == layout.F64 {
		r := e.float(f.Name)
		e.b.FLoad(r, ir.At(p, f.Off), 8)
		v.a, v.ownA = r.V(), true
	} else {
		r := e.int(f.Name)
		e.loadWordOf(r, p, f)
		v.a, v.ownA = r.V(), true
		if v.two() {
			r := e.int(e.partName(f.Name, ".2"))
			e.b.Load8(r, ir.At(p, f.Off+8))
			v.b, v.ownB = r.V(), true
		}
	}
	if f.Null >= 0 {
		n := e.int(e.partName(f.Name, ".null"))
		e.b.Load(n, ir.At(p, f.Null), 1, false)
		if !miss.IsImm() {
			e.b.Op2(ir.Or, n, n.V(), miss)
		}
		v.null, v.ownNull = n.V(), true
		if f.Desc.Type.Kind == types.Bool { // an aggregate over nothing still holds what it started from
			e.b.Sel(v.a.R, ir.NE, n.V(), ir.K(0), ir.K(0), v.a)
		}
	} else if !miss.IsImm() {
		n := e.int(e.partName(f.Name, ".null"))
		e.b.Mov(n, miss)
		v.null, v.ownNull = n.V(), true
	}
	v.d.Nullable = !v.never()
	return v
}

// loadWordOf reads a field's first word, an integer.
func (e *emitter) loadWordOf(r, p ir.Reg, f *layout.Field) {
	e.b.Load(r, ir.At(p, f.Off), int(f.Width), f.Width < 8 && f.Signed())
}

// storeField writes a value to a field; the value's form is adapted to the field's. The
// caller keeps v.
func (e *emitter) storeField(p ir.Reg, f *layout.Field, v value) {
	w := e.reform(v.borrowed(), f.Desc.Form)
	if f.Desc.Form == layout.F64 {
		e.b.FStore(ir.At(p, f.Off), w.a.R, 8)
	} else {
		e.b.Store(ir.At(p, f.Off), w.a, int(f.Width))
		if w.two() {
			e.b.Store(ir.At(p, f.Off+8), w.b, 8)
		}
	}
	if f.Null >= 0 {
		e.b.Store(ir.At(p, f.Null), w.null, 1)
	}
	w.null, w.ownNull = ir.K(0), false // still v's
	e.free(w)
}

// field describes a value to be stored, with what other pipelines into the sink may bring.
func (e *emitter) field(id plan.ColID, name string, v value) layout.Field {
	e.f.Void = append(e.f.Void, v.isNull())
	d := v.d
	switch {
	case e.Generic:
		d = layout.Desc{Type: d.Type, Nullable: true, Range: layout.TypeRange(d.Type)}
		d.Form = layout.FormOf(d.Type, d.Range)
	case e.United != nil:
		for i := range e.United {
			if e.United[i].ID == int32(id) {
				d = e.United[i].Desc
				break
			}
		}
	}
	return layout.Field{ID: int32(id), Name: name, Desc: d}
}

// newTuple makes room for a tuple at the sink's cursor and returns its address; the
// executor is asked for more space when there is none.
func (e *emitter) newTuple(size int) ir.Reg {
	p, end := e.int("out"), e.int("outend")
	e.b.Load8(p, ir.At(ir.Ctx, layout.CtxCur))
	e.b.Load8(end, ir.At(ir.Ctx, layout.CtxEnd))
	e.when(ir.UGE, p.V(), end.V(), func() {
		e.b.Yield(layout.YieldGrow)
		e.b.Load8(p, ir.At(ir.Ctx, layout.CtxCur))
	}, nil)
	e.b.Lea(end, ir.At(p, size))
	e.b.Store(ir.At(ir.Ctx, layout.CtxCur), end.V(), 8)
	e.b.Clear(end)
	return p
}

// dropUnless takes texts back unless a tuple's field got one of them.
func (e *emitter) dropUnless(mark, tuple ir.Reg, f *layout.Field, v value) {
	held := e.int("held")
	e.b.Load8(held, ir.At(tuple, f.Off))
	e.when(ir.NE, held.V(), v.a, func() { e.dropTexts(mark) }, nil)
	e.b.Clear(held)
}

// sameField opens a register telling whether a key equals a field of the tuple at p. Grouping
// treats NULLs as equal (nullSafe); joins do not, and have dropped NULL keys before.
func (e *emitter) sameField(p ir.Reg, f *layout.Field, key value, nullSafe bool) ir.Reg {
	v := e.loadField(p, f, ir.K(0))
	if nullSafe && (!v.never() || !key.never()) {
		same := e.notDistinct(v, key.borrowed())
		return same.a.R
	}
	d := e.comparison(ir.EQ, v, key)
	if !v.never() {
		e.b.Sel(d, ir.NE, v.null, ir.K(0), ir.K(0), d.V())
	}
	e.free(v)
	return d
}
