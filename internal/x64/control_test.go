package x64

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// TestYieldKeepsAll yields with every register and many slots in use, in line and
// in a cold branch, and lets another goroutine continue.
func TestYieldKeepsAll(t *testing.T) {
	for _, n := range []int{3, 12, 40, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := ir.NewFunc("yields", ir.CPU)
			var ints, floats []ir.Reg
			for i := range n {
				v, x := b.Vreg(fmt.Sprintf("i%d", i), ir.I64), b.Vreg(fmt.Sprintf("f%d", i), ir.F64)
				b.Mov(v, ir.K(int64(i)*0x100000001))
				b.Op1(ir.I2F, x, v.V())
				ints, floats = append(ints, v), append(floats, x)
			}
			b.Yield(5)
			k := b.Vreg("k", ir.I64)
			b.Mov(k, ir.K(3))
			l := b.Loop()
			b.If(ir.NE, k.V(), ir.K(2))
			b.Store(ir.At(ir.Ctx, dataAt), k.V(), 8)
			b.Yield(6)
			b.Else()
			b.Store(ir.At(ir.Ctx, dataAt+8), k.V(), 8)
			b.EndIf()
			b.Op2(ir.Sub, k, k.V(), ir.K(1))
			b.EndLoop(l, ir.GT, k.V(), ir.K(0))
			for i := range n {
				b.Store(ir.At(ir.Ctx, dataAt+16+16*(i%100)), ints[i].V(), 8)
				b.FStore(ir.At(ir.Ctx, dataAt+24+16*(i%100)), floats[i], 8)
			}
			w := newWorld()
			c := mustTranslate(t, b.F)
			if want := saveSlots; c.SaveBytes() < want {
				t.Fatalf("save area of %d bytes", c.SaveBytes())
			}
			steps := make(chan int)
			go func() {
				s, err := compareRuns(w, b.F, c, nil)
				if err != nil {
					t.Error(err)
				}
				steps <- s
			}()
			if s := <-steps; s != 4 {
				t.Errorf("%d calls, want 4", s)
			}
		})
	}
}

// TestResumeElsewhere continues a yielded function on another goroutine.
func TestResumeElsewhere(t *testing.T) {
	b := ir.NewFunc("hop", ir.CPU)
	v := b.Vreg("v", ir.I64)
	b.Mov(v, ir.K(1))
	l := b.Loop()
	b.Op2(ir.Mul, v, v.V(), ir.K(3))
	b.Yield(1)
	b.EndLoop(l, ir.LT, v.V(), ir.K(1000))
	b.Store(ir.At(ir.Ctx, dataAt), v.V(), 8)
	c := mustTranslate(t, b.F)
	w := newWorld()
	w.put(ir.CtxSave, int64(uintptr(unsafe.Pointer(&w.save[0]))))
	calls := 0
	for status := int64(1); status == 1; calls++ {
		done := make(chan int64)
		go func() { done <- c.Call(unsafe.Pointer(&w.mem[0])) }()
		status = <-done
	}
	if got := word(w.mem, dataAt); got != 2187 || calls != 8 {
		t.Errorf("%d after %d calls", got, calls)
	}
}

func TestExitStatus(t *testing.T) {
	for _, code := range []int32{0, 1, -1, 1 << 30, -1 << 31} {
		for _, cond := range []ir.Cond{ir.Always, ir.EQ} {
			b := ir.NewFunc("exit", ir.CPU)
			b.Exit(code, cond, ir.K(4), ir.K(4))
			if got := mustTranslate(t, b.F).Call(unsafe.Pointer(&newWorld().mem[0])); got != int64(code) {
				t.Errorf("status %d, want %d", got, code)
			}
		}
	}
}

// TestErrors: what cannot be translated is an error that names the instruction.
func TestErrors(t *testing.T) {
	if !Supported() {
		t.Skip("no x86-64-v3 processor")
	}
	cases := map[string]func(b *ir.Builder){
		"register 1 is not open":        func(b *ir.Builder) { v := b.Vreg("v", ir.I64); b.Clear(v); b.Store(ir.At(ir.Ctx, 0), v.V(), 8) },
		"internal error in x64":         func(b *ir.Builder) { b.Store(ir.At(ir.Ctx, 0), ir.Reg(7).V(), 8) },
		"never assigned":                func(b *ir.Builder) { b.Mov(ir.Ctx, ir.K(1)) },
		"cannot be cleared":             func(b *ir.Builder) { b.Clear(ir.Ctx) },
		"blocks are not closed":         func(b *ir.Builder) { b.Loop() },
		"loop 3 is not open":            func(b *ir.Builder) { b.Break(3, ir.Always, ir.K(0), ir.K(0)) },
		"no If is open":                 func(b *ir.Builder) { b.EndIf() },
		"not one of the CPU":            func(b *ir.Builder) { b.Barrier() },
		"is i32, and the CPU's are i64": func(b *ir.Builder) { b.Mov(b.Vreg("w", ir.I32), ir.K(1)) },
		"atomic of 4 bytes": func(b *ir.Builder) {
			b.Atom4(ir.AtomAdd, b.Vreg("x", ir.I64), ir.At(ir.Ctx, 0), ir.K(1), ir.Val{})
		},
		"only global memory with": func(b *ir.Builder) {
			b.Load8(b.Vreg("x", ir.I64), ir.Mem{Base: ir.Ctx, Index: ir.NoReg, Scale: 1, Space: ir.Dynamic})
		},
		"ends inside another block": func(b *ir.Builder) {
			l := b.Loop()
			b.If(ir.EQ, ir.K(0), ir.K(0))
			b.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
		},
		"at its depth":                func(b *ir.Builder) { l := b.Loop(); b.If(ir.EQ, ir.K(0), ir.K(0)); b.Next(l) },
		"behind its loop's Next":      func(b *ir.Builder) { l := b.Loop(); b.Next(l); b.Continue(l, ir.Always, ir.K(0), ir.K(0)) },
		"load of 3 bytes":             func(b *ir.Builder) { b.Load(b.Vreg("x", ir.I64), ir.At(ir.Ctx, 0), 3, false) },
		"only global memory":          func(b *ir.Builder) { b.Load8(b.Vreg("x", ir.I64), ir.Mem{Base: ir.NoReg, Index: ir.NoReg}) },
		"scale 3":                     func(b *ir.Builder) { b.Load8(b.Vreg("x", ir.I64), ir.AtIndex(ir.Ctx, ir.Ctx, 3, 0)) },
		"condition 7 on floats":       func(b *ir.Builder) { x := b.Vreg("x", ir.F64); b.FSet(b.Vreg("d", ir.I64), ir.ULT, x, x) },
		"register 1 cannot be opened": func(b *ir.Builder) { b.Vreg("x", ir.I64); b.F.Code = append(b.F.Code, b.F.Code[0]) },
	}
	for want, build := range cases {
		b := ir.NewFunc("bad", ir.CPU)
		build(b)
		if _, err := Translate(b.F); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	// What only GPUs have is refused by name, whatever a function says of its target.
	for _, op := range []ir.Op{ir.Param, ir.Uniform, ir.Narrow, ir.Widen, ir.WidenU, ir.MulW, ir.MulWU, ir.Part, ir.LoadBits, ir.Load2, ir.Load4,
		ir.Store2, ir.Store4, ir.RedAdd, ir.RedMin, ir.RedMax, ir.RedOr, ir.Match} {
		b := ir.NewFunc("bad", ir.CPU)
		b.Op2(op, b.Vreg("x", ir.I64), ir.K(1), ir.K(1))
		if _, err := Translate(b.F); err == nil || !strings.Contains(err.Error(), op.String()+" is not one of the CPU's operations") {
			t.Errorf("%s: %v", op, err)
		}
	}
	if _, err := Translate(ir.NewFunc("kernel", ir.GPU).F); err == nil {
		t.Error("a GPU function was translated")
	}
}
