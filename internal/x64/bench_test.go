package x64

import (
	"fmt"
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

// BenchmarkMasks is the cost per row of each operation on masks, at each level, over
// arrays that fit into the first cache.
func BenchmarkMasks(b *testing.B) {
	const blocks = 32
	type bench struct {
		name string
		emit func(g *ir.Builder, d, x, tab ir.Reg)
	}
	all := ir.K(-1)
	var benches []bench
	for _, w := range []int{1, 2, 4, 8} {
		benches = append(benches,
			bench{fmt.Sprintf("range%d", w), func(g *ir.Builder, d, x, tab ir.Reg) {
				g.MaskRange(d, all, ir.K(5), ir.K(50), ir.At(x, 0), w)
			}},
			bench{fmt.Sprintf("cmp%d", w), func(g *ir.Builder, d, x, tab ir.Reg) {
				g.MaskCmp(d, ir.LT, all, ir.K(0), tab.V(), w, ir.At(x, 0), w)
			}},
			bench{fmt.Sprintf("cmp%d,add", w), func(g *ir.Builder, d, x, tab ir.Reg) {
				g.MaskCmp(d, ir.LT, all, ir.K(7), tab.V(), w, ir.At(x, 0), w)
			}},
			bench{fmt.Sprintf("bits%d", w), func(g *ir.Builder, d, x, tab ir.Reg) {
				g.MaskBits(d, all, ir.K(0), tab.V(), ir.At(x, 0), w)
			}},
			bench{fmt.Sprintf("bits%d,sparse", w), func(g *ir.Builder, d, x, tab ir.Reg) {
				g.MaskBits(d, ir.K(1<<20|1<<50), ir.K(0), tab.V(), ir.At(x, 0), w)
			}})
		if w < 8 {
			benches = append(benches, bench{fmt.Sprintf("lut%d", w), func(g *ir.Builder, d, x, tab ir.Reg) {
				g.MaskLut(d, all, tab.V(), 100, ir.At(x, 0), w)
			}})
		}
	}
	benches = append(benches, bench{"bytes", func(g *ir.Builder, d, x, tab ir.Reg) {
		g.MaskBytes(d, all, ir.K(3), ir.K(4), 5, ir.At(x, 0))
	}})
	for _, m := range []int64{-1, 0x5555555555555555, 1 << 40, 0x0100010001000100} {
		benches = append(benches, bench{fmt.Sprintf("pick%x", uint64(m)), func(g *ir.Builder, d, x, tab ir.Reg) {
			g.Pick(d, ir.K(m), ir.K(7), ir.At(tab, 1024))
		}})
	}
	for _, c := range benches {
		for _, opt := range simdLevels() {
			b.Run(c.name+"/"+levelName(opt), func(b *testing.B) {
				g := ir.NewFunc(c.name, ir.CPU)
				x, tab, end, d, sum := g.Vreg("x", ir.I64), g.Vreg("tab", ir.I64), g.Vreg("end", ir.I64), g.Vreg("d", ir.I64), g.Vreg("sum", ir.I64)
				g.Load8(x, ir.At(ir.Ctx, dataAt))
				g.Load8(tab, ir.At(ir.Ctx, dataAt+8))
				g.Op2(ir.Add, end, x.V(), ir.K(512*blocks))
				g.Mov(sum, ir.K(0))
				l := g.Loop()
				c.emit(g, d, x, tab)
				g.Op2(ir.Add, sum, sum.V(), d.V())
				g.Op2(ir.Add, x, x.V(), ir.K(512))
				g.EndLoop(l, ir.ULT, x.V(), end.V())
				g.Store(ir.At(ir.Ctx, dataAt), sum.V(), 8)
				code, err := TranslateWith(g.F, opt)
				if err != nil {
					b.Fatal(err)
				}
				defer code.Free()
				w := newWorld()
				data := make([]byte, 512*(blocks+1)) // elements of all widths below 100
				for i := range 64 * (blocks + 1) {
					data[8*i] = byte(i * 7 % 100)
				}
				for b.Loop() {
					w.put(dataAt, int64(uintptr(unsafe.Pointer(&data[0]))))
					w.put(dataAt+8, int64(uintptr(unsafe.Pointer(&w.mem[512]))))
					code.Call(unsafe.Pointer(&w.mem[0]))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(64*blocks), "ns/row")
			})
		}
	}
}
