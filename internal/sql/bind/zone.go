package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A TIMESTAMPTZ is an instant, and what a calendar or a clock shows at an instant depends on the session's zone. Plans name
// that zone: timezone('Europe/Berlin', x) is what a cast means. In UTC the two kinds of timestamps are the same numbers,
// so that a cast changes nothing, and everything is computed by the operations of TIMESTAMP.

// Zoned is an Env that says what the time zone is; others are in UTC.
type Zoned interface{ Zone() *types.Zone }

func (b *binder) zone() *types.Zone {
	if z, ok := b.env.(Zoned); ok {
		return z.Zone()
	}
	return types.UTC
}

// instants reports TIMESTAMPTZ, and what has some of them in it.
func instants(t types.Type) bool { return t.Holds(types.TimestampTZ) }

// zonedCast is convert to or from TIMESTAMPTZ where the zone matters; nil where it does not.
func (b *binder) zonedCast(e plan.Expr, t types.Type, pos int) plan.Expr {
	from := e.Type()
	if types.ReadsMoments(from, t) {
		return plan.NewApply(funcs.TextMoment, t, pos, b.placeAndTime(e)...)
	}
	if t.Kind == types.TimeTZ && from.Kind != types.TimeTZ && !plan.IsNullConst(e) && !b.zone().IsUTC() && types.CanCast(from, t) {
		return computed(plan.NewApply(funcs.ClockInZone, t, pos, plan.NewConst(types.TextValue(b.zone().Spec())), e))
	}
	if instants(from) == instants(t) || plan.IsNullConst(e) {
		return nil
	}
	z := b.zone()
	if z.IsUTC() {
		return nil
	}
	name := plan.NewConst(types.TextValue(z.Spec()))
	switch {
	case t.Kind == types.Text:
		return computed(plan.NewApply(funcs.InstantText, types.TText, pos, name, e))
	case from.IsNested() || t.IsNested():
		panic(diag.Unsupported(pos, "casting %s to %s outside of UTC", from.SQLName(), t.SQLName()).WithHint("cast the elements, or SET timezone = 'UTC'"))
	case from.Kind == types.Timestamp, t.Kind == types.Timestamp:
		return computed(plan.NewApply(funcs.AtZone, t, pos, name, e))
	}
	return b.convert(b.convert(e, types.TTimestamp, pos), t, pos) // a date, or a time of day
}

// placeAndTime are the operands of funcs.TextMoment.
func (b *binder) placeAndTime(text plan.Expr) []plan.Expr {
	return []plan.Expr{plan.NewConst(types.TextValue(b.zone().Spec())), plan.NewConst(types.IntValue(types.TTimestampTZ, b.clock())), text}
}

// castConst is types.Cast of a constant, where a text is read in the session's zone and a word such as today means what it does now:
// also in views and defaults, where PostgreSQL means the day when somebody wrote it.
func (b *binder) castConst(v types.Value, t types.Type) (types.Value, error) {
	if types.ReadsMoments(v.Type, t) {
		return types.CastAt(b.zone(), b.clock(), v, t)
	}
	return types.Cast(v, t)
}

// zonedJSON is a value that is to become JSON, in the session's zone where that matters.
func (b *binder) zonedJSON(x plan.Expr, pos int) plan.Expr {
	if z := b.zone(); instants(x.Type()) && !z.IsUTC() {
		return plan.NewApply(funcs.InstantJSON, types.TJSON, pos, plan.NewConst(types.TextValue(z.Spec())), x)
	}
	return x
}

// computed is the value of a function of constants; what fails does so at its place.
func computed(x *plan.Call) plan.Expr {
	args := make([]types.Value, len(x.Args))
	for i, a := range x.Args {
		c, ok := a.(*plan.Const)
		if !ok {
			return x
		}
		if c.V.Null {
			return plan.NullConst(x.T)
		}
		args[i] = c.V
	}
	v, err := x.Fn.Eval(args, x.T)
	check(err, x.Pos)
	v.Type = x.T
	return &plan.Const{V: v}
}

// sameNumber makes the one kind of timestamp of the other by what they are in UTC.
func sameNumber(e plan.Expr, t types.Type, pos int) plan.Expr {
	if c, ok := e.(*plan.Const); ok {
		v := c.V
		v.Type = t
		return &plan.Const{V: v}
	}
	if c, ok := e.(*plan.Call); ok && c.Op == plan.Cast && c.Args[0].Type() == t && c.T.Phys() == t.Phys() {
		return c.Args[0]
	}
	return &plan.Call{Op: plan.Cast, T: t, Args: []plan.Expr{e}, Pos: pos}
}

// atTimeZone is x AT TIME ZONE z: the clock of a zone at an instant, or the instant when that clock shows something.
func (b *binder) atTimeZone(s *scope, e *ast.AtTimeZone) plan.Expr {
	x := b.expr(s, e.X)
	var z plan.Expr = plan.NewConst(types.TextValue(b.zone().Spec()))
	zpos := e.Pos
	if e.Zone != nil {
		z, zpos = b.expr(s, e.Zone), e.Zone.Position()
	}
	return b.inZone(z, x, e.Pos, zpos, e.X.Position())
}

// timezoneFunc is timezone(zone, x).
func (b *binder) timezoneFunc(c *call) plan.Expr {
	return b.inZone(c.args[0], c.args[1], c.pos, c.argPos(0), c.argPos(1))
}

func (b *binder) inZone(z, x plan.Expr, pos, zpos, xpos int) plan.Expr {
	switch x.Type().Kind {
	case types.Unknown, types.Date:
		x = b.convert(x, types.TTimestampTZ, xpos)
	case types.Time:
		return b.inZone(z, b.convert(x, types.TTimeTZ, xpos), pos, zpos, xpos)
	case types.Timestamp, types.TimestampTZ, types.TimeTZ:
	default:
		panic(noFunction("timezone", []plan.Expr{z, x}, pos))
	}
	to := types.TTimestampTZ
	if x.Type().Kind == types.TimestampTZ {
		to = types.TTimestamp
	} else if x.Type().Kind == types.TimeTZ {
		to = types.TTimeTZ
	}
	if z.Type().Kind == types.Interval {
		return computed(plan.NewApply(funcs.AtOffset, to, pos, z, x))
	}
	if !implicit(z.Type(), types.TText) {
		panic(noFunction("timezone", []plan.Expr{z, x}, pos))
	}
	z = b.convert(z, types.TText, zpos)
	if c, ok := z.(*plan.Const); ok && !c.V.Null {
		zone, err := types.FindZone(c.V.S)
		check(err, zpos)
		if zone.IsUTC() && to != types.TTimeTZ {
			return sameNumber(x, to, pos)
		}
	}
	return computed(plan.NewApply(funcs.AtZone, to, pos, z, x))
}

// extractInstant is EXTRACT from a TIMESTAMPTZ: from what the session's zone shows, except that seconds since 1970 do
// not depend on it.
func (b *binder) extractInstant(x plan.Expr, field string, xpos, pos int) plan.Expr {
	name := strings.ToLower(field)
	if f, ok := types.ParseField(name); ok && f == types.Epoch {
		return b.extract(sameNumber(x, types.TTimestamp, pos), field, xpos, pos)
	}
	switch name {
	case "timezone", "timezone_hour", "timezone_minute":
		args := []plan.Expr{plan.NewConst(types.TextValue(b.zone().Spec())), plan.NewConst(types.TextValue(name)), x}
		return computed(plan.NewApply(funcs.ZoneOffset, types.TInt64, pos, args...))
	}
	return b.extract(b.convert(x, types.TTimestamp, xpos), field, xpos, pos)
}

// truncInstant is date_trunc of a TIMESTAMPTZ, in the session's zone or in one that is given.
func (b *binder) truncInstant(c *call) plan.Expr {
	var z plan.Expr = plan.NewConst(types.TextValue(b.zone().Spec()))
	if len(c.args) > 2 {
		z = c.args[2]
	}
	x := b.convert(c.args[1], types.TTimestampTZ, c.argPos(1))
	if name, ok := field(c); ok {
		f, ok := types.ParseField(name)
		if !ok || !funcs.CanTruncate(f) {
			fail(diag.InvalidParameter, c.argPos(0), "unit %q not recognized for type timestamp with time zone", name)
		}
		if k, ok := z.(*plan.Const); ok && !k.V.Null {
			// A zone that is none is an error of those rows that have a time.
			if zone, err := types.FindZone(k.V.S); err == nil && zone.IsUTC() {
				return sameNumber(b.truncBy(f, sameNumber(x, types.TTimestamp, c.pos), c.pos), types.TTimestampTZ, c.pos)
			}
		}
	}
	return computed(plan.NewApply(funcs.TruncInZone, types.TTimestampTZ, c.pos, b.settle(c.args[0]), x, z))
}

// instantArith binds + and - where a TIMESTAMPTZ takes part; nil if there is no such operator. Of a sum, it is on the left.
func (b *binder) instantArith(op plan.Op, l, r plan.Expr, at place) plan.Expr {
	lt, rt := l.Type(), r.Type()
	switch {
	case rt.Kind == types.Time && lt.Kind == types.TimestampTZ:
		return b.instantArith(op, l, b.convert(r, types.TInterval, at.r), at)
	case rt.Kind == types.Interval && lt.Kind == types.TimestampTZ:
		if op == plan.Sub {
			r = b.negate(r, at.op)
		}
		if z := b.zone(); !z.IsUTC() {
			return computed(plan.NewApply(funcs.AddInZone, lt, at.op, l, r, plan.NewConst(types.TextValue(z.Spec()))))
		}
		return sameNumber(b.addInterval(sameNumber(l, types.TTimestamp, at.op), r, at), lt, at.op)
	case op == plan.Sub && lt.IsCalendar() && rt.IsCalendar():
		l, r = b.convert(l, types.TTimestampTZ, at.l), b.convert(r, types.TTimestampTZ, at.r)
		return b.subTimestamps(sameNumber(l, types.TTimestamp, at.op), sameNumber(r, types.TTimestamp, at.op), at)
	}
	return nil
}

// clockArith binds + and - where a TIME takes part; nil if there is no such operator. Of a sum, it is on the right.
func (b *binder) clockArith(op plan.Op, l, r plan.Expr, at place) plan.Expr {
	apply := func(f *plan.Function, t types.Type) plan.Expr { return computed(plan.NewApply(f, t, at.op, l, r)) }
	switch lk, rk := l.Type().Kind, r.Type().Kind; {
	case op == plan.Add && lk == types.Interval && rk == types.Time:
		l, r = r, l
		return apply(funcs.AddToTime, types.TTime)
	case op == plan.Sub && lk == types.Time && rk == types.Interval:
		r = b.negate(r, at.op)
		return apply(funcs.AddToTime, types.TTime)
	case op == plan.Sub && lk == types.Time && rk == types.Time:
		return apply(funcs.SubTimes, types.TInterval)
	case op == plan.Add && lk == types.Date && rk == types.Time:
		return apply(funcs.DateAtTime, types.TTimestamp)
	case lk == types.Timestamp && rk == types.Time:
		return b.arith(op, l, b.convert(r, types.TInterval, at.r), at)
	}
	return nil
}

// makeInstant is make_timestamptz(year, …, seconds, zone).
func (b *binder) makeInstant(c *call) plan.Expr {
	if len(c.args) > 6 {
		return computed(plan.NewApply(funcs.MakeInstant, types.TTimestampTZ, c.pos, c.args...))
	}
	z := plan.NewConst(types.TextValue(b.zone().Spec()))
	ts := plan.NewApply(funcs.Function("make_timestamp"), types.TTimestamp, c.pos, c.args...)
	return b.inZone(z, computed(ts), c.pos, c.pos, c.pos)
}

// toTimestamp is to_timestamp(text, format).
func (b *binder) toTimestamp(c *call) plan.Expr {
	return b.convert(plan.NewApply(funcs.ReadTimestamp, types.TTimestamp, c.pos, c.args...), types.TTimestampTZ, c.pos)
}

// localTimestamp is what the session's clock shows, and currentTime its time of day.
func (b *binder) localTimestamp(c *call) plan.Expr {
	return b.convert(b.currentTimestamp(c), types.TTimestamp, c.pos)
}

func (b *binder) currentTime(c *call) plan.Expr {
	return b.convert(b.localTimestamp(c), types.TTime, c.pos)
}

// zonedTime is current_time: the session's clock, and its zone.
func (b *binder) zonedTime(c *call) plan.Expr {
	return b.convert(b.currentTimestamp(c), types.TTimeTZ, c.pos)
}

// isClock reports the two kinds of times of day.
func isClock(t types.Type) bool { return t.Kind == types.Time || t.Kind == types.TimeTZ }

// zonedClockArith binds + and - where a TIMETZ takes part; nil if there is no such operator. Of a sum, it is on the right.
func (b *binder) zonedClockArith(op plan.Op, l, r plan.Expr, at place) plan.Expr {
	switch lk, rk := l.Type().Kind, r.Type().Kind; {
	case op == plan.Add && lk == types.Interval:
		return computed(plan.NewApply(funcs.AddToTimeTZ, types.TTimeTZ, at.op, r, l))
	case op == plan.Sub && rk == types.Interval:
		return computed(plan.NewApply(funcs.AddToTimeTZ, types.TTimeTZ, at.op, l, b.negate(r, at.op)))
	case op == plan.Add && lk == types.Date:
		return computed(plan.NewApply(funcs.DateAtTimeTZ, types.TTimestampTZ, at.op, l, r))
	}
	return nil
}

// extractZonedClock is EXTRACT from a TIMETZ of what only that has.
func (b *binder) extractZonedClock(x plan.Expr, field string, pos int) plan.Expr {
	switch name := strings.ToLower(field); name {
	case "timezone", "timezone_hour", "timezone_minute":
		return computed(plan.NewApply(funcs.ClockOffset, types.TInt64, pos, plan.NewConst(types.TextValue(name)), x))
	}
	return nil
}
