package exec

import (
	"slices"
	"time"

	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A recursion runs its loop of pipelines again and again, each round over the rows that the one before has added, until a round
// adds none. A pipeline from the rows of a round to those of the next is compiled once; what else is in the loop has sinks of
// its own, and is compiled for what each round finds in them.

// roundsSink keeps the rows of all rounds, and knows those of the last.
type roundsSink struct {
	*collectSink
	p         *pipe.Rounds
	seen      *newRows // UNION: what was there before
	all, last tuples.Rows
	n         int64 // rows of all
	rounds    int64
}

func (r *run) newRounds(p *pipe.Rounds, tuple *layout.Tuple) *roundsSink {
	s := &roundsSink{collectSink: r.newCollect(&p.Collect, tuple), p: p, all: tuples.Rows{Tuple: tuple}, last: tuples.Rows{Tuple: tuple}}
	if p.Distinct {
		s.seen = r.newNewRows(tuple)
	}
	return s
}

// finish ends a round.
func (s *roundsSink) finish() error {
	if err := s.collectSink.finish(); err != nil {
		return err
	}
	for _, c := range s.workers {
		if c != nil {
			c.marks = nil
		}
	}
	s.last = s.out
	if s.seen != nil {
		var err error
		if s.last.Pieces, err = s.seen.of(s.out); err != nil {
			return err
		}
		for _, c := range s.workers {
			if c != nil { // what is new was copied
				c.buf.Release()
				c.buf = tuples.NewBuffer(s.r.mem, s.tuple.Size)
			}
		}
	}
	for _, p := range s.last.Pieces {
		s.all.Pieces = s.appended(s.all.Pieces, p)
	}
	s.n += s.last.Len()
	s.rounds++
	return nil
}

func (s *roundsSink) note() string {
	return plural(s.n, "row") + " in " + plural(s.rounds, "round")
}

// more reports that another round is wanted.
func (s *roundsSink) more() bool {
	return len(s.last.Pieces) > 0 && (s.p.Wanted < 0 || s.n < s.p.Wanted)
}

// loop runs the pipelines of a recursion until it ends.
func (r *run) loop(body []*pipe.Pipeline) error {
	sink := r.sinks[body[0].Loop].(*roundsSink)
	base := len(r.stats.Pipelines)
	makers := map[pipe.Sink]int{} // of sinks that last for a round
	for _, p := range body {
		r.stats.Pipelines = append(r.stats.Pipelines, PipelineStats{ID: p.ID})
		if r.Count {
			r.stats.Pipelines[len(r.stats.Pipelines)-1].OpRows = map[int]int64{}
		}
		if p.Sink != pipe.Sink(p.Loop) {
			makers[p.Sink]++
		}
	}
	jobs := make([]*job, len(body))
	for sink.more() {
		left := map[pipe.Sink]int{}
		for k, p := range body {
			if err := r.team.Canceled(); err != nil {
				return err
			}
			st := &r.stats.Pipelines[base+k]
			start := time.Now()
			j := jobs[k]
			if j == nil {
				var err error
				st.How, st.Fragments = nil, nil
				if j, err = r.newJob(p, st); err != nil {
					return err
				}
				if again(p, makers) {
					jobs[k] = j
				}
			} else {
				j.restart(sink.last)
			}
			st.Compile += time.Since(start)
			start = time.Now()
			rows, morsels := st.RowsIn, st.Morsels
			if err := j.execute(); err != nil {
				return err
			}
			st.RowsIn, st.Morsels = st.RowsIn+rows, st.Morsels+morsels
			if left[p.Sink]++; left[p.Sink] == makers[p.Sink] {
				if err := r.sinks[p.Sink].finish(); err != nil {
					return err
				}
				r.finished[p.Sink] = true
				st.Note = r.sinks[p.Sink].note()
			}
			st.Exec += time.Since(start)
		}
		if err := sink.finish(); err != nil {
			return err
		}
		for s := range makers {
			r.release(s)
			delete(r.sinks, s)
			delete(r.finished, s)
			r.walk.Forget(s)
		}
	}
	for k := range body {
		st := &r.stats.Pipelines[base+k]
		r.stats.Compile += st.Compile
		r.stats.Exec += st.Exec
		if st.Note == "" {
			st.Note = sink.note()
		}
	}
	return nil
}

// again reports a pipeline whose code can run in every round: nothing that it depends on is made by the loop but the rows
// themselves, whose layout is always the same.
func again(p *pipe.Pipeline, made map[pipe.Sink]int) bool {
	src, ok := p.Source.(*pipe.Buffer)
	return ok && src.Work && p.Sink == pipe.Sink(p.Loop) && !slices.ContainsFunc(p.Ops, func(op pipe.Op) bool {
		probe, ok := op.(*pipe.Probe)
		return ok && made[probe.Build] > 0
	})
}

// restart lets a job that has run begin again, over other rows.
func (j *job) restart(rows tuples.Rows) {
	j.ranges, j.total, j.others = j.ranges[:0], 0, nil
	for _, p := range rows.Pieces {
		j.ranges = append(j.ranges, span{v: j.variants[0], addr: p.Addr, rows: p.N, first: j.total})
		j.total += int64(p.N)
	}
	feed := &feed{j: j}
	for part := j; part != nil; {
		part.feed = feed
		s, ok := part.sink.(*stageSink)
		if !ok {
			break
		}
		clear(s.workers)
		part = s.next
	}
}

// allColumns are the columns of tuples as sort keys.
func allColumns(t *layout.Tuple) []plan.SortKey {
	var out []plan.SortKey
	for i := range t.Fields {
		out = append(out, plan.SortKey{Col: plan.ColID(t.Fields[i].ID)})
	}
	return out
}
