package x64

import (
	"testing"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// TestTally counts a loop of ten rounds, with and without registers.
func TestTally(t *testing.T) {
	if !Supported() {
		t.Skip("no x86-64-v3 processor")
	}
	b := ir.NewFunc("count", ir.CPU)
	i, s := b.Vreg("i", ir.I64), b.Vreg("s", ir.I64)
	b.Mov(i, ir.K(0))
	b.Mov(s, ir.K(0))
	l := b.Loop()
	b.Op2(ir.Add, s, s.V(), i.V())
	b.Next(l)
	b.Op2(ir.Add, i, i.V(), ir.K(1))
	b.EndLoop(l, ir.LT, i.V(), ir.K(10))
	b.Store(ir.At(ir.Ctx, 64), s.V(), 8)
	b.Clear(s, i)
	for _, c := range []struct {
		opt  Options
		want Tally
	}{
		// A round is add, add, cmp, jl; before it two xor, after it a store.
		{Options{Tally: true}, Tally{Static: 7, Instructions: 43, Memory: 1}},
		// mov, add [s], add [i], cmp [i], jl; two stores; load and store.
		{Options{Tally: true, Spill: true}, Tally{Static: 9, Instructions: 54, Memory: 44, Spills: 43}},
	} {
		code, err := TranslateWith(b.F, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld()
		if status := code.Call(unsafe.Pointer(&w.mem[0])); status != ir.StatusDone {
			t.Errorf("status %d", status)
		}
		if got := code.Tally(); got != c.want {
			t.Errorf("spill %v: %+v, want %+v", c.opt.Spill, got, c.want)
		}
		code.Free()
	}
}
