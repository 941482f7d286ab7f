package file

import (
	"encoding/binary"
	"errors"
)

// Definition levels and dictionary indexes are stored as runs of one value, or groups of
// eight bit-packed ones, in turns. Decoding goes straight through a table of what the
// numbers stand for: NULL bytes, narrow integers, dictionary codes, descriptors of texts.

// slack is how many bytes after encoded values can be read, whatever they are: values are
// unpacked by words.
const slack = 16

var (
	errShort = errors.New("a page ends too early")
	errIndex = errors.New("a page refers to an entry that the dictionary does not have")
	errBits  = errors.New("a page has a bit width that is too large")
)

// elem is what a column's values become: see the widths of column.Enc.
type elem interface {
	uint8 | uint16 | uint32 | uint64 | [2]uint64
}

// hybrid fills dst with table[i] for the numbers i of width bits in src, behind which slack bytes
// can be read.
func hybrid[T elem](dst []T, src []byte, width uint, table []T) error {
	if width > 32 {
		return errBits
	}
	for len(dst) > 0 {
		head, n := binary.Uvarint(src)
		if n <= 0 {
			return errShort
		}
		src = src[n:]
		count := head >> 1
		if head&1 == 0 {
			k := int(width+7) / 8
			if len(src) < k {
				return errShort
			}
			i := uint32(0)
			for b := range k {
				i |= uint32(src[b]) << (8 * b)
			}
			src = src[k:]
			m := int(min(count, uint64(len(dst))))
			if m == 0 {
				continue
			}
			if uint64(i) >= uint64(len(table)) {
				return errIndex
			}
			run, x := dst[:m], table[i]
			for j := range run {
				run[j] = x
			}
			dst = dst[m:]
			continue
		}
		count = min(count, 1<<40) // so that nothing overflows
		m := int(min(count*8, uint64(len(dst))))
		bytes := int(min(count*uint64(width), uint64(len(src))))
		if bytes*8 < m*int(width) {
			return errShort
		}
		if err := unpack(dst[:m], src[:bytes:cap(src)], width, table); err != nil {
			return err
		}
		dst, src = dst[m:], src[bytes:]
	}
	return nil
}

// unpack fills dst with table[i] for bit-packed numbers i; eight of them take width bytes.
func unpack[T elem](dst []T, src []byte, width uint, table []T) error {
	if width == 0 {
		if len(table) == 0 {
			return errIndex
		}
		for i := range dst {
			dst[i] = table[0]
		}
		return nil
	}
	whole := len(dst) &^ 7
	if need := len(src) + 8; whole > 0 && cap(src) < need {
		src = append(make([]byte, 0, len(src)+slack), src...)
	}
	src = src[:min(len(src)+8, cap(src))]
	mask := uint64(1)<<width - 1
	limit := uint64(len(table))
	at := 0
	switch {
	case width <= 8:
		for ; at < whole; at += 8 {
			x := binary.LittleEndian.Uint64(src[at/8*int(width):])
			d := (*[8]T)(dst[at:])
			for j := range d {
				i := x & mask
				if i >= limit {
					return errIndex
				}
				d[j] = table[i]
				x >>= width & 63
			}
		}
	case width <= 16:
		half, odd := int(width/2), (width&1)*4
		for ; at < whole; at += 8 {
			s := src[at/8*int(width):]
			x, y := binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[half:])>>odd
			d := (*[8]T)(dst[at:])
			for j := range 4 {
				i, k := x&mask, y&mask
				if i >= limit || k >= limit {
					return errIndex
				}
				d[j], d[j+4] = table[i], table[k]
				x >>= width & 63
				y >>= width & 63
			}
		}
	}
	for bit := uint(at) * width; at < len(dst); at, bit = at+1, bit+width {
		i := wordAt(src, bit) & mask
		if i >= limit {
			return errIndex
		}
		dst[at] = table[i]
	}
	return nil
}

// wordAt is at least 57 bits of b from a bit on; behind the end there are zeros.
func wordAt(b []byte, bit uint) uint64 {
	at := int(bit >> 3)
	if at+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[at:]) >> (bit & 7)
	}
	var x uint64
	for k := at; k < len(b); k++ {
		x |= uint64(b[k]) << (8 * (k - at))
	}
	return x >> (bit & 7)
}
