package code

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Integers are numbers of 64 bits. Where registers have 32 (Abilities.Words), an operation on them takes one instruction there, and two to four on
// numbers, so this is the place that decides, by what is known of operands and result, how many bits it looks at. Whoever wants a number reads
// one: it is widened again, and ir.Func.ForwardWords takes out what then is superfluous.
var (
	SignedWords   = layout.Between(math.MinInt32, math.MaxInt32)
	unsignedWords = layout.Between(0, math.MaxUint32)
)

// Arith opens a register with l op r: Add, Sub or Mul. The result lies in rng, unless the row's is NULL; then it may be anything.
func (e *Emitter) Arith(op ir.Op, name string, l, r Value, rng layout.Range) ir.Reg {
	d := e.Int(name)
	e.arith(op, name, d, l, r, rng)
	return d
}

// Offset adds r to what d has, which it then has or another register instead of it. The sum lies in rng, likewise.
func (e *Emitter) Offset(d ir.Reg, name string, r ir.Val, rng layout.Range) ir.Reg {
	if !e.Can.Words { // in place
		e.B.Op2(ir.Add, d, d.V(), r)
		return d
	}
	sum := e.Arith(ir.Add, name, Value{A: d.V()}, Value{A: r}, rng)
	e.B.Clear(d)
	return sum
}

// arith sets d to l op r.
func (e *Emitter) arith(op ir.Op, name string, d ir.Reg, l, r Value, rng layout.Range) {
	onWords, widen := e.onWords(op, l, r, rng)
	if onWords == ir.Nop {
		e.B.Op2(op, d, l.A, r.A)
		return
	}
	x, y := e.low(l.A), e.low(r.A)
	if widen == ir.Nop {
		e.B.Op2(onWords, d, x, y)
	} else {
		w := e.B.Vreg(name, ir.I32)
		e.B.Op2(onWords, w, x, y)
		e.B.Op1(widen, d, w.V())
		e.B.Clear(w)
	}
	e.clearLow(x, y)
}

// onWords is the operation on words that does what op does on numbers, and how its result is widened, unless it is a number; Nop: there is none.
func (e *Emitter) onWords(op ir.Op, l, r Value, rng layout.Range) (onWords, widen ir.Op) {
	both := func(s layout.Range) bool { return l.Desc.Range.Within(s) && r.Desc.Range.Within(s) }
	switch {
	case !e.Can.Words || l.A.IsImm() && r.A.IsImm():
	case op == ir.Mul && both(SignedWords):
		return ir.MulW, ir.Nop
	case op == ir.Mul && both(unsignedWords):
		return ir.MulWU, ir.Nop
	case rng.Within(unsignedWords): // the low half of a sum or product comes of low halves alone
		return op, ir.WidenU
	case rng.Within(SignedWords):
		return op, ir.Widen
	}
	return ir.Nop, ir.Nop
}

// Comparing gives the comparison of two values that are not NULL to use: one of words, where those tell as much.
func (e *Emitter) Comparing(c ir.Cond, l, r Value, use func(c ir.Cond, x, y ir.Val)) {
	both := func(s layout.Range) bool { return l.Desc.Range.Within(s) && r.Desc.Range.Within(s) }
	switch {
	case !e.Can.Words || l.A.IsImm() && r.A.IsImm():
		use(c, l.A, r.A)
		return
	case both(SignedWords):
	case both(unsignedWords):
		c = c.Unsigned()
	default:
		use(c, l.A, r.A)
		return
	}
	x, y := e.low(l.A), e.low(r.A)
	use(c, x, y)
	e.clearLow(x, y)
}

// low is the low half of a number, in a register of its own unless it is a constant.
func (e *Emitter) low(v ir.Val) ir.Val {
	if v.IsImm() {
		return ir.K(int64(int32(v.Imm)))
	}
	w := e.B.Vreg("low", ir.I32)
	e.B.Op1(ir.Narrow, w, v)
	return w.V()
}

func (e *Emitter) clearLow(vs ...ir.Val) {
	for _, v := range vs {
		if !v.IsImm() {
			e.B.Clear(v.R)
		}
	}
}
