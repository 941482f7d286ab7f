package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

var conds = map[plan.Op]ir.Cond{plan.Eq: ir.EQ, plan.Ne: ir.NE, plan.Lt: ir.LT, plan.Le: ir.LE, plan.Gt: ir.GT, plan.Ge: ir.GE}

// compareExpr is a comparison as a value.
func (e *evaluator) compareExpr(x *plan.Call) value {
	if c, other, lit, ok := textLiteral(x); ok {
		return e.compareText(c, other, lit)
	}
	l, r := e.eval(x.Args[0]), e.eval(x.Args[1])
	if x.Op == plan.NotDistinct {
		return e.notDistinct(l, r)
	}
	c := conds[x.Op]
	if known, is := provable(c, l, r); known && l.never() && r.never() {
		e.free(l, r)
		return e.constant(types.BoolValue(is))
	}
	n, own := e.anyNull(l, r)
	if n == ir.K(1) {
		e.free(l, r)
		return e.nullValue(types.TBool)
	}
	d := e.comparison(c, l, r)
	e.free(l, r)
	if !n.IsImm() {
		e.b.Sel(d, ir.NE, n, ir.K(0), ir.K(0), d.V())
	}
	return boolVal(d).withNull(n, own)
}

// provable reports a comparison whose outcome the ranges tell.
func provable(c ir.Cond, l, r value) (known, is bool) {
	if l.d.Form != layout.I64 && l.d.Form != layout.I128 || !l.d.Range.Known || !r.d.Range.Known {
		return false, false
	}
	below := l.d.Range.Hi.Cmp(r.d.Range.Lo) // < 0: always less; 0: less or equal
	above := l.d.Range.Lo.Cmp(r.d.Range.Hi) // > 0: always greater; 0: greater or equal
	switch c {
	case ir.LT:
		return below < 0 || above >= 0, below < 0
	case ir.LE:
		return below <= 0 || above > 0, below <= 0
	case ir.GT:
		return above > 0 || below <= 0, above > 0
	case ir.GE:
		return above >= 0 || below < 0, above >= 0
	case ir.EQ:
		return below < 0 || above > 0, false
	case ir.NE:
		return below < 0 || above > 0, true
	}
	return false, false
}

// comparison opens a register with cond(l, r) for values that are not NULL.
func (e *evaluator) comparison(c ir.Cond, l, r value) ir.Reg {
	switch {
	case l.d.Form == layout.Code && r.d.Form == layout.Code && l.d.Dict == r.d.Dict && (c == ir.EQ || c == ir.NE):
		d := e.int("cmp")
		e.b.Set(d, c, l.a, r.a)
		return d
	case l.d.Form == layout.Code || r.d.Form == layout.Code || l.d.Form == layout.Str:
		l, r = e.text(l.borrowed()), e.text(r.borrowed())
		d := e.textCompare(c, l, r)
		e.free(l, r)
		return d
	case l.d.Form == layout.F64:
		return e.floatCompare(c, l.a.R, r.a.R)
	case l.d.Form == layout.I128 || r.d.Form == layout.I128:
		l, r = e.wide(l.borrowed()), e.wide(r.borrowed())
		d := e.cmp128(c, l, r)
		e.free(l, r)
		return d
	case l.d.Form == layout.Ivl:
		a, b := e.intervalMicros(l), e.intervalMicros(r)
		d := e.cmp128(c, a, b)
		e.free(a, b)
		return d
	}
	d := e.int("cmp")
	e.b.Set(d, c, l.a, r.a)
	return d
}

// cmp128 compares pairs: by the high halves, and by the low ones, unsigned, where those are equal.
func (e *evaluator) cmp128(c ir.Cond, l, r value) ir.Reg {
	d, t := e.int("cmp"), e.int("low")
	if c == ir.EQ || c == ir.NE {
		e.b.Op2(ir.Xor, d, l.a, r.a)
		e.b.Op2(ir.Xor, t, l.b, r.b)
		e.b.Op2(ir.Or, d, d.V(), t.V())
		e.b.Set(d, c, d.V(), ir.K(0))
		e.b.Clear(t)
		return d
	}
	low := map[ir.Cond]ir.Cond{ir.LT: ir.ULT, ir.LE: ir.ULE, ir.GT: ir.UGT, ir.GE: ir.UGE}[c]
	strict := map[ir.Cond]ir.Cond{ir.LT: ir.LT, ir.LE: ir.LT, ir.GT: ir.GT, ir.GE: ir.GT}[c]
	e.b.Set(t, low, l.a, r.a)
	e.b.Set(d, strict, l.b, r.b)
	e.b.Sel(d, ir.EQ, l.b, r.b, t.V(), d.V())
	e.b.Clear(t)
	return d
}

// floatCompare orders floats as PostgreSQL does: NaN equals NaN and is above all numbers.
func (e *evaluator) floatCompare(c ir.Cond, l, r ir.Reg) ir.Reg {
	d, ln, rn := e.int("cmp"), e.int("lnan"), e.int("rnan")
	e.b.FSet(d, c, l, r)
	e.b.FSet(ln, ir.NE, l, l)
	e.b.FSet(rn, ir.NE, r, r)
	// With NaNs, compare the two flags instead.
	both := e.int("nan")
	e.b.Op2(ir.Or, both, ln.V(), rn.V())
	e.b.Set(ln, c, ln.V(), rn.V())
	e.b.Sel(d, ir.NE, both.V(), ir.K(0), ln.V(), d.V())
	e.b.Clear(ln, rn, both)
	return d
}

// intervalMicros is the length by which intervals compare, in months of 30 days. It may need more
// than 64 bits.
func (e *evaluator) intervalMicros(v value) value {
	r, t := e.int("micros"), e.int("days")
	e.b.Op2(ir.Sar, r, v.a, ir.K(32))
	e.b.Op2(ir.Mul, r, r.V(), ir.K(30))
	e.b.Op2(ir.Shl, t, v.a, ir.K(32))
	e.b.Op2(ir.Sar, t, t.V(), ir.K(32))
	e.b.Op2(ir.Add, r, r.V(), t.V())
	hi, sign := e.int("micros.hi"), e.int("sign")
	e.b.Op128(ir.MulWide, r, hi, r.V(), ir.Val{}, ir.K(microsPerDay), ir.Val{}, 0)
	e.b.Mov(t, v.b)
	e.b.Op2(ir.Sar, sign, t.V(), ir.K(63))
	e.b.Op128(ir.Add128, r, hi, r.V(), hi.V(), t.V(), sign.V(), 0)
	e.b.Clear(t, sign)
	return value{d: layout.Desc{Form: layout.I128}, a: r.V(), b: hi.V(), ownA: true, ownB: true, null: ir.K(0)}
}

// notDistinct is l IS NOT DISTINCT FROM r; l and r are used up.
func (e *evaluator) notDistinct(l, r value) value {
	var d ir.Reg
	if l.isNull() || r.isNull() {
		d = e.int("same")
		e.b.Mov(d, ir.K(0))
	} else {
		d = e.comparison(ir.EQ, l, r)
	}
	if !l.never() || !r.never() {
		t := e.int("nulls")
		e.b.Op2(ir.Or, t, l.null, r.null)
		e.b.Sel(d, ir.NE, t.V(), ir.K(0), ir.K(0), d.V())
		e.b.Op2(ir.And, t, l.null, r.null)
		e.b.Op2(ir.Or, d, d.V(), t.V())
		e.b.Clear(t)
	}
	e.free(l, r)
	return boolVal(d)
}

// extreme is greatest and least: NULLs are ignored.
func (e *evaluator) extreme(x *plan.Call) value {
	c := ir.GT
	if x.Op == plan.Least {
		c = ir.LT
	}
	out := e.result(x, x.Args)
	for i, a := range x.Args {
		v := e.eval(a)
		if i == 0 {
			e.assign(out, v)
			e.free(v)
			continue
		}
		if v.isNull() {
			e.free(v)
			continue
		}
		w := e.reform(v.borrowed(), out.d.Form)
		better := e.comparison(c, w, out)
		e.free(w)
		if !out.never() {
			e.b.Sel(better, ir.NE, out.null, ir.K(0), ir.K(1), better.V())
		}
		if !v.never() {
			e.b.Sel(better, ir.NE, v.null, ir.K(0), ir.K(0), better.V())
		}
		e.when(ir.NE, better.V(), ir.K(0), func() { e.assign(out, v) }, nil)
		e.b.Clear(better)
		e.free(v)
	}
	return out
}
