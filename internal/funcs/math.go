package funcs

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

const (
	invalidLogarithm         = "2201E"
	invalidWidthBucket       = "2201G"
	mostFactorial            = 33 // 34! has 39 digits
	longestBase        int64 = 64
)

func outOfRange(what string) (types.Value, error) {
	return fail(diag.NumericOutOfRange, "%s out of range", what)
}

// of is a function that is defined for all doubles.
func of(f func(float64) float64) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) { return double(f(a[0].F)) }
}

func of2(f func(x, y float64) float64) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) { return double(f(a[0].F, a[1].F)) }
}

// overflowing refuses infinite results of finite arguments.
func overflowing(f func(float64) float64) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) { return finite(f(a[0].F), a[0].F) }
}

// underflowing is a function that is zero of zero alone.
func underflowing(f func(float64) float64) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		y := f(a[0].F)
		if y == 0 && a[0].F != 0 {
			return fail(diag.NumericOutOfRange, "value out of range: underflow")
		}
		return double(y)
	}
}

// Log is the natural logarithm, also of numbers too small to be normal, of which math.Log of some processors knows nothing.
func Log(x float64) float64 {
	const smallestNormal = 0x1p-1022
	if x < smallestNormal && x > 0 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// Log10 is the logarithm to base 10.
func Log10(x float64) float64 {
	const smallestNormal = 0x1p-1022
	if x < smallestNormal && x > 0 {
		return math.Log10(x*0x1p54) - 54*math.Log10(2)
	}
	return math.Log10(x)
}

func finite(f, x float64) (types.Value, error) {
	if math.IsInf(f, 0) && !math.IsInf(x, 0) {
		return fail(diag.NumericOutOfRange, "value out of range: overflow")
	}
	return double(f)
}

// within is a function that is defined from lo to hi.
func within(f func(float64) float64, lo, hi float64) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		if x := a[0].F; x < lo || x > hi {
			return fail(diag.NumericOutOfRange, "input is out of range")
		}
		return double(f(a[0].F))
	}
}

// angle is a function of an angle, which infinity is not.
func angle(f func(float64) float64) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		if math.IsInf(a[0].F, 0) {
			return fail(diag.NumericOutOfRange, "input is out of range")
		}
		return double(f(a[0].F))
	}
}

// degreesOf is an angle in degrees, exact where the angle is one that radians cannot say exactly: unit in
// radians is degrees.
func degreesOf(x, unit, degrees float64) float64 { return x / unit * degrees }

// Sines and cosines of the first octants are scaled so that 30 and 60 degrees are exact, as in PostgreSQL.
var (
	radian        = math.Pi / 180 // a variable, so that products are rounded as those of rows are
	sin30         = math.Sin(30 * radian)
	oneMinusCos60 = 1 - math.Cos(60*radian)
	asin05        = math.Asin(0.5)
	acos05        = math.Acos(0.5)
)

func sind0to30(x float64) float64 { return math.Sin(x*radian) / sin30 / 2 }
func cosd0to60(x float64) float64 {
	return 1 - (1-math.Cos(x*radian))/oneMinusCos60/2
}

func sindFirst(x float64) float64 {
	if x <= 30 {
		return sind0to30(x)
	}
	return cosd0to60(90 - x)
}

func cosdFirst(x float64) float64 {
	if x <= 60 {
		return cosd0to60(x)
	}
	return sind0to30(90 - x)
}

func sind(x float64) float64 {
	x = math.Mod(x, 360)
	sign := 1.0
	if x < 0 {
		x, sign = -x, -1
	}
	if x > 180 {
		x, sign = 360-x, -sign
	}
	if x > 90 {
		x = 180 - x
	}
	return sign * sindFirst(x)
}

func cosd(x float64) float64 {
	x = math.Abs(math.Mod(x, 360))
	sign := 1.0
	if x > 180 {
		x = 360 - x
	}
	if x > 90 {
		x, sign = 180-x, -1
	}
	return sign * cosdFirst(x)
}

// asindFirst is for arguments from 0 to 1.
func asindFirst(x float64) float64 {
	if x <= 0.5 {
		return math.Asin(x) / asin05 * 30
	}
	return 90 - math.Acos(x)/acos05*60
}

func asind(x float64) float64 {
	if x < 0 {
		return -asindFirst(-x)
	}
	return asindFirst(x)
}

func acosd(x float64) float64 {
	if x < 0 {
		return 90 + asindFirst(-x)
	}
	if x <= 0.5 {
		return 90 - math.Asin(x)/asin05*30
	}
	return math.Acos(x) / acos05 * 60
}

// roundEven rounds to a number of digits after the point, halves to even.
func roundEven(a []types.Value, _ types.Type) (types.Value, error) {
	unit := math.Pow(10, float64(max(min(at(a, 1, 0), 300), -300)))
	if scaled := a[0].F * unit; !math.IsInf(scaled, 0) {
		return finite(math.RoundToEven(scaled)/unit, a[0].F)
	}
	return double(a[0].F) // it has no digits there
}

func gamma(a []types.Value, _ types.Type) (types.Value, error) {
	x := a[0].F
	if x == 0 || x < 0 && x == math.Floor(x) {
		return fail(diag.NumericOutOfRange, "input is out of range")
	}
	return finite(math.Gamma(x), x)
}

// factorial is exact: as many digits as a DECIMAL has.
func factorial(a []types.Value, t types.Type) (types.Value, error) {
	n := a[0].I
	if n < 0 {
		return fail(diag.NumericOutOfRange, "factorial of a negative number is undefined")
	}
	if n > mostFactorial {
		return fail(diag.NumericOutOfRange, "value overflows numeric format")
	}
	x := types.FromInt64(1)
	for k := int64(2); k <= n; k++ {
		x, _ = x.Mul(types.FromInt64(k))
	}
	return types.DecimalValue(t, x), nil
}

// gcd of two integers is never negative.
func gcd(a []types.Value, t types.Type) (types.Value, error) {
	x, y := a[0].I, a[1].I
	for y != 0 {
		if y == -1 { // the least integer has no remainder by it on this machine
			x, y = 1, 0
			break
		}
		x, y = y, x%y
	}
	if x < 0 {
		x = -x
	}
	return inType(x, t, x < 0)
}

func lcm(a []types.Value, t types.Type) (types.Value, error) {
	x, y := a[0].I, a[1].I
	if x == 0 || y == 0 {
		return number(t, 0)
	}
	g, err := gcd(a, types.TInt64)
	if err != nil {
		return g, err
	}
	p := x / g.I * y
	wrong := y != 0 && (p/y != x/g.I || x/g.I == -1 && y == math.MinInt64 || y == -1 && x/g.I == math.MinInt64)
	if p < 0 {
		p = -p
	}
	return inType(p, t, wrong || p < 0)
}

// inType refuses an integer that its type does not hold.
func inType(x int64, t types.Type, wrong bool) (types.Value, error) {
	if lo, hi := types.IntRange(t); wrong || x < lo || x > hi {
		return outOfRange(t.SQLName())
	}
	return number(t, x)
}

// bigOf is a whole number or decimal times ten to its scale.
func bigOf(v types.Value) *big.Int {
	x := v.Int128()
	b := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(x.Lo))
}

// sameScale brings two numbers to units of one size.
func sameScale(a []types.Value) (x, y *big.Int) {
	x, y = bigOf(a[0]), bigOf(a[1])
	sx, sy := int64(a[0].Type.Scale), int64(a[1].Type.Scale)
	up := func(b *big.Int, n int64) {
		b.Mul(b, new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil))
	}
	if sx < sy {
		up(x, sy-sx)
	} else {
		up(y, sx-sy)
	}
	return x, y
}

// wholeOf is a whole number as a decimal.
func wholeOf(b *big.Int, t types.Type) (types.Value, error) {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(types.MaxPrecision), nil)
	if b.CmpAbs(limit) >= 0 {
		return fail(diag.NumericOutOfRange, "numeric field overflow")
	}
	low := new(big.Int).And(b, new(big.Int).SetUint64(math.MaxUint64))
	high := new(big.Int).Rsh(b, 64)
	return types.DecimalValue(t, types.Int128{Lo: low.Uint64(), Hi: high.Int64()}), nil
}

// divide is div(x, y): the quotient without what is after the point.
func divide(a []types.Value, t types.Type) (types.Value, error) {
	x, y := sameScale(a)
	if y.Sign() == 0 {
		return fail(diag.DivisionByZero, "division by zero")
	}
	return wholeOf(x.Quo(x, y), t)
}

// gcdDecimal is gcd of decimals, in units of the smaller one's last digit, as the result is.
func gcdDecimal(a []types.Value, t types.Type) (types.Value, error) {
	x, y := sameScale(a)
	return wholeOf(new(big.Int).GCD(nil, nil, x.Abs(x), y.Abs(y)), t)
}

// lcmDecimal is lcm, likewise.
func lcmDecimal(a []types.Value, t types.Type) (types.Value, error) {
	x, y := sameScale(a)
	if x.Sign() == 0 {
		return wholeOf(x, t)
	}
	g := new(big.Int).GCD(nil, nil, x.Abs(x), y.Abs(y))
	return wholeOf(x.Mul(x.Quo(x, g), y), t)
}

// NumbersByRow are functions that the binder puts where it knows more about the digits than their names tell: those of decimals, whose
// result has as many after the point as one of the arguments, and those of which only the rows know how many to keep.
var NumbersByRow = map[string]*plan.Function{
	"gcd decimal":   {Name: "gcd_decimal", Strict: true, Fails: true, Eval: gcdDecimal},
	"lcm decimal":   {Name: "lcm_decimal", Strict: true, Fails: true, Eval: lcmDecimal},
	"round decimal": {Name: "round_decimal", Strict: true, Fails: true, Eval: cutDecimalByRow(true)},
	"trunc decimal": {Name: "trunc_decimal", Strict: true, Fails: true, Eval: cutDecimalByRow(false)},
	"round double":  {Name: "round_double", Strict: true, Fails: true, Eval: cutDoubleByRow(math.RoundToEven)},
	"trunc double":  {Name: "trunc_double", Strict: true, Fails: true, Eval: cutDoubleByRow(math.Trunc)},
}

// cutDecimalByRow is round or trunc of a decimal to a number of digits after the point, or before it if that is negative.
func cutDecimalByRow(round bool) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		x, gone := bigOf(a[0]), int64(a[0].Type.Scale)-max(min(a[1].I, 100), -100)
		if gone <= 0 {
			return wholeOf(x, t)
		}
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(gone), nil)
		x, rest := x.QuoRem(x, unit, new(big.Int))
		if round && rest.Lsh(rest, 1).CmpAbs(unit) >= 0 {
			x.Add(x, big.NewInt(int64(rest.Sign())))
		}
		return wholeOf(x.Mul(x, unit), t)
	}
}

// cutDoubleByRow moves the digit to the point, and back.
func cutDoubleByRow(cut func(float64) float64) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		x, n := a[0].F, max(min(a[1].I, 100), -100)
		unit := math.Pow(10, math.Abs(float64(n)))
		if n < 0 {
			return finite(cut(x/unit)*unit, x)
		}
		return finite(cut(x*unit)/unit, x)
	}
}

// widthBucket is the number of the part of lo…hi in which x is.
func widthBucket(a []types.Value, t types.Type) (types.Value, error) {
	x, lo, hi, n := a[0].F, a[1].F, a[2].F, a[3].F
	switch {
	case n != math.Trunc(n):
		return fail(diag.UndefinedFunction, "width_bucket needs a whole number of buckets")
	case !(n > 0):
		return fail(invalidWidthBucket, "count must be greater than zero")
	case n > math.MaxInt32:
		return outOfRange("integer")
	case math.IsNaN(x) || math.IsNaN(lo) || math.IsNaN(hi):
		return fail(invalidWidthBucket, "operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return fail(invalidWidthBucket, "lower and upper bounds must be finite")
	case lo == hi:
		return fail(invalidWidthBucket, "lower bound cannot equal upper bound")
	}
	if lo > hi {
		x, lo, hi = -x, -lo, -hi
	}
	switch {
	case x < lo:
		return number(t, 0)
	case x >= hi:
		if n == math.MaxInt32 {
			return outOfRange("integer")
		}
		return number(t, int64(n)+1)
	}
	share := (x - lo) / (hi - lo)
	if math.IsInf(hi-lo, 0) { // the bounds are so far apart that half of them must do
		share = (x/2 - lo/2) / (hi/2 - lo/2)
	}
	return number(t, min(int64(n*share)+1, int64(n)))
}

// bitwise is an operation on the bits of two integers of one width.
func bitwise(f func(x, y int64) int64) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) { return number(t, f(a[0].I, a[1].I)) }
}

// shift moves bits as machines do: by the last bits of the distance, and those that leave the type are lost.
func shift(left bool) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		x, n := a[0].I, uint64(a[1].I)
		if t.Kind == types.Int64 {
			n &= 63
		} else {
			n &= 31
		}
		if !left {
			return number(t, x>>n)
		}
		x <<= n
		return number(t, inWidth(x, t))
	}
}

// widthMask has the bits of an integer type.
func widthMask(t types.Type) uint64 {
	lo, hi := types.IntRange(t)
	return uint64(hi) - uint64(lo)
}

// inWidth is the number of type t with the lowest bits of x.
func inWidth(x int64, t types.Type) int64 {
	mask := widthMask(t)
	x &= int64(mask)
	if lo, hi := types.IntRange(t); lo < 0 && x > hi {
		x -= int64(mask) + 1
	}
	return x
}

// inBase writes the bits of a number.
func inBase(base int) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(strconv.FormatUint(uint64(a[0].I), base))
	}
}

// toBase writes a number with digits of any base, and zeros before them up to a length.
func toBase(a []types.Value, _ types.Type) (types.Value, error) {
	x, base := a[0].I, a[1].I
	switch least := at(a, 2, 0); {
	case base < 2 || base > 36:
		return fail(diag.InvalidParameter, "a base must be between 2 and 36")
	case x < 0:
		return fail(diag.InvalidParameter, "to_base needs a number that is not negative")
	case least < 0 || least > longestBase:
		return fail(diag.InvalidParameter, "the length must be between 0 and %d", longestBase)
	default:
		s := strconv.FormatInt(x, int(base))
		return text(strings.Repeat("0", max(int(least)-len(s), 0)) + s)
	}
}
