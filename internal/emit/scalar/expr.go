package scalar

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Evaluator writes expressions.
type Evaluator struct {
	code.Emitter
	// tabulate makes a table of a predicate's outcomes by the codes of a dictionary column; nil: none are made.
	Tabulate func(x plan.Expr, id plan.ColID, d layout.Desc) int
	// scans reports a column whose texts are read one after the other.
	Scans func(id plan.ColID) bool
	// Map works functions of a dictionary's texts out; nil: rows compute them.
	Map TextMapper

	Patience  diag.Patience
	calendars []*calendar
	textMaps  []placedMap
	descs     map[plan.Expr]code.Value // what Outline found out
	asOf      int                      // the binding after which that was
}

// Eval writes code that computes an expression. The caller frees the result.
func (e *Evaluator) Eval(x plan.Expr) code.Value {
	v := e.compute(x)
	if e.Check && v.Desc.Form == layout.Str {
		e.checkText(v)
	}
	return v
}

// checkText ends the query if a text's address cannot be one, or its length: see value.
func (e *Evaluator) checkText(v code.Value) {
	if v.IsNull() {
		return
	}
	if v.A.IsImm() {
		panic("a text that may not be NULL without an address")
	}
	bad := e.Fail(diag.Errorf(diag.InternalError, -1, "internal error in generated code: a text whose bytes are not in memory"))
	e.When(ir.NE, v.B, ir.K(0), func() {
		e.B.Exit(bad, ir.ULT, v.A, ir.K(firstPage))
		e.B.Exit(bad, ir.UGT, v.B, ir.K(maxText))
	}, nil)
}

const (
	firstPage = 4096    // nothing is mapped below
	maxText   = 1 << 40 // no text is as long
)

func (e *Evaluator) compute(x plan.Expr) code.Value {
	e.Patience.Tick()
	switch x := x.(type) {
	case *plan.Ref:
		return e.Column(x.ID)
	case *plan.Const:
		return e.Constant(x.V)
	case *plan.Call:
		if v, ok := e.lookupTable(x); ok {
			return v
		}
		if v, ok := e.mapText(x); ok {
			return v
		}
		if x.T.Phys() == types.PhysStr || x.T.Kind == types.Interval {
			return e.call(x)
		}
		var v code.Value
		e.withTexts(func() { v = e.call(x) }, x.Args...)
		return v
	}
	panic("expression that unnesting should have removed")
}

func (e *Evaluator) call(x *plan.Call) code.Value {
	if !CanEmit(x) {
		code.Refuse(x.Pos, "%s is not supported in compiled code", x.Op)
	}
	switch x.Op {
	case plan.Add, plan.Sub, plan.Mul:
		return e.arith(x)
	case plan.Div, plan.Mod:
		return e.divide(x)
	case plan.Neg:
		return e.negate(x)
	case plan.Abs:
		return e.abs(x)
	case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge, plan.NotDistinct:
		return e.compareExpr(x)
	case plan.And, plan.Or:
		return e.logic(x)
	case plan.Not:
		return e.not(x)
	case plan.IsNull:
		v := e.Eval(x.Args[0])
		defer e.Free(v)
		if v.Null.IsImm() {
			return e.Constant(types.BoolValue(v.IsNull()))
		}
		r := e.Int("isnull")
		e.B.Mov(r, v.Null)
		return code.BoolValue(r)
	case plan.IsTrue:
		v := e.Eval(x.Args[0])
		if v.OwnNull {
			e.B.Clear(v.Null.R)
		}
		return v.WithNull(ir.K(0), false) // a NULL boolean has a = 0
	case plan.Case:
		return e.caseExpr(x)
	case plan.Coalesce:
		return e.coalesce(x)
	case plan.NullIf:
		return e.nullIf(x)
	case plan.InList:
		return e.inList(x)
	case plan.Greatest, plan.Least:
		return e.extreme(x)
	case plan.Cast:
		return e.cast(x)
	case plan.Extract:
		return e.extract(x)
	case plan.DateTrunc:
		return e.dateTrunc(x)
	case plan.AddInterval:
		return e.addInterval(x)
	case plan.DateAdd:
		return e.unlessInfinite(e.FactValue(e.Eval(x.Args[0])), x.T, func(d code.Value) code.Value {
			return e.intOp(ir.Add, d, e.FactValue(e.Eval(x.Args[1])), x.T, dateError(x.Pos))
		})
	case plan.DateSub:
		return e.subDates(x)
	case plan.Like, plan.StartsWith, plan.Substring, plan.LeftStr, plan.RightStr, plan.Trim, plan.Ltrim, plan.Rtrim,
		plan.Position, plan.Length, plan.OctetLength, plan.Concat, plan.Lower, plan.Upper, plan.Replace:
		return e.textCall(x)
	case plan.Apply:
		if x.Fn.Formula != nil {
			return e.formula(x)
		}
		return e.matching(x)
	case plan.Floor, plan.Ceil, plan.Sqrt, plan.Round, plan.Trunc, plan.Sign:
		return e.mathCall(x)
	}
	panic("CanEmit promised code for " + x.Op.String())
}

// BindExpr defines a column by an expression over others.
func (e *Evaluator) BindExpr(id plan.ColID, x plan.Expr) {
	e.BindAs(id, x, func() code.Value {
		if _, plain := x.(*plan.Ref); !plain {
			e.Detail("compute", func(n plan.Names) string { return n.Define(id, x) })
		}
		return e.Called(e.Eval(x), e.Cols.Get(id).Name)
	})
}

func (e *Evaluator) Alias(to, from plan.ColID) { e.BindExpr(to, e.Ref(from)) }

func Overflow(t types.Type, pos int) *diag.Error {
	if t.Kind == types.Decimal && t != types.TUInt64 {
		return diag.Errorf(diag.NumericOutOfRange, pos, "numeric field overflow")
	}
	return diag.Errorf(diag.NumericOutOfRange, pos, "%s out of range", t.SQLName())
}

func dateError(pos int) *diag.Error {
	return diag.Errorf(diag.DatetimeOverflow, pos, "date out of range")
}

// arith is +, - and * on integers, decimals and floats.
func (e *Evaluator) arith(x *plan.Call) code.Value {
	l, r := e.FactValue(e.Eval(x.Args[0])), e.FactValue(e.Eval(x.Args[1]))
	if l.Desc.Form == layout.F64 {
		op := map[plan.Op]ir.Op{plan.Add: ir.FAdd, plan.Sub: ir.FSub, plan.Mul: ir.FMul}[x.Op]
		return e.floatOp(op, l, r, x)
	}
	if x.Op == plan.Mul && x.T.Kind == types.Decimal && l.Desc.Type.Scale+r.Desc.Type.Scale > x.T.Scale {
		return e.roundedProduct(x, l, r)
	}
	op := map[plan.Op]ir.Op{plan.Add: ir.Add, plan.Sub: ir.Sub, plan.Mul: ir.Mul}[x.Op]
	return e.intOp(op, l, r, x.T, Overflow(x.T, x.Pos))
}

// intOp computes l op r (Add, Sub, Mul) for integers and decimals. The result's range decides
// the width and whether overflow must be tested: most of the time it need not.
// l and r are used up.
func (e *Evaluator) intOp(op ir.Op, l, r code.Value, t types.Type, fail *diag.Error) code.Value {
	var rng layout.Range
	switch op {
	case ir.Add:
		rng = l.Desc.Range.Add(r.Desc.Range)
	case ir.Sub:
		rng = l.Desc.Range.Sub(r.Desc.Range)
	case ir.Mul:
		rng = l.Desc.Range.Mul(r.Desc.Range)
	}
	limit := layout.FiniteRange(t)
	inside := rng.Known && limit.Known && rng.Lo.Cmp(limit.Lo) >= 0 && rng.Hi.Cmp(limit.Hi) <= 0
	out := limit.Intersect(rng)
	v := code.Value{Desc: layout.Desc{Type: t, Range: out}}
	n, ownNull := e.AnyNull(l, r)

	switch {
	case rng.Fits64() && l.Desc.Form == layout.I64 && r.Desc.Form == layout.I64:
		// The result cannot leave 64 bits; it may still leave the type.
		d := e.Arith(op, op.String(), l, r, rng)
		if !inside && fail != nil && limit.Fits64() {
			e.rangeCheck(d, limit, n, fail)
		}
		v.Desc.Form, v.A, v.OwnA = layout.I64, d.V(), true
		e.Free(l, r)
	case t.Kind != types.Decimal:
		// BIGINT: the machine's overflow is the type's. NULL operands are 0 or harmless,
		// but a NULL row must not fail: its operands are forced to 0.
		d := e.Int(op.String())
		a, b := e.harmless(l), e.harmless(r)
		if limit.Fits64() && fail != nil {
			checked := map[ir.Op]ir.Op{ir.Add: ir.AddX, ir.Sub: ir.SubX, ir.Mul: ir.MulX}[op]
			e.B.OpX(checked, d, a.A, b.A, e.Fail(fail))
			if t.Kind != types.Int64 {
				e.rangeCheck(d, limit, n, fail)
			}
		} else {
			e.B.Op2(op, d, a.A, b.A)
		}
		v.Desc.Form, v.A, v.OwnA = layout.I64, d.V(), true
		v.Desc.Range = limit
		e.Free(a, b)
	default:
		v = e.wideOp(op, l, r, t, inside, fail)
		v.Desc.Range = out
		v.Desc.Form = layout.I128
		if out.Fits64() && inside {
			v = e.Reform(v, layout.I64)
		}
	}
	return v.WithNull(n, ownNull)
}

// harmless is v with 0 in place of NULL, so that checks do not fail on it.
func (e *Evaluator) harmless(v code.Value) code.Value {
	if v.Null.IsImm() {
		return v
	}
	r := e.Int("or0")
	e.B.Sel(r, ir.NE, v.Null, ir.K(0), ir.K(0), v.A)
	w := v
	w.A, w.OwnA = r.V(), true
	if v.OwnA {
		e.B.Clear(v.A.R)
	}
	if v.Two() {
		r := e.Int("or0")
		e.B.Sel(r, ir.NE, v.Null, ir.K(0), ir.K(0), v.B)
		w.B, w.OwnB = r.V(), true
		if v.OwnB {
			e.B.Clear(v.B.R)
		}
	}
	return w
}

// rangeCheck fails when d lies outside of a type's range and the row is not NULL.
func (e *Evaluator) rangeCheck(d ir.Reg, limit layout.Range, null ir.Val, fail *diag.Error) {
	lo, hi := int64(limit.Lo.Lo), int64(limit.Hi.Lo)
	t := e.Int("check")
	e.B.Op2(ir.Sub, t, d.V(), ir.K(lo))
	if !null.IsImm() {
		e.B.Sel(t, ir.NE, null, ir.K(0), ir.K(0), t.V())
	}
	e.Exit(e.Fail(fail), ir.UGT, t.V(), ir.K(hi-lo))
	e.B.Clear(t)
}

// wideOp computes on 128 bits. Sums of in-range decimals fit; products are checked by their
// high parts unless the ranges prove them.
func (e *Evaluator) wideOp(op ir.Op, l, r code.Value, t types.Type, inside bool, fail *diag.Error) code.Value {
	lo, hi := e.Int(op.String()), e.Int(e.PartName(op.String(), ".hi"))
	narrow := l.Desc.Form == layout.I64 && r.Desc.Form == layout.I64
	if !inside { // a NULL row must not fail
		l, r = e.harmless(l), e.harmless(r)
	}
	switch {
	case op == ir.Mul && narrow:
		e.B.Op128(ir.MulWide, lo, hi, l.A, ir.Val{}, r.A, ir.Val{}, 0)
		e.Free(l, r)
	default:
		l, r = e.Wide(l), e.Wide(r)
		switch {
		case op == ir.Add && inside:
			e.B.Op128(ir.Add128, lo, hi, l.A, l.B, r.A, r.B, 0)
		case op == ir.Sub && inside:
			e.B.Op128(ir.Sub128, lo, hi, l.A, l.B, r.A, r.B, 0)
		case op == ir.Add:
			e.B.Op128(ir.Add128X, lo, hi, l.A, l.B, r.A, r.B, e.Fail(fail))
		case op == ir.Sub:
			e.B.Op128(ir.Sub128X, lo, hi, l.A, l.B, r.A, r.B, e.Fail(fail))
		default:
			if !inside {
				e.mulCheck(l, r, fail)
			}
			e.B.Op128(ir.Mul128, lo, hi, l.A, l.B, r.A, r.B, 0)
		}
		e.Free(l, r)
	}
	if !inside {
		e.precisionLimits(lo.V(), hi.V(), layout.TypeRange(t), fail)
	}
	return code.Value{Desc: layout.Desc{Type: t, Form: layout.I128}, A: lo.V(), B: hi.V(), OwnA: true, OwnB: true}
}

// mulCheck fails when a 128-bit product could overflow: it estimates the product in
// floating point, which is exact enough to tell 10^38 from 2^127.
func (e *Evaluator) mulCheck(l, r code.Value, fail *diag.Error) {
	a, b := e.toFloat(l), e.toFloat(r)
	e.B.Op2(ir.FMul, a, a.V(), b.V())
	e.B.Op1(ir.FAbs, a, a.V())
	e.B.FConst(b, floatBits(1.6e38))
	bad := e.Int("bad")
	e.B.FSet(bad, ir.GE, a, b)
	e.Exit(e.Fail(fail), ir.NE, bad.V(), ir.K(0))
	e.B.Clear(a, b, bad)
}

func (e *Evaluator) negate(x *plan.Call) code.Value {
	v := e.Eval(x.Args[0])
	if v.Desc.Form == layout.F64 {
		d := e.Float("neg")
		e.B.Op1(ir.FNeg, d, v.A)
		n, own := e.AnyNull(v)
		e.Free(v)
		return code.Value{Desc: layout.Desc{Type: x.T, Form: layout.F64}, A: d.V(), OwnA: true}.WithNull(n, own)
	}
	if v.Desc.Form == layout.Ivl {
		code.Refuse(x.Pos, "negating an interval column is not supported yet")
	}
	zero := e.Constant(types.Value{Type: v.Desc.Type})
	return e.intOp(ir.Sub, zero, v, x.T, Overflow(x.T, x.Pos))
}
