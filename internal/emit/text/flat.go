package text

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Flat is a LIKE pattern that begins with % and a word, which can be looked for in many texts that lie one behind the other. A text matches if behind some place of the
// word in it the rest does: what matches behind a later place does so behind the first.
type Flat struct {
	Word string
	rest []likePart
	end  bool // the rest ends where the text does
}

// FlatPattern reads a pattern; false: it is none of those, or has no end.
func FlatPattern(pattern string) (Flat, bool) {
	if !funcs.EachLike(pattern, func(funcs.LikeToken, byte) {}) {
		return Flat{}, false
	}
	parts, start, end := parseLike(pattern, -1)
	if start || len(parts) == 0 || parts[0].rest != nil {
		return Flat{}, false
	}
	return Flat{parts[0].lit, parts[1:], end}, true
}

// Pair is two letters of the word that stand side by side, the rarest, and where: what is looked for first. A word of one letter has a second one that it does not
// need.
func (f Flat) Pair() (at int, first, second byte, both bool) {
	k := rarestPair(f.Word)
	if k+1 == len(f.Word) {
		return k, f.Word[k], 0, false
	}
	return k, f.Word[k], f.Word[k+1], true
}

// Least is how many bytes a text has that matches, at least.
func (f Flat) Least() int {
	n := len(f.Word)
	for _, p := range f.rest {
		n += len(p.lit)
		for _, piece := range p.rest {
			n += max(len(piece.lit), 1)
		}
	}
	return n
}

// Is opens a register telling whether the word stands at p, where so many bytes can be read.
func (f Flat) Is(e *code.Emitter, p ir.Reg) ir.Reg { return bytesAre(e, p, f.Word) }

// Rest opens a register telling whether the rest of the pattern matches what is between p and stop.
func (f Flat) Rest(e *code.Emitter, p, stop ir.Reg) ir.Reg {
	n := e.Int("left")
	e.B.Op2(ir.Sub, n, stop.V(), p.V())
	v := code.Value{Desc: layout.Desc{Type: types.TText, Form: layout.Str}, A: p.V(), B: n.V(), Null: ir.K(0)}
	// What comes behind the last word is anything, unless the pattern ends with that.
	m := matchPattern(e, v, f.rest, f.end && len(f.rest) == 0, f.end)
	e.B.Clear(n)
	return m.A.R
}
