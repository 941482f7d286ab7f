package text

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// likeSteps are the parts of a pattern in the order in which they are looked for: each from where the one before ended.
type likeSteps struct {
	parts      []likePart
	start, end bool // the first is where the text begins, the last where it ends
}

// count is how many steps there are. A literal end is part of the first.
func (s likeSteps) count() int {
	if s.cutsEnd() {
		return max(len(s.parts)-1, 1)
	}
	return len(s.parts)
}

// cutsEnd reports that the end of the text is tested first, and cut off.
func (s likeSteps) cutsEnd() bool {
	last := len(s.parts) - 1
	return s.end && s.parts[last].rest == nil && !(s.start && last == 0)
}

// do is step k: it moves p behind the part, or breaks out of once.
func (s likeSteps) do(e *code.Emitter, once int32, k int, p, stop ir.Reg) {
	last := len(s.parts) - 1
	if k == 0 && s.cutsEnd() {
		lit := s.parts[last].lit
		t := e.Int("tail")
		e.B.Op2(ir.Sub, t, stop.V(), e.Fact(int64(len(lit))))
		e.B.Break(once, ir.LT, t.V(), p.V())
		m := bytesAre(e, t, lit)
		e.B.Break(once, ir.EQ, m.V(), ir.K(0))
		e.B.Mov(stop, t.V())
		e.B.Clear(m, t)
		if last == 0 {
			return
		}
	}
	part, toEnd := s.parts[k], s.end && k == last
	if k == 0 && s.start {
		m := matchAt(e, p, stop, part)
		e.B.Break(once, ir.EQ, m.V(), ir.K(0))
		e.B.Clear(m)
		if toEnd {
			e.B.Break(once, ir.NE, p.V(), stop.V())
		}
		return
	}
	search(e, once, p, stop, part, toEnd)
}

// LikeSteps is a LIKE pattern for whoever does something else between its parts.
type LikeSteps struct{ likeSteps }

// StepsOf finds the parts of a pattern; pos is where its errors are shown.
func StepsOf(pattern string, pos int) LikeSteps {
	parts, start, end := parseLike(pattern, pos)
	return LikeSteps{likeSteps{parts, start, end}}
}

// Count is how many steps there are.
func (s LikeSteps) Count() int { return s.count() }

// Do opens a register that tells whether step k finds its part in the text from p up to stop, and moves p behind it. The first step may move stop.
func (s LikeSteps) Do(e *code.Emitter, k int, p, stop ir.Reg) (found ir.Reg) {
	found = e.Int("found")
	e.B.Mov(found, ir.K(0))
	once := e.B.Loop()
	e.Block(func() {
		s.do(e, once, k, p, stop)
		e.B.Mov(found, ir.K(1))
	})
	e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	return found
}
