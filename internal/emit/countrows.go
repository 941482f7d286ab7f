package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// countsRows reports a pipeline in which nothing but the number of rows matters: it only counts them.
func (e *emitter) countsRows() bool {
	s, ok := e.Pipeline.Sink.(*pipe.Aggregate)
	if !ok || len(s.Group.Keys) > 0 || !e.alone() || e.Merge || e.Count {
		return false
	}
	for _, a := range s.Group.Aggs {
		if a.Func != plan.CountStar || a.Filter != nil {
			return false
		}
	}
	for _, op := range e.Pipeline.Ops {
		switch op.(type) {
		case *pipe.Map, *pipe.Rename, *pipe.Nulls: // computed only where needed
		default:
			return false
		}
	}
	switch src := e.Pipeline.Source.(type) {
	case *pipe.Table:
		return len(src.Filter) == 0 && len(e.Filters) == 0
	case *pipe.Buffer:
		return src.Flag == pipe.AllTuples
	case *pipe.Series:
		return true
	}
	return false
}

// countRows adds the length of the morsel to all counts.
func (e *emitter) countRows() {
	g := e.Pipeline.Sink.(*pipe.Aggregate).Group
	if e.f.Group == nil {
		e.f.Group = e.planGroups(g, nil)
	}
	e.f.Sink = e.f.Group.Tuple
	e.B.Comment("count rows")
	n, lo, p := e.Int("rows"), e.Int("lo"), e.Int("group")
	e.B.Load8(n, ir.At(ir.Ctx, layout.CtxHi))
	e.B.Load8(lo, ir.At(ir.Ctx, layout.CtxLo))
	e.B.Op2(ir.Sub, n, n.V(), lo.V())
	e.B.Load8(p, ir.At(ir.Ctx, layout.CtxState))
	for i := range g.Aggs {
		f := &e.f.Group.Tuple.Fields[i]
		if f.Desc.Form != layout.I64 {
			panic("a count that is not an integer")
		}
		e.B.Load8(lo, ir.At(p, f.Off))
		e.B.Op2(ir.Add, lo, lo.V(), n.V())
		e.B.Store(ir.At(p, f.Off), lo.V(), 8)
	}
	e.B.Clear(n, lo, p)
}
