package types

import (
	"math"
	"math/bits"
	"strconv"
)

// ParseDecimal reads a number exactly: value × 10^-scale. It takes what
// PostgreSQL's numeric takes (signs, a point, an exponent, spaces around), except
// NaN and Infinity, and up to 38 digits; ok is false for anything else. Digits after the
// point are kept as written, so 1.50 has scale 2; fit reports whether the number has a
// DECIMAL type at all (38 digits, scale up to 38).
func ParseDecimal(s string) (x Int128, scale int, fit, ok bool) {
	n, ok := scanNumber(s)
	if !ok {
		return Int128{}, 0, false, false
	}
	digits, scale := n.digits, n.scale
	if scale > MaxPrecision { // too fine: drop zeros that say nothing
		for scale > MaxPrecision && len(digits) > 0 && digits[len(digits)-1] == '0' {
			digits, scale = digits[:len(digits)-1], scale-1
		}
		if len(digits) == 0 {
			scale = 0
		}
	}
	x, fit = digitsToInt(digits)
	if scale < 0 && fit { // exponent beyond the digits: 1e3
		if x == (Int128{}) {
			scale = 0
		} else if scale < -MaxPrecision {
			fit = false
		} else {
			x, fit = x.Mul(pow10[-scale])
			scale = 0
		}
	}
	if scale > MaxPrecision || x.Cmp(pow10[MaxPrecision]) >= 0 {
		fit = false
	}
	if !fit {
		return Int128{}, 0, false, true
	}
	if n.neg {
		x = x.Neg()
	}
	return x, scale, true, true
}

// maxWrittenScale is how many digits after the point a numeral may stand for before it is rounded: PostgreSQL's
// limit. Beyond it lie mistakes rather than numbers that happen to be small.
const maxWrittenScale = 16383

// number is a numeral taken apart: ±digits × 10^-scale, leading zeros gone.
type number struct {
	neg    bool
	digits []byte
	scale  int
}

func scanNumber(s string) (n number, ok bool) {
	s = trimSpace(s)
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		n.neg = s[i] == '-'
		i++
	}
	seen, point := false, false
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if !isDigit(c) {
			break
		}
		seen = true
		if point {
			n.scale++
		}
		if c != '0' || len(n.digits) > 0 {
			n.digits = append(n.digits, c)
		}
	}
	if !seen {
		return n, false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		e := s[i+1:]
		if e == "" || !isDigit(e[len(e)-1]) {
			return n, false
		}
		for k := 0; k < len(e); k++ {
			if !isDigit(e[k]) && !(k == 0 && (e[k] == '-' || e[k] == '+')) {
				return n, false
			}
		}
		exp, err := strconv.Atoi(e)
		if err != nil || exp > 1<<20 || exp < -(1<<20) { // far outside anything representable
			exp = 1 << 20
			if e[0] == '-' {
				exp = -exp
			}
		}
		n.scale -= exp
		i = len(s)
	}
	return n, i == len(s)
}

// digitsToInt is the number the digits spell; false if it is too large.
func digitsToInt(digits []byte) (Int128, bool) {
	if len(digits) > MaxPrecision {
		return Int128{}, false
	}
	var hi, lo uint64
	for _, d := range digits {
		over, l := bits.Mul64(lo, 10)
		var c uint64
		lo, c = bits.Add64(l, uint64(d-'0'), 0)
		hi = hi*10 + over + c
	}
	return Int128{lo, int64(hi)}, true
}

// ParseDecimalAs reads a number as a scaled integer of type t, rounding half
// away from zero to its scale. It is exact for any number of digits.
func ParseDecimalAs(s string, t Type) (Int128, error) {
	n, ok := scanNumber(s)
	if !ok {
		return Int128{}, syntaxError(t, s)
	}
	if n.scale > maxWrittenScale {
		return Int128{}, errf(codeOutOfRange, "value overflows numeric format")
	}
	digits := n.digits
	drop := n.scale - int(t.Scale)
	roundUp := false
	if drop > 0 {
		if drop > len(digits) {
			return Int128{}, nil
		}
		cut := len(digits) - drop
		roundUp = digits[cut] >= '5'
		digits = digits[:cut]
	}
	x, fit := digitsToInt(digits)
	if roundUp {
		x = x.Add(Int128{Lo: 1})
	}
	if drop < 0 && fit && x != (Int128{}) {
		if fit = -drop <= MaxPrecision; fit {
			x, fit = x.Mul(pow10[-drop])
		}
	}
	if n.neg {
		x = x.Neg()
	}
	if !fit || !FitsDecimal(x, t) {
		return Int128{}, ErrOutOfRange(t)
	}
	return x, nil
}

// AppendDecimal appends x × 10^-scale in plain notation with all scale digits.
func AppendDecimal(dst []byte, x Int128, scale int) []byte {
	var buf [48]byte
	i := len(buf)
	hi, lo := x.Abs()
	put := func(d uint64) {
		if scale > 0 && len(buf)-i == scale {
			i--
			buf[i] = '.'
			scale = 0
		}
		i--
		buf[i] = byte('0' + d)
	}
	for hi != 0 { // 19 digits at a time
		var r uint64
		hi, lo, _, r = divRemU(hi, lo, 0, 1e19)
		for range 19 {
			put(r % 10)
			r /= 10
		}
	}
	for lo != 0 {
		put(lo % 10)
		lo /= 10
	}
	for i == len(buf) || scale > 0 || buf[i] == '.' { // leading zeros: at least one before the point
		put(0)
	}
	if x.Hi < 0 {
		i--
		buf[i] = '-'
	}
	return append(dst, buf[i:]...)
}

// FitsPrecision reports whether |x| has at most prec digits.
func FitsPrecision(x Int128, prec int) bool {
	hi, lo := x.Abs()
	p := pow10[prec]
	return hi < uint64(p.Hi) || hi == uint64(p.Hi) && lo < p.Lo
}

// Rescale changes the scale of x, rounding half away from zero; ok is false
// when the result does not fit in 38 digits.
func Rescale(x Int128, from, to int) (y Int128, ok bool) {
	switch {
	case from == to:
		return x, FitsPrecision(x, MaxPrecision)
	case from < to:
		y, ok = x.Mul(pow10[to-from])
		return y, ok && FitsPrecision(y, MaxPrecision)
	}
	p := pow10[from-to]
	q, r := x.DivRem(p)
	// |r| ≥ p/2, and p is even
	rh, rl := r.Abs()
	half := Int128{p.Lo>>1 | uint64(p.Hi)<<63, p.Hi >> 1}
	if (Int128{rl, int64(rh)}).Cmp(half) >= 0 {
		if x.Hi < 0 {
			q = q.Sub(Int128{Lo: 1})
		} else {
			q = q.Add(Int128{Lo: 1})
		}
	}
	return q, FitsPrecision(q, MaxPrecision)
}

// DecimalFloat is the double nearest to x × 10^-scale.
func DecimalFloat(x Int128, scale int) float64 {
	if scale == 0 {
		return x.Float64()
	}
	if hi, lo := x.Abs(); hi == 0 && lo < 1<<53 && scale <= 22 {
		return x.Float64() / pow10f[scale] // both exact: one rounding
	}
	f, _ := strconv.ParseFloat(string(AppendDecimal(nil, x, scale)), 64)
	return f
}

// pow10f holds the powers of ten that a double represents exactly.
var pow10f = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
	1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// FloatDecimal is f as a scaled integer of type t, rounded half away from zero
// in its shortest decimal form, as PostgreSQL converts (0.15 becomes 0.2, not the 0.1 that
// the binary value just below it would give).
func FloatDecimal(f float64, t Type, bitSize int) (Int128, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Int128{}, errf(codeOutOfRange, "cannot convert %s to numeric", FormatFloat(f, bitSize))
	}
	// PostgreSQL's float8_numeric prints 15 significant digits, float4_numeric 6.
	prec := 15
	if bitSize == 32 {
		prec = 6
	}
	return ParseDecimalAs(strconv.FormatFloat(f, 'e', prec-1, 64), t)
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// trimSpace removes what PostgreSQL's isspace removes around literals.
func trimSpace(s string) string {
	isSpace := func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}
