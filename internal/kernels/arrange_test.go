package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// byNumber arranges words by their values, which are the numbers of their counters. Counters of 8 bytes count above 16 bits that stay. Its own
// parameters: counters, words, ranks, out.
func byNumber(width int) *Arrangement {
	a := &Arrangement{Name: fmt.Sprintf("bynumber%d", width), Params: 4, Width: width}
	step, shift := int64(1), 0
	if width == 8 {
		step, shift = 1<<16, 16
	}
	count := func(b *ir.Builder, p []ir.Reg, item, rank ir.Reg) ir.Reg {
		x := b.Vreg("x", ir.I32)
		b.Load(x, ir.AtIndex(p[1], item, 4, 0), 4, false)
		if width == 4 {
			b.Atom4(ir.AtomAdd, rank, ir.AtIndex(p[0], x, 4, 0), ir.K(step), ir.Val{})
		} else {
			b.Atom(ir.AtomAdd, rank, ir.AtIndex(p[0], x, 8, 0), ir.K(step), ir.Val{})
		}
		return x
	}
	a.Count = func(b *ir.Builder, p []ir.Reg, item ir.Reg) {
		t := ir.I32
		if width == 8 {
			t = ir.I64
		}
		rank := b.Vreg("rank", t)
		x := count(b, p, item, rank)
		if width == 8 {
			b.Op2(ir.Shr, rank, rank.V(), ir.K(int64(shift)))
		}
		b.Store(ir.AtIndex(p[2], item, 4, 0), rank.V(), 4)
		b.Clear(x, rank)
	}
	a.Move = func(b *ir.Builder, p []ir.Reg, item ir.Reg) {
		x, at, rank := b.Vreg("x", ir.I32), b.Vreg("at", ir.I32), b.Vreg("rank", ir.I32)
		b.Load(x, ir.AtIndex(p[1], item, 4, 0), 4, false)
		b.Load(rank, ir.AtIndex(p[2], item, 4, 0), 4, false)
		if width == 4 {
			b.Load(at, ir.AtIndex(p[0], x, 4, 0), 4, false)
		} else {
			b.Load(at, ir.AtIndex(p[0], x, 8, 2), 2, false)
			hi := b.Vreg("hi", ir.I32)
			b.Load(hi, ir.AtIndex(p[0], x, 8, 4), 2, false)
			b.Op2(ir.Shl, hi, hi.V(), ir.K(16))
			b.Op2(ir.Or, at, at.V(), hi.V())
			b.Clear(hi)
		}
		b.Op2(ir.Add, at, at.V(), rank.V())
		b.Store(ir.AtIndex(p[3], at, 4, 0), x.V(), 4)
		b.Clear(x, at, rank)
	}
	if width == 8 {
		a.Items = func(b *ir.Builder, p []ir.Reg, x, _ ir.Reg) { b.Op2(ir.Shr, x, x.V(), ir.K(16)) }
		a.Begin = func(b *ir.Builder, p []ir.Reg, x, before ir.Reg) {
			b.Op2(ir.And, x, x.V(), ir.K(0xffff))
			b.Op2(ir.Shl, before, before.V(), ir.K(16))
			b.Op2(ir.Or, before, before.V(), x.V())
		}
	}
	return a
}

// TestArrange: all blocks together put items in order, whatever blocks run at a time and in which order.
func TestArrange(t *testing.T) {
	each(t, func(b *bench) {
		for _, width := range []int{4, 8} {
			a := byNumber(width)
			f := a.Kernel()
			ok(t, ir.Verify(f))
			text, err := device.ListGPU(f)
			ok(t, err)
			fn, err := b.dev.Load(text).Function(f.Name)
			ok(t, err)
			for _, n := range []int{1, 33, 1024, 1025, b.big} {
				for _, m := range []int{1, 7, 2048, 2049, 30_000} {
					rng := rand.New(rand.NewPCG(uint64(n), uint64(m)))
					words := make([]uint32, n)
					for i := range words {
						words[i] = uint32(rng.IntN(m))
					}
					counters := make([]uint64, m*width/8+1)
					if width == 8 {
						for i := range counters {
							counters[i] = uint64(i % 1000) // stays
						}
					}
					in, at, state := upload(b, words), upload(b, counters), upload(b, []uint64{0, 0})
					ranks, out, sums := b.alloc(4*n), b.alloc(4*n), b.alloc(b.lib.SumBytes(m))
					ok(t, b.lib.Arrange(b.s, fn, Work{Ticket: state, Done: state + 8, Items: n, Counters: at, Count: m, Sums: sums},
						uint64(at), uint64(in), uint64(ranks), uint64(out)))
					slices.Sort(words)
					wantEqual(b, fmt.Sprintf("%d items of %d numbers", n, m), download[uint32](b, out, n), words)
					if width == 8 {
						for i, x := range download[uint64](b, at, m) {
							before, _ := slices.BinarySearch(words, uint32(i))
							if x != uint64(before)<<16|uint64(i%1000) {
								t.Fatalf("%d items: counter %d of %d is %#x, %d items are before it", n, i, m, x, before)
							}
						}
					}
					b.free(in, at, state, ranks, out, sums)
				}
			}
		}
	})
}
