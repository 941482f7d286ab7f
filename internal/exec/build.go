package exec

import (
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// buildSink collects a join's build side and organizes it for probing. Which way is decided
// from the tuples themselves: are the keys dense integers, are they unique?
type buildSink struct {
	r       *run
	s       *pipe.Build
	tuple   *layout.Tuple
	workers []*tuples.Buffer
	sawNull bool
	all     tuples.Rows
	table   *layout.Table
	ranges  map[int][2]int64 // of keys, as far as they were looked at
	filters map[int]*keyFilter
}

func (s *buildSink) attach(w *worker) error {
	b := s.workers[w.id]
	if b == nil {
		first := tuples.NewBuffer(s.r.mem, s.tuple.Size)
		b = &first
		s.workers[w.id] = b
	}
	b.ToContext(w.ctx)
	return nil
}

func (s *buildSink) grow(w *worker) error { return s.workers[w.id].GrowFrom(w.ctx) }

func (s *buildSink) morsel(*worker) error { return nil }

func (s *buildSink) detach(w *worker) {
	s.workers[w.id].Cut(uintptr(mem.Load64(w.ctx + layout.CtxCur)))
	if mem.Load64(w.ctx+layout.CtxNullKey) != 0 {
		s.r.mu.Lock()
		s.sawNull = true
		s.r.mu.Unlock()
	}
}

func (s *buildSink) note() string {
	return s.table.Kind.String() + " table, " + plural(s.table.Rows, "row")
}

// finish makes the table.
func (s *buildSink) finish() error {
	s.filters, s.ranges = map[int]*keyFilter{}, map[int][2]int64{}
	s.all = tuples.Rows{Tuple: s.tuple}
	for _, b := range s.workers {
		if b != nil {
			s.all.Pieces = append(s.all.Pieces, b.Pieces...)
		}
	}
	t := &layout.Table{Tuple: s.tuple, Rows: s.all.Len(), SawNull: s.sawNull}
	s.table = t
	s.r.tables[s.s] = t
	if len(s.s.Keys) == 0 {
		t.Kind = layout.List
		return s.contiguous()
	}
	f := &s.tuple.Fields[0]
	if len(s.s.Keys) == 1 && f.Desc.Form == layout.I64 && f.Null < 0 && !s.r.Off.DirectTables {
		if done, err := s.dense(f); done || err != nil {
			return err
		}
	}
	if done, err := s.open(); done || err != nil {
		return err
	}
	return s.buckets()
}

// alone reports that one thread does the work: it is not worth to be shared.
func (s *buildSink) alone() bool { return s.r.Threads == 1 || s.table.Rows < 1<<15 }

// contiguous moves all tuples into one array.
func (s *buildSink) contiguous() error {
	if len(s.all.Pieces) == 1 {
		s.table.Tuples = s.all.Pieces[0].Addr
		return nil
	}
	n, size := int(s.all.Len()), s.tuple.Size
	a, err := s.r.mem.Take(n*size + 64)
	if err != nil {
		return err
	}
	at := make([]uintptr, len(s.all.Pieces))
	to := a
	for i, p := range s.all.Pieces {
		at[i] = to
		to += uintptr(p.N * size)
	}
	err = s.r.team.Parallel(len(at), func(i int) error {
		p := s.all.Pieces[i]
		copy(mem.Bytes(at[i], p.N*size), mem.Bytes(p.Addr, p.N*size))
		return nil
	})
	s.replace(a, n)
	return err
}

// replace makes the array at a the home of all tuples; where they were is given back.
func (s *buildSink) replace(a uintptr, n int) {
	s.table.Tuples = a
	s.all.Pieces = nil
	if n > 0 {
		s.all.Pieces = []tuples.Piece{{Addr: a, N: n}}
	}
	for i, b := range s.workers {
		if b != nil {
			b.Release()
			s.workers[i] = nil
		}
	}
}
