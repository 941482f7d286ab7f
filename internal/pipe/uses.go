package pipe

// Tables and groups are given back as soon as the last pipeline that reads them is done, so that what a query
// holds at a time is less than all that it makes.

// LastUses is, for each pipeline, the sinks that no later one needs.
func LastUses(prog *Program) [][]Sink {
	last := map[Sink]int{}
	var order []Sink
	for i, p := range prog.Pipelines {
		uses(p, func(s Sink) {
			if _, ok := last[s]; !ok {
				order = append(order, s)
			}
			last[s] = i
		})
	}
	out := make([][]Sink, len(prog.Pipelines))
	for _, s := range order {
		if s != Sink(prog.Result) {
			out[last[s]] = append(out[last[s]], s)
		}
	}
	return out
}

// uses calls f with every sink that a pipeline reads or writes.
func uses(p *Pipeline, f func(Sink)) {
	f(p.Sink)
	switch src := p.Source.(type) {
	case *Buffer:
		f(src.Of)
	case *Table:
		for _, rd := range src.Reduce {
			f(rd.Build)
		}
	}
	for _, b := range p.Gates {
		f(b)
	}
	for _, op := range p.Ops {
		if probe, ok := op.(*Probe); ok {
			f(probe.Build)
		}
	}
	for _, part := range p.Stages {
		uses(part, f)
	}
}
