package result

import (
	"math"
	"math/bits"
	"runtime"
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Reader looks at a window of a result's rows, column by column. Several may read one result
// at the same time.
type Reader struct {
	r      *Result
	n      int
	window []uintptr // tuples
	strips []strip   // the same rows in the table, for late columns

	starts []int64  // where each piece begins
	places *Places  // of rows that have numbers in the table
	rows   []uint32 // of strips
	words  []uint64
	floats []float64
	nulls  []uint8
	descs  []*column.StrDesc
}

// strip is rows of one segment that follow each other in the window.
type strip struct {
	seg  *catalog.Segment
	num  uint64
	at   int // of the first in the window
	pick column.Pick
}

// NewReader makes a reader without rows.
func (r *Result) NewReader() *Reader { return &Reader{r: r} }

// Window makes the window begin at row pos and returns its length: n, or less where a segment or
// the result ends.
func (rd *Reader) Window(pos int64, n int) int {
	rd.window, rd.strips = rd.window[:0], rd.strips[:0]
	if s := rd.r.scan; s != nil {
		seg, lo, n := s.at(pos, n)
		rd.n, rd.strips = n, append(rd.strips, strip{seg: seg, pick: column.Pick{Lo: lo, N: n}})
		return n
	}
	if rd.r.segs == nil {
		rd.pieces(pos, n, rd.tuples)
		rd.n = len(rd.window)
		return rd.n
	}
	rd.rows = rd.rows[:0]
	if rd.r.rows.Tuple == Numbers {
		if rd.places == nil {
			rd.places = NewPlaces(rd.r.segs)
		}
		rd.pieces(pos, n, func(p tuples.Piece, lo, n int) {
			for _, row := range mem.Halves(p.Addr, p.N)[lo : lo+n] {
				x, ok := rd.places.Of(uint64(row))
				if !ok {
					panic(diag.Internalf("result", "row %d of %d", row, rd.places.Rows()))
				}
				rd.late(x)
			}
		})
	} else if rd.r.rows.Indirect || rd.r.rows.Tuple.Size > 8 {
		off := uintptr(rd.r.rows.Tuple.Find(layout.LateRow).Off)
		rd.pieces(pos, n, rd.tuples)
		for _, a := range rd.window {
			rd.late(mem.Load64(a + off))
		}
	} else { // a tuple is nothing but the row's number
		rd.pieces(pos, n, func(p tuples.Piece, lo, n int) {
			for _, x := range mem.Words(p.Addr, p.N)[lo : lo+n] {
				rd.late(x)
			}
		})
	}
	rd.n = len(rd.rows)
	for k := range rd.strips {
		end := rd.n
		if k+1 < len(rd.strips) {
			end = rd.strips[k+1].at
		}
		rd.strips[k].pick.Rows = rd.rows[rd.strips[k].at:end]
	}
	return rd.n
}

// late adds a row of the table to the window.
func (rd *Reader) late(x uint64) {
	if k := len(rd.strips); k == 0 || rd.strips[k-1].num != x>>32 {
		rd.strips = append(rd.strips, strip{seg: rd.r.segs[x>>32], num: x >> 32, at: len(rd.rows)})
	}
	rd.rows = append(rd.rows, uint32(x))
}

// pieces calls f with the parts of pieces that make up a window.
func (rd *Reader) pieces(pos int64, n int, f func(p tuples.Piece, lo, n int)) {
	rows := &rd.r.rows
	if rd.starts == nil {
		at := int64(0)
		rd.starts = make([]int64, 0, len(rows.Pieces))
		for _, p := range rows.Pieces {
			rd.starts = append(rd.starts, at)
			at += int64(p.N)
		}
	}
	i, found := slices.BinarySearch(rd.starts, pos)
	if !found {
		i = max(i-1, 0)
	}
	for ; i < len(rows.Pieces) && n > 0; i++ {
		lo := int(pos - rd.starts[i])
		k := min(n, rows.Pieces[i].N-lo)
		f(rows.Pieces[i], lo, k)
		pos += int64(k)
		n -= k
	}
}

// tuples adds tuples to the window.
func (rd *Reader) tuples(p tuples.Piece, lo, n int) {
	at := len(rd.window)
	rd.window = slices.Grow(rd.window, n)[:at+n]
	to := rd.window[at:]
	if rd.r.rows.Indirect {
		for i, a := range mem.Words(p.Addr, p.N)[lo : lo+n] {
			to[i] = uintptr(a)
		}
		return
	}
	size := uintptr(rd.r.rows.Tuple.Size)
	a := p.Addr + uintptr(lo)*size
	for i := range to {
		to[i] = a
		a += size
	}
}

// Fit is how long a window from row pos on can be, at most n.
func (rd *Reader) Fit(pos int64, n int) int {
	if s := rd.r.scan; s != nil {
		_, _, n = s.at(pos, n)
		return n
	}
	return int(min(int64(n), rd.r.Len()-pos))
}

// field is where column i lies in tuples; nil for late columns.
func (rd *Reader) field(i int) *layout.Field { return rd.r.columns[i].Field }

// chunks calls f with the parts of late column i, and where they begin in the window.
func (rd *Reader) chunks(i int, f func(c *column.Chunk, p *column.Pick, at int)) {
	for k := range rd.strips {
		s := &rd.strips[k]
		if s.pick.Len() > 0 {
			f(s.seg.Chunks[rd.r.columns[i].Ordinal], &s.pick, s.at)
		}
	}
}

// Valid sets bit k of dst for each row k whose column i is not NULL and returns how many are.
func (rd *Reader) Valid(i int, dst []byte) (nulls int) {
	null := rd.nullBytes(i)
	if null == nil {
		return 0
	}
	for k := range dst[:(rd.n+7)/8] {
		var x uint64
		for b, v := range null[8*k : min(8*k+8, rd.n)] {
			x |= uint64(v) << b
		}
		dst[k] = ^byte(x)
		nulls += bits.OnesCount64(x)
	}
	return nulls
}

// nullBytes is 1 for each NULL of column i; nil if there is none.
func (rd *Reader) nullBytes(i int) []uint8 {
	f := rd.field(i)
	if f != nil && f.Null < 0 {
		return nil
	}
	some := f != nil
	if !some {
		rd.chunks(i, func(c *column.Chunk, _ *column.Pick, _ int) { some = some || c.Null != 0 })
	}
	if !some {
		return nil
	}
	rd.nulls = slices.Grow(rd.nulls[:0], rd.n)[:rd.n]
	if f == nil {
		rd.chunks(i, func(c *column.Chunk, p *column.Pick, at int) {
			if c.Null != 0 {
				column.PickNulls(c, p, rd.nulls[at:])
			} else {
				clear(rd.nulls[at : at+p.Len()])
			}
		})
		return rd.nulls
	}
	for k, a := range rd.window {
		rd.nulls[k] = mem.Load8(a + uintptr(f.Null))
	}
	return rd.nulls
}

// ReadInts reads integers, dates and times of column i; NULLs are anything.
func ReadInts[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64](rd *Reader, i int, dst []T) {
	f := rd.field(i)
	if f == nil {
		rd.chunks(i, func(c *column.Chunk, p *column.Pick, at int) { column.PickInts(c, p, dst[at:]) })
		return
	}
	for k, x := range rd.firstWords(f) {
		dst[k] = T(x)
	}
}

// firstWords are the first words of a field.
func (rd *Reader) firstWords(f *layout.Field) []uint64 {
	rd.words = slices.Grow(rd.words[:0], rd.n)[:rd.n]
	tuples.WordOf(f).LoadMany(rd.window, rd.words)
	return rd.words
}

// Bools sets bit k of dst for each row k that is true; NULLs are anything.
func (rd *Reader) Bools(i int, dst []byte) {
	xs := make([]int16, rd.n)
	ReadInts(rd, i, xs)
	clear(dst)
	for k, x := range xs {
		dst[k/8] |= byte(x&1) << (k % 8)
	}
}

// ReadFloats reads floats; NULLs are anything.
func ReadFloats[T float32 | float64](rd *Reader, i int, dst []T) {
	f := rd.field(i)
	if f == nil {
		rd.chunks(i, func(c *column.Chunk, p *column.Pick, at int) { column.PickFloats(c, p, dst[at:]) })
		return
	}
	off := uintptr(f.Off)
	for k, a := range rd.window {
		dst[k] = T(math.Float64frombits(mem.Load64(a + off)))
	}
}

// Wides reads decimals; NULLs are anything.
func (rd *Reader) Wides(i int, dst []types.Int128) {
	f := rd.field(i)
	if f == nil {
		rd.chunks(i, func(c *column.Chunk, p *column.Pick, at int) { column.PickWides(c, p, dst[at:]) })
		return
	}
	off := uintptr(f.Off)
	if f.Desc.Form == layout.I128 {
		for k, a := range rd.window {
			dst[k] = types.Int128{Lo: mem.Load64(a + off), Hi: int64(mem.Load64(a + off + 8))}
		}
		return
	}
	for k, x := range rd.firstWords(f) {
		dst[k] = types.Int128{Lo: x, Hi: int64(x) >> 63}
	}
}

// Intervals hands intervals to put; NULLs are anything.
func (rd *Reader) Intervals(i int, put func(k int, months, days int32, micros int64)) {
	f := rd.field(i)
	if f == nil {
		rd.chunks(i, func(c *column.Chunk, p *column.Pick, at int) {
			column.PickIntervals(c, p, func(k int, m, d int32, us int64) { put(at+k, m, d, us) })
		})
		return
	}
	off := uintptr(f.Off)
	for k, a := range rd.window {
		w := int64(mem.Load64(a + off))
		put(k, int32(w>>32), int32(uint32(w)), int64(mem.Load64(a+off+8)))
	}
}

// Texts writes texts one behind the other into memory that room makes for so many bytes, and where
// each ends; NULLs are empty. room's memory has column.TextSlack bytes more.
func (rd *Reader) Texts(i int, ends []int32, room func(n int64) []byte) {
	f := rd.field(i)
	if f == nil {
		rd.lateTexts(i, ends, room)
		return
	}
	off := uintptr(f.Off)
	null := rd.nullBytes(i)
	if f.Desc.Form == layout.Code {
		view := f.Desc.Dict.View()
		rd.descs = slices.Grow(rd.descs[:0], rd.n)[:rd.n]
		for k, x := range rd.firstWords(f) {
			if null != nil && null[k] != 0 {
				rd.descs[k] = &column.NoText
				continue
			}
			rd.descs[k] = view.At(int(x))
		}
		n := column.Ends(rd.descs, ends, 0)
		if dst := room(n); int64(len(dst)) >= n {
			column.CopyTexts(rd.descs, view.Heap, dst)
		}
		runtime.KeepAlive(view)
		return
	}
	at := int64(0)
	for k, a := range rd.window {
		if null == nil || null[k] == 0 {
			at += int64(mem.Load64(a + off + 8))
		}
		ends[k] = int32(at)
	}
	dst := room(at)
	if int64(len(dst)) < at {
		return // too many
	}
	to := mem.AddressOf(dst)
	for k, a := range rd.window {
		if null != nil && null[k] != 0 {
			continue
		}
		from, n := uintptr(mem.Load64(a+off)), int(mem.Load64(a+off+8))
		copyText(to, from, n)
		to += uintptr(n)
	}
	runtime.KeepAlive(dst)
}

// lateTexts is Texts for late columns.
func (rd *Reader) lateTexts(i int, ends []int32, room func(n int64) []byte) {
	rd.descs = slices.Grow(rd.descs[:0], rd.n)[:rd.n]
	n := int64(0)
	var heaps []uintptr
	var begins []int64
	rd.chunks(i, func(c *column.Chunk, p *column.Pick, at int) {
		descs := rd.descs[at : at+p.Len()]
		heaps, begins = append(heaps, column.PickDescs(c, p, descs)), append(begins, n)
		n = column.Ends(descs, ends[at:at+p.Len()], n)
	})
	dst := room(n)
	if int64(len(dst)) < n {
		return // too many
	}
	k := 0
	rd.chunks(i, func(c *column.Chunk, p *column.Pick, at int) {
		column.CopyTexts(rd.descs[at:at+p.Len()], heaps[k], dst[begins[k]:])
		k++
		runtime.KeepAlive(c)
	})
}

// copyText copies a text; it may read and write up to column.TextSlack bytes more.
func copyText(to, from uintptr, n int) {
	if n > 0 {
		column.CopyText(mem.Pointer(to), mem.Pointer(from), n)
	}
}
