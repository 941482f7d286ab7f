package pipe

// A pipeline from which nothing can come does not run: it looks rows up in a table that turned out
// empty, or its source has no rows. Neither does one that fills only what such pipelines would
// read. Both end in sinks that are finished without rows, which are then empty themselves.

// Idleness knows which pipelines need not run. What is found out of a sink spreads to the pipelines that read or
// fill it, so that all of it together takes time in proportion to the program.
type Idleness struct {
	prog  *Program
	Idle  []bool      // by pipeline
	sinks []sinkState // by number
	// discards are, by build, the sinks of pipelines that set its match flags and do nothing else.
	discards map[*Build][]int
	todo     []int // pipelines that were found idle
}

// sinkState is what is known of a sink.
type sinkState struct {
	makers  []int // pipelines that fill it
	feeds   []int // pipelines from which nothing can come if it is empty
	busy    int   // makers that are not idle
	readers int   // pipelines that want it
	empty   bool
	always  bool // has a row even if nothing comes to it: a group without keys
}

// NewIdleness is what is known before anything runs.
func NewIdleness(prog *Program) *Idleness {
	last := prog.Result.Number()
	for _, p := range prog.Pipelines {
		uses(p, func(s Sink) { last = max(last, s.Number()) })
	}
	d := &Idleness{prog: prog, Idle: make([]bool, len(prog.Pipelines)), sinks: make([]sinkState, last+1),
		discards: map[*Build][]int{}}
	for i, p := range prog.Pipelines {
		s := &d.sinks[p.Sink.Number()]
		s.makers, s.busy = append(s.makers, i), s.busy+1
		switch g := p.Sink.(type) {
		case *Aggregate:
			s.always = len(g.Group.Keys) == 0
		case *Fold:
			s.always = len(g.Group.Keys) == 0
		}
		if _, ok := p.Sink.(*Discard); ok {
			for _, op := range p.Ops {
				if probe, ok := op.(*Probe); ok && probe.SetFlag {
					d.discards[probe.Build] = append(d.discards[probe.Build], p.Sink.Number())
				}
			}
		}
	}
	for i, p := range prog.Pipelines {
		needs(p, func(s Sink) { d.sinks[s.Number()].feeds = append(d.sinks[s.Number()].feeds, i) })
		d.reads(p, func(n int) { d.sinks[n].readers++ })
	}
	d.sinks[prog.Result.Number()].readers++
	for i, p := range prog.Pipelines {
		if c, ok := p.Sink.(*Collect); ok && c.Limit == 0 || noRows(p.Source) {
			d.stop(i)
		}
	}
	d.spread()
	return d
}

// IsEmpty notes that a sink has no rows.
func (d *Idleness) IsEmpty(s Sink) {
	d.empty(&d.sinks[s.Number()])
	d.spread()
}

func (d *Idleness) empty(s *sinkState) {
	if s.empty {
		return
	}
	s.empty = true
	for _, i := range s.feeds {
		d.stop(i)
	}
}

// stop notes that a pipeline is idle.
func (d *Idleness) stop(i int) {
	if !d.Idle[i] {
		d.Idle[i] = true
		d.todo = append(d.todo, i)
	}
}

// spread draws the conclusions: what an idle pipeline would have filled may be empty, and what it would have read
// may be wanted by nobody.
func (d *Idleness) spread() {
	for len(d.todo) > 0 {
		i := d.todo[len(d.todo)-1]
		d.todo = d.todo[:len(d.todo)-1]
		p := d.prog.Pipelines[i]
		s := &d.sinks[p.Sink.Number()]
		if s.busy--; s.busy == 0 && !s.always {
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
func noRows(s Source) bool {
	switch s := s.(type) {
	case *Table:
		return s.Scan.Snap != nil && s.Scan.Snap.Rows == 0
	case *Series:
		return s.Node.N == 0
	case *Constants:
		return len(s.Rows) == 0
	}
	return false
}

// needs calls f with the sinks without whose rows nothing can come of a pipeline. A row that is dropped behind
// a probe that sets match flags needs no flag either: tuples without a match pass the same operators.
func needs(p *Pipeline, f func(Sink)) {
	if b, ok := p.Source.(*Buffer); ok {
		f(b.Of)
	}
	for _, b := range p.Gates {
		f(b)
	}
	for _, op := range p.Ops {
		if probe, ok := op.(*Probe); ok && (probe.Kind == ProbeInner || probe.Kind == ProbeSemi) {
			f(probe.Build)
		}
	}
}

// reads calls f with the numbers of the sinks that a pipeline wants filled. One that selects tuples by their match
// flags wants those set, too.
func (d *Idleness) reads(p *Pipeline, f func(sink int)) {
	uses(p, func(s Sink) {
		if s != p.Sink {
			f(s.Number())
		}
	})
	if src, ok := p.Source.(*Buffer); ok && src.Flag != AllTuples {
		if b, ok := src.Of.(*Build); ok {
			for _, n := range d.discards[b] {
				f(n)
			}
		}
	}
}
