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
	cols   []int
	chunks []*column.Chunk
	blocks []uintptr // memory of each chunk that can be given back with the last row; 0: stays

	once    sync.Once
	steps   []loading    // one behind the other
	need    catalog.Need // rows of the last step; nil: all
	nothing bool         // no row is needed, and no column of the last step is there
	rows    atomic.Int64 // not processed yet

	mu  sync.Mutex
	err error
}

// loading is columns that are loaded at the same time.
type loading struct {
	cols  []int         // those that take longest first
	next  atomic.Int32  // column to load
	left  atomic.Int32  // columns not loaded yet
	ready chan struct{} // closed when all are
}

func newLazy(seg *catalog.Segment, ordinals []int) *lazy {
	l := &lazy{seg: seg, cols: slices.Clone(ordinals)}
	slices.Sort(l.cols)
	l.cols = slices.Compact(l.cols)
	l.chunks = make([]*column.Chunk, len(seg.Chunks))
	l.blocks = make([]uintptr, len(seg.Chunks))
	l.rows.Store(int64(seg.Rows))
	return l
}

// begin decides what is loaded first.
func (l *lazy) begin(j *job, num int) {
	l.steps = make([]loading, 1, 2)
	first, rest, ok := j.sift.split(l.seg, l.cols, num)
	if l.steps[0].cols = l.cols; ok {
		l.steps = l.steps[:2]
		l.steps[0].cols, l.steps[1].cols = first, rest
	}
	for i := range l.steps {
		s := &l.steps[i]
		slices.SortStableFunc(s.cols, func(a, b int) int { return int(l.seg.Loader.Cost(b) - l.seg.Loader.Cost(a)) })
		s.left.Store(int32(len(s.cols)))
		if s.ready = make(chan struct{}); len(s.cols) == 0 {
			close(s.ready)
		}
	}
}

// load loads what nobody else is loading and waits for the rest.
func (l *lazy) load(w *worker, sp *span) error {
	l.once.Do(func() { l.begin(w.j, sp.num) })
	for i := range l.steps {
		s := &l.steps[i]
		for {
			k := int(s.next.Add(1)) - 1
			if k >= len(s.cols) {
				break
			}
			l.column(w, s.cols[k])
			if s.left.Add(-1) != 0 {
				continue
			}
			if i+1 < len(l.steps) && !l.failed() && !w.r.team.Stopped() {
				l.need = w.j.sift.need(w, sp)
				l.nothing = !l.need.Any(0, int64(sp.rows))
			}
			close(s.ready)
		}
		<-s.ready
		if l.nothing || l.failed() {
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *lazy) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err != nil
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
	}()
	defer diag.Recover("load", &err)
	if w.r.team.Stopped() {
		return
	}
	var block uintptr
	c, kept, err := l.seg.Loader.Load(w.r.ctx, col, l.need, func(size int) (addr uintptr, err error) {
		block, err = w.r.mem.Take(size)
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
			w.r.mem.Free(b)
		}
		l.chunks[i], l.blocks[i] = nil, 0
	}
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
