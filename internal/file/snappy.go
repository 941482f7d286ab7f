package file

import (
	"encoding/binary"

	"github.com/klauspost/compress/snappy"
)

// Half of the time of reading a Parquet file is snappy's. A block is a sequence of elements:
// literals, and copies of bytes before. Of numbers and texts they are tiny, of four or six bytes, and a decoder that
// branches by their kinds and lengths guesses wrong at every other one. Ours (snappyFast) takes
// short elements without branches; rare ones are left to Go, and damaged blocks to the library.

// unsnappy decodes a block into dst, which is as long as the block says. fast says whether
// assembly may be used.
func unsnappy(dst, src []byte, fast bool) error {
	if _, n := binary.Uvarint(src); n > 0 && fast && haveSnappyFast && unsnapped(dst, src[n:], true) {
		return nil
	}
	_, err := snappy.Decode(dst, src)
	return err
}

// unsnapped decodes elements, and reports whether they are right and make up dst.
func unsnapped(dst, src []byte, fast bool) bool {
	for d, s := 0, 0; ; {
		if fast {
			d, s = snappyFast(dst, src, d, s)
		}
		if s == len(src) {
			return d == len(dst)
		}
		tag := src[s]
		s++
		n := int(tag>>2) + 1
		if tag&3 == 0 {
			if k := n - 60; k > 0 {
				if len(src)-s < k {
					return false
				}
				var b [8]byte
				copy(b[:k], src[s:])
				n = int(binary.LittleEndian.Uint64(b[:])) + 1
				s += k
			}
			if n > len(src)-s || n > len(dst)-d {
				return false
			}
			copy(dst[d:], src[s:s+n])
			d, s = d+n, s+n
			continue
		}
		k := 1 << (tag&3 - 1) // bytes of the offset
		if len(src)-s < k {
			return false
		}
		off := 0
		switch k {
		case 1:
			n = int(tag>>2&7) + 4
			off = int(tag>>5)<<8 | int(src[s])
		case 2:
			off = int(binary.LittleEndian.Uint16(src[s:]))
		case 4:
			off = int(binary.LittleEndian.Uint32(src[s:]))
		}
		s += k
		if off == 0 || off > d || n > len(dst)-d {
			return false
		}
		for end := d + n; d < end; { // a copy that overlaps itself repeats what it starts with
			d += copy(dst[d:min(d+off, end)], dst[d-off:d])
		}
	}
}
