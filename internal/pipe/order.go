package pipe

import "slices"

// order sorts pipelines so that each comes after what it needs, and after what
// delivers a semi-join filter to it unless that would be a cycle: filters only save work.
func (c *cutter) order(p *Program) {
	for _, q := range c.all {
		t, ok := q.Source.(*Table)
		if !ok {
			continue
		}
		for _, r := range t.Scan.Reduce {
			b := c.builds[r.Join]
			if b == nil || slices.ContainsFunc(b.makers, func(d *Pipeline) bool { return d.Loop != nil && d.Loop != q.Loop }) || slices.ContainsFunc(b.makers, func(d *Pipeline) bool { return dependsOn(d, q) }) {
				continue
			}
			t.Reduce = append(t.Reduce, Reduce{b, r.Key, r.Col})
			q.needs = append(q.needs[:len(q.needs):len(q.needs)], b.makers...)
		}
	}
	laid, begun := map[Sink]bool{}, map[*Rounds]bool{}
	var visit func(q *Pipeline)
	visit = func(q *Pipeline) {
		if q.placed {
			return
		}
		if q.Loop != nil && !begun[q.Loop] {
			// What a loop needs comes before it, and then all of it, without anything between.
			begun[q.Loop] = true
			for _, m := range q.Loop.body {
				for _, d := range m.needs {
					if d.Loop != q.Loop {
						visit(d)
					}
				}
			}
			for _, m := range q.Loop.body {
				visit(m)
			}
			return
		}
		q.placed = true
		for _, d := range q.needs {
			visit(d)
		}
		// What other pipelines into the same sink need comes before the first of them, so that all are
		// known when the sink is laid out.
		if _, loop := q.Sink.(*Rounds); !laid[q.Sink] && !loop {
			laid[q.Sink] = true
			for _, m := range c.makers(q.Sink) {
				for _, d := range m.needs {
					if m != q && !d.placed && !dependsOn(d, q) {
						visit(d)
					}
				}
			}
		}
		q.ID = len(p.Pipelines)
		p.Pipelines = append(p.Pipelines, q)
	}
	for _, q := range c.all {
		visit(q)
	}
}

// makers are the pipelines that end in a sink.
func (c *cutter) makers(s Sink) []*Pipeline {
	switch s := s.(type) {
	case *Build:
		return s.makers
	case *Aggregate:
		return s.makers
	case *Collect:
		return s.makers
	case *Fold:
		return s.makers
	case *Rounds:
		return s.makers
	}
	return nil
}

// dependsOn reports that q must run before p, or is p.
func dependsOn(p, q *Pipeline) bool {
	seen := map[*Pipeline]bool{}
	var visit func(p *Pipeline) bool
	visit = func(p *Pipeline) bool {
		if p == q {
			return true
		}
		if seen[p] {
			return false
		}
		seen[p] = true
		return slices.ContainsFunc(p.needs, visit)
	}
	return visit(p)
}
