package pipe

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Unfuse cuts pipelines further than they must be: what comes to a cut is kept as rows, which the next pipeline reads. at tells of each place in
// a pipeline, before operator i or, where i is their number, before the sink, whether it is cut there. Rounds of a recursion stay whole.
// It comes before Split: expressions that Go computes are found in the pieces.
func (p *Program) Unfuse(at func(q *Pipeline, i int) bool) {
	sinks := p.Result.Number()
	for _, q := range p.Pipelines {
		uses(q, func(s Sink) { sinks = max(sinks, s.Number()) })
	}
	var all []*Pipeline
	for _, q := range p.Pipelines {
		if q.Loop == nil {
			all = append(all, q.pieces(at, &sinks)...)
		}
		all = append(all, q)
	}
	for i, q := range all {
		q.ID = i
	}
	p.Pipelines = all
}

// pieces cuts off what comes before the last piece, which the pipeline itself becomes: others know it as what fills its sink.
func (p *Pipeline) pieces(at func(q *Pipeline, i int) bool, sinks *int) (out []*Pipeline) {
	var cuts []int
	for i := range len(p.Ops) + 1 {
		if at(p, i) {
			cuts = append(cuts, i)
		}
	}
	live, first, ops := p.liveness(), 0, p.Ops
	node := SourceNode(p.Source)
	p.scan = p.Begins()
	for _, end := range cuts {
		cols := live[end].Slice()
		if len(cols) == 0 { // rows without columns cannot be kept
			continue
		}
		for _, op := range ops[first:end] {
			if n := OpNode(op); n != nil {
				node = n
			}
		}
		*sinks++
		q := &Pipeline{Source: p.Source, Ops: ops[first:end:end], Gates: p.Gates, needs: p.needs, placed: true, scan: p.scan}
		s := &Collect{ID: *sinks, Cols: cols, Limit: -1, Node: node, makers: []*Pipeline{q}}
		q.Sink = s
		p.Source, p.needs = &Buffer{Of: s}, append(slices.Clone(p.needs), q)
		out = append(out, q)
		first = end
	}
	p.Ops = ops[first:]
	return out
}

// Width is about how many bytes the rows have that a cut before operator i would keep; 0: rows without columns cannot be kept.
func (p *Pipeline) Width(i int, cols *plan.Columns) (bytes int) {
	for _, id := range p.liveness()[i].Slice() {
		bytes += 8
		switch cols.Get(id).Type.Phys() {
		case types.PhysI128, types.PhysStr, types.PhysIvl:
			bytes += 8
		}
	}
	return bytes
}

// SourceNode is the plan's operator that a source stands for; nil: none.
func SourceNode(s Source) plan.Node {
	switch s := s.(type) {
	case *Table:
		return s.Scan
	case *Buffer:
		return s.Node
	case *Series:
		return s.Node
	case *Constants:
		return s.Node
	}
	return nil
}

// OpNode is the plan's operator that an operator is, or is part of; nil: none.
func OpNode(op Op) plan.Node {
	switch op := op.(type) {
	case *Filter:
		return op.Node
	case *Map:
		return op.Node
	case *Probe:
		return op.Join
	case *Repeat:
		return op.Node
	case *Rename:
		return op.Node
	}
	return nil
}
