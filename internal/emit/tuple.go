package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Whole-tuple helpers: dematerialize (loadField), materialize (storeField), and the layout of
// what is to be stored.

// loadField reads a field of the tuple at p. miss, when a register, is 1 if p is only the
// zero tuple of an outer row without match: then the field is NULL.
func (e *emitter) loadField(p ir.Reg, f *layout.Field, miss ir.Val) code.Value {
	v := code.Value{Desc: f.Desc, Null: ir.K(0)}
	if f.Desc.Form == layout.F64 {
		r := e.Float(f.Name)
		e.B.FLoad(r, ir.At(p, f.Off), 8)
		v.A, v.OwnA = r.V(), true
	} else {
		r := e.Int(f.Name)
		e.loadWordOf(r, p, f)
		v.A, v.OwnA = r.V(), true
		if v.Two() {
			r := e.Int(e.PartName(f.Name, ".2"))
			e.B.Load8(r, ir.At(p, f.Off+8))
			v.B, v.OwnB = r.V(), true
		}
	}
	if f.Null >= 0 {
		n := e.Int(e.PartName(f.Name, ".null"))
		e.B.Load(n, ir.At(p, f.Null), 1, false)
		if !miss.IsImm() {
			e.B.Op2(ir.Or, n, n.V(), miss)
		}
		v.Null, v.OwnNull = n.V(), true
		if f.Desc.Type.Kind == types.Bool { // an aggregate over nothing still holds what it started from
			e.B.Sel(v.A.R, ir.NE, n.V(), ir.K(0), ir.K(0), v.A)
		}
	} else if !miss.IsImm() {
		n := e.Int(e.PartName(f.Name, ".null"))
		e.B.Mov(n, miss)
		v.Null, v.OwnNull = n.V(), true
	}
	v.Desc.Nullable = !v.Never()
	return v
}

// loadWordOf reads a field's first word, an integer.
func (e *emitter) loadWordOf(r, p ir.Reg, f *layout.Field) {
	e.B.Load(r, ir.At(p, f.Off), int(f.Width), f.Width < 8 && f.Signed())
}

// storeField writes a value to a field; the value's form is adapted to the field's. The
// caller keeps v.
func (e *emitter) storeField(p ir.Reg, f *layout.Field, v code.Value) {
	w := e.Reform(v.Borrowed(), f.Desc.Form)
	if f.Desc.Form == layout.F64 {
		e.B.FStore(ir.At(p, f.Off), w.A.R, 8)
	} else {
		e.B.Store(ir.At(p, f.Off), w.A, int(f.Width))
		if w.Two() {
			e.B.Store(ir.At(p, f.Off+8), w.B, 8)
		}
	}
	if f.Null >= 0 {
		e.B.Store(ir.At(p, f.Null), w.Null, 1)
	}
	w.Null, w.OwnNull = ir.K(0), false // still v's
	e.Free(w)
}

// storeRow fills the tuple at p.
func (e *emitter) storeRow(p ir.Reg, t *layout.Tuple, r written) {
	if r.hash != ir.NoReg {
		e.B.Store(ir.At(p, 0), r.hash.V(), 8)
		e.B.Clear(r.hash)
	}
	for i := range r.keys {
		e.storeField(p, &t.Fields[i], r.keys[i])
	}
	for i, id := range r.cols {
		e.storeField(p, &t.Fields[len(r.keys)+i], e.Column(id))
	}
	if r.late {
		row := e.LoadWord("row", code.Word{Kind: code.WordRow})
		e.B.Op2(ir.Add, row, row.V(), e.row.V())
		e.B.Store(ir.At(p, t.Find(layout.LateRow).Off), row.V(), 8)
		e.B.Clear(row)
	}
	if t.Flag >= 0 {
		e.B.Store(ir.At(p, t.Flag), ir.K(0), 1)
	}
}

// field describes a value to be stored, with what other pipelines into the sink may bring.
func (e *emitter) field(id plan.ColID, name string, v code.Value) layout.Field {
	e.f.Void = append(e.f.Void, v.IsNull())
	d := v.Desc
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

// sameField opens a register telling whether a key equals a field of the tuple at p. Grouping
// treats NULLs as equal (nullSafe); joins do not, and have dropped NULL keys before.
func (e *emitter) sameField(p ir.Reg, f *layout.Field, key code.Value, nullSafe bool) ir.Reg {
	v := e.loadField(p, f, ir.K(0))
	if nullSafe && (!v.Never() || !key.Never()) {
		same := e.NotDistinct(v, key.Borrowed())
		return same.A.R
	}
	d := e.Compare(ir.EQ, v, key)
	if !v.Never() {
		e.B.Sel(d, ir.NE, v.Null, ir.K(0), ir.K(0), d.V())
	}
	e.Free(v)
	return d
}
