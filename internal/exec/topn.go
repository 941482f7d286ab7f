package exec

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// newTop lets the sink keep only the best, if they are not too large.
func (s *collectSink) newTop() {
	if top := s.r.walk.Top(s.s, s.tuple.Size); top.Room > 0 {
		s.top = s.sorter.NewTopN(top.Rows, top.Room)
	}
}

// attachBest gives a worker its buffer.
func (s *collectSink) attachBest(c *collector, w *worker) (err error) {
	if c.best == nil {
		if c.best, c.buf.Cur, c.buf.End, err = s.top.NewBest(); err != nil {
			return err
		}
	}
	c.best.Adopt()
	c.best.ToContext(w.ctx, s.inOrder)
	return nil
}

// growBest drops all but the best of a full buffer.
func (s *collectSink) growBest(c *collector, w *worker) error {
	cur, err := c.best.Prune(c.buf.End, w.seq)
	if err != nil {
		return err
	}
	c.buf.Cur = cur
	c.best.ToContext(w.ctx, s.inOrder)
	c.buf.ToContext(w.ctx)
	return nil
}

// morselBest ends a morsel.
func (s *collectSink) morselBest(c *collector, w *worker) {
	c.buf.Cur = uintptr(mem.Load64(w.ctx + layout.CtxCur))
	c.best.Mark(c.buf.Cur, w.seq)
	c.best.Adopt()
	c.best.ToContext(w.ctx, s.inOrder)
}

// bestFirst uses what zone maps say of the first sort key: segments behind the bound are left out, and
// if most are behind the best one it is read first.
func (j *job) bestFirst(s *collectSink) {
	t, ok := j.p.Source.(*pipe.Table)
	if !ok {
		return
	}
	if slices.ContainsFunc(j.ranges, func(sp span) bool { return sp.lazy != nil }) {
		s.inOrder = false // workers may go back to a range
	}
	key := s.s.Keys[0]
	at := slices.Index(t.Scan.Cols, key.Col)
	if at < 0 || s.tuple.Find(int32(key.Col)).Desc.Form != layout.I64 {
		return
	}
	// best and worst are the values of a segment that come first and last.
	zone := func(sp *span) (best, worst int64, ok bool) {
		c := sp.seg.Chunks[t.Scan.Ordinal[at]]
		if c.Enc != column.EncInt || c.Zone.NullCount > 0 {
			return 0, 0, false
		}
		lo, hi := int64(c.Zone.Min.Int128().Lo), int64(c.Zone.Max.Int128().Lo)
		if key.Desc {
			return hi, lo, true
		}
		return lo, hi, true
	}
	after := func(x, y int64) bool { return x != y && (x > y) != key.Desc }
	j.behind = func(sp *span) bool {
		best, _, ok := zone(sp)
		return ok && after(best, s.top.FirstKey())
	}
	if len(j.ranges) < 2 {
		return
	}
	first, found := 0, true
	for i := range j.ranges {
		x, _, ok := zone(&j.ranges[i])
		y, _, _ := zone(&j.ranges[first])
		found = found && ok
		if after(y, x) {
			first = i
		}
	}
	n := 0
	_, worst, _ := zone(&j.ranges[first])
	for i := range j.ranges {
		if x, _, _ := zone(&j.ranges[i]); after(x, worst) {
			n++
		}
	}
	if !found || first == 0 || n < len(j.ranges)/2 {
		return
	}
	s.inOrder = false
	slices.SortStableFunc(j.ranges, func(a, b span) int {
		x, _, _ := zone(&a)
		y, _, _ := zone(&b)
		switch {
		case after(y, x):
			return -1
		case after(x, y):
			return 1
		}
		return 0
	})
}

// ranks is a copy of a dictionary's ranks outside of the Go heap.
func (r *run) ranks(d *column.Dict) (uintptr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, ok := r.rankTables[d]; ok {
		return a, nil
	}
	ranks := d.Ranks()
	a, err := r.mem.Alloc(4*len(ranks) + 8) // even the code of a NULL can be looked up
	if err != nil {
		return 0, err
	}
	copy(mem.Halves(a, len(ranks)), ranks)
	r.rankTables[d] = a
	return a, nil
}
