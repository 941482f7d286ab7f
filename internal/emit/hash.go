package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Mix folds a word into a hash: a 64×64→128 multiplication, halves xored.
func (e *emitter) mix(h ir.Reg, w ir.Val) {
	hi := e.int("hi")
	e.b.Op2(ir.Xor, h, h.V(), w)
	e.b.Op128(ir.MulWideU, h, hi, h.V(), ir.Val{}, ir.K(layout.HashMul), ir.Val{}, 0)
	e.b.Op2(ir.Xor, h, h.V(), hi.V())
	e.b.Clear(hi)
}

// hash opens a register with the hash of values. NULLs hash like their zero bits; what is
// equal hashes equal, which is all that is asked.
func (e *emitter) hash(vs []value) ir.Reg {
	h := e.int("hash")
	e.b.Mov(h, ir.K(layout.HashSeed))
	for _, v := range vs {
		e.hashInto(h, v)
	}
	return h
}

func (e *emitter) hashInto(h ir.Reg, v value) {
	word := func(w ir.Val) {
		if v.isNull() {
			w = ir.K(0)
		}
		if v.null.IsImm() {
			e.mix(h, w)
			return
		}
		t := e.int("or0")
		e.b.Sel(t, ir.NE, v.null, ir.K(0), ir.K(0), w)
		e.mix(h, t.V())
		e.b.Clear(t)
	}
	switch v.d.Form {
	case layout.F64:
		f, z := e.float("canon"), e.float("zero")
		e.b.FConst(z, 0)
		e.b.Op2(ir.FAdd, f, v.a, z.V()) // -0 becomes 0
		bits, nan := e.int("bits"), e.int("nan")
		e.b.Op1(ir.FBits, bits, f.V())
		e.b.FSet(nan, ir.NE, f, f)
		e.b.Sel(bits, ir.NE, nan.V(), ir.K(0), ir.K(0x7ff8<<48), bits.V())
		word(bits.V())
		e.b.Clear(f, z, bits, nan)
	case layout.I128:
		word(v.a)
		word(v.b)
	case layout.Ivl:
		m := e.intervalMicros(v)
		word(m.a)
		word(m.b)
		e.free(m)
	case layout.Str:
		e.hashText(h, v)
	default:
		word(v.a)
	}
}

// hashText folds a string in word by word; the last word is masked, the length comes last.
func (e *emitter) hashText(h ir.Reg, v value) {
	if v.isNull() { // there is no address
		e.mix(h, ir.K(0))
		return
	}
	n, i := e.int("n"), e.int("i")
	if v.null.IsImm() {
		e.b.Mov(n, v.b)
	} else {
		e.b.Sel(n, ir.NE, v.null, ir.K(0), ir.K(0), v.b)
	}
	e.b.Mov(i, ir.K(0))
	e.loop(func(l int32) {
		left := e.int("left")
		e.b.Op2(ir.Sub, left, n.V(), i.V())
		e.b.Break(l, ir.LE, left.V(), ir.K(0))
		w := e.wordAt(v.a, i)
		e.when(ir.LT, left.V(), ir.K(8), func() {
			e.b.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.b.Op2(ir.Sub, left, ir.K(64), left.V())
			e.b.Op2(ir.Shl, w, w.V(), left.V())
		}, nil)
		e.mix(h, w.V())
		e.b.Op2(ir.Add, i, i.V(), ir.K(8))
		e.b.Clear(left, w)
	})
	e.mix(h, n.V())
	e.b.Clear(n, i)
}

// sameField opens a register telling whether a key equals a field of the tuple at p. Grouping
// treats NULLs as equal (nullSafe); joins do not, and have dropped NULL keys before.
func (e *emitter) sameField(p ir.Reg, f *layout.Field, key value, nullSafe bool) ir.Reg {
	v := e.loadField(p, f, ir.K(0))
	if nullSafe && (!v.never() || !key.never()) {
		same := e.notDistinct(v, key.borrowed())
		return same.a.R
	}
	d := e.comparison(ir.EQ, v, key)
	if !v.never() {
		e.b.Sel(d, ir.NE, v.null, ir.K(0), ir.K(0), d.V())
	}
	e.free(v)
	return d
}
