package eval

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// SQLSTATEs of functions that are not defined everywhere.
const (
	invalidPower     = "2201F"
	invalidLogarithm = "2201E"
)

// round is floor, ceil, trunc and round: of decimals to a number of digits after the point, which
// may be negative; of doubles to the point, halves to even, as PostgreSQL does.
func round(x *plan.Call, a []types.Value) (types.Value, error) {
	v := a[0]
	switch {
	case v.Type.IsFloat():
		return types.FloatValue(x.T, roundFloat(x.Op, v.F)), nil
	case v.Type.Kind != types.Decimal:
		return v, nil // integers are whole
	}
	digits := 0
	if len(a) > 1 {
		digits = int(max(min(a[1].I, 1000), -1000))
	}
	from, to := int(v.Type.Scale), int(x.T.Scale)
	digits = min(digits, from)
	y := cutDigits(x.Op, v.Int128(), from-digits)
	// What is left counts units of 10^-digits; the result has its own scale.
	if up := to - digits; up > 0 && y != (types.Int128{}) {
		var ok bool
		if up > types.MaxPrecision {
			return types.Value{}, types.ErrOutOfRange(x.T)
		}
		if y, ok = y.Mul(types.Pow10(up)); !ok {
			return types.Value{}, types.ErrOutOfRange(x.T)
		}
	}
	if !types.FitsPrecision(y, int(x.T.Prec)) {
		return types.Value{}, types.ErrOutOfRange(x.T)
	}
	return types.DecimalValue(x.T, y), nil
}

func roundFloat(op plan.Op, f float64) float64 {
	switch op {
	case plan.Floor:
		return math.Floor(f)
	case plan.Ceil:
		return math.Ceil(f)
	case plan.Trunc:
		return math.Trunc(f)
	}
	return math.RoundToEven(f)
}

// cutDigits divides by 10^k, where k is not negative, and rounds as the operation says.
func cutDigits(op plan.Op, x types.Int128, k int) types.Int128 {
	if k > types.MaxPrecision { // more digits than there can be; floor and ceil never ask for it
		return types.Int128{}
	}
	p := types.Pow10(k)
	q, r := x.DivRem(p)
	one := types.FromInt64(1)
	switch {
	case r == (types.Int128{}):
	case op == plan.Floor && r.Sign() < 0:
		q = q.Sub(one)
	case op == plan.Ceil && r.Sign() > 0:
		q = q.Add(one)
	case op == plan.Round:
		if q, ok := types.Rescale(x, k, 0); ok { // half away from zero
			return q
		}
	}
	return q
}

// sign is -1, 0 or 1 as a number of type t.
func sign(v types.Value, t types.Type) types.Value {
	if v.Type.IsFloat() {
		switch {
		case v.F > 0:
			v.F = 1
		case v.F < 0:
			v.F = -1
		default: // NaN too
			v.F = 0
		}
		return v
	}
	s := int64(v.Int128().Sign())
	if t.Kind == types.Decimal {
		one := types.Pow10(int(t.Scale))
		if s < 0 {
			one = one.Neg()
		}
		if s == 0 {
			one = types.Int128{}
		}
		return types.DecimalValue(t, one)
	}
	return types.IntValue(t, s)
}

// finite refuses results that left the doubles, unless an operand was outside already.
func finite(f float64, operands ...float64) (types.Value, error) {
	for _, x := range operands {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return types.FloatValue(types.TFloat64, f), nil
		}
	}
	switch {
	case math.IsInf(f, 0):
		return types.Value{}, fail(diag.NumericOutOfRange, "value out of range: overflow")
	case f == 0:
		return types.Value{}, fail(diag.NumericOutOfRange, "value out of range: underflow")
	}
	return types.FloatValue(types.TFloat64, f), nil
}

func power(x, y float64) (types.Value, error) {
	switch {
	case x == 0 && y < 0:
		return types.Value{}, fail(invalidPower, "zero raised to a negative power is undefined")
	case x < 0 && y != math.Floor(y) && !math.IsNaN(y):
		return types.Value{}, fail(invalidPower, "a negative number raised to a non-integer power yields a complex result")
	case x == 0:
		return types.FloatValue(types.TFloat64, math.Pow(x, y)), nil
	}
	return finite(math.Pow(x, y), x, y)
}

func logarithm(x float64, log func(float64) float64) (types.Value, error) {
	switch {
	case x == 0:
		return types.Value{}, fail(invalidLogarithm, "cannot take logarithm of zero")
	case x < 0:
		return types.Value{}, fail(invalidLogarithm, "cannot take logarithm of a negative number")
	}
	return types.FloatValue(types.TFloat64, log(x)), nil
}
