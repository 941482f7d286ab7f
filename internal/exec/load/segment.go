package load

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/work"
)

// Segments of files have no data when a pipeline starts. The worker that takes the first rows of one
// loads its columns; others that come to it help, a column each. When the last row has been
// processed, the memory goes to the next segment, so that a scan of any size takes little. Only texts
// that may be pointed to by tuples stay until the query ends.

// Segment is the data of a segment while a pipeline needs it.
type Segment struct {
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

// NewSegment is a segment of a file of which the given columns will be read.
func NewSegment(seg *catalog.Segment, ordinals []int) *Segment {
	l := &Segment{seg: seg, cols: slices.Clone(ordinals)}
	slices.Sort(l.cols)
	l.cols = slices.Compact(l.cols)
	l.chunks = make([]*column.Chunk, len(seg.Chunks))
	l.blocks = make([]uintptr, len(seg.Chunks))
	l.rows.Store(int64(seg.Rows))
	return l
}

// Loader is what loads the columns of a pipeline's segments.
type Loader struct {
	Ctx   context.Context
	Team  *work.Team
	Mem   *mem.Memory
	Keep  func(any)          // must not be collected before the query ends
	Stay  func(col int) bool // texts of a column must stay when the rows have been processed
	Again bool               // rows will be processed once more: nothing is given back
	Sieve *Sieve             // what tells the columns that are loaded first; nil: all are
}

// begin decides what is loaded first.
func (l *Segment) begin(d *Loader, num int) {
	l.steps = make([]loading, 1, 2)
	first, rest, ok := d.Sieve.split(l.seg, l.cols, num)
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

// Load loads what nobody else is loading and waits for the rest. The segment is number num of its source; need finds the
// rows that pass by the columns that are loaded first, and whether any of those that will be read does.
func (l *Segment) Load(d *Loader, num int, need func() (rows catalog.Need, some bool)) error {
	l.once.Do(func() { l.begin(d, num) })
	for i := range l.steps {
		s := &l.steps[i]
		for {
			k := int(s.next.Add(1)) - 1
			if k >= len(s.cols) {
				break
			}
			l.column(d, s.cols[k])
			if s.left.Add(-1) != 0 {
				continue
			}
			if i+1 < len(l.steps) && !l.failed() && !d.Team.Stopped() {
				var some bool
				l.need, some = need()
				l.nothing = !some
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

func (l *Segment) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err != nil
}

func (l *Segment) column(d *Loader, col int) {
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
	if d.Team.Stopped() {
		return
	}
	var block uintptr
	c, kept, err := l.seg.Loader.Load(d.Ctx, col, l.need, func(size int) (addr uintptr, err error) {
		block, err = d.Mem.Take(size)
		return block, err
	})
	if err != nil {
		return
	}
	l.chunks[col] = c
	switch {
	case kept:
		d.Keep(c)
	case c.Enc != column.EncStr || !d.Stay(col):
		l.blocks[col] = block
	}
}

// Done notes that rows have been processed.
func (l *Segment) Done(d *Loader, rows int) {
	if l.rows.Add(-int64(rows)) != 0 || d.Again {
		return
	}
	for i, b := range l.blocks {
		if b != 0 {
			d.Mem.Free(b)
		}
		l.chunks[i], l.blocks[i] = nil, 0
	}
}

// EachNeeded calls f on those of the rows lo to hi that are loaded.
func (l *Segment) EachNeeded(lo, hi int, f func(lo, hi int) error) error {
	if l.need == nil {
		return f(lo, hi)
	}
	return l.need.Each(lo, hi, f)
}

// Empty reports that no row is needed, once it is loaded.
func (l *Segment) Empty() bool { return l.nothing }

// Chunk is a column that is loaded.
func (l *Segment) Chunk(col int) *column.Chunk { return l.chunks[col] }
