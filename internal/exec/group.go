package exec

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/groups"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// groupSink keeps groups per worker; at the end they become one result.
type groupSink struct {
	r       *run
	s       *pipe.Aggregate
	plan    *emit.GroupPlan
	workers []*groups.Table
	all     *groups.Grouping
}

func (r *run) newGroup(s *pipe.Aggregate, plan *emit.GroupPlan) *groupSink {
	g := &groupSink{r: r, s: s, plan: plan, workers: make([]*groups.Table, r.Threads)}
	g.all = groups.New(groups.Options{Team: r.team, Mem: r.mem, Plan: plan, Group: s.Group, NoParts: r.Off.GroupParts,
		Merger: g.newMerger})
	return g
}

func (s *groupSink) attach(w *worker) error {
	g := s.workers[w.id]
	if g == nil {
		var err error
		if g, err = s.all.NewTable(s.plan.Expect); err != nil {
			return err
		}
		s.workers[w.id] = g
	}
	g.ToContext(w.ctx)
	return nil
}

func (s *groupSink) grow(w *worker) error { return s.all.Grow(s.workers[w.id], w.ctx) }

func (s *groupSink) morsel(*worker) error { return nil }

func (s *groupSink) detach(w *worker) { s.workers[w.id].FromContext(w.ctx) }

func (s *groupSink) note() string {
	if s.plan.Mode == phys.Ungrouped {
		return s.plan.Mode.String()
	}
	return s.plan.Mode.String() + ", " + plural(s.all.Rows.Len(), "group")
}

func (s *groupSink) finish() error { return s.all.Finish(s.workers) }

// groupMerger runs the code that combines partial groups.
type groupMerger struct {
	s *groupSink
	v *variant
}

func (s *groupSink) newMerger() (groups.Merger, error) { return s.merger(s.plan.Tuple) }

// merger is for groups whose tuples are laid out in a way that may be another's.
func (s *groupSink) merger(from *layout.Tuple) (*groupMerger, error) {
	f, k, err := s.r.compile(emit.Request{
		Name: fmt.Sprintf("merge%d", s.s.ID), Pipeline: mergePipeline(s.s), Merge: true,
		Tuple: from, Indirect: true, Group: s.plan, Rows: 1,
	})
	if err != nil {
		return nil, err
	}
	return &groupMerger{s, &variant{frag: f, code: k}}, nil
}

// Merge combines the groups whose n addresses lie at list into g.
func (m *groupMerger) Merge(g *groups.Table, list uintptr, n int) error {
	return m.into(&mergeTarget{groupSink: m.s, g: g}, g, list, n)
}

// into is Merge where somebody else knows how g grows.
func (m *groupMerger) into(target sink, g *groups.Table, list uintptr, n int) error {
	s := m.s
	j := &job{r: s.r, sink: target, st: &PipelineStats{OpRows: map[int]int64{}}}
	w := &worker{r: s.r, j: j}
	defer w.close()
	if err := w.enterVariant(j, m.v); err != nil {
		return err
	}
	g.ToContext(w.ctx)
	mem.Store64(w.ctx+layout.CtxSource, uint64(list))
	const step = 16 << 10
	for lo := 0; lo < n; lo += step {
		if err := w.run(lo, min(lo+step, n)); err != nil {
			return err
		}
		if err := s.r.team.Canceled(); err != nil {
			return err
		}
	}
	g.FromContext(w.ctx)
	return nil
}

// mergeTarget grows the table being merged into instead of a worker's. Its directory is large enough.
type mergeTarget struct {
	*groupSink
	g *groups.Table
}

func (m *mergeTarget) grow(w *worker) error {
	m.g.FromContext(w.ctx)
	if err := m.g.GrowBuffers(); err != nil {
		return err
	}
	m.g.ToContext(w.ctx)
	return nil
}
