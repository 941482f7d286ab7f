package kernels

import "github.com/kelpiedb/kelpie/internal/ir"

// Threads is the size of a block, warps its number of warps.
const (
	Threads = 256
	threads = Threads
	warps   = threads / 32
)

// writer writes a kernel. Registers live until the scope ends in which they were opened.
type writer struct {
	*ir.Builder
	open []ir.Reg
}

// begin starts a kernel with so many parameters.
func begin(name string, params int) *writer {
	b := ir.NewFunc(name, ir.GPU)
	b.F.Params = params
	return &writer{Builder: b}
}

// end closes the kernel.
func (w *writer) end() *ir.Func {
	w.close(0)
	return w.F
}

func (w *writer) close(mark int) {
	for i := len(w.open) - 1; i >= mark; i-- {
		w.Clear(w.open[i])
	}
	w.open = w.open[:mark]
}

// scope ends the registers that f opens.
func (w *writer) scope(f func()) {
	mark := len(w.open)
	f()
	w.close(mark)
}

// word and long open registers of 32 and 64 bits; of opens n of a type with consecutive numbers.
func (w *writer) word(name string) ir.Reg { return w.of(name, ir.I32, 1) }
func (w *writer) long(name string) ir.Reg { return w.of(name, ir.I64, 1) }

func (w *writer) of(name string, t ir.Type, n int) ir.Reg {
	first := w.Vregs(name, t, n)
	for i := range ir.Reg(n) {
		w.open = append(w.open, first+i)
	}
	return first
}

// param and wordParam open registers with a parameter.
func (w *writer) param(name string, i int) ir.Reg {
	r := w.long(name)
	w.Param(r, i)
	return r
}

func (w *writer) wordParam(name string, i int) ir.Reg {
	r := w.word(name)
	w.Param(r, i)
	return r
}

func (w *writer) special(name string, s ir.SpecialReg) ir.Reg {
	r := w.word(name)
	w.Special(r, s)
	return r
}

// when writes an if.
func (w *writer) when(c ir.Cond, a, b ir.Val, f func()) {
	w.If(c, a, b)
	w.scope(f)
	w.EndIf()
}

// while writes a loop that goes on as long as the condition holds before each round.
func (w *writer) while(c ir.Cond, a, b ir.Val, f func()) {
	l := w.Loop()
	w.Break(l, c.Negate(), a, b)
	w.scope(f)
	w.EndLoop(l, ir.Always, ir.Val{}, ir.Val{})
}

// Several small numbers have a word of their own each, or less: number k of width bytes in the words from packed on.

// pack sets number k, after those before it in its word; x, which has no other bits, is used up.
func (w *writer) pack(packed, x ir.Reg, k, width int) {
	at := packed + ir.Reg(k*width/4)
	if k*width%4 == 0 {
		w.Mov(at, x.V())
		return
	}
	w.addPacked(packed, x, k, width)
}

// addPacked adds x, which is used up, to number k; the sum fits.
func (w *writer) addPacked(packed, x ir.Reg, k, width int) {
	at := packed + ir.Reg(k*width/4)
	if byte := k * width % 4; byte > 0 {
		w.Op2(ir.Shl, x, x.V(), ir.K(int64(8*byte)))
	}
	w.Op2(ir.Add, at, at.V(), x.V())
}

// packed sets d to number k.
func (w *writer) packed(d, all ir.Reg, k, width int) {
	w.Part(d, (all + ir.Reg(k*width/4)).V(), k*width%4, width, false)
}

// advanced opens a register with base + index*bytes.
func (w *writer) advanced(name string, base, index ir.Reg, bytes int64) ir.Reg {
	at := w.long(name)
	w.MulWU(at, index.V(), ir.K(bytes))
	w.Op2(ir.Add, at, at.V(), base.V())
	return at
}

// MulWU is the product of two words.
func (w *writer) MulWU(d ir.Reg, a, b ir.Val) { w.Op2(ir.MulWU, d, a, b) }

// sharedIndex is a place in shared memory, at an index.
func sharedIndex(i ir.Reg, scale, at int) ir.Mem {
	return ir.Mem{Base: ir.NoReg, Index: i, Scale: uint8(scale), Disp: int32(at), Space: ir.Shared}
}

// warpScan turns v into the sum of the values of all lanes up to the own.
func (w *writer) warpScan(v, lane ir.Reg) {
	w.scope(func() {
		other := w.of("other", w.F.Regs[v].Type, 1)
		for d := int64(1); d < 32; d *= 2 {
			w.Op2(ir.ShflUp, other, v.V(), ir.K(d))
			w.Sel(other, ir.UGE, lane.V(), ir.K(d), other.V(), ir.K(0))
			w.Op2(ir.Add, v, v.V(), other.V())
		}
	})
}

// blockScan opens two registers: the sum of v of all threads of the block before this one, and of
// all. It uses 32 values of shared memory from a place on, which are free again after the next barrier.
// n is the number of warps.
func (w *writer) blockScan(v, tid, lane ir.Reg, n, at int) (before, total ir.Reg) {
	t := w.F.Regs[v].Type
	bytes := 8
	if t == ir.I32 {
		bytes = 4
	}
	before, total = w.of("before", t, 1), w.of("total", t, 1)
	w.scope(func() {
		upto, sums := w.of("upto", t, 1), w.of("sums", t, 1)
		number := w.word("warp")
		w.Op2(ir.Shr, number, tid.V(), ir.K(5))
		w.Mov(upto, v.V())
		w.warpScan(upto, lane)
		w.when(ir.EQ, lane.V(), ir.K(31), func() { w.Store(sharedIndex(number, bytes, at), upto.V(), bytes) })
		w.Barrier()
		// Every warp adds up the sums of all for itself.
		w.Mov(sums, ir.K(0))
		w.when(ir.ULT, lane.V(), ir.K(int64(n)), func() { w.Load(sums, sharedIndex(lane, bytes, at), bytes, false) })
		w.warpScan(sums, lane)
		w.Op2(ir.Shfl, total, sums.V(), ir.K(31))
		w.Op2(ir.Sub, number, number.V(), ir.K(1))
		w.Op2(ir.Shfl, before, sums.V(), number.V())
		w.Sel(before, ir.LT, number.V(), ir.K(0), ir.K(0), before.V())
		w.Op2(ir.Sub, upto, upto.V(), v.V())
		w.Op2(ir.Add, before, before.V(), upto.V())
	})
	return before, total
}
