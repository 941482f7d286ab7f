package result

import (
	"runtime"
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// AppendTo appends the window's values of column i to a builder of the same type.
func (rd *Reader) AppendTo(i int, b *column.Builder) {
	f := rd.field(i)
	if f == nil {
		rd.chunks(i, func(c *column.Chunk, p *column.Pick, _ int) { b.AppendPick(c, p) })
		return
	}
	null := rd.nullBytes(i)
	switch f.Desc.Form {
	case layout.I64:
		b.AppendWords(rd.firstWords(f), null)
	case layout.I128:
		xs := make([]types.Int128, rd.n)
		rd.Wides(i, xs)
		b.AppendWides(xs, null)
	case layout.F64:
		rd.floats = slices.Grow(rd.floats[:0], rd.n)[:rd.n]
		ReadFloats(rd, i, rd.floats)
		b.AppendDoubles(rd.floats, null)
	case layout.Code:
		b.AppendCodes(f.Desc.Dict, f.Desc.Dict.View(), rd.firstWords(f), null)
	case layout.Str:
		rd.appendTexts(uintptr(f.Off), b, null)
	case layout.Ivl:
		rd.Intervals(i, func(k int, months, days int32, micros int64) {
			if null != nil && null[k] != 0 {
				b.AppendNull()
			} else {
				b.AppendInterval(months, days, micros)
			}
		})
	}
}

// appendTexts appends texts whose addresses and lengths lie at off in the window's tuples.
func (rd *Reader) appendTexts(off uintptr, b *column.Builder, null []uint8) {
	size := 0
	for k, a := range rd.window {
		if null == nil || null[k] == 0 {
			size += int(mem.Load64(a + off + 8))
		}
	}
	ends, end, dst := b.TextRoom(rd.n, size, null)
	to := mem.AddressOf(dst)
	for k, a := range rd.window {
		if null == nil || null[k] == 0 {
			from, n := uintptr(mem.Load64(a+off)), int(mem.Load64(a+off+8))
			copyText(to, from, n)
			to += uintptr(n)
			end += n
		}
		ends[k] = end
	}
	runtime.KeepAlive(dst)
}

// Fits reports that no text of column i in the window is longer than n characters. It does not count
// characters: where there are more bytes than that, it says no.
func (rd *Reader) Fits(i, n int) bool {
	f := rd.field(i)
	fits := true
	switch {
	case f == nil:
		rd.chunks(i, func(c *column.Chunk, p *column.Pick, _ int) {
			if c.Type.Len == 0 || int(c.Type.Len) > n { // else the table has seen to it
				rd.descs = slices.Grow(rd.descs[:0], p.Len())[:p.Len()]
				column.PickDescs(c, p, rd.descs)
				for _, d := range rd.descs {
					fits = fits && int(d.Len) <= n
				}
			}
		})
	case f.Desc.Form == layout.Code:
		view := f.Desc.Dict.View()
		for code := range view.Len {
			fits = fits && int(view.At(code).Len) <= n
		}
		runtime.KeepAlive(view)
	case f.Desc.Form == layout.Str:
		null := rd.nullBytes(i)
		for k, a := range rd.window {
			fits = fits && (null != nil && null[k] != 0 || mem.Load64(a+uintptr(f.Off)+8) <= uint64(n))
		}
	}
	return fits
}
