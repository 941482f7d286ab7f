package compile

import (
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A sink that several pipelines fill is laid out for what all of them may bring: before the first is
// compiled, all are emitted for a look at what they know of their columns. Where that is not possible yet,
// because one of them depends on another or is cut in stages, the types alone count.

// united is the description of the sink's columns; nil: nothing more than their types is known.
func (w *Walk) united(s pipe.Sink, facts Facts) []layout.Field {
	fs, ok := w.unions[s]
	if ok || w.Off.SharedSinks || !w.Can.Unite {
		return fs
	}
	fs = w.unite(s, facts)
	w.unions[s] = fs
	return fs
}

// look emits a pipeline for what it tells of its sink; nil: that cannot be said yet.
func (w *Walk) look(p *pipe.Pipeline, facts Facts) *emit.Fragment {
	req := emit.Request{Name: p.Name(), Pipeline: p}
	if w.source(&req, facts) != nil {
		return nil
	}
	if t, ok := p.Source.(*pipe.Table); ok {
		if req.Shapes = facts.Shapes(t, nil); req.Shapes == nil && len(t.Scan.Cols) > 0 {
			return nil
		}
	}
	f, err := w.Emit(req)
	if err != nil {
		return nil
	}
	return f
}

// maxUnited is how many pipelines are looked at: emitting takes time.
const maxUnited = 16

// unite puts together what a look at all pipelines into a sink finds; nil if one cannot be looked at.
func (w *Walk) unite(s pipe.Sink, facts Facts) []layout.Field {
	var makers []*pipe.Pipeline
	for _, p := range w.prog.Pipelines {
		if p.Sink == s {
			makers = append(makers, p)
		}
		if p.Sink == s && len(p.Stages) > 0 {
			return nil
		}
	}
	if len(makers) > maxUnited {
		return nil
	}
	var out []layout.Field
	var void []bool // only NULLs came so far
	for _, p := range makers {
		f := w.look(p, facts)
		if f == nil || f.Sink == nil {
			return nil
		}
		if out == nil {
			out, void = append(out, f.Sink.Fields[:len(f.Void)]...), append(void, f.Void...) // what Go computes comes behind
			continue
		}
		for i := range out {
			d, o := &out[i].Desc, f.Sink.Fields[i].Desc
			switch {
			case adds(s, i):
				*d = d.Plus(o)
			case f.Void[i]:
				d.Nullable = true
			case void[i]:
				*d = o
				d.Nullable = true
			default:
				*d = d.Unite(o)
			}
			void[i] = void[i] && f.Void[i]
		}
	}
	return out
}

// adds reports a field of a sink that adds up what all rows bring.
func adds(s pipe.Sink, i int) bool {
	a, ok := s.(*pipe.Aggregate)
	if !ok || i < len(a.Group.Keys) {
		return false
	}
	switch a.Group.Aggs[i-len(a.Group.Keys)].Func {
	case plan.Sum, plan.Count, plan.CountStar:
		return true
	}
	return false
}
