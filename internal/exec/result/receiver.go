package result

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Receiver takes a column's values one after the other.
type Receiver interface {
	Null()
	Int(x int64)
	Wide(x types.Int128)
	Float(x float64)
	Text(x []byte) // valid only during the call
	Interval(months, days int32, micros int64)
}

// Column hands the window's values of column i to rec.
func (rd *Reader) Column(i int, rec Receiver) {
	f := rd.field(i)
	if f == nil {
		rd.chunks(i, func(c *column.Chunk, p *column.Pick, _ int) {
			for k := range p.Len() {
				receive(c, p.Row(k), rec)
			}
		})
		return
	}
	off, first := uintptr(f.Off), tuples.WordOf(f)
	var text func(code int) []byte
	if f.Desc.Form == layout.Code {
		view := f.Desc.Dict.View()
		text = view.Bytes
	}
	narrowDecimal := f.Desc.Type.Kind == types.Decimal
	for _, a := range rd.window {
		if f.Null >= 0 && mem.Load8(a+uintptr(f.Null)) != 0 {
			rec.Null()
			continue
		}
		w := first.Load(a)
		switch f.Desc.Form {
		case layout.I64:
			if narrowDecimal {
				rec.Wide(types.FromInt64(int64(w)))
			} else {
				rec.Int(int64(w))
			}
		case layout.I128:
			rec.Wide(types.Int128{Lo: w, Hi: int64(mem.Load64(a + off + 8))})
		case layout.F64:
			rec.Float(math.Float64frombits(w))
		case layout.Str:
			rec.Text(mem.Bytes(uintptr(w), int(mem.Load64(a+off+8))))
		case layout.Code:
			rec.Text(text(int(w)))
		case layout.Ivl:
			rec.Interval(int32(int64(w)>>32), int32(uint32(w)), int64(mem.Load64(a+off+8)))
		}
	}
}

// receive hands the value of a chunk's row to rec.
func receive(c *column.Chunk, row int, rec Receiver) {
	switch {
	case c.IsNull(row):
		rec.Null()
	case c.Type.Kind == types.Decimal:
		rec.Wide(c.I128(row))
	case c.Type.IsFloat():
		rec.Float(c.Float(row))
	case c.Type.Phys() == types.PhysStr:
		rec.Text(c.Bytes(row))
	case c.Type.Kind == types.Interval:
		rec.Interval(c.Interval(row))
	default:
		rec.Int(c.Int(row))
	}
}
