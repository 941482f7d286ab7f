package exec

import (
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Texts are not copied: a tuple points to where they are. So the memory of a text column that was read
// for a pipeline must stay if the pipeline writes such a pointer, to the text or to a part of it. A
// column that is only compared or measured can go when its rows have been processed.

// escapes are the columns of its source whose texts may be pointed to by what a pipeline writes.
func escapes(p *pipe.Pipeline) plan.ColSet {
	var s plan.ColSet
	switch k := p.Sink.(type) {
	case *pipe.Build:
		for _, x := range k.Keys {
			addTexts(&s, x)
		}
		s.AddAll(k.Payload)
	case *pipe.Aggregate:
		for _, x := range k.Group.Keys {
			addTexts(&s, x)
		}
		for _, a := range k.Group.Aggs {
			if a.Func != plan.Count || a.Distinct {
				addTexts(&s, a.Arg)
			}
		}
	case *pipe.Collect:
		s.AddAll(k.Cols)
	case *pipe.Stage:
		s.AddAll(k.Cols)
	}
	for i := len(p.Ops) - 1; i >= 0; i-- {
		switch op := p.Ops[i].(type) {
		case *pipe.Map:
			for k, x := range op.Exprs {
				if s.Has(op.Cols[k]) {
					addTexts(&s, x)
				}
			}
		case *pipe.Rename:
			s.AddAll(op.From)
		}
	}
	return s
}

// addTexts adds the columns of which the value of a text expression may be a part.
func addTexts(s *plan.ColSet, x plan.Expr) {
	if x == nil || x.Type().Kind != types.Text {
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

// escaping reports that texts of a scanned column may be pointed to by what the pipeline writes.
func (j *job) escaping(col int) bool {
	scan := j.scan()
	for k, ord := range scan.Ordinal {
		if ord == col && j.escapes.Has(scan.Cols[k]) {
			return true
		}
	}
	return false
}
