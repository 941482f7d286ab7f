package exec

import (
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Tables and groups are given back as soon as the last pipeline that reads them is done, so that what a query
// holds at a time is less than all that it makes.

// lastUses is, for each pipeline, the sinks that no later one needs.
func lastUses(prog *pipe.Program) [][]pipe.Sink {
	last := map[pipe.Sink]int{}
	var order []pipe.Sink
	for i, p := range prog.Pipelines {
		uses(p, func(s pipe.Sink) {
			if _, ok := last[s]; !ok {
				order = append(order, s)
			}
			last[s] = i
		})
	}
	out := make([][]pipe.Sink, len(prog.Pipelines))
	for _, s := range order {
		if s != pipe.Sink(prog.Result) {
			out[last[s]] = append(out[last[s]], s)
		}
	}
	return out
}

// uses calls f with every sink that a pipeline reads or writes.
func uses(p *pipe.Pipeline, f func(pipe.Sink)) {
	f(p.Sink)
	switch src := p.Source.(type) {
	case *pipe.Buffer:
		f(src.Of)
	case *pipe.Table:
		for _, rd := range src.Reduce {
			f(rd.Build)
		}
	}
	for _, b := range p.Gates {
		f(b)
	}
	for _, op := range p.Ops {
		if probe, ok := op.(*pipe.Probe); ok {
			f(probe.Build)
		}
	}
	for _, part := range p.Stages {
		uses(part, f)
	}
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
