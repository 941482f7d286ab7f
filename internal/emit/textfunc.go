package emit

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Functions whose result is a part of their text need no memory: they move its ends.

// part is the text from p up to q, which become its address and length.
func (e *coder) part(p, q ir.Reg, n ir.Val, own bool) value {
	e.b.Op2(ir.Sub, q, q.V(), p.V())
	return value{d: layout.Desc{Type: types.TText, Form: layout.Str}, a: p.V(), b: q.V(), ownA: true, ownB: true}.withNull(n, own)
}

// ends opens registers with a text's first byte and the end.
func (e *coder) ends(v value) (p, end ir.Reg) {
	p, end = e.int("from"), e.int("end")
	e.b.Mov(p, v.a)
	e.b.Op2(ir.Add, end, v.a, v.b)
	return p, end
}

// countChars opens a register with the number of characters of a text.
func (e *coder) countChars(v value) ir.Reg {
	p, end := e.ends(v)
	if e.Can.Masks {
		r := e.countByMasks(p, end)
		e.b.Clear(p, end)
		return r
	}
	r := e.charsBetween(p, end)
	e.b.Clear(p, end)
	return r
}

const topBits = -0x7f7f7f7f7f7f7f80 // 0x80 in every byte

// charsBetween opens a register with the number of characters from p up to end: the bytes less those
// that continue a character, 10xxxxxx, eight at a time. p ends at end, or up to 7 bytes behind.
func (e *coder) charsBetween(p, end ir.Reg) ir.Reg {
	r, w, t, left := e.int("length"), e.int("word"), e.int("t"), e.int("left")
	e.b.Op2(ir.Sub, r, end.V(), p.V())
	e.loop(func(l int32) {
		e.b.Op2(ir.Sub, left, end.V(), p.V())
		e.b.Break(l, ir.LE, left.V(), ir.K(0))
		e.loadBytes(w, ir.At(p, 0))
		e.b.Op2(ir.Add, p, p.V(), ir.K(8))
		e.when(ir.LT, left.V(), ir.K(8), func() {
			e.b.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.b.Op2(ir.Sub, left, ir.K(64), left.V())
			e.b.Op2(ir.Shl, w, w.V(), left.V())
		}, nil)
		e.b.Op2(ir.And, t, w.V(), ir.K(topBits))
		e.when(ir.NE, t.V(), ir.K(0), func() {
			e.b.Op2(ir.Shl, w, w.V(), ir.K(1)) // the second bit of each byte comes to its top
			e.b.Op1(ir.Not, w, w.V())
			e.b.Op2(ir.And, t, t.V(), w.V())
			e.b.Op1(ir.Popcnt, t, t.V())
			e.b.Op2(ir.Sub, r, r.V(), t.V())
		}, nil)
	})
	e.b.Clear(w, t, left)
	return r
}

// firstChars is the first k characters of a text: VARCHAR(k). v is used up.
func (e *coder) firstChars(v value, k int64) value {
	v = e.text(v)
	n, own := e.anyNull(v)
	p, end := e.ends(v)
	q, count := e.int("to"), e.int("count")
	e.b.Mov(q, p.V())
	e.b.Mov(count, ir.K(k))
	e.skipChars(q, end, count)
	e.b.Clear(count, end)
	e.free(v)
	return e.part(p, q, n, own)
}

// leftChars is left(text, k): a negative k counts from the other end. v and k are used up.
func (e *coder) leftChars(v, k value) value {
	v = e.text(v)
	n, own := e.anyNull(v, k)
	count, t := e.countChars(v), e.int("t")
	p, end := e.ends(v)
	e.b.Op2(ir.Add, t, count.V(), k.a)
	e.b.Sel(count, ir.LT, k.a, ir.K(0), t.V(), k.a)
	q := e.int("to")
	e.b.Mov(q, p.V())
	e.skipChars(q, end, count)
	e.b.Clear(end, count, t)
	e.free(v, k)
	return e.part(p, q, n, own)
}

// rightChars is right(text, k), likewise.
func (e *coder) rightChars(v, k value) value {
	v = e.text(v)
	n, own := e.anyNull(v, k)
	count, t := e.countChars(v), e.int("t")
	p, end := e.ends(v)
	e.b.Op2(ir.Sub, count, count.V(), k.a)
	e.b.Op2(ir.Sub, t, ir.K(0), k.a)
	e.b.Sel(t, ir.LT, t.V(), ir.K(0), ir.K(math.MaxInt64), t.V()) // the least integer has no negative
	e.b.Sel(count, ir.LT, k.a, ir.K(0), t.V(), count.V())
	e.skipChars(p, end, count)
	e.b.Clear(count, t)
	e.free(v, k)
	return e.part(p, end, n, own)
}

// maxBack is how many characters are cheaper to go back over than to count from the start.
const maxBack = 32

// lastChars is the last k characters of a text. v is used up.
func (e *coder) lastChars(v value, k int64) value {
	v = e.text(v)
	n, own := e.anyNull(v)
	p, end := e.ends(v)
	if !n.IsImm() { // NULL has no bytes to look at
		e.b.Sel(end, ir.NE, n, ir.K(0), p.V(), end.V())
	}
	q, count, c := e.int("from"), e.int("count"), e.int("byte")
	e.b.Mov(q, end.V())
	e.b.Mov(count, ir.K(k))
	e.loop(func(l int32) {
		e.b.Break(l, ir.LE, count.V(), ir.K(0))
		e.b.Break(l, ir.ULE, q.V(), p.V())
		e.b.Op2(ir.Sub, q, q.V(), ir.K(1))
		e.b.Load(c, ir.At(q, 0), 1, false)
		e.b.Op2(ir.And, c, c.V(), ir.K(0xC0))
		e.b.Set(c, ir.NE, c.V(), ir.K(0x80)) // a byte that begins a character
		e.b.Op2(ir.Sub, count, count.V(), c.V())
	})
	e.b.Clear(count, c, p)
	e.free(v)
	return e.part(q, end, n, own)
}

// trim takes characters of a literal set off the ends; v is used up. They are ASCII, so bytes can be compared.
func (e *coder) trim(v value, set string, start, stop bool) value {
	v = e.text(v)
	n, own := e.anyNull(v)
	p, end := e.ends(v)
	e.free(v)
	cut := func(at func(c ir.Reg), step func()) {
		e.loop(func(l int32) {
			e.b.Break(l, ir.UGE, p.V(), end.V())
			c := e.int("byte")
			at(c)
			if len(set) == 1 {
				e.b.Break(l, ir.NE, c.V(), ir.K(int64(set[0])))
			} else {
				in, t := e.int("in"), e.int("t")
				e.b.Mov(in, ir.K(0))
				for i := range len(set) {
					e.b.Set(t, ir.EQ, c.V(), ir.K(int64(set[i])))
					e.b.Op2(ir.Or, in, in.V(), t.V())
				}
				e.b.Break(l, ir.EQ, in.V(), ir.K(0))
				e.b.Clear(in, t)
			}
			e.b.Clear(c)
			step()
		})
	}
	if start {
		cut(func(c ir.Reg) { e.b.Load(c, ir.At(p, 0), 1, false) }, func() { e.b.Op2(ir.Add, p, p.V(), ir.K(1)) })
	}
	if stop {
		cut(func(c ir.Reg) { e.b.Load(c, ir.At(end, -1), 1, false) }, func() { e.b.Op2(ir.Sub, end, end.V(), ir.K(1)) })
	}
	return e.part(p, end, n, own)
}

// positionOf is where a literal first occurs, in characters from 1; 0 if it does not. v is used up.
func (e *coder) positionOf(v value, lit string, t types.Type) value {
	n, own := e.anyNull(v)
	r := e.int("position")
	if lit == "" {
		e.b.Mov(r, ir.K(1))
		e.free(v)
		return intVal(t, r, layout.Between(1, 1)).withNull(n, own)
	}
	e.b.Mov(r, ir.K(0))
	p, stop := e.ends(v)
	once := e.b.Loop()
	e.block(func() {
		e.search(once, p, stop, likePart{lit: lit}, false)
		e.b.Op2(ir.Sub, p, p.V(), ir.K(int64(len(lit))))
		q := e.int("q")
		e.b.Mov(q, v.a)
		if e.Can.Masks {
			before := e.countByMasks(q, p)
			e.b.Op2(ir.Add, r, before.V(), ir.K(1))
			e.b.Clear(before, q)
			return
		}
		n := e.charsBetween(q, p)
		e.b.Op2(ir.Add, r, n.V(), ir.K(1))
		e.b.Clear(q, n)
	})
	e.b.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	e.b.Clear(p, stop)
	e.free(v)
	return intVal(t, r, layout.Between(0, 1<<31-1)).withNull(n, own)
}

// beginsWith is whether a text begins with a literal, which is valid UTF-8; v is used up.
func (e *coder) beginsWith(v value, lit string) value {
	var parts []likePart
	if lit != "" { // a part without letters would be _
		parts = []likePart{{lit: lit}}
	}
	return e.matchPattern(v, parts, true, false)
}

// startsWith is whether v begins with w; both are used up.
func (e *coder) startsWith(v, w value) value {
	v, w = e.text(v), e.text(w)
	n, own := e.anyNull(v, w)
	if n == ir.K(1) {
		e.free(v, w)
		return e.nullValue(types.TBool)
	}
	ok := e.int("prefix")
	e.b.Set(ok, ir.UGE, v.b, w.b)
	e.when(ir.NE, ok.V(), ir.K(0), func() {
		head := v.borrowed()
		head.b = w.b
		t := e.textEqual(ir.EQ, head, w.borrowed())
		e.b.Mov(ok, t.V())
		e.b.Clear(t)
	}, nil)
	e.free(v, w)
	if !n.IsImm() {
		e.b.Sel(ok, ir.NE, n, ir.K(0), ir.K(0), ok.V())
	}
	return boolVal(ok).withNull(n, own)
}
