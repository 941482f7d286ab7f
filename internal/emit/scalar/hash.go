package scalar

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Hash opens a register with the hash of values. NULLs hash like their zero bits; what is
// equal hashes equal, which is all that is asked.
func (e *Evaluator) Hash(vs []code.Value) ir.Reg {
	h := e.Int("hash")
	e.B.Mov(h, ir.K(layout.HashSeed))
	for _, v := range vs {
		e.hashInto(h, v)
	}
	return h
}

func (e *Evaluator) hashInto(h ir.Reg, v code.Value) {
	word := func(w ir.Val) {
		if v.IsNull() {
			w = ir.K(0)
		}
		if v.Null.IsImm() {
			e.Mix(h, w)
			return
		}
		t := e.Int("or0")
		e.B.Sel(t, ir.NE, v.Null, ir.K(0), ir.K(0), w)
		e.Mix(h, t.V())
		e.B.Clear(t)
	}
	switch v.Desc.Form {
	case layout.F64:
		f, z := e.Float("canon"), e.Float("zero")
		e.B.FConst(z, 0)
		e.B.Op2(ir.FAdd, f, v.A, z.V()) // -0 becomes 0
		bits, nan := e.Int("bits"), e.Int("nan")
		e.B.Op1(ir.FBits, bits, f.V())
		e.B.FSet(nan, ir.NE, f, f)
		e.B.Sel(bits, ir.NE, nan.V(), ir.K(0), ir.K(0x7ff8<<48), bits.V())
		word(bits.V())
		e.B.Clear(f, z, bits, nan)
	case layout.I128:
		word(v.A)
		word(v.B)
	case layout.Ivl:
		m := e.intervalMicros(v)
		word(m.A)
		word(m.B)
		e.Free(m)
	case layout.Str:
		text.Hash(&e.Emitter, h, v)
	default:
		word(v.A)
	}
}
