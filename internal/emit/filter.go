package emit

import (
	"sort"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

func (e *emitter) filterOp(op *pipe.Filter, i int) {
	e.Say("filter", func(n plan.Names) string { return n.And(op.Preds) })
	e.tests(orderPreds(op.Preds), i)
}

// tests goes on behind operator i if all predicates hold.
func (e *emitter) tests(preds []plan.Expr, i int) {
	for k, p := range preds {
		rest := func() { e.tests(preds[k+1:], i) }
		if e.together(i, p, preds[k+1:], rest) || e.inSteps(i, p, preds[k+1:], rest) {
			return
		}
		e.filter(p)
	}
	e.clearDead(i + 1)
	e.consume(i + 1)
}

func (e *emitter) mapOp(op *pipe.Map, i int) {
	for k, x := range op.Exprs {
		e.BindExpr(op.Cols[k], x)
	}
	e.consume(i + 1)
}

// orderPreds puts cheap predicates first: comparisons of numbers before string searches.
func orderPreds(preds []plan.Expr) []plan.Expr {
	out := append([]plan.Expr(nil), preds...)
	sort.SliceStable(out, func(i, j int) bool { return predCost(out[i]) < predCost(out[j]) })
	return out
}

func predCost(x plan.Expr) int {
	cost := 0
	plan.WalkExpr(x, func(x plan.Expr) bool {
		if c, ok := x.(*plan.Call); ok {
			cost++
			switch c.Op {
			case plan.Like, plan.Substring, plan.Position, plan.Length:
				cost += 50
			case plan.Apply: // an automaton
				cost += 100
			case plan.Or, plan.InList, plan.Case:
				cost += 5
			case plan.Div, plan.Mod, plan.Sqrt: // slow, and other predicates may keep them from failing
				cost += 1000
			case plan.Add, plan.Sub, plan.Mul, plan.Cast:
				if c.T.IsFloat() && c.Args[0].Type().IsFloat() { // likewise: doubles are rarely known to stay in their range
					cost += 1000
				}
			}
		}
		return true
	})
	return cost
}

// filter drops the row unless the predicate is true. Plain comparisons become one
// compare and jump; a conjunction is its parts in turn.
func (e *emitter) filter(x plan.Expr) {
	if c, ok := x.(*plan.Call); ok {
		switch {
		case c.Op == plan.And:
			for _, a := range c.Args {
				e.filter(a)
			}
			return
		case c.Op.IsComparison():
			if e.filterCompare(c) {
				return
			}
		}
	}
	v := e.Eval(x)
	e.skip(ir.EQ, v.A, ir.K(0)) // NULL has a = 0
	e.Free(v)
}

func (e *emitter) filterCompare(c *plan.Call) bool {
	if c.Args[0].Type().Phys() > 1 { // only integers and decimals
		return false
	}
	l, r := e.FactValue(e.Eval(c.Args[0])), e.FactValue(e.Eval(c.Args[1]))
	cond := scalar.Conds[c.Op]
	if l.Desc.Form != layout.I64 || r.Desc.Form != layout.I64 {
		if l.IsNull() || r.IsNull() {
			e.skip(ir.Always, ir.K(0), ir.K(0))
			e.Free(l, r)
			return true
		}
		d := e.Compare(cond, l, r)
		e.skipNulls(l, r)
		e.skip(ir.EQ, d.V(), ir.K(0))
		e.B.Clear(d)
		e.Free(l, r)
		return true
	}
	e.skipNulls(l, r)
	if known, is := e.Provable(c, cond, l, r); !known {
		e.Comparing(cond.Negate(), l, r, e.skip)
	} else if !is {
		e.skip(ir.Always, ir.K(0), ir.K(0))
	}
	e.Free(l, r)
	return true
}

// skipNulls drops the row if one of the values is NULL.
func (e *emitter) skipNulls(vs ...code.Value) {
	for _, v := range vs {
		if !v.Never() {
			e.skip(ir.NE, v.Null, ir.K(0))
		}
	}
}

// semiFilter is a semi-join filter: the row can only matter if the column's value may be
// among a join's keys.
func (e *emitter) semiFilter(f scanned.Filter) {
	e.B.Comment("semi-join filter on " + e.Cols.Get(f.Col).Name)
	v := e.Column(f.Col)
	e.skipNulls(v)
	if v.Desc.Form != layout.I64 {
		return
	}
	if f.Range.Lo.Cmp(f.Range.Hi) > 0 { // an empty build side
		e.skip(ir.Always, ir.K(0), ir.K(0))
		return
	}
	k := e.Int("key")
	lo, span := int64(f.Range.Lo.Lo), int64(f.Range.Hi.Lo)-int64(f.Range.Lo.Lo)
	e.B.Op2(ir.Sub, k, v.A, e.Fact(lo))
	e.skip(ir.UGT, k.V(), e.Fact(span))
	switch f.Kind {
	case layout.Bitmap:
		bits, w := e.LoadWord("bits", code.Word{Kind: code.WordFilter, Index: f.Index}), e.Int("word")
		e.B.Op2(ir.Shr, w, k.V(), ir.K(3))
		e.B.Load(w, ir.AtIndex(bits, w, 1, 0), 1, false)
		e.B.Op2(ir.And, k, k.V(), ir.K(7))
		e.B.Op2(ir.Shr, w, w.V(), k.V())
		e.B.Op2(ir.And, w, w.V(), ir.K(1))
		e.skip(ir.EQ, w.V(), ir.K(0))
		e.B.Clear(bits, w)
	case layout.Bloom:
		h := e.Hash([]code.Value{v})
		bits, w := e.LoadWord("bloom", code.Word{Kind: code.WordFilter, Index: f.Index}), e.Int("word")
		e.B.Op2(ir.Shr, w, h.V(), e.Fact(int64(64-f.Bits)))
		e.B.Load8(w, ir.AtIndex(bits, w, 8, 0))
		m, t := e.Int("mask"), e.Int("bit")
		e.B.Op2(ir.Shl, m, ir.K(1), h.V())
		e.B.Op2(ir.Shr, t, h.V(), ir.K(6))
		e.B.Op2(ir.Shl, t, ir.K(1), t.V())
		e.B.Op2(ir.Or, m, m.V(), t.V())
		e.B.Op2(ir.And, w, w.V(), m.V())
		e.skip(ir.NE, w.V(), m.V())
		e.B.Clear(h, bits, w, m, t)
	}
	e.B.Clear(k)
}
