package gen

import "slices"

// Batch holds generated rows column by column. The zero Batch is ready for use, and one Batch should be
// used for many calls of Generate: it keeps its memory.
type Batch struct {
	Columns []Column // of the table that was generated; shared, not to be changed
	Rows    int
	Vectors []Vector // one per column
}

// Vector holds one column's values: Ints for integers, decimals and dates, Bytes with Offsets for
// strings. String i is Bytes[Offsets[i]:Offsets[i+1]].
type Vector struct {
	Ints    []int64
	Bytes   []byte
	Offsets []int32
}

// At returns string i. It is valid until the Batch is filled again.
func (v *Vector) At(i int) []byte { return v.Bytes[v.Offsets[i]:v.Offsets[i+1]] }

// MakeInts gives the vector room for n integers and returns them. Their values are arbitrary.
func (v *Vector) MakeInts(n int) []int64 {
	v.Ints = slices.Grow(v.Ints[:0], n)[:n]
	return v.Ints
}

// MakeStrings gives the vector n empty strings and room for size bytes in the arena. The caller appends
// to Bytes and calls End after each string.
func (v *Vector) MakeStrings(n, size int) {
	v.Offsets = slices.Grow(v.Offsets[:0], n+1)[:n+1]
	v.Offsets[0] = 0
	v.Bytes = slices.Grow(v.Bytes[:0], size)[:0]
}

// End ends string i, the one that was just appended to Bytes.
func (v *Vector) End(i int) { v.Offsets[i+1] = int32(len(v.Bytes)) }

// reset gives b the shape of a table with the given columns, keeping memory where the kind of a column
// stays the same.
func (b *Batch) reset(columns []Column) {
	b.Columns = columns
	b.Rows = 0
	for len(b.Vectors) < len(columns) {
		b.Vectors = append(b.Vectors, Vector{})
	}
	b.Vectors = b.Vectors[:len(columns)]
	for i, c := range columns {
		if v := &b.Vectors[i]; c.Kind() == String {
			v.Ints = nil
		} else {
			v.Bytes, v.Offsets = nil, nil
		}
	}
}
