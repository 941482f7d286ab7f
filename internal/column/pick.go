package column

import (
	"encoding/binary"
	"math"
	"runtime"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Many rows of a chunk at once, for results.

// Pick says which rows: those listed, or N from Lo on.
type Pick struct {
	Lo, N int
	Rows  []uint32
}

// Len is the number of rows.
func (p *Pick) Len() int {
	if p.Rows != nil {
		return len(p.Rows)
	}
	return p.N
}

type number interface {
	~int8 | ~uint8 | ~uint16 | ~uint32 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

func pick[S, T number](c *Chunk, p *Pick, dst []T, base T) {
	if p.Rows == nil {
		src := slice[S](c.Data, p.Lo+p.N)[p.Lo:]
		for i := range dst[:len(src)] {
			dst[i] = base + T(src[i])
		}
		return
	}
	src := slice[S](c.Data, c.Rows)
	for i, r := range p.Rows {
		dst[i] = base + T(src[r])
	}
}

// PickInts reads integers of an EncInt chunk.
func PickInts[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64](c *Chunk, p *Pick, dst []T) {
	switch base := T(c.Base); c.Width {
	case 1:
		pick[uint8](c, p, dst, base)
	case 2:
		pick[uint16](c, p, dst, base)
	case 4:
		pick[uint32](c, p, dst, base)
	default:
		pick[int64](c, p, dst, base)
	}
	runtime.KeepAlive(c)
}

// PickFloats reads floats of an EncF64 chunk.
func PickFloats[T float32 | float64](c *Chunk, p *Pick, dst []T) {
	base := T(math.Copysign(0, -1)) // +0 would make +0 of -0
	if c.Width == 4 {
		pick[float32](c, p, dst, base)
	} else {
		pick[float64](c, p, dst, base)
	}
	runtime.KeepAlive(c)
}

// PickWides reads decimals of an EncInt or EncI128 chunk.
func PickWides(c *Chunk, p *Pick, dst []types.Int128) {
	switch {
	case c.Enc == EncI128 && p.Rows == nil:
		copy(dst, slice[types.Int128](c.Data, p.Lo+p.N)[p.Lo:])
	case c.Enc == EncI128:
		src := slice[types.Int128](c.Data, c.Rows)
		for i, r := range p.Rows {
			dst[i] = src[r]
		}
	case c.Width == 1:
		pickWides[uint8](c, p, dst)
	case c.Width == 2:
		pickWides[uint16](c, p, dst)
	case c.Width == 4:
		pickWides[uint32](c, p, dst)
	default:
		pickWides[int64](c, p, dst)
	}
	runtime.KeepAlive(c)
}

func pickWides[S uint8 | uint16 | uint32 | int64](c *Chunk, p *Pick, dst []types.Int128) {
	base := c.Base
	if p.Rows == nil {
		src := slice[S](c.Data, p.Lo+p.N)[p.Lo:]
		for i := range dst[:len(src)] {
			x := base + int64(src[i])
			dst[i] = types.Int128{Lo: uint64(x), Hi: x >> 63}
		}
		return
	}
	src := slice[S](c.Data, c.Rows)
	for i, r := range p.Rows {
		x := base + int64(src[r])
		dst[i] = types.Int128{Lo: uint64(x), Hi: x >> 63}
	}
}

// PickIntervals reads the words of an EncIvl chunk.
func PickIntervals(c *Chunk, p *Pick, put func(i int, months, days int32, micros int64)) {
	for i := range p.Len() {
		m, d, us := c.Interval(p.Row(i))
		put(i, m, d, us)
	}
}

// PickNulls reads the NULL flags of a chunk that has some.
func PickNulls(c *Chunk, p *Pick, dst []uint8) {
	if p.Rows == nil {
		copy(dst, slice[uint8](c.Null, p.Lo+p.N)[p.Lo:])
	} else {
		src := slice[uint8](c.Null, c.Rows)
		for i, r := range p.Rows {
			dst[i] = src[r]
		}
	}
	runtime.KeepAlive(c)
}

// Row is the number of row i.
func (p *Pick) Row(i int) int {
	if p.Rows != nil {
		return int(p.Rows[i])
	}
	return p.Lo + i
}

// PickDescs finds the texts of an EncStr or EncDict chunk: their descriptors, and the heap in which the
// longer ones lie. NULLs are empty. They are valid while the chunk is reachable.
func PickDescs(c *Chunk, p *Pick, dst []*StrDesc) (heap uintptr) {
	if c.Enc == EncStr {
		heap = c.Heap
		for i := range dst {
			dst[i] = (*StrDesc)(pointer(c.Data + uintptr(p.Row(i))*descBytesSize))
		}
	} else {
		heap = c.dict.Heap
		switch c.Width {
		case 1:
			pickCodes[uint8](c, p, dst)
		case 2:
			pickCodes[uint16](c, p, dst)
		default:
			pickCodes[uint32](c, p, dst)
		}
	}
	if c.Null != 0 {
		null := slice[uint8](c.Null, c.Rows)
		for i := range dst {
			if null[p.Row(i)] != 0 {
				dst[i] = &NoText
			}
		}
	}
	return heap
}

// NoText describes an empty text.
var NoText StrDesc

func pickCodes[S uint8 | uint16 | uint32](c *Chunk, p *Pick, dst []*StrDesc) {
	descs := slice[StrDesc](c.dict.Desc, max(c.dict.Len, 1)) // entry 0 can be read even if all are NULL
	codes := slice[S](c.Data, c.Rows)
	if p.Rows == nil {
		codes = codes[p.Lo : p.Lo+p.N]
		for i := range dst[:len(codes)] {
			dst[i] = &descs[codes[i]]
		}
		return
	}
	for i, r := range p.Rows {
		dst[i] = &descs[codes[r]]
	}
}

// Ends sets ends[i] to where text i ends when the texts lie one behind the other from at on.
func Ends(descs []*StrDesc, ends []int32, at int64) int64 {
	for i, d := range descs[:len(ends)] {
		at += int64(d.Len)
		ends[i] = int32(at)
	}
	return at
}

// CopyTexts writes the texts one behind the other to dst, which has TextSlack more bytes than they need.
func CopyTexts(descs []*StrDesc, heap uintptr, dst []byte) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(dst)))
	for _, d := range descs {
		n := int(d.Len)
		to := pointer(at)
		if n <= StrInline {
			from := unsafe.Pointer(&d.Prefix)
			*(*uint64)(to) = *(*uint64)(from)
			*(*uint32)(unsafe.Add(to, 8)) = *(*uint32)(unsafe.Add(from, 8))
		} else {
			from := heap + uintptr(binary.LittleEndian.Uint64(d.Rest[:]))
			CopyText(to, pointer(from), n)
		}
		at += uintptr(n)
	}
	runtime.KeepAlive(dst)
}

// CopyText copies a text of n bytes, more than none. It may read and write up to TextSlack bytes, even if there are fewer.
func CopyText(to, from unsafe.Pointer, n int) {
	copy32(to, from)
	switch {
	case n <= 32:
	case n <= 64: // the last half, too: lengths are hard to guess, so there are few cases
		copy32(unsafe.Add(to, n-32), unsafe.Add(from, n-32))
	default:
		copy(unsafe.Slice((*byte)(to), n)[32:], unsafe.Slice((*byte)(from), n)[32:])
	}
}

// copy32 copies 32 bytes in registers. An array would be copied by a call, because both might overlap.
func copy32(to, from unsafe.Pointer) {
	x := *(*struct{ a, b, c, d uint64 })(from)
	*(*struct{ a, b, c, d uint64 })(to) = x
}

// TextSlack is how many bytes behind the last CopyTexts may write.
const TextSlack = 32
