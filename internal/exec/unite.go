package exec

import (
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A sink that several pipelines fill is laid out for what all of them may bring: before the first is
// compiled, all are emitted for a look at what they know of their columns. Where that is not possible yet,
// because one of them depends on another or is cut in stages, the types alone count.

// united is the description of the sink's columns; nil: nothing more than their types is known.
func (r *run) united(s pipe.Sink) []layout.Field {
	fs, ok := r.unions[s]
	if ok || r.Off.SharedSinks {
		return fs
	}
	fs = unite(s, r.prog, func(p *pipe.Pipeline) *emit.Fragment {
		req := emit.Request{Name: p.Name(), Cols: r.prog.Query.Cols, Pipeline: p, Tables: r.tables, Off: r.Off}
		r.request(&req)
		req.Map = r.texts.of
		switch src := p.Source.(type) {
		case *pipe.Table:
			req.Shapes, req.Rows = load.FirstShapes(src.Scan, nil), src.Scan.Snap.Rows
		case *pipe.Series:
			req.Rows = src.Node.N
		case *pipe.Constants:
			req.Tuple, req.Rows = constantsTuple(r.prog.Query.Cols, src), int64(len(src.Rows))
		case *pipe.Buffer:
			if !r.finished[src.Of] {
				return nil
			}
			rows := r.rowsOf(src.Of)
			req.Tuple, req.Indirect, req.Rows = rows.Tuple, rows.Indirect, rows.Len()
		default:
			return nil
		}
		for _, op := range p.Ops {
			if pr, ok := op.(*pipe.Probe); ok && r.tables[pr.Build] == nil {
				return nil
			}
		}
		f, err := emit.Pipeline(req)
		if err != nil {
			return nil
		}
		return f
	})
	r.unions[s] = fs
	return fs
}

// maxUnited is how many pipelines are looked at: emitting takes time.
const maxUnited = 16

// unite puts together what look finds of the pipelines into a sink; nil if one cannot be looked at.
func unite(s pipe.Sink, prog *pipe.Program, look func(p *pipe.Pipeline) *emit.Fragment) []layout.Field {
	var makers []*pipe.Pipeline
	for _, p := range prog.Pipelines {
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
		f := look(p)
		if f == nil || f.Sink == nil {
			return nil
		}
		if out == nil {
			out, void = append(out, f.Sink.Fields...), append(void, f.Void...)
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
