package ir

import "testing"

// TestAgain: code that is written twice has registers and loops of its own, but shares those from outside.
func TestAgain(t *testing.T) {
	b := NewFunc("f", GPU)
	out := b.Vreg("out", I64)
	b.Mov(out, K(0))
	from := len(b.F.Code)
	l := b.Loop()
	x := b.Vreg("x", I64)
	b.Load8(x, AtIndex(Ctx, out, 8, 16))
	b.Break(l, EQ, x.V(), out.V())
	b.Op2(Add, out, out.V(), x.V())
	b.Clear(x)
	b.EndLoop(l, NE, K(0), K(0))
	body := append([]Instr(nil), b.F.Code[from:]...)
	again := b.Again()
	for _, in := range body {
		again.Add(in)
	}
	if again.Reg(x) == x || again.Reg(out) != out || again.Label(l) == l || again.Label(99) != 99 {
		t.Error("registers", again.Reg(x), again.Reg(out), "loops", again.Label(l))
	}
	b.Clear(out)
	if err := Verify(b.F); err != nil {
		t.Error(err, b.F)
	}
	second := b.F.Code[from+len(body) : len(b.F.Code)-1]
	if len(second) != len(body) {
		t.Fatal(len(second), "instructions instead of", len(body))
	}
	if in := &second[2]; in.D != again.Reg(x) || in.M.Index != out || in.M.Base != Ctx || in.M.Disp != 16 {
		t.Errorf("the load is %+v", *in)
	}
	if in := &second[3]; in.Label != again.Label(l) || !in.Reads(again.Reg(x)) || !in.Reads(out) || in.Reads(x) {
		t.Errorf("the break is %+v", *in)
	}
	if in := &body[2]; in.Reads(out) {
		t.Error("an address counts as reading")
	}
	if in := (Instr{Op: Break, Cond: Always, A: x.V()}); in.Reads(x) {
		t.Error("what an operation does not use counts as reading")
	}
}
