package kernels

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Prefix sums over many words, in two launches: blocks add up their parts, and then each begins with the sum of all parts before its own.

// prefixTile is how many words a block takes at a time: 4 of each thread, by one load.
const prefixTile = 4 * threads

// prefixSums adds up the words of each part. Parameters: words, tiles in all, tiles of a part, sums.
func prefixSums() *ir.Func {
	w := begin("prefix_sums", 4)
	w.F.SharedBytes = 32 * 8
	words, tiles, size, sums := w.param("words", 1), w.wordParam("tiles", 2), w.wordParam("size", 3), w.param("sums", 4)
	tid, lane, block := w.special("tid", ir.ThreadID), w.special("lane", ir.LaneID), w.special("block", ir.BlockID)
	from, to := w.part(block, size, tiles)
	sum := w.long("sum")
	w.Mov(sum, ir.K(0))
	w.while(ir.ULT, from.V(), to.V(), func() {
		v, _ := w.prefixWords(words, from, tid)
		for i := range ir.Reg(4) {
			x := w.long("x")
			w.Op1(ir.WidenU, x, (v + i).V())
			w.Op2(ir.Add, sum, sum.V(), x.V())
		}
		w.Op2(ir.Add, from, from.V(), ir.K(1))
	})
	_, total := w.blockScan(sum, tid, lane, warps, 0)
	w.when(ir.EQ, tid.V(), ir.K(0), func() { w.Store(ir.AtIndex(sums, block, 8, 0), total.V(), 8) })
	return w.end()
}

// prefixWords opens four words of a thread, and a register with where they are.
func (w *writer) prefixWords(words, tile, tid ir.Reg) (v, at ir.Reg) {
	v, at = w.of("v", ir.I32, 4), w.advanced("at", words, tile, 4*prefixTile)
	off := w.long("off")
	w.MulWU(off, tid.V(), ir.K(16))
	w.Op2(ir.Add, at, at.V(), off.V())
	w.LoadN(ir.Plain, v, 4, ir.At(at, 0), 4)
	return v, at
}

// prefix replaces each word by the sum of those before it. Parameters: words, tiles in all, tiles of a part, sums of the parts, of which there are so many, and where
// the sum of all goes.
func prefix() *ir.Func {
	w := begin("prefix", 6)
	w.F.SharedBytes = 32 * 8
	words, tiles, size, sums := w.param("words", 1), w.wordParam("tiles", 2), w.wordParam("size", 3), w.param("sums", 4)
	parts, all := w.wordParam("parts", 5), w.param("all", 6)
	tid, lane, block := w.special("tid", ir.ThreadID), w.special("lane", ir.LaneID), w.special("block", ir.BlockID)
	before := w.long("before")
	w.Mov(before, ir.K(0))
	i := w.word("i")
	w.Mov(i, tid.V())
	w.while(ir.ULT, i.V(), block.V(), func() {
		x := w.long("x")
		w.Load8(x, ir.AtIndex(sums, i, 8, 0))
		w.Op2(ir.Add, before, before.V(), x.V())
		w.Op2(ir.Add, i, i.V(), ir.K(threads))
	})
	_, base := w.blockScan(before, tid, lane, warps, 0)
	w.Barrier()
	from, to := w.part(block, size, tiles)
	w.while(ir.ULT, from.V(), to.V(), func() {
		v, at := w.prefixWords(words, from, tid)
		own := w.long("own")
		w.Mov(own, ir.K(0))
		for i := range ir.Reg(4) {
			x := w.long("x")
			w.Op1(ir.WidenU, x, (v + i).V())
			w.Op2(ir.Add, own, own.V(), x.V())
		}
		first, total := w.blockScan(own, tid, lane, warps, 0)
		w.Op2(ir.Add, first, first.V(), base.V())
		w.Op2(ir.Add, base, base.V(), total.V())
		sum, next := w.word("sum"), w.word("next")
		w.Op1(ir.Narrow, sum, first.V())
		for i := range ir.Reg(4) {
			w.Op2(ir.Add, next, sum.V(), (v + i).V())
			w.Mov(v+i, sum.V())
			w.Mov(sum, next.V())
		}
		w.StoreN(ir.Plain, ir.At(at, 0), v, 4, 4)
		w.Op2(ir.Add, from, from.V(), ir.K(1))
		w.Barrier() // shared memory is free again
	})
	w.Op2(ir.Sub, parts, parts.V(), ir.K(1))
	w.when(ir.EQ, block.V(), parts.V(), func() {
		w.when(ir.EQ, tid.V(), ir.K(0), func() { w.Store(ir.At(all, 0), base.V(), 8) })
	})
	return w.end()
}

// PrefixBytes is how much memory n words take for Prefix: whole tiles.
func PrefixBytes(n int64) int64 { return (n + prefixTile - 1) / prefixTile * prefixTile * 4 }

// maxPrefix is how many words can be numbered by tiles.
const maxPrefix = 1 << 40

// Prefix replaces n words of 4 bytes by the sums of those before them, and leaves the sum of all, of 8 bytes, at total. Behind the words, up to PrefixBytes of
// them, there must be zeros. What does not fit into a word is cut: total tells.
func (l *Library) Prefix(s device.Stream, words, total device.Addr, n int64) error {
	if n < 0 || n > maxPrefix {
		return fmt.Errorf("prefix: %d values are not from 0 to %d", n, int64(maxPrefix))
	}
	if err := check("prefix", 0, words); err != nil {
		return err
	}
	tiles := int(max(PrefixBytes(n)/(4*prefixTile), 0))
	if tiles == 0 {
		return s.Fill(total, 0, 8)
	}
	blocks, size := l.share(tiles, 1)
	return temporary(s, 8*blocks, func(sums device.Addr) error {
		shape := device.Shape{Blocks: blocks, Threads: threads}
		if err := l.launch(s, "prefix_sums", shape, uint64(words), uint64(tiles), uint64(size), uint64(sums)); err != nil {
			return err
		}
		return l.launch(s, "prefix", shape, uint64(words), uint64(tiles), uint64(size), uint64(sums), uint64(blocks), uint64(total))
	})
}
