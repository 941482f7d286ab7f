package kernels

import "github.com/kelpiedb/kelpie/internal/ir"

// A radix sort from the lowest digit of 8 bits to the highest. Each pass keeps the order of equal
// digits: blocks count the digits of their shares, a prefix sum over the counts (all blocks' zeros, then
// all blocks' ones, …) says where each block's keys of each digit go, and blocks move them there.

const (
	digitBits = 8
	digits    = 1 << digitBits

	// rounds is how many keys each thread has of a tile of the second kernel.
	rounds   = 8
	moveTile = rounds * threads

	// Counters in shared memory, a row for each warp. One more digit counts what is behind the end.
	counterRow   = 4 * (digits + 8)
	countersSize = warps * counterRow
)

// place of a digit in a key: its lowest bit, and its bits when that is the lowest.
type digit struct{ shift, mask ir.Reg }

// digit writes d = the digit of a key.
func (w *writer) digit(d, key ir.Reg, at digit) {
	w.scope(func() {
		k := w.long("shifted")
		w.Op2(ir.Shr, k, key.V(), at.shift.V())
		w.Op1(ir.Narrow, d, k.V())
		w.Op2(ir.And, d, d.V(), at.mask.V())
	})
}

// warpRow opens a register with the address of the own warp's counters.
func (w *writer) warpRow(tid ir.Reg) ir.Reg {
	row := w.word("row")
	w.Op2(ir.Shr, row, tid.V(), ir.K(5))
	w.Op2(ir.Mul, row, row.V(), ir.K(counterRow))
	return row
}

func counter(row, d ir.Reg) ir.Mem {
	return ir.Mem{Base: row, Index: d, Scale: 4, Space: ir.Shared}
}

// digitCounts counts the digits of each block's keys. Parameters: keys, their number, keys per block,
// the digit's lowest bit and mask, counts (by digit, then by block).
func digitCounts() *ir.Func {
	e := elemOf(8)
	w := begin("digitcounts", 6)
	w.F.SharedBytes = countersSize
	keys, n, size := w.param("keys", 1), w.wordParam("n", 2), w.wordParam("size", 3)
	at, counts := digit{w.wordParam("shift", 4), w.wordParam("mask", 5)}, w.param("counts", 6)
	tid := w.special("tid", ir.ThreadID)
	row := w.warpRow(tid)
	from, to := w.chunk(n, size)
	for k := range warps {
		w.Store(sharedIndex(tid, 4, k*counterRow), ir.K(0), 4)
	}
	w.Barrier()
	w.while(ir.ULT, from.V(), to.V(), func() {
		v, mine := w.loadTile(e, keys, tid, from, to, ir.K(0))
		d, old := w.word("d"), w.word("old")
		for k := range ir.Reg(e.per) {
			w.when(ir.ULT, mine.V(), to.V(), func() {
				w.digit(d, v+k, at)
				w.Atom4(ir.AtomAdd, old, counter(row, d), ir.K(1), ir.Val{})
			})
			w.Op2(ir.Add, mine, mine.V(), ir.K(1))
		}
		w.Op2(ir.Add, from, from.V(), ir.K(e.tile()))
	})
	w.Barrier()
	sum, one := w.word("sum"), w.word("one")
	w.Mov(sum, ir.K(0))
	for k := range warps {
		w.Load(one, sharedIndex(tid, 4, k*counterRow), 4, false)
		w.Op2(ir.Add, sum, sum.V(), one.V())
	}
	w.Store(ir.AtIndex(counts, w.countIndex(tid), 4, 0), sum.V(), 4)
	return w.end()
}

// countIndex opens a register with the place of a digit's count of this block.
func (w *writer) countIndex(d ir.Reg) ir.Reg {
	at, block := w.special("at", ir.GridDim), w.special("block", ir.BlockID)
	w.Op2(ir.Mul, at, at.V(), d.V())
	w.Op2(ir.Add, at, at.V(), block.V())
	return at
}

// movePairs moves each block's keys and their values to where their digits begin. Parameters: keys,
// values, their number, how many per block, the digit's lowest bit and mask, where each block's keys of
// each digit begin (as counts), keys and values of the result.
func movePairs() *ir.Func {
	w := begin("movepairs", 9)
	const starts = countersSize // in shared memory: where the next key of each digit goes
	w.F.SharedBytes = countersSize + 4*digits
	keys, values, n, size := w.param("keys", 1), w.param("values", 2), w.wordParam("n", 3), w.wordParam("size", 4)
	at, offsets := digit{w.wordParam("shift", 5), w.wordParam("mask", 6)}, w.param("offsets", 7)
	outKeys, outValues := w.param("outkeys", 8), w.param("outvalues", 9)
	tid, lane, below := w.special("tid", ir.ThreadID), w.special("lane", ir.LaneID), w.special("below", ir.LanesBelow)
	row := w.warpRow(tid)
	from, to := w.chunk(n, size)
	w.scope(func() {
		start := w.word("start")
		w.Load(start, ir.AtIndex(offsets, w.countIndex(tid), 4, 0), 4, false)
		w.Store(sharedIndex(tid, 4, starts), start.V(), 4)
	})
	w.while(ir.ULT, from.V(), to.V(), func() {
		for k := range warps {
			w.Store(sharedIndex(tid, 4, k*counterRow), ir.K(0), 4)
		}
		w.when(ir.ULT, tid.V(), ir.K(warps), func() {
			end := w.word("end")
			w.Op2(ir.Mul, end, tid.V(), ir.K(counterRow))
			w.Store(ir.Mem{Base: end, Index: ir.NoReg, Scale: 1, Disp: 4 * digits, Space: ir.Shared}, ir.K(0), 4)
		})
		w.Barrier()

		// A warp has 32 × rounds keys in a row, and takes 32 at a time: key k of a thread.
		first := w.word("first")
		w.Op2(ir.Sub, first, tid.V(), lane.V())
		w.Op2(ir.Mul, first, first.V(), ir.K(rounds))
		w.Op2(ir.Add, first, first.V(), lane.V())
		w.Op2(ir.Add, first, first.V(), from.V())
		key, place := w.of("key", ir.I64, rounds), w.of("place", ir.I32, rounds)
		i, d := w.word("i"), w.word("d")
		for k := range ir.Reg(rounds) {
			w.Op2(ir.Add, i, first.V(), ir.K(32*int64(k)))
			w.Mov(key+k, ir.K(0))
			w.when(ir.ULT, i.V(), to.V(), func() { w.Load(key+k, ir.AtIndex(keys, i, 8, 0), 8, false) })
		}
		for k := range ir.Reg(rounds) {
			w.Op2(ir.Add, i, first.V(), ir.K(32*int64(k)))
			w.digit(d, key+k, at)
			w.Sel(d, ir.ULT, i.V(), to.V(), d.V(), ir.K(digits))
			w.rank(place+k, d, row, lane, below)
		}
		w.Barrier()
		w.placeCounters(tid, starts)
		w.Barrier()
		for k := range ir.Reg(rounds) {
			w.Op2(ir.Add, i, first.V(), ir.K(32*int64(k)))
			w.when(ir.ULT, i.V(), to.V(), func() {
				to, value := w.word("to"), w.word("value")
				w.Load(value, ir.AtIndex(values, i, 4, 0), 4, false)
				w.digit(d, key+k, at)
				w.Load(to, counter(row, d), 4, false)
				w.Op2(ir.Add, to, to.V(), (place + k).V())
				w.Store(ir.AtIndex(outKeys, to, 8, 0), (key + k).V(), 8)
				w.Store(ir.AtIndex(outValues, to, 4, 0), value.V(), 4)
			})
		}
		w.Op2(ir.Add, from, from.V(), ir.K(moveTile))
		w.Barrier() // counters are free again
	})
	return w.end()
}

// rank writes how many keys of this digit the warp has counted before this lane's, and counts the
// lanes' keys. The lowest lane with a digit counts for all with the same; that it hands out what was
// there keeps the next round behind it.
func (w *writer) rank(place, d, row, lane, below ir.Reg) {
	w.scope(func() {
		same, leader, all := w.word("same"), w.word("leader"), w.word("all")
		w.Op1(ir.Match, same, d.V())
		w.Op1(ir.Ctz, leader, same.V())
		w.Op1(ir.Popcnt, all, same.V())
		w.Op2(ir.And, same, same.V(), below.V())
		w.Op1(ir.Popcnt, same, same.V())
		w.Mov(place, ir.K(0))
		w.when(ir.EQ, lane.V(), leader.V(), func() { w.Atom4(ir.AtomAdd, place, counter(row, d), all.V(), ir.Val{}) })
		w.Op2(ir.Shfl, place, place.V(), leader.V())
		w.Op2(ir.Add, place, place.V(), same.V())
	})
}

// placeCounters makes the warps' counts of a digit, which is the thread's number, the places where
// their keys begin.
func (w *writer) placeCounters(tid ir.Reg, starts int) {
	w.scope(func() {
		next, one := w.word("next"), w.word("one")
		w.Load(next, sharedIndex(tid, 4, starts), 4, false)
		for k := range warps {
			w.Load(one, sharedIndex(tid, 4, k*counterRow), 4, false)
			w.Store(sharedIndex(tid, 4, k*counterRow), next.V(), 4)
			w.Op2(ir.Add, next, next.V(), one.V())
		}
		w.Store(sharedIndex(tid, 4, starts), next.V(), 4)
	})
}
