package text

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Functions whose result is a part of their text need no memory: they move its ends.

// part is the text from p up to q, which become its address and length.
func part(e *code.Emitter, p, q ir.Reg, n ir.Val, own bool) code.Value {
	e.B.Op2(ir.Sub, q, q.V(), p.V())
	return code.Value{Desc: layout.Desc{Type: types.TText, Form: layout.Str}, A: p.V(), B: q.V(), OwnA: true, OwnB: true}.WithNull(n, own)
}

// ends opens registers with a text's first byte and the end.
func ends(e *code.Emitter, v code.Value) (p, end ir.Reg) {
	p, end = e.Int("from"), e.Int("end")
	e.B.Mov(p, v.A)
	e.B.Op2(ir.Add, end, v.A, v.B)
	return p, end
}

// CountChars opens a register with the number of characters of a text.
func CountChars(e *code.Emitter, v code.Value) ir.Reg {
	p, end := ends(e, v)
	if e.Can.Masks {
		r := countByMasks(e, p, end)
		e.B.Clear(p, end)
		return r
	}
	r := charsBetween(e, p, end)
	e.B.Clear(p, end)
	return r
}

const topBits = -0x7f7f7f7f7f7f7f80 // 0x80 in every byte

// charsBetween opens a register with the number of characters from p up to end: the bytes less those
// that continue a character, 10xxxxxx, eight at a time. p ends at end, or up to 7 bytes behind.
func charsBetween(e *code.Emitter, p, end ir.Reg) ir.Reg {
	r, w, t, left := e.Int("length"), e.Int("word"), e.Int("t"), e.Int("left")
	e.B.Op2(ir.Sub, r, end.V(), p.V())
	e.Loop(func(l int32) {
		e.B.Op2(ir.Sub, left, end.V(), p.V())
		e.B.Break(l, ir.LE, left.V(), ir.K(0))
		loadBytes(e, w, ir.At(p, 0))
		e.B.Op2(ir.Add, p, p.V(), ir.K(8))
		e.When(ir.LT, left.V(), ir.K(8), func() {
			e.B.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.B.Op2(ir.Sub, left, ir.K(64), left.V())
			e.B.Op2(ir.Shl, w, w.V(), left.V())
		}, nil)
		e.B.Op2(ir.And, t, w.V(), ir.K(topBits))
		e.When(ir.NE, t.V(), ir.K(0), func() {
			e.B.Op2(ir.Shl, w, w.V(), ir.K(1)) // the second bit of each byte comes to its top
			e.B.Op1(ir.Not, w, w.V())
			e.B.Op2(ir.And, t, t.V(), w.V())
			e.B.Op1(ir.Popcnt, t, t.V())
			e.B.Op2(ir.Sub, r, r.V(), t.V())
		}, nil)
	})
	e.B.Clear(w, t, left)
	return r
}

// CountElements is how many elements a list has; those that are not NULL take width bytes each, behind a byte that is 1. v is used up.
func CountElements(e *code.Emitter, v code.Value, width int, t types.Type) code.Value {
	if v.IsNull() {
		e.Free(v)
		return e.NullValue(t)
	}
	v = e.Text(v)
	n, own := e.AnyNull(v)
	p, end := ends(e, v)
	count, tag := e.Int("count"), e.Int("tag")
	e.B.Mov(count, ir.K(0))
	e.B.Op2(ir.Sub, end, end.V(), ir.K(1)) // the last byte ends the list
	e.Loop(func(l int32) {
		e.B.Break(l, ir.GE, p.V(), end.V())
		e.B.Load(tag, ir.At(p, 0), 1, false)
		e.B.Sel(tag, ir.EQ, tag.V(), ir.K(1), ir.K(int64(width)+1), ir.K(1))
		e.B.Op2(ir.Add, p, p.V(), tag.V())
		e.B.Op2(ir.Add, count, count.V(), ir.K(1))
	})
	e.B.Clear(p, end, tag)
	e.Free(v)
	return code.IntValue(t, count, layout.Between(0, 1<<31-1)).WithNull(n, own)
}

// FirstChars is the first k characters of a text: VARCHAR(k). v is used up.
func FirstChars(e *code.Emitter, v code.Value, k int64) code.Value {
	v = e.Text(v)
	n, own := e.AnyNull(v)
	p, end := ends(e, v)
	q, count := e.Int("to"), e.Int("count")
	e.B.Mov(q, p.V())
	e.B.Mov(count, ir.K(k))
	skipChars(e, q, end, count)
	e.B.Clear(count, end)
	e.Free(v)
	return part(e, p, q, n, own)
}

// Left is left(text, k): a negative k counts from the other end. v and k are used up.
func Left(e *code.Emitter, v, k code.Value) code.Value {
	v = e.Text(v)
	n, own := e.AnyNull(v, k)
	count, t := CountChars(e, v), e.Int("t")
	p, end := ends(e, v)
	e.B.Op2(ir.Add, t, count.V(), k.A)
	e.B.Sel(count, ir.LT, k.A, ir.K(0), t.V(), k.A)
	q := e.Int("to")
	e.B.Mov(q, p.V())
	skipChars(e, q, end, count)
	e.B.Clear(end, count, t)
	e.Free(v, k)
	return part(e, p, q, n, own)
}

// Right is right(text, k), likewise.
func Right(e *code.Emitter, v, k code.Value) code.Value {
	v = e.Text(v)
	n, own := e.AnyNull(v, k)
	count, t := CountChars(e, v), e.Int("t")
	p, end := ends(e, v)
	e.B.Op2(ir.Sub, count, count.V(), k.A)
	e.B.Op2(ir.Sub, t, ir.K(0), k.A)
	e.B.Sel(t, ir.LT, t.V(), ir.K(0), ir.K(math.MaxInt64), t.V()) // the least integer has no negative
	e.B.Sel(count, ir.LT, k.A, ir.K(0), t.V(), count.V())
	skipChars(e, p, end, count)
	e.B.Clear(count, t)
	e.Free(v, k)
	return part(e, p, end, n, own)
}

// MaxBack is how many characters are cheaper to go back over than to count from the start.
const MaxBack = 32

// LastChars is the last k characters of a text. v is used up.
func LastChars(e *code.Emitter, v code.Value, k int64) code.Value {
	v = e.Text(v)
	n, own := e.AnyNull(v)
	p, end := ends(e, v)
	q, count, c := e.Int("from"), e.Int("count"), e.Int("byte")
	e.B.Mov(q, end.V())
	e.B.Mov(count, ir.K(k))
	e.Loop(func(l int32) {
		e.B.Break(l, ir.LE, count.V(), ir.K(0))
		e.B.Break(l, ir.ULE, q.V(), p.V())
		e.B.Op2(ir.Sub, q, q.V(), ir.K(1))
		e.B.Load(c, ir.At(q, 0), 1, false)
		e.B.Op2(ir.And, c, c.V(), ir.K(0xC0))
		e.B.Set(c, ir.NE, c.V(), ir.K(0x80)) // a byte that begins a character
		e.B.Op2(ir.Sub, count, count.V(), c.V())
	})
	e.B.Clear(count, c, p)
	e.Free(v)
	return part(e, q, end, n, own)
}

// Trim takes characters of a literal set off the ends; v is used up. They are ASCII, so bytes can be compared.
func Trim(e *code.Emitter, v code.Value, set string, start, stop bool) code.Value {
	v = e.Text(v)
	n, own := e.AnyNull(v)
	p, end := ends(e, v)
	e.Free(v)
	cut := func(at func(c ir.Reg), step func()) {
		e.Loop(func(l int32) {
			e.B.Break(l, ir.UGE, p.V(), end.V())
			c := e.Int("byte")
			at(c)
			if len(set) == 1 {
				e.B.Break(l, ir.NE, c.V(), ir.K(int64(set[0])))
			} else {
				in, t := e.Int("in"), e.Int("t")
				e.B.Mov(in, ir.K(0))
				for i := range len(set) {
					e.B.Set(t, ir.EQ, c.V(), ir.K(int64(set[i])))
					e.B.Op2(ir.Or, in, in.V(), t.V())
				}
				e.B.Break(l, ir.EQ, in.V(), ir.K(0))
				e.B.Clear(in, t)
			}
			e.B.Clear(c)
			step()
		})
	}
	if start {
		cut(func(c ir.Reg) { e.B.Load(c, ir.At(p, 0), 1, false) }, func() { e.B.Op2(ir.Add, p, p.V(), ir.K(1)) })
	}
	if stop {
		cut(func(c ir.Reg) { e.B.Load(c, ir.At(end, -1), 1, false) }, func() { e.B.Op2(ir.Sub, end, end.V(), ir.K(1)) })
	}
	return part(e, p, end, n, own)
}

// Position is where a literal first occurs, in characters from 1; 0 if it does not. v is used up.
func Position(e *code.Emitter, v code.Value, lit string, t types.Type) code.Value {
	n, own := e.AnyNull(v)
	r := e.Int("position")
	if lit == "" {
		e.B.Mov(r, ir.K(1))
		e.Free(v)
		return code.IntValue(t, r, layout.Between(1, 1)).WithNull(n, own)
	}
	e.B.Mov(r, ir.K(0))
	p, stop := ends(e, v)
	once := e.B.Loop()
	e.Block(func() {
		search(e, once, p, stop, likePart{lit: lit}, false)
		e.B.Op2(ir.Sub, p, p.V(), e.Fact(int64(len(lit))))
		q := e.Int("q")
		e.B.Mov(q, v.A)
		if e.Can.Masks {
			before := countByMasks(e, q, p)
			e.B.Op2(ir.Add, r, before.V(), ir.K(1))
			e.B.Clear(before, q)
			return
		}
		n := charsBetween(e, q, p)
		e.B.Op2(ir.Add, r, n.V(), ir.K(1))
		e.B.Clear(q, n)
	})
	e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	e.B.Clear(p, stop)
	e.Free(v)
	return code.IntValue(t, r, layout.Between(0, 1<<31-1)).WithNull(n, own)
}

// BeginsWith is whether a text begins with a literal, which is valid UTF-8; v is used up.
func BeginsWith(e *code.Emitter, v code.Value, lit string) code.Value {
	var parts []likePart
	if lit != "" { // a part without letters would be _
		parts = []likePart{{lit: lit}}
	}
	return matchPattern(e, v, parts, true, false)
}

// StartsWith is whether v begins with w; both are used up.
func StartsWith(e *code.Emitter, v, w code.Value) code.Value {
	v, w = e.Text(v), e.Text(w)
	n, own := e.AnyNull(v, w)
	if n == ir.K(1) {
		e.Free(v, w)
		return e.NullValue(types.TBool)
	}
	ok := e.Int("prefix")
	e.B.Set(ok, ir.UGE, v.B, w.B)
	e.When(ir.NE, ok.V(), ir.K(0), func() {
		head := v.Borrowed()
		head.B = w.B
		t := Equal(e, ir.EQ, head, w.Borrowed())
		e.B.Mov(ok, t.V())
		e.B.Clear(t)
	}, nil)
	e.Free(v, w)
	if !n.IsImm() {
		e.B.Sel(ok, ir.NE, n, ir.K(0), ir.K(0), ok.V())
	}
	return code.BoolValue(ok).WithNull(n, own)
}
