package funcs

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// numberRows are functions of numbers of all types.
var numberRows = []Row{
	made("abs", "n", "abs(-17.4) → 17.4"),
	made("add", "nn", "add(2, 3) → 5"),
	made("ceil", "n", "ceil(-42.8) → -42"),
	made("ceiling", "n", "ceiling(-42.8) → -42"),
	fn("div", "mm", types.TDecimal(38, 0), "div(9, 4) → 2", divide, fails),
	made("divide", "ee", "divide(9, 4) → 2"),
	fn("even", "f", tDouble, "even(2.9) → 4", func(a []types.Value, _ types.Type) (types.Value, error) {
		f := math.Copysign(math.Ceil(math.Abs(a[0].F)), a[0].F)
		if math.Mod(f, 2) != 0 {
			f += math.Copysign(1, f)
		}
		return double(f)
	}),
	fn("factorial", "i", types.TDecimal(38, 0), "factorial(5) → 120", factorial, fails),
	made("floor", "n", "floor(-42.8) → -43"),
	made("fdiv", "ff", "fdiv(7, 2) → 3.5"),
	fn("fmod", "ff", tDouble, "fmod(5.5, 2) → 1.5", func(a []types.Value, _ types.Type) (types.Value, error) {
		if a[1].F == 0 {
			return fail(diag.DivisionByZero, "division by zero")
		}
		return double(math.Mod(a[0].F, a[1].F))
	}, fails),
	fn("gcd", "ee", tSame, "gcd(1071, 462) → 21", gcd, fails),
	made("gcd", "mm", "gcd(6.4, 4.8) → 1.6"),
	fn("greatest_common_divisor", "ee", tSame, "greatest_common_divisor(42, 57) → 3", gcd, fails),
	fn("lcm", "ee", tSame, "lcm(1071, 462) → 23562", lcm, fails),
	made("lcm", "mm", "lcm(6.4, 4.8) → 19.2"),
	fn("least_common_multiple", "ee", tSame, "least_common_multiple(42, 57) → 798", lcm, fails),
	fn("min_scale", "m", tInt, "min_scale(8.4100) → 2", func(a []types.Value, t types.Type) (types.Value, error) {
		x, n := a[0].Int128(), int64(a[0].Type.Scale)
		for ten := types.FromInt64(10); n > 0; n-- {
			q, r := x.DivRem(ten)
			if r != (types.Int128{}) {
				break
			}
			x = q
		}
		return number(t, n)
	}),
	made("mod", "nn", "mod(9, 4) → 1"),
	made("multiply", "nn", "multiply(2, 3) → 6"),
	made("round", "n?i", "round(42.4382, 2) → 42.44"),
	fn("random", "", tDouble, "random() < 1 → true", func([]types.Value, types.Type) (types.Value, error) {
		return double(rand.Float64())
	}, volatile),
	made("setseed", "f", ""),
	fn("round_even", "f?i", tDouble, "round_even(24.5) → 24", roundEven, fails),
	fn("roundbankers", "f?i", tDouble, "roundbankers(25.5) → 26", roundEven, fails),
	made("scale", "m", "scale(8.4100) → 4"),
	made("sign", "n", "sign(-8.4) → -1"),
	made("subtract", "nn", "subtract(2, 3) → -1"),
	made("trunc", "n?i", "trunc(42.4382, 2) → 42.43"),
	fn("width_bucket", "ffff", tInt, "width_bucket(5.35, 0.024, 10.06, 5) → 3", widthBucket, fails),
}

// floatRows are functions of doubles.
var floatRows = []Row{
	fn("acos", "f", tDouble, "acos(1) → 0", within(math.Acos, -1, 1), fails),
	fn("acosd", "f", tDouble, "acosd(0.5) → 60", within(acosd, -1, 1), fails),
	fn("acosh", "f", tDouble, "acosh(1) → 0", within(math.Acosh, 1, math.Inf(1)), fails),
	fn("asin", "f", tDouble, "asin(0) → 0", within(math.Asin, -1, 1), fails),
	fn("asind", "f", tDouble, "asind(0.5) → 30", within(asind, -1, 1), fails),
	fn("asinh", "f", tDouble, "asinh(0) → 0", of(math.Asinh)),
	fn("atan", "f", tDouble, "atan(0) → 0", of(math.Atan)),
	fn("atan2", "ff", tDouble, "atan2(0, 1) → 0", of2(math.Atan2)),
	fn("atan2d", "ff", tDouble, "atan2d(1, 0) → 90", of2(func(y, x float64) float64 { return degreesOf(math.Atan2(y, x), math.Atan(1), 45) })),
	fn("atand", "f", tDouble, "atand(1) → 45", of(func(x float64) float64 { return degreesOf(math.Atan(x), math.Atan(1), 45) })),
	fn("atanh", "f", tDouble, "atanh(0) → 0", within(math.Atanh, -1, 1), fails),
	fn("cbrt", "f", tDouble, "cbrt(64.0) → 4", of(math.Cbrt)),
	fn("cos", "f", tDouble, "cos(0) → 1", angle(math.Cos), fails),
	fn("cosd", "f", tDouble, "cosd(60) → 0.5", angle(cosd), fails),
	fn("cosh", "f", tDouble, "cosh(0) → 1", of(math.Cosh)),
	fn("cot", "f", tDouble, "cot(0.5) → 1.830487721712452", angle(func(x float64) float64 { return 1 / math.Tan(x) }), fails),
	fn("cotd", "f", tDouble, "cotd(45) → 1", angle(func(x float64) float64 { return cosd(x) / sind(x) }), fails),
	fn("degrees", "f", tDouble, "degrees(0.5) → 28.64788975654116", overflowing(func(x float64) float64 { return x / (math.Pi / 180) }), fails),
	fn("erf", "f", tDouble, "erf(0) → 0", of(math.Erf)),
	fn("erfc", "f", tDouble, "erfc(0) → 1", of(math.Erfc)),
	op("exp", "f", tDouble, plan.Exp, "exp(0.0) → 1"),
	fn("gamma", "f", tDouble, "gamma(5.5) → 52.34277778455352", gamma, fails),
	fn("isfinite", "f", tBool, "isfinite(5.5) → true", func(a []types.Value, _ types.Type) (types.Value, error) {
		return boolean(!math.IsInf(a[0].F, 0) && !math.IsNaN(a[0].F))
	}),
	fn("isfinite", "T", tBool, "isfinite(date 'infinity') → false", isFinite),
	fn("isfinite", "Z", tBool, "", isFinite),
	fn("isfinite", "V", tBool, "isfinite(interval '4 hours') → true", isFinite),
	fn("isinf", "f", tBool, "isinf('infinity'::double) → true", func(a []types.Value, _ types.Type) (types.Value, error) { return boolean(math.IsInf(a[0].F, 0)) }),
	fn("isinf", "T", tBool, "isinf(timestamp '-infinity') → true", isInfinite),
	fn("isinf", "Z", tBool, "", isInfinite),
	fn("isnan", "f", tBool, "isnan('nan'::double) → true", func(a []types.Value, _ types.Type) (types.Value, error) { return boolean(math.IsNaN(a[0].F)) }),
	fn("lgamma", "f", tDouble, "lgamma(2) → 0", func(a []types.Value, _ types.Type) (types.Value, error) {
		f, _ := math.Lgamma(a[0].F)
		return finite(f, a[0].F)
	}, fails),
	op("ln", "f", tDouble, plan.Ln, "ln(1.0) → 0"),
	made("log", "f?f", "log(100) → 2"),
	op("log10", "f", tDouble, plan.Log10, "log10(1000) → 3"),
	fn("log2", "f", tDouble, "log2(8) → 3", func(a []types.Value, _ types.Type) (types.Value, error) {
		switch {
		case a[0].F == 0:
			return fail(invalidLogarithm, "cannot take logarithm of zero")
		case a[0].F < 0:
			return fail(invalidLogarithm, "cannot take logarithm of a negative number")
		}
		return double(math.Log2(a[0].F))
	}, fails),
	fn("nextafter", "ff", tDouble, "nextafter(1, 2) → 1.0000000000000002", of2(math.Nextafter)),
	made("pi", "", "pi() → 3.141592653589793"),
	op("pow", "ff", tDouble, plan.Power, "pow(9, 3) → 729"),
	op("power", "ff", tDouble, plan.Power, "power(9, 3) → 729"),
	fn("radians", "f", tDouble, "radians(45.0) → 0.7853981633974483", underflowing(func(x float64) float64 { return x * (math.Pi / 180) }), fails),
	fn("signbit", "f", tBool, "signbit(-0.0::double) → true", func(a []types.Value, _ types.Type) (types.Value, error) { return boolean(math.Signbit(a[0].F)) }),
	fn("sin", "f", tDouble, "sin(0) → 0", angle(math.Sin), fails),
	fn("sind", "f", tDouble, "sind(30) → 0.5", angle(sind), fails),
	fn("sinh", "f", tDouble, "sinh(0) → 0", of(math.Sinh)),
	op("sqrt", "f", tDouble, plan.Sqrt, "sqrt(2) → 1.4142135623730951"),
	fn("tan", "f", tDouble, "tan(0) → 0", angle(math.Tan), fails),
	fn("tand", "f", tDouble, "tand(45) → 1", angle(func(x float64) float64 { return sind(x)/cosd(x) + 0 }), fails),
	fn("tanh", "f", tDouble, "tanh(0) → 0", of(math.Tanh)),
}

// bitRows are operators and functions of the bits of integers.
var bitRows = []Row{
	fn("&", "ee", tSame, "91 & 15 → 11", bitwise(func(x, y int64) int64 { return x & y })),
	fn("|", "ee", tSame, "32 | 3 → 35", bitwise(func(x, y int64) int64 { return x | y })),
	fn("#", "ee", tSame, "17 # 5 → 20", bitwise(func(x, y int64) int64 { return x ^ y })),
	fn("~", "e", tSame, "~1 → -2", func(a []types.Value, t types.Type) (types.Value, error) { return number(t, inWidth(^a[0].I, t)) }),
	fn("<<", "ei", tSame, "1 << 4 → 16", shift(true)),
	fn(">>", "ei", tSame, "8 >> 2 → 2", shift(false)),
	fn("bin", "i", tText, "bin(42) → 101010", inBase(2)),
	fn("bit_count", "e", tBigint, "bit_count(31) → 5", func(a []types.Value, t types.Type) (types.Value, error) {
		return number(t, int64(bits.OnesCount64(uint64(a[0].I)&widthMask(a[0].Type))))
	}),
	fn("to_base", "ii?i", tText, "to_base(42, 16) → 2a", toBase, fails),
	fn("to_binary", "i", tText, "to_binary(42) → 101010", inBase(2)),
	fn("to_oct", "i", tText, "to_oct(64) → 100", inBase(8)),
	fn("xor", "ee", tSame, "xor(17, 5) → 20", bitwise(func(x, y int64) int64 { return x ^ y })),
}
