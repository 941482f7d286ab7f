package exec

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// sink is the Go side of a pipeline's end.
type sink interface {
	attach(w *worker) error // a worker begins: its context words are set
	grow(w *worker) error   // generated code asked for room
	morsel(w *worker) error // a morsel is done
	detach(w *worker)       // the worker is done with this pipeline
	finish() error          // all pipelines into this sink are done
	note() string           // for EXPLAIN ANALYZE
}

// rowsOf is what a finished sink holds.
func (r *run) rowsOf(s pipe.Sink) tuples.Rows {
	switch s := r.sinks[s].(type) {
	case *collectSink:
		return s.rows()
	case *groupSink:
		return s.all.Rows
	case *foldSink:
		return s.groups
	case *roundsSink:
		return s.all
	case *buildSink:
		return s.built.Rows
	}
	panic(fmt.Sprintf("no rows in %T", s))
}

func (r *run) newSink(s pipe.Sink, f *emit.Fragment) sink {
	switch s := s.(type) {
	case *pipe.Collect:
		return r.newCollect(s, f.Sink)
	case *pipe.Build:
		return &buildSink{r: r, s: s, tuple: f.Sink, workers: make([]*tuples.Buffer, r.Threads)}
	case *pipe.Aggregate:
		return r.newGroup(s, f.Group)
	case *pipe.Rounds:
		return r.newRounds(s, f.Sink)
	case *pipe.Fold:
		return &foldSink{collectSink: r.newCollect(&s.Collect, f.Sink), group: s.Group}
	case *pipe.Stage:
		return &stageSink{r: r, s: s, tuple: f.Sink, maxRows: f.MaxRows, workers: make([]*seam, r.Threads)}
	}
	return discardSink{}
}

// rowCount is the number of rows in a finished sink.
func (r *run) rowCount(s pipe.Sink) int64 {
	switch x := r.sinks[s].(type) {
	case *buildSink:
		return x.built.Table.Rows
	case *collectSink, *groupSink, *foldSink, *roundsSink:
		rows := r.rowsOf(s)
		return rows.Len()
	}
	return 1 // one that only sets flags
}

// release gives the memory of a sink back that nobody will read again.
func (r *run) release(s pipe.Sink) {
	switch s := r.sinks[s].(type) {
	case *buildSink:
		if s.built != nil {
			s.built.Release()
		}
	case *groupSink:
		s.all.Release(s.workers)
	}
}

// discardSink is for pipelines that only set match flags.
type discardSink struct{}

func (discardSink) attach(*worker) error { return nil }
func (discardSink) grow(*worker) error   { panic("a sink without room was asked to grow") }
func (discardSink) morsel(*worker) error { return nil }
func (discardSink) detach(*worker)       {}
func (discardSink) finish() error        { return nil }
func (discardSink) note() string         { return "" }
