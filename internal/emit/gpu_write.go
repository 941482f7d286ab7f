package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// tupleTogether is the GPU's end of sinks that materialize: the values (first those given,
// then columns) are kept past the guard, where the warp finds places for its tuples.
func (e *emitter) tupleTogether(t *layout.Tuple, hash ir.Reg, vals []code.Value, cols []plan.ColID) {
	var kept []code.Value
	for _, v := range vals {
		kept = append(kept, e.keep(t.Fields[len(kept)].Name, v))
	}
	for _, id := range cols {
		kept = append(kept, e.keep(t.Fields[len(kept)].Name, e.Column(id)))
	}
	h := ir.NoReg
	if hash != ir.NoReg {
		h = e.perRow("hash", ir.I64, 0)
		e.B.Mov(h, hash.V())
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
}
