package exec

import (
	"cmp"
	"slices"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/windows"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// collectSink keeps tuples in the order of the morsels that made them, so that the result
// does not depend on the number of threads; then it sorts and cuts.
type collectSink struct {
	r       *run
	s       *pipe.Collect
	tuple   *layout.Tuple
	workers []*collector
	sorter  *sorting.Sorter // where there are keys
	top     *sorting.TopN   // only the first rows are wanted
	inOrder bool            // a worker's morsels come in the order of the rows
	out     tuples.Rows

	delivery *delivery // takes the rows; nil: they stay here
}

// collector is one worker's part: its buffer, and which pieces belong to which morsel.
type collector struct {
	buf   tuples.Buffer
	marks []mark
	best  *sorting.Best // top-N
}

// mark says that pieces from the given one on belong to morsel seq.
type mark struct {
	seq    int64
	pieces []tuples.Piece
}

func (r *run) newCollect(s *pipe.Collect, tuple *layout.Tuple) *collectSink {
	c := &collectSink{r: r, s: s, tuple: tuple, workers: make([]*collector, r.Threads), inOrder: true}
	if len(s.Keys) > 0 {
		c.sorter = sorting.New(tuple, s.Keys, sorting.Options{Team: r.team, Mem: r.mem, View: r.view,
			NoRadix: r.Off.RadixSort, NoBare: r.Off.BareSort})
		c.newTop()
	}
	if r.delivers(s) {
		c.delivery = r.newDelivery()
	}
	return c
}

func (s *collectSink) attach(w *worker) error {
	c := s.workers[w.id]
	if c == nil {
		c = &collector{buf: tuples.NewBuffer(s.r.mem, s.tuple.Size)}
		s.workers[w.id] = c
	}
	if s.top != nil {
		if err := s.attachBest(c, w); err != nil {
			return err
		}
	} else if s.sorter != nil {
		mem.Store64(w.ctx+layout.CtxFirst, uint64(s.sorter.FirstBound(0)))
	}
	c.buf.ToContext(w.ctx)
	return nil
}

func (s *collectSink) grow(w *worker) error {
	c := s.workers[w.id]
	switch {
	case s.top != nil:
		return s.growBest(c, w)
	case s.delivery != nil && c.buf.Large():
		return s.deliver(w, false)
	}
	return c.buf.GrowFrom(w.ctx)
}

func (s *collectSink) morsel(w *worker) error {
	c := s.workers[w.id]
	if s.top != nil {
		s.morselBest(c, w)
		return nil
	}
	if s.delivery != nil {
		return s.deliver(w, true)
	}
	c.buf.Cut(uintptr(mem.Load64(w.ctx + layout.CtxCur)))
	if len(c.buf.Pieces) == 0 {
		return nil
	}
	c.marks = append(c.marks, mark{w.seq, c.buf.Pieces})
	if w.j.limit >= 0 {
		w.j.feed.mu.Lock()
		for _, p := range c.buf.Pieces {
			w.j.feed.got += int64(p.N)
		}
		w.j.feed.mu.Unlock()
	}
	c.buf.Pieces = nil
	return nil
}

func (s *collectSink) detach(*worker) {}

func (s *collectSink) finish() error {
	var marks []mark
	for _, c := range s.workers {
		switch {
		case c == nil:
		case c.best != nil:
			c.best.Morsels(func(seq int64, p tuples.Piece) {
				marks = append(marks, mark{seq, []tuples.Piece{p}})
			})
		default:
			marks = append(marks, c.marks...)
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.seq, b.seq) })
	s.out = tuples.Rows{Tuple: s.tuple}
	for _, m := range marks {
		for _, p := range m.pieces {
			s.out.Pieces = s.appended(s.out.Pieces, p)
		}
	}
	if len(s.s.Keys) > 0 {
		if err := s.sorter.Sort(&s.out, phys.Wanted(s.s, s.out.Len())); err != nil {
			return err
		}
	}
	s.out.Cut(s.s.Offset, s.s.Limit)
	if w := s.s.Window; w != nil {
		return windows.Compute(w, &s.out, windows.Options{Team: s.r.team, Mem: s.r.mem, View: s.r.view, Zero: s.r.zero, NoRadix: s.r.Off.RadixSort, Release: s.release})
	}
	return nil
}

// appended adds a piece, or makes the last longer if it follows it in one chunk.
func (s *collectSink) appended(list []tuples.Piece, p tuples.Piece) []tuples.Piece {
	if k := len(list); k > 0 {
		if last := &list[k-1]; last.Addr+uintptr(last.N*s.tuple.Size) == p.Addr {
			last.N += p.N
			return list
		}
	}
	return append(list, p)
}

// release gives the memory of the workers' tuples back.
func (s *collectSink) release() {
	for i, c := range s.workers {
		if c != nil {
			c.buf.Release()
			s.workers[i] = nil
		}
	}
}

func (s *collectSink) rows() tuples.Rows { return s.out }

func (s *collectSink) note() string {
	if s.delivery != nil {
		return plural(s.delivery.rows, "row") + ", delivered"
	}
	return plural(s.out.Len(), "row")
}
