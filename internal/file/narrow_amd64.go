package file

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var haveNarrow = cpu.X86.HasAVX512F

//go:noescape
func narrow8to1(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)

//go:noescape
func narrow8to2(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)

//go:noescape
func narrow8to4(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)

//go:noescape
func narrow8to8(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)

//go:noescape
func narrow4to1(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)

//go:noescape
func narrow4to2(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)

//go:noescape
func narrow4to4(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)

//go:noescape
func narrow4to8(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)

// narrowVectors stores the first numbers of src, less base, and returns how many; none if one of them is
// not between lo and lo + span.
func narrowVectors[T narrow, X int32 | int64](dst []T, src []X, lo, span, base uint64) int {
	n := min(len(dst), len(src)) / 8
	if !haveNarrow || n == 0 {
		return 0
	}
	d, s := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	var wrong uint64
	switch unsafe.Sizeof(src[0])<<4 | unsafe.Sizeof(dst[0]) {
	case 0x81:
		wrong = narrow8to1(d, s, n, lo, span, base)
	case 0x82:
		wrong = narrow8to2(d, s, n, lo, span, base)
	case 0x84:
		wrong = narrow8to4(d, s, n, lo, span, base)
	case 0x88:
		wrong = narrow8to8(d, s, n, lo, span, base)
	case 0x41:
		wrong = narrow4to1(d, s, n, lo, span, base)
	case 0x42:
		wrong = narrow4to2(d, s, n, lo, span, base)
	case 0x44:
		wrong = narrow4to4(d, s, n, lo, span, base)
	case 0x48:
		wrong = narrow4to8(d, s, n, lo, span, base)
	}
	if wrong != 0 {
		return 0
	}
	return 8 * n
}
