package exec

import (
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tables"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// buildSink collects a join's build side, which a builder then organizes for probing.
type buildSink struct {
	r       *run
	s       *pipe.Build
	tuple   *layout.Tuple
	workers []*tuples.Buffer
	sawNull bool
	built   *tables.Builder // once all tuples are there
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
	return s.built.Table.Kind.String() + " table, " + plural(s.built.Table.Rows, "row")
}

// finish makes the table.
func (s *buildSink) finish() (err error) {
	s.built, err = tables.Build(tables.Options{Team: s.r.team, Mem: s.r.mem, Tuple: s.tuple, Keys: len(s.s.Keys), SawNull: s.sawNull,
		NoDirect: s.r.Off.DirectTables}, s.workers)
	if err == nil {
		s.r.walk.Tables[s.s] = s.built.Table
	}
	return err
}
