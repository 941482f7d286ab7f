package scanned

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Table is a table that is scanned: its columns can be read at a row.
type Table struct {
	*code.Emitter
	Scan   *plan.Scan
	Shapes []Shape // of Scan.Cols, in the segments at hand
}

// Shape is a chunk's shape, and whether its codes are offset by a base. Those that are packed have Bits bits each, and Width bytes where they are unpacked; 0: they
// have whole bytes. Descriptors of texts that are packed have 64 bits: the offset in the heap, where all texts are, and above column.PackedOffset bits the length.
type Shape struct {
	column.Shape
	Based bool
	Bits  uint8
}

// Desc is what a snapshot says of column k, the same for all its segments.
func (t *Table) Desc(k int) layout.Desc {
	scan := t.Scan
	ord := scan.Ordinal[k]
	if ord == plan.Tested {
		return layout.Desc{Type: types.TInt64, Form: layout.I64, Range: layout.Between(0, 1)}
	}
	typ := scan.Table.Columns[ord].Type
	st := &scan.Snap.Stats[ord]
	d := layout.Desc{Type: typ, Nullable: st.NullCount > 0}
	if t.Off.RangeChecks {
		d.Nullable = !scan.Table.Columns[ord].NotNull
	}
	switch typ.Phys() {
	case types.PhysI64, types.PhysI128:
		d.Range = layout.TypeRange(typ)
		if t.Off.RangeChecks {
			break
		}
		if st.HasRange {
			d.Range = layout.Range{Known: true, Lo: st.Min.Int128(), Hi: st.Max.Int128()}
		} else if scan.Snap.Rows == st.NullCount {
			d.Range = layout.Between(0, 0)
		}
	}
	d.Form = layout.FormOf(typ, d.Range)
	if st.Dict != nil {
		d.Form, d.Dict, d.Range = layout.Code, st.Dict, layout.Between(0, int64(max(st.DictLen-1, 0)))
	}
	return d
}

// DescOf is the description of a column without loading it; false: it is none of the table's.
func (t *Table) DescOf(id plan.ColID) (layout.Desc, bool) {
	if t == nil {
		return layout.Desc{}, false
	}
	k := slices.Index(t.Scan.Cols, id)
	if k < 0 {
		return layout.Desc{}, false
	}
	return t.Desc(k), true
}

// Load reads column k at row i.
func (t *Table) Load(k int, i ir.Reg) code.Value {
	shape := t.Shapes[k]
	name := t.Cols.Get(t.Scan.Cols[k]).Name
	v := code.Value{Desc: t.Desc(k), Null: ir.K(0)}
	p := t.LoadWord(t.PartName(name, ".data"), code.Word{Kind: code.WordData, Index: k})

	at := func(w int) ir.Mem { return ir.AtIndex(p, i, w, 0) }
	sixteen := func() { // turn p into the address of element i
		off := t.Int("off")
		t.B.Op2(ir.Shl, off, i.V(), ir.K(4))
		t.B.Op2(ir.Add, p, p.V(), off.V())
		t.B.Clear(off)
	}
	switch shape.Enc {
	case column.EncInt, column.EncDict:
		r := t.Int(name)
		if shape.Bits > 0 {
			t.B.LoadBits(ir.Plain, r, p, i, int(shape.Bits))
		} else {
			t.B.Load(r, at(int(shape.Width)), int(shape.Width), false)
		}
		t.B.Clear(p)
		if shape.Based {
			base := t.LoadWord(t.PartName(name, ".base"), code.Word{Kind: code.WordBase, Index: k})
			r = t.Offset(r, name, base.V(), v.Desc.Range)
			t.B.Clear(base)
		}
		v.A, v.OwnA = r.V(), true
		switch want := v.Desc.Form; {
		case shape.Enc == column.EncDict && want == layout.Str:
			// Other segments of this column are not coded: the plain form serves all.
			v = t.dictOfChunk(v, k)
		case want == layout.I128:
			v.Desc.Form = layout.I64
			v.Desc.Range = layout.Range{} // sign unknown
			v = t.Wide(v)
			v.Desc = t.Desc(k)
		}
	case column.EncI128, column.EncIvl:
		sixteen()
		a, b := t.Int(name), t.Int(t.PartName(name, ".hi"))
		t.B.Load8(a, ir.At(p, 0))
		t.B.Load8(b, ir.At(p, 8))
		t.B.Clear(p)
		v.A, v.B, v.OwnA, v.OwnB = a.V(), b.V(), true, true
		if v.Desc.Form == layout.I64 {
			t.B.Clear(b)
			v.B, v.OwnB = ir.Val{}, false
		}
	case column.EncF64:
		r := t.Float(name)
		t.B.FLoad(r, at(int(shape.Width)), int(shape.Width))
		t.B.Clear(p)
		v.A, v.OwnA = r.V(), true
	case column.EncStr:
		if shape.Bits > 0 {
			n, at := t.Int(t.PartName(name, ".len")), t.Int(name)
			t.B.Load8(at, ir.AtIndex(p, i, 8, 0))
			t.B.Clear(p)
			t.B.Op2(ir.Shr, n, at.V(), ir.K(column.PackedOffset))
			t.B.Op2(ir.And, at, at.V(), ir.K(1<<column.PackedOffset-1))
			heap := t.LoadWord("heap", code.Word{Kind: code.WordHeap, Index: k})
			t.B.Op2(ir.Add, at, at.V(), heap.V())
			t.B.Clear(heap)
			v.A, v.B, v.OwnA, v.OwnB = at.V(), n.V(), true, true
			break
		}
		sixteen()
		s := t.Called(t.Descriptor(p, code.Word{Kind: code.WordHeap, Index: k}), name)
		t.B.Clear(p)
		v.A, v.B, v.OwnA, v.OwnB = s.A, s.B, true, true
	}
	if shape.Nulls {
		np := t.LoadWord(t.PartName(name, ".nulls"), code.Word{Kind: code.WordNull, Index: k})
		n := t.Int(t.PartName(name, ".null"))
		t.B.Load(n, ir.AtIndex(np, i, 1, 0), 1, false)
		t.B.Clear(np)
		v.Null, v.OwnNull = n.V(), true
	} else if v.Desc.Nullable {
		// Only other segments have NULLs; code after this must look the same for all.
		n := t.Int(t.PartName(name, ".null"))
		t.B.Mov(n, ir.K(0))
		v.Null, v.OwnNull = n.V(), true
	}
	return v
}

// dictOfChunk decodes a code by the dictionary of the chunk at hand.
func (t *Table) dictOfChunk(v code.Value, k int) code.Value {
	desc := t.LoadWord("desc", code.Word{Kind: code.WordDesc, Index: k})
	off := t.Int("off")
	t.B.Op2(ir.Shl, off, v.A, ir.K(4))
	t.B.Op2(ir.Add, desc, desc.V(), off.V())
	t.B.Clear(off)
	s := t.Descriptor(desc, code.Word{Kind: code.WordDHeap, Index: k})
	t.B.Clear(desc)
	t.B.Clear(v.A.R)
	s.Desc = v.Desc
	return s
}

// Sorted reports a column whose values come in order.
func (t *Table) Sorted(k int) bool { return t.Scan.Snap.Stats[t.Scan.Ordinal[k]].Sorted }
