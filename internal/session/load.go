package session

import (
	"context"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// The rows of a result become segments of a table on all threads: each takes a part of the result, which is
// of a segment's size, and seals it. Parts are numbered, and so rows keep their order.

// fill appends a query's rows to a table.
func (s *Session) fill(ctx context.Context, table *catalog.Table, q *plan.Query, t Timing) (int64, Timing, error) {
	res, err := s.loadQuery(ctx, q, t)
	if err != nil {
		return 0, t, err
	}
	defer res.Close()
	n, _, err := s.append(ctx, table, res, nil)
	return n, res.Timing, err
}

// append appends a result's rows to a table, but for those that are there already, by some of its keys. It returns what was
// appended.
func (s *Session) append(ctx context.Context, table *catalog.Table, res *Result, ignore []int) (n int64, segs []*catalog.Segment, err error) {
	start := time.Now()
	defer func() { res.Timing.Exec += time.Since(start) }()
	segs, err = s.segments(ctx, table, res)
	if err != nil {
		return 0, nil, err
	}
	acct := res.exec.Account()
	for _, s := range segs {
		n += int64(s.Rows)
	}
	if len(ignore) > 0 {
		if err := s.acceptable(ctx, table, segs); err != nil { // also where there is a conflict
			return 0, nil, err
		}
		rows, err := table.Unconflicting(segs, ignore, acct)
		if err != nil {
			return 0, nil, err
		}
		if int64(len(rows)) < n {
			n = int64(len(rows))
			all := segs
			defer discard(all)
			if segs, err = table.Picked(all, rows, acct); err != nil {
				return 0, nil, err
			}
		}
	}
	if err := table.AppendFor(acct, segs...); err != nil {
		discard(segs)
		return 0, nil, err
	}
	return n, segs, nil
}

// discard gives the memory of segments back that no table has.
func discard(segs []*catalog.Segment) {
	for _, s := range segs {
		s.Discard()
	}
}

// segments seals the first columns of a result in the table's form. Of several errors it returns that of the first rows.
func (s *Session) segments(ctx context.Context, table *catalog.Table, res *Result) ([]*catalog.Segment, error) {
	m := &made{progress: s.Progress}
	if !res.exec.Streams() {
		m.total = res.Rows
	}
	work := func(next func(l *loader) bool) {
		l := &loader{ctx: ctx, table: table, sb: table.NewSegmentBuilder(), rows: firstWindow}
		l.sb.Stopped = diag.Stopped(ctx)
		l.sb.Account = res.exec.Account()
		defer l.sb.Close()
		for next(l) {
		}
	}
	threads := res.exec.Threads
	var next func(l *loader) bool
	switch {
	case res.exec.Streams() && len(res.exec.Cols) == len(table.Columns) && res.exec.SealsFor(table):
		next = func(*loader) bool {
			if m.moot(math.MaxInt) {
				return false
			}
			seg, num, err := res.exec.NextSealed(ctx)
			if err != nil {
				return m.put(math.MaxInt, nil, err) // the stream has chosen it among its own
			}
			return seg != nil && m.put(num, []*catalog.Segment{seg}, nil)
		}
	case res.exec.Streams():
		next = func(l *loader) bool {
			if m.moot(math.MaxInt) {
				return false
			}
			x, num, release, err := res.exec.Next(ctx)
			if err != nil {
				m.put(math.MaxInt, nil, err) // the stream has chosen it among its own
			}
			if x == nil {
				return false
			}
			defer release()
			l.read(x)
			segs, err := l.part(result.Part{Hi: x.Len()})
			return m.put(num, segs, err)
		}
	default:
		parts := res.exec.Parts(column.SegmentRows)
		threads = min(threads, len(parts))
		var taken atomic.Int64
		next = func(l *loader) bool {
			i := int(taken.Add(1)) - 1
			if i >= len(parts) || m.moot(i) {
				return false
			}
			l.read(res.exec)
			segs, err := l.part(parts[i])
			return m.put(i, segs, err)
		}
	}
	var wg sync.WaitGroup
	for range threads - 1 {
		wg.Go(func() { work(next) })
	}
	work(next)
	wg.Wait()
	return m.result()
}

// made is the segments of numbered parts.
type made struct {
	mu    sync.Mutex
	parts map[int][]*catalog.Segment
	err   error
	at    int // the part of err
	// rows are sealed, of so many, if that is known.
	rows, total int64
	progress    func(stage string, done, total, rows int64) // nil: nobody asks
}

// put stores what became of a part, and reports whether to go on.
func (m *made) put(part int, segs []*catalog.Segment, err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		if m.err == nil || part < m.at {
			m.err, m.at = err, part
		}
		return false
	}
	if m.parts == nil {
		m.parts = map[int][]*catalog.Segment{}
	}
	m.parts[part] = segs
	for _, s := range segs {
		m.rows += int64(s.Rows)
	}
	if m.progress != nil {
		m.progress("loading", m.rows, m.total, m.rows)
	}
	return true
}

// moot reports that a part before this one has failed.
func (m *made) moot(part int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err != nil && m.at < part
}

// result is all segments in order.
func (m *made) result() (segs []*catalog.Segment, err error) {
	for _, i := range slices.Sorted(maps.Keys(m.parts)) {
		segs = append(segs, m.parts[i]...)
	}
	if m.err != nil {
		discard(segs)
		return nil, m.err
	}
	return segs, nil
}

// loader is what a thread needs to make segments.
type loader struct {
	ctx   context.Context
	table *catalog.Table
	x     *result.Result
	rd    *result.Reader
	sb    *catalog.SegmentBuilder
	rows  int // of the next window
}

// A window has as many rows as are quick to copy and not too much to have twice; how large they are is seen from the last.
const (
	firstWindow = 256
	mostWindow  = 16 << 10
	windowBytes = 4 << 20
)

// read makes the loader read a result.
func (l *loader) read(x *result.Result) {
	if l.x != x {
		l.x, l.rd = x, x.NewReader()
	}
}

// part seals the rows of a part: more than one segment, if it is a large one of a file.
func (l *loader) part(p result.Part) (segs []*catalog.Segment, err error) {
	defer diag.Recover("load", &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // rows lie outside of the Go heap
	release, err := l.x.Load(l.ctx, p)
	if err != nil {
		return nil, err
	}
	defer release()
	defer func() {
		if err != nil {
			discard(segs)
			segs = nil
		}
	}()
	l.sb.Reset()
	for lo := p.Lo; lo < p.Hi; {
		hi := min(p.Hi, lo+column.SegmentRows)
		for lo < hi && !l.sb.Large() {
			n, err := l.window(lo, int(min(hi-lo, int64(l.rows))))
			if err != nil {
				return segs, err
			}
			lo += int64(n)
		}
		seg, err := l.table.Seal(l.sb)
		if err != nil {
			return segs, err
		}
		segs = append(segs, seg)
	}
	return segs, nil
}

// window appends some rows to the segment and returns how many.
func (l *loader) window(lo int64, n int) (int, error) {
	before := l.sb.Size()
	n = l.rd.Window(lo, n)
	for i := range l.table.Columns {
		if l.ctx.Err() != nil {
			return 0, diag.Canceled(l.ctx)
		}
		if err := l.column(i); err != nil {
			return 0, err
		}
	}
	perRow := (l.sb.Size() - before) / int64(max(n, 1))
	l.rows = max(min(8*l.rows, mostWindow, int(windowBytes/max(perRow, 1))), 1)
	return n, l.sb.Count()
}

// column appends a column of the window to the segment.
func (l *loader) column(i int) error {
	def := &l.table.Columns[i]
	if n := int(def.Type.Len); n == 0 || l.rd.Fits(i, n) {
		l.rd.AppendTo(i, l.sb.Cols[i])
		return nil
	}
	rec := &columnReceiver{b: l.sb.Cols[i], t: def.Type}
	l.rd.Column(i, rec)
	return rec.err
}

// columnReceiver appends a result's column to a column builder, held to VARCHAR(n).
type columnReceiver struct {
	b   *column.Builder
	t   types.Type
	err error
}

func (c *columnReceiver) Null()               { c.b.AppendNull() }
func (c *columnReceiver) Int(x int64)         { c.b.AppendInt(x) }
func (c *columnReceiver) Wide(x types.Int128) { c.b.AppendI128(x) }
func (c *columnReceiver) Float(x float64)     { c.b.AppendFloat(x) }
func (c *columnReceiver) Interval(months, days int32, micros int64) {
	c.b.AppendInterval(months, days, micros)
}

func (c *columnReceiver) Text(x []byte) {
	if c.t.Len > 0 && len(x) > int(c.t.Len) {
		v := types.TextValue(string(x))
		w, err := types.Assign(v, c.t)
		if err != nil {
			if c.err == nil {
				c.err = at(err, -1)
			}
		}
		x = []byte(w.S)
	}
	c.b.AppendBytes(x)
}
