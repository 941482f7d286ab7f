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
// can be read. simd says whether vector instructions may be used; they are if a few entries more than it has can be read of the
// table (see padded).
func hybrid[T elem](dst []T, src []byte, width uint, table []T, simd bool) error {
	if width > 32 {
		return errBits
	}
	u := newUnpacker(width, table, len(dst), simd)
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
		if err := u.unpack(dst[:m], src[:bytes]); err != nil {
			return err
		}
		dst, src = dst[m:], src[bytes:]
	}
	return nil
}

// unpack fills dst with what bit-packed numbers stand for; eight of them take width bytes. slack bytes can be read behind
// src if its capacity says so.
func (u *unpacker[T]) unpack(dst []T, src []byte) error {
	if u.width == 0 {
		if len(u.table) == 0 {
			return errIndex
		}
		for i := range dst {
			dst[i] = u.table[0]
		}
		return nil
	}
	at, bad := unpackVectors(u.vectors, dst, src, u.width)
	if bad {
		return errIndex
	}
	if u.full != nil {
		n, bad := u.words(dst, src[:min(len(src)+slack, cap(src))])
		if bad {
			return errIndex
		}
		at = n
	}
	mask, limit := uint64(1)<<u.width-1, uint64(len(u.table))
	for bit := uint(at) * u.width; at < len(dst); at, bit = at+1, bit+u.width {
		i := wordAt(src, bit) & mask
		if i >= limit {
			return errIndex
		}
		dst[at] = u.table[i]
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
