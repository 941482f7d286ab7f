package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// dropWorse drops the row if it is behind the bound by the sort keys of a sink that wants only
// its first rows; the bound is a tuple as the sink writes them.
func (e *emitter) dropWorse(s *pipe.Collect, t *layout.Tuple) {
	e.say("top", func(n plan.Names) string { return n.SortKeys(s.Keys) })
	first := e.column(s.Keys[0].Col) // where the row can still use it
	bound := e.int("bound")
	e.b.Load8(bound, ir.At(ir.Ctx, CtxBound))
	e.when(ir.NE, bound.V(), ir.K(0), func() {
		e.loop(func(better int32) {
			for i, k := range s.Keys {
				v := first
				if i > 0 {
					v = e.column(k.Col)
				}
				e.worse(k, v, bound, t.Find(int32(k.Col)), better)
			}
			tie := e.int("tie")
			e.b.Load8(tie, ir.At(ir.Ctx, CtxTie))
			e.skip(ir.NE, tie.V(), ir.K(0))
			e.b.Clear(tie)
			e.b.Break(better, ir.Always, ir.K(0), ir.K(0))
		})
	}, nil)
	e.b.Clear(bound)
}

// worse drops the row if v is behind the bound's field, leaves loop better if it is before it, and
// goes on if they are equal.
func (e *emitter) worse(k plan.SortKey, v value, bound ir.Reg, f *layout.Field, better int32) {
	b := e.loadField(bound, f, ir.K(0))
	behind, before := ir.GT, ir.LT
	if k.Desc {
		behind, before = before, behind
	}
	test := func() {
		if v.d.Form == layout.I64 && b.d.Form == layout.I64 {
			e.skip(behind, v.a, b.a)
			e.b.Break(better, before, v.a, b.a)
			return
		}
		c := e.comparison(behind, v, b)
		e.skip(ir.NE, c.V(), ir.K(0))
		e.b.Clear(c)
		c = e.comparison(before, v, b)
		e.b.Break(better, ir.NE, c.V(), ir.K(0))
		e.b.Clear(c)
	}
	if v.never() && b.never() {
		test()
		e.free(b)
		return
	}
	// NULLs are at one end; two of them are equal.
	d := e.int("nulls")
	if k.NullsFirst {
		e.b.Op2(ir.Sub, d, b.null, v.null)
	} else {
		e.b.Op2(ir.Sub, d, v.null, b.null)
	}
	e.skip(ir.GT, d.V(), ir.K(0))
	e.b.Break(better, ir.LT, d.V(), ir.K(0))
	e.b.Clear(d)
	e.when(ir.EQ, b.null, ir.K(0), test, nil)
	e.free(b)
}

// dropEarly drops rows behind the bound by the first sort key as soon as the source has it, before
// joins are probed for them.
func (e *emitter) dropEarly() {
	s, ok := e.Pipeline.Sink.(*pipe.Collect)
	if !ok || !e.TopN || len(e.Pipeline.Ops) == 0 {
		return
	}
	k := s.Keys[0]
	d, ok := e.scanDesc(k.Col)
	if !ok || d.Form != layout.I64 || d.Nullable {
		return
	}
	e.b.Comment("top, by the first key")
	v, bound := e.column(k.Col), e.int("bound")
	e.b.Load8(bound, ir.At(ir.Ctx, CtxFirst))
	behind := ir.GT
	if k.Desc {
		behind = ir.LT
	}
	e.skip(behind, v.a, bound.V())
	e.b.Clear(bound)
}
