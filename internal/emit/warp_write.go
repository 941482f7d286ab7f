package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// write keeps the values past the guard, where the warp finds places for its tuples.
func (e *warp) write(t *layout.Tuple, r written) {
	if r.late {
		e.refuse("reading columns late is not supported")
	}
	var kept []code.Value
	for _, v := range r.keys {
		kept = append(kept, e.keep(t.Fields[len(kept)].Name, v))
	}
	for _, id := range r.cols {
		kept = append(kept, e.keep(t.Fields[len(kept)].Name, e.Column(id)))
	}
	h := ir.NoReg
	if r.hash != ir.NoReg {
		h = e.perRow("hash", ir.I64, 0)
		e.B.Mov(h, r.hash.V())
	}
	e.arrive(func() {
		e.writeTogether(t.Size, func(out ir.Reg) {
			if h != ir.NoReg {
				e.B.Store(ir.At(out, 0), h.V(), 8)
			}
			for i, v := range kept {
				e.storeField(out, &t.Fields[i], v)
			}
			if t.Flag >= 0 {
				e.B.Store(ir.At(out, t.Flag), ir.K(0), 1)
			}
		})
	})
	if r.hash != ir.NoReg {
		e.B.Clear(r.hash)
	}
}
