package text

import (
	"encoding/binary"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// ChangeCase is lower and upper: ASCII eight letters at a time, all else character by character. v is used up.
func ChangeCase(e *code.Emitter, v code.Value, upper bool) code.Value {
	v = e.Text(v)
	n, own := e.AnyNull(v)
	if n == ir.K(1) {
		e.Free(v)
		return e.NullValue(types.TText)
	}
	size := lengthOf(e, v)
	p := e.Texts.Room(size.V())
	fold := code.FoldLower
	if upper {
		fold = code.FoldUpper
	}
	i, all := e.Int("i"), e.Int("all")
	e.B.Mov(i, ir.K(0))
	e.B.Mov(all, ir.K(0))
	src, ownSrc := e.Reg(v.A, "src")
	e.Loop(func(l int32) {
		left := e.Int("left")
		e.B.Op2(ir.Sub, left, size.V(), i.V())
		e.B.Break(l, ir.LE, left.V(), ir.K(0))
		w := e.Int("word")
		loadBytes(e, w, ir.AtIndex(src, i, 1, 0))
		e.When(ir.LT, left.V(), ir.K(8), func() { // what follows the text is no part of it
			e.B.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.B.Op2(ir.Sub, left, ir.K(64), left.V())
			e.B.Op2(ir.Shl, w, w.V(), left.V())
			e.B.Op2(ir.Shr, w, w.V(), left.V())
		}, nil)
		e.B.Op2(ir.Or, all, all.V(), w.V())
		foldCase(e, w, fold, false)
		e.B.Store(ir.AtIndex(p, i, 1, 0), w.V(), 8)
		e.B.Op2(ir.Add, i, i.V(), ir.K(8))
		e.B.Clear(left, w)
	})
	e.B.Clear(i)
	e.B.Op2(ir.And, all, all.V(), ir.K(topBits))
	e.When(ir.EQ, all.V(), ir.K(0), func() {
		e.B.Op2(ir.Add, size, size.V(), p.V())
		e.Texts.Take(size.V())
	}, func() {
		space, ok := e.Texts.(workerSpace)
		if !ok {
			changeChars(e, p, size, src, upper)
			return
		}
		status := int32(layout.YieldLower)
		if upper {
			status = layout.YieldUpper
		}
		space.ask(status, p, size, src)
		e.B.Op2(ir.Add, size, size.V(), p.V())
	})
	e.B.Clear(all)
	if ownSrc {
		e.B.Clear(src)
	}
	e.Free(v)
	return part(e, p, size, n, own)
}

// changeChars does so character by character, by a table of all letters. size becomes the end of the text at p.
func changeChars(e *code.Emitter, p, size, src ir.Reg, upper bool) {
	stop, at, room := e.Int("stop"), e.Int("at"), e.Int("room")
	e.B.Op2(ir.Add, stop, src.V(), size.V())
	e.B.Mov(at, src.V())
	e.B.Op2(ir.Shr, room, size.V(), ir.K(1)) // two bytes can become three, and nothing grows more
	e.B.Op2(ir.Add, room, room.V(), size.V())
	w := newWriter(e, room.V())
	e.B.Clear(room)
	table, runs := changedRunes(upper)
	tab := e.PoolAt("letters", table)
	e.Loop(func(l int32) {
		e.B.Break(l, ir.UGE, at.V(), stop.V())
		r := decodeRune(e, at, stop)
		changeRune(e, r, tab, int64(runs))
		n := encodeRune(e, r)
		w.word(r, n)
		e.B.Clear(r, n)
	})
	w.flush()
	e.Texts.Take(w.out.V())
	e.B.Mov(p, w.p.V())
	e.B.Mov(size, w.out.V())
	e.B.Clear(stop, at, tab, w.p, w.out)
}

// decodeRune opens a register with the character at p, which is before stop, and moves p behind it.
func decodeRune(e *code.Emitter, p, stop ir.Reg) ir.Reg {
	r, more, c := e.Int("char"), e.Int("more"), e.Int("byte")
	e.B.Load(r, ir.At(p, 0), 1, false)
	e.B.Op2(ir.Add, p, p.V(), ir.K(1))
	e.When(ir.GE, r.V(), ir.K(0xC0), func() {
		e.B.Set(more, ir.GE, r.V(), ir.K(0xE0))
		e.B.Set(c, ir.GE, r.V(), ir.K(0xF0))
		e.B.Op2(ir.Add, more, more.V(), c.V()) // how many bytes follow, less one
		e.B.Op2(ir.Shr, c, ir.K(0x1F), more.V())
		e.B.Op2(ir.And, r, r.V(), c.V())
		e.Loop(func(l int32) {
			e.B.Break(l, ir.LT, more.V(), ir.K(0))
			e.B.Break(l, ir.UGE, p.V(), stop.V())
			e.B.Load(c, ir.At(p, 0), 1, false)
			e.B.Op2(ir.And, c, c.V(), ir.K(0x3F))
			e.B.Op2(ir.Shl, r, r.V(), ir.K(6))
			e.B.Op2(ir.Or, r, r.V(), c.V())
			e.B.Op2(ir.Add, p, p.V(), ir.K(1))
			e.B.Op2(ir.Sub, more, more.V(), ir.K(1))
		})
	}, nil)
	e.B.Clear(more, c)
	return r
}

// encodeRune turns a character into its bytes, the first in the low bits, and opens a register with how many bits those are.
func encodeRune(e *code.Emitter, r ir.Reg) ir.Reg {
	n, x, t := e.Int("bits"), e.Int("bytes"), e.Int("t")
	e.B.Mov(n, ir.K(8))
	e.When(ir.GE, r.V(), ir.K(utf8.RuneSelf), func() {
		// Bytes that follow come first here, the last of them first: x has those that are done.
		first := e.Int("first") // what the first byte tells of how many there are
		e.B.Mov(x, ir.K(0))
		e.B.Mov(first, ir.K(0xC0))
		e.Loop(func(l int32) {
			e.B.Op2(ir.And, t, r.V(), ir.K(0x3F))
			e.B.Op2(ir.Or, t, t.V(), ir.K(0x80))
			e.B.Op2(ir.Or, x, x.V(), t.V())
			e.B.Op2(ir.Shl, x, x.V(), ir.K(8))
			e.B.Op2(ir.Shr, r, r.V(), ir.K(6))
			e.B.Op2(ir.Add, n, n.V(), ir.K(8))
			// The first byte has room for 5 bits if one follows, for 4 if two do, for 3 if three.
			e.B.Op2(ir.Xor, t, first.V(), ir.K(0xFF))
			e.B.Op2(ir.Shr, t, t.V(), ir.K(1))
			e.B.Break(l, ir.LE, r.V(), t.V())
			e.B.Op2(ir.Shr, first, first.V(), ir.K(1))
			e.B.Op2(ir.Or, first, first.V(), ir.K(0x80))
		})
		e.B.Op2(ir.Or, r, r.V(), first.V())
		e.B.Op2(ir.Or, r, r.V(), x.V())
		e.B.Clear(first)
	}, nil)
	e.B.Clear(x, t)
	return n
}

// changeRune replaces a character by that of the other case, by the table at tab, which has so many runs.
func changeRune(e *code.Emitter, r, tab ir.Reg, runs int64) {
	lo, hi, mid, x := e.Int("lo"), e.Int("hi"), e.Int("mid"), e.Int("x")
	e.B.Mov(lo, ir.K(0))
	e.B.Mov(hi, ir.K(runs))
	e.Loop(func(l int32) { // the last run that begins no later is before hi
		e.B.Op2(ir.Sub, mid, hi.V(), lo.V())
		e.B.Break(l, ir.LE, mid.V(), ir.K(1))
		e.B.Op2(ir.Shr, mid, mid.V(), ir.K(1))
		e.B.Op2(ir.Add, mid, mid.V(), lo.V())
		e.B.Op2(ir.Shl, x, mid.V(), ir.K(4))
		e.B.Load(x, ir.AtIndex(tab, x, 1, runFirst), 4, false)
		e.When(ir.LE, x.V(), r.V(), func() { e.B.Mov(lo, mid.V()) }, func() { e.B.Mov(hi, mid.V()) })
	})
	e.B.Op2(ir.Shl, lo, lo.V(), ir.K(4))
	e.B.Load(x, ir.AtIndex(tab, lo, 1, runFirst), 4, false)
	e.B.Load(hi, ir.AtIndex(tab, lo, 1, runLast), 4, false)
	e.B.Load(mid, ir.AtIndex(tab, lo, 1, runEvery), 4, false)
	e.B.Op2(ir.Sub, x, r.V(), x.V())
	e.B.Op2(ir.And, mid, mid.V(), x.V()) // not 0: between two of them
	e.When(ir.GE, x.V(), ir.K(0), func() {
		e.When(ir.LE, r.V(), hi.V(), func() {
			e.When(ir.EQ, mid.V(), ir.K(0), func() {
				e.B.Load(x, ir.AtIndex(tab, lo, 1, runBy), 4, true)
				e.B.Op2(ir.Add, r, r.V(), x.V())
			}, nil)
		}, nil)
	}, nil)
	e.B.Clear(lo, hi, mid, x)
}

// A run of characters, each or every second of which the same number is added to, is four numbers of 4 bytes.
const (
	runFirst = 4 * iota
	runLast
	runEvery // 0: each, 1: every second
	runBy
	runBytes = 4 * iota
)

// changedRunes is the table of all characters that have another case, and how many runs it has.
func changedRunes(upper bool) (table string, runs int) {
	if upper {
		table = upperRunes()
	} else {
		table = lowerRunes()
	}
	return table, len(table) / runBytes
}

var (
	lowerRunes = sync.OnceValue(func() string { return runsOf(unicode.ToLower) })
	upperRunes = sync.OnceValue(func() string { return runsOf(unicode.ToUpper) })
)

// runsOf lists the characters that a function changes, in order.
func runsOf(change func(rune) rune) string {
	type run struct{ first, last, every, by rune }
	var runs []run
	for r := rune(0); r <= unicode.MaxRune; r++ {
		by := change(r) - r
		if by == 0 {
			continue
		}
		if k := len(runs) - 1; k >= 0 && runs[k].by == by {
			if gap := r - runs[k].last; gap == runs[k].every+1 || runs[k].first == runs[k].last && gap <= 2 {
				runs[k].last, runs[k].every = r, gap-1
				continue
			}
		}
		runs = append(runs, run{r, r, 0, by})
	}
	var b []byte
	for _, x := range runs {
		for _, n := range [...]rune{x.first, x.last, x.every, x.by} {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
	}
	return string(b)
}
