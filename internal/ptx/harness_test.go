package ptx

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/simt"
)

// machine runs kernels on the simulator. Buffers are slices of uint64; the
// kernel finds the address of the i-th at arg(i) of its context.
type machine struct {
	ctx    []uint64
	bufs   [][]uint64
	params []uint64 // behind the context
	shared int      // bytes of dynamic shared memory
}

func newMachine(bufs ...[]uint64) *machine {
	m := &machine{ctx: make([]uint64, ir.CtxFree/8+len(bufs)), bufs: bufs}
	for i, b := range bufs {
		m.ctx[ir.CtxFree/8+i] = uint64(addrOf(b))
	}
	return m
}

// addrOf is the address of a buffer. Leaking it to a variable keeps it off the
// stack, where it would move.
func addrOf(b []uint64) uintptr {
	leaked = b
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

var leaked []uint64

// arg is where the address of buffer i stands in the context.
func arg(i int) ir.Mem { return ir.At(ir.Ctx, ir.CtxFree+8*i) }

func (m *machine) status() uint64 { return m.ctx[ir.CtxStatus/8] }

func (m *machine) try(k *simt.Kernel, grid, block int) (simt.Stats, error) {
	dev := simt.NewDevice()
	for _, b := range append([][]uint64{m.ctx}, m.bufs...) {
		if err := dev.Register(addrOf(b), 8*len(b), true); err != nil {
			return simt.Stats{}, err
		}
	}
	params := append([]uint64{uint64(addrOf(m.ctx))}, m.params...)
	return dev.LaunchShape(context.Background(), k, simt.Shape{Grid: grid, Block: block, Shared: m.shared}, params)
}

func (m *machine) run(t *testing.T, k *simt.Kernel, grid, block int) simt.Stats {
	t.Helper()
	s, err := m.try(k, grid, block)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compile takes functions through PTX text to simulator kernels.
func compile(t *testing.T, fs ...*ir.Func) (string, []*simt.Kernel) {
	t.Helper()
	return compileFor(t, Oldest, fs...)
}

func compileFor(t *testing.T, arch int, fs ...*ir.Func) (string, []*simt.Kernel) {
	t.Helper()
	for _, f := range fs {
		closeAll(f)
		if err := ir.Verify(f); err != nil {
			t.Fatalf("the test's own kernel: %v\n%v", err, f)
		}
	}
	text, err := TranslateFor(arch, fs...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := simt.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return text, m.Kernels()
}

func compile1(t *testing.T, f *ir.Func) *simt.Kernel {
	t.Helper()
	_, ks := compile(t, f)
	return ks[0]
}

// closeAll ends the registers that a test left open.
func closeAll(f *ir.Func) {
	open := map[ir.Reg]bool{}
	for _, in := range f.Code {
		switch in.Op {
		case ir.Vreg:
			open[in.D] = true
		case ir.Clear:
			delete(open, in.D)
		}
	}
	for r := range ir.Reg(len(f.Regs)) {
		if open[r] {
			f.Code = append(f.Code, ir.Instr{Op: ir.Clear, D: r})
		}
	}
}

// threadIndex opens a register with the thread's number in the grid.
func threadIndex(b *ir.Builder) ir.Reg {
	i, tid := b.Vreg("i", ir.I64), b.Vreg("tid", ir.I64)
	b.Special(i, ir.BlockID)
	b.Special(tid, ir.BlockDim)
	b.Op2(ir.Mul, i, i.V(), tid.V())
	b.Special(tid, ir.ThreadID)
	b.Op2(ir.Add, i, i.V(), tid.V())
	b.Clear(tid)
	return i
}

// pointers opens a register for each of n buffer addresses.
func pointers(b *ir.Builder, n int) []ir.Reg {
	ps := make([]ir.Reg, n)
	for i := range ps {
		ps[i] = b.Vreg(fmt.Sprintf("buf%d", i), ir.I64)
		b.Load8(ps[i], arg(i))
	}
	return ps
}

// Edge values that operations are tested on.
var ints = []int64{0, 1, -1, 2, -2, 3, 10, 31, 32, 33, 62, 63, 64, 65, 127, 128, 255, 256, 1 << 31, 1<<31 - 1, -1 << 31,
	1 << 32, 1<<32 - 1, -1 << 32, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1, 0x0123456789abcdef}

var floats = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 3.999999, -3.999999, math.Pi, 1e16, -1e16,
	1 << 52, 1<<52 + 0.5, 1 << 53, 1e300, -1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-310, -1e-310,
	math.MaxFloat32, 1e39, 1e-46, 1 + 1e-9, math.Inf(1), math.Inf(-1), math.NaN(), 1<<62 + 12345, -1 << 63}

func edge(r *rand.Rand, typ ir.Type) uint64 {
	if typ == ir.F64 {
		switch r.IntN(4) {
		case 0:
			return r.Uint64() // any bits
		case 1:
			return math.Float64bits((r.Float64() - 0.5) * 1000)
		}
		return math.Float64bits(floats[r.IntN(len(floats))])
	}
	switch r.IntN(4) {
	case 0:
		return r.Uint64()
	case 1:
		return uint64(int64(r.Uint64()) >> r.IntN(64))
	}
	return uint64(ints[r.IntN(len(ints))])
}

// same compares results; all NaNs are alike.
func same(typ ir.Type, a, b uint64) bool {
	if typ == ir.F64 {
		x, y := math.Float64frombits(a), math.Float64frombits(b)
		if x != x && y != y {
			return true
		}
	}
	return a == b
}
