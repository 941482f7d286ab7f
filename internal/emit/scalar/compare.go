package scalar

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

var Conds = map[plan.Op]ir.Cond{plan.Eq: ir.EQ, plan.Ne: ir.NE, plan.Lt: ir.LT, plan.Le: ir.LE, plan.Gt: ir.GT, plan.Ge: ir.GE}

// compareExpr is a comparison as a value.
func (e *Evaluator) compareExpr(x *plan.Call) code.Value {
	if c, other, lit, ok := textLiteral(x); ok {
		return e.compareText(c, other, lit)
	}
	l, r := e.FactValue(e.Eval(x.Args[0])), e.FactValue(e.Eval(x.Args[1]))
	if x.Op == plan.NotDistinct {
		return e.NotDistinct(l, r)
	}
	c := Conds[x.Op]
	if known, is := e.Provable(x, c, l, r); known && l.Never() && r.Never() {
		e.Free(l, r)
		return e.Constant(types.BoolValue(is))
	}
	n, own := e.AnyNull(l, r)
	if n == ir.K(1) {
		e.Free(l, r)
		return e.NullValue(types.TBool)
	}
	d := e.Compare(c, l, r)
	e.Free(l, r)
	if !n.IsImm() {
		e.B.Sel(d, ir.NE, n, ir.K(0), ir.K(0), d.V())
	}
	return code.BoolValue(d).WithNull(n, own)
}

// Provable reports a comparison whose outcome the ranges tell. Where literals are parameters, those of another query may tell
// something else.
func (e *Evaluator) Provable(x *plan.Call, c ir.Cond, l, r code.Value) (known, is bool) {
	if e.Can.Parameters && (constantOf(x.Args[0]) != nil || constantOf(x.Args[1]) != nil) {
		return false, false
	}
	if l.Desc.Form != layout.I64 && l.Desc.Form != layout.I128 || !l.Desc.Range.Known || !r.Desc.Range.Known {
		return false, false
	}
	below := l.Desc.Range.Hi.Cmp(r.Desc.Range.Lo) // < 0: always less; 0: less or equal
	above := l.Desc.Range.Lo.Cmp(r.Desc.Range.Hi) // > 0: always greater; 0: greater or equal
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

// Compare opens a register with cond(l, r) for values that are not NULL.
func (e *Evaluator) Compare(c ir.Cond, l, r code.Value) ir.Reg {
	switch {
	case l.Desc.Form == layout.Code && r.Desc.Form == layout.Code && l.Desc.Dict == r.Desc.Dict && (c == ir.EQ || c == ir.NE):
		d := e.Int("cmp")
		e.B.Set(d, c, l.A, r.A)
		return d
	case l.Desc.Form == layout.Code || r.Desc.Form == layout.Code || l.Desc.Form == layout.Str:
		l, r = e.Text(l.Borrowed()), e.Text(r.Borrowed())
		d := text.Compare(&e.Emitter, c, l, r)
		e.Free(l, r)
		return d
	case l.Desc.Form == layout.F64:
		return e.CompareFloats(c, l.A.R, r.A.R)
	case l.Desc.Form == layout.I128 || r.Desc.Form == layout.I128:
		l, r = e.Wide(l.Borrowed()), e.Wide(r.Borrowed())
		d := e.compare128(c, l, r)
		e.Free(l, r)
		return d
	case l.Desc.Form == layout.Ivl:
		a, b := e.intervalMicros(l), e.intervalMicros(r)
		d := e.compare128(c, a, b)
		e.Free(a, b)
		return d
	}
	d := e.Int("cmp")
	e.Comparing(c, l, r, func(c ir.Cond, x, y ir.Val) { e.B.Set(d, c, x, y) })
	return d
}

// compare128 compares pairs: by the high halves, and by the low ones, unsigned, where those are equal.
func (e *Evaluator) compare128(c ir.Cond, l, r code.Value) ir.Reg {
	d, t := e.Int("cmp"), e.Int("low")
	if c == ir.EQ || c == ir.NE {
		e.B.Op2(ir.Xor, d, l.A, r.A)
		e.B.Op2(ir.Xor, t, l.B, r.B)
		e.B.Op2(ir.Or, d, d.V(), t.V())
		e.B.Set(d, c, d.V(), ir.K(0))
		e.B.Clear(t)
		return d
	}
	low := map[ir.Cond]ir.Cond{ir.LT: ir.ULT, ir.LE: ir.ULE, ir.GT: ir.UGT, ir.GE: ir.UGE}[c]
	strict := map[ir.Cond]ir.Cond{ir.LT: ir.LT, ir.LE: ir.LT, ir.GT: ir.GT, ir.GE: ir.GT}[c]
	e.B.Set(t, low, l.A, r.A)
	e.B.Set(d, strict, l.B, r.B)
	e.B.Sel(d, ir.EQ, l.B, r.B, t.V(), d.V())
	e.B.Clear(t)
	return d
}

// CompareFloats orders floats as PostgreSQL does: NaN equals NaN and is above all numbers.
func (e *Evaluator) CompareFloats(c ir.Cond, l, r ir.Reg) ir.Reg {
	d, ln, rn := e.Int("cmp"), e.Int("lnan"), e.Int("rnan")
	e.B.FSet(d, c, l, r)
	e.B.FSet(ln, ir.NE, l, l)
	e.B.FSet(rn, ir.NE, r, r)
	// With NaNs, compare the two flags instead.
	both := e.Int("nan")
	e.B.Op2(ir.Or, both, ln.V(), rn.V())
	e.B.Set(ln, c, ln.V(), rn.V())
	e.B.Sel(d, ir.NE, both.V(), ir.K(0), ln.V(), d.V())
	e.B.Clear(ln, rn, both)
	return d
}

// intervalMicros is the length by which intervals compare, in months of 30 days. It may need more
// than 64 bits.
func (e *Evaluator) intervalMicros(v code.Value) code.Value {
	r, t := e.Int("micros"), e.Int("days")
	e.B.Op2(ir.Sar, r, v.A, ir.K(32))
	e.B.Op2(ir.Mul, r, r.V(), ir.K(30))
	e.B.Op2(ir.Shl, t, v.A, ir.K(32))
	e.B.Op2(ir.Sar, t, t.V(), ir.K(32))
	e.B.Op2(ir.Add, r, r.V(), t.V())
	hi, sign := e.Int("micros.hi"), e.Int("sign")
	e.B.Op128(ir.MulWide, r, hi, r.V(), ir.Val{}, ir.K(microsPerDay), ir.Val{}, 0)
	e.B.Mov(t, v.B)
	e.B.Op2(ir.Sar, sign, t.V(), ir.K(63))
	e.B.Op128(ir.Add128, r, hi, r.V(), hi.V(), t.V(), sign.V(), 0)
	e.B.Clear(t, sign)
	return code.Value{Desc: layout.Desc{Form: layout.I128}, A: r.V(), B: hi.V(), OwnA: true, OwnB: true, Null: ir.K(0)}
}

// NotDistinct is l IS NOT DISTINCT FROM r; l and r are used up.
func (e *Evaluator) NotDistinct(l, r code.Value) code.Value {
	var d ir.Reg
	if l.IsNull() || r.IsNull() {
		d = e.Int("same")
		e.B.Mov(d, ir.K(0))
	} else {
		d = e.Compare(ir.EQ, l, r)
	}
	if !l.Never() || !r.Never() {
		t := e.Int("nulls")
		e.B.Op2(ir.Or, t, l.Null, r.Null)
		e.B.Sel(d, ir.NE, t.V(), ir.K(0), ir.K(0), d.V())
		e.B.Op2(ir.And, t, l.Null, r.Null)
		e.B.Op2(ir.Or, d, d.V(), t.V())
		e.B.Clear(t)
	}
	e.Free(l, r)
	return code.BoolValue(d)
}

// extreme is greatest and least: NULLs are ignored.
func (e *Evaluator) extreme(x *plan.Call) code.Value {
	c := ir.GT
	if x.Op == plan.Least {
		c = ir.LT
	}
	out := e.result(x, x.Args)
	for i, a := range x.Args {
		v := e.Eval(a)
		if i == 0 {
			e.assign(out, v)
			e.Free(v)
			continue
		}
		if v.IsNull() {
			e.Free(v)
			continue
		}
		w := e.Reform(v.Borrowed(), out.Desc.Form)
		better := e.Compare(c, w, out)
		e.Free(w)
		if !out.Never() {
			e.B.Sel(better, ir.NE, out.Null, ir.K(0), ir.K(1), better.V())
		}
		if !v.Never() {
			e.B.Sel(better, ir.NE, v.Null, ir.K(0), ir.K(0), better.V())
		}
		e.When(ir.NE, better.V(), ir.K(0), func() { e.assign(out, v) }, nil)
		e.B.Clear(better)
		e.Free(v)
	}
	return out
}
