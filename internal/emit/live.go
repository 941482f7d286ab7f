package emit

import (
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// liveness computes for each operator which columns it and all after it read; the last
// entry is the sink's.
func (e *emitter) liveness() []plan.ColSet {
	ops := e.Pipeline.Ops
	live := make([]plan.ColSet, len(ops)+1)
	s := &live[len(ops)]
	switch k := e.Pipeline.Sink.(type) {
	case *pipe.Build:
		for _, x := range k.Keys {
			plan.AddRefs(s, x)
		}
		if !e.Counting {
			s.AddAll(k.Payload)
		}
	case *pipe.Aggregate:
		for _, x := range k.Group.Keys {
			plan.AddRefs(s, x)
		}
		for _, a := range k.Group.Aggs {
			plan.AddRefs(s, a.Arg)
			plan.AddRefs(s, a.Filter)
		}
		if e.Merge { // partial groups are read field by field
			*s = plan.MakeColSet()
		}
	case *pipe.Collect:
		s.AddAll(k.Cols)
		s.Minus(e.Late)
	case *pipe.Fold:
		s.AddAll(k.Cols)
	case *pipe.Rounds:
		s.AddAll(k.Cols)
	case *pipe.Stage:
		s.AddAll(k.Cols)
	}
	if _, keys := e.Pipeline.Sink.(*pipe.Build); e.Counting && !keys { // nothing is written
		*s = plan.MakeColSet()
	}
	for i := len(ops) - 1; i >= 0; i-- {
		s := &live[i]
		s.Union(live[i+1])
		switch op := ops[i].(type) {
		case *pipe.Filter:
			for _, x := range op.Preds {
				plan.AddRefs(s, x)
			}
		case *pipe.Map:
			for k, x := range op.Exprs {
				if live[i+1].Has(op.Cols[k]) {
					plan.AddRefs(s, x)
				}
			}
		case *pipe.Probe:
			for _, x := range op.Keys {
				plan.AddRefs(s, x)
			}
			for _, x := range op.On {
				plan.AddRefs(s, x)
			}
		case *pipe.Repeat:
			plan.AddRefs(s, op.Count)
		case *pipe.Rename:
			s.AddAll(op.From)
		}
	}
	return live
}

// clearDead ends registers of columns that operator i and those after it do not read.
func (e *emitter) clearDead(i int) {
	need := plan.MakeColSet()
	var add func(id plan.ColID)
	add = func(id plan.ColID) {
		if need.Has(id) {
			return
		}
		need.Add(id)
		if x := e.Pending(id); x != nil {
			refs := plan.Refs(x)
			for r := range refs.All {
				add(r)
			}
		}
	}
	for id := range e.live[i].All {
		add(id)
	}
	e.KeepOnly(&need)
}
