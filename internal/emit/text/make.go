package text

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Functions that make texts write them to a space of the worker's own, which lasts as long as the
// query. Texts that only a comparison or a search has looked at, and keys of groups that were there
// already, are overwritten by the next. The executor is asked for more space when there is none, and
// for what only Go knows: the letters beyond ASCII.

// word reads a word of the space for texts into a register.
func word(e *code.Emitter, r ir.Reg, off int) {
	e.B.Load8(r, ir.At(ir.Ctx, e.Word(code.Word{Kind: code.WordTexts})))
	e.B.Load8(r, ir.At(r, off))
}

// setWord writes one.
func setWord(e *code.Emitter, off int, v ir.Val) {
	s := e.LoadWord("texts", code.Word{Kind: code.WordTexts})
	e.B.Store(ir.At(s, off), v, 8)
	e.B.Clear(s)
}

// roomFor opens a register with the address at which n bytes can be written.
func roomFor(e *code.Emitter, n ir.Val) ir.Reg {
	p, t, end := e.Int("text"), e.Int("t"), e.Int("end")
	word(e, p, layout.TextCur)
	word(e, end, layout.TextEnd)
	e.B.Op2(ir.Add, t, p.V(), n)
	e.When(ir.UGE, t.V(), end.V(), func() { // also at the very beginning, when all are 0
		setWord(e, layout.TextArg, n)
		e.B.Yield(layout.YieldText)
		word(e, p, layout.TextCur)
	}, nil)
	e.B.Clear(t, end)
	return p
}

// made is the text from p up to end, which stays.
func made(e *code.Emitter, p, end ir.Reg, n ir.Val, own bool) code.Value {
	setWord(e, layout.TextCur, end.V())
	return part(e, p, end, n, own)
}

// copyBytes copies n bytes to dst by words; up to 7 more are read and written, for which there is room
// behind every text.
func copyBytes(e *code.Emitter, dst, src ir.Reg, n ir.Val) {
	i, w := e.Int("i"), e.Int("word")
	e.B.Mov(i, ir.K(0))
	e.Loop(func(l int32) {
		e.B.Break(l, ir.GE, i.V(), n)
		e.B.Load8(w, ir.AtIndex(src, i, 1, 0))
		e.B.Store(ir.AtIndex(dst, i, 1, 0), w.V(), 8)
		e.B.Op2(ir.Add, i, i.V(), ir.K(8))
	})
	e.B.Clear(i, w)
}

// copyLiteral writes a literal to dst; up to 7 more bytes may be written.
func copyLiteral(e *code.Emitter, dst ir.Reg, lit string) {
	for i := 0; i < len(lit); i += 8 {
		var w [8]byte
		copy(w[:], lit[i:])
		e.B.Store(ir.At(dst, i), ir.K(int64(binary.LittleEndian.Uint64(w[:]))), 8)
	}
}

// lengthOf opens a register with a text's length, 0 for NULL.
func lengthOf(e *code.Emitter, v code.Value) ir.Reg {
	n := e.Int("len")
	if v.Null.IsImm() {
		e.B.Mov(n, v.B)
	} else {
		e.B.Sel(n, ir.NE, v.Null, ir.K(0), ir.K(0), v.B)
	}
	return n
}

// MaxLiteral is the longest literal that is written by immediate words.
const MaxLiteral = 64

// Part is a part of a text to be made: a literal of up to MaxLiteral bytes or, where that is empty, a value.
type Part struct {
	Lit   string
	Value code.Value
}

// Concat puts texts together; the values are used up.
func Concat(e *code.Emitter, parts []Part) code.Value {
	vs := make([]code.Value, 0, len(parts))
	lens := make([]ir.Reg, len(parts))
	fixed := 0
	total := e.Int("total")
	e.B.Mov(total, ir.K(0))
	for i := range parts {
		p := &parts[i]
		if fixed += len(p.Lit); p.Lit != "" {
			continue
		}
		p.Value = e.Text(p.Value)
		vs = append(vs, p.Value)
		lens[i] = lengthOf(e, p.Value)
		e.B.Op2(ir.Add, total, total.V(), lens[i].V())
	}
	e.B.Op2(ir.Add, total, total.V(), ir.K(int64(fixed)))
	n, own := e.AnyNull(vs...)
	p := roomFor(e, total.V())
	e.B.Clear(total)
	out := e.Int("out")
	e.B.Mov(out, p.V())
	for i, part := range parts {
		if part.Lit != "" {
			copyLiteral(e, out, part.Lit)
			e.B.Op2(ir.Add, out, out.V(), ir.K(int64(len(part.Lit))))
			continue
		}
		src, ownSrc := e.Reg(part.Value.A, "src")
		copyBytes(e, out, src, lens[i].V())
		if ownSrc {
			e.B.Clear(src)
		}
		e.B.Op2(ir.Add, out, out.V(), lens[i].V())
		e.B.Clear(lens[i])
		e.Free(part.Value)
	}
	return made(e, p, out, n, own)
}

// ChangeCase is lower and upper: ASCII eight letters at a time, all else in Go. v is used up.
func ChangeCase(e *code.Emitter, v code.Value, upper bool) code.Value {
	const ones, tops = 0x0101010101010101, -0x7f7f7f7f7f7f7f80
	v = e.Text(v)
	n, own := e.AnyNull(v)
	if n == ir.K(1) {
		e.Free(v)
		return e.NullValue(types.TText)
	}
	size := lengthOf(e, v)
	p := roomFor(e, size.V())
	first, last := int64('A'), int64('Z')
	if upper {
		first, last = 'a', 'z'
	}
	i, all := e.Int("i"), e.Int("all")
	e.B.Mov(i, ir.K(0))
	e.B.Mov(all, ir.K(0))
	src, ownSrc := e.Reg(v.A, "src")
	e.Loop(func(l int32) {
		left := e.Int("left")
		e.B.Op2(ir.Sub, left, size.V(), i.V())
		e.B.Break(l, ir.LE, left.V(), ir.K(0))
		w, t, u := e.Int("word"), e.Int("t"), e.Int("u")
		e.B.Load8(w, ir.AtIndex(src, i, 1, 0))
		e.When(ir.LT, left.V(), ir.K(8), func() { // what follows the text is no part of it
			e.B.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.B.Op2(ir.Sub, left, ir.K(64), left.V())
			e.B.Op2(ir.Shl, w, w.V(), left.V())
			e.B.Op2(ir.Shr, w, w.V(), left.V())
		}, nil)
		e.B.Op2(ir.Or, all, all.V(), w.V())
		// Without their top bits the sums below do not carry from byte to byte; the top bit of
		// one tells ≥ first, that of the other > last.
		e.B.Op2(ir.And, t, w.V(), ir.K(ones*0x7f))
		e.B.Op2(ir.Add, u, t.V(), ir.K(ones*(0x80-first)))
		e.B.Op2(ir.Add, t, t.V(), ir.K(ones*(0x7f-last)))
		e.B.Op2(ir.Xor, t, t.V(), u.V())
		e.B.Op2(ir.And, t, t.V(), ir.K(tops))
		e.B.Op2(ir.Shr, t, t.V(), ir.K(2)) // 0x20 for each letter
		e.B.Op2(ir.Xor, w, w.V(), t.V())
		e.B.Store(ir.AtIndex(p, i, 1, 0), w.V(), 8)
		e.B.Op2(ir.Add, i, i.V(), ir.K(8))
		e.B.Clear(left, w, t, u)
	})
	e.B.Clear(i)
	e.B.Op2(ir.And, all, all.V(), ir.K(tops))
	e.When(ir.EQ, all.V(), ir.K(0), func() {
		e.B.Op2(ir.Add, size, size.V(), p.V())
		setWord(e, layout.TextCur, size.V())
	}, func() {
		status := int32(layout.YieldLower)
		if upper {
			status = layout.YieldUpper
		}
		setWord(e, layout.TextArg, src.V())
		setWord(e, layout.TextArg+8, size.V())
		e.B.Yield(status)
		word(e, p, layout.TextArg)
		word(e, size, layout.TextArg+8)
		e.B.Op2(ir.Add, size, size.V(), p.V())
	})
	e.B.Clear(all)
	if ownSrc {
		e.B.Clear(src)
	}
	e.Free(v)
	return part(e, p, size, n, own)
}

// Replace puts one literal in place of another; v is used up.
func Replace(e *code.Emitter, v code.Value, from, to string) code.Value {
	v = e.Text(v)
	n, own := e.AnyNull(v)
	if n == ir.K(1) {
		e.Free(v)
		return e.NullValue(types.TText)
	}
	size := lengthOf(e, v)
	room := e.Int("room")
	e.B.Mov(room, size.V())
	if more := len(to) - len(from); more > 0 {
		e.B.Op2(ir.Div, room, room.V(), ir.K(int64(len(from))))
		e.B.Op2(ir.Mul, room, room.V(), ir.K(int64(more)))
		e.B.Op2(ir.Add, room, room.V(), size.V())
	}
	p := roomFor(e, room.V())
	e.B.Clear(room)
	out, src, stop, at := e.Int("out"), e.Int("src"), e.Int("stop"), e.Int("at")
	e.B.Mov(out, p.V())
	e.B.Mov(src, v.A)
	e.B.Op2(ir.Add, stop, src.V(), size.V())
	upTo := func() { // copies from src up to at
		t := e.Int("n")
		e.B.Op2(ir.Sub, t, at.V(), src.V())
		copyBytes(e, out, src, t.V())
		e.B.Op2(ir.Add, out, out.V(), t.V())
		e.B.Clear(t)
	}
	once := e.B.Loop() // left where the literal does not occur any more
	e.Block(func() {
		e.B.Mov(at, src.V())
		searchLiteral(e, once, at, stop, from)
		e.B.Op2(ir.Sub, at, at.V(), ir.K(int64(len(from))))
		upTo()
		e.B.Op2(ir.Add, src, at.V(), ir.K(int64(len(from))))
		if len(to) <= MaxLiteral {
			copyLiteral(e, out, to)
		} else {
			k := e.PoolAt("to", to)
			copyBytes(e, out, k, ir.K(int64(len(to))))
			e.B.Clear(k)
		}
		e.B.Op2(ir.Add, out, out.V(), ir.K(int64(len(to))))
	})
	e.B.EndLoop(once, ir.Always, ir.K(0), ir.K(0))
	e.B.Mov(at, stop.V())
	upTo()
	e.B.Clear(src, stop, at, size)
	e.Free(v)
	return made(e, p, out, n, own)
}

// twoDigits are 00 to 99.
var twoDigits = func() string {
	var b []byte
	for i := range 100 {
		b = append(b, byte('0'+i/10), byte('0'+i%10))
	}
	return string(b)
}()

// FromInteger writes an integer in decimal, from its end, two digits at a time.
func FromInteger(e *code.Emitter, v code.Value) code.Value {
	const room = 24
	n, own := e.AnyNull(v)
	p := roomFor(e, ir.K(room))
	end, rest, sign := e.Int("end"), e.Int("rest"), e.Int("sign")
	e.B.Op2(ir.Add, end, p.V(), ir.K(room))
	e.B.Mov(p, end.V())
	e.B.Mov(rest, v.A)
	e.B.Op2(ir.Sar, sign, rest.V(), ir.K(63))
	digits, d, q := e.PoolAt("digits", twoDigits), e.Int("d"), e.Int("q")
	e.Loop(func(l int32) {
		e.B.Op2(ir.Div, q, rest.V(), ir.K(100))
		e.B.Op2(ir.Mul, d, q.V(), ir.K(100))
		e.B.Op2(ir.Sub, d, rest.V(), d.V())
		e.B.Op2(ir.Xor, d, d.V(), sign.V()) // its size: the least integer has no opposite, its digits do
		e.B.Op2(ir.Sub, d, d.V(), sign.V())
		e.B.Load(rest, ir.AtIndex(digits, d, 2, 0), 2, false)
		e.B.Op2(ir.Sub, p, p.V(), ir.K(2))
		e.B.Store(ir.At(p, 0), rest.V(), 2)
		e.B.Mov(rest, q.V())
		e.B.Break(l, ir.EQ, rest.V(), ir.K(0))
	})
	e.B.Set(q, ir.LT, d.V(), ir.K(10))
	e.B.Op2(ir.Add, p, p.V(), q.V())
	e.When(ir.NE, sign.V(), ir.K(0), func() {
		e.B.Op2(ir.Sub, p, p.V(), ir.K(1))
		e.B.Store(ir.At(p, 0), ir.K('-'), 1)
	}, nil)
	e.B.Clear(rest, sign, digits, d, q)
	e.Free(v)
	return made(e, p, end, n, own)
}

// Mark opens a register with the place where texts that are made from now on will begin.
func Mark(e *code.Emitter) ir.Reg {
	mark := e.Int("mark")
	word(e, mark, layout.TextCur)
	return mark
}

// Drop takes the space of all texts made since mark back. If a new piece of space was begun
// since, it is all that can be taken back.
func Drop(e *code.Emitter, mark ir.Reg) {
	start, t, cur := e.Int("start"), e.Int("t"), e.Int("cur")
	word(e, start, layout.TextStart)
	word(e, cur, layout.TextCur)
	e.B.Op2(ir.Sub, t, mark.V(), start.V())
	e.B.Op2(ir.Sub, cur, cur.V(), start.V())
	e.B.Sel(t, ir.ULE, t.V(), cur.V(), mark.V(), start.V())
	setWord(e, layout.TextCur, t.V())
	e.B.Clear(start, t, cur)
}
