package pipe

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// all reports that code can be generated for all of x.
func (s *splitter) all(x plan.Expr) bool {
	c, ok := x.(*plan.Call)
	return !ok || s.emits(c) && !slices.ContainsFunc(c.Args, func(a plan.Expr) bool { return !s.all(a) })
}

// extract replaces the parts of x that must be computed in Go by what place gives for them. They
// are as small as they can be, with two exceptions: see whole.
func (s *splitter) extract(x plan.Expr, place func(*plan.Call) plan.Expr) plan.Expr {
	if s.all(x) {
		return x
	}
	c := x.(*plan.Call)
	if s.root(c) {
		return place(c)
	}
	y := *c
	y.Args = slices.Clone(c.Args)
	for i, a := range c.Args {
		y.Args[i] = s.extract(a, place)
	}
	return &y
}

// root reports that extract takes all of c, which has a part without code.
func (s *splitter) root(c *plan.Call) bool { return !s.emits(c) || s.whole(c) }

// whole reports that a call is better computed in Go although there is code for it.
func (s *splitter) whole(c *plan.Call) bool {
	for i, a := range c.Args {
		if s.all(a) {
			continue
		}
		// A branch that is not taken must not fail.
		switch c.Op {
		case plan.And, plan.Or, plan.Case, plan.Coalesce:
			if i > 0 && MayFail(a) {
				return true
			}
		}
		// A text would have to be kept for the length of the query; what is made of it here is short.
		if a, ok := a.(*plan.Call); ok && !s.texts && a.T.Phys() == types.PhysStr && c.T.Phys() != types.PhysStr && s.root(a) {
			return true
		}
	}
	return false
}

// MayFail reports that computing x can raise an error.
func MayFail(x plan.Expr) bool {
	fails := false
	plan.WalkExpr(x, func(x plan.Expr) bool {
		if c, ok := x.(*plan.Call); ok && c.MayFail() {
			fails = true
		}
		return !fails
	})
	return fails
}

// cutStages makes the stages of a pipeline with Compute operators.
func (p *Pipeline) cutStages() {
	live := p.liveness()
	source, first := p.Source, 0
	cut := func(end int, sink Sink) {
		p.Stages = append(p.Stages, &Pipeline{ID: p.ID, Source: source, Ops: p.Ops[first:end:end], Sink: sink, First: first, scan: p.Begins()})
	}
	for i, op := range p.Ops {
		c, ok := op.(*Compute)
		if !ok {
			continue
		}
		seam := &Stage{Cols: live[i].Slice(), Compute: c}
		cut(i, seam)
		source, first = seam, i+1
	}
	if first > 0 {
		cut(len(p.Ops), p.Sink)
	}
}

// liveness is, for each operator, which columns from before it are read by it or after it.
func (p *Pipeline) liveness() []plan.ColSet {
	live := make([]plan.ColSet, len(p.Ops)+1)
	live[len(p.Ops)] = sinkReads(p.Sink)
	for i := len(p.Ops) - 1; i >= 0; i-- {
		s := &live[i]
		s.Union(live[i+1])
		made := func(ids []plan.ColID) {
			for _, id := range ids {
				s.Remove(id)
			}
		}
		read := func(xs []plan.Expr) {
			for _, x := range xs {
				plan.AddRefs(s, x)
			}
		}
		switch op := p.Ops[i].(type) {
		case *Filter:
			read(op.Preds)
		case *Map:
			made(op.Cols)
			for k, x := range op.Exprs {
				if live[i+1].Has(op.Cols[k]) {
					plan.AddRefs(s, x)
				}
			}
		case *Compute:
			made(op.Cols)
			read(op.Exprs)
		case *Probe:
			read(op.On)
			made(op.Build.KeyCols)
			made(op.Build.Payload)
			made([]plan.ColID{op.Mark})
			read(op.Keys)
		case *Rename:
			made(op.To)
			for k, id := range op.From {
				if live[i+1].Has(op.To[k]) {
					s.Add(id)
				}
			}
		case *Repeat:
			made([]plan.ColID{op.Col})
			plan.AddRefs(s, op.Count)
		case *Nulls:
			made(op.Cols)
		}
	}
	return live
}

// sinkReads is the set of columns that a sink reads.
func sinkReads(k Sink) plan.ColSet {
	s := plan.MakeColSet()
	switch k := k.(type) {
	case *Build:
		for _, x := range k.Keys {
			plan.AddRefs(&s, x)
		}
		s.AddAll(k.Payload)
	case *Aggregate:
		for _, x := range k.Group.Keys {
			plan.AddRefs(&s, x)
		}
		for _, a := range k.Group.Aggs {
			plan.AddRefs(&s, a.Arg)
			plan.AddRefs(&s, a.Filter)
		}
	case *Collect:
		s.AddAll(k.Cols)
	case *Fold:
		s.AddAll(k.Cols)
	case *Rounds:
		s.AddAll(k.Cols)
	case *Stage:
		s.AddAll(k.Cols)
	}
	return s
}
