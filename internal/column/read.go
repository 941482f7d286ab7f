package column

import (
	"bytes"
	"math"
	"runtime"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Reading chunks in Go, for results, appends and tests. Generated code does the same
// by itself.

// IsNull reports whether a row is NULL.
func (c *Chunk) IsNull(row int) bool {
	null := c.Null != 0 && *(*uint8)(pointer(c.Null + uintptr(row))) != 0
	runtime.KeepAlive(c)
	return null
}

// code is the unsigned code of a row.
func (c *Chunk) code(row int) uint64 {
	at := c.Data + uintptr(row)*uintptr(c.Width)
	var x uint64
	switch c.Width {
	case 1:
		x = uint64(*(*uint8)(pointer(at)))
	case 2:
		x = uint64(*(*uint16)(pointer(at)))
	case 4:
		x = uint64(*(*uint32)(pointer(at)))
	default:
		x = *(*uint64)(pointer(at))
	}
	runtime.KeepAlive(c)
	return x
}

// pair is the two words of a row of an EncI128 or EncIvl chunk.
func (c *Chunk) pair(row int) [2]int64 {
	w := *(*[2]int64)(pointer(c.Data + uintptr(row)*16))
	runtime.KeepAlive(c)
	return w
}

// Int is the integer of a row of an EncInt chunk.
func (c *Chunk) Int(row int) int64 { return c.Base + int64(c.code(row)) }

// Code is the dictionary code of a row of an EncDict chunk.
func (c *Chunk) Code(row int) int { return int(c.code(row)) }

// I128 is the scaled integer of a row, whether the chunk is wide or narrow.
func (c *Chunk) I128(row int) types.Int128 {
	if c.Enc == EncInt {
		return types.FromInt64(c.Int(row))
	}
	w := c.pair(row)
	return types.Int128{Lo: uint64(w[0]), Hi: w[1]}
}

// Float is the float of a row of an EncF64 chunk.
func (c *Chunk) Float(row int) float64 {
	if c.Width == 4 {
		return float64(math.Float32frombits(uint32(c.code(row))))
	}
	return math.Float64frombits(c.code(row))
}

// Interval is the interval of a row of an EncIvl chunk.
func (c *Chunk) Interval(row int) (months, days int32, micros int64) {
	w := c.pair(row)
	return int32(w[0] >> 32), int32(uint32(w[0])), w[1]
}

// Bytes is the string of a row of an EncStr or EncDict chunk, in place: valid while
// the chunk is reachable, and not to be changed.
func (c *Chunk) Bytes(row int) []byte {
	if c.Enc == EncDict {
		if c.dict.Len == 0 { // all rows are NULL
			return nil
		}
		return c.dict.Bytes(c.Code(row))
	}
	return descBytes(c.Data+uintptr(row)*descBytesSize, c.Heap)
}

// Value is the value of a row.
func (c *Chunk) Value(row int) types.Value {
	if uint(row) >= uint(c.Rows) {
		panic("column: row out of range")
	}
	v := types.Value{Type: c.Type}
	if c.IsNull(row) {
		v.Null = true
		return v
	}
	switch c.Enc {
	case EncInt:
		v.I = c.Int(row)
		if c.Type.Kind == types.Decimal {
			v.Hi = v.I >> 63
		}
	case EncI128, EncIvl:
		w := c.pair(row)
		v.I, v.Hi = w[0], w[1]
	case EncF64:
		v.F = c.Float(row)
	default:
		v.S = string(c.Bytes(row))
	}
	runtime.KeepAlive(c)
	return v
}

// AddTo counts the chunk's values in a sketch. The first call is quick for a chunk that
// has just been sealed and hands over what sealing has counted; it must not run at the
// same time as another.
func (c *Chunk) AddTo(s *Sketch) {
	if c.sketch != nil {
		s.merge(c.sketch)
		c.sketch = nil
		return
	}
	for row := range c.Rows {
		if !c.IsNull(row) {
			s.add(c.Hash(row))
		}
	}
	runtime.KeepAlive(c)
}

// Hash is a hash of the value of a row that is not NULL. Values equal in SQL hash alike,
// whatever the encoding of their chunks, as long as the columns have one type.
func (c *Chunk) Hash(row int) uint64 {
	switch c.Enc {
	case EncInt:
		return hashInt(uint64(c.Int(row)))
	case EncI128:
		return hashI128(c.I128(row))
	case EncF64:
		return hashFloat(c.Float(row))
	case EncIvl:
		w := c.pair(row)
		return hashInterval(w[0], w[1])
	}
	if c.Type.Keyed() {
		return hashBytes([]byte(types.OrderKey(c.Value(row)).S))
	}
	return hashBytes(c.Bytes(row))
}

// EqualRows reports whether two values of columns of one type, neither of them NULL, are equal.
func EqualRows(a *Chunk, i int, b *Chunk, j int) bool {
	switch {
	case a.Enc == EncInt && b.Enc == EncInt:
		return a.Int(i) == b.Int(j)
	case (a.Enc == EncStr || a.Enc == EncDict) && !a.Type.Keyed():
		return bytes.Equal(a.Bytes(i), b.Bytes(j))
	}
	return types.Equal(a.Value(i), b.Value(j))
}

// MemBytes is how much memory the chunk's arrays take.
func (c *Chunk) MemBytes() int {
	n := (c.Rows + PadRows) * int(c.Width)
	if c.Nulls {
		n += c.Rows + PadRows
	}
	if c.Enc == EncStr {
		n += int(c.Zone.Bytes)
	}
	return n
}
