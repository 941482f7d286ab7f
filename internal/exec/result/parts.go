package result

import (
	"context"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
)

// Whoever wants all rows of a result once, to make a table of them, reads it part by part on many threads. What is nothing
// but columns of files is then loaded as it is read, and need never be in memory all at once.

// Part is rows of a result that are read at one go, one after the other.
type Part struct {
	Lo, Hi int64
	seg    int // of a file: which must be loaded first; -1: none
}

// Parts cuts a result into parts of at most so many rows, but where a segment of a file is larger.
func (r *Result) Parts(rows int64) (out []Part) {
	if r.scan == nil || !r.unloaded {
		for lo := int64(0); lo < r.Len(); lo += rows {
			out = append(out, Part{lo, min(lo+rows, r.Len()), -1})
		}
		return out
	}
	t := r.scan
	for i, s := range t.segs {
		lo, hi := max(t.starts[i]-t.offset, 0), min(t.starts[i]+int64(s.Rows)-t.offset, t.n)
		if lo < hi {
			out = append(out, Part{lo, hi, i})
		}
	}
	return out
}

// Load makes the rows of a part readable. Their memory is in use until release is called.
func (r *Result) Load(ctx context.Context, p Part) (release func(), err error) {
	if p.seg < 0 || r.scan.segs[p.seg].Loader == nil {
		return func() {}, nil
	}
	t := r.scan
	from := t.segs[p.seg]
	to := &catalog.Segment{Rows: from.Rows, Chunks: make([]*column.Chunk, len(from.Chunks))}
	var blocks []uintptr
	release = func() {
		t.segs[p.seg] = from
		for _, b := range blocks {
			r.Mem.Free(b)
		}
		blocks = nil
	}
	for _, c := range t.ordinal {
		if to.Chunks[c] != nil {
			continue
		}
		to.Chunks[c], _, err = from.Loader.Load(ctx, c, nil, func(size int) (uintptr, error) {
			a, err := r.Mem.Take(size)
			if err == nil {
				blocks = append(blocks, a)
			}
			return a, err
		})
		if err != nil {
			release()
			return nil, err
		}
	}
	t.segs[p.seg] = to
	return release, nil
}

// Streams reports a result whose rows come from Next.
func (r *Result) Streams() bool { return r.stream != nil }

// SealsFor reports that the result's stream makes segments of a table itself: NextSealed returns them.
func (r *Result) SealsFor(table *catalog.Table) bool {
	s, ok := r.stream.(catalog.Sealer)
	return ok && s.SealFor(table, r.scan.ordinal, r.Account())
}

// NextSealed reads a segment for a table, and its place among all; nil after the last.
func (r *Result) NextSealed(ctx context.Context) (seg *catalog.Segment, num int, err error) {
	return r.stream.Next(ctx, r.Mem)
}

// Next reads rows of a stream, which are a result of their own, valid until release is called; nil after the last. num
// is their place among all. Many goroutines may call it.
func (r *Result) Next(ctx context.Context) (rows *Result, num int, release func(), err error) {
	seg, num, err := r.stream.Next(ctx, r.Mem)
	if seg == nil || err != nil {
		return nil, 0, nil, err
	}
	t := &Table{segs: []*catalog.Segment{seg}, starts: []int64{0}, ordinal: r.scan.ordinal, columns: r.columns, n: int64(seg.Rows)}
	rows = OfTable(Owned{Cols: r.Cols, Threads: r.Threads, Mem: r.Mem}, t, false)
	return rows, num, func() {
		for _, c := range seg.Chunks {
			if c != nil {
				r.Mem.Free(c.Data)
			}
		}
	}, nil
}
