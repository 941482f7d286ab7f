package text

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Strings are read by 8-byte words, or 64 bytes at a time (mask.go). Storage is padded so
// that reading past the end of a string is harmless; the bytes that do not belong to it are
// masked off.

// Compare opens a register with cond(l, r).
func Compare(e *code.Emitter, c ir.Cond, l, r code.Value) ir.Reg {
	if c == ir.EQ || c == ir.NE {
		return Equal(e, c, l, r)
	}
	// The first word that differs decides, read as big-endian numbers; else the lengths.
	res, n, i := e.Int("order"), e.Int("common"), e.Int("i")
	e.B.Sel(n, ir.ULT, l.B, r.B, l.B, r.B)
	e.B.Op2(ir.Sub, res, l.B, r.B)
	e.B.Mov(i, ir.K(0))
	e.Loop(func(lp int32) {
		e.B.Break(lp, ir.GE, i.V(), n.V())
		a, b := wordAt(e, l.A, i), wordAt(e, r.A, i)
		e.B.Op1(ir.Bswap, a, a.V())
		e.B.Op1(ir.Bswap, b, b.V())
		left := e.Int("left") // bits of the last word that count
		e.B.Op2(ir.Sub, left, n.V(), i.V())
		e.When(ir.LT, left.V(), ir.K(8), func() {
			e.B.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.B.Op2(ir.Sub, left, ir.K(64), left.V())
			e.B.Op2(ir.Shr, a, a.V(), left.V())
			e.B.Op2(ir.Shr, b, b.V(), left.V())
		}, nil)
		e.B.Clear(left)
		e.When(ir.NE, a.V(), b.V(), func() {
			e.B.Sel(res, ir.ULT, a.V(), b.V(), ir.K(-1), ir.K(1))
			e.B.Break(lp, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.B.Op2(ir.Add, i, i.V(), ir.K(8))
		e.B.Clear(a, b)
	})
	e.B.Set(res, c, res.V(), ir.K(0))
	e.B.Clear(n, i)
	return res
}

func wordAt(e *code.Emitter, base ir.Val, i ir.Reg) ir.Reg {
	w := e.Int("word")
	if base.IsImm() { // NULL has no bytes
		e.B.Mov(w, ir.K(0))
		return w
	}
	loadBytes(e, w, ir.AtIndex(base.R, i, 1, 0))
	return w
}

// loadBytes reads 8 bytes from any address. Where only multiples of 8 can be read it takes the word with the
// first byte and the word with the last, which are the same when the address is such a multiple, so that nothing
// else is touched.
func loadBytes(e *code.Emitter, d ir.Reg, m ir.Mem) {
	loadWord(e, d, m)
	if e.Folds != code.FoldNone {
		foldCase(e, d, e.Folds, true)
	}
}

func loadWord(e *code.Emitter, d ir.Reg, m ir.Mem) {
	if e.Can.Unaligned {
		e.B.Load8(d, m)
		return
	}
	at, sh, hi := e.Int("at"), e.Int("shift"), e.Int("next")
	e.B.Lea(at, m)
	e.B.Op2(ir.And, sh, at.V(), ir.K(7))
	e.B.Op2(ir.Shl, sh, sh.V(), ir.K(3))
	e.B.Op2(ir.Add, hi, at.V(), ir.K(7))
	e.B.Op2(ir.And, hi, hi.V(), ir.K(^7))
	e.B.Op2(ir.And, at, at.V(), ir.K(^7))
	e.B.Load8(d, ir.At(at, 0))
	e.B.Load8(hi, ir.At(hi, 0))
	e.B.Op2(ir.Shr, d, d.V(), sh.V())
	// By 64 - shift, in two steps: shifting by 64 would shift by 0.
	e.B.Op2(ir.Xor, sh, sh.V(), ir.K(63))
	e.B.Op2(ir.Shl, hi, hi.V(), ir.K(1))
	e.B.Op2(ir.Shl, hi, hi.V(), sh.V())
	e.B.Op2(ir.Or, d, d.V(), hi.V())
	e.B.Clear(at, sh, hi)
}

// Equal opens a register with l = r (or l <> r).
func Equal(e *code.Emitter, c ir.Cond, l, r code.Value) ir.Reg {
	res := e.Int("equal")
	e.B.Set(res, ir.EQ, l.B, r.B)
	e.When(ir.NE, res.V(), ir.K(0), func() {
		i := e.Int("i")
		e.B.Mov(i, ir.K(0))
		e.Loop(func(lp int32) {
			left := e.Int("left")
			e.B.Op2(ir.Sub, left, l.B, i.V())
			e.B.Break(lp, ir.LE, left.V(), ir.K(0))
			a := xorWords(e, l.A, r.A, i, left)
			e.When(ir.NE, a.V(), ir.K(0), func() {
				e.B.Mov(res, ir.K(0))
				e.B.Break(lp, ir.Always, ir.K(0), ir.K(0))
			}, nil)
			e.B.Op2(ir.Add, i, i.V(), ir.K(8))
			e.B.Clear(left, a)
		})
		e.B.Clear(i)
	}, nil)
	if c == ir.NE {
		e.B.Op2(ir.Xor, res, res.V(), ir.K(1))
	}
	return res
}

// xorWords opens a register with the bits in which 8 bytes of two texts differ, from byte i on; left are the bytes that they have from there on, more than 0. It is
// used up.
func xorWords(e *code.Emitter, l, r ir.Val, i, left ir.Reg) ir.Reg {
	a, b := wordAt(e, l, i), wordAt(e, r, i)
	e.B.Op2(ir.Xor, a, a.V(), b.V())
	e.When(ir.LT, left.V(), ir.K(8), func() { // little-endian: low bytes come first
		e.B.Op2(ir.Shl, left, left.V(), ir.K(3))
		e.B.Op2(ir.Sub, left, ir.K(64), left.V())
		e.B.Op2(ir.Shl, a, a.V(), left.V())
	}, nil)
	e.B.Clear(b)
	return a
}

// Difference opens a register that is not 0 if two texts of n bytes, more than i, differ in the 8 bytes from byte i on.
func Difference(e *code.Emitter, l, r ir.Val, i ir.Reg, n ir.Val) ir.Reg {
	left := e.Int("left")
	e.B.Op2(ir.Sub, left, n, i.V())
	a := xorWords(e, l, r, i, left)
	e.B.Clear(left)
	return a
}

// bytesAre opens a register telling whether the bytes at [p] begin with a literal, which is not
// empty and has been checked to fit.
func bytesAre(e *code.Emitter, p ir.Reg, lit string) ir.Reg {
	if e.Brief {
		k := e.Constant(types.TextValue(lit))
		t := Equal(e, ir.EQ, code.Value{Desc: k.Desc, A: p.V(), B: k.B, Null: ir.K(0)}, k)
		e.Free(k)
		return t
	}
	ok := e.Int("match")
	var step func(off int)
	step = func(off int) {
		k := min(8, len(lit)-off)
		var w [8]byte
		copy(w[:], lit[off:off+k])
		word := e.Int("word")
		loadBytes(e, word, ir.At(p, off))
		want := int64(binary.LittleEndian.Uint64(w[:]))
		switch {
		case e.Can.Parameters: // any number of bytes
			e.B.Op2(ir.And, word, word.V(), e.Fact(int64(^uint64(0)>>(64-8*k))))
		case k < 8:
			e.B.Op2(ir.Shl, word, word.V(), ir.K(int64(64-8*k)))
			want <<= 64 - 8*k
		}
		e.B.Set(ok, ir.EQ, word.V(), e.Fact(want))
		e.B.Clear(word)
		if off+k < len(lit) {
			e.When(ir.NE, ok.V(), ir.K(0), func() { step(off + k) }, nil)
		}
	}
	step(0)
	return ok
}

// EqualLiteral opens a register with text = literal.
func EqualLiteral(e *code.Emitter, v code.Value, lit string) ir.Reg {
	ok := e.Int("equal")
	e.B.Set(ok, ir.EQ, v.B, e.Fact(int64(len(lit))))
	if len(lit) > 0 {
		e.When(ir.NE, ok.V(), ir.K(0), func() {
			t := bytesAre(e, v.A.R, lit)
			e.B.Mov(ok, t.V())
			e.B.Clear(t)
		}, nil)
	}
	return ok
}

// Substring is the characters of v from start on, counted from 1, up to count of them or, if that is nil, to
// the end. All are used up. pos is where an error is shown.
func Substring(e *code.Emitter, v, start code.Value, count *code.Value, pos int) code.Value {
	v = e.Text(v)
	n, own := e.AnyNull(v, start)
	p, q, end := e.Int("from"), e.Int("to"), e.Int("end")
	e.B.Mov(p, v.A)
	e.B.Op2(ir.Add, end, v.A, v.B)
	skip := e.Int("skip")
	e.B.Op2(ir.Sub, skip, start.A, ir.K(1))
	var left ir.Reg
	if count != nil {
		n2, own2 := e.AnyNull(*count)
		if n2 != ir.K(0) {
			m := e.Int("null")
			e.B.Op2(ir.Or, m, n, n2)
			e.FreeNull(n, own)
			e.FreeNull(n2, own2)
			n, own = m.V(), true
		}
		left = e.Int("count")
		e.B.Mov(left, count.A)
		fail := e.Fail(diag.Errorf(diag.SubstringError, pos, "negative substring length not allowed"))
		switch {
		case n == ir.K(1): // there is nothing to refuse
			e.B.Mov(left, ir.K(0))
		case n != ir.K(0):
			e.B.Sel(left, ir.NE, n, ir.K(0), ir.K(0), left.V())
		}
		e.Exit(fail, ir.LT, left.V(), ir.K(0))
		// A start before the text uses up part of the count.
		t := e.Int("before")
		e.B.Op2(ir.Add, t, left.V(), skip.V())
		e.B.Sel(left, ir.LT, skip.V(), ir.K(0), t.V(), left.V())
		e.B.Clear(t)
	}
	skipChars(e, p, end, skip)
	if count != nil {
		e.B.Mov(q, p.V())
		skipChars(e, q, end, left)
		e.B.Clear(left)
		e.Free(*count)
	} else {
		e.B.Mov(q, end.V())
	}
	e.B.Clear(end, skip)
	e.Free(v, start)
	return part(e, p, q, n, own)
}

// FixedSubstring is characters from to to-1 of a text, at most the eighth. Where a word shows that
// all of them are there and of one byte, there is nothing to count. v is used up.
func FixedSubstring(e *code.Emitter, v code.Value, from, to int64) code.Value {
	n, own := e.AnyNull(v)
	p, q, ascii := e.Int("from"), e.Int("to"), e.Int("ascii")
	e.B.Set(ascii, ir.UGE, v.B, ir.K(to))
	e.When(ir.NE, ascii.V(), ir.K(0), func() {
		w := e.Int("word")
		loadBytes(e, w, ir.At(v.A.R, 0))
		e.B.Op2(ir.And, w, w.V(), ir.K(int64(uint64(0x8080808080808080)>>(64-8*to))))
		e.B.Set(ascii, ir.EQ, w.V(), ir.K(0))
		e.B.Clear(w)
	}, nil)
	e.B.Op2(ir.Add, p, v.A, ir.K(from))
	e.B.Op2(ir.Add, q, v.A, ir.K(to))
	e.When(ir.EQ, ascii.V(), ir.K(0), func() {
		end, k := e.Int("end"), e.Int("k")
		e.B.Op2(ir.Add, end, v.A, v.B)
		e.B.Mov(p, v.A)
		e.B.Mov(k, ir.K(from))
		skipChars(e, p, end, k)
		e.B.Mov(q, p.V())
		e.B.Mov(k, ir.K(to-from))
		skipChars(e, q, end, k)
		e.B.Clear(end, k)
	}, nil)
	e.B.Clear(ascii)
	e.Free(v)
	return part(e, p, q, n, own)
}

// skipChars moves p over up to n characters, not beyond end; n is used up.
func skipChars(e *code.Emitter, p, end, n ir.Reg) {
	w := e.Int("word") // ASCII goes eight at a time
	e.Loop(func(l int32) {
		e.B.Break(l, ir.LT, n.V(), ir.K(8))
		e.B.Op2(ir.Sub, w, end.V(), p.V())
		e.B.Break(l, ir.LT, w.V(), ir.K(8))
		loadBytes(e, w, ir.At(p, 0))
		e.B.Op2(ir.And, w, w.V(), ir.K(topBits))
		e.B.Break(l, ir.NE, w.V(), ir.K(0))
		e.B.Op2(ir.Add, p, p.V(), ir.K(8))
		e.B.Op2(ir.Sub, n, n.V(), ir.K(8))
	})
	e.B.Clear(w)
	e.Loop(func(l int32) {
		e.B.Break(l, ir.LE, n.V(), ir.K(0))
		e.B.Break(l, ir.UGE, p.V(), end.V())
		nextChar(e, p, end)
		e.B.Op2(ir.Sub, n, n.V(), ir.K(1))
	})
}

// nextChar moves p over one UTF-8 character.
func nextChar(e *code.Emitter, p, end ir.Reg) {
	e.Loop(func(l int32) {
		e.B.Op2(ir.Add, p, p.V(), ir.K(1))
		e.B.Break(l, ir.UGE, p.V(), end.V())
		c := e.Int("byte")
		e.B.Load(c, ir.At(p, 0), 1, false)
		e.B.Op2(ir.And, c, c.V(), ir.K(0xC0))
		e.B.Break(l, ir.NE, c.V(), ir.K(0x80)) // continuation bytes are 10xxxxxx
		e.B.Clear(c)
	})
}
