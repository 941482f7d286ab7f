package ptx

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/simt"
)

func word1(f func(x uint32) uint32) func([]uint64) ([]uint64, bool) {
	return func(in []uint64) ([]uint64, bool) { return []uint64{uint64(f(uint32(in[0])))}, false }
}

func word2(f func(x, y int32) int32) func([]uint64) ([]uint64, bool) {
	return func(in []uint64) ([]uint64, bool) {
		return []uint64{uint64(uint32(f(int32(in[0]), int32(in[1]))))}, false
	}
}

// wordCases are the operations on 32-bit registers.
func wordCases() []opCase {
	op1 := func(op ir.Op) func(*ir.Builder, []ir.Reg, []ir.Val) {
		return func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Op1(op, d[0], in[0]) }
	}
	op2 := func(op ir.Op) func(*ir.Builder, []ir.Reg, []ir.Val) {
		return func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Op2(op, d[0], in[0], in[1]) }
	}
	divisible := func(in []uint64) bool { return in[1] != 0 && !(int32(in[0]) == math.MinInt32 && int32(in[1]) == -1) }
	cases := []opCase{
		{name: "mov32", in: "w", out: "w", emit: op1(ir.Mov), ref: word1(func(x uint32) uint32 { return x })},
		{name: "uniform32", in: "w", out: "w", emit: op1(ir.Uniform), ref: word1(func(x uint32) uint32 { return x })},
		{name: "uniform", in: "i", out: "i", emit: op1(ir.Uniform), ref: int1(func(x uint64) uint64 { return x })},
		{name: "add32", in: "ww", out: "w", emit: op2(ir.Add), ref: word2(func(x, y int32) int32 { return x + y })},
		{name: "sub32", in: "ww", out: "w", emit: op2(ir.Sub), ref: word2(func(x, y int32) int32 { return x - y })},
		{name: "mul32", in: "ww", out: "w", emit: op2(ir.Mul), ref: word2(func(x, y int32) int32 { return x * y })},
		{name: "div32", in: "ww", out: "w", emit: op2(ir.Div), ok: divisible, ref: word2(func(x, y int32) int32 { return x / y })},
		{name: "rem32", in: "ww", out: "w", emit: op2(ir.Rem), ok: divisible, ref: word2(func(x, y int32) int32 { return x % y })},
		{name: "and32", in: "ww", out: "w", emit: op2(ir.And), ref: word2(func(x, y int32) int32 { return x & y })},
		{name: "or32", in: "ww", out: "w", emit: op2(ir.Or), ref: word2(func(x, y int32) int32 { return x | y })},
		{name: "xor32", in: "ww", out: "w", emit: op2(ir.Xor), ref: word2(func(x, y int32) int32 { return x ^ y })},
		{name: "shl32", in: "ww", out: "w", emit: op2(ir.Shl), ref: word2(func(x, y int32) int32 { return x << (y & 31) })},
		{name: "shr32", in: "ww", out: "w", emit: op2(ir.Shr), ref: word2(func(x, y int32) int32 { return int32(uint32(x) >> (y & 31)) })},
		{name: "sar32", in: "wi", out: "w", emit: op2(ir.Sar), ref: word2(func(x, y int32) int32 { return x >> (y & 31) })},
		{name: "shl64by32", in: "iw", out: "i", emit: op2(ir.Shl), ref: int2(func(x, y int64) int64 { return x << (y & 63) })},
		{name: "neg32", in: "w", out: "w", emit: op1(ir.Neg), ref: word1(func(x uint32) uint32 { return -x })},
		{name: "not32", in: "w", out: "w", emit: op1(ir.Not), ref: word1(func(x uint32) uint32 { return ^x })},
		{name: "popcnt32", in: "w", out: "w", emit: op1(ir.Popcnt), ref: word1(func(x uint32) uint32 { return uint32(bits.OnesCount32(x)) })},
		{name: "ctz32", in: "w", out: "w", emit: op1(ir.Ctz), ref: word1(func(x uint32) uint32 { return uint32(bits.TrailingZeros32(x)) })},
		{name: "clz32", in: "w", out: "w", emit: op1(ir.Clz), ref: word1(func(x uint32) uint32 { return uint32(bits.LeadingZeros32(x)) })},
		{name: "narrow", in: "i", out: "w", emit: op1(ir.Narrow), ref: int1(func(x uint64) uint64 { return x & math.MaxUint32 })},
		{name: "widen", in: "w", out: "i", emit: op1(ir.Widen), ref: int1(func(x uint64) uint64 { return uint64(int64(int32(x))) })},
		{name: "widenu", in: "w", out: "i", emit: op1(ir.WidenU), ref: int1(func(x uint64) uint64 { return x })},
		{name: "mulw", in: "ww", out: "i", emit: op2(ir.MulW), ref: int2(func(x, y int64) int64 { return int64(int32(x)) * int64(int32(y)) })},
		{name: "mulwu", in: "ww", out: "i", emit: op2(ir.MulWU), ref: int2(func(x, y int64) int64 { return x * y })},
		{name: "i2f32", in: "w", out: "f", regs: true, emit: op1(ir.I2F), ref: int1(func(x uint64) uint64 { return math.Float64bits(float64(int32(x))) })},
		{name: "u2f32", in: "w", out: "f", regs: true, emit: op1(ir.U2F), ref: int1(func(x uint64) uint64 { return math.Float64bits(float64(uint32(x))) })},
	}
	for c := ir.EQ; c <= ir.UGE; c++ {
		holds32 := func(x, y uint64) bool {
			if c >= ir.ULT {
				return holds(c, int64(x), int64(y))
			}
			return holds(c, int64(int32(x)), int64(int32(y)))
		}
		pick := func(in []uint64) ([]uint64, bool) {
			if holds32(in[0], in[1]) {
				return in[2:3], false
			}
			return in[3:4], false
		}
		sel := func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Sel(d[0], c, in[0], in[1], in[2], in[3]) }
		set := func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Set(d[0], c, in[0], in[1]) }
		truth := func(in []uint64) ([]uint64, bool) { return []uint64{bool64(holds32(in[0], in[1]))}, false }
		// Where both sides of a comparison are constants, they are I64: such variants are left out.
		cases = append(cases,
			opCase{name: fmt.Sprintf("set32_%d", c), in: "ww", out: "w", regs: true, emit: set, ref: truth},
			opCase{name: fmt.Sprintf("set32to64_%d", c), in: "ww", out: "i", regs: true, emit: set, ref: truth},
			opCase{name: fmt.Sprintf("set32imm_%d", c), in: "w", out: "w", regs: true,
				emit: func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Set(d[0], c, ir.K(-5), in[0]) },
				ref:  func(in []uint64) ([]uint64, bool) { return truth([]uint64{math.MaxUint32 - 4, in[0]}) }},
			opCase{name: fmt.Sprintf("sel32_%d", c), in: "wwii", out: "i", regs: true, emit: sel, ref: pick},
			opCase{name: fmt.Sprintf("sel64to32_%d", c), in: "iiww", out: "w", emit: sel, ref: func(in []uint64) ([]uint64, bool) {
				if holds(c, int64(in[0]), int64(in[1])) {
					return in[2:3], false
				}
				return in[3:4], false
			}})
	}
	for _, p := range []struct{ from, w int }{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {0, 2}, {1, 2}, {2, 2}} {
		for _, signed := range []bool{false, true} {
			cases = append(cases, opCase{name: fmt.Sprintf("part%d_%d_%v", p.from, p.w, signed), in: "w", out: "w",
				emit: func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Part(d[0], in[0], p.from, p.w, signed) },
				ref: word1(func(x uint32) uint32 {
					up := 32 - 8*p.w
					x = x >> (8 * p.from) << up
					if signed {
						return uint32(int32(x) >> up)
					}
					return x >> up
				})})
		}
	}
	return cases
}

// wordIndex opens a word with the thread's number in the grid.
func wordIndex(b *ir.Builder) ir.Reg {
	i, n := b.Vreg("i", ir.I32), b.Vreg("n", ir.I32)
	b.Special(i, ir.BlockID)
	b.Special(n, ir.BlockDim)
	b.Op2(ir.Mul, i, i.V(), n.V())
	b.Special(n, ir.ThreadID)
	b.Op2(ir.Add, i, i.V(), n.V())
	return i
}

// param opens a register with a parameter.
func param(b *ir.Builder, i int) ir.Reg {
	r := b.Vreg(fmt.Sprintf("p%d", i), ir.I64)
	b.Param(r, i)
	return r
}

// wideAccess copies n words per thread from parameter 1 to parameter 2, each word plus one, in all
// kinds of loads and stores of several values.
func wideAccess(name string, n int) *ir.Func {
	b := ir.NewFunc(name, ir.GPU)
	b.F.Params = 2
	i := wordIndex(b)
	from, to := param(b, 1), param(b, 2)
	b.Op2(ir.Mul, i, i.V(), ir.K(int64(n)))
	w := b.Vregs("w", ir.I32, n)
	for _, k := range []ir.MemKind{ir.Plain, ir.ReadOnly, ir.Once} {
		b.LoadN(k, w, n, ir.AtIndex(from, i, 4, 0), 4)
	}
	for k := range ir.Reg(n) {
		b.Op2(ir.Add, w+k, (w + k).V(), ir.K(1))
	}
	for _, k := range []ir.MemKind{ir.Plain, ir.Once} {
		b.StoreN(k, ir.AtIndex(to, i, 4, 0), w, n, 4)
	}
	return b.F
}

func TestWideAccess(t *testing.T) {
	const threads = 96
	for _, n := range []int{2, 4} {
		f := wideAccess("wide", n)
		text, ks := compile(t, f)
		in, out := make([]uint64, threads*n/2+1), make([]uint64, threads*n/2+1)
		for i := range in {
			in[i] = uint64(2*i+1)<<32 | uint64(2*i)
		}
		m := newMachine(in, out)
		m.params = []uint64{uint64(addrOf(in)), uint64(addrOf(out))}
		// The buffers begin at multiples of 8; an access of 16 bytes needs one of 16.
		if n == 4 && m.params[0]%16 != 0 {
			m.params[0] += 8
		}
		if n == 4 && m.params[1]%16 != 0 {
			m.params[1] += 8
		}
		s := m.run(t, ks[0], 3, 32)
		src := wordsAt(in, (m.params[0]-uint64(addrOf(in)))/4)
		for i, v := range wordsAt(out, (m.params[1]-uint64(addrOf(out)))/4)[:threads*n] {
			if v != src[i]+1 {
				t.Fatalf("%d values: word %d is %d, want %d\n%s", n, i, v, src[i]+1, text)
			}
		}
		// Per warp and access 32 lanes of 4n bytes; three loads and two stores.
		sectors := uint64(3 * 4 * n)
		if at := m.params[0] % 32; at != 0 {
			sectors += 3
		}
		if s.SectorsRead != 3*sectors {
			t.Errorf("%d values: %d sectors read, want %d", n, s.SectorsRead, 3*sectors)
		}
	}
	// Two values of 8 bytes.
	b := ir.NewFunc("pairs", ir.GPU)
	b.F.Params = 1
	i, p, w := wordIndex(b), param(b, 1), b.Vregs("w", ir.I64, 2)
	at := b.Vreg("at", ir.I64)
	b.Op2(ir.Mul, i, i.V(), ir.K(2))
	b.Lea(at, ir.AtIndex(p, i, 8, 0))
	b.LoadN(ir.ReadOnly, w, 2, ir.At(at, 0), 8)
	b.StoreN(ir.Plain, ir.At(at, 0), w, 2, 8)
	b.Op2(ir.Add, w, w.V(), (w + 1).V())
	b.Store(ir.At(at, 8), w.V(), 8)
	buf := make([]uint64, 131)
	for i := range buf {
		buf[i] = uint64(i)
	}
	m := newMachine(buf)
	m.params = []uint64{(uint64(addrOf(buf)) + 15) &^ 15}
	m.run(t, compile1(t, b.F), 1, 64)
	first := (m.params[0] - uint64(addrOf(buf))) / 8
	for i := range uint64(64) {
		if lo, hi := buf[first+2*i], buf[first+2*i+1]; lo != first+2*i || hi != 2*(first+2*i)+1 {
			t.Fatalf("pair %d is %d and %d", i, lo, hi)
		}
	}
}

func wordsAt(b []uint64, from uint64) []uint32 {
	var ws []uint32
	for _, x := range b {
		ws = append(ws, uint32(x), uint32(x>>32))
	}
	return ws[from:]
}

// wordsOfAll uses what else there is: atomics of 4 bytes in all spaces, kinds of scalar accesses,
// reductions, parameters as words.
func wordsOfAll() *ir.Func {
	b := ir.NewFunc("words", ir.GPU)
	b.F.SharedBytes, b.F.Params = 64, 2
	i, p := wordIndex(b), param(b, 1)
	v, f := b.Vreg("v", ir.I32), b.Vreg("f", ir.F64)
	b.Param(v, 2)
	for _, m := range []ir.Mem{ir.At(p, 4), ir.AtIndex(p, i, 4, 16),
		{Base: ir.NoReg, Index: ir.NoReg, Disp: 8, Space: ir.Shared}, {Base: v, Index: ir.NoReg, Scale: 1, Disp: 8, Space: ir.Shared},
		{Base: ir.NoReg, Index: i, Scale: 4, Space: ir.Dynamic}, {Base: p, Index: i, Scale: 8, Disp: -8, Space: ir.Dynamic}} {
		for op := ir.AtomAdd; op <= ir.AtomCAS; op++ {
			b.Atom4(op, v, m, i.V(), v.V())
			b.Atom4(op, v, m, ir.K(-7), ir.K(1<<32-1))
		}
		for _, w := range []int{1, 2, 4} {
			b.Load(v, m, w, true)
			b.Store(m, v.V(), w)
		}
	}
	for _, k := range []ir.MemKind{ir.ReadOnly, ir.Once, ir.Relaxed, ir.Ordered} {
		b.LoadAs(k, v, ir.At(p, 0), 4, false)
		if k != ir.ReadOnly {
			b.StoreAs(k, ir.At(p, 0), v.V(), 4)
			b.StoreAs(k, ir.At(p, 0), ir.K(3), 8)
		}
	}
	b.FLoad(f, ir.At(p, 0), 8)
	for op := ir.RedAdd; op <= ir.RedOr; op++ {
		b.Op1(op, v, v.V())
		b.Op1(op, v, ir.K(3))
	}
	b.Op1(ir.Match, v, i.V())
	b.Op1(ir.Ballot, v, i.V())
	for op := ir.Shfl; op <= ir.ShflDown; op++ {
		b.Op2(op, v, v.V(), i.V())
		b.Op2(op, v, v.V(), ir.K(3))
	}
	b.Special(v, ir.LanesBelow)
	return b.F
}

// TestParams: words by value, whole and in part, without a context.
func TestParams(t *testing.T) {
	b := ir.NewFunc("params", ir.GPU)
	b.F.Params = 3
	out, x, y := param(b, 1), param(b, 2), b.Vreg("y", ir.I32)
	b.Param(y, 3)
	b.Store(ir.At(out, 0), x.V(), 8)
	b.Store(ir.At(out, 8), y.V(), 4)
	buf := make([]uint64, 2)
	m := newMachine(buf)
	m.params = []uint64{uint64(addrOf(buf)), 1<<63 | 5, 7<<32 | 9}
	text, ks := compile(t, b.F)
	m.run(t, ks[0], 1, 1)
	if buf[0] != 1<<63|5 || buf[1] != 9 {
		t.Errorf("%x", buf)
	}
	if !strings.Contains(text, "(.param .u64 ctx, .param .u64 p1, .param .u64 p2, .param .u64 p3)") {
		t.Error(text)
	}
}

// TestWordAtomics: cells of 4 bytes in all spaces; neighbours are left alone.
func TestWordAtomics(t *testing.T) {
	const threads = 64
	for _, space := range []ir.Space{ir.Global, ir.Shared, ir.Dynamic} {
		b := ir.NewFunc("atomics", ir.GPU)
		b.F.Params = 1
		out, id := param(b, 1), b.Vreg("id", ir.I32)
		b.Special(id, ir.ThreadID)
		cell := func(i int) ir.Mem { return ir.At(out, 4*i) }
		if space != ir.Global {
			b.F.SharedBytes = 64
			cell = func(i int) ir.Mem {
				return ir.Mem{Base: ir.NoReg, Index: ir.NoReg, Scale: 1, Disp: int32(4 * i), Space: space}
			}
			v := b.Vreg("v", ir.I32)
			b.If(ir.EQ, id.V(), ir.K(0))
			for i := range 12 {
				b.Load(v, ir.At(out, 4*i), 4, false)
				b.Store(cell(i), v.V(), 4)
			}
			b.EndIf()
			b.Barrier()
		}
		old := b.Vreg("old", ir.I32)
		b.Atom4(ir.AtomAdd, old, cell(0), id.V(), ir.Val{})
		b.Atom4(ir.AtomMin, old, cell(2), id.V(), ir.Val{})
		b.Atom4(ir.AtomMax, old, cell(4), id.V(), ir.Val{})
		b.Atom4(ir.AtomOr, old, cell(6), id.V(), ir.Val{})
		b.Atom4(ir.AtomExch, old, cell(8), ir.K(77), ir.Val{})
		b.Atom4(ir.AtomCAS, old, cell(10), ir.K(-1), id.V())
		if space != ir.Global {
			v := b.Vreg("v", ir.I32)
			b.Barrier()
			b.If(ir.EQ, id.V(), ir.K(0))
			for i := range 12 {
				b.Load(v, cell(i), 4, false)
				b.Store(ir.At(out, 4*i), v.V(), 4)
			}
			b.EndIf()
		}
		buf := make([]uint64, 6)
		for i := range buf {
			buf[i] = 1<<63 | math.MaxUint32
		}
		buf[0] &^= 1 // -2
		m := newMachine(buf)
		m.params, m.shared = []uint64{uint64(addrOf(buf))}, 48
		s := m.run(t, compile1(t, b.F), 1, threads)
		got := wordsAt(buf, 0)
		want := []uint32{63*64/2 - 2, math.MaxUint32, 63, math.MaxUint32, 77, 0}
		for i, w := range want {
			if got[2*i] != w && !(i == 5 && got[2*i] < threads) || got[2*i+1] != 1<<31 {
				t.Errorf("space %d: cell %d is %#x and its neighbour %#x, want %#x", space, i, got[2*i], got[2*i+1], w)
			}
		}
		if space == ir.Global && s.Atomics != 6*threads || space != ir.Global && s.SharedAtomics != 6*threads {
			t.Errorf("space %d: %d and %d atomics", space, s.Atomics, s.SharedAtomics)
		}
	}
}

// TestReductions: both forms give the same, one in one instruction.
func TestReductions(t *testing.T) {
	for op, want := range map[ir.Op]uint32{ir.RedAdd: 3*31*32/2 - 40*32, ir.RedMin: ^uint32(39), ir.RedMax: 3*31 - 40, ir.RedOr: math.MaxUint32} {
		var runs []simt.Stats
		for _, arch := range []int{70, 90} {
			b := ir.NewFunc("reduce", ir.GPU)
			b.F.Params = 1
			out, v := param(b, 1), b.Vreg("v", ir.I32)
			id := wordIndex(b)
			b.Op2(ir.Mul, v, id.V(), ir.K(3))
			b.Op2(ir.Sub, v, v.V(), ir.K(40))
			b.Op1(op, v, v.V())
			b.Store(ir.AtIndex(out, id, 4, 0), v.V(), 4)
			buf := make([]uint64, 16)
			m := newMachine(buf)
			m.params = []uint64{uint64(addrOf(buf))}
			text, ks := compileFor(t, arch, b.F)
			runs = append(runs, m.run(t, ks[0], 1, 32))
			for lane, got := range wordsAt(buf, 0) {
				if got != want {
					t.Errorf("%s on sm_%d: lane %d has %#x, want %#x", op, arch, lane, got, want)
					break
				}
			}
			if strings.Contains(text, "redux") != (arch >= 80) || strings.Contains(text, "sm_80") != (arch >= 80) {
				t.Error(text)
			}
		}
		if less := runs[0].WarpInstrs - runs[1].WarpInstrs; less != 11 {
			t.Errorf("%s: redux saves %d instructions", op, less)
		}
	}
}

// TestModuleHead: a module asks for no more than its functions need.
func TestModuleHead(t *testing.T) {
	text, _ := compileFor(t, 90, discountedRevenue())
	if !strings.HasPrefix(text, ".version 7.0\n.target sm_70\n") || strings.Contains(text, ".extern") {
		t.Errorf("head of\n%s", text)
	}
	text, _ = compileFor(t, 90, discountedRevenue(), wordsOfAll())
	if !strings.HasPrefix(text, ".version 7.4\n.target sm_80\n.address_size 64\n\n.extern .shared .align 16 .b8 dynamic[];\n") {
		t.Errorf("head of\n%s", text)
	}
	if _, err := TranslateFor(60, discountedRevenue()); err == nil {
		t.Error("sm_60 is taken")
	}
}
