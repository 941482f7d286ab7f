package pipe

import "slices"

// Only is a program of one pipeline and of those that fill what it looks up; nil: one of these depends on more than rows, on match flags or on rounds of a recursion.
func Only(prog *Program, p *Pipeline) *Program {
	wanted := map[Sink]bool{}
	wants := func(q *Pipeline) {
		uses(q, func(s Sink) {
			if s != q.Sink {
				wanted[s] = true
			}
		})
	}
	wants(p)
	out := &Program{Query: prog.Query, Result: prog.Result, Pipelines: []*Pipeline{p}}
	found := false
	for i := len(prog.Pipelines) - 1; i >= 0; i-- {
		q := prog.Pipelines[i]
		if q == p {
			found = true
			continue
		}
		if !found || !wanted[q.Sink] {
			continue
		}
		if b, ok := q.Source.(*Buffer); q.Loop != nil || ok && b.Flag != AllTuples {
			return nil
		}
		wants(q)
		out.Pipelines = append(out.Pipelines, q)
	}
	slices.Reverse(out.Pipelines)
	return out
}
