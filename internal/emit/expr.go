package emit

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// evaluator writes expressions.
type evaluator struct {
	*coder
	// tabulate makes a table of a predicate's outcomes by the codes of a dictionary column; nil: none are made.
	tabulate func(x plan.Expr, id plan.ColID, d layout.Desc) int
	// scans reports a column whose texts are read one after the other.
	scans func(id plan.ColID) bool
	// Map works functions of a dictionary's texts out; nil: rows compute them.
	Map TextMapper

	patience  diag.Patience
	calendars []*calendar
	textMaps  []placedMap
	descs     map[plan.Expr]layout.Desc // what describe found out
	asOf      int                       // the binding after which that was
}

// eval writes code that computes an expression. The caller frees the result.
func (e *evaluator) eval(x plan.Expr) value {
	v := e.compute(x)
	if e.Check && v.d.Form == layout.Str {
		e.checkText(v)
	}
	return v
}

// checkText ends the query if a text's address cannot be one, or its length: see value.
func (e *evaluator) checkText(v value) {
	if v.isNull() {
		return
	}
	if v.a.IsImm() {
		panic("a text that may not be NULL without an address")
	}
	bad := e.fail(diag.Errorf(diag.InternalError, -1, "internal error in generated code: a text whose bytes are not in memory"))
	e.when(ir.NE, v.b, ir.K(0), func() {
		e.b.Exit(bad, ir.ULT, v.a, ir.K(firstPage))
		e.b.Exit(bad, ir.UGT, v.b, ir.K(maxText))
	}, nil)
}

const (
	firstPage = 4096    // nothing is mapped below
	maxText   = 1 << 40 // no text is as long
)

func (e *evaluator) compute(x plan.Expr) value {
	e.patience.Tick()
	switch x := x.(type) {
	case *plan.Ref:
		return e.column(x.ID)
	case *plan.Const:
		return e.constant(x.V)
	case *plan.Call:
		if v, ok := e.lookupTable(x); ok {
			return v
		}
		if v, ok := e.mapText(x); ok {
			return v
		}
		if x.T.Kind == types.Text || x.T.Kind == types.Interval {
			return e.call(x)
		}
		var v value
		e.withTexts(func() { v = e.call(x) }, x.Args...)
		return v
	}
	panic("expression that unnesting should have removed")
}

func (e *evaluator) call(x *plan.Call) value {
	if !CanEmit(x) {
		refuse(x.Pos, "%s is not supported in compiled code", x.Op)
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
		v := e.eval(x.Args[0])
		defer e.free(v)
		if v.null.IsImm() {
			return e.constant(types.BoolValue(v.isNull()))
		}
		r := e.int("isnull")
		e.b.Mov(r, v.null)
		return boolVal(r)
	case plan.IsTrue:
		v := e.eval(x.Args[0])
		if v.ownNull {
			e.b.Clear(v.null.R)
		}
		return v.withNull(ir.K(0), false) // a NULL boolean has a = 0
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
		return e.addChecked(x, x.Args[0], x.Args[1], dateError(x.Pos))
	case plan.DateSub:
		v := e.intOp(ir.Sub, e.eval(x.Args[0]), e.eval(x.Args[1]), x.T, nil)
		return v
	case plan.Like, plan.StartsWith, plan.Substring, plan.LeftStr, plan.RightStr, plan.Trim, plan.Ltrim, plan.Rtrim,
		plan.Position, plan.Length, plan.OctetLength, plan.Concat, plan.Lower, plan.Upper, plan.Replace:
		return e.textCall(x)
	case plan.Floor, plan.Ceil, plan.Sqrt, plan.Round, plan.Trunc, plan.Sign:
		return e.mathCall(x)
	}
	panic("CanEmit promised code for " + x.Op.String())
}

// bindExpr defines a column by an expression over others.
func (e *evaluator) bindExpr(id plan.ColID, x plan.Expr) {
	e.bindAs(id, x, func() value {
		if _, plain := x.(*plan.Ref); !plain {
			e.detail("compute", func(n plan.Names) string { return n.Define(id, x) })
		}
		return e.called(e.eval(x), e.Cols.Get(id).Name)
	})
}

func (e *evaluator) alias(to, from plan.ColID) { e.bindExpr(to, e.ref(from)) }

func overflow(t types.Type, pos int) *diag.Error {
	name := map[types.Kind]string{types.Int16: "smallint", types.Int32: "integer", types.Int64: "bigint", types.Date: "date", types.Timestamp: "timestamp"}[t.Kind]
	if t.Kind == types.Decimal {
		return diag.Errorf(diag.NumericOutOfRange, pos, "numeric field overflow")
	}
	return diag.Errorf(diag.NumericOutOfRange, pos, "%s out of range", name)
}

func dateError(pos int) *diag.Error {
	return diag.Errorf(diag.DatetimeOverflow, pos, "date out of range")
}

// arith is +, - and * on integers, decimals and floats.
func (e *evaluator) arith(x *plan.Call) value {
	l, r := e.eval(x.Args[0]), e.eval(x.Args[1])
	if l.d.Form == layout.F64 {
		op := map[plan.Op]ir.Op{plan.Add: ir.FAdd, plan.Sub: ir.FSub, plan.Mul: ir.FMul}[x.Op]
		return e.floatOp(op, l, r, x.T)
	}
	if x.Op == plan.Mul && x.T.Kind == types.Decimal && l.d.Type.Scale+r.d.Type.Scale > x.T.Scale {
		return e.roundedProduct(x, l, r)
	}
	op := map[plan.Op]ir.Op{plan.Add: ir.Add, plan.Sub: ir.Sub, plan.Mul: ir.Mul}[x.Op]
	return e.intOp(op, l, r, x.T, overflow(x.T, x.Pos))
}

// floatOp: REAL is computed in double precision and rounded once, which is exact for + - * /.
func (e *evaluator) floatOp(op ir.Op, l, r value, t types.Type) value {
	d := e.float(ir.Op.String(op))
	e.b.Op2(op, d, l.a, r.a)
	if t.Kind == types.Float32 {
		e.b.Op1(ir.FRound32, d, d.V())
	}
	n, own := e.anyNull(l, r)
	e.free(l, r)
	return value{d: layout.Desc{Type: t, Form: layout.F64}, a: d.V(), ownA: true}.withNull(n, own)
}

// intOp computes l op r (Add, Sub, Mul) for integers and decimals. The result's range decides
// the width and whether overflow must be tested: most of the time it need not.
// l and r are used up.
func (e *evaluator) intOp(op ir.Op, l, r value, t types.Type, fail *diag.Error) value {
	var rng layout.Range
	switch op {
	case ir.Add:
		rng = l.d.Range.Add(r.d.Range)
	case ir.Sub:
		rng = l.d.Range.Sub(r.d.Range)
	case ir.Mul:
		rng = l.d.Range.Mul(r.d.Range)
	}
	limit := layout.TypeRange(t)
	inside := rng.Known && limit.Known && rng.Lo.Cmp(limit.Lo) >= 0 && rng.Hi.Cmp(limit.Hi) <= 0
	out := limit.Intersect(rng)
	v := value{d: layout.Desc{Type: t, Range: out}}
	n, ownNull := e.anyNull(l, r)

	switch {
	case rng.Fits64() && l.d.Form == layout.I64 && r.d.Form == layout.I64:
		// The result cannot leave 64 bits; it may still leave the type.
		d := e.int(op.String())
		e.b.Op2(op, d, l.a, r.a)
		if !inside && fail != nil && limit.Fits64() {
			e.rangeCheck(d, limit, n, fail)
		}
		v.d.Form, v.a, v.ownA = layout.I64, d.V(), true
		e.free(l, r)
	case t.Kind != types.Decimal:
		// BIGINT: the machine's overflow is the type's. NULL operands are 0 or harmless,
		// but a NULL row must not fail: its operands are forced to 0.
		d := e.int(op.String())
		a, b := e.harmless(l), e.harmless(r)
		if limit.Fits64() && fail != nil {
			checked := map[ir.Op]ir.Op{ir.Add: ir.AddX, ir.Sub: ir.SubX, ir.Mul: ir.MulX}[op]
			e.b.OpX(checked, d, a.a, b.a, e.fail(fail))
			if t.Kind != types.Int64 {
				e.rangeCheck(d, limit, n, fail)
			}
		} else {
			e.b.Op2(op, d, a.a, b.a)
		}
		v.d.Form, v.a, v.ownA = layout.I64, d.V(), true
		v.d.Range = limit
		e.free(a, b)
	default:
		v = e.wideOp(op, l, r, t, inside, fail)
		v.d.Range = out
		v.d.Form = layout.I128
		if out.Fits64() && inside {
			v = e.reform(v, layout.I64)
		}
	}
	return v.withNull(n, ownNull)
}

// harmless is v with 0 in place of NULL, so that checks do not fail on it.
func (e *evaluator) harmless(v value) value {
	if v.null.IsImm() {
		return v
	}
	r := e.int("or0")
	e.b.Sel(r, ir.NE, v.null, ir.K(0), ir.K(0), v.a)
	w := v
	w.a, w.ownA = r.V(), true
	if v.ownA {
		e.b.Clear(v.a.R)
	}
	if v.two() {
		r := e.int("or0")
		e.b.Sel(r, ir.NE, v.null, ir.K(0), ir.K(0), v.b)
		w.b, w.ownB = r.V(), true
		if v.ownB {
			e.b.Clear(v.b.R)
		}
	}
	return w
}

// rangeCheck fails when d lies outside of a type's range and the row is not NULL.
func (e *evaluator) rangeCheck(d ir.Reg, limit layout.Range, null ir.Val, fail *diag.Error) {
	lo, hi := int64(limit.Lo.Lo), int64(limit.Hi.Lo)
	t := e.int("check")
	e.b.Op2(ir.Sub, t, d.V(), ir.K(lo))
	if !null.IsImm() {
		e.b.Sel(t, ir.NE, null, ir.K(0), ir.K(0), t.V())
	}
	e.exit(e.fail(fail), ir.UGT, t.V(), ir.K(hi-lo))
	e.b.Clear(t)
}

// wideOp computes on 128 bits. Sums of in-range decimals fit; products are checked by their
// high parts unless the ranges prove them.
func (e *evaluator) wideOp(op ir.Op, l, r value, t types.Type, inside bool, fail *diag.Error) value {
	lo, hi := e.int(op.String()), e.int(e.partName(op.String(), ".hi"))
	narrow := l.d.Form == layout.I64 && r.d.Form == layout.I64
	if !inside { // a NULL row must not fail
		l, r = e.harmless(l), e.harmless(r)
	}
	switch {
	case op == ir.Mul && narrow:
		e.b.Op128(ir.MulWide, lo, hi, l.a, ir.Val{}, r.a, ir.Val{}, 0)
		e.free(l, r)
	default:
		l, r = e.wide(l), e.wide(r)
		switch {
		case op == ir.Add && inside:
			e.b.Op128(ir.Add128, lo, hi, l.a, l.b, r.a, r.b, 0)
		case op == ir.Sub && inside:
			e.b.Op128(ir.Sub128, lo, hi, l.a, l.b, r.a, r.b, 0)
		case op == ir.Add:
			e.b.Op128(ir.Add128X, lo, hi, l.a, l.b, r.a, r.b, e.fail(fail))
		case op == ir.Sub:
			e.b.Op128(ir.Sub128X, lo, hi, l.a, l.b, r.a, r.b, e.fail(fail))
		default:
			if !inside {
				e.mulCheck(l, r, fail)
			}
			e.b.Op128(ir.Mul128, lo, hi, l.a, l.b, r.a, r.b, 0)
		}
		e.free(l, r)
	}
	if !inside {
		e.precisionLimits(lo.V(), hi.V(), layout.TypeRange(t), fail)
	}
	return value{d: layout.Desc{Type: t, Form: layout.I128}, a: lo.V(), b: hi.V(), ownA: true, ownB: true}
}

// mulCheck fails when a 128-bit product could overflow: it estimates the product in
// floating point, which is exact enough to tell 10^38 from 2^127.
func (e *evaluator) mulCheck(l, r value, fail *diag.Error) {
	a, b := e.toFloat(l), e.toFloat(r)
	e.b.Op2(ir.FMul, a, a.V(), b.V())
	e.b.Op1(ir.FAbs, a, a.V())
	e.b.FConst(b, floatBits(1.6e38))
	bad := e.int("bad")
	e.b.FSet(bad, ir.GE, a, b)
	e.exit(e.fail(fail), ir.NE, bad.V(), ir.K(0))
	e.b.Clear(a, b, bad)
}

// addChecked is a + b on plain integers with its own error.
func (e *evaluator) addChecked(x *plan.Call, a, b plan.Expr, fail *diag.Error) value {
	return e.intOp(ir.Add, e.eval(a), e.eval(b), x.T, fail)
}

func (e *evaluator) negate(x *plan.Call) value {
	v := e.eval(x.Args[0])
	if v.d.Form == layout.F64 {
		d := e.float("neg")
		e.b.Op1(ir.FNeg, d, v.a)
		n, own := e.anyNull(v)
		e.free(v)
		return value{d: layout.Desc{Type: x.T, Form: layout.F64}, a: d.V(), ownA: true}.withNull(n, own)
	}
	if v.d.Form == layout.Ivl {
		refuse(x.Pos, "negating an interval column is not supported yet")
	}
	zero := e.constant(types.Value{Type: v.d.Type})
	return e.intOp(ir.Sub, zero, v, x.T, overflow(x.T, x.Pos))
}
