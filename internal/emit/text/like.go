package text

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/types"
)

// likePart is a stretch of a LIKE pattern between two %: literals and single-character
// wildcards in turn. Most parts are one literal.
type likePart struct {
	lit  string
	rest []likePiece // when there is more than one literal
}

type likePiece struct {
	lit string // "" is _
}

// parseLike cuts a pattern at its % signs.
func parseLike(pat string, pos int) (parts []likePart, start, end bool) {
	var cur likePart
	var lit []byte
	flushLit := func() {
		if len(lit) > 0 {
			cur.rest = append(cur.rest, likePiece{string(lit)})
			lit = lit[:0]
		}
	}
	flush := func() {
		flushLit()
		if len(cur.rest) == 1 && cur.rest[0].lit != "" {
			cur = likePart{lit: cur.rest[0].lit}
		}
		if cur.lit != "" || len(cur.rest) > 0 {
			parts = append(parts, cur)
		}
		cur = likePart{}
	}
	start, end = true, true
	first := true
	complete := funcs.EachLike(pat, func(t funcs.LikeToken, c byte) {
		end = t != funcs.LikeAny
		switch t {
		case funcs.LikeAny:
			start = start && !first
			flush()
		case funcs.LikeOne:
			flushLit()
			cur.rest = append(cur.rest, likePiece{})
		default:
			lit = append(lit, c)
		}
		first = false
	})
	if !complete {
		panic(code.Unsupported{Err: diag.Errorf(diag.InvalidEscapeSequence, pos, "LIKE pattern must not end with escape character")})
	}
	flush()
	return parts, start, end
}

// Like is v LIKE a pattern; v is used up. pos is where errors of the pattern are shown.
func Like(e *code.Emitter, v code.Value, pattern string, pos int) code.Value {
	parts, start, end := parseLike(pattern, pos)
	return matchPattern(e, v, parts, start, end)
}

// matchPattern matches parts in order: the first at the start of the text if start, the last
// at its end if end, the others wherever they are found first.
func matchPattern(e *code.Emitter, v code.Value, parts []likePart, start, end bool) code.Value {
	if v.IsNull() {
		e.Free(v)
		return e.NullValue(types.TBool)
	}
	v = e.Text(v)
	n, own := e.AnyNull(v)
	ok := e.Int("like")
	switch {
	case len(parts) == 0:
		if start && end { // the empty pattern
			e.B.Set(ok, ir.EQ, v.B, ir.K(0))
		} else {
			e.B.Mov(ok, ir.K(1))
		}
	case len(parts) == 1 && start && end && parts[0].rest == nil:
		t := EqualLiteral(e, v, parts[0].lit)
		e.B.Mov(ok, t.V())
		e.B.Clear(t)
	default:
		e.B.Mov(ok, ir.K(0))
		p, stop := e.Int("p"), e.Int("stop")
		e.B.Mov(p, v.A)
		e.B.Op2(ir.Add, stop, v.A, v.B)
		// A loop that runs once: leaving it early is a mismatch.
		once := e.B.Loop()
		e.Block(func() {
			steps := likeSteps{parts, start, end}
			for k := range steps.count() {
				steps.do(e, once, k, p, stop)
			}
			e.B.Mov(ok, ir.K(1))
		})
		e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
		e.B.Clear(p, stop)
	}
	e.Free(v)
	if !n.IsImm() {
		e.B.Sel(ok, ir.NE, n, ir.K(0), ir.K(0), ok.V())
	}
	return code.BoolValue(ok).WithNull(n, own)
}

// search moves p past the first match of a part at or after p, or breaks out of once.
func search(e *code.Emitter, once int32, p, stop ir.Reg, part likePart, toEnd bool) {
	if e.Can.Masks && part.hasLiteral() {
		searchPlaces(e, once, p, stop, part, toEnd)
		return
	}
	if part.rest == nil {
		searchLiteral(e, once, p, stop, part.lit)
		return
	}
	e.Loop(func(l int32) {
		q := e.Int("q")
		e.B.Mov(q, p.V())
		m := matchAt(e, q, stop, part)
		if toEnd {
			e.When(ir.NE, q.V(), stop.V(), func() { e.B.Mov(m, ir.K(0)) }, nil)
		}
		e.When(ir.NE, m.V(), ir.K(0), func() {
			e.B.Mov(p, q.V())
			e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.B.Clear(m, q)
		e.B.Break(once, ir.UGE, p.V(), stop.V())
		nextChar(e, p, stop)
	})
}

// searchLiteral looks for the literal's rarest byte, eight positions at a time, and compares
// the whole only where it stands.
func searchLiteral(e *code.Emitter, once int32, p, stop ir.Reg, lit string) {
	if !e.Can.Unaligned {
		searchAligned(e, once, p, stop, lit)
		return
	}
	rare := rarest(lit)
	const ones, tops = 0x0101010101010101, -0x7f7f7f7f7f7f7f80
	last := e.Int("last") // the last place where the literal can begin
	size := e.Fact(int64(len(lit)))
	e.B.Op2(ir.Sub, last, stop.V(), size)
	e.Loop(func(l int32) {
		e.B.Break(once, ir.GT, p.V(), last.V())
		// A byte of x is zero where the rare byte stands; the trick below sets its top bit, and
		// sometimes also that of a 1 above it: the comparison finds out.
		x, t := e.Int("bytes"), e.Int("zero")
		at := ir.At(p, rare)
		if off := e.Fact(int64(rare)); !off.IsImm() {
			at = ir.AtIndex(p, off.R, 1, 0)
		}
		loadBytes(e, x, at)
		e.B.Op2(ir.Xor, x, x.V(), e.Fact(int64(uint64(lit[rare])*ones)))
		e.B.Op2(ir.Sub, t, x.V(), ir.K(ones))
		e.B.Op1(ir.Not, x, x.V())
		e.B.Op2(ir.And, t, t.V(), x.V())
		e.B.Op2(ir.And, t, t.V(), ir.K(tops))
		e.When(ir.EQ, t.V(), ir.K(0), func() {
			e.B.Op2(ir.Add, p, p.V(), ir.K(8))
			e.B.Continue(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.B.Op1(ir.Ctz, t, t.V())
		e.B.Op2(ir.Shr, t, t.V(), ir.K(3))
		e.B.Op2(ir.Add, p, p.V(), t.V())
		e.B.Clear(x, t)
		e.B.Break(once, ir.GT, p.V(), last.V())
		m := bytesAre(e, p, lit)
		e.When(ir.NE, m.V(), ir.K(0), func() {
			e.B.Op2(ir.Add, p, p.V(), size)
			e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.B.Clear(m)
		e.B.Op2(ir.Add, p, p.V(), ir.K(1))
	})
	e.B.Clear(last)
}

// rarest is the position of the byte of a literal that texts contain least often.
func rarest(lit string) int {
	best := 0
	for i := range len(lit) {
		if rarity(lit[i]) > rarity(lit[best]) {
			best = i
		}
	}
	return best
}

// matchAt opens a register telling whether the part matches at p, and moves p past it.
func matchAt(e *code.Emitter, p, stop ir.Reg, part likePart) ir.Reg {
	ok := e.Int("match")
	e.B.Mov(ok, ir.K(0))
	pieces := part.rest
	if pieces == nil {
		pieces = []likePiece{{part.lit}}
	}
	once := e.B.Loop()
	e.Block(func() {
		for _, piece := range pieces {
			if piece.lit == "" {
				e.B.Break(once, ir.UGE, p.V(), stop.V())
				nextChar(e, p, stop)
				continue
			}
			room := e.Int("room")
			e.B.Op2(ir.Sub, room, stop.V(), p.V())
			size := e.Fact(int64(len(piece.lit)))
			e.B.Break(once, ir.LT, room.V(), size)
			e.B.Clear(room)
			m := bytesAre(e, p, piece.lit)
			e.B.Break(once, ir.EQ, m.V(), ir.K(0))
			e.B.Clear(m)
			e.B.Op2(ir.Add, p, p.V(), size)
		}
		e.B.Mov(ok, ir.K(1))
	})
	e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	return ok
}
