package exec

import (
	"context"
	"time"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/groups"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A pipeline that groups rows of a table can be shared with another processor: the threads of the CPU take morsels from the front of
// the table, the partner chunks from its end (split.go). Its groups come back as tuples and are merged by the code that merges those of
// threads. Whatever goes wrong over there, a row that fails among it, is no error: the CPU then does these rows, too, and finds out itself.

// Partner is another processor that takes part in a run.
type Partner interface {
	// Begin lets it take rows of a pipeline. What it made of them comes through the channel, also if that is nothing. It ends early with ctx.
	Begin(ctx context.Context, prog *pipe.Program, p *pipe.Pipeline, s *Split, plan *emit.GroupPlan) <-chan Part
	// Effort is the time of the CPU's processors that it needs to prepare for a pipeline.
	Effort(prog *pipe.Program, p *pipe.Pipeline) time.Duration
}

// Part is what a partner has made of its rows.
type Part struct {
	Rows  tuples.Rows   // partial groups, in a layout of its own
	Stats PipelineStats // what it did for them
	Keep  []any         // what the groups need
	Err   error         // it could not; its rows are to be done by the CPU
}

// Mergeable reports that groups in one layout can become part of groups in another.
func Mergeable(from, to *layout.Tuple) bool {
	if len(from.Fields) != len(to.Fields) {
		return false
	}
	whole := func(f layout.Form) bool { return f == layout.I64 || f == layout.I128 }
	for i := range from.Fields {
		a, b := &from.Fields[i].Desc, &to.Fields[i].Desc
		if a.Form != b.Form && !(whole(a.Form) && whole(b.Form)) || a.Dict != b.Dict {
			return false
		}
	}
	return true
}

// MayShare lists the scans of a program's largest table, if they can be shared, and tells which part of all rows is in others, which the CPU scans for itself.
func MayShare(prog *pipe.Program) (scans []*plan.Scan, others float64) {
	most, all := int64(0), int64(0)
	for _, p := range prog.Pipelines {
		if t, ok := p.Source.(*pipe.Table); ok {
			if load.InFiles(t.Scan) {
				return nil, 0
			}
			most = max(most, t.Scan.Snap.Rows)
			all += t.Scan.Snap.Rows
		}
	}
	for _, p := range prog.Pipelines {
		if t, ok := p.Source.(*pipe.Table); ok && most > 0 && t.Scan.Snap.Rows == most {
			if !phys.MayShare(p) || pipe.Only(prog, p) == nil {
				return nil, 0
			}
			scans = append(scans, t.Scan)
		}
	}
	return scans, float64(all-int64(len(scans))*most) / float64(max(all, 1))
}

// shares reports that a job's rows are to be shared.
func (j *job) shares() bool {
	if j.r.Partner == nil || !phys.MayShare(j.p) || len(j.ranges) == 0 || load.InFiles(j.scan()) {
		return false
	}
	if j.r.Share.At(j.scan()).Mode == phys.ShareOff && !j.r.CPUFirst { // another scan is
		return false
	}
	for _, p := range j.r.prog.Pipelines {
		if t, ok := p.Source.(*pipe.Table); ok && t.Scan.Snap.Rows > j.scan().Snap.Rows { // there is more to be done elsewhere
			return false
		}
	}
	_, ok := j.sink.(*groupSink)
	return ok
}

// executeShared is execute with a partner.
func (j *job) executeShared() error {
	r, sink := j.r, j.sink.(*groupSink)
	rows := j.scan().Snap.Rows
	meet := int64(-1)
	if s := r.Share.At(j.scan()); s.Mode == phys.ShareFixed {
		meet = rows - rows*int64(s.Part)/100
	}
	j.number()
	j.split = newSplit(rows, meet, r.Count)
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	var came <-chan Part
	if r.CPUFirst {
		came = j.beginLate(ctx)
	} else {
		came = r.Partner.Begin(ctx, r.prog, j.p, j.split, sink.plan)
	}
	err := j.execute()
	if err != nil || j.split.untouched() {
		cancel()
	}
	part := <-came // its memory must be out of use, whatever happened
	if err != nil {
		return err
	}
	s := &j.st.Shared
	if part.Err != nil {
		if j.split.chunks > 0 || meet >= 0 {
			s.Why = "the GPU gave up: " + part.Err.Error()
		}
		j.split.giveBack()
		if err := j.execute(); err != nil {
			return err
		}
	} else {
		if err := sink.takeIn(part); err != nil {
			return err
		}
		if j.split.leaveRest() { // it ended early
			if err := j.execute(); err != nil {
				return err
			}
		}
	}
	j.st.addPart(&part)
	s.CPU, s.GPU, s.Chunks = j.feed.done, j.split.taken, j.split.chunks
	j.st.Ranges = thinned(j.split.ranges)
	return nil
}

// manyThreads is from how many threads on some of them leave their processors to those who work for the partner: one drives it, and others put rows together that
// go over the bus. Morsels would keep them waiting, and the partner idle.
const manyThreads = 4

// leaves reports that a worker of n is to end, since the partner has begun.
func (j *job) leaves(id, n int) bool {
	return j.split != nil && n >= manyThreads && id > 0 && id >= n-j.split.wanted()
}

// number finds out where the ranges of a table's scan begin in the table, of which zones may have excluded some.
func (j *job) number() {
	row, k := int64(0), 0
	for _, seg := range j.scan().Snap.Segments {
		if k < len(j.ranges) && j.ranges[k].seg == seg {
			j.ranges[k].row = row
			k++
		}
		row += int64(seg.Rows)
	}
}

// addPart counts what a partner did.
func (st *PipelineStats) addPart(part *Part) {
	if part.Err != nil {
		return
	}
	for op, n := range part.Stats.OpRows {
		st.OpRows[op] += n
	}
	st.Launches += part.Stats.Launches
}

// takeIn merges a partner's groups into those of the first thread.
func (s *groupSink) takeIn(part Part) error {
	n := int(part.Rows.Len())
	if n == 0 {
		return nil
	}
	s.r.keepAlive(part.Keep)
	g := s.workers[0]
	if g == nil {
		var err error
		if g, err = s.all.NewTable(s.plan.Expect); err != nil {
			return err
		}
		s.workers[0] = g
	}
	m, err := s.merger(part.Rows.Tuple)
	if err != nil {
		return err
	}
	list, err := s.r.mem.Take(8 * n)
	if err != nil {
		return err
	}
	defer s.r.mem.Free(list)
	addrs, i := mem.Words(list, n), 0
	part.Rows.Each(func(a uintptr) bool {
		addrs[i] = uint64(a)
		i++
		return true
	})
	return m.into(&growingTarget{s, g}, g, list, n)
}

// growingTarget is a table that may have to grow while groups come to it.
type growingTarget struct {
	*groupSink
	g *groups.Table
}

func (m *growingTarget) grow(w *worker) error { return m.all.Grow(m.g, w.ctx) }
