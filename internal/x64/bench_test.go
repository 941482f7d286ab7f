package x64

import (
	"testing"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// benchFunc is a pipeline-like function: loads, arithmetic, conditions, an
// occasional spill; n rounds of it.
func benchFunc(n int) *ir.Func {
	b := ir.NewFunc("bench", ir.CPU)
	i, end, col, sum := b.Vreg("i", ir.I64), b.Vreg("end", ir.I64), b.Vreg("col", ir.I64), b.Vreg("sum", ir.I64)
	b.Mov(i, ir.K(0))
	b.Mov(sum, ir.K(0))
	b.Load8(end, ir.At(ir.Ctx, ir.CtxFree))
	b.Load8(col, ir.At(ir.Ctx, ir.CtxFree+8))
	l := b.Loop()
	for k := range n {
		q, p, x := b.Vreg("q", ir.I64), b.Vreg("p", ir.I64), b.Vreg("x", ir.F64)
		b.Comment("a round")
		b.Load(q, ir.AtIndex(col, i, 4, 64*k), 4, true)
		b.Load8(p, ir.AtIndex(col, i, 8, 64*k))
		b.If(ir.LT, q.V(), ir.K(24))
		b.Op2(ir.Mul, p, p.V(), q.V())
		b.OpX(ir.AddX, sum, sum.V(), p.V(), 1)
		b.EndIf()
		b.Op2(ir.And, p, p.V(), ir.K(0xff))
		b.Set(q, ir.ULT, p.V(), ir.K(7))
		b.Sel(p, ir.EQ, q.V(), ir.K(0), p.V(), i.V())
		b.Op1(ir.I2F, x, p.V())
		b.Op2(ir.FAdd, x, x.V(), x.V())
		b.Store(ir.AtIndex(col, i, 8, 64*k), p.V(), 8)
		b.FStore(ir.AtIndex(col, i, 8, 64*k+8), x, 8)
		b.Exit(3, ir.UGT, p.V(), ir.K(1<<20))
		b.Clear(x, p, q)
	}
	b.Op2(ir.Add, i, i.V(), ir.K(1))
	b.EndLoop(l, ir.LT, i.V(), end.V())
	return b.F
}

// BenchmarkTranslate measures the whole of Translate, code memory included.
func BenchmarkTranslate(b *testing.B) {
	for _, n := range []int{2, 20, 200} {
		f := benchFunc(n)
		b.Run("", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, err := Translate(f)
				if err != nil {
					b.Fatal(err)
				}
				c.Free()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(f.Code)), "ns/instr")
		})
	}
}

// BenchmarkPass measures the pass alone.
func BenchmarkPass(b *testing.B) {
	f := benchFunc(60)
	t := new(translator)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.translate(f, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(f.Code)), "ns/instr")
}

// BenchmarkCall measures entering and leaving generated code.
func BenchmarkCall(b *testing.B) {
	c := mustTranslate(b, ir.NewFunc("nothing", ir.CPU).F)
	w := newWorld()
	for b.Loop() {
		c.Call(unsafe.Pointer(&w.mem[0]))
	}
}
