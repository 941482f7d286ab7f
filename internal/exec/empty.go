package exec

import (
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A pipeline from which nothing can come does not run: it looks rows up in a table that turned out
// empty, or its source has no rows. Neither does one that fills only what such pipelines would
// read. Both end in sinks that are finished without rows, which are then empty themselves.

// idleness knows which pipelines need not run. What is found out of a sink spreads to the pipelines that read or
// fill it, so that all of it together takes time in proportion to the program.
type idleness struct {
	prog  *pipe.Program
	idle  []bool      // by pipeline
	sinks []sinkState // by number
	// discards are, by build, the sinks of pipelines that set its match flags and do nothing else.
	discards map[*pipe.Build][]int
	todo     []int // pipelines that were found idle
}

// sinkState is what is known of a sink.
type sinkState struct {
	makers  []int // pipelines that fill it
	feeds   []int // pipelines from which nothing can come if it is empty
	busy    int   // makers that are not idle
	readers int   // pipelines that want it
	started bool  // a maker has run: how many rows there are is known at the end
	empty   bool
	always  bool // has a row even if nothing comes to it: a group without keys
}

func newIdleness(prog *pipe.Program) *idleness {
	last := prog.Result.Number()
	for _, p := range prog.Pipelines {
		uses(p, func(s pipe.Sink) { last = max(last, s.Number()) })
	}
	d := &idleness{prog: prog, idle: make([]bool, len(prog.Pipelines)), sinks: make([]sinkState, last+1),
		discards: map[*pipe.Build][]int{}}
	for i, p := range prog.Pipelines {
		s := &d.sinks[p.Sink.Number()]
		s.makers, s.busy = append(s.makers, i), s.busy+1
		if g, ok := p.Sink.(*pipe.Aggregate); ok {
			s.always = len(g.Group.Keys) == 0
		}
		if _, ok := p.Sink.(*pipe.Discard); ok {
			for _, op := range p.Ops {
				if probe, ok := op.(*pipe.Probe); ok && probe.SetFlag {
					d.discards[probe.Build] = append(d.discards[probe.Build], p.Sink.Number())
				}
			}
		}
	}
	for i, p := range prog.Pipelines {
		needs(p, func(s pipe.Sink) { d.sinks[s.Number()].feeds = append(d.sinks[s.Number()].feeds, i) })
		d.reads(p, func(n int) { d.sinks[n].readers++ })
	}
	d.sinks[prog.Result.Number()].readers++
	for i, p := range prog.Pipelines {
		if c, ok := p.Sink.(*pipe.Collect); ok && c.Limit == 0 || noRows(p.Source) {
			d.stop(i)
		}
	}
	d.spread()
	return d
}

// begins notes that a pipeline runs.
func (d *idleness) begins(i int) { d.sinks[d.prog.Pipelines[i].Sink.Number()].started = true }

// isEmpty notes that a sink has no rows.
func (d *idleness) isEmpty(s pipe.Sink) {
	d.empty(&d.sinks[s.Number()])
	d.spread()
}

func (d *idleness) empty(s *sinkState) {
	if s.empty {
		return
	}
	s.empty = true
	for _, i := range s.feeds {
		d.stop(i)
	}
}

// stop notes that a pipeline is idle.
func (d *idleness) stop(i int) {
	if !d.idle[i] {
		d.idle[i] = true
		d.todo = append(d.todo, i)
	}
}

// spread draws the conclusions: what an idle pipeline would have filled may be empty, and what it would have read
// may be wanted by nobody.
func (d *idleness) spread() {
	for len(d.todo) > 0 {
		i := d.todo[len(d.todo)-1]
		d.todo = d.todo[:len(d.todo)-1]
		p := d.prog.Pipelines[i]
		s := &d.sinks[p.Sink.Number()]
		if s.busy--; s.busy == 0 && !s.started && !s.always {
			d.empty(s)
		}
		d.reads(p, func(n int) {
			s := &d.sinks[n]
			if s.readers--; s.readers == 0 {
				for _, m := range s.makers {
					d.stop(m)
				}
			}
		})
	}
}

// noRows reports a source that has none, as far as can be told before anything runs.
func noRows(s pipe.Source) bool {
	switch s := s.(type) {
	case *pipe.Table:
		return s.Scan.Snap != nil && s.Scan.Snap.Rows == 0
	case *pipe.Series:
		return s.Node.N == 0
	case *pipe.Constants:
		return len(s.Rows) == 0
	}
	return false
}

// needs calls f with the sinks without whose rows nothing can come of a pipeline. A row that is dropped behind
// a probe that sets match flags needs no flag either: tuples without a match pass the same operators.
func needs(p *pipe.Pipeline, f func(pipe.Sink)) {
	if b, ok := p.Source.(*pipe.Buffer); ok {
		f(b.Of)
	}
	for _, b := range p.Gates {
		f(b)
	}
	for _, op := range p.Ops {
		if probe, ok := op.(*pipe.Probe); ok && (probe.Kind == pipe.ProbeInner || probe.Kind == pipe.ProbeSemi) {
			f(probe.Build)
		}
	}
}

// reads calls f with the numbers of the sinks that a pipeline wants filled. One that selects tuples by their match
// flags wants those set, too.
func (d *idleness) reads(p *pipe.Pipeline, f func(sink int)) {
	uses(p, func(s pipe.Sink) {
		if s != p.Sink {
			f(s.Number())
		}
	})
	if src, ok := p.Source.(*pipe.Buffer); ok && src.Flag != pipe.AllTuples {
		if b, ok := src.Of.(*pipe.Build); ok {
			for _, n := range d.discards[b] {
				f(n)
			}
		}
	}
}

// rowCount is the number of rows in a finished sink.
func (r *run) rowCount(s pipe.Sink) int64 {
	switch x := r.sinks[s].(type) {
	case *buildSink:
		return x.built.Table.Rows
	case *collectSink, *groupSink:
		rows := r.rowsOf(s)
		return rows.Len()
	}
	return 1 // one that only sets flags
}
