package exec

import (
	"github.com/kelpiedb/kelpie/internal/layout"
)

// The first word of a field may be narrow. These read it as the 8 bytes that it stands for.

type wordForm interface {
	int8 | int16 | int32 | uint8 | uint16 | uint32 | uint64
}

// place is where the first word of a field lies in a tuple.
type place struct {
	off    uintptr
	width  uint8
	signed bool
}

func placeOf(f *layout.Field) place { return place{uintptr(f.Off), f.Width, f.Signed()} }

// load reads the word of one tuple.
func (p place) load(tuple uintptr) uint64 {
	at := pointer(tuple + p.off)
	switch {
	case p.width == 8:
		return *(*uint64)(at)
	case p.width == 4 && p.signed:
		return uint64(*(*int32)(at))
	case p.width == 4:
		return uint64(*(*uint32)(at))
	case p.width == 2 && p.signed:
		return uint64(*(*int16)(at))
	case p.width == 2:
		return uint64(*(*uint16)(at))
	case p.signed:
		return uint64(*(*int8)(at))
	}
	return uint64(*(*uint8)(at))
}

// words reads the words of many tuples.
func (p place) words(tuples []uintptr, dst []uint64) {
	switch {
	case p.width == 8:
		wordsOf[uint64](tuples, p.off, dst)
	case p.width == 4 && p.signed:
		wordsOf[int32](tuples, p.off, dst)
	case p.width == 4:
		wordsOf[uint32](tuples, p.off, dst)
	case p.width == 2 && p.signed:
		wordsOf[int16](tuples, p.off, dst)
	case p.width == 2:
		wordsOf[uint16](tuples, p.off, dst)
	case p.signed:
		wordsOf[int8](tuples, p.off, dst)
	default:
		wordsOf[uint8](tuples, p.off, dst)
	}
}

func wordsOf[S wordForm](tuples []uintptr, off uintptr, dst []uint64) {
	dst = dst[:len(tuples)]
	for i, a := range tuples {
		dst[i] = uint64(*(*S)(pointer(a + off)))
	}
}

// store writes the words of many tuples.
func (p place) store(tuples []uintptr, xs []uint64) {
	switch p.width {
	case 8:
		storeOf[uint64](tuples, p.off, xs)
	case 4:
		storeOf[uint32](tuples, p.off, xs)
	case 2:
		storeOf[uint16](tuples, p.off, xs)
	default:
		storeOf[uint8](tuples, p.off, xs)
	}
}

func storeOf[S wordForm](tuples []uintptr, off uintptr, xs []uint64) {
	xs = xs[:len(tuples)]
	for i, a := range tuples {
		*(*S)(pointer(a + off)) = S(xs[i])
	}
}
