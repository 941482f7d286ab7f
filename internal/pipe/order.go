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
			if b == nil || slices.ContainsFunc(b.makers, func(d *Pipeline) bool { return dependsOn(d, q) }) {
				continue
			}
			t.Reduce = append(t.Reduce, Reduce{b, r.Key, r.Col})
			q.needs = append(q.needs[:len(q.needs):len(q.needs)], b.makers...)
		}
	}
	var visit func(q *Pipeline)
	visit = func(q *Pipeline) {
		if q.placed {
			return
		}
		q.placed = true
		for _, d := range q.needs {
			visit(d)
		}
		q.ID = len(p.Pipelines)
		p.Pipelines = append(p.Pipelines, q)
	}
	for _, q := range c.all {
		visit(q)
	}
}

// dependsOn reports that q must run before p, or is p.
func dependsOn(p, q *Pipeline) bool {
	return p == q || slices.ContainsFunc(p.needs, func(d *Pipeline) bool { return dependsOn(d, q) })
}
