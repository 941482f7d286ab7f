package exec

import (
	"math"

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

// Reader walks through a result, a window of rows at a time, column by column.
type Reader struct {
	r      *Result
	window []uintptr
	piece  int
	at     int
}

// NewReader starts before the first row.
func (r *Result) NewReader() *Reader { return &Reader{r: r} }

// Advance makes the next n rows the window.
func (rd *Reader) Advance(n int) {
	rd.window = rd.window[:0]
	rows := &rd.r.Rows
	for n > 0 && rd.piece < len(rows.Pieces) {
		p := rows.Pieces[rd.piece]
		k := min(n, p.N-rd.at)
		if rows.Indirect {
			for _, a := range words(p.Addr, p.N)[rd.at : rd.at+k] {
				rd.window = append(rd.window, uintptr(a))
			}
		} else {
			for i := range k {
				rd.window = append(rd.window, p.Addr+uintptr((rd.at+i)*rows.Tuple.Size))
			}
		}
		n -= k
		if rd.at += k; rd.at == p.N {
			rd.piece, rd.at = rd.piece+1, 0
		}
	}
}

// Column hands the window's values of column i to rec.
func (rd *Reader) Column(i int, rec Receiver) {
	f := &rd.r.Rows.Tuple.Fields[i]
	off := uintptr(f.Off)
	var text func(code int) []byte
	if f.Desc.Form == layout.Code {
		view := f.Desc.Dict.View()
		text = view.Bytes
	}
	narrowDecimal := f.Desc.Type.Kind == types.Decimal
	for _, a := range rd.window {
		if f.Null >= 0 && load8(a+uintptr(f.Null)) != 0 {
			rec.Null()
			continue
		}
		w := load64(a + off)
		switch f.Desc.Form {
		case layout.I64:
			if narrowDecimal {
				rec.Wide(types.FromInt64(int64(w)))
			} else {
				rec.Int(int64(w))
			}
		case layout.I128:
			rec.Wide(types.Int128{Lo: w, Hi: int64(load64(a + off + 8))})
		case layout.F64:
			rec.Float(math.Float64frombits(w))
		case layout.Str:
			rec.Text(bytesAt(uintptr(w), int(load64(a+off+8))))
		case layout.Code:
			rec.Text(text(int(w)))
		case layout.Ivl:
			rec.Interval(int32(int64(w)>>32), int32(uint32(w)), int64(load64(a+off+8)))
		}
	}
}
