package emit

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Strings are read by 8-byte words, or 64 bytes at a time (textmask.go). Storage is padded so
// that reading past the end of a string is harmless; the bytes that do not belong to it are
// masked off.

// textCompare opens a register with cond(l, r).
func (e *coder) textCompare(c ir.Cond, l, r value) ir.Reg {
	if c == ir.EQ || c == ir.NE {
		return e.textEqual(c, l, r)
	}
	// The first word that differs decides, read as big-endian numbers; else the lengths.
	res, n, i := e.int("order"), e.int("common"), e.int("i")
	e.b.Sel(n, ir.ULT, l.b, r.b, l.b, r.b)
	e.b.Op2(ir.Sub, res, l.b, r.b)
	e.b.Mov(i, ir.K(0))
	e.loop(func(lp int32) {
		e.b.Break(lp, ir.GE, i.V(), n.V())
		a, b := e.wordAt(l.a, i), e.wordAt(r.a, i)
		e.b.Op1(ir.Bswap, a, a.V())
		e.b.Op1(ir.Bswap, b, b.V())
		left := e.int("left") // bits of the last word that count
		e.b.Op2(ir.Sub, left, n.V(), i.V())
		e.when(ir.LT, left.V(), ir.K(8), func() {
			e.b.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.b.Op2(ir.Sub, left, ir.K(64), left.V())
			e.b.Op2(ir.Shr, a, a.V(), left.V())
			e.b.Op2(ir.Shr, b, b.V(), left.V())
		}, nil)
		e.b.Clear(left)
		e.when(ir.NE, a.V(), b.V(), func() {
			e.b.Sel(res, ir.ULT, a.V(), b.V(), ir.K(-1), ir.K(1))
			e.b.Break(lp, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.b.Op2(ir.Add, i, i.V(), ir.K(8))
		e.b.Clear(a, b)
	})
	e.b.Set(res, c, res.V(), ir.K(0))
	e.b.Clear(n, i)
	return res
}

func (e *coder) wordAt(base ir.Val, i ir.Reg) ir.Reg {
	w := e.int("word")
	if base.IsImm() { // NULL has no bytes
		e.b.Mov(w, ir.K(0))
		return w
	}
	e.loadBytes(w, ir.AtIndex(base.R, i, 1, 0))
	return w
}

// loadBytes reads 8 bytes from any address. Where only multiples of 8 can be read it takes the word with the
// first byte and the word with the last, which are the same when the address is such a multiple, so that nothing
// else is touched.
func (e *coder) loadBytes(d ir.Reg, m ir.Mem) {
	if e.Can.Unaligned {
		e.b.Load8(d, m)
		return
	}
	at, sh, hi := e.int("at"), e.int("shift"), e.int("next")
	e.b.Lea(at, m)
	e.b.Op2(ir.And, sh, at.V(), ir.K(7))
	e.b.Op2(ir.Shl, sh, sh.V(), ir.K(3))
	e.b.Op2(ir.Add, hi, at.V(), ir.K(7))
	e.b.Op2(ir.And, hi, hi.V(), ir.K(^7))
	e.b.Op2(ir.And, at, at.V(), ir.K(^7))
	e.b.Load8(d, ir.At(at, 0))
	e.b.Load8(hi, ir.At(hi, 0))
	e.b.Op2(ir.Shr, d, d.V(), sh.V())
	// By 64 - shift, in two steps: shifting by 64 would shift by 0.
	e.b.Op2(ir.Xor, sh, sh.V(), ir.K(63))
	e.b.Op2(ir.Shl, hi, hi.V(), ir.K(1))
	e.b.Op2(ir.Shl, hi, hi.V(), sh.V())
	e.b.Op2(ir.Or, d, d.V(), hi.V())
	e.b.Clear(at, sh, hi)
}

// textEqual opens a register with l = r (or l <> r).
func (e *coder) textEqual(c ir.Cond, l, r value) ir.Reg {
	res := e.int("equal")
	e.b.Set(res, ir.EQ, l.b, r.b)
	e.when(ir.NE, res.V(), ir.K(0), func() {
		i := e.int("i")
		e.b.Mov(i, ir.K(0))
		e.loop(func(lp int32) {
			left := e.int("left")
			e.b.Op2(ir.Sub, left, l.b, i.V())
			e.b.Break(lp, ir.LE, left.V(), ir.K(0))
			a, b := e.wordAt(l.a, i), e.wordAt(r.a, i)
			e.b.Op2(ir.Xor, a, a.V(), b.V())
			e.when(ir.LT, left.V(), ir.K(8), func() { // little-endian: low bytes come first
				e.b.Op2(ir.Shl, left, left.V(), ir.K(3))
				e.b.Op2(ir.Sub, left, ir.K(64), left.V())
				e.b.Op2(ir.Shl, a, a.V(), left.V())
			}, nil)
			e.when(ir.NE, a.V(), ir.K(0), func() {
				e.b.Mov(res, ir.K(0))
				e.b.Break(lp, ir.Always, ir.K(0), ir.K(0))
			}, nil)
			e.b.Op2(ir.Add, i, i.V(), ir.K(8))
			e.b.Clear(left, a, b)
		})
		e.b.Clear(i)
	}, nil)
	if c == ir.NE {
		e.b.Op2(ir.Xor, res, res.V(), ir.K(1))
	}
	return res
}

// bytesAre opens a register telling whether the bytes at [p] begin with a literal, which has
// been checked to fit.
func (e *coder) bytesAre(p ir.Reg, lit string) ir.Reg {
	ok := e.int("match")
	e.b.Mov(ok, ir.K(1))
	var step func(off int)
	step = func(off int) {
		if off >= len(lit) {
			return
		}
		k := min(8, len(lit)-off)
		var w [8]byte
		copy(w[:], lit[off:off+k])
		word := e.int("word")
		e.loadBytes(word, ir.At(p, off))
		if k < 8 {
			e.b.Op2(ir.Shl, word, word.V(), ir.K(int64(64-8*k)))
		}
		want := int64(binary.LittleEndian.Uint64(w[:]) << (64 - 8*k))
		e.b.Set(ok, ir.EQ, word.V(), ir.K(want))
		e.b.Clear(word)
		if off+k < len(lit) {
			e.when(ir.NE, ok.V(), ir.K(0), func() { step(off + k) }, nil)
		}
	}
	step(0)
	return ok
}

// equalLiteral opens a register with text = literal.
func (e *coder) equalLiteral(v value, lit string) ir.Reg {
	ok := e.int("equal")
	e.b.Set(ok, ir.EQ, v.b, ir.K(int64(len(lit))))
	if len(lit) > 0 {
		e.when(ir.NE, ok.V(), ir.K(0), func() {
			t := e.bytesAre(v.a.R, lit)
			e.b.Mov(ok, t.V())
			e.b.Clear(t)
		}, nil)
	}
	return ok
}

// substring is the characters of v from start on, counted from 1, up to count of them or, if that is nil, to
// the end. All are used up. pos is where an error is shown.
func (e *coder) substring(v, start value, count *value, pos int) value {
	v = e.text(v)
	n, own := e.anyNull(v, start)
	p, q, end := e.int("from"), e.int("to"), e.int("end")
	e.b.Mov(p, v.a)
	e.b.Op2(ir.Add, end, v.a, v.b)
	skip := e.int("skip")
	e.b.Op2(ir.Sub, skip, start.a, ir.K(1))
	var left ir.Reg
	if count != nil {
		n2, own2 := e.anyNull(*count)
		if n2 != ir.K(0) {
			m := e.int("null")
			e.b.Op2(ir.Or, m, n, n2)
			e.freeNull(n, own)
			e.freeNull(n2, own2)
			n, own = m.V(), true
		}
		left = e.int("count")
		e.b.Mov(left, count.a)
		fail := e.fail(diag.Errorf(diag.SubstringError, pos, "negative substring length not allowed"))
		if !n.IsImm() {
			e.b.Sel(left, ir.NE, n, ir.K(0), ir.K(0), left.V())
		}
		e.exit(fail, ir.LT, left.V(), ir.K(0))
		// A start before the text uses up part of the count.
		t := e.int("before")
		e.b.Op2(ir.Add, t, left.V(), skip.V())
		e.b.Sel(left, ir.LT, skip.V(), ir.K(0), t.V(), left.V())
		e.b.Clear(t)
	}
	e.skipChars(p, end, skip)
	if count != nil {
		e.b.Mov(q, p.V())
		e.skipChars(q, end, left)
		e.b.Clear(left)
		e.free(*count)
	} else {
		e.b.Mov(q, end.V())
	}
	e.b.Clear(end, skip)
	e.free(v, start)
	return e.part(p, q, n, own)
}

// fixedSubstring is characters from to to-1 of a text, at most the eighth. Where a word shows that
// all of them are there and of one byte, there is nothing to count. v is used up.
func (e *coder) fixedSubstring(v value, from, to int64) value {
	n, own := e.anyNull(v)
	p, q, ascii := e.int("from"), e.int("to"), e.int("ascii")
	e.b.Set(ascii, ir.UGE, v.b, ir.K(to))
	e.when(ir.NE, ascii.V(), ir.K(0), func() {
		w := e.int("word")
		e.loadBytes(w, ir.At(v.a.R, 0))
		e.b.Op2(ir.And, w, w.V(), ir.K(int64(uint64(0x8080808080808080)>>(64-8*to))))
		e.b.Set(ascii, ir.EQ, w.V(), ir.K(0))
		e.b.Clear(w)
	}, nil)
	e.b.Op2(ir.Add, p, v.a, ir.K(from))
	e.b.Op2(ir.Add, q, v.a, ir.K(to))
	e.when(ir.EQ, ascii.V(), ir.K(0), func() {
		end, k := e.int("end"), e.int("k")
		e.b.Op2(ir.Add, end, v.a, v.b)
		e.b.Mov(p, v.a)
		e.b.Mov(k, ir.K(from))
		e.skipChars(p, end, k)
		e.b.Mov(q, p.V())
		e.b.Mov(k, ir.K(to-from))
		e.skipChars(q, end, k)
		e.b.Clear(end, k)
	}, nil)
	e.b.Clear(ascii)
	e.free(v)
	return e.part(p, q, n, own)
}

// skipChars moves p over up to n characters, not beyond end; n is used up.
func (e *coder) skipChars(p, end, n ir.Reg) {
	w := e.int("word") // ASCII goes eight at a time
	e.loop(func(l int32) {
		e.b.Break(l, ir.LT, n.V(), ir.K(8))
		e.b.Op2(ir.Sub, w, end.V(), p.V())
		e.b.Break(l, ir.LT, w.V(), ir.K(8))
		e.loadBytes(w, ir.At(p, 0))
		e.b.Op2(ir.And, w, w.V(), ir.K(topBits))
		e.b.Break(l, ir.NE, w.V(), ir.K(0))
		e.b.Op2(ir.Add, p, p.V(), ir.K(8))
		e.b.Op2(ir.Sub, n, n.V(), ir.K(8))
	})
	e.b.Clear(w)
	e.loop(func(l int32) {
		e.b.Break(l, ir.LE, n.V(), ir.K(0))
		e.b.Break(l, ir.UGE, p.V(), end.V())
		e.nextChar(p, end)
		e.b.Op2(ir.Sub, n, n.V(), ir.K(1))
	})
}

// nextChar moves p over one UTF-8 character.
func (e *coder) nextChar(p, end ir.Reg) {
	e.loop(func(l int32) {
		e.b.Op2(ir.Add, p, p.V(), ir.K(1))
		e.b.Break(l, ir.UGE, p.V(), end.V())
		c := e.int("byte")
		e.b.Load(c, ir.At(p, 0), 1, false)
		e.b.Op2(ir.And, c, c.V(), ir.K(0xC0))
		e.b.Break(l, ir.NE, c.V(), ir.K(0x80)) // continuation bytes are 10xxxxxx
		e.b.Clear(c)
	})
}
