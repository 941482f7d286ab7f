package exec

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Constants writes literal rows as tuples.
func Constants(m *mem.Memory, cols *plan.Columns, src *pipe.Constants) (tuples.Rows, error) {
	t := compile.ConstantsTuple(cols, src)
	rows := tuples.Rows{Tuple: t}
	if len(src.Rows) == 0 {
		return rows, nil
	}
	a, err := m.Alloc(len(src.Rows) * t.Size)
	if err != nil {
		return rows, err
	}
	rows.Pieces = []tuples.Piece{{Addr: a, N: len(src.Rows)}}
	for k, row := range src.Rows {
		for i := range t.Fields {
			if err := storeLiteral(m, a+uintptr(k*t.Size), &t.Fields[i], row[i].(*plan.Const).V); err != nil {
				return rows, err
			}
		}
	}
	return rows, nil
}

// storeLiteral writes a literal to a field.
func storeLiteral(m *mem.Memory, tuple uintptr, f *layout.Field, v types.Value) error {
	if v.Null {
		mem.Store8(tuple+uintptr(f.Null), 1)
		return nil
	}
	at := tuple + uintptr(f.Off)
	switch f.Desc.Form {
	case layout.F64:
		mem.Store64(at, math.Float64bits(v.F))
	case layout.Str:
		p, err := m.Alloc(len(v.S) + column.TextPad)
		if err != nil {
			return err
		}
		copy(mem.Bytes(p, len(v.S)), v.S)
		mem.Store64(at, uint64(p))
		mem.Store64(at+8, uint64(len(v.S)))
	case layout.Ivl:
		mem.Store64(at, uint64(v.I))
		mem.Store64(at+8, uint64(v.Hi))
	default:
		x := v.Int128()
		mem.Store64(at, x.Lo)
		if f.Desc.Form == layout.I128 {
			mem.Store64(at+8, uint64(x.Hi))
		}
	}
	return nil
}
