package file

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/kelpiedb/kelpie/internal/types"
)

// What the bytes of values mean, and other small things that decoders share.

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// int96Micros is a timestamp of nanoseconds and Julian day. Every one that there is fits.
func int96Micros(x *parquet.Int96) int64 {
	ns := int64(binary.LittleEndian.Uint64(x[:8]))
	day := int64(binary.LittleEndian.Uint32(x[8:]))
	const unixJulian = 2440588
	day -= unixJulian
	if day > math.MaxInt32 || day < -unixJulian {
		return math.MaxInt64 // out of range, which is found out below
	}
	m, ok := types.FromInt64(day).Mul(types.FromInt64(types.MicrosPerDay))
	m = m.Add(types.FromInt64(ns / 1000))
	if !ok || !m.FitsInt64() {
		return math.MaxInt64
	}
	return int64(m.Lo)
}

// int128Bytes reads a two's complement number, most significant byte first.
func int128Bytes(b []byte) (x types.Int128, ok bool) {
	if len(b) == 0 {
		return x, true
	}
	sign := uint64(int64(int8(b[0])) >> 63)
	for len(b) > 16 { // more bytes than needed
		if b[0] != byte(sign) || int8(b[1])>>7 != int8(sign) {
			return x, false
		}
		b = b[1:]
	}
	hi, lo := sign, sign
	for _, d := range b {
		hi = hi<<8 | lo>>56
		lo = lo<<8 | uint64(d)
	}
	return types.Int128{Lo: lo, Hi: int64(hi)}, true
}

// appendUUID appends a UUID in its usual notation.
func appendUUID(dst, b []byte) []byte {
	const hex = "0123456789abcdef"
	for i, x := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hex[x>>4], hex[x&15])
	}
	return dst
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
