package exec

import "github.com/kelpiedb/kelpie/internal/pipe"

// A pipeline from which nothing can come does not run: it looks rows up in a table that turned out
// empty, or its source has no rows. Neither does one that fills only what such pipelines would
// read. Both end in sinks that are finished without rows, which are then empty themselves.

// idle reports for each pipeline of the program, from the next one on, that it need not run. It is
// called again whenever a sink turned out empty.
func (r *run) idle(next int) []bool {
	all := r.prog.Pipelines
	out := make([]bool, len(all))
	empty := r.emptySinks()
	wanted := map[pipe.Sink]bool{}
	if r.prog.Result.Limit != 0 {
		wanted[r.prog.Result] = true
	}
	// Whoever reads a sink comes after those that fill it.
	for i := len(all) - 1; i >= next; i-- {
		p := all[i]
		if yieldsNothing(p, empty) || !r.serves(p, wanted) {
			out[i] = true
			continue
		}
		uses(p, func(s pipe.Sink) {
			if c, ok := s.(*pipe.Collect); ok && c.Limit == 0 {
				return
			}
			if s != p.Sink {
				wanted[s] = true
			}
		})
	}
	return out
}

// serves reports that somebody wants what p fills, or the match flags that it sets.
func (r *run) serves(p *pipe.Pipeline, wanted map[pipe.Sink]bool) bool {
	if _, ok := p.Sink.(*pipe.Discard); !ok {
		return wanted[p.Sink]
	}
	for _, op := range p.Ops {
		if probe, ok := op.(*pipe.Probe); ok && probe.SetFlag && wanted[probe.Build] {
			return true
		}
	}
	return false
}

// yieldsNothing reports that no row can reach p's sink. A row that is dropped behind a probe that sets
// match flags needs no flag either: tuples without a match pass the same operators.
func yieldsNothing(p *pipe.Pipeline, empty map[pipe.Sink]bool) bool {
	switch src := p.Source.(type) {
	case *pipe.Table:
		if src.Scan.Snap != nil && src.Scan.Snap.Rows == 0 {
			return true
		}
	case *pipe.Buffer:
		if empty[src.Of] {
			return true
		}
	case *pipe.Series:
		if src.Node.N == 0 {
			return true
		}
	case *pipe.Constants:
		if len(src.Rows) == 0 {
			return true
		}
	}
	for _, b := range p.Gates {
		if empty[b] {
			return true
		}
	}
	for _, op := range p.Ops {
		if probe, ok := op.(*pipe.Probe); ok && (probe.Kind == pipe.ProbeInner || probe.Kind == pipe.ProbeSemi) && empty[probe.Build] {
			return true
		}
	}
	return false
}

// emptySinks are the sinks that have no rows, or will have none because nothing comes to them. A group
// without keys has a row even then.
func (r *run) emptySinks() map[pipe.Sink]bool {
	empty := map[pipe.Sink]bool{}
	filled := map[pipe.Sink]bool{}
	for _, p := range r.prog.Pipelines {
		g, grouped := p.Sink.(*pipe.Aggregate)
		switch {
		case r.finished[p.Sink]:
			filled[p.Sink] = r.rowCount(p.Sink) > 0
		case grouped && len(g.Group.Keys) == 0 || !yieldsNothing(p, empty):
			filled[p.Sink] = true
		}
		empty[p.Sink] = !filled[p.Sink]
	}
	return empty
}

// isEmpty reports that a sink is finished and has no rows.
func (r *run) isEmpty(s pipe.Sink) bool {
	return r.finished[s] && r.rowCount(s) == 0
}

// rowCount is the number of rows in a finished sink.
func (r *run) rowCount(s pipe.Sink) int64 {
	switch x := r.sinks[s].(type) {
	case *buildSink:
		return x.table.Rows
	case *collectSink, *groupSink:
		rows := r.rowsOf(s)
		return rows.Len()
	}
	return 1 // one that only sets flags
}
