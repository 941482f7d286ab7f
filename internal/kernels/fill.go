package kernels

import "github.com/kelpiedb/kelpie/internal/ir"

// fill stores a pattern of 8 bytes: units of 16 bytes, then fewer than 4 words that are left.
// Parameters: destination, units, words that are left, pattern.
func fill() *ir.Func {
	w := begin("fill", 4)
	dst, units, rest, pattern := w.param("dst", 1), w.wordParam("units", 2), w.wordParam("rest", 3), w.param("pattern", 4)
	v := w.of("v", ir.I32, 4)
	w.Op1(ir.Narrow, v, pattern.V())
	w.Op2(ir.Shr, pattern, pattern.V(), ir.K(32))
	w.Op1(ir.Narrow, v+1, pattern.V())
	w.Mov(v+2, v.V())
	w.Mov(v+3, (v + 1).V())

	i, size := w.special("i", ir.BlockID), w.special("size", ir.BlockDim)
	w.Op2(ir.Mul, i, i.V(), size.V())
	tid := w.special("tid", ir.ThreadID)
	w.Op2(ir.Add, i, i.V(), tid.V())
	w.when(ir.ULT, i.V(), rest.V(), func() {
		end := w.advanced("end", dst, units, 16)
		odd := w.word("odd")
		w.Op2(ir.And, odd, i.V(), ir.K(1))
		w.Sel(odd, ir.EQ, odd.V(), ir.K(0), v.V(), (v + 1).V())
		w.Store(ir.AtIndex(end, i, 4, 0), odd.V(), 4)
	})
	stride := w.special("stride", ir.GridDim)
	w.Op2(ir.Mul, stride, stride.V(), size.V())
	at, step := w.advanced("at", dst, i, 16), w.long("step")
	w.MulWU(step, stride.V(), ir.K(16))
	w.while(ir.ULT, i.V(), units.V(), func() {
		w.StoreN(ir.Plain, ir.At(at, 0), v, 4, 4)
		w.Op2(ir.Add, at, at.V(), step.V())
		w.Op2(ir.Add, i, i.V(), stride.V())
	})
	return w.end()
}
