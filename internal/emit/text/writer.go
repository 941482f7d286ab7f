package text

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// writer makes a text of parts, from its beginning to its end. Where only multiples of 8 can be written to, what does not fill a word
// waits for what follows it.
type writer struct {
	*code.Emitter
	p   ir.Reg // where the text begins
	out ir.Reg // where the next byte goes, or the next word
	// acc has the bytes that wait, in its low bits, of which there are fill; the others are 0.
	acc, fill ir.Reg
}

// newWriter begins a text of up to n bytes.
func newWriter(e *code.Emitter, n ir.Val) *writer {
	w := &writer{Emitter: e, p: e.Texts.Room(n), out: e.Int("out"), acc: ir.NoReg, fill: ir.NoReg}
	e.B.Mov(w.out, w.p.V())
	if !e.Can.Unaligned {
		w.acc, w.fill = e.Int("waiting"), e.Int("bits")
		e.B.Mov(w.acc, ir.K(0))
		e.B.Mov(w.fill, ir.K(0))
	}
	return w
}

// bytes appends n bytes, by words; up to 7 more are read, and written, for which there is room behind every text.
func (w *writer) bytes(src ir.Reg, n ir.Val) {
	i, x := w.Int("i"), w.Int("word")
	w.B.Mov(i, ir.K(0))
	if w.Can.Unaligned {
		w.Loop(func(l int32) {
			w.B.Break(l, ir.GE, i.V(), n)
			w.B.Load8(x, ir.AtIndex(src, i, 1, 0))
			w.B.Store(ir.AtIndex(w.out, i, 1, 0), x.V(), 8)
			w.B.Op2(ir.Add, i, i.V(), ir.K(8))
		})
		w.B.Op2(ir.Add, w.out, w.out.V(), n)
	} else {
		left := w.Int("left")
		w.Loop(func(l int32) {
			w.B.Op2(ir.Sub, left, n, i.V())
			w.B.Break(l, ir.LE, left.V(), ir.K(0))
			loadBytes(w.Emitter, x, ir.AtIndex(src, i, 1, 0))
			w.B.Op2(ir.Shl, left, left.V(), ir.K(3))
			w.When(ir.LT, left.V(), ir.K(64), func() { onlyBits(w.Emitter, x, left) }, func() { w.B.Mov(left, ir.K(64)) })
			w.word(x, left)
			w.B.Op2(ir.Add, i, i.V(), ir.K(8))
		})
		w.B.Clear(left)
	}
	w.B.Clear(i, x)
}

// onlyBits clears all but the n low bits of a word, of which there are fewer than 64, but not 0.
func onlyBits(e *code.Emitter, x, n ir.Reg) {
	t := e.Int("beyond")
	e.B.Op2(ir.Sub, t, ir.K(64), n.V())
	e.B.Op2(ir.Shl, x, x.V(), t.V())
	e.B.Op2(ir.Shr, x, x.V(), t.V())
	e.B.Clear(t)
}

// word appends the n low bits of x, whose others are 0: 8 to 64, whole bytes. For where only multiples of 8 can be written to.
func (w *writer) word(x, n ir.Reg) {
	t := w.Int("t")
	w.B.Op2(ir.Shl, t, x.V(), w.fill.V())
	w.B.Op2(ir.Or, w.acc, w.acc.V(), t.V())
	w.B.Op2(ir.Add, w.fill, w.fill.V(), n.V())
	w.When(ir.GE, w.fill.V(), ir.K(64), func() {
		w.B.Store(ir.At(w.out, 0), w.acc.V(), 8)
		w.B.Op2(ir.Add, w.out, w.out.V(), ir.K(8))
		w.B.Op2(ir.Sub, w.fill, w.fill.V(), ir.K(64))
		// What is left of x: it is shifted by what went out, 1 to 64, in two steps, since shifting by 64 would shift by 0.
		w.B.Op2(ir.Sub, t, n.V(), w.fill.V())
		w.B.Op2(ir.Sub, t, t.V(), ir.K(1))
		w.B.Op2(ir.Shr, w.acc, x.V(), t.V())
		w.B.Op2(ir.Shr, w.acc, w.acc.V(), ir.K(1))
	}, nil)
	w.B.Clear(t)
}

// literal appends a text of up to MaxLiteral bytes, by words that are part of the code; up to 7 more bytes may be written. For where any
// address can be written to.
func (w *writer) literal(lit string) {
	for i := 0; i < len(lit); i += 8 {
		var x [8]byte
		copy(x[:], lit[i:])
		w.B.Store(ir.At(w.out, i), ir.K(int64(binary.LittleEndian.Uint64(x[:]))), 8)
	}
	w.B.Op2(ir.Add, w.out, w.out.V(), ir.K(int64(len(lit))))
}

// text is what was written, or NULL by n.
func (w *writer) text(n ir.Val, own bool) code.Value {
	w.flush()
	return made(w.Emitter, w.p, w.out, n, own)
}

// flush writes what waits: out is the end of the text then.
func (w *writer) flush() {
	if w.Can.Unaligned {
		return
	}
	w.When(ir.NE, w.fill.V(), ir.K(0), func() {
		w.B.Store(ir.At(w.out, 0), w.acc.V(), 8)
		w.B.Op2(ir.Shr, w.fill, w.fill.V(), ir.K(3))
		w.B.Op2(ir.Add, w.out, w.out.V(), w.fill.V())
	}, nil)
	w.B.Clear(w.acc, w.fill)
}
