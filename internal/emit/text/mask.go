package text

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Texts by operations on masks, 64 bytes at a time. Each step begins inside the
// text, so that no more than column.TextPad bytes behind it are read.

// places calls found for each place q, from p on, where the literal's two rarest bytes stand
// as they do in it and where at least least bytes follow up to stop; found leaves loop l when
// the place is right. If none is, that breaks out of once. Then p is of no use.
func places(e *code.Emitter, once int32, p, stop ir.Reg, lit string, least int, found func(l int32, q ir.Reg)) {
	i, j := rarestTwo(lit)
	last := e.Int("last")
	e.B.Op2(ir.Sub, last, stop.V(), ir.K(int64(least)))
	e.Loop(func(l int32) {
		e.B.Break(once, ir.GT, p.V(), last.V())
		at, beyond := e.Int("at"), e.Int("beyond")
		e.B.MaskBytes(at, ir.K(-1), ir.K(int64(lit[i])), ir.K(int64(lit[j])), j-i, ir.At(p, i))
		e.B.Op2(ir.Sub, beyond, p.V(), last.V())
		e.B.Op2(ir.Add, beyond, beyond.V(), ir.K(63))
		dropTop(e, at, beyond)
		e.B.Clear(beyond)
		e.Loop(func(each int32) {
			e.B.Break(each, ir.EQ, at.V(), ir.K(0))
			q := e.Int("q")
			e.B.Op1(ir.Ctz, q, at.V())
			e.B.Op2(ir.Add, q, q.V(), p.V())
			found(l, q)
			e.B.Clear(q)
			e.B.Op1(ir.Blsr, at, at.V())
		})
		e.B.Clear(at)
		e.B.Op2(ir.Add, p, p.V(), ir.K(64))
	})
	e.B.Clear(last)
}

// dropTop clears the topmost n bits of a mask, none if n is negative; n is used up.
func dropTop(e *code.Emitter, mask, n ir.Reg) {
	e.B.Sel(n, ir.LT, n.V(), ir.K(0), ir.K(0), n.V())
	e.B.Op2(ir.Shl, mask, mask.V(), n.V())
	e.B.Op2(ir.Shr, mask, mask.V(), n.V())
}

// searchPlaces is search by masks.
func searchPlaces(e *code.Emitter, once int32, p, stop ir.Reg, part likePart, toEnd bool) {
	if part.rest == nil {
		places(e, once, p, stop, part.lit, len(part.lit), func(l int32, q ir.Reg) {
			m := bytesAre(e, q, part.lit)
			e.When(ir.NE, m.V(), ir.K(0), func() {
				e.B.Op2(ir.Add, p, q.V(), ir.K(int64(len(part.lit))))
				e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
			}, nil)
			e.B.Clear(m)
		})
		return
	}
	// Characters that may be any come first: the rest is then found behind so many.
	for part.rest[0].lit == "" {
		e.B.Break(once, ir.UGE, p.V(), stop.V())
		nextChar(e, p, stop)
		part.rest = part.rest[1:]
	}
	least := 0
	for _, piece := range part.rest {
		least += max(len(piece.lit), 1)
	}
	places(e, once, p, stop, part.rest[0].lit, least, func(l int32, q ir.Reg) {
		end := e.Int("end")
		e.B.Mov(end, q.V())
		m := matchAt(e, end, stop, part)
		if toEnd {
			e.When(ir.NE, end.V(), stop.V(), func() { e.B.Mov(m, ir.K(0)) }, nil)
		}
		e.When(ir.NE, m.V(), ir.K(0), func() {
			e.B.Mov(p, end.V())
			e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.B.Clear(m, end)
	})
}

// hasLiteral tells whether a part has more than wildcards.
func (p likePart) hasLiteral() bool {
	for _, piece := range p.rest {
		if piece.lit != "" {
			return true
		}
	}
	return p.lit != ""
}

// countByMasks opens a register with the number of characters from p up to end: of the bytes
// that do not continue one. p is used up.
func countByMasks(e *code.Emitter, p, end ir.Reg) ir.Reg {
	r := e.Int("length")
	e.B.Mov(r, ir.K(0))
	e.Loop(func(l int32) {
		e.B.Break(l, ir.UGE, p.V(), end.V())
		chars, beyond := e.Int("chars"), e.Int("beyond")
		e.B.MaskRange(chars, ir.K(-1), ir.K(0xC0), ir.K(0xBF), ir.At(p, 0), 1)
		e.B.Op2(ir.Sub, beyond, p.V(), end.V())
		e.B.Op2(ir.Add, beyond, beyond.V(), ir.K(64))
		dropTop(e, chars, beyond)
		e.B.Op1(ir.Popcnt, chars, chars.V())
		e.B.Op2(ir.Add, r, r.V(), chars.V())
		e.B.Clear(chars, beyond)
		e.B.Op2(ir.Add, p, p.V(), ir.K(64))
	})
	return r
}

// rarestTwo is the positions i <= j of the two rarest bytes of a literal, at most 63 apart;
// i = j if it has only one.
func rarestTwo(lit string) (i, j int) {
	i = rarest(lit)
	j = -1
	for k := max(0, i-63); k < min(len(lit), i+64); k++ {
		if k != i && (j < 0 || rarity(lit[k]) > rarity(lit[j])) {
			j = k
		}
	}
	if j < 0 {
		j = i
	}
	return min(i, j), max(i, j)
}

// rarity ranks bytes by how seldom texts contain them, from the frequency of letters in English.
func rarity(c byte) int {
	const common = " etaoinsrhldcumfpgwybvkxjqz"
	if r := strings.IndexByte(common, c|0x20); r >= 0 && c|0x20 != ' ' {
		return r
	}
	if c == ' ' {
		return 0
	}
	return len(common)
}
