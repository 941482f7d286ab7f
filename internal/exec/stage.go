package exec

import (
	"github.com/kelpiedb/kelpie/internal/exec/compute"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A pipeline with expressions that only Go can compute runs in stages. The code of a stage writes
// tuples into its worker's buffer; when that is full, or the morsel ends, Go computes the missing
// fields and the next stage runs over the buffer, on the same worker. So morsels, their order and the
// sinks are what they are in any other pipeline.

// stageTuples is how many tuples are buffered between two stages.
const stageTuples = 1024

// staged makes the jobs of a pipeline's stages and joins them; the first is the one to run.
func (r *run) staged(p *pipe.Pipeline, st *PipelineStats) (*job, error) {
	var first, last *job
	for _, part := range p.Stages {
		j, err := r.newJob(part, st)
		if err != nil {
			return nil, err
		}
		if last == nil {
			first = j
		} else {
			last.sink.(*stageSink).next = j
			j.feed = first.feed
		}
		last = j
	}
	first.limit = last.limit
	for j := first; j != last; j = j.sink.(*stageSink).next {
		j.delivery = last.delivery
	}
	st.Variants = len(first.variants)
	return first, nil
}

// stageSink is the seam between two stages.
type stageSink struct {
	r       *run
	s       *pipe.Stage
	tuple   *layout.Tuple
	maxRows int64
	next    *job
	workers []*seam
}

// seam is one worker's part: its buffer, and the worker of the next stage.
type seam struct {
	s     *stageSink
	start uintptr
	next  *worker
	fill  *compute.Filler
}

func (s *stageSink) attach(w *worker) error {
	sm := s.workers[w.id]
	if sm == nil {
		var err error
		if sm, err = s.newSeam(w); err != nil {
			return err
		}
		s.workers[w.id] = sm
	}
	sm.empty(w)
	return nil
}

func (s *stageSink) newSeam(w *worker) (*seam, error) {
	r := s.r
	sm := &seam{s: s}
	sm.fill = compute.New(s.tuple, s.s.Compute, compute.Options{Mem: r.mem, View: r.view, Zero: r.zero})
	var err error
	if sm.start, err = r.mem.Alloc(stageTuples * s.tuple.Size); err != nil {
		return nil, err
	}
	sm.next = &worker{r: r, j: s.next, id: w.id}
	if err := sm.next.enterVariant(s.next, s.next.variants[0]); err != nil {
		return nil, err
	}
	mem.Store64(sm.next.ctx+layout.CtxSource, uint64(sm.start))
	return sm, s.next.sink.attach(sm.next)
}

// empty lets the code write from the buffer's start again.
func (sm *seam) empty(w *worker) {
	mem.Store64(w.ctx+layout.CtxCur, uint64(sm.start))
	mem.Store64(w.ctx+layout.CtxEnd, uint64(sm.start)+uint64(stageTuples*sm.s.tuple.Size))
}

// grow is asked for when the buffer is full.
func (s *stageSink) grow(w *worker) error { return s.workers[w.id].flush(w) }

// morsel passes on what is buffered, through all stages.
func (s *stageSink) morsel(w *worker) error {
	sm := s.workers[w.id]
	if err := sm.flush(w); err != nil {
		return err
	}
	sm.next.seq = w.seq
	if err := s.next.sink.morsel(sm.next); err != nil {
		return err
	}
	if w.j.delivery != nil { // no tuple points to them any more
		sm.fill.Forget()
		w.forgetTexts()
	}
	return nil
}

func (s *stageSink) detach(w *worker) {
	next := s.workers[w.id].next
	s.next.sink.detach(next)
	next.counters()
	next.close()
}

func (s *stageSink) finish() error { return nil }
func (s *stageSink) note() string  { return "" }

// flush computes the fields of all buffered tuples and runs the next stage over them.
func (sm *seam) flush(w *worker) error {
	size := uintptr(sm.s.tuple.Size)
	n := int((uintptr(mem.Load64(w.ctx+layout.CtxCur)) - sm.start) / size)
	if n == 0 {
		return nil
	}
	for a := sm.start; a < sm.start+uintptr(n)*size; a += size {
		if err := sm.fill.Tuple(a); err != nil {
			return err
		}
	}
	sm.next.seq = w.seq
	if err := sm.next.run(0, n); err != nil {
		return err
	}
	sm.empty(w)
	return nil
}
