package ptx

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/simt"
)

var rewrite = flag.Bool("rewrite", false, "write golden files anew")

// discountedRevenue is a small kernel of the shape that the emitter writes:
// grid-stride loop, filter, checked 128-bit sum, reduction, one atomic per warp.
func discountedRevenue() *ir.Func {
	b := ir.NewFunc("q6_pipe0", ir.GPU)
	b.F.SharedBytes = 16
	b.Comment("scan lineitem")
	rows, step := b.Vreg("rows", ir.I64), b.Vreg("step", ir.I64)
	i := threadIndex(b)
	b.Load8(rows, ir.At(ir.Ctx, ir.CtxFree))
	b.Special(step, ir.GridDim)
	size := b.Vreg("size", ir.I64)
	b.Special(size, ir.BlockDim)
	b.Op2(ir.Mul, step, step.V(), size.V())
	b.Clear(size)
	quantity, price := b.Vreg("l_quantity", ir.I64), b.Vreg("l_extendedprice", ir.I64)
	b.Load8(quantity, ir.At(ir.Ctx, ir.CtxFree+8))
	b.Load8(price, ir.At(ir.Ctx, ir.CtxFree+16))
	sum := b.Vreg("sum", ir.I64)
	b.Mov(sum, ir.K(0))
	l := b.Loop()
	b.Break(l, ir.GE, i.V(), rows.V())
	q, p := b.Vreg("l_quantity", ir.I64), b.Vreg("l_extendedprice", ir.I64)
	b.Comment("filter l_quantity < 24")
	b.Load(q, ir.AtIndex(quantity, i, 1, 0), 1, false)
	b.If(ir.LT, q.V(), ir.K(24))
	b.Load(p, ir.AtIndex(price, i, 4, 0), 4, true)
	b.OpX(ir.MulX, p, p.V(), q.V(), 3)
	b.OpX(ir.AddX, sum, sum.V(), p.V(), 3)
	b.EndIf()
	b.Next(l)
	b.Op2(ir.Add, i, i.V(), step.V())
	b.Clear(q, p)
	b.EndLoop(l, ir.Always, ir.Val{}, ir.Val{})
	b.Comment("reduce sum")
	other, lane := b.Vreg("other", ir.I64), b.Vreg("lane", ir.I64)
	for s := int64(16); s > 0; s /= 2 {
		b.Op2(ir.ShflXor, other, sum.V(), ir.K(s))
		b.Op2(ir.Add, sum, sum.V(), other.V())
	}
	b.Special(lane, ir.LaneID)
	b.If(ir.EQ, lane.V(), ir.K(0))
	b.Atom(ir.AtomAdd, other, ir.At(ir.Ctx, ir.CtxFree+24), sum.V(), ir.Val{})
	b.Else()
	b.Store(ir.Mem{Base: ir.NoReg, Index: ir.NoReg, Disp: 8, Space: ir.Shared}, sum.V(), 8)
	b.EndIf()
	b.Clear(other, lane, sum, quantity, price, i, step, rows)
	return b.F
}

func TestGolden(t *testing.T) {
	got, _ := compile(t, discountedRevenue())
	const file = "testdata/q6_pipe0.ptx"
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test -rewrite writes it anew. Now:\n%s", file, got)
	}
}

// oddNames has columns with names that PTX would not take as they are.
func oddNames() *ir.Func {
	b := ir.NewFunc("names", ir.GPU)
	for _, name := range []string{"", "a b", "größe", "%p0", "p0", "ctx", "scratch", "pm0", "reserved_smem_offset", "tid",
		"x.y", "1st", "add", strings.Repeat("long", 100), "l_quantity"} {
		r := b.Vreg(name, ir.I64)
		b.Mov(r, ir.K(1))
	}
	return b.F
}

// TestNames: whatever a column is called, its register is a PTX name.
func TestNames(t *testing.T) {
	text, _ := compile(t, oddNames())
	if !strings.Contains(text, "%l_quantity_15") {
		t.Errorf("a plain name is not kept:\n%s", text)
	}
}

func TestComments(t *testing.T) {
	b := ir.NewFunc("comments", ir.GPU)
	b.Comment("one")
	b.If(ir.EQ, ir.K(1), ir.K(1))
	b.Comment("two\nthree; ret; }")
	b.EndIf()
	text, _ := compile(t, b.F)
	for _, want := range []string{"\n    // one\n", "\n        // two\n        // three; ret; }\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}

// TestErrors: what cannot be translated says so.
func TestErrors(t *testing.T) {
	reg := func(b *ir.Builder) ir.Reg { return b.Vreg("x", ir.I64) }
	cases := []struct {
		want string
		make func(b *ir.Builder)
	}{
		{"yield is for the CPU only", func(b *ir.Builder) { b.Yield(1) }},
		{"division of 128-bit numbers is for the CPU only", func(b *ir.Builder) {
			x := reg(b)
			b.Op128(ir.Div128, x, x, x.V(), x.V(), ir.K(3), ir.Val{}, 0)
		}},
		{"division of 128-bit numbers is for the CPU only", func(b *ir.Builder) {
			x := reg(b)
			b.Op128(ir.Rem128, x, x, x.V(), x.V(), ir.K(3), ir.Val{}, 0)
		}},
		{"maskrange is for the CPU only", func(b *ir.Builder) {
			x := reg(b)
			b.MaskRange(x, x.V(), ir.K(1), ir.K(2), ir.At(ir.Ctx, 0), 4)
		}},
		{"not for the GPU", func(b *ir.Builder) { b.F.Target = ir.CPU }},
		{"cannot be the name", func(b *ir.Builder) { b.F.Name = "a-b" }},
		{"more than 49152", func(b *ir.Builder) { b.F.SharedBytes = 1 << 20 }},
		{"no context register", func(b *ir.Builder) { b.F.Regs = nil }},
		{"has no end", func(b *ir.Builder) { b.Loop() }},
		{"has no end", func(b *ir.Builder) { b.If(ir.Always, ir.Val{}, ir.Val{}) }},
		{"no if or loop is open", func(b *ir.Builder) { b.EndIf() }},
		{"no if or loop is open", func(b *ir.Builder) { b.Else() }},
		{"no if or loop is open", func(b *ir.Builder) { b.EndLoop(1, ir.Always, ir.Val{}, ir.Val{}) }},
		{"second else", func(b *ir.Builder) { b.If(ir.EQ, ir.K(1), ir.K(1)); b.Else(); b.Else() }},
		{"loop 7 is not open", func(b *ir.Builder) { b.Break(7, ir.Always, ir.Val{}, ir.Val{}) }},
		{"after its next", func(b *ir.Builder) {
			l := b.Loop()
			b.Next(l)
			b.Continue(l, ir.Always, ir.Val{}, ir.Val{})
		}},
		{"does not exist", func(b *ir.Builder) { b.Mov(5, ir.K(1)) }},
		{"before it is opened", func(b *ir.Builder) {
			b.F.Regs = append(b.F.Regs, ir.RegInfo{Name: "x"})
			b.Mov(1, ir.K(1))
		}},
		{"context register is assigned", func(b *ir.Builder) { b.Mov(ir.Ctx, ir.K(1)) }},
		{"register -1 does not exist", func(b *ir.Builder) {
			b.Atom(ir.AtomAdd, ir.NoReg, ir.At(ir.Ctx, 0), ir.K(1), ir.Val{})
		}},
		{"wrong type", func(b *ir.Builder) { b.Op2(ir.FAdd, reg(b), ir.Ctx.V(), ir.Ctx.V()) }},
		{"not a register", func(b *ir.Builder) { x := b.Vreg("x", ir.F64); b.Op2(ir.FAdd, x, x.V(), ir.K(1)) }},
		{"has no base", func(b *ir.Builder) { b.Load8(reg(b), ir.At(ir.NoReg, 0)) }},
		{"none is declared", func(b *ir.Builder) {
			b.Load8(reg(b), ir.Mem{Base: ir.NoReg, Index: ir.NoReg, Space: ir.Shared})
		}},
		{"access of 3 bytes", func(b *ir.Builder) { b.Load(reg(b), ir.At(ir.Ctx, 0), 3, false) }},
		{"float of 2 bytes", func(b *ir.Builder) { b.FLoad(b.Vreg("x", ir.F64), ir.At(ir.Ctx, 0), 2) }},
		{"scaled by 3", func(b *ir.Builder) { b.Load8(reg(b), ir.AtIndex(ir.Ctx, ir.Ctx, 3, 0)) }},
		{"no lane 32", func(b *ir.Builder) { x := reg(b); b.Op2(ir.ShflUp, x, x.V(), ir.K(32)) }},
		{"special register 9", func(b *ir.Builder) { b.Special(reg(b), 9) }},
		{"comparison is needed", func(b *ir.Builder) { b.Set(reg(b), ir.Always, ir.K(1), ir.K(1)) }},
		{"does not compare floats", func(b *ir.Builder) {
			x, f := reg(b), b.Vreg("f", ir.F64)
			b.FSet(x, ir.ULT, f, f)
		}},
		{"parameter 2 does not exist", func(b *ir.Builder) { b.F.Params = 1; b.Param(reg(b), 2) }},
		{"512 parameters", func(b *ir.Builder) { b.F.Params = 512 }},
		{"does not fit in 32 bits", func(b *ir.Builder) { b.Mov(b.Vreg("w", ir.I32), ir.K(1<<32)) }},
		{"wrong type", func(b *ir.Builder) { w := b.Vreg("w", ir.I32); b.Op2(ir.Add, w, w.V(), reg(b).V()) }},
		{"8 bytes with a register of 32 bits", func(b *ir.Builder) { b.Load8(b.Vreg("w", ir.I32), ir.At(ir.Ctx, 0)) }},
		{"cannot be of kind 1", func(b *ir.Builder) { b.StoreAs(ir.ReadOnly, ir.At(ir.Ctx, 0), ir.K(1), 8) }},
		{"access of 32 bytes", func(b *ir.Builder) { b.LoadN(ir.Plain, b.Vregs("x", ir.I64, 4), 4, ir.At(ir.Ctx, 0), 8) }},
		{"register 3 does not exist", func(b *ir.Builder) { b.LoadN(ir.Plain, b.Vregs("w", ir.I32, 2), 4, ir.At(ir.Ctx, 0), 4) }},
		{"2 bytes of a word from byte 3", func(b *ir.Builder) { w := b.Vreg("w", ir.I32); b.Part(w, w.V(), 3, 2, false) }},
		{"elements of 32 bits", func(b *ir.Builder) { b.LoadBits(ir.Plain, reg(b), ir.Ctx, ir.Ctx, 32) }},
		{"index in global memory", func(b *ir.Builder) {
			b.LoadBits(ir.Plain, reg(b), ir.Ctx, ir.Ctx, 3)
			b.F.Code[len(b.F.Code)-1].M.Scale = 4
		}},
		{"operation 250", func(b *ir.Builder) { b.Op1(250, reg(b), ir.K(1)) }},
	}
	for _, c := range cases {
		b := ir.NewFunc("f", ir.GPU)
		c.make(b)
		if _, err := Translate(b.F); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	f := ir.NewFunc("twice", ir.GPU).F
	if _, err := Translate(f, f); err == nil {
		t.Error("two functions of one name are no error")
	}
}

// TestRolled: a compiler is told to leave loops as they are only where the function asks for that, and the simulator understands it.
func TestRolled(t *testing.T) {
	for _, rolled := range []int{0, 1} {
		b := ir.NewFunc("f", ir.GPU)
		b.F.Rolled = rolled
		text, err := Translate(b.F)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text, ")\n.pragma \"nounroll\";\n{"); got != (rolled != 0) {
			t.Errorf("rolled %d:\n%s", rolled, text)
		}
		if _, err := simt.Parse(text); err != nil {
			t.Error(err)
		}
	}
}

// TestBound: a text says how many registers are worth having.
func TestBound(t *testing.T) {
	for _, want := range []int{0, 32, ir.AsItIs} {
		b := ir.NewFunc("f", ir.GPU)
		b.F.Bound = want
		text, err := Translate(b.F)
		if err != nil {
			t.Fatal(err)
		}
		if got := Bound(text); got != want {
			t.Errorf("%d, not %d:\n%s", got, want, text)
		}
	}
}
