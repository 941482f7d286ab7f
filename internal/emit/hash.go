package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// hash opens a register with the hash of values. NULLs hash like their zero bits; what is
// equal hashes equal, which is all that is asked.
func (e *evaluator) hash(vs []value) ir.Reg {
	h := e.int("hash")
	e.b.Mov(h, ir.K(layout.HashSeed))
	for _, v := range vs {
		e.hashInto(h, v)
	}
	return h
}

func (e *evaluator) hashInto(h ir.Reg, v value) {
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
