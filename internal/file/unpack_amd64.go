package file

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var haveVBMI = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI && cpu.X86.HasBMI2

// small is how 64 numbers of up to 6 bits become elements of one or two bytes; the table is in registers.
type small struct {
	place [64]uint8 // of the bytes of each eight numbers
	shift [64]uint8 // of each number in the quadword of its eight
	mask  [64]uint8
	low   [64]uint8 // bytes of the table
	high  [64]uint8
	order [64]uint8 // which number each is
	last  uint8     // entry of the table
	bytes int       // of 64 numbers
	load  uint64    // mask of them
}

// sparse is how 16 numbers of up to 25 bits become elements.
type sparse struct {
	place [64]uint8 // of the four bytes with each number
	shift [16]uint32
	mask  uint32
	last  uint32
	bytes int // of 16 numbers
	load  uint64
	table unsafe.Pointer
}

//go:noescape
func unpackSmall1(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *small) (wrong uint64)

//go:noescape
func unpackSmall2(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *small) (wrong uint64)

//go:noescape
func unpackSparse1(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *sparse) (wrong uint64)

//go:noescape
func unpackSparse2(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *sparse) (wrong uint64)

//go:noescape
func unpackSparse4(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *sparse) (wrong uint64)

// vectors unpacks by vector instructions.
type vectors struct {
	small  *small
	sparse *sparse
}

// tablePad is how many entries more than a table has can be read behind it, so that one of a byte can be
// read as four.
const tablePad = 4

// newVectors prepares to unpack so many numbers, if it can be done by vector instructions and pays.
func newVectors[T elem](width uint, table []T, numbers int) (v vectors) {
	var x T
	size := unsafe.Sizeof(x)
	w := int(width)
	switch {
	case !haveVBMI || size > 4 || w == 0 || w > 25 || numbers < 64 || len(table) == 0:
	case w <= 6 && size <= 2:
		c := &small{bytes: 8 * w, load: 1<<(8*w) - 1, last: uint8(min(len(table), 64) - 1)}
		for q := range 8 {
			eight := q
			if size == 2 { // the elements of the first half of each 16 bytes are stored first
				eight = q/2 + q%2*4
			}
			for i := range 8 {
				c.place[8*q+i] = uint8(min(eight*w+i, 63))
				c.shift[8*q+i] = uint8(i * w)
				c.order[8*q+i] = uint8(8*eight + i)
			}
		}
		for i := range 64 {
			c.mask[i] = 1<<w - 1
			if i < len(table) {
				b := unsafe.Slice((*uint8)(unsafe.Pointer(&table[i])), size)
				c.low[i], c.high[i] = b[0], b[size-1]
			}
		}
		v.small = c
	case cap(table)-len(table) >= tablePad:
		c := &sparse{bytes: 2 * w, load: 1<<(2*w) - 1, mask: 1<<w - 1, last: uint32(min(len(table), 1<<w) - 1), table: unsafe.Pointer(&table[0])}
		for i := range 16 {
			for k := range 4 {
				c.place[4*i+k] = uint8(min(i*w/8+k, 63))
			}
			c.shift[i] = uint32(i * w % 8)
		}
		v.sparse = c
	}
	return v
}

// unpackVectors fills dst, or, if it cannot, nothing of it, and returns how much it filled.
func unpackVectors[T elem](v vectors, dst []T, src []byte, width uint) (n int, wrong bool) {
	if v.small == nil && v.sparse == nil || len(dst) == 0 || len(src)*8 < len(dst)*int(width) {
		return 0, false
	}
	size := unsafe.Sizeof(*new(T))
	if v.small != nil {
		f := unpackSmall1
		if size == 2 {
			f = unpackSmall2
		}
		rest := len(dst) % 64
		return len(dst), f(unsafe.Pointer(&dst[0]), &src[0], len(dst)/64, rest, 1<<((rest*int(width)+7)/8)-1, v.small) != 0
	}
	f := unpackSparse4
	switch size {
	case 1:
		f = unpackSparse1
	case 2:
		f = unpackSparse2
	}
	rest := len(dst) % 16
	return len(dst), f(unsafe.Pointer(&dst[0]), &src[0], len(dst)/16, rest, 1<<((rest*int(width)+7)/8)-1, v.sparse) != 0
}
