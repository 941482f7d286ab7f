package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// place says where an operator and its operands were written.
type place struct{ op, l, r int }

// compare makes l op r with operands of one type.
func (b *binder) compare(op plan.Op, l, r plan.Expr, at place) plan.Expr {
	l, r = b.numbers(nil, l, r, at)
	if e := compareApart(op, l, r, at); e != nil {
		return e
	}
	x, y, ok := b.unify(l, r, at)
	if !ok || x.Type() == types.TJSON { // of which PostgreSQL does not say what is equal
		panic(noOperator(op.String(), l, r, at.op))
	}
	if x.Type().IsNested() || x.Type() == types.TJSONB {
		x, y = equalBy(x, at.l), equalBy(y, at.r)
	}
	return &plan.Call{Op: op, T: types.TBool, Args: []plan.Expr{x, y}, Pos: at.op}
}

// noOperator is PostgreSQL's error for operands that an operator does not take.
func noOperator(op string, l, r plan.Expr, pos int) *diag.Error {
	lt, rt := l.Type(), r.Type()
	err := diag.Errorf(diag.UndefinedFunction, pos, "operator does not exist: %s %s %s", lt.SQLName(), op, rt.SQLName())
	if types.CanCast(lt, rt) || types.CanCast(rt, lt) {
		return err.WithHint("you might need to add an explicit cast")
	}
	return err
}

// unify brings the operands of a comparison to one type. Constants give way to columns: a
// constant that the other side's type holds exactly is converted now, so that nothing
// needs to be computed per row and the comparison can be answered from statistics.
func (b *binder) unify(l, r plan.Expr, at place) (plan.Expr, plan.Expr, bool) {
	lt, rt := l.Type(), r.Type()
	switch {
	case lt.Kind == types.Unknown && rt.Kind == types.Unknown:
		return b.settle(l), b.settle(r), true
	case lt.Kind == types.Unknown:
		l = b.literal(l, rt, at.l)
		lt = l.Type()
	case rt.Kind == types.Unknown:
		r = b.literal(r, lt, at.r)
		rt = r.Type()
	}
	switch {
	case lt == rt, lt.Kind == types.Text && rt.Kind == types.Text:
		return l, r, true
	case lt.IsNested() && lt.Kind == rt.Kind:
		t, ok := types.CommonType(loose(l), loose(r))
		if !ok {
			return l, r, false
		}
		t = settled(t)
		return b.convert(l, t, at.l), b.convert(r, t, at.r), true
	case lt.Kind == types.Enum && rt.Kind == types.Text: // a comfort of DuckDB's
		return b.convert(l, types.TText, at.l), r, true
	case lt.Kind == types.Text && rt.Kind == types.Enum:
		return l, b.convert(r, types.TText, at.r), true
	case lt.IsNumeric() && rt.IsNumeric():
		l, r = b.unifyNumbers(l, r, at)
		return l, r, true
	case lt.IsCalendar() && rt.IsCalendar() && (lt.Kind == types.TimestampTZ || rt.Kind == types.TimestampTZ):
		return b.convert(l, types.TTimestampTZ, at.l), b.convert(r, types.TTimestampTZ, at.r), true
	case lt.Kind == types.Time && rt.Kind == types.TimeTZ, lt.Kind == types.TimeTZ && rt.Kind == types.Time:
		return b.convert(l, types.TTimeTZ, at.l), b.convert(r, types.TTimeTZ, at.r), true
	case lt.Kind == types.Time && rt.Kind == types.Interval, lt.Kind == types.Interval && rt.Kind == types.Time:
		return b.convert(l, types.TInterval, at.l), b.convert(r, types.TInterval, at.r), true
	case lt.Kind == types.Date && rt.Kind == types.Timestamp:
		l, r = b.unifyDate(l, r, at.l)
		return l, r, true
	case lt.Kind == types.Timestamp && rt.Kind == types.Date:
		r, l = b.unifyDate(r, l, at.r)
		return l, r, true
	}
	return l, r, false
}

// literal reads a string literal that is compared with a value of type t. A decimal keeps the
// digits as written: rounding them to the column's scale would change the answer.
func (b *binder) literal(e plan.Expr, t types.Type, pos int) plan.Expr {
	c := e.(*plan.Const)
	if t.Kind == types.Decimal && !c.V.Null {
		if x, scale, fit, ok := types.ParseDecimal(c.V.S); ok && fit {
			return &plan.Const{V: types.DecimalValue(decimalFor(x, scale), x)}
		}
	}
	return b.convert(e, t, pos)
}

// decimalFor is the smallest DECIMAL type of that scale for x.
func decimalFor(x types.Int128, scale int) types.Type {
	prec := max(1, scale)
	for prec < types.MaxPrecision && !types.FitsPrecision(x, prec) {
		prec++
	}
	return types.TDecimal(prec, scale)
}

func (b *binder) unifyNumbers(l, r plan.Expr, at place) (plan.Expr, plan.Expr) {
	lc, lconst := l.(*plan.Const)
	rc, rconst := r.(*plan.Const)
	if rconst && !lconst {
		if v, ok := exactly(rc.V, l.Type()); ok {
			return l, &plan.Const{V: v}
		}
	}
	if lconst && !rconst {
		if v, ok := exactly(lc.V, r.Type()); ok {
			return &plan.Const{V: v}, r
		}
	}
	t, _ := types.CommonType(tight(l), tight(r))
	if t.Kind == types.Decimal {
		if l.Type().IsInteger() && r.Type().IsInteger() { // constants, made decimal by tight
			t, _ = types.CommonType(l.Type(), r.Type())
			return b.convert(l, t, at.l), b.convert(r, t, at.r)
		}
		if !fitsScale(l, int(t.Scale)) || !fitsScale(r, int(t.Scale)) {
			// A constant of that size is far from everything that the other side can be.
			t = types.TFloat64
			return b.convert(l, t, at.l), b.convert(r, t, at.r)
		}
		return b.toScale(l, int(t.Scale), at.l), b.toScale(r, int(t.Scale), at.r)
	}
	return b.convert(l, t, at.l), b.convert(r, t, at.r)
}

// fitsScale reports that e, if it is a constant, can have that many digits after the point.
func fitsScale(e plan.Expr, scale int) bool {
	c, ok := e.(*plan.Const)
	if !ok || c.V.Null {
		return true
	}
	_, ok = types.Rescale(c.V.Int128(), int(c.V.Type.Scale), scale)
	return ok
}

// exactly is the constant v in type t if t can hold it without loss. Decimals that have too many
// digits before the point for t still compare right, as a wider decimal of t's scale.
func exactly(v types.Value, t types.Type) (types.Value, bool) {
	if v.Null {
		return types.NullOf(t), true
	}
	switch {
	case t == types.TFloat64:
		w, err := types.Cast(v, t)
		return w, err == nil
	case t.IsFloat() || v.Type.IsFloat():
		return v, false
	}
	from := 0
	if v.Type.Kind == types.Decimal {
		from = int(v.Type.Scale)
	}
	to := 0
	if t.Kind == types.Decimal {
		to = int(t.Scale)
	}
	x, ok := types.Rescale(v.Int128(), from, to)
	if !ok {
		return v, false
	}
	if to < from {
		if y, ok := types.Rescale(x, to, from); !ok || y != v.Int128() {
			return v, false
		}
	}
	if t.Kind == types.Decimal {
		if !types.FitsDecimal(x, t) {
			t = types.TDecimal(types.MaxPrecision, to)
		}
		return types.DecimalValue(t, x), true
	}
	w, err := types.Cast(types.DecimalValue(types.TDecimal(types.MaxPrecision, 0), x), t)
	return w, err == nil
}

// unifyDate brings a date and a timestamp together: a constant midnight becomes a date, else
// the date becomes a timestamp.
func (b *binder) unifyDate(d, ts plan.Expr, pos int) (plan.Expr, plan.Expr) {
	if c, ok := ts.(*plan.Const); ok {
		if c.V.Null {
			return d, &plan.Const{V: types.NullOf(types.TDate)}
		}
		if day, err := types.Cast(c.V, types.TDate); err == nil && types.Compare(day, c.V) == 0 {
			return d, &plan.Const{V: day}
		}
	}
	return b.convert(d, types.TTimestamp, pos), ts
}

// compareApart compares decimals of which one is too large and the other too fine for a type that would
// hold both: 10^30 with an average has an answer, but no common scale. The coarse side is compared
// with the fine one's neighbours at its own scale. nil if there is such a type.
func compareApart(op plan.Op, l, r plan.Expr, at place) plan.Expr {
	coarse, ok1 := types.AsDecimal(tight(l))
	fine, ok2 := types.AsDecimal(tight(r))
	if !ok1 || !ok2 || coarse.Scale == fine.Scale || !op.IsComparison() {
		return nil
	}
	if coarse.Scale > fine.Scale {
		l, r, coarse, fine = r, l, fine, coarse
		op = op.Mirror()
	}
	whole := max(coarse.Prec-coarse.Scale, fine.Prec-fine.Scale)
	if int(whole)+int(fine.Scale) <= types.MaxPrecision || isConst(l) {
		return nil
	}
	if c, ok := r.(*plan.Const); ok {
		if _, same := exactly(c.V, coarse); same {
			return nil
		}
	} else if fine.Scale <= fewDigits {
		return nil
	}
	neighbour := func(round plan.Op) plan.Expr {
		digits := &plan.Const{V: types.IntValue(types.TInt32, int64(coarse.Scale))}
		return &plan.Call{Op: round, T: wholeDecimal(fine, int(coarse.Scale)), Args: []plan.Expr{r, digits}, Pos: at.op}
	}
	if l.Type().IsInteger() {
		l = &plan.Call{Op: plan.Cast, T: coarse, Args: []plan.Expr{l}, Pos: at.op}
	}
	to := func(op plan.Op, round plan.Op) plan.Expr {
		return &plan.Call{Op: op, T: types.TBool, Args: []plan.Expr{l, neighbour(round)}, Pos: at.op}
	}
	switch op {
	case plan.Lt, plan.Ge:
		return to(op, plan.Ceil)
	case plan.Le, plan.Gt:
		return to(op, plan.Floor)
	case plan.Eq: // the fine side is its own neighbour
		return and(at.op, to(op, plan.Floor), to(op, plan.Ceil))
	}
	return or(at.op, to(op, plan.Floor), to(op, plan.Ceil))
}

// fewDigits is up to how many digits after the point a common type is taken although it might not
// hold the other side: what it holds has 24 digits before the point, and multiplying costs less than rounding.
const fewDigits = 14

func isConst(e plan.Expr) bool {
	_, ok := e.(*plan.Const)
	return ok
}
