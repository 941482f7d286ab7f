package scalar

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

func floatBits(f float64) int64 { return int64(math.Float64bits(f)) }

// toFloat opens a float register with an integer-like or float value, unscaled. Of 128 bits it makes an
// estimate; exactToFloat is exact.
func (e *Evaluator) toFloat(v code.Value) ir.Reg {
	r := e.Float("f")
	switch v.Desc.Form {
	case layout.F64:
		e.B.FMov(r, v.A.R)
	case layout.I128:
		// high × 2^64 + low, the low half unsigned; two roundings, like any double. What 64 bits
		// hold is converted as such: a small negative number is a difference of large ones.
		h, sign := e.Float("fhi"), e.Int("sign")
		hi, ownHi := e.Reg(v.B, "hi")
		e.B.Op1(ir.I2F, h, hi.V())
		e.B.FConst(r, floatBits(1<<64))
		e.B.Op2(ir.FMul, h, h.V(), r.V())
		lo, ownLo := e.Reg(v.A, "lo")
		e.B.Op1(ir.U2F, r, lo.V())
		e.B.Op2(ir.FAdd, r, r.V(), h.V())
		e.B.Op1(ir.I2F, h, lo.V())
		e.B.Op2(ir.Sar, sign, lo.V(), ir.K(63))
		e.B.FSel(r, ir.EQ, sign.V(), hi.V(), h, r)
		if ownHi {
			e.B.Clear(hi)
		}
		if ownLo {
			e.B.Clear(lo)
		}
		e.B.Clear(h, sign)
	default:
		a, own := e.Reg(v.A, "i")
		e.B.Op1(ir.I2F, r, a.V())
		if own {
			e.B.Clear(a)
		}
	}
	return r
}

func divisionByZero(pos int) *diag.Error {
	return diag.Errorf(diag.DivisionByZero, pos, "division by zero")
}

// divide is / and %: integers truncate, floats divide, decimals are rounded. A zero divisor is an
// error, in floats too, as in PostgreSQL.
func (e *Evaluator) divide(x *plan.Call) code.Value {
	if x.Op == plan.Div && x.T.Kind == types.Decimal {
		return e.quotient(x)
	}
	l, r := e.Eval(x.Args[0]), e.Eval(x.Args[1])
	if l.Desc.Form == layout.F64 {
		if x.Op == plan.Mod {
			code.Refuse(x.Pos, "%% on floats is not supported")
		}
		return e.divideFloats(x, l, r)
	}
	n, own := e.AnyNull(l, r)
	fail := divisionByZero(x.Pos)
	if l.Desc.Form == layout.I128 || r.Desc.Form == layout.I128 {
		code.Refuse(x.Pos, "%s on 128-bit decimals is not supported yet", x.Op)
	}
	// The divisor: 0 fails unless the row is NULL (then 1 stands in for it).
	div := r.A
	ownDiv := false
	if !r.A.IsImm() || r.A.Imm == 0 || r.A.Imm == -1 {
		d := e.Int("divisor")
		e.B.Mov(d, r.A)
		if n == ir.K(0) {
			e.Exit(e.Fail(fail), ir.EQ, d.V(), ir.K(0))
		} else if n == ir.K(1) {
			e.B.Mov(d, ir.K(1))
		} else {
			e.B.Sel(d, ir.NE, n, ir.K(0), ir.K(1), d.V())
			e.Exit(e.Fail(fail), ir.EQ, d.V(), ir.K(0))
		}
		div, ownDiv = d.V(), true
	}
	q := e.Int(x.Op.String())
	minusOne := func() { // MinInt / -1 traps in hardware: -1 is done by negation
		if x.Op == plan.Mod {
			e.B.Mov(q, ir.K(0))
			return
		}
		if l.Desc.Range.Known && l.Desc.Range.Lo.Cmp(layout.TypeRange(types.TInt64).Lo) > 0 {
			e.B.Op1(ir.Neg, q, l.A)
		} else {
			e.B.OpX(ir.SubX, q, ir.K(0), l.A, e.Fail(Overflow(x.T, x.Pos)))
		}
	}
	op := ir.Div
	if x.Op == plan.Mod {
		op = ir.Rem
	}
	if div.IsImm() {
		e.B.Op2(op, q, l.A, div)
	} else {
		e.When(ir.EQ, div, ir.K(-1), minusOne, func() { e.B.Op2(op, q, l.A, div) })
	}
	rng := layout.TypeRange(x.T)
	if l.Desc.Range.Fits64() { // the quotient is no larger in size than the dividend
		m := l.Desc.Range.Union(l.Desc.Range.Neg())
		if x.Op == plan.Mod && l.Desc.Range.Lo.Sign() >= 0 { // a remainder has the sign of the dividend
			m.Lo = types.Int128{}
		}
		rng = rng.Intersect(m)
	}
	if size := r.Desc.Range.Union(r.Desc.Range.Neg()); x.Op == plan.Mod && size.Fits64() && size.Hi.Sign() > 0 { // and is smaller than the divisor
		most := int64(size.Hi.Lo) - 1
		rng = rng.Intersect(layout.Between(-most, most))
	}
	if x.Op == plan.Div && x.T.Kind != types.Int64 && layout.TypeRange(x.T).Fits64() {
		e.rangeCheck(q, layout.TypeRange(x.T), n, Overflow(x.T, x.Pos))
	}
	if ownDiv {
		e.B.Clear(div.R)
	}
	e.Free(l, r)
	return code.IntValue(x.T, q, rng).WithNull(n, own)
}

func (e *Evaluator) abs(x *plan.Call) code.Value {
	v := e.Eval(x.Args[0])
	n, own := e.AnyNull(v)
	switch v.Desc.Form {
	case layout.F64:
		d := e.Float("abs")
		e.B.Op1(ir.FAbs, d, v.A)
		e.Free(v)
		return code.Value{Desc: layout.Desc{Type: x.T, Form: layout.F64}, A: d.V(), OwnA: true}.WithNull(n, own)
	case layout.I128:
		// (x ^ s) - s with the sign spread over both halves.
		s, lo, hi := e.Int("sign"), e.Int("abs"), e.Int("abs.hi")
		e.B.Op2(ir.Sar, s, v.B, ir.K(63))
		e.B.Op2(ir.Xor, lo, v.A, s.V())
		e.B.Op2(ir.Xor, hi, v.B, s.V())
		e.B.Op128(ir.Sub128, lo, hi, lo.V(), hi.V(), s.V(), s.V(), 0)
		e.B.Clear(s)
		e.Free(v)
		d := layout.Desc{Type: x.T, Form: layout.I128, Range: layout.TypeRange(x.T)}
		return code.Value{Desc: d, A: lo.V(), B: hi.V(), OwnA: true, OwnB: true}.WithNull(n, own)
	}
	v = e.harmless(v)
	s, r := e.Int("sign"), e.Int("abs")
	e.B.Op2(ir.Sar, s, v.A, ir.K(63))
	e.B.Op2(ir.Xor, r, v.A, s.V())
	e.B.OpX(ir.SubX, r, r.V(), s.V(), e.Fail(Overflow(x.T, x.Pos)))
	e.B.Clear(s)
	rng := v.Desc.Range.Union(v.Desc.Range.Neg())
	rng.Lo = types.Int128{}
	limit := layout.TypeRange(x.T)
	if limit.Fits64() && !(rng.Known && rng.Hi.Cmp(limit.Hi) <= 0) { // the least INTEGER has no opposite
		e.rangeCheck(r, limit, n, Overflow(x.T, x.Pos))
	}
	e.Free(v)
	return code.IntValue(x.T, r, limit.Intersect(rng)).WithNull(n, own)
}

// mathCall is floor, ceil, trunc, round, sqrt and sign.
func (e *Evaluator) mathCall(x *plan.Call) code.Value {
	v := e.Eval(x.Args[0])
	n, own := e.AnyNull(v)
	if x.Op == plan.Sign {
		return e.sign(x, v).WithNull(n, own)
	}
	if v.Desc.Form != layout.F64 {
		if v.Desc.Type.Kind == types.Decimal {
			e.FreeNull(n, own)
			return e.roundDecimal(x, v)
		}
		if x.T.IsInteger() && x.Op != plan.Sqrt {
			e.FreeNull(n, own)
			v.Desc.Type = x.T
			return v // integers are already whole
		}
		code.Refuse(x.Pos, "%s(%s) is not supported yet", x.Op, v.Desc.Type)
	}
	op := map[plan.Op]ir.Op{plan.Floor: ir.FFloor, plan.Ceil: ir.FCeil, plan.Sqrt: ir.FSqrt,
		plan.Round: ir.FRound, plan.Trunc: ir.FTrunc}[x.Op]
	if op == ir.Nop || len(x.Args) > 1 {
		code.Refuse(x.Pos, "%s with these arguments is not supported yet", x.Op)
	}
	d := e.Float(x.Op.String())
	if x.Op == plan.Sqrt {
		z, bad := e.Float("zero"), e.Int("bad")
		e.B.FConst(z, 0)
		e.B.FSet(bad, ir.LT, v.A.R, z)
		if !n.IsImm() {
			e.B.Sel(bad, ir.NE, n, ir.K(0), ir.K(0), bad.V())
		}
		e.Exit(e.Fail(diag.Errorf("2201F", x.Pos, "cannot take square root of a negative number")), ir.NE, bad.V(), ir.K(0))
		e.B.Clear(z, bad)
	}
	e.B.Op1(op, d, v.A)
	e.Free(v)
	return code.Value{Desc: layout.Desc{Type: x.T, Form: layout.F64}, A: d.V(), OwnA: true}.WithNull(n, own)
}

// sign is -1, 0 or 1 in the call's type; v is used up.
func (e *Evaluator) sign(x *plan.Call, v code.Value) code.Value {
	r, t := e.Int("sign"), e.Int("neg")
	switch v.Desc.Form {
	case layout.F64:
		z := e.Float("zero")
		e.B.FConst(z, 0)
		e.B.FSet(r, ir.GT, v.A.R, z)
		e.B.FSet(t, ir.LT, v.A.R, z)
		e.B.Clear(z)
	case layout.I128:
		e.B.Op2(ir.Or, r, v.A, v.B)
		e.B.Set(r, ir.NE, r.V(), ir.K(0))
		e.B.Set(t, ir.LT, v.B, ir.K(0))
		e.B.Op2(ir.Add, t, t.V(), t.V()) // 1 for both signs, less 2
	default:
		e.B.Set(r, ir.GT, v.A, ir.K(0))
		e.B.Set(t, ir.LT, v.A, ir.K(0))
	}
	e.B.Op2(ir.Sub, r, r.V(), t.V())
	e.B.Clear(t)
	e.Free(v)
	switch {
	case x.T.IsFloat():
		f := e.Float("sign")
		e.B.Op1(ir.I2F, f, r.V())
		e.B.Clear(r)
		return code.Value{Desc: layout.Desc{Type: x.T, Form: layout.F64}, A: f.V(), OwnA: true}
	case x.T.Kind == types.Decimal:
		s := code.IntValue(types.TInt32, r, layout.Between(-1, 1))
		return e.scaleUp(s, int(x.T.Scale), x.T, Overflow(x.T, x.Pos))
	}
	return code.IntValue(x.T, r, layout.Between(-1, 1))
}

// roundDecimal is floor, ceil, trunc and round of decimals: a change of scale with a
// direction of rounding.
func (e *Evaluator) roundDecimal(x *plan.Call, v code.Value) code.Value {
	from, to := int(v.Desc.Type.Scale), int(x.T.Scale)
	digits := 0
	if len(x.Args) > 1 {
		c, ok := x.Args[1].(*plan.Const)
		if !ok {
			code.Refuse(x.Pos, "%s needs a constant number of digits", x.Op)
		}
		digits = int(c.V.I)
	} else if x.Op == plan.Sqrt || x.Op == plan.Sign {
		code.Refuse(x.Pos, "%s of a wide decimal is not supported yet", x.Op)
	}
	digits = min(digits, from)
	mode := map[plan.Op]rounding{plan.Floor: roundDown, plan.Ceil: roundUp, plan.Trunc: roundZero, plan.Round: roundHalf}[x.Op]
	v = e.scaleDown(v, from-digits, mode)
	v.Desc.Type = types.TDecimal(38, max(digits, 0))
	if to >= digits {
		return e.scaleUp(v, to-digits, x.T, Overflow(x.T, x.Pos))
	}
	code.Refuse(x.Pos, "%s to these digits is not supported", x.Op)
	panic("unreachable")
}
