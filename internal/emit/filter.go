package emit

import (
	"sort"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

func (e *emitter) filterOp(op *pipe.Filter, i int) {
	e.say("filter", func(n plan.Names) string { return n.And(op.Preds) })
	for _, p := range orderPreds(op.Preds) {
		e.filter(p)
	}
	e.clearDead(i + 1)
	e.consume(i + 1)
}

func (e *emitter) mapOp(op *pipe.Map, i int) {
	for k, x := range op.Exprs {
		e.bindExpr(op.Cols[k], x)
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
			case plan.Or, plan.InList, plan.Case:
				cost += 5
			case plan.Div, plan.Mod, plan.Sqrt: // slow, and other predicates may keep them from failing
				cost += 1000
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
	v := e.eval(x)
	e.skip(ir.EQ, v.a, ir.K(0)) // NULL has a = 0
	e.free(v)
}

func (e *emitter) filterCompare(c *plan.Call) bool {
	if c.Args[0].Type().Phys() > 1 { // only integers and decimals
		return false
	}
	l, r := e.literalValue(e.eval(c.Args[0])), e.literalValue(e.eval(c.Args[1]))
	cond := conds[c.Op]
	if l.d.Form != layout.I64 || r.d.Form != layout.I64 {
		if l.isNull() || r.isNull() {
			e.skip(ir.Always, ir.K(0), ir.K(0))
			e.free(l, r)
			return true
		}
		d := e.comparison(cond, l, r)
		e.skipNulls(l, r)
		e.skip(ir.EQ, d.V(), ir.K(0))
		e.b.Clear(d)
		e.free(l, r)
		return true
	}
	e.skipNulls(l, r)
	if known, is := provable(cond, l, r); !known {
		e.skip(cond.Negate(), l.a, r.a)
	} else if !is {
		e.skip(ir.Always, ir.K(0), ir.K(0))
	}
	e.free(l, r)
	return true
}

// skipNulls drops the row if one of the values is NULL.
func (e *emitter) skipNulls(vs ...value) {
	for _, v := range vs {
		if !v.never() {
			e.skip(ir.NE, v.null, ir.K(0))
		}
	}
}

// scanFilter is a semi-join filter: the row can only matter if the column's value may be
// among a join's keys.
func (e *emitter) scanFilter(f ScanFilter) {
	e.b.Comment("semi-join filter on " + e.Cols.Get(f.Col).Name)
	v := e.column(f.Col)
	e.skipNulls(v)
	if v.d.Form != layout.I64 {
		return
	}
	if f.Range.Lo.Cmp(f.Range.Hi) > 0 { // an empty build side
		e.skip(ir.Always, ir.K(0), ir.K(0))
		return
	}
	k := e.int("key")
	lo, span := int64(f.Range.Lo.Lo), int64(f.Range.Hi.Lo)-int64(f.Range.Lo.Lo)
	e.b.Op2(ir.Sub, k, v.a, ir.K(lo))
	e.skip(ir.UGT, k.V(), ir.K(span))
	switch f.Kind {
	case layout.Bitmap:
		bits, w := e.loadWord("bits", Word{Kind: WordFilter, Index: f.Index}), e.int("word")
		e.b.Op2(ir.Shr, w, k.V(), ir.K(3))
		e.b.Load(w, ir.AtIndex(bits, w, 1, 0), 1, false)
		e.b.Op2(ir.And, k, k.V(), ir.K(7))
		e.b.Op2(ir.Shr, w, w.V(), k.V())
		e.b.Op2(ir.And, w, w.V(), ir.K(1))
		e.skip(ir.EQ, w.V(), ir.K(0))
		e.b.Clear(bits, w)
	case layout.Bloom:
		h := e.hash([]value{v})
		bits, w := e.loadWord("bloom", Word{Kind: WordFilter, Index: f.Index}), e.int("word")
		e.b.Op2(ir.Shr, w, h.V(), ir.K(int64(64-f.Bits)))
		e.b.Load8(w, ir.AtIndex(bits, w, 8, 0))
		m, t := e.int("mask"), e.int("bit")
		e.b.Op2(ir.Shl, m, ir.K(1), h.V())
		e.b.Op2(ir.Shr, t, h.V(), ir.K(6))
		e.b.Op2(ir.Shl, t, ir.K(1), t.V())
		e.b.Op2(ir.Or, m, m.V(), t.V())
		e.b.Op2(ir.And, w, w.V(), m.V())
		e.skip(ir.NE, w.V(), m.V())
		e.b.Clear(h, bits, w, m, t)
	}
	e.b.Clear(k)
}
