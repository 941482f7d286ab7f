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
	mark := ir.NoReg // where texts begin that are made for the keys alone
	for _, k := range s.Keys {
		if mark == ir.NoReg && e.makes(e.ref(k.Col), true) {
			mark = e.markTexts()
		}
	}
	drop := func(c ir.Cond, x, y ir.Val) {
		if mark == ir.NoReg {
			e.skip(c, x, y)
			return
		}
		e.when(c, x, y, func() {
			e.dropTexts(mark)
			e.skip(ir.Always, ir.K(0), ir.K(0))
		}, nil)
	}
	first := e.column(s.Keys[0].Col) // where the row can still use it
	bound := e.int("bound")
	e.b.Load8(bound, ir.At(ir.Ctx, layout.CtxBound))
	e.when(ir.NE, bound.V(), ir.K(0), func() {
		e.loop(func(better int32) {
			for i, k := range s.Keys {
				v := first
				if i > 0 {
					v = e.column(k.Col)
				}
				e.worse(k, v, bound, t.Find(int32(k.Col)), better, drop)
			}
			tie := e.int("tie")
			e.b.Load8(tie, ir.At(ir.Ctx, layout.CtxTie))
			drop(ir.NE, tie.V(), ir.K(0))
			e.b.Clear(tie)
			e.b.Break(better, ir.Always, ir.K(0), ir.K(0))
		})
	}, nil)
	e.b.Clear(bound)
	if mark != ir.NoReg {
		e.b.Clear(mark)
	}
}

// worse drops the row if v is behind the bound's field, leaves loop better if it is before it, and
// goes on if they are equal.
func (e *emitter) worse(k plan.SortKey, v value, bound ir.Reg, f *layout.Field, better int32, drop func(c ir.Cond, x, y ir.Val)) {
	b := e.loadField(bound, f, ir.K(0))
	behind, before := ir.GT, ir.LT
	if k.Desc {
		behind, before = before, behind
	}
	test := func() {
		if v.d.Form == layout.Code && b.d.Form == layout.Code && v.d.Dict == b.d.Dict {
			x, y := e.rank(v), e.rank(b)
			drop(behind, x.V(), y.V())
			e.b.Break(better, before, x.V(), y.V())
			e.b.Clear(x, y)
			return
		}
		if v.d.Form == layout.I64 && b.d.Form == layout.I64 {
			drop(behind, v.a, b.a)
			e.b.Break(better, before, v.a, b.a)
			return
		}
		c := e.comparison(behind, v, b)
		drop(ir.NE, c.V(), ir.K(0))
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
	drop(ir.GT, d.V(), ir.K(0))
	e.b.Break(better, ir.LT, d.V(), ir.K(0))
	e.b.Clear(d)
	e.when(ir.EQ, b.null, ir.K(0), test, nil)
	e.free(b)
}

// rank opens a register with the rank of a dictionary's code.
func (e *emitter) rank(v value) ir.Reg {
	r := e.loadWord("ranks", Word{Kind: WordRanks, Dict: v.d.Dict})
	code, own := e.reg(v.a, "code")
	e.b.Load(r, ir.AtIndex(r, code, 4, 0), 4, false)
	if own {
		e.b.Clear(code)
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
	d, ok := e.scanDesc(k.Col)
	return k, ok && d.Form == layout.I64 && !d.Nullable
}

// topShare is the share of rows that are expected to be before the bound.
const topShare = 0.01

// topMask drops rows behind the bound by the first sort key, as the bound is when a morsel begins.
func (e *emitter) topMask(f *front) (maskTest, bool) {
	k, ok := e.topKey()
	if !ok {
		return maskTest{}, false
	}
	c, ok := e.maskCol(k.Col)
	if !ok {
		return maskTest{}, false
	}
	first, last := int64(c.d.Range.Lo.Lo), int64(c.d.Range.Hi.Lo)
	low, span, some := e.scratch(8), e.scratch(8), e.scratch(8)
	f.setup = append(f.setup, func() {
		x, y := e.int("low"), e.int("high")
		e.b.Mov(x, ir.K(first))
		e.b.Mov(y, ir.K(last))
		bound := e.int("bound")
		e.b.Load8(bound, ir.At(ir.Ctx, layout.CtxFirst))
		if k.Desc {
			e.b.Sel(x, ir.GT, bound.V(), x.V(), bound.V(), x.V())
		} else {
			e.b.Sel(y, ir.LT, bound.V(), y.V(), bound.V(), y.V())
		}
		e.b.Clear(bound)
		e.codesBetween(c, x, y, low, span, some)
	})
	say := func(n plan.Names) string { return "top " + n.SortKeys([]plan.SortKey{k}) }
	return maskTest{share: topShare, cost: c.cost(), say: say, mask: e.codesFrom(c, low, span, some), leave: func() {}}, true
}

// dropEarly drops rows behind the bound by the first sort key as soon as the source has it, before
// joins are probed for them.
func (e *emitter) dropEarly() {
	k, ok := e.topKey()
	if !ok || len(e.Pipeline.Ops) == 0 {
		return
	}
	e.b.Comment("top, by the first key")
	v, bound := e.column(k.Col), e.int("bound")
	e.b.Load8(bound, ir.At(ir.Ctx, layout.CtxFirst))
	behind := ir.GT
	if k.Desc {
		behind = ir.LT
	}
	e.skip(behind, v.a, bound.V())
	e.b.Clear(bound)
}
