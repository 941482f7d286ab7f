package kernels

import "github.com/kelpiedb/kelpie/internal/ir"

// bitRows writes the numbers of the ones of a bitmap, in order. A thread has a word of 32 rows; then
// its warp goes over the 32 words one after the other, a lane for each row, so that what it writes lies
// together. Parameters: bitmap, its words, words per block, where each block's rows begin (0: zero, for a single block),
// rows, and where a single block leaves how many they are (0: nowhere).
func bitRows() *ir.Func {
	w := begin("bitrows", 6)
	w.F.SharedBytes = 32 * 8
	in, n, size, offsets, out := w.param("in", 1), w.wordParam("n", 2), w.wordParam("size", 3), w.param("offsets", 4), w.param("out", 5)
	all := w.param("all", 6)
	tid, lane, below := w.special("tid", ir.ThreadID), w.special("lane", ir.LaneID), w.special("below", ir.LanesBelow)
	from, to := w.chunk(n, size)
	base := w.word("base")
	w.Mov(base, ir.K(0))
	w.when(ir.NE, offsets.V(), ir.K(0), func() {
		block := w.special("block", ir.BlockID)
		w.Load(base, ir.AtIndex(offsets, block, 4, 0), 4, false)
	})
	own := w.word("own")
	w.Op2(ir.Shl, own, ir.K(1), lane.V())
	w.while(ir.ULT, from.V(), to.V(), func() {
		mine, bits, ones := w.word("mine"), w.word("bits"), w.word("ones")
		w.Op2(ir.Add, mine, from.V(), tid.V())
		w.Mov(bits, ir.K(0))
		w.when(ir.ULT, mine.V(), to.V(), func() { w.Load(bits, ir.AtIndex(in, mine, 4, 0), 4, false) })
		w.Op1(ir.Popcnt, ones, bits.V())
		at, total := w.blockScan(ones, tid, lane, warps, 0)
		w.Op2(ir.Add, at, at.V(), base.V())
		w.Op2(ir.Add, base, base.V(), total.V())
		row := w.word("row")
		w.Op2(ir.Sub, row, mine.V(), lane.V())
		w.Op2(ir.Shl, row, row.V(), ir.K(5))
		w.Op2(ir.Add, row, row.V(), lane.V())
		k := w.word("k")
		w.Mov(k, ir.K(0))
		w.while(ir.ULT, k.V(), ir.K(32), func() {
			set, start, bit := w.word("set"), w.word("start"), w.word("bit")
			w.Op2(ir.Shfl, set, bits.V(), k.V())
			w.Op2(ir.Shfl, start, at.V(), k.V())
			w.Op2(ir.And, bit, set.V(), own.V())
			w.when(ir.NE, bit.V(), ir.K(0), func() {
				w.Op2(ir.And, set, set.V(), below.V())
				w.Op1(ir.Popcnt, set, set.V())
				w.Op2(ir.Add, start, start.V(), set.V())
				w.Store(ir.AtIndex(out, start, 4, 0), row.V(), 4)
			})
			w.Op2(ir.Add, row, row.V(), ir.K(32))
			w.Op2(ir.Add, k, k.V(), ir.K(1))
		})
		w.Op2(ir.Add, from, from.V(), ir.K(threads))
		w.Barrier() // shared memory is free again
	})
	w.when(ir.NE, all.V(), ir.K(0), func() {
		w.when(ir.EQ, tid.V(), ir.K(0), func() { w.Store(ir.At(all, 0), base.V(), 4) })
	})
	return w.end()
}
