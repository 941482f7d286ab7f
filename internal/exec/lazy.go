package exec

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Segments of files have no data when a pipeline starts. The worker that takes the first rows of one
// loads its columns; others that come to it help, a column each. When the last row has been
// processed, the memory goes to the next segment, so that a scan of any size takes little. Only texts
// that may be pointed to by tuples stay until the query ends.

// lazy is the data of a segment while a pipeline needs it.
type lazy struct {
	seg    *catalog.Segment
	cols   []int // those that take longest first
	chunks []*column.Chunk
	blocks []uintptr // memory of each chunk that can be given back with the last row; 0: stays

	next  atomic.Int32  // column to load
	left  atomic.Int32  // columns not loaded yet
	ready chan struct{} // closed when all are
	rows  atomic.Int64  // not processed yet

	mu  sync.Mutex
	err error
}

func newLazy(seg *catalog.Segment, ordinals []int) *lazy {
	l := &lazy{seg: seg, cols: slices.Clone(ordinals), ready: make(chan struct{})}
	slices.SortFunc(l.cols, func(a, b int) int { return a - b })
	l.cols = slices.Compact(l.cols)
	slices.SortStableFunc(l.cols, func(a, b int) int { return int(seg.Loader.Cost(b) - seg.Loader.Cost(a)) })
	l.chunks = make([]*column.Chunk, len(seg.Chunks))
	l.blocks = make([]uintptr, len(seg.Chunks))
	l.left.Store(int32(len(l.cols)))
	l.rows.Store(int64(seg.Rows))
	if len(l.cols) == 0 {
		close(l.ready)
	}
	return l
}

// load loads what nobody else is loading and waits for the rest.
func (l *lazy) load(w *worker) error {
	for {
		i := int(l.next.Add(1)) - 1
		if i >= len(l.cols) {
			break
		}
		l.column(w, l.cols[i])
	}
	<-l.ready
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *lazy) column(w *worker, col int) {
	var err error
	defer func() {
		if err != nil {
			l.mu.Lock()
			if l.err == nil {
				l.err = err
			}
			l.mu.Unlock()
		}
		if l.left.Add(-1) == 0 {
			close(l.ready)
		}
	}()
	defer diag.Recover("load", &err)
	if w.r.stop.Load() {
		return
	}
	var block uintptr
	c, kept, err := l.seg.Loader.Load(w.r.ctx, col, func(size int) (addr uintptr, err error) {
		block, err = w.r.mem.room(size)
		return block, err
	})
	if err != nil {
		return
	}
	l.chunks[col] = c
	switch {
	case kept:
		w.r.mu.Lock()
		w.r.keep = append(w.r.keep, c)
		w.r.mu.Unlock()
	case c.Enc != column.EncStr || !w.j.escaping(col):
		l.blocks[col] = block
	}
}

// done notes that rows have been processed.
func (l *lazy) done(w *worker, rows int) {
	if l.rows.Add(-int64(rows)) != 0 || w.j.again {
		return
	}
	for i, b := range l.blocks {
		if b != 0 {
			w.r.mem.free(b)
		}
		l.chunks[i], l.blocks[i] = nil, 0
	}
}

// escaping reports that texts of a scanned column may be pointed to by what the pipeline writes.
func (j *job) escaping(col int) bool {
	scan := j.scan()
	for k, ord := range scan.Ordinal {
		if ord == col && j.live.Has(scan.Cols[k]) {
			return true
		}
	}
	return false
}

// joined puts the segments of files together that are read more cheaply so.
func joined(segs []*catalog.Segment) []*catalog.Segment {
	out := segs[:0]
	for _, s := range segs {
		if n := len(out); n > 0 && s.Loader != nil && out[n-1].Loader != nil {
			if both := out[n-1].Loader.Join(out[n-1], s); both != nil {
				out[n-1] = both
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// wanted are the segments of a scan in which a row may pass its filters.
func (j *job) wanted(scan *plan.Scan, filters []emit.ScanFilter) []*catalog.Segment {
	var out []*catalog.Segment
	for _, seg := range scan.Snap.Segments {
		switch {
		case seg.Rows == 0:
		case skipSegment(scan, seg, filters):
			j.st.SkippedRows += int64(seg.Rows)
		default:
			out = append(out, seg)
		}
	}
	return joined(out)
}

// loadAll loads the segments of files that a result needs: it is their columns.
func (r *run) loadAll(t *tableRows) error {
	type part struct {
		seg *catalog.Segment
		of  catalog.Loader
		col int
	}
	var parts []part
	for i, s := range t.segs {
		if s.Loader == nil || t.starts[i]+int64(s.Rows) <= t.offset || t.starts[i] >= t.offset+t.n {
			continue
		}
		t.segs[i] = &catalog.Segment{Rows: s.Rows, Chunks: make([]*column.Chunk, len(s.Chunks))}
		cols := slices.Clone(t.ordinal)
		slices.Sort(cols)
		for _, c := range slices.Compact(cols) {
			parts = append(parts, part{t.segs[i], s.Loader, c})
		}
	}
	return r.parallel(len(parts), func(i int) error {
		if err := r.canceled(); err != nil {
			return err
		}
		p := parts[i]
		c, _, err := p.of.Load(r.ctx, p.col, r.mem.room)
		p.seg.Chunks[p.col] = c
		return err
	})
}
