package text

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// searchAligned is searchLiteral where only multiples of 8 can be read: it reads 16 bytes at a time, wherever the text begins. What it
// compares with the whole literal are places where two letters stand side by side that do so in it.
//
// Lanes of a GPU search texts of their own, each in lines of memory of its own, and the cache has to look up each line that a load touches: reading less
// than 16 bytes by a load takes as much longer.
func searchAligned(e *code.Emitter, once int32, p, stop ir.Reg, lit string) {
	const tops = -0x7f7f7f7f7f7f7f80
	k := rarestPair(lit)
	size, off := e.Fact(int64(len(lit))), e.Fact(int64(k))
	from, last, a := e.Int("from"), e.Int("last"), e.Int("at") // where the first of the two letters can be
	e.B.Op2(ir.Add, from, p.V(), off)
	e.B.Op2(ir.Sub, last, stop.V(), size)
	e.B.Op2(ir.Add, last, last.V(), off)
	e.B.Op2(ir.And, a, from.V(), ir.K(^15))
	e.Loop(func(l int32) {
		e.B.Break(once, ir.GT, a.V(), last.V())
		w := e.B.Vregs("bytes", ir.I64, 2)
		e.B.LoadN(ir.Plain, w, 2, ir.At(a, 0), 8)
		if e.Folds != code.FoldNone && (isLetter(lit[k]) || k+1 < len(lit) && isLetter(lit[k+1])) {
			foldCase(e, w, e.Folds, true)
			foldCase(e, w+1, e.Folds, true)
		}
		lo, hi, t := e.Int("low"), e.Int("high"), e.Int("t")
		isByte(e, lo, w, lit[k])
		isByte(e, hi, w+1, lit[k])
		if k+1 < len(lit) {
			u, v := e.Int("u"), e.Int("v")
			isByte(e, u, w, lit[k+1])
			isByte(e, v, w+1, lit[k+1])
			e.B.Op2(ir.Shr, u, u.V(), ir.K(8))
			e.B.Op2(ir.Shl, t, v.V(), ir.K(56))
			e.B.Op2(ir.Or, u, u.V(), t.V())
			e.B.Op2(ir.And, lo, lo.V(), u.V())
			e.B.Op2(ir.Shr, v, v.V(), ir.K(8))
			e.B.Op2(ir.Or, v, v.V(), ir.K(-1<<56)) // what comes next is not known here
			e.B.Op2(ir.And, hi, hi.V(), v.V())
			e.B.Clear(u, v)
		}
		e.B.Clear(w, w+1)
		e.B.Op2(ir.And, lo, lo.V(), ir.K(tops))
		e.B.Op2(ir.And, hi, hi.V(), ir.K(tops))
		e.Loop(func(each int32) {
			e.B.Op2(ir.Or, t, lo.V(), hi.V())
			e.B.Break(each, ir.EQ, t.V(), ir.K(0))
			q, x := e.Int("q"), e.Int("x")
			e.B.Sel(t, ir.NE, lo.V(), ir.K(0), lo.V(), hi.V())
			e.B.Sel(q, ir.NE, lo.V(), ir.K(0), ir.K(0), ir.K(8))
			e.B.Op1(ir.Ctz, x, t.V())
			e.B.Op2(ir.Shr, x, x.V(), ir.K(3))
			e.B.Op2(ir.Add, q, q.V(), x.V())
			e.B.Op2(ir.Add, q, q.V(), a.V())
			e.B.Op2(ir.Sub, x, t.V(), ir.K(1))
			e.B.Op2(ir.And, t, t.V(), x.V())
			e.B.Clear(x)
			e.B.Sel(hi, ir.EQ, lo.V(), ir.K(0), t.V(), hi.V())
			e.B.Sel(lo, ir.NE, lo.V(), ir.K(0), t.V(), lo.V())
			e.B.Continue(each, ir.ULT, q.V(), from.V())
			e.B.Break(once, ir.GT, q.V(), last.V())
			e.B.Op2(ir.Sub, q, q.V(), off)
			m := bytesAre(e, q, lit)
			e.When(ir.NE, m.V(), ir.K(0), func() {
				e.B.Op2(ir.Add, p, q.V(), size)
				e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
			}, nil)
			e.B.Clear(m, q)
		})
		e.B.Clear(lo, hi, t)
		e.B.Op2(ir.Add, a, a.V(), ir.K(16))
	})
	e.B.Clear(from, last, a)
}

// isByte sets the top bit of each byte of d where w has a certain one, and sometimes also where a byte above such a one differs from it in its last bit
// only. Other bits of d mean nothing.
func isByte(e *code.Emitter, d, w ir.Reg, c byte) {
	const ones = 0x0101010101010101
	HasByte(e.B, d, w, e.Fact(int64(uint64(c)*ones)), ones)
}

// HasByte is isByte for words of any type: letters has the byte at each place, ones a 1.
func HasByte(b *ir.Builder, d, w ir.Reg, letters ir.Val, ones int64) {
	x := b.Vreg("x", b.F.Regs[w].Type)
	b.Op2(ir.Xor, x, w.V(), letters)
	b.Op2(ir.Sub, d, x.V(), ir.K(ones))
	b.Op1(ir.Not, x, x.V())
	b.Op2(ir.And, d, d.V(), x.V())
	b.Clear(x)
}

// rarestPair is the position of the first of two letters side by side that texts contain least often.
func rarestPair(lit string) int {
	best := 0
	for i := 1; i+1 < len(lit); i++ {
		if pairRarity(lit[i], lit[i+1]) > pairRarity(lit[best], lit[best+1]) {
			best = i
		}
	}
	return best
}

// pairRarity grows as texts contain two letters side by side less often. A u says nothing where it follows a q.
func pairRarity(a, b byte) int {
	if a|0x20 == 'q' && b|0x20 == 'u' {
		return rarity(a)
	}
	return rarity(a) + rarity(b)
}
