package file

import (
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/types"
)

// collector takes the results of goroutines that work on numbered pieces. The error that
// counts is that of the first piece in order, so that a file with two mistakes has one error message.
type collector struct {
	progress func(done, total, rows int64)
	total    int64

	mu   sync.Mutex
	segs [][]*catalog.Segment
	rows int64 // of all segments
	err  error
	at   int // the piece of err
}

func newCollector(opts LoadOptions, total int64) *collector {
	return &collector{progress: opts.Progress, total: total}
}

// put stores the segments of a piece.
func (c *collector) put(piece int, segs []*catalog.Segment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := piece + 1 - len(c.segs); n > 0 {
		c.segs = append(c.segs, make([][]*catalog.Segment, n)...)
	}
	c.segs[piece] = segs
	for _, s := range segs {
		c.rows += int64(s.Rows)
	}
}

// fail records the error of a piece.
func (c *collector) fail(piece int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || piece < c.at {
		c.err, c.at = err, piece
	}
}

// moot reports that a piece before this one has failed.
func (c *collector) moot(piece int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil && c.at < piece
}

// report tells the progress.
func (c *collector) report(done int64) {
	if c.progress == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	total := max(c.total, 1) // a stream does not tell
	c.progress(min(done, total), total, c.rows)
}

// result is all segments in order.
func (c *collector) result() ([]*catalog.Segment, error) {
	if c.err != nil {
		discard(slices.Concat(c.segs...))
		return nil, c.err
	}
	return slices.Concat(c.segs...), nil
}

// discard gives the memory of segments back that no table has.
func discard(segs []*catalog.Segment) {
	for _, s := range segs {
		if s != nil {
			s.Discard()
		}
	}
}

// appendDefaults completes the columns that the source does not have.
func appendDefaults(sb *catalog.SegmentBuilder, cols []int, defaults []types.Value, rows int) {
	for _, c := range cols {
		b := sb.Cols[c]
		for b.Len() < rows {
			if defaults == nil {
				b.AppendNull()
			} else {
				b.Append(defaults[c])
			}
		}
	}
}

// unmapped is the table's columns that a mapping leaves out.
func unmapped(table *catalog.Table, mapping []int) (out []int) {
	for i := range table.Columns {
		if !slices.Contains(mapping, i) {
			out = append(out, i)
		}
	}
	return out
}
