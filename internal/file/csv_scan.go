package file

import (
	"encoding/binary"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Scanners of single values. Each reads at b[p:] what it knows, and says where it stopped: the
// caller checks that the field ends there. What they do not know (other notations, too many digits, errors)
// is left to package types: stopping at p means that. They look at eight bytes at a time,
// so b must go on for pad bytes after the last that matters.

const pad = 16

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	zeros = '0' * ones
	past9 = 0x7676767676767676 // added to 0…9 leaves the high bit clear, to more sets it
)

func load(b []byte, p int) uint64 { return binary.LittleEndian.Uint64(b[p:]) }

// digitsOf looks at a word of text: the digits it begins with, each 0…9 in a byte, and their number.
func digitsOf(w uint64) (d uint64, n int) {
	d = w ^ zeros
	// A carry out of a byte only disturbs bytes after the first that is no digit.
	return d, bits.TrailingZeros64(((d+past9)|d)&highs) >> 3
}

// number is the value of the first n ≤ 8 digits of d.
func number(d uint64, n int) int64 {
	d <<= uint(64 - 8*n) // zeros in front instead of garbage behind
	d = d*10 + d>>8      // pairs
	d = ((d&0x000000ff000000ff)*0x000f424000000064 + (d>>16&0x000000ff000000ff)*0x0000271000000001) >> 32
	return int64(d)
}

// scanInt reads an integer.
func scanInt(b []byte, p int) (v int64, q int) {
	q = p
	neg := b[q] == '-'
	if neg {
		q++
	}
	d, n := digitsOf(load(b, q))
	if n == 0 {
		return 0, p
	}
	v = number(d, n)
	q += n
	if n == 8 {
		start := q - 8
		for c := b[q] - '0'; c <= 9; c = b[q] - '0' {
			v = v*10 + int64(c)
			q++
		}
		if q-start > 18 { // may not fit
			return 0, p
		}
	}
	if neg {
		v = -v
	}
	return v, q
}

// fastScale is the most digits after the point for which scanDecimal works: eight before
// the point and these fit in 64 bits.
const fastScale = 8

// scanDecimal reads a number of at most eight digits before the point and scale after it, as
// an integer times 10^-scale.
func scanDecimal(b []byte, p, scale int) (v int64, q int) {
	q = p
	neg := b[q] == '-'
	if neg {
		q++
	}
	d, n := digitsOf(load(b, q))
	q += n
	v = number(d, n) * pow10[scale]
	k := 0
	if b[q] == '.' {
		d, k = digitsOf(load(b, q+1))
		if k > scale {
			return 0, p
		}
		v += number(d, k) * pow10[scale-k]
		q += 1 + k
	}
	if n+k == 0 || isDigit(b[q]) {
		return 0, p
	}
	if neg {
		v = -v
	}
	return v, q
}

// scanFloat reads a number of at most 15 digits without exponent: as digits and power of ten
// are exact doubles, their quotient is the double nearest to the text.
func scanFloat(b []byte, p int) (f float64, q int) {
	q = p
	neg := b[q] == '-'
	if neg {
		q++
	}
	d, n := digitsOf(load(b, q))
	q += n
	m := number(d, n)
	k := 0
	if b[q] == '.' {
		d, k = digitsOf(load(b, q+1))
		if n+k > 15 {
			return 0, p
		}
		m = m*pow10[k] + number(d, k)
		q += 1 + k
	}
	if n+k == 0 || isDigit(b[q]) {
		return 0, p
	}
	f = float64(m)
	if k > 0 {
		f /= float64(pow10[k])
	}
	if neg {
		f = -f
	}
	return f, q
}

// pow10 has the powers of ten of an int64.
var pow10 = func() (p [19]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

func isDigit(c byte) bool { return c-'0' <= 9 }

// Years of which monthStart has the days.
const firstYear, lastYear = 1800, 2199

// monthStart is the day number of the first of each month.
var monthStart = func() (t [(lastYear - firstYear + 1) * 12]int32) {
	for i := range t {
		t[i] = int32(types.DaysFromCivil(firstYear+i/12, i%12+1, 1))
	}
	return t
}()

// scanDate reads YYYY-MM-DD.
func scanDate(b []byte, p int) (days int64, q int) {
	const dashes = 0x2d30302d30303030 // "0000-00-"
	d := load(b, p) ^ dashes
	// A digit must be at most 9, the difference to a dash 0.
	if (d+0x7f76767f76767676|d)&highs != 0 {
		return 0, p
	}
	d8, d9 := b[p+8]-'0', b[p+9]-'0'
	if d8 > 9 || d9 > 9 {
		return 0, p
	}
	year := int(d&15)*1000 + int(d>>8&15)*100 + int(d>>16&15)*10 + int(d>>24&15)
	month := int(d>>40&15)*10 + int(d>>48&15) - 1
	day := int(d8)*10 + int(d9) - 1
	if uint(year-firstYear) > lastYear-firstYear || uint(month) > 11 {
		return 0, p
	}
	i := (year-firstYear)*12 + month
	if uint(day) > 27 && day >= types.DaysInMonth(year, month+1) {
		return 0, p
	}
	return int64(monthStart[i]) + int64(day), p + 10
}

// scanTimestamp reads a date, then a blank or T and HH:MM:SS with up to six more digits.
func scanTimestamp(b []byte, p int) (ts int64, q int) {
	days, q := scanDate(b, p)
	if q == p || b[q] != ' ' && b[q] != 'T' {
		return 0, p
	}
	const colons = 0x30303a30303a3030 // "00:00:00"
	d := load(b, q+1) ^ colons
	if (d+0x76767f76767f7676|d)&highs != 0 {
		return 0, p
	}
	h := int64(d&15)*10 + int64(d>>8&15)
	m := int64(d>>24&15)*10 + int64(d>>32&15)
	s := int64(d>>48&15)*10 + int64(d>>56&15)
	if h > 23 || m > 59 || s > 59 {
		return 0, p
	}
	q += 9
	ts = days*types.MicrosPerDay + ((h*60+m)*60+s)*1_000_000
	if b[q] == '.' {
		var k int
		d, k = digitsOf(load(b, q+1))
		if k == 0 || k > 6 {
			return 0, p
		}
		ts += number(d, k) * pow10[6-k]
		q += 1 + k
	}
	return ts, q
}

// stops are the three bytes at which scanText stops, each eight times.
type stops [3]uint64

func newStops(a, b, c byte) stops {
	return stops{uint64(a) * ones, uint64(b) * ones, uint64(c) * ones}
}

// scanText finds the next stop. If ascii is true, all bytes before it are ASCII.
func scanText(b []byte, p int, s *stops) (q int, ascii bool) {
	var seen uint64
	s0, s1, s2 := s[0], s[1], s[2]
	for {
		w := load(b, p)
		seen |= w
		x, y, z := w^s0, w^s1, w^s2
		// The lowest bit set marks the first byte that is zero in x, y or z.
		m := ((x-ones)&^x | (y-ones)&^y | (z-ones)&^z) & highs
		if m != 0 {
			return p + bits.TrailingZeros64(m)>>3, seen&highs == 0
		}
		p += 8
	}
}
