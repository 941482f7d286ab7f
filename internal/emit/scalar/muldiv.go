package scalar

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Quotients of decimals, and products that lose digits: x · y / d, rounded half away from zero, where
// a quotient has a power of ten for y and a product has one for d. Ranges decide how: a product that
// stays within 128 bits over a divisor of 64 is what averages come to, two machine divisions. Else the
// product has 256 bits (types.MulDiv is the same in Go).

// quotient is l / r with a decimal result: x.T's scale says how many digits.
func (e *Evaluator) quotient(x *plan.Call) code.Value {
	l, r := e.Eval(x.Args[0]), e.Eval(x.Args[1])
	n, own := e.AnyNull(l, r)
	if n == ir.K(1) {
		e.Free(l, r)
		return e.NullValue(x.T)
	}
	l, r = e.unlessNull(l, n, 0), e.unlessNull(r, n, 1)
	e.refuseZero(r, x.Pos)
	fail := Overflow(x.T, x.Pos)
	k := int(x.T.Scale) + int(r.Desc.Type.Scale) - int(l.Desc.Type.Scale)
	if more := k - types.MaxPrecision; more > 0 { // see types.Quotient
		l = e.scaleUp(l, more, types.TDecimal(types.MaxPrecision, 0), fail)
		k = types.MaxPrecision
	}
	return e.mulDiv(l, e.powerOfTen(k), r, x.T, fail).WithNull(n, own)
}

// roundedProduct is l * r where x.T has no room for all digits of both.
func (e *Evaluator) roundedProduct(x *plan.Call, l, r code.Value) code.Value {
	n, own := e.AnyNull(l, r)
	if n == ir.K(1) {
		e.Free(l, r)
		return e.NullValue(x.T)
	}
	cut := int(l.Desc.Type.Scale) + int(r.Desc.Type.Scale) - int(x.T.Scale)
	l, r = e.unlessNull(l, n, 0), e.unlessNull(r, n, 0)
	return e.mulDiv(l, r, e.powerOfTen(cut), x.T, Overflow(x.T, x.Pos)).WithNull(n, own)
}

// powerOfTen is 10^k as a number without a point.
func (e *Evaluator) powerOfTen(k int) code.Value {
	return e.Constant(types.DecimalValue(types.TDecimal(types.MaxPrecision, 0), types.Pow10(k)))
}

// unlessNull is v with another number in rows where n says NULL, so that nothing fails
// there. v is used up; n stays the caller's.
func (e *Evaluator) unlessNull(v code.Value, n ir.Val, instead int64) code.Value {
	if v.OwnNull {
		e.B.Clear(v.Null.R)
	}
	v = v.WithNull(ir.K(0), false)
	if n == ir.K(0) {
		return v
	}
	pick := func(x ir.Val, own bool, k int64) ir.Val {
		r := e.Int("given")
		e.B.Sel(r, ir.NE, n, ir.K(0), ir.K(k), x)
		if own {
			e.B.Clear(x.R)
		}
		return r.V()
	}
	v.A, v.OwnA = pick(v.A, v.OwnA, instead), true
	if v.Two() {
		v.B, v.OwnB = pick(v.B, v.OwnB, 0), true
	}
	v.Desc.Range = v.Desc.Range.Union(layout.Between(instead, instead))
	return v
}

// refuseZero fails for a divisor of 0.
func (e *Evaluator) refuseZero(v code.Value, pos int) {
	if rng := v.Desc.Range; rng.Known && (rng.Lo.Sign() > 0 || rng.Hi.Sign() < 0) {
		return
	}
	code := e.Fail(divisionByZero(pos))
	if v.Desc.Form != layout.I128 {
		e.Exit(code, ir.EQ, v.A, ir.K(0))
		return
	}
	t := e.Int("any")
	e.B.Op2(ir.Or, t, v.A, v.B)
	e.Exit(code, ir.EQ, t.V(), ir.K(0))
	e.B.Clear(t)
}

// mulDiv is x · y / d as a value of type t; the operands are never NULL, d is not zero. All are
// used up.
func (e *Evaluator) mulDiv(x, y, d code.Value, t types.Type, fail *diag.Error) code.Value {
	product := x.Desc.Range.Mul(y.Desc.Range)
	half := d.Desc.Range.Union(d.Desc.Range.Neg())
	within := product.Union(product.Neg()).Add(half) // more than the sum that is divided can be
	if within.Known && d.Desc.Form == layout.I64 && d.Desc.Range.Known && d.Desc.Range.Lo != layout.TypeRange(types.TInt64).Lo {
		return e.mulDivNarrow(x, y, d, within, t, fail)
	}
	return e.mulDivWide(x, y, d, t, fail)
}

// mulDivNarrow is mulDiv with a product of 128 bits, also with half of the divisor added, and a
// divisor of 64.
func (e *Evaluator) mulDivNarrow(x, y, d code.Value, within layout.Range, t types.Type, fail *diag.Error) code.Value {
	lo, hi := e.Int("product"), e.Int("product.hi")
	if x.Desc.Form == layout.I64 && y.Desc.Form == layout.I64 {
		e.B.Op128(ir.MulWide, lo, hi, x.A, ir.Val{}, y.A, ir.Val{}, 0)
	} else {
		x, y = e.Wide(x), e.Wide(y)
		e.B.Op128(ir.Mul128, lo, hi, x.A, x.B, y.A, y.B, 0)
	}
	least := types.FromInt64(1) // in size, of the divisor
	div, ownDiv := d.A, d.OwnA
	switch {
	case d.Desc.Range.Lo.Sign() > 0:
		least = d.Desc.Range.Lo
	case d.Desc.Range.Lo.Sign() < 0: // the sign moves to the product
		s, r := e.Int("sign"), e.Int("divisor")
		e.B.Op2(ir.Sar, s, d.A, ir.K(63))
		e.B.Op2(ir.Xor, r, d.A, s.V())
		e.B.Op2(ir.Sub, r, r.V(), s.V())
		e.negateIf(lo, hi, s)
		e.B.Clear(s)
		if ownDiv {
			e.B.Clear(d.A.R)
		}
		div, ownDiv = r.V(), true
	}
	// Half of the divisor more, in the product's direction, makes truncating rounding.
	h, s := e.Int("half"), e.Int("half.hi")
	if div.IsImm() {
		e.B.Mov(h, ir.K(div.Imm>>1))
	} else {
		e.B.Op2(ir.Shr, h, div, ir.K(1))
	}
	e.B.Op2(ir.Sar, s, hi.V(), ir.K(63))
	e.B.Op2(ir.Xor, h, h.V(), s.V())
	e.B.Op2(ir.Sub, h, h.V(), s.V())
	e.B.Op2(ir.Sar, s, h.V(), ir.K(63))
	e.B.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), h.V(), s.V(), 0)
	e.B.Clear(h, s)
	e.div128(lo, hi, div)
	if ownDiv {
		e.B.Clear(div.R)
	}
	e.Free(x, y)
	most, _ := within.Hi.DivRem(least)
	rng := layout.Range{Known: true, Lo: most.Neg(), Hi: most}
	v := code.Value{Desc: layout.Desc{Type: t, Form: layout.I128, Range: rng}, A: lo.V(), B: hi.V(), OwnA: true, OwnB: true, Null: ir.K(0)}
	return e.fit(v, t, fail)
}

// mulDivWide is mulDiv for any numbers of up to 38 digits.
func (e *Evaluator) mulDivWide(x, y, d code.Value, t types.Type, fail *diag.Error) code.Value {
	a, xs := e.magnitude(x, "x")
	b, ys := e.magnitude(y, "y")
	c, ds := e.magnitude(d, "divisor")
	small := d.Desc.Range.Fits64()
	// The product is added to half of the divisor: w is the sum, low word first.
	var w [4]ir.Reg
	for i := range w {
		w[i] = e.Int("sum")
	}
	carry := e.Int("carry")
	e.B.Op2(ir.Shr, w[0], c[0].V(), ir.K(1))
	e.B.Op2(ir.Shl, carry, c[1].V(), ir.K(63))
	e.B.Op2(ir.Or, w[0], w[0].V(), carry.V())
	e.B.Op2(ir.Shr, w[1], c[1].V(), ir.K(1))
	lo, hi := e.Int("product"), e.Int("product.hi")
	for i := range a {
		e.B.Mov(carry, ir.K(0))
		for k := range b {
			e.B.Op128(ir.MulWideU, lo, hi, a[i].V(), ir.Val{}, b[k].V(), ir.Val{}, 0)
			e.B.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), w[i+k].V(), ir.K(0), 0)
			e.B.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), carry.V(), ir.K(0), 0)
			e.B.Mov(w[i+k], lo.V())
			e.B.Mov(carry, hi.V())
		}
		e.B.Mov(w[i+2], carry.V())
	}
	e.B.Clear(a[0], a[1], b[0], b[1], carry)
	// The quotient has 128 bits if the divisor is greater than the upper half.
	e.exitUnlessBelow(w[2], w[3], c[0].V(), c[1].V(), fail)
	if small && e.Can.Divide128 {
		e.divideWords(w, c[0], lo, hi)
	} else {
		e.divideBits(w, c, lo, hi)
	}
	e.B.Clear(w[0], w[1], w[2], w[3], c[0], c[1])
	limit := layout.TypeRange(t)
	above := limit.Hi.Add(types.FromInt64(1))
	e.exitUnlessBelow(lo, hi, ir.K(int64(above.Lo)), ir.K(above.Hi), fail)
	// The sign of the result is that of all three together.
	e.B.Op2(ir.Xor, xs, xs.V(), ys.V())
	e.B.Op2(ir.Xor, xs, xs.V(), ds.V())
	e.negateIf(lo, hi, xs)
	e.B.Clear(xs, ys, ds)
	v := code.Value{Desc: layout.Desc{Type: t, Form: layout.I128, Range: limit}, A: lo.V(), B: hi.V(), OwnA: true, OwnB: true, Null: ir.K(0)}
	return e.Reform(v, layout.FormOf(t, limit))
}

// magnitude opens registers with the size of v, low word first, and with its sign, 0 or -1; v is used up.
func (e *Evaluator) magnitude(v code.Value, name string) (abs [2]ir.Reg, sign ir.Reg) {
	v = e.Wide(v)
	abs = [2]ir.Reg{e.Int(name), e.Int(e.PartName(name, ".hi"))}
	sign = e.Int("sign")
	e.B.Mov(abs[0], v.A)
	e.B.Mov(abs[1], v.B)
	e.B.Op2(ir.Sar, sign, abs[1].V(), ir.K(63))
	e.negateIf(abs[0], abs[1], sign)
	e.Free(v)
	return abs, sign
}

// negateIf negates a pair if sign is -1 and leaves it if that is 0.
func (e *Evaluator) negateIf(lo, hi, sign ir.Reg) {
	e.B.Op2(ir.Xor, lo, lo.V(), sign.V())
	e.B.Op2(ir.Xor, hi, hi.V(), sign.V())
	e.B.Op128(ir.Sub128, lo, hi, lo.V(), hi.V(), sign.V(), sign.V(), 0)
}

// exitUnlessBelow fails when hi:lo is not less than another pair, unsigned.
func (e *Evaluator) exitUnlessBelow(lo, hi ir.Reg, thanLo, thanHi ir.Val, fail *diag.Error) {
	bad := e.atLeast(lo, hi, thanLo, thanHi)
	e.Exit(e.Fail(fail), ir.NE, bad.V(), ir.K(0))
	e.B.Clear(bad)
}

// atLeast opens a register that says whether hi:lo is not less than another pair, unsigned.
func (e *Evaluator) atLeast(lo, hi ir.Reg, thanLo, thanHi ir.Val) ir.Reg {
	r, low := e.Int("atleast"), e.Int("low")
	e.B.Set(low, ir.UGE, lo.V(), thanLo)
	e.B.Set(r, ir.UGT, hi.V(), thanHi)
	e.B.Sel(r, ir.EQ, hi.V(), thanHi, low.V(), r.V())
	e.B.Clear(low)
	return r
}

// divideWords divides w, of which w[3] is 0 and w[2] less than the divisor, by a divisor below 2^63,
// one word of the quotient after the other.
func (e *Evaluator) divideWords(w [4]ir.Reg, d, lo, hi ir.Reg) {
	rem, none := e.Int("rem"), e.Int("none")
	e.B.Op128(ir.Div128, hi, none, w[1].V(), w[2].V(), d.V(), ir.Val{}, 0)
	e.B.Op128(ir.Rem128, rem, ir.NoReg, w[1].V(), w[2].V(), d.V(), ir.Val{}, 0)
	e.B.Op128(ir.Div128, lo, none, w[0].V(), rem.V(), d.V(), ir.Val{}, 0)
	e.B.Clear(rem, none)
}

// divideBits divides w by a divisor of up to 127 bits that is greater than w's upper half. A
// divisor that happens to be small is divided by as such, where the machine can; else one
// bit of the quotient comes after the other.
func (e *Evaluator) divideBits(w [4]ir.Reg, d [2]ir.Reg, lo, hi ir.Reg) {
	bits := func() {
		i, fits, sub, subHi := e.Int("i"), e.Int("fits"), e.Int("sub"), e.Int("sub.hi")
		e.B.F.Rolled = 1
		e.B.Mov(i, ir.K(128))
		l := e.B.Loop()
		e.B.Op128(ir.Add128, w[2], w[3], w[2].V(), w[3].V(), w[2].V(), w[3].V(), 0)
		e.B.Op2(ir.Shr, fits, w[1].V(), ir.K(63))
		e.B.Op2(ir.Or, w[2], w[2].V(), fits.V())
		e.B.Op128(ir.Add128, w[0], w[1], w[0].V(), w[1].V(), w[0].V(), w[1].V(), 0)
		ge := e.atLeast(w[2], w[3], d[0].V(), d[1].V())
		e.B.Op2(ir.Or, w[0], w[0].V(), ge.V())
		e.B.Op1(ir.Neg, ge, ge.V())
		e.B.Op2(ir.And, sub, d[0].V(), ge.V())
		e.B.Op2(ir.And, subHi, d[1].V(), ge.V())
		e.B.Op128(ir.Sub128, w[2], w[3], w[2].V(), w[3].V(), sub.V(), subHi.V(), 0)
		e.B.Clear(ge)
		e.B.Op2(ir.Sub, i, i.V(), ir.K(1))
		e.B.EndLoop(l, ir.NE, i.V(), ir.K(0))
		e.B.Clear(i, fits, sub, subHi)
		e.B.Mov(lo, w[0].V())
		e.B.Mov(hi, w[1].V())
	}
	if !e.Can.Divide128 {
		bits()
		return
	}
	large := e.Int("large")
	e.B.Op2(ir.Shr, large, d[0].V(), ir.K(63))
	e.B.Op2(ir.Or, large, large.V(), d[1].V())
	e.When(ir.EQ, large.V(), ir.K(0), func() { e.divideWords(w, d[0], lo, hi) }, bits)
	e.B.Clear(large)
}

// div128 divides the pair in lo and hi by a positive 64-bit number, truncating. Where there is no
// such division it finds one bit of the quotient after the other, unless 64 bits are enough.
func (e *Evaluator) div128(lo, hi ir.Reg, c ir.Val) {
	if e.Can.Divide128 {
		e.B.Op128(ir.Div128, lo, hi, lo.V(), hi.V(), c, ir.Val{}, 0)
		return
	}
	s, t := e.Int("sign"), e.Int("t")
	e.B.Op2(ir.Sar, s, hi.V(), ir.K(63))
	e.negateIf(lo, hi, s)
	e.B.Op2(ir.Shr, t, lo.V(), ir.K(63))
	e.B.Op2(ir.Or, t, t.V(), hi.V())
	e.When(ir.EQ, t.V(), ir.K(0), func() {
		e.B.Op2(ir.Div, lo, lo.V(), c)
	}, func() {
		// Leading zeros are left out.
		e.B.F.Rolled = 1
		rem, i, fits := e.Int("rem"), e.Int("i"), e.Int("fits")
		e.B.Op1(ir.Clz, i, hi.V())
		e.B.Op2(ir.And, i, i.V(), ir.K(63))
		e.B.Op2(ir.Xor, rem, i.V(), ir.K(63))
		e.B.Op2(ir.Shr, fits, lo.V(), ir.K(1))
		e.B.Op2(ir.Shr, fits, fits.V(), rem.V())
		e.B.Op2(ir.Shl, hi, hi.V(), i.V())
		e.B.Op2(ir.Or, hi, hi.V(), fits.V())
		e.B.Op2(ir.Shl, lo, lo.V(), i.V())
		e.B.Op2(ir.Sub, i, ir.K(128), i.V())
		e.B.Mov(rem, ir.K(0))
		l := e.B.Loop()
		e.B.Op2(ir.Shl, rem, rem.V(), ir.K(1))
		e.B.Op2(ir.Shr, fits, hi.V(), ir.K(63))
		e.B.Op2(ir.Or, rem, rem.V(), fits.V())
		e.B.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), lo.V(), hi.V(), 0)
		e.B.Set(fits, ir.UGE, rem.V(), c)
		e.B.Op2(ir.Or, lo, lo.V(), fits.V())
		e.B.Op1(ir.Neg, fits, fits.V())
		e.B.Op2(ir.And, fits, fits.V(), c)
		e.B.Op2(ir.Sub, rem, rem.V(), fits.V())
		e.B.Op2(ir.Sub, i, i.V(), ir.K(1))
		e.B.EndLoop(l, ir.NE, i.V(), ir.K(0))
		e.B.Clear(rem, i, fits)
	})
	e.negateIf(lo, hi, s)
	e.B.Clear(s, t)
}
