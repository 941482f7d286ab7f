package types

import "math/bits"

// Products and quotients of 128-bit numbers that need 256 bits on the way: what decimals need
// when digits are to be rounded away. Generated code does the same (package emit, muldiv.go).

// MulDiv is x * y / d, rounded half away from zero; ok is false if it has more than 38 digits. The
// divisor is not zero, and none of them is the smallest number.
func MulDiv(x, y, d Int128) (q Int128, ok bool) {
	xh, xl := x.Abs()
	yh, yl := y.Abs()
	dh, dl := d.Abs()
	n := mulU(xh, xl, yh, yl)
	// Half of the divisor more makes truncating rounding: exactly a half goes up, and for an odd
	// divisor there is no exact half.
	var c uint64
	n[0], c = bits.Add64(n[0], dl>>1|dh<<63, 0)
	n[1], c = bits.Add64(n[1], dh>>1, c)
	n[2], c = bits.Add64(n[2], 0, c)
	n[3] += c
	if n[3] > dh || n[3] == dh && n[2] >= dl { // more than 128 bits
		return Int128{}, false
	}
	qh, ql := divU(n, dh, dl)
	if int64(qh) < 0 {
		return Int128{}, false
	}
	q, _ = withSign(qh, ql, (x.Hi < 0) != (y.Hi < 0) != (d.Hi < 0))
	return q, FitsPrecision(q, MaxPrecision)
}

// mulU is the product of unsigned numbers, low word first.
func mulU(xh, xl, yh, yl uint64) (n [4]uint64) {
	for i, x := range [2]uint64{xl, xh} {
		var carry uint64
		for k, y := range [2]uint64{yl, yh} {
			hi, lo := bits.Mul64(x, y)
			var c uint64
			lo, c = bits.Add64(lo, n[i+k], 0)
			hi += c
			lo, c = bits.Add64(lo, carry, 0)
			n[i+k], carry = lo, hi+c
		}
		n[i+2] = carry
	}
	return n
}

// divU divides by a number that is greater than the upper half of n, so that the quotient has 128
// bits, and less than 2^127.
func divU(n [4]uint64, dh, dl uint64) (qh, ql uint64) {
	if dh == 0 {
		var r uint64
		qh, r = bits.Div64(n[2], n[1], dl)
		ql, _ = bits.Div64(r, n[0], dl)
		return qh, ql
	}
	rh, rl := n[3], n[2]
	qh, ql = n[1], n[0]
	for range 128 { // the rest moves left into the remainder, quotient bits come in from the right
		rh, rl = rh<<1|rl>>63, rl<<1|qh>>63
		qh, ql = qh<<1|ql>>63, ql<<1
		if rh > dh || rh == dh && rl >= dl {
			var b uint64
			rl, b = bits.Sub64(rl, dl, 0)
			rh, _ = bits.Sub64(rh, dh, b)
			ql |= 1
		}
	}
	return qh, ql
}

// Quotient is x * 10^k / d for 0 ≤ k ≤ 76, rounded half away from zero; ok is false if it has more
// than 38 digits.
func Quotient(x, d Int128, k int) (q Int128, ok bool) {
	if k > MaxPrecision {
		// What overflows here has 38 digits more than any divisor can take away.
		if x, ok = x.Mul(pow10[k-MaxPrecision]); !ok || !FitsPrecision(x, MaxPrecision) {
			return Int128{}, false
		}
		k = MaxPrecision
	}
	return MulDiv(x, pow10[k], d)
}
