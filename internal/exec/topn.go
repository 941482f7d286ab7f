package exec

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Top-N: a worker keeps its tuples in one buffer, a few times as large as the result. Whenever it is full,
// all but the best are dropped; the worst of these is the bound, and generated code drops rows that are not
// better before they are written. Workers tell each other their bounds.

const (
	bestRows  = 1 << 11  // tuples of a buffer at least
	bestTimes = 4        // of the result's rows
	bestBytes = 32 << 20 // of a buffer at most; results that are larger are sorted as a whole
)

// topN is the part of a collect sink that wants only its first rows.
type topN struct {
	rows int // wanted
	room int // tuples in a worker's buffer

	mu    sync.Mutex
	bound uintptr      // the best of the workers' bounds, 0: none yet
	first atomic.Int64 // its first key, see firstBound
}

// best is a worker's buffer.
type best struct {
	start  uintptr
	ends   []bestMark // of morsels that are done
	bound  uintptr    // the tuple by which generated code drops rows, 0: none yet
	shared bool       // it came from another worker
}

// bestMark says that the tuples before number end, and not before the last mark's, are of morsel seq.
type bestMark struct {
	seq int64
	end int
}

// topN reports a sink that wants only its first rows in order.
func (o *Options) topN(s pipe.Sink) bool {
	c, ok := s.(*pipe.Collect)
	if !ok || len(c.Keys) == 0 || c.Limit < 0 || o.Off.TopN {
		return false
	}
	want := c.Limit + c.Offset
	return want >= 0 && want <= bestBytes/(8*bestTimes)
}

// newTopN lets the sink keep only the best, if they are not too large.
func (s *collectSink) newTopN() {
	if !s.r.Options.topN(s.s) || s.r.gpu != nil {
		return
	}
	want := s.s.Limit + s.s.Offset
	room := max(int(want)*bestTimes, bestRows)
	if room*s.tuple.Size <= bestBytes {
		s.top = &topN{rows: int(want), room: room}
		s.top.first.Store(s.sorter.keys[0].firstBound(0))
	}
}

func (t *topN) attach(s *collectSink, c *collector, w *worker) error {
	if c.best == nil {
		a, err := s.r.mem.Take(t.room * s.tuple.Size)
		if err != nil {
			return err
		}
		c.best = &best{start: a}
		c.buf.Cur, c.buf.End = a, a+uintptr(t.room*s.tuple.Size)
	}
	c.best.adopt(s, w)
	return nil
}

// adopt takes another worker's bound if it is better.
func (b *best) adopt(s *collectSink, w *worker) {
	t := s.top
	t.mu.Lock()
	if t.bound != 0 && (b.bound == 0 || s.sorter.compare(t.bound, b.bound) < 0) {
		b.bound, b.shared = t.bound, true
	}
	t.mu.Unlock()
	b.toContext(s, w)
}

// toContext tells generated code. What equals a worker's own bound comes after as many rows as are
// wanted; of another's bound that is not known.
func (b *best) toContext(s *collectSink, w *worker) {
	mem.Store64(w.ctx+layout.CtxBound, uint64(b.bound))
	tie := uint64(0)
	if !b.shared && s.inOrder {
		tie = 1
	}
	mem.Store64(w.ctx+layout.CtxTie, tie)
	mem.Store64(w.ctx+layout.CtxFirst, uint64(s.sorter.keys[0].firstBound(b.bound)))
}

// firstBound is the key of a bound as a number by which rows can be dropped; without one, it drops none.
func (k *sortKey) firstBound(bound uintptr) int64 {
	switch {
	case bound != 0 && k.f.Desc.Form == layout.I64 && !k.isNull(bound):
		return int64(tuples.WordOf(k.f).Load(bound))
	case k.desc:
		return math.MinInt64
	}
	return math.MaxInt64
}

// prune keeps the best tuples of those before cur, and returns where the next goes. The tuples
// behind the last mark are of morsel seq.
func (t *topN) prune(s *collectSink, b *best, cur uintptr, seq int64) (uintptr, error) {
	size := uintptr(s.tuple.Size)
	n := int((cur - b.start) / size)
	if n <= t.rows {
		return cur, nil
	}
	es, release, err := items[entry](s.r.mem, n)
	if err != nil {
		return 0, err
	}
	defer release()
	// In the order of the morsels, so that ties go to the earlier ones.
	k := 0
	for _, m := range b.inOrder(n, seq) {
		for i := m.begin; i < m.end; i++ {
			es[k].addr = b.start + uintptr(i)*size
			k++
		}
	}
	if err := s.sorter.sort(es); err != nil {
		return 0, err
	}
	es = es[:t.rows]
	if t.rows > 0 {
		if err := t.tell(s, b, es[t.rows-1].addr); err != nil {
			return 0, err
		}
	}
	// The survivors move down in the order in which they lie.
	slices.SortFunc(es, func(x, y entry) int { return cmp.Compare(x.addr, y.addr) })
	m := 0
	for i, e := range es {
		for m < len(b.ends) && int((e.addr-b.start)/size) >= b.ends[m].end {
			b.ends[m].end = i
			m++
		}
		if to := b.start + uintptr(i)*size; to != e.addr {
			tuples.Copy(to, e.addr, s.tuple.Size)
		}
	}
	for ; m < len(b.ends); m++ {
		b.ends[m].end = len(es)
	}
	b.ends = slices.CompactFunc(b.ends, func(x, y bestMark) bool { return x.end == y.end }) // nothing is left of the later
	return b.start + uintptr(len(es))*size, nil
}

// tell makes the tuple at a the worker's bound, and everybody's if none is better.
func (t *topN) tell(s *collectSink, b *best, a uintptr) error {
	if b.bound != 0 && s.sorter.compare(a, b.bound) >= 0 {
		return nil
	}
	mine, err := s.r.mem.Alloc(s.tuple.Size)
	if err != nil {
		return err
	}
	tuples.Copy(mine, a, s.tuple.Size)
	b.bound, b.shared = mine, false
	t.mu.Lock()
	if t.bound == 0 || s.sorter.compare(mine, t.bound) < 0 {
		t.bound = mine
		t.first.Store(s.sorter.keys[0].firstBound(mine))
	}
	t.mu.Unlock()
	return nil
}

// stretch is the tuples of one morsel.
type stretch struct {
	seq        int64
	begin, end int
}

// inOrder lists the morsels whose tuples are in the buffer; those behind the last mark are of morsel seq.
func (b *best) inOrder(n int, seq int64) []stretch {
	var out []stretch
	at := 0
	for _, m := range append(b.ends[:len(b.ends):len(b.ends)], bestMark{seq, n}) {
		if m.end > at {
			out = append(out, stretch{m.seq, at, m.end})
			at = m.end
		}
	}
	slices.SortStableFunc(out, func(x, y stretch) int { return cmp.Compare(x.seq, y.seq) })
	return out
}

// grow makes room.
func (t *topN) grow(s *collectSink, c *collector, w *worker) error {
	cur, err := t.prune(s, c.best, c.buf.End, w.seq)
	if err != nil {
		return err
	}
	c.buf.Cur = cur
	c.best.toContext(s, w)
	return nil
}

// morsel ends a morsel at cur.
func (t *topN) morsel(s *collectSink, c *collector, w *worker) {
	c.buf.Cur = uintptr(mem.Load64(w.ctx + layout.CtxCur))
	b := c.best
	end := int((c.buf.Cur - b.start) / uintptr(s.tuple.Size))
	if n := len(b.ends); end > 0 && (n == 0 || b.ends[n-1].end < end) {
		b.ends = append(b.ends, bestMark{w.seq, end})
	}
	b.adopt(s, w)
}

// marks are the buffer's tuples by morsel, for the end.
func (b *best) marks(s *collectSink) []mark {
	var out []mark
	size := uintptr(s.tuple.Size)
	at := 0
	for _, m := range b.ends {
		if m.end == at {
			continue
		}
		out = append(out, mark{m.seq, []tuples.Piece{{Addr: b.start + uintptr(at)*size, N: m.end - at}}})
		at = m.end
	}
	return out
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
		return ok && after(best, s.top.first.Load())
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
