package ptx

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
)

func TestSpecial(t *testing.T) {
	b := ir.NewFunc("special", ir.GPU)
	i := threadIndex(b)
	ps := pointers(b, 5)
	v := b.Vreg("v", ir.I64)
	for s := range 5 {
		b.Special(v, ir.SpecialReg(s))
		b.Store(ir.AtIndex(ps[s], i, 8, 0), v.V(), 8)
	}
	const grid, block = 3, 70
	var bufs [5][]uint64
	for s := range bufs {
		bufs[s] = make([]uint64, grid*block)
	}
	newMachine(bufs[:]...).run(t, compile1(t, b.F), grid, block)
	for i := range grid * block {
		want := []int{i % block % 32, i % block, i / block, block, grid}
		for s, w := range want {
			if bufs[s][i] != uint64(w) {
				t.Fatalf("thread %d: special %d is %d, want %d", i, s, bufs[s][i], w)
			}
		}
	}
}

// TestCollectives compares each collective with its definition, lane numbers in
// registers and as immediates.
func TestCollectives(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	in, lane := make([]uint64, 64), make([]uint64, 64)
	for i := range in {
		in[i], lane[i] = r.Uint64N(5)*0x100000001, r.Uint64N(32)
	}
	at := func(warp, l int) uint64 { return in[warp*32+l] }
	shfl := func(from func(l, b int) int) func(warp, l, b int) uint64 {
		return func(warp, l, b int) uint64 {
			j := from(l, b)
			if j < 0 || j > 31 {
				j = l
			}
			return at(warp, j)
		}
	}
	cases := []struct {
		name string
		op   ir.Op
		want func(warp, l, b int) uint64
	}{
		{"shfl", ir.Shfl, shfl(func(l, b int) int { return b })},
		{"xor", ir.ShflXor, shfl(func(l, b int) int { return l ^ b })},
		{"up", ir.ShflUp, shfl(func(l, b int) int { return l - b })},
		{"down", ir.ShflDown, shfl(func(l, b int) int { return l + b })},
		{"ballot", ir.Ballot, func(warp, _, _ int) (m uint64) {
			for l := range 32 {
				m |= bool64(at(warp, l) != 0) << l
			}
			return m
		}},
		{"match", ir.Match, func(warp, me, _ int) (m uint64) {
			for l := range 32 {
				m |= bool64(at(warp, l) == at(warp, me)) << l
			}
			return m
		}},
	}
	for _, c := range cases {
		for immediate := -1; immediate < 32; immediate += 8 {
			b := ir.NewFunc(c.name, ir.GPU)
			i := threadIndex(b)
			ps := pointers(b, 3)
			v, l := b.Vreg("v", ir.I64), b.Vreg("lane", ir.I64)
			b.Load8(l, ir.AtIndex(ps[1], i, 8, 0))
			by := l.V()
			if immediate >= 0 {
				by = ir.K(int64(immediate))
			}
			b.Load8(v, ir.AtIndex(ps[0], i, 8, 0))
			if c.op == ir.Ballot || c.op == ir.Match {
				b.Op1(c.op, v, v.V())
			} else {
				b.Op2(c.op, v, v.V(), by)
			}
			b.Store(ir.AtIndex(ps[2], i, 8, 0), v.V(), 8)
			out := make([]uint64, 64)
			newMachine(in, lane, out).run(t, compile1(t, b.F), 1, 64)
			for k := range out {
				by := int(lane[k])
				if immediate >= 0 {
					by = immediate
				}
				if want := c.want(k/32, k%32, by); out[k] != want {
					t.Fatalf("%s by %d: lane %d has %#x, want %#x", c.name, by, k, out[k], want)
				}
			}
		}
	}
}

// TestWarpReduction sums by a shuffle tree, one atomic per warp.
func TestWarpReduction(t *testing.T) {
	b := ir.NewFunc("warp_sum", ir.GPU)
	i := threadIndex(b)
	ps := pointers(b, 2)
	sum, other, lane := b.Vreg("sum", ir.I64), b.Vreg("other", ir.I64), b.Vreg("lane", ir.I64)
	b.Load8(sum, ir.AtIndex(ps[0], i, 8, 0))
	for step := int64(16); step > 0; step /= 2 {
		b.Op2(ir.ShflXor, other, sum.V(), ir.K(step))
		b.Op2(ir.Add, sum, sum.V(), other.V())
	}
	b.Special(lane, ir.LaneID)
	b.If(ir.EQ, lane.V(), ir.K(0))
	b.Atom(ir.AtomAdd, other, ir.At(ps[1], 0), sum.V(), ir.Val{})
	b.EndIf()
	in, out := make([]uint64, 4*128), make([]uint64, 1)
	want := uint64(0)
	for k := range in {
		in[k] = uint64(k * k)
		want += in[k]
	}
	s := newMachine(in, out).run(t, compile1(t, b.F), 4, 128)
	if out[0] != want || s.Atomics != 16 {
		t.Fatalf("sum %d with %d atomics, want %d with 16", out[0], s.Atomics, want)
	}
}

// TestCompaction writes the survivors of a filter densely: ballot, popcount of
// the lanes below, one atomic by the first lane, shuffled to all.
func TestCompaction(t *testing.T) {
	b := ir.NewFunc("compact", ir.GPU)
	i := threadIndex(b)
	ps := pointers(b, 3) // in, out, count
	v, keep, mask, lane := b.Vreg("v", ir.I64), b.Vreg("keep", ir.I64), b.Vreg("mask", ir.I64), b.Vreg("lane", ir.I64)
	below, pos, total := b.Vreg("below", ir.I64), b.Vreg("pos", ir.I64), b.Vreg("total", ir.I64)
	b.Load8(v, ir.AtIndex(ps[0], i, 8, 0))
	b.Set(keep, ir.ULT, v.V(), ir.K(300))
	b.Op1(ir.Ballot, mask, keep.V())
	b.Special(lane, ir.LaneID)
	b.Op2(ir.Shl, below, ir.K(-1), lane.V())
	b.Op1(ir.Not, below, below.V())
	b.Op2(ir.And, below, below.V(), mask.V())
	b.Op1(ir.Popcnt, below, below.V())
	b.Op1(ir.Popcnt, total, mask.V())
	b.Mov(pos, ir.K(0))
	b.If(ir.EQ, lane.V(), ir.K(0))
	b.Atom(ir.AtomAdd, pos, ir.At(ps[2], 0), total.V(), ir.Val{})
	b.EndIf()
	b.Op2(ir.Shfl, pos, pos.V(), ir.K(0))
	b.If(ir.NE, keep.V(), ir.K(0))
	b.Op2(ir.Add, pos, pos.V(), below.V())
	b.Store(ir.AtIndex(ps[1], pos, 8, 0), v.V(), 8)
	b.EndIf()
	r := rand.New(rand.NewPCG(5, 6))
	in, out, count := make([]uint64, 512), make([]uint64, 512), make([]uint64, 1)
	var want []uint64
	for k := range in {
		in[k] = r.Uint64N(1000)
		if in[k] < 300 {
			want = append(want, in[k])
		}
	}
	newMachine(in, out, count).run(t, compile1(t, b.F), 4, 128)
	if count[0] != uint64(len(want)) {
		t.Fatalf("%d rows, want %d", count[0], len(want))
	}
	for k := range want {
		if out[k] != want[k] {
			t.Fatalf("row %d is %d, want %d", k, out[k], want[k])
		}
	}
}

// TestBlockScan is an exclusive prefix sum over a block in shared memory
// (Hillis and Steele, two barriers a round).
func TestBlockScan(t *testing.T) {
	const block = 256
	b := ir.NewFunc("block_scan", ir.GPU)
	b.F.SharedBytes = 8 * block
	i := threadIndex(b)
	ps := pointers(b, 2)
	tid, v, x, step := b.Vreg("tid", ir.I64), b.Vreg("v", ir.I64), b.Vreg("x", ir.I64), b.Vreg("step", ir.I64)
	b.Special(tid, ir.ThreadID)
	b.Load8(v, ir.AtIndex(ps[0], i, 8, 0))
	mine := ir.Mem{Base: ir.NoReg, Index: tid, Scale: 8, Space: ir.Shared}
	b.Store(mine, v.V(), 8)
	b.Barrier()
	b.Mov(step, ir.K(1))
	l := b.Loop()
	{
		from := b.Vreg("from", ir.I64)
		b.Load8(x, mine)
		b.If(ir.GE, tid.V(), step.V())
		y := b.Vreg("y", ir.I64)
		b.Op2(ir.Sub, from, tid.V(), step.V())
		b.Load8(y, ir.Mem{Base: ir.NoReg, Index: from, Scale: 8, Space: ir.Shared})
		b.Op2(ir.Add, x, x.V(), y.V())
		b.Clear(y)
		b.EndIf()
		b.Barrier()
		b.Store(mine, x.V(), 8)
		b.Barrier()
		b.Op2(ir.Shl, step, step.V(), ir.K(1))
		b.Clear(from)
	}
	b.EndLoop(l, ir.LT, step.V(), ir.K(block))
	b.Load8(x, mine)
	b.Op2(ir.Sub, x, x.V(), v.V())
	b.Store(ir.AtIndex(ps[1], i, 8, 0), x.V(), 8)
	in, out := make([]uint64, 2*block), make([]uint64, 2*block)
	for k := range in {
		in[k] = uint64(bits.Reverse8(uint8(k)))
	}
	s := newMachine(in, out).run(t, compile1(t, b.F), 2, block)
	sum := uint64(0)
	for k := range in {
		if k%block == 0 {
			sum = 0
		}
		if out[k] != sum {
			t.Fatalf("element %d is %d, want %d", k, out[k], sum)
		}
		sum += in[k]
	}
	if s.Barriers != 2*17 {
		t.Errorf("%d barriers, want 34", s.Barriers)
	}
}

// TestFloatSum adds floats with atomics in a fixed order, so that the result is
// that of a loop.
func TestFloatSum(t *testing.T) {
	b := ir.NewFunc("fsum", ir.GPU)
	i := threadIndex(b)
	ps := pointers(b, 2)
	x := b.Vreg("x", ir.F64)
	b.FLoad(x, ir.AtIndex(ps[0], i, 8, 0), 8)
	b.Atom(ir.AtomFAdd, x, ir.At(ps[1], 0), x.V(), ir.Val{})
	in, out := make([]uint64, 100), make([]uint64, 1)
	want := 0.0
	for k := range in {
		f := 1 / float64(k+1)
		in[k] = math.Float64bits(f)
		want += f
	}
	newMachine(in, out).run(t, compile1(t, b.F), 10, 10)
	if out[0] != math.Float64bits(want) {
		t.Fatalf("%v, want %v", math.Float64frombits(out[0]), want)
	}
}
