package bind

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// dateArith binds + - * / where dates, timestamps or intervals take part; nil if there
// is no such operator.
func (b *binder) dateArith(op plan.Op, l, r plan.Expr, at place) plan.Expr {
	lt, rt := l.Type(), r.Type()
	// a + b is b + a; the date goes to the left.
	if op == plan.Add && (rt.IsCalendar() || isClock(lt) && rt.Kind == types.Interval) {
		l, r, lt, rt = r, l, rt, lt
		at.l, at.r = at.r, at.l
	}
	switch op {
	case plan.Add, plan.Sub:
		if lt.Kind == types.TimeTZ || rt.Kind == types.TimeTZ {
			return b.zonedClockArith(op, l, r, at)
		}
		if lt.Kind == types.TimestampTZ || rt.Kind == types.TimestampTZ {
			return b.instantArith(op, l, r, at)
		}
		if lt.Kind == types.Time || rt.Kind == types.Time {
			return b.clockArith(op, l, r, at)
		}
	}
	switch op {
	case plan.Add:
		switch {
		case lt.Kind == types.Date && rt.IsInteger():
			return b.addDays(l, r, at)
		case (lt.Kind == types.Date || lt.Kind == types.Timestamp) && rt.Kind == types.Interval:
			return b.addInterval(l, r, at)
		case lt.Kind == types.Interval && rt.Kind == types.Interval:
			return fold(op, l, r, types.TInterval, at.op)
		}
	case plan.Sub:
		switch {
		case lt.Kind == types.Date && rt.IsInteger():
			return b.addDays(l, b.negate(b.convert(r, types.TInt64, at.r), at.op), at)
		case lt.Kind == types.Date && rt.Kind == types.Date:
			return b.subDates(l, r, at)
		case (lt.Kind == types.Date || lt.Kind == types.Timestamp) && rt.Kind == types.Interval:
			return b.addInterval(l, b.negate(r, at.op), at)
		case lt.Kind == types.Interval && rt.Kind == types.Interval:
			return fold(op, l, r, types.TInterval, at.op)
		case (lt.Kind == types.Timestamp || lt.Kind == types.Date) && (rt.Kind == types.Timestamp || rt.Kind == types.Date):
			return b.subTimestamps(b.convert(l, types.TTimestamp, at.l), b.convert(r, types.TTimestamp, at.r), at)
		}
	case plan.Mul:
		if rt.Kind == types.Interval {
			l, r, lt, rt = r, l, rt, lt
		}
		if lt.Kind == types.Interval && rt.IsNumeric() {
			return b.scaleInterval(l, r, at, false)
		}
	case plan.Div:
		if lt.Kind == types.Interval && rt.IsNumeric() {
			return b.scaleInterval(l, r, at, true)
		}
	}
	return nil
}

// addDays is date + integer.
func (b *binder) addDays(d, n plan.Expr, at place) plan.Expr {
	n = b.convert(n, types.TInt64, at.r)
	dc, ok1 := d.(*plan.Const)
	nc, ok2 := n.(*plan.Const)
	if ok1 && ok2 {
		if dc.V.Null || nc.V.Null {
			return plan.NullConst(types.TDate)
		}
		if days, err := types.AddDays(dc.V.I, nc.V.I); err == nil {
			return &plan.Const{V: types.DateValue(days)}
		}
	}
	return &plan.Call{Op: plan.DateAdd, T: types.TDate, Args: []plan.Expr{d, n}, Pos: at.op}
}

// subDates is date - date, in days.
func (b *binder) subDates(l, r plan.Expr, at place) plan.Expr {
	lc, ok1 := l.(*plan.Const)
	rc, ok2 := r.(*plan.Const)
	if ok1 && ok2 && !lc.V.Null && !rc.V.Null {
		days, err := types.SubDates(lc.V.I, rc.V.I)
		check(err, at.op)
		return &plan.Const{V: types.IntValue(types.TInt32, days)}
	}
	return &plan.Call{Op: plan.DateSub, T: types.TInt32, Args: []plan.Expr{l, r}, Pos: at.op}
}

// addInterval is date or timestamp + interval: a timestamp, as in PostgreSQL.
func (b *binder) addInterval(ts, iv plan.Expr, at place) plan.Expr {
	ts = b.convert(ts, types.TTimestamp, at.l)
	tc, ok1 := ts.(*plan.Const)
	ic, ok2 := iv.(*plan.Const)
	if ok1 && ok2 {
		if tc.V.Null || ic.V.Null {
			return plan.NullConst(types.TTimestamp)
		}
		months, days, micros := ic.V.IntervalParts()
		sum, err := types.AddInterval(tc.V.I, months, days, micros)
		check(err, at.op)
		return &plan.Const{V: types.IntValue(types.TTimestamp, sum)}
	}
	return &plan.Call{Op: plan.AddInterval, T: types.TTimestamp, Args: []plan.Expr{ts, iv}, Pos: at.op}
}

// subTimestamps is timestamp - timestamp: days and time.
func (b *binder) subTimestamps(l, r plan.Expr, at place) plan.Expr {
	lc, ok1 := l.(*plan.Const)
	rc, ok2 := r.(*plan.Const)
	switch {
	case !ok1 || !ok2:
		return &plan.Call{Op: plan.Sub, T: types.TInterval, Args: []plan.Expr{l, r}, Pos: at.op}
	case lc.V.Null || rc.V.Null:
		return plan.NullConst(types.TInterval)
	}
	v, err := types.SubTimestamps(lc.V.I, rc.V.I)
	check(err, at.op)
	return &plan.Const{V: v}
}

// scaleInterval is interval * number or interval / number.
func (b *binder) scaleInterval(iv, n plan.Expr, at place, divide bool) plan.Expr {
	ic, ok1 := iv.(*plan.Const)
	nc, ok2 := n.(*plan.Const)
	if !ok1 || !ok2 {
		op := plan.Mul
		if divide {
			op = plan.Div
		}
		return &plan.Call{Op: op, T: types.TInterval, Args: []plan.Expr{iv, n}, Pos: at.op}
	}
	if ic.V.Null || nc.V.Null {
		return plan.NullConst(types.TInterval)
	}
	v, err := types.ScaleInterval(ic.V, nc.V.Float(), divide)
	check(err, at.op)
	return &plan.Const{V: v}
}
