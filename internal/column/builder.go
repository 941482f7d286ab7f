package column

import (
	"runtime"
	"slices"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Options say which encodings a Builder may choose. Without any, integers are stored
// in eight bytes and strings as they are: a form for tests, where every row must read
// the same under all options.
type Options struct {
	Narrow bool // integers in 1, 2 or 4 bytes where the chunk's range allows
	Dict   bool // dictionaries for strings that repeat
}

// DefaultOptions allows everything.
func DefaultOptions() Options { return Options{Narrow: true, Dict: true} }

// Builder collects the values of one column, then seals them into a Chunk. It may be
// used again after Reset. Appending is by the physical kind of the column's type, which
// the caller knows; values are not converted or checked.
type Builder struct {
	t      types.Type
	n      int
	ints   []int64   // integers; low halves of wide decimals; months and days of intervals
	highs  []int64   // high halves, once a decimal needs one; microseconds of intervals
	floats []float64 //
	bytes  []byte    // strings, one after the other …
	ends   []int     // … and where each ends
	nulls  []uint8   // 1 = NULL; ends after the last NULL
	nNull  int
	coded  coded // strings that are codes of a dictionary instead

	scratch  scratch
	arranged spares
}

// NewBuilder returns a builder for a column of type t.
func NewBuilder(t types.Type) *Builder { return &Builder{t: t} }

// Type is the column's type.
func (b *Builder) Type() types.Type { return b.t }

// Len is the number of values, NULLs included.
func (b *Builder) Len() int { return b.n }

// NullCount is the number of NULLs.
func (b *Builder) NullCount() int { return b.nNull }

// Size is about how many bytes the values take in the builder.
func (b *Builder) Size() int {
	return 8*(len(b.ints)+len(b.highs)+len(b.floats)+len(b.ends)) + len(b.bytes) + 4*len(b.coded.codes)
}

// Reset forgets the values and keeps the memory.
func (b *Builder) Reset() {
	b.n, b.nNull = 0, 0
	b.ints, b.highs, b.floats = b.ints[:0], b.highs[:0], b.floats[:0]
	b.bytes, b.ends, b.nulls = b.bytes[:0], b.ends[:0], b.nulls[:0]
	b.coded.reset()
}

// wide reports that values take two words.
func (b *Builder) wide() bool { return len(b.highs) > 0 }

// AppendInt appends a boolean (0 or 1), integer, date, timestamp or a decimal's
// scaled value.
func (b *Builder) AppendInt(x int64) {
	b.ints = append(b.ints, x)
	if b.wide() {
		b.highs = append(b.highs, x>>63)
	}
	b.n++
}

// AppendInts appends many.
func (b *Builder) AppendInts(xs []int64) {
	b.ints = append(b.ints, xs...)
	if b.wide() {
		for _, x := range xs {
			b.highs = append(b.highs, x>>63)
		}
	}
	b.n += len(xs)
}

// AppendI128 appends a decimal's scaled value.
func (b *Builder) AppendI128(x types.Int128) {
	if !b.wide() && !x.FitsInt64() { // the first that is wide: give the others a high half
		b.highs = slices.Grow(b.highs, b.n+1)
		for _, lo := range b.ints {
			b.highs = append(b.highs, lo>>63)
		}
		b.highs = append(b.highs, x.Hi)
	} else if b.wide() {
		b.highs = append(b.highs, x.Hi)
	}
	b.ints = append(b.ints, int64(x.Lo))
	b.n++
}

// AppendFloat appends a double, or a real, which is rounded to single precision.
func (b *Builder) AppendFloat(x float64) {
	if b.t.Kind == types.Float32 {
		x = float64(float32(x))
	}
	b.floats = append(b.floats, x)
	b.n++
}

// AppendFloats appends many.
func (b *Builder) AppendFloats(xs []float64) {
	if b.t.Kind == types.Float32 {
		for _, x := range xs {
			b.AppendFloat(x)
		}
		return
	}
	b.floats = append(b.floats, xs...)
	b.n += len(xs)
}

// AppendBytes appends a copy of a string's bytes.
func (b *Builder) AppendBytes(s []byte) {
	b.spell()
	b.bytes = append(room(b.bytes, len(s)), s...)
	b.ends = append(b.ends, len(b.bytes))
	b.n++
}

// AppendString appends a string.
func (b *Builder) AppendString(s string) {
	b.spell()
	b.bytes = append(room(b.bytes, len(s)), s...)
	b.ends = append(b.ends, len(b.bytes))
	b.n++
}

// AppendStrings appends the strings arena[offsets[i]:offsets[i+1]].
func (b *Builder) AppendStrings(arena []byte, offsets []int32) {
	if len(offsets) < 2 {
		return
	}
	b.spell()
	shift := len(b.bytes) - int(offsets[0])
	b.bytes = append(b.bytes, arena[offsets[0]:offsets[len(offsets)-1]]...)
	b.ends = slices.Grow(b.ends, len(offsets)-1)
	for _, end := range offsets[1:] {
		b.ends = append(b.ends, int(end)+shift)
	}
	b.n += len(offsets) - 1
}

// AppendInterval appends an interval.
func (b *Builder) AppendInterval(months, days int32, micros int64) {
	b.ints = append(b.ints, int64(months)<<32|int64(uint32(days)))
	b.highs = append(b.highs, micros)
	b.n++
}

// AppendNull appends a NULL.
func (b *Builder) AppendNull() {
	row := b.n
	switch b.t.Phys() {
	case types.PhysF64:
		b.AppendFloat(0)
	case types.PhysStr:
		if b.coded.dict != nil {
			b.coded.codes = append(b.coded.codes, 0)
			b.n++
			break
		}
		b.AppendBytes(nil)
	case types.PhysIvl:
		b.AppendInterval(0, 0, 0)
	default:
		b.AppendInt(0)
	}
	b.setNull(row)
}

// setNull marks an appended row as NULL. Its value must be zero.
func (b *Builder) setNull(row int) {
	for len(b.nulls) < row {
		b.nulls = append(b.nulls, 0)
	}
	b.nulls = append(b.nulls, 1)
	b.nNull++
}

// Append appends a value of the column's type, or a NULL of any.
func (b *Builder) Append(v types.Value) {
	if v.Null {
		b.AppendNull()
		return
	}
	switch b.t.Phys() {
	case types.PhysF64:
		b.AppendFloat(v.F)
	case types.PhysStr:
		b.AppendString(v.S)
	case types.PhysIvl:
		b.AppendInterval(v.IntervalParts())
	case types.PhysI128:
		b.AppendI128(v.Int128())
	default:
		b.AppendInt(v.I)
	}
}

// AppendChunk appends the rows [lo, hi) of a chunk of the same type.
func (b *Builder) AppendChunk(c *Chunk, lo, hi int) { b.AppendPick(c, &Pick{Lo: lo, N: hi - lo}) }

// AppendPick appends some rows of a chunk of the same type.
func (b *Builder) AppendPick(c *Chunk, p *Pick) {
	first, n := b.n, p.Len()
	switch {
	case c.Enc == EncInt && !b.wide():
		b.ints = slices.Grow(b.ints, n)[:first+n]
		PickInts(c, p, b.ints[first:])
		b.n += n
		b.chunkNulls(c, p, func(row int) { b.ints[row] = 0 })
	case c.Enc == EncF64:
		b.floats = slices.Grow(b.floats, n)[:first+n]
		PickFloats(c, p, b.floats[first:])
		b.n += n
		b.chunkNulls(c, p, func(row int) { b.floats[row] = 0 })
	case c.Enc == EncStr || c.Enc == EncDict:
		if !b.appendCoded(c, p) {
			b.appendTexts(c, p)
		}
		b.chunkNulls(c, p, func(int) {})
	default:
		b.appendRows(c, p)
	}
	runtime.KeepAlive(c)
}

// chunkNulls marks the last rows, which come from a chunk, that are NULL.
func (b *Builder) chunkNulls(c *Chunk, p *Pick, zero func(row int)) {
	if c.Null == 0 {
		return
	}
	null := SliceAt[uint8](c.Null, c.Rows)
	n := p.Len()
	for i := range n {
		if null[p.Row(i)] != 0 {
			zero(b.n - n + i)
			b.setNull(b.n - n + i)
		}
	}
}

// appendTexts appends texts, empty ones for NULLs.
func (b *Builder) appendTexts(c *Chunk, p *Pick) {
	b.spell()
	var descs [512]*StrDesc
	n := p.Len()
	b.ends = slices.Grow(b.ends, n)
	for at := 0; at < n; at += len(descs) {
		some := descs[:min(len(descs), n-at)]
		part := Pick{Lo: p.Lo + at, N: len(some)}
		if p.Rows != nil {
			part.Rows = p.Rows[at : at+len(some)]
		}
		heap := PickDescs(c, &part, some)
		from := len(b.bytes)
		end := from
		for _, d := range some {
			end += int(d.Len)
			b.ends = append(b.ends, end)
		}
		b.bytes = room(b.bytes, end-from+TextSlack)[:end]
		CopyTexts(some, heap, b.bytes[from:end+TextSlack])
	}
	b.n += n
}

// room is s with a capacity for n more. It doubles, which append does not do for long slices: a builder grows to the
// size of a segment once, by few copies.
func room[T any](s []T, n int) []T {
	if cap(s)-len(s) < n {
		s = slices.Grow(s, max(n, cap(s)))
	}
	return s
}

// appendRows appends rows one by one.
func (b *Builder) appendRows(c *Chunk, p *Pick) {
	for i := range p.Len() {
		row := p.Row(i)
		if c.IsNull(row) {
			b.AppendNull()
			continue
		}
		switch c.Enc {
		case EncInt:
			b.AppendInt(c.Int(row))
		case EncI128:
			b.AppendI128(c.I128(row))
		default:
			b.AppendInterval(c.Interval(row))
		}
	}
}

// isNull reports whether row i is NULL.
func (b *Builder) isNull(i int) bool { return i < len(b.nulls) && b.nulls[i] != 0 }
