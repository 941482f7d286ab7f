package emit

import (
	"github.com/kelpiedb/kelpie/internal/diag"
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
func (e *evaluator) quotient(x *plan.Call) value {
	l, r := e.eval(x.Args[0]), e.eval(x.Args[1])
	n, own := e.anyNull(l, r)
	if n == ir.K(1) {
		e.free(l, r)
		return e.nullValue(x.T)
	}
	l, r = e.unlessNull(l, n, 0), e.unlessNull(r, n, 1)
	e.refuseZero(r, x.Pos)
	fail := overflow(x.T, x.Pos)
	k := int(x.T.Scale) + int(r.d.Type.Scale) - int(l.d.Type.Scale)
	if more := k - types.MaxPrecision; more > 0 { // see types.Quotient
		l = e.scaleUp(l, more, types.TDecimal(types.MaxPrecision, 0), fail)
		k = types.MaxPrecision
	}
	return e.mulDiv(l, e.powerOfTen(k), r, x.T, fail).withNull(n, own)
}

// roundedProduct is l * r where x.T has no room for all digits of both.
func (e *evaluator) roundedProduct(x *plan.Call, l, r value) value {
	n, own := e.anyNull(l, r)
	if n == ir.K(1) {
		e.free(l, r)
		return e.nullValue(x.T)
	}
	cut := int(l.d.Type.Scale) + int(r.d.Type.Scale) - int(x.T.Scale)
	l, r = e.unlessNull(l, n, 0), e.unlessNull(r, n, 0)
	return e.mulDiv(l, r, e.powerOfTen(cut), x.T, overflow(x.T, x.Pos)).withNull(n, own)
}

// powerOfTen is 10^k as a number without a point.
func (e *evaluator) powerOfTen(k int) value {
	return e.constant(types.DecimalValue(types.TDecimal(types.MaxPrecision, 0), types.Pow10(k)))
}

// unlessNull is v with another number in rows where n says NULL, so that nothing fails
// there. v is used up; n stays the caller's.
func (e *evaluator) unlessNull(v value, n ir.Val, instead int64) value {
	if v.ownNull {
		e.b.Clear(v.null.R)
	}
	v = v.withNull(ir.K(0), false)
	if n == ir.K(0) {
		return v
	}
	pick := func(x ir.Val, own bool, k int64) ir.Val {
		r := e.int("given")
		e.b.Sel(r, ir.NE, n, ir.K(0), ir.K(k), x)
		if own {
			e.b.Clear(x.R)
		}
		return r.V()
	}
	v.a, v.ownA = pick(v.a, v.ownA, instead), true
	if v.two() {
		v.b, v.ownB = pick(v.b, v.ownB, 0), true
	}
	v.d.Range = v.d.Range.Union(layout.Between(instead, instead))
	return v
}

// refuseZero fails for a divisor of 0.
func (e *evaluator) refuseZero(v value, pos int) {
	if rng := v.d.Range; rng.Known && (rng.Lo.Sign() > 0 || rng.Hi.Sign() < 0) {
		return
	}
	code := e.fail(divisionByZero(pos))
	if v.d.Form != layout.I128 {
		e.exit(code, ir.EQ, v.a, ir.K(0))
		return
	}
	t := e.int("any")
	e.b.Op2(ir.Or, t, v.a, v.b)
	e.exit(code, ir.EQ, t.V(), ir.K(0))
	e.b.Clear(t)
}

// mulDiv is x · y / d as a value of type t; the operands are never NULL, d is not zero. All are
// used up.
func (e *evaluator) mulDiv(x, y, d value, t types.Type, fail *diag.Error) value {
	product := x.d.Range.Mul(y.d.Range)
	half := d.d.Range.Union(d.d.Range.Neg())
	within := product.Union(product.Neg()).Add(half) // more than the sum that is divided can be
	if within.Known && d.d.Form == layout.I64 && d.d.Range.Known && d.d.Range.Lo != layout.TypeRange(types.TInt64).Lo {
		return e.mulDivNarrow(x, y, d, within, t, fail)
	}
	return e.mulDivWide(x, y, d, t, fail)
}

// mulDivNarrow is mulDiv with a product of 128 bits, also with half of the divisor added, and a
// divisor of 64.
func (e *evaluator) mulDivNarrow(x, y, d value, within layout.Range, t types.Type, fail *diag.Error) value {
	lo, hi := e.int("product"), e.int("product.hi")
	if x.d.Form == layout.I64 && y.d.Form == layout.I64 {
		e.b.Op128(ir.MulWide, lo, hi, x.a, ir.Val{}, y.a, ir.Val{}, 0)
	} else {
		x, y = e.wide(x), e.wide(y)
		e.b.Op128(ir.Mul128, lo, hi, x.a, x.b, y.a, y.b, 0)
	}
	least := types.FromInt64(1) // in size, of the divisor
	div, ownDiv := d.a, d.ownA
	switch {
	case d.d.Range.Lo.Sign() > 0:
		least = d.d.Range.Lo
	case d.d.Range.Lo.Sign() < 0: // the sign moves to the product
		s, r := e.int("sign"), e.int("divisor")
		e.b.Op2(ir.Sar, s, d.a, ir.K(63))
		e.b.Op2(ir.Xor, r, d.a, s.V())
		e.b.Op2(ir.Sub, r, r.V(), s.V())
		e.negateIf(lo, hi, s)
		e.b.Clear(s)
		if ownDiv {
			e.b.Clear(d.a.R)
		}
		div, ownDiv = r.V(), true
	}
	// Half of the divisor more, in the product's direction, makes truncating rounding.
	h, s := e.int("half"), e.int("half.hi")
	if div.IsImm() {
		e.b.Mov(h, ir.K(div.Imm>>1))
	} else {
		e.b.Op2(ir.Shr, h, div, ir.K(1))
	}
	e.b.Op2(ir.Sar, s, hi.V(), ir.K(63))
	e.b.Op2(ir.Xor, h, h.V(), s.V())
	e.b.Op2(ir.Sub, h, h.V(), s.V())
	e.b.Op2(ir.Sar, s, h.V(), ir.K(63))
	e.b.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), h.V(), s.V(), 0)
	e.b.Clear(h, s)
	e.div128(lo, hi, div)
	if ownDiv {
		e.b.Clear(div.R)
	}
	e.free(x, y)
	most, _ := within.Hi.DivRem(least)
	rng := layout.Range{Known: true, Lo: most.Neg(), Hi: most}
	v := value{d: layout.Desc{Type: t, Form: layout.I128, Range: rng}, a: lo.V(), b: hi.V(), ownA: true, ownB: true, null: ir.K(0)}
	return e.fit(v, t, fail)
}

// mulDivWide is mulDiv for any numbers of up to 38 digits.
func (e *evaluator) mulDivWide(x, y, d value, t types.Type, fail *diag.Error) value {
	a, xs := e.magnitude(x, "x")
	b, ys := e.magnitude(y, "y")
	c, ds := e.magnitude(d, "divisor")
	small := d.d.Range.Fits64()
	// The product is added to half of the divisor: w is the sum, low word first.
	var w [4]ir.Reg
	for i := range w {
		w[i] = e.int("sum")
	}
	carry := e.int("carry")
	e.b.Op2(ir.Shr, w[0], c[0].V(), ir.K(1))
	e.b.Op2(ir.Shl, carry, c[1].V(), ir.K(63))
	e.b.Op2(ir.Or, w[0], w[0].V(), carry.V())
	e.b.Op2(ir.Shr, w[1], c[1].V(), ir.K(1))
	lo, hi := e.int("product"), e.int("product.hi")
	for i := range a {
		e.b.Mov(carry, ir.K(0))
		for k := range b {
			e.b.Op128(ir.MulWideU, lo, hi, a[i].V(), ir.Val{}, b[k].V(), ir.Val{}, 0)
			e.b.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), w[i+k].V(), ir.K(0), 0)
			e.b.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), carry.V(), ir.K(0), 0)
			e.b.Mov(w[i+k], lo.V())
			e.b.Mov(carry, hi.V())
		}
		e.b.Mov(w[i+2], carry.V())
	}
	e.b.Clear(a[0], a[1], b[0], b[1], carry)
	// The quotient has 128 bits if the divisor is greater than the upper half.
	e.exitUnlessBelow(w[2], w[3], c[0].V(), c[1].V(), fail)
	if small && e.Can.Divide128 {
		e.divideWords(w, c[0], lo, hi)
	} else {
		e.divideBits(w, c, lo, hi)
	}
	e.b.Clear(w[0], w[1], w[2], w[3], c[0], c[1])
	limit := layout.TypeRange(t)
	above := limit.Hi.Add(types.FromInt64(1))
	e.exitUnlessBelow(lo, hi, ir.K(int64(above.Lo)), ir.K(above.Hi), fail)
	// The sign of the result is that of all three together.
	e.b.Op2(ir.Xor, xs, xs.V(), ys.V())
	e.b.Op2(ir.Xor, xs, xs.V(), ds.V())
	e.negateIf(lo, hi, xs)
	e.b.Clear(xs, ys, ds)
	v := value{d: layout.Desc{Type: t, Form: layout.I128, Range: limit}, a: lo.V(), b: hi.V(), ownA: true, ownB: true, null: ir.K(0)}
	return e.reform(v, layout.FormOf(t, limit))
}

// magnitude opens registers with the size of v, low word first, and with its sign, 0 or -1; v is used up.
func (e *evaluator) magnitude(v value, name string) (abs [2]ir.Reg, sign ir.Reg) {
	v = e.wide(v)
	abs = [2]ir.Reg{e.int(name), e.int(e.partName(name, ".hi"))}
	sign = e.int("sign")
	e.b.Mov(abs[0], v.a)
	e.b.Mov(abs[1], v.b)
	e.b.Op2(ir.Sar, sign, abs[1].V(), ir.K(63))
	e.negateIf(abs[0], abs[1], sign)
	e.free(v)
	return abs, sign
}

// negateIf negates a pair if sign is -1 and leaves it if that is 0.
func (e *evaluator) negateIf(lo, hi, sign ir.Reg) {
	e.b.Op2(ir.Xor, lo, lo.V(), sign.V())
	e.b.Op2(ir.Xor, hi, hi.V(), sign.V())
	e.b.Op128(ir.Sub128, lo, hi, lo.V(), hi.V(), sign.V(), sign.V(), 0)
}

// exitUnlessBelow fails when hi:lo is not less than another pair, unsigned.
func (e *evaluator) exitUnlessBelow(lo, hi ir.Reg, thanLo, thanHi ir.Val, fail *diag.Error) {
	bad := e.atLeast(lo, hi, thanLo, thanHi)
	e.exit(e.fail(fail), ir.NE, bad.V(), ir.K(0))
	e.b.Clear(bad)
}

// atLeast opens a register that says whether hi:lo is not less than another pair, unsigned.
func (e *evaluator) atLeast(lo, hi ir.Reg, thanLo, thanHi ir.Val) ir.Reg {
	r, low := e.int("atleast"), e.int("low")
	e.b.Set(low, ir.UGE, lo.V(), thanLo)
	e.b.Set(r, ir.UGT, hi.V(), thanHi)
	e.b.Sel(r, ir.EQ, hi.V(), thanHi, low.V(), r.V())
	e.b.Clear(low)
	return r
}

// divideWords divides w, of which w[3] is 0 and w[2] less than the divisor, by a divisor below 2^63,
// one word of the quotient after the other.
func (e *evaluator) divideWords(w [4]ir.Reg, d, lo, hi ir.Reg) {
	rem, none := e.int("rem"), e.int("none")
	e.b.Op128(ir.Div128, hi, none, w[1].V(), w[2].V(), d.V(), ir.Val{}, 0)
	e.b.Op128(ir.Rem128, rem, ir.NoReg, w[1].V(), w[2].V(), d.V(), ir.Val{}, 0)
	e.b.Op128(ir.Div128, lo, none, w[0].V(), rem.V(), d.V(), ir.Val{}, 0)
	e.b.Clear(rem, none)
}

// divideBits divides w by a divisor of up to 127 bits that is greater than w's upper half. A
// divisor that happens to be small is divided by as such, where the machine can; else one
// bit of the quotient comes after the other.
func (e *evaluator) divideBits(w [4]ir.Reg, d [2]ir.Reg, lo, hi ir.Reg) {
	bits := func() {
		i, fits, sub, subHi := e.int("i"), e.int("fits"), e.int("sub"), e.int("sub.hi")
		e.b.Mov(i, ir.K(128))
		l := e.b.Loop()
		e.b.Op128(ir.Add128, w[2], w[3], w[2].V(), w[3].V(), w[2].V(), w[3].V(), 0)
		e.b.Op2(ir.Shr, fits, w[1].V(), ir.K(63))
		e.b.Op2(ir.Or, w[2], w[2].V(), fits.V())
		e.b.Op128(ir.Add128, w[0], w[1], w[0].V(), w[1].V(), w[0].V(), w[1].V(), 0)
		ge := e.atLeast(w[2], w[3], d[0].V(), d[1].V())
		e.b.Op2(ir.Or, w[0], w[0].V(), ge.V())
		e.b.Op1(ir.Neg, ge, ge.V())
		e.b.Op2(ir.And, sub, d[0].V(), ge.V())
		e.b.Op2(ir.And, subHi, d[1].V(), ge.V())
		e.b.Op128(ir.Sub128, w[2], w[3], w[2].V(), w[3].V(), sub.V(), subHi.V(), 0)
		e.b.Clear(ge)
		e.b.Op2(ir.Sub, i, i.V(), ir.K(1))
		e.b.EndLoop(l, ir.NE, i.V(), ir.K(0))
		e.b.Clear(i, fits, sub, subHi)
		e.b.Mov(lo, w[0].V())
		e.b.Mov(hi, w[1].V())
	}
	if !e.Can.Divide128 {
		bits()
		return
	}
	large := e.int("large")
	e.b.Op2(ir.Shr, large, d[0].V(), ir.K(63))
	e.b.Op2(ir.Or, large, large.V(), d[1].V())
	e.when(ir.EQ, large.V(), ir.K(0), func() { e.divideWords(w, d[0], lo, hi) }, bits)
	e.b.Clear(large)
}

// div128 divides the pair in lo and hi by a positive 64-bit number, truncating. Where there is no
// such division it finds one bit of the quotient after the other, unless 64 bits are enough.
func (e *evaluator) div128(lo, hi ir.Reg, c ir.Val) {
	if e.Can.Divide128 {
		e.b.Op128(ir.Div128, lo, hi, lo.V(), hi.V(), c, ir.Val{}, 0)
		return
	}
	s, t := e.int("sign"), e.int("t")
	e.b.Op2(ir.Sar, s, hi.V(), ir.K(63))
	e.negateIf(lo, hi, s)
	e.b.Op2(ir.Shr, t, lo.V(), ir.K(63))
	e.b.Op2(ir.Or, t, t.V(), hi.V())
	e.when(ir.EQ, t.V(), ir.K(0), func() {
		e.b.Op2(ir.Div, lo, lo.V(), c)
	}, func() {
		rem, i, fits := e.int("rem"), e.int("i"), e.int("fits")
		e.b.Mov(rem, ir.K(0))
		e.b.Mov(i, ir.K(128))
		l := e.b.Loop()
		e.b.Op2(ir.Shl, rem, rem.V(), ir.K(1))
		e.b.Op2(ir.Shr, fits, hi.V(), ir.K(63))
		e.b.Op2(ir.Or, rem, rem.V(), fits.V())
		e.b.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), lo.V(), hi.V(), 0)
		e.b.Set(fits, ir.UGE, rem.V(), c)
		e.b.Op2(ir.Or, lo, lo.V(), fits.V())
		e.b.Op1(ir.Neg, fits, fits.V())
		e.b.Op2(ir.And, fits, fits.V(), c)
		e.b.Op2(ir.Sub, rem, rem.V(), fits.V())
		e.b.Op2(ir.Sub, i, i.V(), ir.K(1))
		e.b.EndLoop(l, ir.NE, i.V(), ir.K(0))
		e.b.Clear(rem, i, fits)
	})
	e.negateIf(lo, hi, s)
	e.b.Clear(s, t)
}
