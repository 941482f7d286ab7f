package kernels

import "github.com/kelpiedb/kelpie/internal/ir"

// A prefix sum in three launches: each block adds up its share of the values; one block makes
// the sums into prefix sums; each block goes over its share again and adds what is before it. That
// reads the values twice, which is less trouble than blocks that wait for each other.

// elem is a kind of values: 4 or 8 bytes, and how many a thread takes at a time.
type elem struct {
	bytes int
	typ   ir.Type
	per   int
}

func elemOf(bytes int) elem {
	if bytes == 4 {
		return elem{4, ir.I32, 4}
	}
	return elem{8, ir.I64, 2}
}

func (e elem) tile() int64 { return int64(e.per * threads) }

// loadTile opens registers for a thread's values of the tile that begins at value first; behind the
// last one they are pad. mine is the number of the thread's first value.
func (w *writer) loadTile(e elem, in, tid, first, to ir.Reg, pad ir.Val) (v, mine ir.Reg) {
	v, mine = w.of("v", e.typ, e.per), w.word("mine")
	w.Op2(ir.Mul, mine, tid.V(), ir.K(int64(e.per)))
	w.Op2(ir.Add, mine, mine.V(), first.V())
	w.scope(func() {
		left := w.word("left")
		w.Op2(ir.Sub, left, to.V(), first.V())
		w.If(ir.UGE, left.V(), ir.K(e.tile()))
		w.LoadN(ir.Plain, v, e.per, ir.AtIndex(in, mine, e.bytes, 0), e.bytes)
		w.Else()
		w.scope(func() {
			i := w.word("i")
			for n := range ir.Reg(e.per) {
				w.Mov(v+n, pad)
				w.Op2(ir.Add, i, mine.V(), ir.K(int64(n)))
				w.when(ir.ULT, i.V(), to.V(), func() { w.Load(v+n, ir.AtIndex(in, i, e.bytes, 0), e.bytes, false) })
			}
		})
		w.EndIf()
	})
	return v, mine
}

// blockSums adds up the values of each block, or the ones among their bits. Parameters: values, their
// number, values per block, sums.
func blockSums(name string, e elem, ones bool) *ir.Func {
	w := begin(name, 4)
	w.F.SharedBytes = 32 * 8
	in, n, size, sums := w.param("in", 1), w.wordParam("n", 2), w.wordParam("size", 3), w.param("sums", 4)
	tid, lane := w.special("tid", ir.ThreadID), w.special("lane", ir.LaneID)
	from, to := w.chunk(n, size)
	sum := w.of("sum", e.typ, 1)
	w.Mov(sum, ir.K(0))
	w.while(ir.ULT, from.V(), to.V(), func() {
		v, _ := w.loadTile(e, in, tid, from, to, ir.K(0))
		for k := range ir.Reg(e.per) {
			if ones {
				w.Op1(ir.Popcnt, v+k, (v + k).V())
			}
			w.Op2(ir.Add, sum, sum.V(), (v + k).V())
		}
		w.Op2(ir.Add, from, from.V(), ir.K(e.tile()))
	})
	_, total := w.blockScan(sum, tid, lane, warps, 0)
	w.when(ir.EQ, tid.V(), ir.K(0), func() {
		block := w.special("block", ir.BlockID)
		w.Store(ir.AtIndex(sums, block, e.bytes, 0), total.V(), e.bytes)
	})
	return w.end()
}

// blockScans makes each block's values prefix sums, which begin with the block's value of offsets.
// Parameters: values, their number, values per block, offsets (0: zero, for a single block), results,
// and where a single block leaves the sum of all (0: nowhere).
func blockScans(name string, e elem) *ir.Func {
	w := begin(name, 6)
	w.F.SharedBytes = 2 * 32 * 8
	in, n, size, offsets := w.param("in", 1), w.wordParam("n", 2), w.wordParam("size", 3), w.param("offsets", 4)
	out, all := w.param("out", 5), w.param("all", 6)
	tid, lane := w.special("tid", ir.ThreadID), w.special("lane", ir.LaneID)
	from, to := w.chunk(n, size)
	base := w.of("base", e.typ, 1)
	w.Mov(base, ir.K(0))
	w.when(ir.NE, offsets.V(), ir.K(0), func() {
		block := w.special("block", ir.BlockID)
		w.Load(base, ir.AtIndex(offsets, block, e.bytes, 0), e.bytes, false)
	})
	w.while(ir.ULT, from.V(), to.V(), func() {
		v, mine := w.loadTile(e, in, tid, from, to, ir.K(0))
		sum := w.of("sum", e.typ, 1)
		w.Mov(sum, v.V())
		for k := ir.Reg(1); k < ir.Reg(e.per); k++ {
			w.Op2(ir.Add, sum, sum.V(), (v + k).V())
		}
		before, total := w.blockScan(sum, tid, lane, warps, 0)
		w.Op2(ir.Add, before, before.V(), base.V())
		w.Op2(ir.Add, base, base.V(), total.V())
		for k := range ir.Reg(e.per) {
			w.Mov(sum, (v + k).V())
			w.Mov(v+k, before.V())
			w.Op2(ir.Add, before, before.V(), sum.V())
		}
		left := w.word("left")
		w.Op2(ir.Sub, left, to.V(), from.V())
		w.If(ir.UGE, left.V(), ir.K(e.tile()))
		w.StoreN(ir.Plain, ir.AtIndex(out, mine, e.bytes, 0), v, e.per, e.bytes)
		w.Else()
		for k := range ir.Reg(e.per) {
			w.when(ir.ULT, mine.V(), to.V(), func() { w.Store(ir.AtIndex(out, mine, e.bytes, 0), (v + k).V(), e.bytes) })
			w.Op2(ir.Add, mine, mine.V(), ir.K(1))
		}
		w.EndIf()
		w.Op2(ir.Add, from, from.V(), ir.K(e.tile()))
		w.Barrier() // shared memory is free again
	})
	w.when(ir.NE, all.V(), ir.K(0), func() {
		w.when(ir.EQ, tid.V(), ir.K(0), func() { w.Store(ir.At(all, 0), base.V(), e.bytes) })
	})
	return w.end()
}
