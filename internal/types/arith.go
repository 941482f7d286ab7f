package types

import "math"

// Arithmetic on values, for constants: what generated code computes, in Go. The
// operands are as plan wants them: one kind with the result, decimals of the result's scale for
// Add, Sub and Mod, of any scale for Mul and Div. NULL in, NULL out.

// Add is a + b of type t.
func Add(a, b Value, t Type) (Value, error) {
	return arith(a, b, t, func(x, y Int128) (Int128, bool) { return x.AddOK(y) },
		func(x, y float64) float64 { return x + y })
}

// Sub is a - b of type t.
func Sub(a, b Value, t Type) (Value, error) {
	return arith(a, b, t, func(x, y Int128) (Int128, bool) { return x.SubOK(y) },
		func(x, y float64) float64 { return x - y })
}

// Mul is a * b of type t. Digits for which a decimal has no room are rounded away.
func Mul(a, b Value, t Type) (Value, error) {
	if cut := a.scale() + b.scale() - int(t.Scale); t.Kind == Decimal && cut > 0 && !a.Null && !b.Null {
		return exactly(t)(MulDiv(a.Int128(), b.Int128(), pow10[cut]))
	}
	v, err := arith(a, b, t, func(x, y Int128) (Int128, bool) { return x.Mul(y) },
		func(x, y float64) float64 { return x * y })
	if err == nil && t.IsFloat() && !v.Null && v.F == 0 && a.F != 0 && b.F != 0 {
		return Value{}, errUnderflow
	}
	return v, err
}

// Div is a / b of type t: truncating for integers, rounded half away from zero at the scale of a
// decimal, a division of doubles else.
func Div(a, b Value, t Type) (Value, error) {
	if zeroDivisor(a, b) {
		return Value{}, ErrDivisionByZero
	}
	if t.Kind == Decimal && !a.Null && !b.Null {
		return exactly(t)(Quotient(a.Int128(), b.Int128(), int(t.Scale)+b.scale()-a.scale()))
	}
	v, err := arith(a, b, t, func(x, y Int128) (Int128, bool) { q, _ := x.DivRem(y); return q, true },
		func(x, y float64) float64 { return x / y })
	if err == nil && t.IsFloat() && !v.Null && v.F == 0 && a.F != 0 && !math.IsInf(b.F, 0) {
		return Value{}, errUnderflow
	}
	return v, err
}

// Mod is the remainder of a / b, with a's sign.
func Mod(a, b Value, t Type) (Value, error) {
	if zeroDivisor(a, b) {
		return Value{}, ErrDivisionByZero
	}
	return arith(a, b, t, func(x, y Int128) (Int128, bool) { _, r := x.DivRem(y); return r, true }, math.Mod)
}

// Neg is -a, of a's type.
func Neg(a Value) (Value, error) {
	switch {
	case a.Null:
		return a, nil
	case a.Type.IsFloat():
		return FloatValue(a.Type, -a.F), nil
	case a.Type.Kind == Interval:
		m, d, u := a.IntervalParts()
		if m == math.MinInt32 || d == math.MinInt32 || u == math.MinInt64 {
			return Value{}, ErrOutOfRange(a.Type)
		}
		return IntervalValue(-m, -d, -u), nil
	}
	return Sub(Value{Type: a.Type}, a, a.Type)
}

// exactly makes a decimal of type t from a number that may not have fitted.
func exactly(t Type) func(x Int128, ok bool) (Value, error) {
	return func(x Int128, ok bool) (Value, error) {
		if !ok || !FitsPrecision(x, int(t.Prec)) {
			return Value{}, ErrOutOfRange(t)
		}
		return DecimalValue(t, x), nil
	}
}

// Floats that leave their range.
var (
	errOverflow  = errf(codeOutOfRange, "value out of range: overflow")
	errUnderflow = errf(codeOutOfRange, "value out of range: underflow")
)

// zeroDivisor reports a division by zero; that of NaN is NaN, as in PostgreSQL.
func zeroDivisor(a, b Value) bool {
	if a.Null || b.Null {
		return false
	}
	if b.Type.IsFloat() {
		return b.F == 0 && !math.IsNaN(a.Float())
	}
	return b.Int128() == Int128{}
}

func arith(a, b Value, t Type, ints func(x, y Int128) (Int128, bool), floats func(x, y float64) float64) (Value, error) {
	if a.Null || b.Null {
		return NullOf(t), nil
	}
	switch {
	case t.IsFloat():
		f := floats(a.Float(), b.Float())
		if math.IsInf(f, 0) && !math.IsInf(a.Float(), 0) && !math.IsInf(b.Float(), 0) {
			return Value{}, errOverflow
		}
		if t.Kind == Float32 {
			return castReal(f)
		}
		return FloatValue(t, f), nil
	case t.Kind == Interval:
		return addIntervals(a, b, ints)
	}
	x, ok := ints(a.Int128(), b.Int128())
	if t.Kind == Decimal {
		if !ok || !FitsPrecision(x, MaxPrecision) {
			return Value{}, ErrOutOfRange(t)
		}
		return DecimalValue(t, x), nil
	}
	lo, hi := intRange(t)
	if !ok || !x.FitsInt64() || int64(x.Lo) < lo || int64(x.Lo) > hi {
		return Value{}, ErrOutOfRange(t)
	}
	return IntValue(t, int64(x.Lo)), nil
}

// addIntervals adds or subtracts part by part.
func addIntervals(a, b Value, op func(x, y Int128) (Int128, bool)) (Value, error) {
	am, ad, au := a.IntervalParts()
	bm, bd, bu := b.IntervalParts()
	m, _ := op(FromInt64(int64(am)), FromInt64(int64(bm)))
	d, _ := op(FromInt64(int64(ad)), FromInt64(int64(bd)))
	u, _ := op(FromInt64(au), FromInt64(bu))
	mi, di := int64(m.Lo), int64(d.Lo)
	if mi != int64(int32(mi)) || di != int64(int32(di)) || !u.FitsInt64() {
		return Value{}, ErrOutOfRange(TInterval)
	}
	return IntervalValue(int32(mi), int32(di), int64(u.Lo)), nil
}
