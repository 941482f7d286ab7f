package emit

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

func floatBits(f float64) int64 { return int64(math.Float64bits(f)) }

// toFloat opens a float register with an integer-like or float value, unscaled. Of 128 bits it makes an
// estimate; exactToFloat is exact.
func (e *evaluator) toFloat(v value) ir.Reg {
	r := e.float("f")
	switch v.d.Form {
	case layout.F64:
		e.b.FMov(r, v.a.R)
	case layout.I128:
		// high × 2^64 + low, the low half unsigned; two roundings, like any double. What 64 bits
		// hold is converted as such: a small negative number is a difference of large ones.
		h, sign := e.float("fhi"), e.int("sign")
		hi, ownHi := e.reg(v.b, "hi")
		e.b.Op1(ir.I2F, h, hi.V())
		e.b.FConst(r, floatBits(1<<64))
		e.b.Op2(ir.FMul, h, h.V(), r.V())
		lo, ownLo := e.reg(v.a, "lo")
		e.b.Op1(ir.U2F, r, lo.V())
		e.b.Op2(ir.FAdd, r, r.V(), h.V())
		e.b.Op1(ir.I2F, h, lo.V())
		e.b.Op2(ir.Sar, sign, lo.V(), ir.K(63))
		e.b.FSel(r, ir.EQ, sign.V(), hi.V(), h, r)
		if ownHi {
			e.b.Clear(hi)
		}
		if ownLo {
			e.b.Clear(lo)
		}
		e.b.Clear(h, sign)
	default:
		a, own := e.reg(v.a, "i")
		e.b.Op1(ir.I2F, r, a.V())
		if own {
			e.b.Clear(a)
		}
	}
	return r
}

func divisionByZero(pos int) *diag.Error {
	return diag.Errorf(diag.DivisionByZero, pos, "division by zero")
}

// divide is / and %: integers truncate, floats divide, decimals are rounded. A zero divisor is an
// error, in floats too, as in PostgreSQL.
func (e *evaluator) divide(x *plan.Call) value {
	if x.Op == plan.Div && x.T.Kind == types.Decimal {
		return e.quotient(x)
	}
	l, r := e.eval(x.Args[0]), e.eval(x.Args[1])
	n, own := e.anyNull(l, r)
	fail := divisionByZero(x.Pos)
	if l.d.Form == layout.F64 {
		if x.Op == plan.Mod {
			refuse(x.Pos, "%% on floats is not supported")
		}
		z, bad := e.float("zero"), e.int("bad")
		e.b.FConst(z, 0)
		e.b.FSet(bad, ir.EQ, r.a.R, z)
		if !n.IsImm() {
			e.b.Sel(bad, ir.NE, n, ir.K(0), ir.K(0), bad.V())
		}
		if n != ir.K(1) {
			e.exit(e.fail(fail), ir.NE, bad.V(), ir.K(0))
		}
		e.b.Clear(z, bad)
		d := e.float("div")
		e.b.Op2(ir.FDiv, d, l.a, r.a)
		if x.T.Kind == types.Float32 {
			e.b.Op1(ir.FRound32, d, d.V())
		}
		e.free(l, r)
		return value{d: layout.Desc{Type: x.T, Form: layout.F64}, a: d.V(), ownA: true}.withNull(n, own)
	}
	if l.d.Form == layout.I128 || r.d.Form == layout.I128 {
		refuse(x.Pos, "%s on 128-bit decimals is not supported yet", x.Op)
	}
	// The divisor: 0 fails unless the row is NULL (then 1 stands in for it).
	div := r.a
	ownDiv := false
	if !r.a.IsImm() || r.a.Imm == 0 || r.a.Imm == -1 {
		d := e.int("divisor")
		e.b.Mov(d, r.a)
		if n == ir.K(0) {
			e.exit(e.fail(fail), ir.EQ, d.V(), ir.K(0))
		} else if n == ir.K(1) {
			e.b.Mov(d, ir.K(1))
		} else {
			e.b.Sel(d, ir.NE, n, ir.K(0), ir.K(1), d.V())
			e.exit(e.fail(fail), ir.EQ, d.V(), ir.K(0))
		}
		div, ownDiv = d.V(), true
	}
	q := e.int(x.Op.String())
	minusOne := func() { // MinInt / -1 traps in hardware: -1 is done by negation
		if x.Op == plan.Mod {
			e.b.Mov(q, ir.K(0))
			return
		}
		if l.d.Range.Known && l.d.Range.Lo.Cmp(layout.TypeRange(types.TInt64).Lo) > 0 {
			e.b.Op1(ir.Neg, q, l.a)
		} else {
			e.b.OpX(ir.SubX, q, ir.K(0), l.a, e.fail(overflow(x.T, x.Pos)))
		}
	}
	op := ir.Div
	if x.Op == plan.Mod {
		op = ir.Rem
	}
	if div.IsImm() {
		e.b.Op2(op, q, l.a, div)
	} else {
		e.when(ir.EQ, div, ir.K(-1), minusOne, func() { e.b.Op2(op, q, l.a, div) })
	}
	rng := layout.TypeRange(x.T)
	if l.d.Range.Fits64() { // the quotient is no larger in size than the dividend
		m := l.d.Range.Union(l.d.Range.Neg())
		rng = rng.Intersect(m)
	}
	if x.Op == plan.Div && x.T.Kind != types.Int64 && layout.TypeRange(x.T).Fits64() {
		e.rangeCheck(q, layout.TypeRange(x.T), n, overflow(x.T, x.Pos))
	}
	if ownDiv {
		e.b.Clear(div.R)
	}
	e.free(l, r)
	return intVal(x.T, q, rng).withNull(n, own)
}

func (e *evaluator) abs(x *plan.Call) value {
	v := e.eval(x.Args[0])
	n, own := e.anyNull(v)
	switch v.d.Form {
	case layout.F64:
		d := e.float("abs")
		e.b.Op1(ir.FAbs, d, v.a)
		e.free(v)
		return value{d: layout.Desc{Type: x.T, Form: layout.F64}, a: d.V(), ownA: true}.withNull(n, own)
	case layout.I128:
		// (x ^ s) - s with the sign spread over both halves.
		s, lo, hi := e.int("sign"), e.int("abs"), e.int("abs.hi")
		e.b.Op2(ir.Sar, s, v.b, ir.K(63))
		e.b.Op2(ir.Xor, lo, v.a, s.V())
		e.b.Op2(ir.Xor, hi, v.b, s.V())
		e.b.Op128(ir.Sub128, lo, hi, lo.V(), hi.V(), s.V(), s.V(), 0)
		e.b.Clear(s)
		e.free(v)
		d := layout.Desc{Type: x.T, Form: layout.I128, Range: layout.TypeRange(x.T)}
		return value{d: d, a: lo.V(), b: hi.V(), ownA: true, ownB: true}.withNull(n, own)
	}
	v = e.harmless(v)
	s, r := e.int("sign"), e.int("abs")
	e.b.Op2(ir.Sar, s, v.a, ir.K(63))
	e.b.Op2(ir.Xor, r, v.a, s.V())
	e.b.OpX(ir.SubX, r, r.V(), s.V(), e.fail(overflow(x.T, x.Pos)))
	e.b.Clear(s)
	rng := v.d.Range.Union(v.d.Range.Neg())
	rng.Lo = types.Int128{}
	limit := layout.TypeRange(x.T)
	if limit.Fits64() && !(rng.Known && rng.Hi.Cmp(limit.Hi) <= 0) { // the least INTEGER has no opposite
		e.rangeCheck(r, limit, n, overflow(x.T, x.Pos))
	}
	e.free(v)
	return intVal(x.T, r, limit.Intersect(rng)).withNull(n, own)
}

// mathCall is floor, ceil, trunc, round, sqrt and sign.
func (e *evaluator) mathCall(x *plan.Call) value {
	v := e.eval(x.Args[0])
	n, own := e.anyNull(v)
	if x.Op == plan.Sign {
		return e.sign(x, v).withNull(n, own)
	}
	if v.d.Form != layout.F64 {
		if v.d.Type.Kind == types.Decimal {
			e.freeNull(n, own)
			return e.roundDecimal(x, v)
		}
		if x.T.IsInteger() && x.Op != plan.Sqrt {
			e.freeNull(n, own)
			v.d.Type = x.T
			return v // integers are already whole
		}
		refuse(x.Pos, "%s(%s) is not supported yet", x.Op, v.d.Type)
	}
	op := map[plan.Op]ir.Op{plan.Floor: ir.FFloor, plan.Ceil: ir.FCeil, plan.Sqrt: ir.FSqrt,
		plan.Round: ir.FRound, plan.Trunc: ir.FTrunc}[x.Op]
	if op == ir.Nop || len(x.Args) > 1 {
		refuse(x.Pos, "%s with these arguments is not supported yet", x.Op)
	}
	d := e.float(x.Op.String())
	if x.Op == plan.Sqrt {
		z, bad := e.float("zero"), e.int("bad")
		e.b.FConst(z, 0)
		e.b.FSet(bad, ir.LT, v.a.R, z)
		if !n.IsImm() {
			e.b.Sel(bad, ir.NE, n, ir.K(0), ir.K(0), bad.V())
		}
		e.exit(e.fail(diag.Errorf("2201F", x.Pos, "cannot take square root of a negative number")), ir.NE, bad.V(), ir.K(0))
		e.b.Clear(z, bad)
	}
	e.b.Op1(op, d, v.a)
	e.free(v)
	return value{d: layout.Desc{Type: x.T, Form: layout.F64}, a: d.V(), ownA: true}.withNull(n, own)
}

// sign is -1, 0 or 1 in the call's type; v is used up.
func (e *evaluator) sign(x *plan.Call, v value) value {
	r, t := e.int("sign"), e.int("neg")
	switch v.d.Form {
	case layout.F64:
		z := e.float("zero")
		e.b.FConst(z, 0)
		e.b.FSet(r, ir.GT, v.a.R, z)
		e.b.FSet(t, ir.LT, v.a.R, z)
		e.b.Clear(z)
	case layout.I128:
		e.b.Op2(ir.Or, r, v.a, v.b)
		e.b.Set(r, ir.NE, r.V(), ir.K(0))
		e.b.Set(t, ir.LT, v.b, ir.K(0))
		e.b.Op2(ir.Add, t, t.V(), t.V()) // 1 for both signs, less 2
	default:
		e.b.Set(r, ir.GT, v.a, ir.K(0))
		e.b.Set(t, ir.LT, v.a, ir.K(0))
	}
	e.b.Op2(ir.Sub, r, r.V(), t.V())
	e.b.Clear(t)
	e.free(v)
	switch {
	case x.T.IsFloat():
		f := e.float("sign")
		e.b.Op1(ir.I2F, f, r.V())
		e.b.Clear(r)
		return value{d: layout.Desc{Type: x.T, Form: layout.F64}, a: f.V(), ownA: true}
	case x.T.Kind == types.Decimal:
		s := intVal(types.TInt32, r, layout.Between(-1, 1))
		return e.scaleUp(s, int(x.T.Scale), x.T, overflow(x.T, x.Pos))
	}
	return intVal(x.T, r, layout.Between(-1, 1))
}

// roundDecimal is floor, ceil, trunc and round of decimals: a change of scale with a
// direction of rounding.
func (e *evaluator) roundDecimal(x *plan.Call, v value) value {
	from, to := int(v.d.Type.Scale), int(x.T.Scale)
	digits := 0
	if len(x.Args) > 1 {
		c, ok := x.Args[1].(*plan.Const)
		if !ok {
			refuse(x.Pos, "%s needs a constant number of digits", x.Op)
		}
		digits = int(c.V.I)
	} else if x.Op == plan.Sqrt || x.Op == plan.Sign {
		refuse(x.Pos, "%s of a wide decimal is not supported yet", x.Op)
	}
	digits = min(digits, from)
	mode := map[plan.Op]rounding{plan.Floor: roundDown, plan.Ceil: roundUp, plan.Trunc: roundZero, plan.Round: roundHalf}[x.Op]
	v = e.scaleDown(v, from-digits, mode)
	v.d.Type = types.TDecimal(38, max(digits, 0))
	if to >= digits {
		return e.scaleUp(v, to-digits, x.T, overflow(x.T, x.Pos))
	}
	refuse(x.Pos, "%s to these digits is not supported", x.Op)
	panic("unreachable")
}
