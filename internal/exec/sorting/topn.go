package sorting

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Top-N: a worker keeps its tuples in one buffer, a few times as large as the result. Whenever it is full,
// all but the best are dropped; the worst of these is the bound, and generated code drops rows that are not
// better before they are written. Workers tell each other their bounds.

// TopN finds the first rows in the sorter's order among those of all workers.
type TopN struct {
	s    *Sorter
	rows int // wanted
	room int // tuples in a worker's buffer

	mu    sync.Mutex
	bound uintptr      // the best of the workers' bounds, 0: none yet
	first atomic.Int64 // its first key, see FirstBound
}

// Best is a worker's buffer.
type Best struct {
	t      *TopN
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

// NewTopN keeps so many rows; workers have room for more.
func (s *Sorter) NewTopN(rows, room int64) *TopN {
	t := &TopN{s: s, rows: int(rows), room: int(room)}
	t.first.Store(s.FirstBound(0))
	return t
}

// FirstKey is the first key of the best bound so far, as FirstBound tells it: rows whose key comes later are not wanted.
func (t *TopN) FirstKey() int64 { return t.first.Load() }

// NewBest is another worker's buffer: from start to end.
func (t *TopN) NewBest() (b *Best, start, end uintptr, err error) {
	size := t.room * t.s.tuple.Size
	a, err := t.s.Mem.Take(size)
	return &Best{t: t, start: a}, a, a + uintptr(size), err
}

// Adopt takes another worker's bound if it is better.
func (b *Best) Adopt() {
	t := b.t
	t.mu.Lock()
	if t.bound != 0 && (b.bound == 0 || t.s.Compare(t.bound, b.bound) < 0) {
		b.bound, b.shared = t.bound, true
	}
	t.mu.Unlock()
}

// ToContext tells generated code. inOrder: the worker's morsels come in the order of the rows, so that what equals
// its own bound comes after as many rows as are wanted; of another's bound that is not known.
func (b *Best) ToContext(ctx uintptr, inOrder bool) {
	mem.Store64(ctx+layout.CtxBound, uint64(b.bound))
	tie := uint64(0)
	if !b.shared && inOrder {
		tie = 1
	}
	mem.Store64(ctx+layout.CtxTie, tie)
	mem.Store64(ctx+layout.CtxFirst, uint64(b.t.s.FirstBound(b.bound)))
}

// FirstBound is the first key of a bound as a number by which rows can be dropped; without one, it drops none.
func (s *Sorter) FirstBound(bound uintptr) int64 {
	k := &s.keys[0]
	switch {
	case bound != 0 && k.f.Desc.Form == layout.I64 && !k.isNull(bound):
		return int64(tuples.WordOf(k.f).Load(bound))
	case k.desc:
		return math.MinInt64
	}
	return math.MaxInt64
}

// Prune keeps the best tuples of those before cur, and returns where the next goes. The tuples
// behind the last mark are of morsel seq.
func (b *Best) Prune(cur uintptr, seq int64) (uintptr, error) {
	t, s := b.t, b.t.s
	size := uintptr(s.tuple.Size)
	n := int((cur - b.start) / size)
	if n <= t.rows {
		return cur, nil
	}
	es, release, err := items[entry](s.Mem, n)
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
	if err := s.sortEntries(es); err != nil {
		return 0, err
	}
	es = es[:t.rows]
	if t.rows > 0 {
		if err := b.tell(es[t.rows-1].addr); err != nil {
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
func (b *Best) tell(a uintptr) error {
	t, s := b.t, b.t.s
	if b.bound != 0 && s.Compare(a, b.bound) >= 0 {
		return nil
	}
	mine, err := s.Mem.Alloc(s.tuple.Size)
	if err != nil {
		return err
	}
	tuples.Copy(mine, a, s.tuple.Size)
	b.bound, b.shared = mine, false
	t.mu.Lock()
	if t.bound == 0 || s.Compare(mine, t.bound) < 0 {
		t.bound = mine
		t.first.Store(s.FirstBound(mine))
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
func (b *Best) inOrder(n int, seq int64) []stretch {
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

// Mark ends morsel seq at cur.
func (b *Best) Mark(cur uintptr, seq int64) {
	end := int((cur - b.start) / uintptr(b.t.s.tuple.Size))
	if n := len(b.ends); end > 0 && (n == 0 || b.ends[n-1].end < end) {
		b.ends = append(b.ends, bestMark{seq, end})
	}
}

// Morsels calls f with the buffer's tuples by morsel, for the end.
func (b *Best) Morsels(f func(seq int64, p tuples.Piece)) {
	size := uintptr(b.t.s.tuple.Size)
	at := 0
	for _, m := range b.ends {
		if m.end > at {
			f(m.seq, tuples.Piece{Addr: b.start + uintptr(at)*size, N: m.end - at})
			at = m.end
		}
	}
}
