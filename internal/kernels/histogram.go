package kernels

import "github.com/kelpiedb/kelpie/internal/ir"

// histogram counts how often each number below bins occurs. Each block counts in dynamic shared
// memory, by cells of 4 bytes, which are five times as fast as those of 8; several copies of the
// cells, one for every few warps, keep one frequent number from slowing all down. Parameters: numbers,
// how many, how many per block, bins, copies (a power of two), counts.
func histogram() *ir.Func {
	e := elemOf(4)
	w := begin("histogram", 6)
	in, n, size := w.param("in", 1), w.wordParam("n", 2), w.wordParam("size", 3)
	bins, copies, counts := w.wordParam("bins", 4), w.wordParam("copies", 5), w.param("counts", 6)
	tid := w.special("tid", ir.ThreadID)
	from, to := w.chunk(n, size)
	cell := func(i ir.Reg) ir.Mem { return ir.Mem{Base: ir.NoReg, Index: i, Scale: 4, Space: ir.Dynamic} }
	i, cells := w.word("i"), w.word("cells")
	w.Op2(ir.Mul, cells, bins.V(), copies.V())
	w.Mov(i, tid.V())
	w.while(ir.ULT, i.V(), cells.V(), func() {
		w.Store(cell(i), ir.K(0), 4)
		w.Op2(ir.Add, i, i.V(), ir.K(threads))
	})
	w.Barrier()
	first := w.word("first")
	w.scope(func() {
		mask := w.word("mask")
		w.Op2(ir.Sub, mask, copies.V(), ir.K(1))
		w.Op2(ir.Shr, first, tid.V(), ir.K(5))
		w.Op2(ir.And, first, first.V(), mask.V())
		w.Op2(ir.Mul, first, first.V(), bins.V())
	})
	w.while(ir.ULT, from.V(), to.V(), func() {
		v, _ := w.loadTile(e, in, tid, from, to, ir.K(-1))
		old := w.word("old")
		for k := range ir.Reg(e.per) {
			w.when(ir.ULT, (v + k).V(), bins.V(), func() {
				w.Op2(ir.Add, v+k, (v + k).V(), first.V())
				w.Atom4(ir.AtomAdd, old, cell(v+k), ir.K(1), ir.Val{})
			})
		}
		w.Op2(ir.Add, from, from.V(), ir.K(e.tile()))
	})
	w.Barrier()
	w.Mov(i, tid.V())
	w.while(ir.ULT, i.V(), bins.V(), func() {
		sum, one, at := w.word("sum"), w.word("one"), w.word("at")
		w.Mov(sum, ir.K(0))
		w.Mov(at, i.V())
		w.while(ir.ULT, at.V(), cells.V(), func() {
			w.Load(one, cell(at), 4, false)
			w.Op2(ir.Add, sum, sum.V(), one.V())
			w.Op2(ir.Add, at, at.V(), bins.V())
		})
		w.when(ir.NE, sum.V(), ir.K(0), func() { w.Atom4(ir.AtomAdd, one, ir.AtIndex(counts, i, 4, 0), sum.V(), ir.Val{}) })
		w.Op2(ir.Add, i, i.V(), ir.K(threads))
	})
	return w.end()
}
