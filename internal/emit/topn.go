package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// dropWorse drops the row if it is behind the bound by the sort keys of a sink that wants only
// its first rows; the bound is a tuple as the sink writes them.
func (e *emitter) dropWorse(s *pipe.Collect, t *layout.Tuple) {
	e.Say("top", func(n plan.Names) string { return n.SortKeys(s.Keys) })
	mark := ir.NoReg // where texts begin that are made for the keys alone
	for _, k := range s.Keys {
		if mark == ir.NoReg && e.Makes(e.Ref(k.Col), true) {
			mark = e.Texts.Mark()
		}
	}
	drop := func(c ir.Cond, x, y ir.Val) {
		if mark == ir.NoReg {
			e.skip(c, x, y)
			return
		}
		e.When(c, x, y, func() {
			e.Texts.Drop(mark)
			e.skip(ir.Always, ir.K(0), ir.K(0))
		}, nil)
	}
	first := e.Column(s.Keys[0].Col) // where the row can still use it
	bound := e.Int("bound")
	e.B.Load8(bound, ir.At(ir.Ctx, layout.CtxBound))
	e.When(ir.NE, bound.V(), ir.K(0), func() {
		e.Loop(func(better int32) {
			for i, k := range s.Keys {
				v := first
				if i > 0 {
					v = e.Column(k.Col)
				}
				e.worse(k, v, bound, t.Find(int32(k.Col)), better, drop)
			}
			tie := e.Int("tie")
			e.B.Load8(tie, ir.At(ir.Ctx, layout.CtxTie))
			drop(ir.NE, tie.V(), ir.K(0))
			e.B.Clear(tie)
			e.B.Break(better, ir.Always, ir.K(0), ir.K(0))
		})
	}, nil)
	e.B.Clear(bound)
	if mark != ir.NoReg {
		e.B.Clear(mark)
	}
}

// worse drops the row if v is behind the bound's field, leaves loop better if it is before it, and
// goes on if they are equal.
func (e *emitter) worse(k plan.SortKey, v code.Value, bound ir.Reg, f *layout.Field, better int32, drop func(c ir.Cond, x, y ir.Val)) {
	b := e.loadField(bound, f, ir.K(0))
	behind, before := ir.GT, ir.LT
	if k.Desc {
		behind, before = before, behind
	}
	test := func() {
		if v.Desc.Form == layout.Code && b.Desc.Form == layout.Code && v.Desc.Dict == b.Desc.Dict {
			x, y := e.rank(v), e.rank(b)
			drop(behind, x.V(), y.V())
			e.B.Break(better, before, x.V(), y.V())
			e.B.Clear(x, y)
			return
		}
		if v.Desc.Form == layout.I64 && b.Desc.Form == layout.I64 {
			drop(behind, v.A, b.A)
			e.B.Break(better, before, v.A, b.A)
			return
		}
		c := e.Compare(behind, v, b)
		drop(ir.NE, c.V(), ir.K(0))
		e.B.Clear(c)
		c = e.Compare(before, v, b)
		e.B.Break(better, ir.NE, c.V(), ir.K(0))
		e.B.Clear(c)
	}
	if v.Never() && b.Never() {
		test()
		e.Free(b)
		return
	}
	// NULLs are at one end; two of them are equal.
	d := e.Int("nulls")
	if k.NullsFirst {
		e.B.Op2(ir.Sub, d, b.Null, v.Null)
	} else {
		e.B.Op2(ir.Sub, d, v.Null, b.Null)
	}
	drop(ir.GT, d.V(), ir.K(0))
	e.B.Break(better, ir.LT, d.V(), ir.K(0))
	e.B.Clear(d)
	e.When(ir.EQ, b.Null, ir.K(0), test, nil)
	e.Free(b)
}

// rank opens a register with the rank of a dictionary's code.
func (e *emitter) rank(v code.Value) ir.Reg {
	r := e.LoadWord("ranks", code.Word{Kind: code.WordRanks, Dict: v.Desc.Dict})
	code, own := e.Reg(v.A, "code")
	e.B.Load(r, ir.AtIndex(r, code, 4, 0), 4, false)
	if own {
		e.B.Clear(code)
	}
	return r
}

// topKey is the first sort key of a top-N sink, if it is an integer column of the scan without NULLs.
func (e *emitter) topKey() (k plan.SortKey, ok bool) {
	s, ok := e.Pipeline.Sink.(*pipe.Collect)
	if !ok || !e.TopN {
		return k, false
	}
	k = s.Keys[0]
	d, ok := e.table.DescOf(k.Col)
	return k, ok && d.Form == layout.I64 && !d.Nullable
}

// dropEarly drops rows behind the bound by the first sort key as soon as the source has it, before
// joins are probed for them.
func (e *emitter) dropEarly() {
	k, ok := e.topKey()
	if !ok || len(e.Pipeline.Ops) == 0 {
		return
	}
	e.B.Comment("top, by the first key")
	v, bound := e.Column(k.Col), e.Int("bound")
	e.B.Load8(bound, ir.At(ir.Ctx, layout.CtxFirst))
	behind := ir.GT
	if k.Desc {
		behind = ir.LT
	}
	e.skip(behind, v.A, bound.V())
	e.B.Clear(bound)
}
