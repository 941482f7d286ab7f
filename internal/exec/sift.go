package exec

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// The filters of a scan over files by themselves: generated code that does nothing but test them lists the rows that
// pass, before the other columns of a segment are loaded (load.Sieve).

// sift is the filters of a scan by themselves.
type sift struct {
	sieve *load.Sieve
	j     *job                  // nothing but the filters
	of    map[*variant]*variant // by what the pipeline has for the same shapes
}

// newSift makes the filters' code for the variants of a job over files; nil if there is nothing to gain.
func (j *job) newSift(t *pipe.Table) (*sift, error) {
	if j.r.Off.LateLoads || len(t.Filter)+len(j.step.Filters) == 0 || len(j.ranges) == 0 || j.ranges[0].lazy == nil ||
		len(t.Scan.Cols) < 2 {
		return nil, nil
	}
	p := &pipe.Pipeline{ID: j.p.ID, Source: t, Sink: &pipe.Collect{Cols: t.Scan.Cols[:1], Limit: -1}}
	s := &sift{of: map[*variant]*variant{}}
	tested := map[int]bool{}
	s.j = &job{r: j.r, p: p, st: &PipelineStats{OpRows: map[int]int64{}}, filters: j.filters, limit: -1}
	for i := range j.ranges {
		v := j.ranges[i].v
		if s.of[v] != nil {
			continue
		}
		own := emit.Request{Name: fmt.Sprintf("sift%d", j.p.ID), Pipeline: p, Filters: j.step.Filters, Rows: j.step.Rows, Shapes: v.shapes,
			Late: plan.MakeColSet(t.Scan.Cols[0])}
		f, k, err := j.r.compile(own)
		if err != nil {
			return nil, err
		}
		s.of[v] = &variant{frag: f, code: k}
		s.j.variants = append(s.j.variants, s.of[v])
		for _, w := range f.Words {
			if w.Kind <= code.WordDHeap && w.Dict == nil {
				tested[t.Scan.Ordinal[w.Index]] = true
			}
		}
	}
	s.sieve = load.NewSieve(tested)
	s.j.sink = &siftSink{r: j.r, workers: make([]tuples.Buffer, j.r.Threads)}
	return s, s.j.prepare()
}

// need finds the rows of a segment that pass; nil: all may.
func (s *sift) need(w *worker, sp *span) (need catalog.Need) {
	var err error // the pipeline will meet it, too
	defer diag.Recover("sift", &err)
	own := &worker{r: w.r, j: s.j, id: w.id}
	defer own.close()
	rows := int(sp.seg.Rows) // whatever part of them the span is
	all := span{v: s.of[sp.v], seg: sp.seg, lazy: sp.lazy, rows: rows}
	if own.point(&all) != nil {
		return nil
	}
	sink := s.j.sink.(*siftSink)
	sink.workers[w.id] = tuples.NewBuffer(w.r.mem, s.j.variants[0].frag.Sink.Size)
	buf := &sink.workers[w.id]
	defer buf.Release()
	if s.j.sink.attach(own) != nil {
		return nil
	}
	for lo := 0; lo < rows; lo += maxMorsel {
		if own.run(lo, min(lo+maxMorsel, rows)) != nil || w.r.team.Stopped() { // whoever runs the pipeline will see it, too
			return nil
		}
	}
	buf.Cut(uintptr(mem.Load64(own.ctx + layout.CtxCur)))
	return s.sieve.Judge(rows, func(passes func(row int)) {
		buf.Each(func(a uintptr) { passes(int(uint32(mem.Load64(a)))) })
	})
}

// siftSink takes row numbers.
type siftSink struct {
	discardSink
	r       *run
	workers []tuples.Buffer
}

func (s *siftSink) attach(w *worker) error {
	s.workers[w.id].ToContext(w.ctx)
	return nil
}

func (s *siftSink) grow(w *worker) error { return s.workers[w.id].GrowFrom(w.ctx) }
