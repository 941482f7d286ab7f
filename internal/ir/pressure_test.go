package ir

import "testing"

func TestPressure(t *testing.T) {
	for name, c := range map[string]struct {
		want int
		body func(b *Builder)
	}{
		"nothing": {0, func(*Builder) {}},
		"a word and a number": {3, func(b *Builder) {
			w, x := b.Vreg("w", I32), b.Vreg("x", I64)
			b.Mov(w, K(1))
			b.Op1(WidenU, x, w.V())
			b.Store(At(Ctx, 24), x.V(), 8)
		}},
		"one after the other": {2, func(b *Builder) {
			for range 3 {
				x := b.Vreg("x", I64)
				b.Mov(x, K(1))
				b.Store(At(Ctx, 24), x.V(), 8)
			}
		}},
		"parameters are no registers": {2, func(b *Builder) {
			p, x := b.Vreg("p", I64), b.Vreg("x", I64)
			b.Param(p, 1)
			b.Op2(Add, x, p.V(), K(1))
			b.Store(At(Ctx, 24), x.V(), 8)
		}},
		"what a loop reads lives through it": {6, func(b *Builder) {
			x, y, n := b.Vreg("x", I64), b.Vreg("y", I64), b.Vreg("n", I64)
			b.Mov(x, K(1))
			b.Mov(n, K(9))
			l := b.Loop()
			b.Store(At(Ctx, 24), x.V(), 8)
			b.Op2(Sub, n, n.V(), K(1))
			b.Mov(y, K(2))
			b.Store(At(Ctx, 24), y.V(), 8)
			b.EndLoop(l, NE, n.V(), K(0))
		}},
	} {
		b := NewFunc("f", GPU)
		c.body(b)
		if got := b.F.Pressure(); got != c.want {
			t.Errorf("%s: %d registers, not %d", name, got, c.want)
		}
	}
}
