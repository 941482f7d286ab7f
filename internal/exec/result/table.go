package result

import (
	"context"
	"slices"
	"sort"
	"sync"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/work"
)

// Table are rows of a table as a result: the table's segments themselves, which a Reader copies from.
type Table struct {
	segs    []*catalog.Segment
	starts  []int64 // where each segment begins
	ordinal []int   // of each column in the table
	columns []Column
	offset  int64 // rows left out
	n       int64

	Stream catalog.Stream // not nil: where the segments come from …
	limit  int64          // … and how many rows are enough; < 0: all
}

// NewTable are columns of a table, limit rows of it (< 0: all) after offset.
func NewTable(snap *catalog.Snapshot, ordinal []int, offset, limit int64) *Table {
	out := &Table{ordinal: ordinal, offset: offset, Stream: snap.Stream, limit: limit}
	for _, ord := range ordinal {
		out.columns = append(out.columns, Column{Ordinal: ord})
	}
	var n int64
	for _, s := range snap.Segments {
		if s.Rows > 0 {
			out.segs, out.starts = append(out.segs, s), append(out.starts, n)
			n += int64(s.Rows)
		}
	}
	if out.n = max(n-offset, 0); limit >= 0 {
		out.n = min(out.n, limit)
	}
	return out
}

// at is the place of row pos, and how many of the n rows from it on are in the same segment.
func (t *Table) at(pos int64, n int) (*catalog.Segment, int, int) {
	n = int(min(int64(n), t.n-pos))
	if n <= 0 {
		return nil, 0, 0
	}
	pos += t.offset
	i := sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > pos }) - 1
	lo := int(pos - t.starts[i])
	return t.segs[i], lo, min(n, t.segs[i].Rows-lo)
}

// LoadAll loads the segments of files that the rows are in.
func (t *Table) LoadAll(ctx context.Context, team *work.Team, m *mem.Memory) error {
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
	return team.Parallel(len(parts), func(i int) error {
		if err := team.Canceled(); err != nil {
			return err
		}
		p := parts[i]
		c, _, err := p.of.Load(ctx, p.col, nil, m.Take)
		p.seg.Chunks[p.col] = c
		return err
	})
}

// ReadAll reads the segments of the stream that the rows come from.
func (t *Table) ReadAll(ctx context.Context, team *work.Team, m *mem.Memory) error {
	s, limit := t.Stream, t.limit
	type part struct {
		seg *catalog.Segment
		num int
	}
	var mu sync.Mutex
	var parts []part
	var rows int64
	if err := team.Parallel(team.Threads, func(int) error {
		for {
			mu.Lock()
			enough := limit >= 0 && rows >= t.offset+limit
			mu.Unlock()
			if enough || team.Stopped() {
				return nil
			}
			seg, num, err := s.Next(ctx, m)
			if seg == nil || err != nil {
				return err
			}
			mu.Lock()
			parts = append(parts, part{seg, num})
			rows += int64(seg.Rows)
			mu.Unlock()
		}
	}); err != nil {
		return err
	}
	slices.SortFunc(parts, func(a, b part) int { return a.num - b.num })
	rows = 0
	for _, p := range parts {
		t.segs, t.starts = append(t.segs, p.seg), append(t.starts, rows)
		rows += int64(p.seg.Rows)
	}
	if t.n = max(rows-t.offset, 0); limit >= 0 {
		t.n = min(t.n, limit)
	}
	return nil
}
