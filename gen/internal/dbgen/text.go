package dbgen

import "strconv"

// TextLength gives the range of lengths for a text of the given average length.
func TextLength(average float64) (lo, hi int64) {
	return int64(average * 0.4), int64(average * 1.6)
}

// noise holds the characters of random strings, chosen by six bits.
const noise = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,"

// appendNoise appends n random characters, five from each random number between 0 and limit.
func appendNoise(dst []byte, r *Rand, n int, limit float64) []byte {
	end := len(dst) + n
	for len(dst) < end {
		*r = r.Step()
		bits := r.scale(limit)
		for range 5 {
			dst = append(dst, noise[bits&63])
			bits >>= 6
		}
	}
	return dst[:end]
}

// AppendPadded appends x in decimal, with zeros in front up to the given number of digits.
func AppendPadded(dst []byte, x int64, digits int) []byte {
	limit := int64(1)
	for range digits {
		limit *= 10
	}
	if x >= limit {
		return strconv.AppendInt(dst, x, 10)
	}
	start := len(dst)
	for range digits {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= start; i-- {
		dst[i] = byte('0' + x%10)
		x /= 10
	}
	return dst
}
