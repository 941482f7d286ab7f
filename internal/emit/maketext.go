package emit

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Functions that make texts write them to a space of the worker's own, which lasts as long as the
// query. Texts that only a comparison or a search has looked at, and keys of groups that were there
// already, are overwritten by the next. The executor is asked for more space when there is none, and
// for what only Go knows: the letters beyond ASCII.

// textWord reads a word of the space for texts into a register.
func (e *coder) textWord(r ir.Reg, off int) {
	e.b.Load8(r, ir.At(ir.Ctx, e.word(Word{Kind: WordTexts})))
	e.b.Load8(r, ir.At(r, off))
}

// setTextWord writes one.
func (e *coder) setTextWord(off int, v ir.Val) {
	s := e.loadWord("texts", Word{Kind: WordTexts})
	e.b.Store(ir.At(s, off), v, 8)
	e.b.Clear(s)
}

// textRoom opens a register with the address at which n bytes can be written.
func (e *coder) textRoom(n ir.Val) ir.Reg {
	p, t, end := e.int("text"), e.int("t"), e.int("end")
	e.textWord(p, layout.TextCur)
	e.textWord(end, layout.TextEnd)
	e.b.Op2(ir.Add, t, p.V(), n)
	e.when(ir.UGE, t.V(), end.V(), func() { // also at the very beginning, when all are 0
		e.setTextWord(layout.TextArg, n)
		e.b.Yield(layout.YieldText)
		e.textWord(p, layout.TextCur)
	}, nil)
	e.b.Clear(t, end)
	return p
}

// madeText is the text from p up to end, which stays.
func (e *coder) madeText(p, end ir.Reg, n ir.Val, own bool) value {
	e.setTextWord(layout.TextCur, end.V())
	return e.part(p, end, n, own)
}

// copyBytes copies n bytes to dst by words; up to 7 more are read and written, for which there is room
// behind every text.
func (e *coder) copyBytes(dst, src ir.Reg, n ir.Val) {
	i, w := e.int("i"), e.int("word")
	e.b.Mov(i, ir.K(0))
	e.loop(func(l int32) {
		e.b.Break(l, ir.GE, i.V(), n)
		e.b.Load8(w, ir.AtIndex(src, i, 1, 0))
		e.b.Store(ir.AtIndex(dst, i, 1, 0), w.V(), 8)
		e.b.Op2(ir.Add, i, i.V(), ir.K(8))
	})
	e.b.Clear(i, w)
}

// copyLiteral writes a literal to dst; up to 7 more bytes may be written.
func (e *coder) copyLiteral(dst ir.Reg, lit string) {
	for i := 0; i < len(lit); i += 8 {
		var w [8]byte
		copy(w[:], lit[i:])
		e.b.Store(ir.At(dst, i), ir.K(int64(binary.LittleEndian.Uint64(w[:]))), 8)
	}
}

// lengthOf opens a register with a text's length, 0 for NULL.
func (e *coder) lengthOf(v value) ir.Reg {
	n := e.int("len")
	if v.null.IsImm() {
		e.b.Mov(n, v.b)
	} else {
		e.b.Sel(n, ir.NE, v.null, ir.K(0), ir.K(0), v.b)
	}
	return n
}

// maxLiteral is the longest literal that is written by immediate words.
const maxLiteral = 64

// textPart is a part of a text to be made: a literal of up to maxLiteral bytes or, where that is empty, a value.
type textPart struct {
	lit string
	v   value
}

// concat puts texts together; the values are used up.
func (e *coder) concat(parts []textPart) value {
	vs := make([]value, 0, len(parts))
	lens := make([]ir.Reg, len(parts))
	fixed := 0
	total := e.int("total")
	e.b.Mov(total, ir.K(0))
	for i := range parts {
		p := &parts[i]
		if fixed += len(p.lit); p.lit != "" {
			continue
		}
		p.v = e.text(p.v)
		vs = append(vs, p.v)
		lens[i] = e.lengthOf(p.v)
		e.b.Op2(ir.Add, total, total.V(), lens[i].V())
	}
	e.b.Op2(ir.Add, total, total.V(), ir.K(int64(fixed)))
	n, own := e.anyNull(vs...)
	p := e.textRoom(total.V())
	e.b.Clear(total)
	out := e.int("out")
	e.b.Mov(out, p.V())
	for i, part := range parts {
		if part.lit != "" {
			e.copyLiteral(out, part.lit)
			e.b.Op2(ir.Add, out, out.V(), ir.K(int64(len(part.lit))))
			continue
		}
		src, ownSrc := e.reg(part.v.a, "src")
		e.copyBytes(out, src, lens[i].V())
		if ownSrc {
			e.b.Clear(src)
		}
		e.b.Op2(ir.Add, out, out.V(), lens[i].V())
		e.b.Clear(lens[i])
		e.free(part.v)
	}
	return e.madeText(p, out, n, own)
}

// changeCase is lower and upper: ASCII eight letters at a time, all else in Go. v is used up.
func (e *coder) changeCase(v value, upper bool) value {
	const ones, tops = 0x0101010101010101, -0x7f7f7f7f7f7f7f80
	v = e.text(v)
	n, own := e.anyNull(v)
	if n == ir.K(1) {
		e.free(v)
		return e.nullValue(types.TText)
	}
	size := e.lengthOf(v)
	p := e.textRoom(size.V())
	first, last := int64('A'), int64('Z')
	if upper {
		first, last = 'a', 'z'
	}
	i, all := e.int("i"), e.int("all")
	e.b.Mov(i, ir.K(0))
	e.b.Mov(all, ir.K(0))
	src, ownSrc := e.reg(v.a, "src")
	e.loop(func(l int32) {
		left := e.int("left")
		e.b.Op2(ir.Sub, left, size.V(), i.V())
		e.b.Break(l, ir.LE, left.V(), ir.K(0))
		w, t, u := e.int("word"), e.int("t"), e.int("u")
		e.b.Load8(w, ir.AtIndex(src, i, 1, 0))
		e.when(ir.LT, left.V(), ir.K(8), func() { // what follows the text is no part of it
			e.b.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.b.Op2(ir.Sub, left, ir.K(64), left.V())
			e.b.Op2(ir.Shl, w, w.V(), left.V())
			e.b.Op2(ir.Shr, w, w.V(), left.V())
		}, nil)
		e.b.Op2(ir.Or, all, all.V(), w.V())
		// Without their top bits the sums below do not carry from byte to byte; the top bit of
		// one tells ≥ first, that of the other > last.
		e.b.Op2(ir.And, t, w.V(), ir.K(ones*0x7f))
		e.b.Op2(ir.Add, u, t.V(), ir.K(ones*(0x80-first)))
		e.b.Op2(ir.Add, t, t.V(), ir.K(ones*(0x7f-last)))
		e.b.Op2(ir.Xor, t, t.V(), u.V())
		e.b.Op2(ir.And, t, t.V(), ir.K(tops))
		e.b.Op2(ir.Shr, t, t.V(), ir.K(2)) // 0x20 for each letter
		e.b.Op2(ir.Xor, w, w.V(), t.V())
		e.b.Store(ir.AtIndex(p, i, 1, 0), w.V(), 8)
		e.b.Op2(ir.Add, i, i.V(), ir.K(8))
		e.b.Clear(left, w, t, u)
	})
	e.b.Clear(i)
	e.b.Op2(ir.And, all, all.V(), ir.K(tops))
	e.when(ir.EQ, all.V(), ir.K(0), func() {
		e.b.Op2(ir.Add, size, size.V(), p.V())
		e.setTextWord(layout.TextCur, size.V())
	}, func() {
		status := int32(layout.YieldLower)
		if upper {
			status = layout.YieldUpper
		}
		e.setTextWord(layout.TextArg, src.V())
		e.setTextWord(layout.TextArg+8, size.V())
		e.b.Yield(status)
		e.textWord(p, layout.TextArg)
		e.textWord(size, layout.TextArg+8)
		e.b.Op2(ir.Add, size, size.V(), p.V())
	})
	e.b.Clear(all)
	if ownSrc {
		e.b.Clear(src)
	}
	e.free(v)
	return e.part(p, size, n, own)
}

// replace puts one literal in place of another; v is used up.
func (e *coder) replace(v value, from, to string) value {
	v = e.text(v)
	n, own := e.anyNull(v)
	if n == ir.K(1) {
		e.free(v)
		return e.nullValue(types.TText)
	}
	size := e.lengthOf(v)
	room := e.int("room")
	e.b.Mov(room, size.V())
	if more := len(to) - len(from); more > 0 {
		e.b.Op2(ir.Div, room, room.V(), ir.K(int64(len(from))))
		e.b.Op2(ir.Mul, room, room.V(), ir.K(int64(more)))
		e.b.Op2(ir.Add, room, room.V(), size.V())
	}
	p := e.textRoom(room.V())
	e.b.Clear(room)
	out, src, stop, at := e.int("out"), e.int("src"), e.int("stop"), e.int("at")
	e.b.Mov(out, p.V())
	e.b.Mov(src, v.a)
	e.b.Op2(ir.Add, stop, src.V(), size.V())
	upTo := func() { // copies from src up to at
		t := e.int("n")
		e.b.Op2(ir.Sub, t, at.V(), src.V())
		e.copyBytes(out, src, t.V())
		e.b.Op2(ir.Add, out, out.V(), t.V())
		e.b.Clear(t)
	}
	once := e.b.Loop() // left where the literal does not occur any more
	e.block(func() {
		e.b.Mov(at, src.V())
		e.searchLiteral(once, at, stop, from)
		e.b.Op2(ir.Sub, at, at.V(), ir.K(int64(len(from))))
		upTo()
		e.b.Op2(ir.Add, src, at.V(), ir.K(int64(len(from))))
		if len(to) <= maxLiteral {
			e.copyLiteral(out, to)
		} else {
			k := e.poolAt("to", to)
			e.copyBytes(out, k, ir.K(int64(len(to))))
			e.b.Clear(k)
		}
		e.b.Op2(ir.Add, out, out.V(), ir.K(int64(len(to))))
	})
	e.b.EndLoop(once, ir.Always, ir.K(0), ir.K(0))
	e.b.Mov(at, stop.V())
	upTo()
	e.b.Clear(src, stop, at, size)
	e.free(v)
	return e.madeText(p, out, n, own)
}

// twoDigits are 00 to 99.
var twoDigits = func() string {
	var b []byte
	for i := range 100 {
		b = append(b, byte('0'+i/10), byte('0'+i%10))
	}
	return string(b)
}()

// integerText writes an integer in decimal, from its end, two digits at a time.
func (e *coder) integerText(v value) value {
	const room = 24
	n, own := e.anyNull(v)
	p := e.textRoom(ir.K(room))
	end, rest, sign := e.int("end"), e.int("rest"), e.int("sign")
	e.b.Op2(ir.Add, end, p.V(), ir.K(room))
	e.b.Mov(p, end.V())
	e.b.Mov(rest, v.a)
	e.b.Op2(ir.Sar, sign, rest.V(), ir.K(63))
	digits, d, q := e.poolAt("digits", twoDigits), e.int("d"), e.int("q")
	e.loop(func(l int32) {
		e.b.Op2(ir.Div, q, rest.V(), ir.K(100))
		e.b.Op2(ir.Mul, d, q.V(), ir.K(100))
		e.b.Op2(ir.Sub, d, rest.V(), d.V())
		e.b.Op2(ir.Xor, d, d.V(), sign.V()) // its size: the least integer has no opposite, its digits do
		e.b.Op2(ir.Sub, d, d.V(), sign.V())
		e.b.Load(rest, ir.AtIndex(digits, d, 2, 0), 2, false)
		e.b.Op2(ir.Sub, p, p.V(), ir.K(2))
		e.b.Store(ir.At(p, 0), rest.V(), 2)
		e.b.Mov(rest, q.V())
		e.b.Break(l, ir.EQ, rest.V(), ir.K(0))
	})
	e.b.Set(q, ir.LT, d.V(), ir.K(10))
	e.b.Op2(ir.Add, p, p.V(), q.V())
	e.when(ir.NE, sign.V(), ir.K(0), func() {
		e.b.Op2(ir.Sub, p, p.V(), ir.K(1))
		e.b.Store(ir.At(p, 0), ir.K('-'), 1)
	}, nil)
	e.b.Clear(rest, sign, digits, d, q)
	e.free(v)
	return e.madeText(p, end, n, own)
}

// markTexts opens a register with the place where texts that are made from now on will begin.
func (e *coder) markTexts() ir.Reg {
	mark := e.int("mark")
	e.textWord(mark, layout.TextCur)
	return mark
}

// dropTexts takes the space of all texts made since mark back. If a new piece of space was begun
// since, it is all that can be taken back.
func (e *coder) dropTexts(mark ir.Reg) {
	start, t, cur := e.int("start"), e.int("t"), e.int("cur")
	e.textWord(start, layout.TextStart)
	e.textWord(cur, layout.TextCur)
	e.b.Op2(ir.Sub, t, mark.V(), start.V())
	e.b.Op2(ir.Sub, cur, cur.V(), start.V())
	e.b.Sel(t, ir.ULE, t.V(), cur.V(), mark.V(), start.V())
	e.setTextWord(layout.TextCur, t.V())
	e.b.Clear(start, t, cur)
}
