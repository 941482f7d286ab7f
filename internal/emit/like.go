package emit

import (
	"github.com/kelpiedb/kelpie/internal/diag"
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

// parseLike cuts a pattern at its % signs. Backslash takes the next character literally.
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
	for i := 0; i < len(pat); i++ {
		switch c := pat[i]; c {
		case '%':
			if i == 0 {
				start = false
			}
			end = i != len(pat)-1
			flush()
		case '_':
			flushLit()
			cur.rest = append(cur.rest, likePiece{})
		case '\\':
			if i+1 == len(pat) {
				panic(unsupported{diag.Errorf(diag.InvalidEscapeSequence, pos, "LIKE pattern must not end with escape character")})
			}
			i++
			lit = append(lit, pat[i])
		default:
			lit = append(lit, c)
		}
	}
	flush()
	return parts, start, end
}

// likePattern is v LIKE a pattern; v is used up. pos is where errors of the pattern are shown.
func (e *coder) likePattern(v value, pattern string, pos int) value {
	parts, start, end := parseLike(pattern, pos)
	return e.matchPattern(v, parts, start, end)
}

// matchPattern matches parts in order: the first at the start of the text if start, the last
// at its end if end, the others wherever they are found first.
func (e *coder) matchPattern(v value, parts []likePart, start, end bool) value {
	if v.isNull() {
		e.free(v)
		return e.nullValue(types.TBool)
	}
	v = e.text(v)
	n, own := e.anyNull(v)
	ok := e.int("like")
	switch {
	case len(parts) == 0:
		if start && end { // the empty pattern
			e.b.Set(ok, ir.EQ, v.b, ir.K(0))
		} else {
			e.b.Mov(ok, ir.K(1))
		}
	case len(parts) == 1 && start && end && parts[0].rest == nil:
		t := e.equalLiteral(v, parts[0].lit)
		e.b.Mov(ok, t.V())
		e.b.Clear(t)
	default:
		e.b.Mov(ok, ir.K(0))
		p, stop := e.int("p"), e.int("stop")
		e.b.Mov(p, v.a)
		e.b.Op2(ir.Add, stop, v.a, v.b)
		// A loop that runs once: leaving it early is a mismatch.
		once := e.b.Loop()
		e.block(func() {
			last := len(parts)
			if end && parts[last-1].rest == nil && !(start && last == 1) {
				// A literal end is tested first and cut off.
				lit := parts[last-1].lit
				t := e.int("tail")
				e.b.Op2(ir.Sub, t, stop.V(), ir.K(int64(len(lit))))
				e.b.Break(once, ir.LT, t.V(), p.V())
				m := e.bytesAre(t, lit)
				e.b.Break(once, ir.EQ, m.V(), ir.K(0))
				e.b.Mov(stop, t.V())
				e.b.Clear(m, t)
				last--
			}
			for i, part := range parts[:last] {
				toEnd := end && i == len(parts)-1
				if i == 0 && start {
					m := e.matchAt(p, stop, part)
					e.b.Break(once, ir.EQ, m.V(), ir.K(0))
					e.b.Clear(m)
					if toEnd {
						e.b.Break(once, ir.NE, p.V(), stop.V())
					}
					continue
				}
				e.search(once, p, stop, part, toEnd)
			}
			e.b.Mov(ok, ir.K(1))
		})
		e.b.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
		e.b.Clear(p, stop)
	}
	e.free(v)
	if !n.IsImm() {
		e.b.Sel(ok, ir.NE, n, ir.K(0), ir.K(0), ok.V())
	}
	return boolVal(ok).withNull(n, own)
}

// search moves p past the first match of a part at or after p, or breaks out of once.
func (e *coder) search(once int32, p, stop ir.Reg, part likePart, toEnd bool) {
	if e.Can.Masks && part.hasLiteral() {
		e.searchPlaces(once, p, stop, part, toEnd)
		return
	}
	if part.rest == nil {
		e.searchLiteral(once, p, stop, part.lit)
		return
	}
	e.loop(func(l int32) {
		q := e.int("q")
		e.b.Mov(q, p.V())
		m := e.matchAt(q, stop, part)
		if toEnd {
			e.when(ir.NE, q.V(), stop.V(), func() { e.b.Mov(m, ir.K(0)) }, nil)
		}
		e.when(ir.NE, m.V(), ir.K(0), func() {
			e.b.Mov(p, q.V())
			e.b.Break(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.b.Clear(m, q)
		e.b.Break(once, ir.UGE, p.V(), stop.V())
		e.nextChar(p, stop)
	})
}

// searchLiteral looks for the literal's rarest byte, eight positions at a time, and compares
// the whole only where it stands.
func (e *coder) searchLiteral(once int32, p, stop ir.Reg, lit string) {
	at := rarest(lit)
	const ones, tops = 0x0101010101010101, -0x7f7f7f7f7f7f7f80
	last := e.int("last") // the last place where the literal can begin
	e.b.Op2(ir.Sub, last, stop.V(), ir.K(int64(len(lit))))
	e.loop(func(l int32) {
		e.b.Break(once, ir.GT, p.V(), last.V())
		// A byte of x is zero where the rare byte stands; the trick below sets its top bit, and
		// sometimes also that of a 1 above it: the comparison finds out.
		x, t := e.int("bytes"), e.int("zero")
		e.loadBytes(x, ir.At(p, at))
		e.b.Op2(ir.Xor, x, x.V(), ir.K(int64(uint64(lit[at])*ones)))
		e.b.Op2(ir.Sub, t, x.V(), ir.K(ones))
		e.b.Op1(ir.Not, x, x.V())
		e.b.Op2(ir.And, t, t.V(), x.V())
		e.b.Op2(ir.And, t, t.V(), ir.K(tops))
		e.when(ir.EQ, t.V(), ir.K(0), func() {
			e.b.Op2(ir.Add, p, p.V(), ir.K(8))
			e.b.Continue(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.b.Op1(ir.Ctz, t, t.V())
		e.b.Op2(ir.Shr, t, t.V(), ir.K(3))
		e.b.Op2(ir.Add, p, p.V(), t.V())
		e.b.Clear(x, t)
		e.b.Break(once, ir.GT, p.V(), last.V())
		m := e.bytesAre(p, lit)
		e.when(ir.NE, m.V(), ir.K(0), func() {
			e.b.Op2(ir.Add, p, p.V(), ir.K(int64(len(lit))))
			e.b.Break(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.b.Clear(m)
		e.b.Op2(ir.Add, p, p.V(), ir.K(1))
	})
	e.b.Clear(last)
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
func (e *coder) matchAt(p, stop ir.Reg, part likePart) ir.Reg {
	ok := e.int("match")
	e.b.Mov(ok, ir.K(0))
	pieces := part.rest
	if pieces == nil {
		pieces = []likePiece{{part.lit}}
	}
	once := e.b.Loop()
	e.block(func() {
		for _, piece := range pieces {
			if piece.lit == "" {
				e.b.Break(once, ir.UGE, p.V(), stop.V())
				e.nextChar(p, stop)
				continue
			}
			room := e.int("room")
			e.b.Op2(ir.Sub, room, stop.V(), p.V())
			e.b.Break(once, ir.LT, room.V(), ir.K(int64(len(piece.lit))))
			e.b.Clear(room)
			m := e.bytesAre(p, piece.lit)
			e.b.Break(once, ir.EQ, m.V(), ir.K(0))
			e.b.Clear(m)
			e.b.Op2(ir.Add, p, p.V(), ir.K(int64(len(piece.lit))))
		}
		e.b.Mov(ok, ir.K(1))
	})
	e.b.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	return ok
}
