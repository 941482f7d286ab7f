package exec

import (
	"math"
	"math/bits"
	"runtime"
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Reader looks at a window of a result's rows, column by column. Several may read one result
// at the same time.
type Reader struct {
	r      *Result
	window []uintptr // tuples
	seg    *catalog.Segment
	pick   column.Pick // rows of seg, where the result is a table's columns
	n      int

	starts []int64 // where each piece begins
	nulls  []uint8
	descs  []*column.StrDesc
}

// NewReader makes a reader without rows.
func (r *Result) NewReader() *Reader { return &Reader{r: r} }

// Window makes the window begin at row pos and returns its length: n, or less where a segment or
// the result ends.
func (rd *Reader) Window(pos int64, n int) int {
	if s := rd.r.scan; s != nil {
		rd.seg, rd.pick.Lo, rd.pick.N = s.at(pos, n)
		rd.n = rd.pick.N
		return rd.n
	}
	rows := &rd.r.Rows
	if rd.starts == nil {
		at := int64(0)
		rd.starts = make([]int64, 0, len(rows.Pieces))
		for _, p := range rows.Pieces {
			rd.starts = append(rd.starts, at)
			at += int64(p.N)
		}
	}
	rd.window = rd.window[:0]
	i, found := slices.BinarySearch(rd.starts, pos)
	if !found {
		i = max(i-1, 0)
	}
	for ; i < len(rows.Pieces) && len(rd.window) < n; i++ {
		p := rows.Pieces[i]
		at := int(pos - rd.starts[i])
		k := min(n-len(rd.window), p.N-at)
		if rows.Indirect {
			for _, a := range words(p.Addr, p.N)[at : at+k] {
				rd.window = append(rd.window, uintptr(a))
			}
		} else {
			size := uintptr(rows.Tuple.Size)
			a := p.Addr + uintptr(at)*size
			for range k {
				rd.window = append(rd.window, a)
				a += size
			}
		}
		pos += int64(k)
	}
	rd.n = len(rd.window)
	return rd.n
}

// Fit is how long a window from row pos on can be, at most n.
func (rd *Reader) Fit(pos int64, n int) int {
	if s := rd.r.scan; s != nil {
		_, _, n = s.at(pos, n)
		return n
	}
	return int(min(int64(n), rd.r.Len()-pos))
}

// chunk is the window's part of column i, if the result is a table's columns.
func (rd *Reader) chunk(i int) *column.Chunk { return rd.seg.Chunks[rd.r.scan.ordinal[i]] }

func (rd *Reader) field(i int) *layout.Field { return &rd.r.Rows.Tuple.Fields[i] }

// Valid sets bit k of dst for each row k whose column i is not NULL and returns how many are.
func (rd *Reader) Valid(i int, dst []byte) (nulls int) {
	null := rd.nullBytes(i)
	if null == nil {
		return 0
	}
	for k := range dst[:(rd.n+7)/8] {
		// Eight bytes of 0 or 1 become the bits of one.
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
	if rd.r.scan != nil {
		c := rd.chunk(i)
		if c.Null == 0 {
			return nil
		}
		rd.nulls = slices.Grow(rd.nulls[:0], rd.n)[:rd.n]
		column.PickNulls(c, &rd.pick, rd.nulls)
		return rd.nulls
	}
	f := rd.field(i)
	if f.Null < 0 {
		return nil
	}
	rd.nulls = slices.Grow(rd.nulls[:0], rd.n)[:rd.n]
	for k, a := range rd.window {
		rd.nulls[k] = load8(a + uintptr(f.Null))
	}
	return rd.nulls
}

// ReadInts reads integers, dates and times of column i; NULLs are anything.
func ReadInts[T int16 | int32 | int64](rd *Reader, i int, dst []T) {
	if rd.r.scan != nil {
		column.PickInts(rd.chunk(i), &rd.pick, dst)
		return
	}
	off := uintptr(rd.field(i).Off)
	for k, a := range rd.window {
		dst[k] = T(load64(a + off))
	}
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
	if rd.r.scan != nil {
		column.PickFloats(rd.chunk(i), &rd.pick, dst)
		return
	}
	off := uintptr(rd.field(i).Off)
	for k, a := range rd.window {
		dst[k] = T(math.Float64frombits(load64(a + off)))
	}
}

// Wides reads decimals; NULLs are anything.
func (rd *Reader) Wides(i int, dst []types.Int128) {
	if rd.r.scan != nil {
		column.PickWides(rd.chunk(i), &rd.pick, dst)
		return
	}
	f := rd.field(i)
	off := uintptr(f.Off)
	if f.Desc.Form == layout.I128 {
		for k, a := range rd.window {
			dst[k] = types.Int128{Lo: load64(a + off), Hi: int64(load64(a + off + 8))}
		}
		return
	}
	for k, a := range rd.window {
		x := load64(a + off)
		dst[k] = types.Int128{Lo: x, Hi: int64(x) >> 63}
	}
}

// Intervals hands intervals to put; NULLs are anything.
func (rd *Reader) Intervals(i int, put func(k int, months, days int32, micros int64)) {
	if rd.r.scan != nil {
		column.PickIntervals(rd.chunk(i), &rd.pick, put)
		return
	}
	off := uintptr(rd.field(i).Off)
	for k, a := range rd.window {
		w := int64(load64(a + off))
		put(k, int32(w>>32), int32(uint32(w)), int64(load64(a+off+8)))
	}
}

// Texts writes texts one behind the other into memory that room makes for so many bytes, and where
// each ends; NULLs are empty.
func (rd *Reader) Texts(i int, ends []int32, room func(n int64) []byte) {
	if rd.r.scan != nil {
		c := rd.chunk(i)
		rd.descs = slices.Grow(rd.descs[:0], rd.n)[:rd.n]
		heap := column.PickDescs(c, &rd.pick, rd.descs)
		rd.copyTexts(heap, ends, room)
		runtime.KeepAlive(c)
		return
	}
	f := rd.field(i)
	off := uintptr(f.Off)
	null := rd.nullBytes(i)
	if f.Desc.Form == layout.Code {
		view := f.Desc.Dict.View()
		rd.descs = slices.Grow(rd.descs[:0], rd.n)[:rd.n]
		for k, a := range rd.window {
			if null != nil && null[k] != 0 {
				rd.descs[k] = &column.NoText
				continue
			}
			rd.descs[k] = view.At(int(load64(a + off)))
		}
		rd.copyTexts(view.Heap, ends, room)
		runtime.KeepAlive(view)
		return
	}
	at := int64(0)
	for k, a := range rd.window {
		if null == nil || null[k] == 0 {
			at += int64(load64(a + off + 8))
		}
		ends[k] = int32(at)
	}
	dst := room(at)
	to := addressOf(dst)
	for k, a := range rd.window {
		if null != nil && null[k] != 0 {
			continue
		}
		from, n := uintptr(load64(a+off)), int(load64(a+off+8))
		if n <= 16 { // texts can be read by words
			if n > 0 {
				store64(to, load64(from))
			}
			if n > 8 {
				store64(to+8, load64(from+8))
			}
		} else {
			copy(bytesAt(to, n), bytesAt(from, n))
		}
		to += uintptr(n)
	}
	runtime.KeepAlive(dst)
}

func (rd *Reader) copyTexts(heap uintptr, ends []int32, room func(n int64) []byte) {
	column.CopyTexts(rd.descs, heap, room(column.Ends(rd.descs, ends, 0)))
}
