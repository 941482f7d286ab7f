package pipe

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Texts are not copied: a tuple points to where they are. So the memory of a text column that was read
// for a pipeline must stay if the pipeline writes such a pointer, to the text or to a part of it. A
// column that is only compared or measured can go when its rows have been processed.

// Escapes are the columns of its source whose texts may be pointed to by what a pipeline writes.
func Escapes(p *Pipeline) plan.ColSet {
	var s plan.ColSet
	switch k := p.Sink.(type) {
	case *Build:
		for _, x := range k.Keys {
			addTexts(&s, x)
		}
		s.AddAll(k.Payload)
	case *Aggregate:
		for _, x := range k.Group.Keys {
			addTexts(&s, x)
		}
		for _, a := range k.Group.Aggs {
			if a.Func != plan.Count || a.Distinct {
				addTexts(&s, a.Arg)
			}
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
	for i := len(p.Ops) - 1; i >= 0; i-- {
		switch op := p.Ops[i].(type) {
		case *Map:
			for k, x := range op.Exprs {
				if s.Has(op.Cols[k]) {
					addTexts(&s, x)
				}
			}
		case *Rename:
			s.AddAll(op.From)
		}
	}
	return s
}

// addTexts adds the columns of which the value of a text expression may be a part.
func addTexts(s *plan.ColSet, x plan.Expr) {
	if x == nil || x.Type().Phys() != types.PhysStr {
		return
	}
	if c, ok := x.(*plan.Call); ok {
		for _, a := range c.Args {
			addTexts(s, a)
		}
		return
	}
	plan.AddRefs(s, x)
}
