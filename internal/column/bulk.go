package column

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Many values of a result at once. Rows that nulls marks are NULL, whatever their values; nil marks none.

// AppendWords appends integers.
func (b *Builder) AppendWords(xs []uint64, nulls []uint8) {
	from := b.n
	b.ints = slices.Grow(b.ints, len(xs))[:from+len(xs)]
	to := b.ints[from:]
	for i, x := range xs {
		to[i] = int64(x)
	}
	if b.wide() {
		for _, x := range to {
			b.highs = append(b.highs, x>>63)
		}
	}
	b.n += len(xs)
	b.markNulls(from, nulls, func(row int) {
		b.ints[row] = 0
		if b.wide() {
			b.highs[row] = 0
		}
	})
}

// AppendWides appends scaled values of decimals.
func (b *Builder) AppendWides(xs []types.Int128, nulls []uint8) {
	for i, x := range xs {
		if nulls != nil && nulls[i] != 0 {
			b.AppendNull()
		} else {
			b.AppendI128(x)
		}
	}
}

// AppendDoubles appends floats.
func (b *Builder) AppendDoubles(xs []float64, nulls []uint8) {
	from := b.n
	b.AppendFloats(xs)
	b.markNulls(from, nulls, func(row int) { b.floats[row] = 0 })
}

// TextRoom appends n strings of so many bytes together, which the caller writes: where each ends, and the
// bytes themselves from start on, which have TextSlack more. NULLs must be empty.
func (b *Builder) TextRoom(n, size int, nulls []uint8) (ends []int, start int, bytes []byte) {
	b.spell()
	from := b.n
	start = len(b.bytes)
	b.bytes = room(b.bytes, size+TextSlack)[:start+size]
	b.ends = slices.Grow(b.ends, n)[:from+n]
	b.n += n
	b.markNulls(from, nulls, func(int) {})
	return b.ends[from:], start, b.bytes[start : start+size+TextSlack]
}

// markNulls marks the rows from a place on that are NULL.
func (b *Builder) markNulls(from int, nulls []uint8, zero func(row int)) {
	for i, null := range nulls {
		if null != 0 {
			zero(from + i)
			b.setNull(from + i)
		}
	}
}
