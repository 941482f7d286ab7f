package scalar

import (
	"math"
	"math/big"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// exactToFloat is the double nearest to an integer or decimal. A number below 2^53 and a power of ten
// up to 10^22 are exact as doubles, and one division rounds once. Others are pairs of doubles,
// of which the second is what the first leaves out; dividing pairs rounds once, too.
func (e *Evaluator) exactToFloat(v code.Value, from, to types.Type) code.Value {
	n, own := e.AnyNull(v)
	scale := int(from.Scale)
	exact := v.Desc.Range.Within(layout.Between(-1<<53, 1<<53))
	var r ir.Reg
	switch {
	case v.Desc.Form == layout.I64 && (scale == 0 || exact && scale <= 22):
		r = e.toFloat(v)
		if scale > 0 {
			k := e.Float("scale")
			e.B.FConst(k, floatBits(types.Pow10(scale).Float64()))
			e.B.Op2(ir.FDiv, r, r.V(), k.V())
			e.B.Clear(k)
		}
	default:
		r = e.pairToFloat(v, scale)
	}
	if to.Kind == types.Float32 {
		e.B.Op1(ir.FRound32, r, r.V())
	}
	e.Free(v)
	return code.Value{Desc: layout.Desc{Type: to, Form: layout.F64}, A: r.V(), OwnA: true}.WithNull(n, own)
}

// pairToFloat opens a register with the double nearest to v / 10^scale, for numbers of any size. v stays
// the caller's.
func (e *Evaluator) pairToFloat(v code.Value, scale int) ir.Reg {
	w := e.Wide(v.Borrowed())
	lo, hi, sign := e.Int("lo"), e.Int("hi"), e.Int("sign")
	e.B.Mov(lo, w.A)
	e.B.Mov(hi, w.B)
	w.OwnNull = false
	e.Free(w)
	e.B.Op2(ir.Sar, sign, hi.V(), ir.K(63))
	e.negateIf(lo, hi, sign)

	// The sum of four pieces of 32 bits, largest first, each of which is exact; rest is what the
	// roundings took away.
	x, rest := e.Float("x"), e.Float("rest")
	part, sum, unit := e.Float("part"), e.Float("sum"), e.Float("unit")
	e.B.FConst(x, 0)
	e.B.FConst(rest, 0)
	bits := e.Int("bits")
	for i, word := range []ir.Reg{hi, hi, lo, lo} {
		if i < 2 && v.Desc.Form == layout.I64 {
			continue
		}
		if i%2 == 0 {
			e.B.Op2(ir.Shr, bits, word.V(), ir.K(32))
		} else {
			e.B.Op2(ir.And, bits, word.V(), ir.K(1<<32-1))
		}
		e.B.Op1(ir.I2F, part, bits.V())
		e.B.FConst(unit, floatBits(math.Ldexp(1, 96-32*i)))
		e.B.Op2(ir.FMul, part, part.V(), unit.V())
		e.addPair(x, rest, part, sum)
	}
	e.B.Clear(bits, lo, hi)
	e.B.Op2(ir.FAdd, sum, x.V(), rest.V()) // bring what was lost together back in
	e.B.Op2(ir.FSub, part, sum.V(), x.V())
	e.B.Op2(ir.FSub, rest, rest.V(), part.V())
	e.B.FMov(x, sum)
	if scale > 0 {
		e.dividePair(x, rest, scale)
	}
	e.B.Op1(ir.FNeg, part, x.V())
	e.B.FSel(x, ir.NE, sign.V(), ir.K(0), part, x)
	e.B.Clear(rest, part, sum, unit, sign)
	return x
}

// addPair adds part, which is no larger than x unless x is 0, and adds what is rounded away to rest.
func (e *Evaluator) addPair(x, rest, part, sum ir.Reg) {
	e.B.Op2(ir.FAdd, sum, x.V(), part.V())
	e.B.Op2(ir.FSub, x, sum.V(), x.V())
	e.B.Op2(ir.FSub, part, part.V(), x.V())
	e.B.Op2(ir.FAdd, rest, rest.V(), part.V())
	e.B.FMov(x, sum)
}

// dividePair makes x the double nearest to (x + rest) / 10^scale: a first quotient, and a correction by
// what it leaves, which Dekker's product gives exactly.
func (e *Evaluator) dividePair(x, rest ir.Reg, scale int) {
	p := types.Pow10(scale).Float64()
	behind := new(big.Int).Sub(types.Pow10(scale).ToBig(), bigInt(p)) // 10^38 has 89 significant bits
	p2, _ := new(big.Float).SetInt(behind).Float64()
	high := splitHigh(p)

	q, d, k := e.Float("quotient"), e.Float("power"), e.Float("k")
	qh, ql, prod, t := e.Float("quotient.high"), e.Float("quotient.low"), e.Float("product"), e.Float("t")
	e.B.FConst(d, floatBits(p))
	e.B.Op2(ir.FDiv, q, x.V(), d.V())
	e.B.Op2(ir.FMul, prod, q.V(), d.V())
	// q is qh + ql, halves whose products with halves of the power are exact.
	e.B.FConst(k, floatBits(1<<27+1))
	e.B.Op2(ir.FMul, t, q.V(), k.V())
	e.B.Op2(ir.FSub, qh, t.V(), q.V())
	e.B.Op2(ir.FSub, qh, t.V(), qh.V())
	e.B.Op2(ir.FSub, ql, q.V(), qh.V())
	// x becomes x - prod, which is exact, less the error of prod, plus the rest.
	e.B.Op2(ir.FSub, x, x.V(), prod.V())
	e.B.FConst(k, floatBits(high))
	e.B.Op2(ir.FMul, t, qh.V(), k.V())
	e.B.Op2(ir.FSub, prod, t.V(), prod.V())
	e.B.Op2(ir.FMul, t, ql.V(), k.V())
	e.B.FConst(k, floatBits(p-high))
	err := e.Float("error")
	e.B.Op2(ir.FMul, err, qh.V(), k.V())
	e.B.Op2(ir.FAdd, prod, prod.V(), err.V())
	e.B.Op2(ir.FAdd, prod, prod.V(), t.V())
	e.B.Op2(ir.FMul, err, ql.V(), k.V())
	e.B.Op2(ir.FAdd, prod, prod.V(), err.V())
	e.B.Op2(ir.FSub, x, x.V(), prod.V())
	e.B.Op2(ir.FAdd, x, x.V(), rest.V())
	if p2 != 0 {
		e.B.FConst(k, floatBits(p2))
		e.B.Op2(ir.FMul, t, q.V(), k.V())
		e.B.Op2(ir.FSub, x, x.V(), t.V())
	}
	e.B.Op2(ir.FDiv, x, x.V(), d.V())
	e.B.Op2(ir.FAdd, x, q.V(), x.V())
	e.B.Clear(q, d, k, qh, ql, prod, t, err)
}

// bigInt is an integral double as an integer.
func bigInt(f float64) *big.Int {
	i, _ := new(big.Float).SetFloat64(f).Int(nil)
	return i
}

// splitHigh is the upper half of a double's digits.
func splitHigh(p float64) float64 {
	t := p * (1<<27 + 1)
	return t - (t - p)
}
