package column

import "slices"

// Arrange puts the rows from first on into another order: the i-th of them is then the one that was order[i] rows behind first.
// All of them are in order, each once.
func (b *Builder) Arrange(first int, order []uint32) {
	s := &b.arranged
	arrange(&b.ints, &s.ints, first, order)
	arrange(&b.highs, &s.ints, first, order)
	arrange(&b.floats, &s.floats, first, order)
	if b.coded.dict != nil {
		arrange(&b.coded.codes, &s.codes, first, order)
	} else if len(b.ends) > 0 {
		b.arrangeTexts(first, order)
	}
	if len(b.nulls) > first {
		for len(b.nulls) < b.n {
			b.nulls = append(b.nulls, 0)
		}
		arrange(&b.nulls, &s.nulls, first, order)
	}
}

// spares are what values were in before they were arranged, for the next time.
type spares struct {
	ints   []int64
	floats []float64
	codes  []uint32
	bytes  []byte
	ends   []int
	nulls  []uint8
}

func arrange[T any](xs, spare *[]T, first int, order []uint32) {
	old := *xs
	if len(old) == 0 {
		return
	}
	out := append(slices.Grow((*spare)[:0], len(old)), old[:first]...)[:len(old)]
	from, to := old[first:], out[first:]
	for i, k := range order {
		to[i] = from[k]
	}
	*xs, *spare = out, old
}

func (b *Builder) arrangeTexts(first int, order []uint32) {
	start := 0
	if first > 0 {
		start = b.ends[first-1]
	}
	s := &b.arranged
	bytes := append(slices.Grow(s.bytes[:0], len(b.bytes)), b.bytes[:start]...)
	ends := append(slices.Grow(s.ends[:0], len(b.ends)), b.ends[:first]...)
	for _, k := range order {
		from := start
		if k > 0 {
			from = b.ends[first+int(k)-1]
		}
		bytes = append(bytes, b.bytes[from:b.ends[first+int(k)]]...)
		ends = append(ends, len(bytes))
	}
	b.bytes, s.bytes = bytes, b.bytes
	b.ends, s.ends = ends, b.ends
}
