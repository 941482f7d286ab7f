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
