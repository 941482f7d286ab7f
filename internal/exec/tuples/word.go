package tuples

import (
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
)

type wordForm interface {
	int8 | int16 | int32 | uint8 | uint16 | uint32 | uint64
}

// Word is where the first word of a field lies in a tuple. It may be narrow: it is read as the 8 bytes that it
// stands for.
type Word struct {
	Off    uintptr
	Width  uint8
	signed bool
}

// WordOf is the first word of a field.
func WordOf(f *layout.Field) Word { return Word{uintptr(f.Off), f.Width, f.Signed()} }

// Signed reports that a narrow word is extended by its sign.
func (p Word) Signed() bool { return p.signed }

// Load reads the word of one tuple.
func (p Word) Load(tuple uintptr) uint64 {
	at := mem.Pointer(tuple + p.Off)
	switch {
	case p.Width == 8:
		return *(*uint64)(at)
	case p.Width == 4 && p.signed:
		return uint64(*(*int32)(at))
	case p.Width == 4:
		return uint64(*(*uint32)(at))
	case p.Width == 2 && p.signed:
		return uint64(*(*int16)(at))
	case p.Width == 2:
		return uint64(*(*uint16)(at))
	case p.signed:
		return uint64(*(*int8)(at))
	}
	return uint64(*(*uint8)(at))
}

// LoadMany reads the words of many tuples.
func (p Word) LoadMany(tuples []uintptr, dst []uint64) {
	switch {
	case p.Width == 8:
		wordsOf[uint64](tuples, p.Off, dst)
	case p.Width == 4 && p.signed:
		wordsOf[int32](tuples, p.Off, dst)
	case p.Width == 4:
		wordsOf[uint32](tuples, p.Off, dst)
	case p.Width == 2 && p.signed:
		wordsOf[int16](tuples, p.Off, dst)
	case p.Width == 2:
		wordsOf[uint16](tuples, p.Off, dst)
	case p.signed:
		wordsOf[int8](tuples, p.Off, dst)
	default:
		wordsOf[uint8](tuples, p.Off, dst)
	}
}

func wordsOf[S wordForm](tuples []uintptr, off uintptr, dst []uint64) {
	dst = dst[:len(tuples)]
	for i, a := range tuples {
		dst[i] = uint64(*(*S)(mem.Pointer(a + off)))
	}
}

// Store writes the word of one tuple.
func (p Word) Store(tuple uintptr, x uint64) {
	at := mem.Pointer(tuple + p.Off)
	switch p.Width {
	case 8:
		*(*uint64)(at) = x
	case 4:
		*(*uint32)(at) = uint32(x)
	case 2:
		*(*uint16)(at) = uint16(x)
	default:
		*(*uint8)(at) = uint8(x)
	}
}

// ShiftIn makes each of xs x<<shift | (word^flip)+add, where words are those of tuples that lie side by side.
func (p Word) ShiftIn(xs []uint64, first, size uintptr, shift uint, flip, add uint64) {
	first += p.Off
	switch {
	case p.Width == 8:
		shiftIn[uint64](xs, first, size, shift, flip, add)
	case p.Width == 4 && p.signed:
		shiftIn[int32](xs, first, size, shift, flip, add)
	case p.Width == 4:
		shiftIn[uint32](xs, first, size, shift, flip, add)
	case p.Width == 2 && p.signed:
		shiftIn[int16](xs, first, size, shift, flip, add)
	case p.Width == 2:
		shiftIn[uint16](xs, first, size, shift, flip, add)
	case p.signed:
		shiftIn[int8](xs, first, size, shift, flip, add)
	default:
		shiftIn[uint8](xs, first, size, shift, flip, add)
	}
}

func shiftIn[S wordForm](xs []uint64, at, size uintptr, shift uint, flip, add uint64) {
	for i, x := range xs {
		xs[i] = x<<(shift&63) | (uint64(*(*S)(mem.Pointer(at))) ^ flip + add)
		at += size
	}
}

// ShiftOut writes the words of tuples that lie side by side, which ShiftIn made numbers of: those are x>>shift & mask.
func (p Word) ShiftOut(xs []uint64, first, size uintptr, shift uint, mask, flip, add uint64) {
	first += p.Off
	switch p.Width {
	case 8:
		shiftOut[uint64](xs, first, size, shift, mask, flip, add)
	case 4:
		shiftOut[uint32](xs, first, size, shift, mask, flip, add)
	case 2:
		shiftOut[uint16](xs, first, size, shift, mask, flip, add)
	default:
		shiftOut[uint8](xs, first, size, shift, mask, flip, add)
	}
}

func shiftOut[S wordForm](xs []uint64, at, size uintptr, shift uint, mask, flip, add uint64) {
	for _, x := range xs {
		*(*S)(mem.Pointer(at)) = S((x>>(shift&63)&mask - add) ^ flip)
		at += size
	}
}

// StoreMany writes the words of many tuples.
func (p Word) StoreMany(tuples []uintptr, xs []uint64) {
	switch p.Width {
	case 8:
		storeOf[uint64](tuples, p.Off, xs)
	case 4:
		storeOf[uint32](tuples, p.Off, xs)
	case 2:
		storeOf[uint16](tuples, p.Off, xs)
	default:
		storeOf[uint8](tuples, p.Off, xs)
	}
}

func storeOf[S wordForm](tuples []uintptr, off uintptr, xs []uint64) {
	xs = xs[:len(tuples)]
	for i, a := range tuples {
		*(*S)(mem.Pointer(a + off)) = S(xs[i])
	}
}
