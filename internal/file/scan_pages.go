package file

import (
	"os"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Files may have an index of pages: where each is, and between which values. A row group is then cut
// into pieces at the pages of the column that a query tests, and those whose bounds exclude them
// are left out like whole row groups; neighbours that remain are put together again (Join).

// pieceRows is the least number of rows for which it pays to leave pages out.
const pieceRows = 4 << 10

// pageBounds is what the index says of a column's pages.
type pageBounds struct {
	first []int64 // row of each page
	list  []bounds
}

// cut makes the segments of a row group.
func (p *rowPiece) cut(cols, tested []int) ([]*catalog.Segment, error) {
	chunks := p.f.chunks[p.group]
	whole := func() []*catalog.Segment {
		return []*catalog.Segment{p.segment(cols, func(c int) bounds { return chunks[c].bounds })}
	}
	index := map[int]*pageBounds{}
	for _, c := range cols {
		if p.f.cols[c].form == nested { // which is put together from the first row on
			return whole(), nil
		}
	}
	if p.q.t.trust && p.hi >= 2*pieceRows {
		for _, c := range tested {
			if chunks[c].columnIndex == nil || chunks[c].offsetIndex == nil || p.forms[c] == nil {
				continue
			}
			h, done, err := p.q.handle(p.f)
			if err != nil {
				return nil, err
			}
			if pb := p.f.pageIndex(h, &chunks[c], c); pb != nil && len(pb.first) > 1 {
				index[c] = pb
			}
			done()
		}
	}
	var cuts []int64
	for _, pb := range index { // the pages of the column that has most
		if len(pb.first) > len(cuts) {
			cuts = pb.first
		}
	}
	if len(cuts) < 2 {
		return whole(), nil
	}
	var out []*catalog.Segment
	for k := 0; k < len(cuts); {
		end := k + 1
		for end < len(cuts) && cuts[end]-cuts[k] < pieceRows {
			end++
		}
		part := *p
		part.lo = cuts[k]
		if end < len(cuts) {
			part.hi = cuts[end]
		}
		out = append(out, part.segment(cols, func(c int) bounds {
			if pb := index[c]; pb != nil {
				return pb.between(part.lo, part.hi, &chunks[c])
			}
			b := chunks[c].bounds
			switch b.nulls {
			case 0:
			case chunks[c].rows:
				b.nulls = part.hi - part.lo
			default:
				b.nulls = -1 // how many of them are here is not known
			}
			return b
		}))
		k = end
	}
	return out, nil
}

// between are the bounds of some rows.
func (pb *pageBounds) between(lo, hi int64, info *chunkInfo) bounds {
	out := bounds{nulls: -1}
	all := true // rows are of pages that are NULL all through
	for i, first := range pb.first {
		next := info.rows
		if i+1 < len(pb.first) {
			next = pb.first[i+1]
		}
		if next <= lo || first >= hi {
			continue
		}
		b := &pb.list[i]
		if !b.known {
			if b.nulls == next-first {
				continue
			}
			return bounds{nulls: -1, known: info.known, min: info.min, max: info.max}
		}
		all = false
		if !out.known {
			out.known, out.min, out.max = true, b.min, b.max
			continue
		}
		if types.Compare(b.min, out.min) < 0 {
			out.min = b.min
		}
		if types.Compare(b.max, out.max) > 0 {
			out.max = b.max
		}
	}
	if all {
		out.nulls = hi - lo
	}
	return out
}

// pageIndex reads the index of a column; nil: there is none that makes sense.
func (f *parquetFile) pageIndex(h *os.File, info *chunkInfo, col int) (pb *pageBounds) {
	defer func() {
		if recover() != nil {
			pb = nil
		}
	}()
	locs := f.offsets(h, info)
	if locs == nil || info.columnIndex.Length <= 0 || info.columnIndex.Length > 1<<24 {
		return nil
	}
	b := make([]byte, info.columnIndex.Length)
	if readFull(h, b, info.columnIndex.Offset) != nil || !wellFormed(b) {
		return nil
	}
	ci := metadata.NewColumnIndex(f.leaf(col), b, nil, nil)
	empty, mins, maxs := ci.GetNullPages(), ci.GetMinValues(), ci.GetMaxValues()
	if len(empty) != len(locs) || len(mins) != len(locs) || len(maxs) != len(locs) {
		return nil
	}
	pb = &pageBounds{list: make([]bounds, len(locs))}
	for i, l := range locs {
		pb.first = append(pb.first, l.FirstRowIndex)
		end := info.rows
		if i+1 < len(locs) {
			end = locs[i+1].FirstRowIndex
		}
		e := &pb.list[i]
		e.nulls = -1
		if empty[i] {
			e.nulls = end - l.FirstRowIndex
			continue
		}
		f.setBounds(e, col, mins[i], maxs[i])
	}
	return pb
}
