package emit

import "github.com/kelpiedb/kelpie/internal/ir"

// Each warp of a launch has some shared memory for itself (Fragment.WarpBytes), of which several may want a part. How much it is in all is known when the code for
// a row has been written; only then can be told where that of a warp begins.

// warpMemory is a register with the address of the warp's memory. ready, which may be nil, goes on where it has it, before the first row.
type warpMemory struct {
	at    ir.Reg
	ready func()
}

// warpMemory opens one, which lives as long as the kernel.
func (e *warp) warpMemory(name string, t ir.Type, ready func()) (at ir.Reg) {
	e.insert(e.kernel, func() { at = e.B.Vreg(name, t) })
	e.ofKernel = append(e.ofKernel, at)
	e.memories = append(e.memories, warpMemory{at, ready})
	return at
}

// placeMemory finds the memory of the warp, after the code for all rows.
func (e *warp) placeMemory() {
	for _, m := range e.memories {
		e.insert(e.kernel, func() {
			e.B.Special(m.at, ir.ThreadID)
			e.B.Op2(ir.Shr, m.at, m.at.V(), ir.K(5))
			e.B.Op2(ir.Mul, m.at, m.at.V(), ir.K(int64(e.f.WarpBytes)))
			if m.ready != nil {
				m.ready()
			}
		})
	}
}
