package types

import (
	"math"
	"math/big"
	"math/bits"
)

// Arithmetic on Int128. Add, Sub and Neg wrap like machine integers, because
// generated code does; the forms that report overflow say so in their result.

// FromInt64 widens x.
func FromInt64(x int64) Int128 { return Int128{uint64(x), x >> 63} }

// FitsInt64 reports whether x is an int64.
func (x Int128) FitsInt64() bool { return x.Hi == int64(x.Lo)>>63 }

// Sign is -1, 0 or 1.
func (x Int128) Sign() int {
	switch {
	case x.Hi < 0:
		return -1
	case x.Hi == 0 && x.Lo == 0:
		return 0
	}
	return 1
}

// Cmp is -1, 0 or 1 as x is less than, equal to or greater than y.
func (x Int128) Cmp(y Int128) int {
	switch {
	case x == y:
		return 0
	case x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo:
		return -1
	}
	return 1
}

// Add is x + y, wrapping.
func (x Int128) Add(y Int128) Int128 {
	lo, c := bits.Add64(x.Lo, y.Lo, 0)
	return Int128{lo, x.Hi + y.Hi + int64(c)}
}

// AddOK is x + y and whether it did not wrap.
func (x Int128) AddOK(y Int128) (Int128, bool) {
	z := x.Add(y)
	return z, (x.Hi^z.Hi)&(y.Hi^z.Hi) >= 0
}

// Sub is x - y, wrapping.
func (x Int128) Sub(y Int128) Int128 {
	lo, b := bits.Sub64(x.Lo, y.Lo, 0)
	return Int128{lo, x.Hi - y.Hi - int64(b)}
}

// SubOK is x - y and whether it did not wrap.
func (x Int128) SubOK(y Int128) (Int128, bool) {
	z := x.Sub(y)
	return z, (x.Hi^y.Hi)&(x.Hi^z.Hi) >= 0
}

// Neg is -x, wrapping for the smallest value.
func (x Int128) Neg() Int128 { return Int128{}.Sub(x) }

// Abs is |x| as an unsigned number, right even for the smallest value.
func (x Int128) Abs() (hi, lo uint64) {
	if x.Hi < 0 {
		x = x.Neg()
	}
	return uint64(x.Hi), x.Lo
}

// withSign makes a number from its magnitude; ok is false if it does not fit.
func withSign(hi, lo uint64, neg bool) (x Int128, ok bool) {
	x = Int128{lo, int64(hi)}
	if neg {
		x = x.Neg()
		return x, x.Hi < 0 || hi == 0 && lo == 0
	}
	return x, x.Hi >= 0
}

// Mul is x * y and whether it fits.
func (x Int128) Mul(y Int128) (Int128, bool) {
	if x.FitsInt64() && y.FitsInt64() { // the product of two 64-bit numbers always fits
		hi, lo := bits.Mul64(x.Lo, y.Lo)
		h := int64(hi)
		if int64(x.Lo) < 0 {
			h -= int64(y.Lo)
		}
		if int64(y.Lo) < 0 {
			h -= int64(x.Lo)
		}
		return Int128{lo, h}, true
	}
	xh, xl := x.Abs()
	yh, yl := y.Abs()
	hi, lo := bits.Mul64(xl, yl)
	if xh != 0 && yh != 0 {
		return Int128{}, false
	}
	for _, p := range [2][2]uint64{{xh, yl}, {yh, xl}} {
		over, mid := bits.Mul64(p[0], p[1])
		sum, carry := bits.Add64(hi, mid, 0)
		if over != 0 || carry != 0 {
			return Int128{}, false
		}
		hi = sum
	}
	return withSign(hi, lo, (x.Hi < 0) != (y.Hi < 0))
}

// divRemU divides unsigned 128-bit numbers; the divisor is not zero.
func divRemU(xh, xl, yh, yl uint64) (qh, ql, rh, rl uint64) {
	if yh == 0 {
		var r uint64
		qh, r = xh/yl, xh%yl
		ql, rl = bits.Div64(r, xl, yl)
		return qh, ql, 0, rl
	}
	// The quotient has 64 bits at most. Divide by the divisor's leading 64 bits, which
	// gives the quotient or one more (Hacker's Delight, divlu).
	n := uint(bits.LeadingZeros64(yh))
	top := yh<<n | yl>>(64-n) // n = 0: the shift by 64 gives 0
	q, _ := bits.Div64(xh>>1, xh<<63|xl>>1, top)
	q >>= 63 - n
	if q > 0 {
		q--
	}
	mh, ml := bits.Mul64(q, yl)
	mh += q * yh
	rl, b := bits.Sub64(xl, ml, 0)
	rh, _ = bits.Sub64(xh, mh, b)
	if rh > yh || rh == yh && rl >= yl {
		q++
		rl, b = bits.Sub64(rl, yl, 0)
		rh, _ = bits.Sub64(rh, yh, b)
	}
	return 0, q, rh, rl
}

// DivRem is the quotient truncated toward zero and the remainder, which has x's
// sign. The divisor must not be zero; the smallest number divided by -1 wraps.
func (x Int128) DivRem(y Int128) (q, r Int128) {
	xh, xl := x.Abs()
	yh, yl := y.Abs()
	qh, ql, rh, rl := divRemU(xh, xl, yh, yl)
	q, _ = withSign(qh, ql, (x.Hi < 0) != (y.Hi < 0))
	r, _ = withSign(rh, rl, x.Hi < 0)
	return q, r
}

// DivRem64 divides by a 64-bit unsigned number that is not zero; the remainder
// is that of the magnitude: x = q*y + r, with r negated for negative x.
func (x Int128) DivRem64(y uint64) (q Int128, r uint64) {
	xh, xl := x.Abs()
	qh, ql, _, rl := divRemU(xh, xl, 0, y)
	q, _ = withSign(qh, ql, x.Hi < 0)
	return q, rl
}

// pow10 holds 10^0 … 10^38.
var pow10 = func() (p [MaxPrecision + 1]Int128) {
	p[0] = Int128{Lo: 1}
	for i := 1; i < len(p); i++ {
		p[i], _ = p[i-1].Mul(Int128{Lo: 10})
	}
	return p
}()

// Pow10 is 10^n for 0 ≤ n ≤ 38.
func Pow10(n int) Int128 { return pow10[n] }

// Float64 is the nearest double.
func (x Int128) Float64() float64 {
	if x.FitsInt64() {
		return float64(int64(x.Lo))
	}
	hi, lo := x.Abs()
	// Keep 64 significant bits, the last one sticky, so that there is one rounding only.
	n := bits.LeadingZeros64(hi)
	m := hi<<n | lo>>(64-n)
	if lo<<n != 0 {
		m |= 1
	}
	if n == 64 {
		m = lo
	}
	f := math.Ldexp(float64(m), 64-n)
	if x.Hi < 0 {
		return -f
	}
	return f
}

// Int128FromFloat is f, which must be integral, and whether it fits.
func Int128FromFloat(f float64) (Int128, bool) {
	if !(math.Abs(f) <= 0x1p127) {
		return Int128{}, false
	}
	frac, exp := math.Frexp(math.Abs(f)) // |f| = frac * 2^exp, frac in [0.5, 1)
	m, exp := uint64(frac*(1<<53)), exp-53
	var hi, lo uint64
	switch {
	case exp <= 0:
		lo = m >> uint(-exp)
	case exp < 64:
		hi, lo = m>>uint(64-exp), m<<uint(exp)
	default:
		hi = m << uint(exp-64)
	}
	return withSign(hi, lo, f < 0)
}

// ToBig is x as a big integer.
func (x Int128) ToBig() *big.Int {
	hi, lo := x.Abs()
	b := new(big.Int).SetUint64(hi)
	b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(lo))
	if x.Hi < 0 {
		b.Neg(b)
	}
	return b
}

// Int128FromBig is b and whether it fits.
func Int128FromBig(b *big.Int) (Int128, bool) {
	if b.BitLen() > 128 {
		return Int128{}, false
	}
	abs := new(big.Int).Abs(b)
	lo := new(big.Int).And(abs, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return withSign(abs.Rsh(abs, 64).Uint64(), lo, b.Sign() < 0)
}

// String is x in decimal.
func (x Int128) String() string { return string(AppendDecimal(nil, x, 0)) }
