package ptx

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// bytesOf views a buffer as bytes.
func bytesOf(b []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), 8*len(b))
}

// TestLoads reads values of every width and sign, by base, index and displacement.
func TestLoads(t *testing.T) {
	for _, w := range []int{1, 2, 4, 8} {
		for _, signed := range []bool{false, true} {
			for _, disp := range []int{0, 3 * w, -2 * w} {
				b := ir.NewFunc(fmt.Sprintf("load%d", w), ir.GPU)
				i := threadIndex(b)
				ps := pointers(b, 2)
				b.Op2(ir.Add, ps[0], ps[0].V(), ir.K(64))
				v := b.Vreg("v", ir.I64)
				b.Prefetch(ir.AtIndex(ps[0], i, w, disp))
				b.Load(v, ir.AtIndex(ps[0], i, w, disp), w, signed)
				b.Store(ir.AtIndex(ps[1], i, 8, 0), v.V(), 8)
				in, out := make([]uint64, 80), make([]uint64, 64)
				for i := range in {
					in[i] = uint64(i+1) * 0xf1d2c3b4a5968778
				}
				newMachine(in, out).run(t, compile1(t, b.F), 2, 32)
				for i := range out {
					p := bytesOf(in)[64+i*w+disp:]
					var want int64
					for k := range w {
						want |= int64(p[k]) << (8 * k)
					}
					if signed {
						want = want << (64 - 8*w) >> (64 - 8*w)
					}
					if out[i] != uint64(want) {
						t.Fatalf("width %d signed %v disp %d: element %d is %#x, want %#x", w, signed, disp, i, out[i], want)
					}
				}
			}
		}
	}
}

// TestStores writes every width, from registers and immediates, to all spaces;
// what goes to shared or local memory is read back from there.
func TestStores(t *testing.T) {
	for _, w := range []int{1, 2, 4, 8} {
		for _, space := range []ir.Space{ir.Global, ir.Shared, ir.Local} {
			for _, val := range []*int64{nil, ptr(-2), ptr(math.MinInt64 + 77)} {
				b := ir.NewFunc("store", ir.GPU)
				b.F.SharedBytes, b.F.LocalBytes = 8*32, 8*32
				i := threadIndex(b)
				ps := pointers(b, 1)
				v := b.Vreg("v", ir.I64)
				b.Op2(ir.Mul, v, i.V(), ir.K(0x7f3e2d1c0b5a6978))
				x := v.V()
				if val != nil {
					x = ir.K(*val)
				}
				if space != ir.Global {
					b.Store(ir.Mem{Base: ir.NoReg, Index: i, Scale: uint8(w), Space: space}, x, w)
					off, back := b.Vreg("offset", ir.I64), b.Vreg("back", ir.I64)
					b.Lea(off, ir.Mem{Base: ir.NoReg, Index: i, Scale: uint8(w), Disp: 5, Space: space})
					b.Load(back, ir.Mem{Base: off, Index: ir.NoReg, Scale: 1, Disp: -5, Space: space}, w, false)
					x = back.V()
				}
				addr := b.Vreg("addr", ir.I64)
				b.Lea(addr, ir.AtIndex(ps[0], i, w, 8))
				b.Store(ir.At(addr, -8), x, w)
				out := make([]uint64, 32)
				newMachine(out).run(t, compile1(t, b.F), 1, 32)
				for i := range 32 {
					want := int64(i) * 0x7f3e2d1c0b5a6978
					if val != nil {
						want = *val
					}
					var got int64
					for k := range w {
						got |= int64(bytesOf(out)[i*w+k]) << (8 * k)
					}
					if mask := int64(-1) << (8*w - 1) << 1; got != want&^mask {
						t.Fatalf("width %d space %d: element %d is %#x, want %#x", w, space, i, got, want&^mask)
					}
				}
			}
		}
	}
}

func ptr(i int64) *int64 { return &i }

// TestFloatMemory loads and stores both precisions.
func TestFloatMemory(t *testing.T) {
	b := ir.NewFunc("floats", ir.GPU)
	b.F.SharedBytes = 8 * 64
	i := threadIndex(b)
	ps := pointers(b, 4)
	x, y := b.Vreg("x", ir.F64), b.Vreg("y", ir.F64)
	b.FLoad(x, ir.AtIndex(ps[0], i, 8, 0), 8)
	b.FStore(ir.Mem{Base: ir.NoReg, Index: i, Scale: 8, Space: ir.Shared}, x, 4)
	b.FLoad(y, ir.Mem{Base: ir.NoReg, Index: i, Scale: 8, Space: ir.Shared}, 4)
	b.FStore(ir.AtIndex(ps[1], i, 8, 0), y, 8)
	b.FStore(ir.AtIndex(ps[2], i, 4, 0), x, 4)
	b.FLoad(y, ir.AtIndex(ps[2], i, 4, 0), 4)
	b.FStore(ir.AtIndex(ps[3], i, 8, 0), y, 8)
	n := 64
	in, a, s, c := make([]uint64, n), make([]uint64, n), make([]uint64, n/2), make([]uint64, n)
	for k := range in {
		in[k] = math.Float64bits(floats[k%len(floats)])
	}
	newMachine(in, a, s, c).run(t, compile1(t, b.F), 1, n)
	for k := range in {
		want := math.Float64bits(float64(float32(math.Float64frombits(in[k]))))
		if !same(ir.F64, a[k], want) || !same(ir.F64, c[k], want) {
			t.Fatalf("%v: got %#x and %#x, want %#x", floats[k%len(floats)], a[k], c[k], want)
		}
	}
}

// TestLea computes addresses, the destination being an operand too.
func TestLea(t *testing.T) {
	for _, m := range []func(x, y ir.Reg) ir.Mem{
		func(x, y ir.Reg) ir.Mem { return ir.At(x, 0) },
		func(x, y ir.Reg) ir.Mem { return ir.At(x, -77) },
		func(x, y ir.Reg) ir.Mem { return ir.AtIndex(x, y, 1, 1<<31-1) },
		func(x, y ir.Reg) ir.Mem { return ir.AtIndex(x, y, 4, -1<<31) },
		func(x, y ir.Reg) ir.Mem { return ir.AtIndex(x, y, 8, 0) },
		func(x, y ir.Reg) ir.Mem {
			return ir.Mem{Base: ir.NoReg, Index: y, Scale: 2, Disp: 6, Space: ir.Shared}
		},
		func(x, y ir.Reg) ir.Mem {
			return ir.Mem{Base: ir.NoReg, Index: ir.NoReg, Scale: 1, Disp: 6, Space: ir.Shared}
		},
	} {
		for alias := range 3 {
			b := ir.NewFunc("lea", ir.GPU)
			b.F.SharedBytes = 16
			ps := pointers(b, 1)
			x, y, z := b.Vreg("x", ir.I64), b.Vreg("y", ir.I64), b.Vreg("z", ir.I64)
			b.Mov(x, ir.K(1_000_000_007))
			b.Mov(y, ir.K(-99))
			mem := m(x, y)
			want := int64(mem.Disp)
			if mem.Base != ir.NoReg {
				want += 1_000_000_007
			}
			if mem.Index != ir.NoReg {
				want += -99 * int64(mem.Scale)
			}
			d := []ir.Reg{z, x, y}[alias]
			b.Lea(d, mem)
			b.Store(ir.At(ps[0], 0), d.V(), 8)
			out := make([]uint64, 1)
			newMachine(out).run(t, compile1(t, b.F), 1, 1)
			if int64(out[0]) != want {
				t.Fatalf("lea %+v into %d: %d, want %d", mem, d, int64(out[0]), want)
			}
		}
	}
}

// TestAtomics runs every atomic from many lanes against the same few cells, in
// both spaces, and checks cells and old values in the simulator's order.
func TestAtomics(t *testing.T) {
	f := func(x int64) float64 { return math.Float64frombits(uint64(x)) }
	cases := []struct {
		name string
		op   ir.Op
		step func(cell, a, b int64) int64
	}{
		{"add", ir.AtomAdd, func(c, a, b int64) int64 { return c + a }},
		{"min", ir.AtomMin, func(c, a, b int64) int64 { return min(c, a) }},
		{"max", ir.AtomMax, func(c, a, b int64) int64 { return max(c, a) }},
		{"or", ir.AtomOr, func(c, a, b int64) int64 { return c | a }},
		{"exch", ir.AtomExch, func(c, a, b int64) int64 { return a }},
		{"cas", ir.AtomCAS, func(c, a, b int64) int64 {
			if c == a {
				return b
			}
			return c
		}},
		{"fadd", ir.AtomFAdd, func(c, a, b int64) int64 { return int64(math.Float64bits(f(c) + f(a))) }},
	}
	for _, c := range cases {
		for _, space := range []ir.Space{ir.Global, ir.Shared} {
			for _, alias := range []bool{true, false} {
				b := ir.NewFunc(c.name, ir.GPU)
				b.F.SharedBytes = 64
				i := threadIndex(b)
				ps := pointers(b, 4) // a, b, old, cells
				typ := ir.I64
				if c.op == ir.AtomFAdd {
					typ = ir.F64
				}
				a, x, old := b.Vreg("a", typ), b.Vreg("b", ir.I64), b.Vreg("old", typ)
				if typ == ir.F64 {
					b.FLoad(a, ir.AtIndex(ps[0], i, 8, 0), 8)
					b.FConst(old, 0)
				} else {
					b.Load8(a, ir.AtIndex(ps[0], i, 8, 0))
					b.Mov(old, ir.K(0))
				}
				b.Load8(x, ir.AtIndex(ps[1], i, 8, 0))
				cell := b.Vreg("cell", ir.I64)
				b.Op2(ir.And, cell, i.V(), ir.K(1))
				mem := ir.AtIndex(ps[3], cell, 8, 8)
				if space == ir.Shared {
					mem = ir.Mem{Base: ir.NoReg, Index: cell, Scale: 8, Disp: 8, Space: ir.Shared}
					v := b.Vreg("v", ir.I64)
					b.If(ir.ULT, i.V(), ir.K(2))
					b.Load8(v, ir.AtIndex(ps[3], i, 8, 8))
					b.Store(mem, v.V(), 8)
					b.EndIf()
					b.Barrier()
				}
				if alias {
					old = a
				}
				b.Atom(c.op, old, mem, a.V(), x.V())
				if space == ir.Shared {
					v := b.Vreg("v", ir.I64)
					b.Barrier()
					b.If(ir.ULT, i.V(), ir.K(2))
					b.Load8(v, mem)
					b.Store(ir.AtIndex(ps[3], cell, 8, 8), v.V(), 8)
					b.EndIf()
				}
				if typ == ir.F64 {
					b.FStore(ir.AtIndex(ps[2], i, 8, 0), old, 8)
				} else {
					b.Store(ir.AtIndex(ps[2], i, 8, 0), old.V(), 8)
				}
				const n = 96
				as, bs, olds, cells := make([]uint64, n), make([]uint64, n), make([]uint64, n), make([]uint64, 4)
				for k := range as {
					as[k], bs[k] = uint64(int64(k*7919%23-11)), uint64(k%5)
					if typ == ir.F64 {
						as[k] = math.Float64bits(float64(k) * 0.1)
					}
				}
				want := append([]uint64{}, cells...)
				wantOld := make([]uint64, n)
				for k := range as {
					p := &want[1+k&1]
					wantOld[k] = *p
					*p = uint64(c.step(int64(*p), int64(as[k]), int64(bs[k])))
				}
				s := newMachine(as, bs, olds, cells).run(t, compile1(t, b.F), 1, n)
				for k := range cells {
					if cells[k] != want[k] {
						t.Errorf("%s space %d: cell %d is %#x, want %#x", c.name, space, k, cells[k], want[k])
					}
				}
				for k := range olds {
					if olds[k] != wantOld[k] {
						t.Fatalf("%s space %d: old value %d is %#x, want %#x", c.name, space, k, olds[k], wantOld[k])
					}
				}
				if s.Atomics+s.SharedAtomics != n {
					t.Errorf("%s: %d + %d atomics counted, want %d", c.name, s.Atomics, s.SharedAtomics, n)
				}
			}
		}
	}
}

// packedAccess writes element i of the packed array at parameter 1 to words of parameter 2, for each thread i: once by a number of 64 bits and once by one of
// 32 bits that is 3 too low.
func packedAccess(bits int) *ir.Func {
	b := ir.NewFunc(fmt.Sprintf("packed%d", bits), ir.GPU)
	b.F.Params = 2
	i := wordIndex(b)
	from, to := param(b, 1), param(b, 2)
	wide, low, x, y := b.Vreg("wide", ir.I64), b.Vreg("low", ir.I32), b.Vreg("x", ir.I64), b.Vreg("y", ir.I32)
	b.Op1(ir.WidenU, wide, i.V())
	b.LoadBits(ir.Plain, x, from, wide, bits)
	b.Op2(ir.Add, low, i.V(), ir.K(5)) // no number of a row is negative
	b.LoadBits(ir.ReadOnly, y, from, low, bits)
	b.F.Code[len(b.F.Code)-1].M.Disp = -5
	b.Store(ir.AtIndex(to, i, 8, 0), x.V(), 4)
	b.Store(ir.AtIndex(to, i, 8, 4), y.V(), 4)
	return b.F
}

// TestPackedAccess: elements of every number of bits, some of which go on in the next word.
func TestPackedAccess(t *testing.T) {
	const n = 160
	for bits := 1; bits <= 31; bits++ {
		in, out := make([]uint64, n*bits/64+2), make([]uint64, n)
		want := make([]uint64, n)
		for i := range want {
			want[i] = (uint64(i)*2654435761 + uint64(i)>>3) & (1<<bits - 1)
			at := i * bits
			in[at/64] |= want[i] << (at % 64)
			if at%64+bits > 64 {
				in[at/64+1] |= want[i] >> (64 - at%64)
			}
		}
		m := newMachine(in, out)
		m.params = []uint64{uint64(addrOf(in)), uint64(addrOf(out))}
		text, ks := compile(t, packedAccess(bits))
		m.run(t, ks[0], n/32, 32)
		for i, x := range want {
			if out[i] != x|x<<32 {
				t.Fatalf("%d bits, element %d: %x, want %x twice\n%s", bits, i, out[i], x, text)
			}
		}
	}
}
