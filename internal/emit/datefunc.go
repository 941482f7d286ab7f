package emit

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// yearBias makes all years positive, so that divisions round down. It is a multiple of 400, after
// which the calendar repeats.
const (
	yearBias = 400 * 16000
	biasDays = 146097 * 16000
	marchOff = 719468 // days from 0000-03-01 to 1970-01-01
)

// daysOf opens a register with the day number of a date: y has yearBias added, m is 1…12. Years
// begin in March here, so that the leap day comes last.
func (e *evaluator) daysOf(y ir.Reg, m, d ir.Val) ir.Reg {
	days, t, mp := e.int("days"), e.int("t"), e.int("mp")
	op := func(o ir.Op, dst ir.Reg, a, b ir.Val) { e.b.Op2(o, dst, a, b) }
	early := e.int("early") // January and February belong to the year before
	e.b.Mov(mp, m)
	e.b.Set(early, ir.LE, mp.V(), ir.K(2))
	op(ir.Mul, t, early.V(), ir.K(12))
	op(ir.Sub, mp, mp.V(), ir.K(3))
	op(ir.Add, mp, mp.V(), t.V())
	op(ir.Sub, early, y.V(), early.V())
	op(ir.Mul, days, early.V(), ir.K(365))
	op(ir.Shr, t, early.V(), ir.K(2))
	op(ir.Add, days, days.V(), t.V())
	op(ir.Div, t, early.V(), ir.K(100))
	op(ir.Sub, days, days.V(), t.V())
	op(ir.Div, t, early.V(), ir.K(400))
	op(ir.Add, days, days.V(), t.V())
	op(ir.Mul, mp, mp.V(), ir.K(153))
	op(ir.Add, mp, mp.V(), ir.K(2))
	op(ir.Div, mp, mp.V(), ir.K(5))
	op(ir.Add, days, days.V(), mp.V())
	op(ir.Add, days, days.V(), d)
	op(ir.Sub, days, days.V(), ir.K(1+marchOff+biasDays))
	e.b.Clear(t, mp, early)
	return days
}

// weekday opens a register with the days since Monday.
func (e *evaluator) weekday(days ir.Reg) ir.Reg {
	r := e.int("weekday")
	e.b.Op2(ir.Add, r, days.V(), ir.K(3+7*1_000_000_000)) // positive for all dates
	e.b.Op2(ir.Rem, r, r.V(), ir.K(7))
	return r
}

// isoWeek opens a register with the ISO week of a day, or the year to which that week belongs.
func (e *evaluator) isoWeek(days ir.Reg, wantYear bool) ir.Reg {
	thursday, w := e.int("thursday"), e.weekday(days) // its Thursday decides a week's year
	e.b.Op2(ir.Sub, thursday, days.V(), w.V())
	e.b.Op2(ir.Add, thursday, thursday.V(), ir.K(3))
	y, m, d := e.civil(thursday, layout.Range{})
	e.b.Clear(m, d)
	if wantYear {
		e.noYearZero(y)
		e.b.Clear(thursday, w)
		return y
	}
	e.b.Op2(ir.Add, y, y.V(), ir.K(yearBias))
	first := e.daysOf(y, ir.K(1), ir.K(1))
	e.b.Op2(ir.Sub, w, thursday.V(), first.V())
	e.b.Op2(ir.Div, w, w.V(), ir.K(7))
	e.b.Op2(ir.Add, w, w.V(), ir.K(1))
	e.b.Clear(thursday, y, first)
	return w
}

// noYearZero numbers years as people do: 1 BC is -1.
func (e *evaluator) noYearZero(y ir.Reg) {
	t := e.int("bc")
	e.b.Op2(ir.Sub, t, y.V(), ir.K(1))
	e.b.Sel(y, ir.LE, y.V(), ir.K(0), t.V(), y.V())
	e.b.Clear(t)
}

// dayOfYear opens a register with 1…366.
func (e *evaluator) dayOfYear(days ir.Reg, rng layout.Range) ir.Reg {
	y, m, d := e.civil(days, rng)
	e.b.Op2(ir.Add, y, y.V(), ir.K(yearBias))
	first := e.daysOf(y, ir.K(1), ir.K(1))
	e.b.Op2(ir.Sub, first, days.V(), first.V())
	e.b.Op2(ir.Add, first, first.V(), ir.K(1))
	e.b.Clear(y, m, d)
	return first
}

func timestampError(pos int) *diag.Error {
	return diag.Errorf(diag.DatetimeOverflow, pos, "timestamp out of range")
}

// timestampDays are the days that have timestamps.
var timestampDays = layout.Between(types.MinDate, types.MaxTimestamp/microsPerDay)

// clockUnits are the lengths of the fields below the day, in microseconds.
var clockUnits = map[string]int64{"microseconds": 1, "milliseconds": 1000, "second": 1_000_000, "minute": 60_000_000,
	"hour": 3600_000_000, "day": microsPerDay}

// dateTrunc is date_trunc('field', timestamp): the start of the period.
func (e *evaluator) dateTrunc(x *plan.Call) value {
	field := constantOf(x.Args[0]).S
	if unit := clockUnits[field]; unit > 0 && unit < microsPerDay {
		v := e.eval(x.Args[1])
		n, own := e.anyNull(v)
		q := e.floorDiv(v.withNull(ir.K(0), false), unit)
		if v.ownNull {
			e.b.Clear(v.null.R)
		}
		return e.times(q, unit, x.T).withNull(n, own)
	}
	d := e.truncDays(x)
	n, own := d.null, d.ownNull
	return e.times(d, microsPerDay, x.T).withNull(n, own)
}

// times multiplies an integer in a register of its own by a positive constant, which it survives.
func (e *evaluator) times(v value, k int64, t types.Type) value {
	e.b.Op2(ir.Mul, v.a.R, v.a, ir.K(k))
	return intVal(t, v.a.R, layout.TypeRange(t).Intersect(v.d.Range.Mul(layout.Between(k, k))))
}

// truncDays is the first day of a period of whole days: what date_trunc gives, as a date.
func (e *evaluator) truncDays(x *plan.Call) value {
	field := constantOf(x.Args[0]).S
	arg := x.Args[1]
	day := func() value { // in a register that may be overwritten
		if c, ok := arg.(*plan.Call); ok && c.Op == plan.Cast && c.Args[0].Type().Kind == types.Date && e.describe(c.Args[0]).Range.Within(timestampDays) {
			v := e.eval(c.Args[0])
			n, own := e.anyNull(v)
			r := e.int("days")
			e.b.Mov(r, v.a)
			e.free(v)
			return intVal(types.TDate, r, v.d.Range).withNull(n, own)
		}
		v := e.eval(arg)
		return e.floorDiv(v, microsPerDay)
	}()
	days, rng, n := day.a.R, day.d.Range, day.null
	day.d.Type = types.TDate
	day.d.Range = layout.TypeRange(types.TDate)
	if field == "day" {
		day.d.Range = day.d.Range.Intersect(rng)
		return day
	}
	if field == "week" {
		w := e.weekday(days)
		e.b.Op2(ir.Sub, days, days.V(), w.V())
		e.b.Clear(w)
	} else if c, ok := e.calendarFor(rng); ok {
		since := e.calendarField(c, days, n, map[string]calField{"month": calDay, "quarter": calDoq, "year": calDoy}[field])
		e.b.Op2(ir.Sub, days, days.V(), since.V())
		e.b.Op2(ir.Add, days, days.V(), ir.K(1))
		e.b.Clear(since)
	} else {
		e.truncCivil(days, rng, field)
	}
	if !rng.Within(layout.Between(types.MinDate+366, types.MaxTimestamp/microsPerDay)) {
		e.rangeCheck(days, layout.Between(types.MinDate, types.MaxDate), n, timestampError(x.Pos))
		return day
	}
	f, _ := types.ParseField(field)
	if lo, err := types.DateTrunc(f, int64(rng.Lo.Lo)*microsPerDay); err == nil {
		first, _ := types.SplitTimestamp(lo)
		day.d.Range = layout.Range{Known: true, Lo: types.FromInt64(first), Hi: rng.Hi}
	}
	return day
}

// truncCivil moves days to the first of the month, quarter or year, by reckoning.
func (e *evaluator) truncCivil(days ir.Reg, rng layout.Range, field string) {
	y, m, d := e.civil(days, rng)
	if field == "month" {
		e.b.Op2(ir.Sub, days, days.V(), d.V())
		e.b.Op2(ir.Add, days, days.V(), ir.K(1))
	} else {
		month := ir.K(1)
		if field == "quarter" { // 1, 4, 7 or 10
			e.b.Op2(ir.Sub, m, m.V(), ir.K(1))
			e.b.Op2(ir.Div, m, m.V(), ir.K(3))
			e.b.Op2(ir.Mul, m, m.V(), ir.K(3))
			e.b.Op2(ir.Add, m, m.V(), ir.K(1))
			month = m.V()
		}
		e.b.Op2(ir.Add, y, y.V(), ir.K(yearBias))
		first := e.daysOf(y, month, ir.K(1))
		e.b.Mov(days, first.V())
		e.b.Clear(first)
	}
	e.b.Clear(y, m, d)
}

// maxMonths and maxIntervalDays bound the intervals that addInterval takes: further than the
// calendar reaches, and without overflow on the way.
const (
	maxMonths       = 12 * 1_000_000
	maxIntervalDays = 50_000_000
)

// canAddInterval reports an interval that addInterval can add.
func canAddInterval(iv *types.Value) bool {
	m, d, us := iv.IntervalParts()
	within := func(x, limit int64) bool { return x >= -limit && x <= limit }
	return within(int64(m), maxMonths) && within(int64(d), maxIntervalDays) && within(us, maxIntervalDays*microsPerDay)
}

// addInterval is timestamp + a literal interval.
func (e *evaluator) addInterval(x *plan.Call) value {
	months, days, micros := constantOf(x.Args[1]).IntervalParts()
	v := e.eval(x.Args[0])
	fail := timestampError(x.Pos)
	if months == 0 {
		k := e.constant(types.IntValue(types.TInt64, int64(days)*microsPerDay+micros))
		return e.intOp(ir.Add, v, k, x.T, fail)
	}
	n, own := e.anyNull(v)
	q := e.floorDiv(v.borrowed().withNull(ir.K(0), false), microsPerDay)
	day, rest := q.a.R, e.int("rest")
	e.b.Op2(ir.Mul, rest, day.V(), ir.K(microsPerDay))
	e.b.Op2(ir.Sub, rest, v.a, rest.V())
	e.free(v)
	e.addMonths(day, int64(months), q.d.Range)
	// A day has its length: what micros has beyond whole days may carry into the next.
	whole := micros / microsPerDay
	if micros%microsPerDay < 0 {
		whole--
	}
	e.b.Op2(ir.Add, day, day.V(), ir.K(int64(days)+whole))
	if left := micros - whole*microsPerDay; left > 0 {
		t := e.int("over")
		e.b.Op2(ir.Add, rest, rest.V(), ir.K(left))
		e.b.Set(t, ir.GE, rest.V(), ir.K(microsPerDay))
		e.b.Op2(ir.Add, day, day.V(), t.V())
		e.b.Op2(ir.Mul, t, t.V(), ir.K(microsPerDay))
		e.b.Op2(ir.Sub, rest, rest.V(), t.V())
		e.b.Clear(t)
	}
	e.rangeCheck(day, layout.Between(types.MinDate, types.MaxTimestamp/microsPerDay), n, fail)
	e.b.Op2(ir.Mul, day, day.V(), ir.K(microsPerDay))
	e.b.Op2(ir.Add, day, day.V(), rest.V())
	e.b.Clear(rest)
	return intVal(x.T, day, layout.TypeRange(x.T)).withNull(n, own)
}

// addMonths moves a day by months; where the month is too short, to its last day.
func (e *evaluator) addMonths(day ir.Reg, months int64, rng layout.Range) {
	y, m, d := e.civil(day, rng)
	e.b.Op2(ir.Mul, y, y.V(), ir.K(12))
	e.b.Op2(ir.Add, m, m.V(), y.V())
	e.b.Op2(ir.Add, m, m.V(), ir.K(12*yearBias+months-1))
	e.b.Op2(ir.Div, y, m.V(), ir.K(12))
	e.b.Op2(ir.Rem, m, m.V(), ir.K(12))
	e.b.Op2(ir.Add, m, m.V(), ir.K(1))
	e.when(ir.GT, d.V(), ir.K(28), func() {
		last, t := e.int("last"), e.int("t")
		e.b.Op2(ir.Shr, last, m.V(), ir.K(3)) // 30 or 31
		e.b.Op2(ir.Add, last, last.V(), m.V())
		e.b.Op2(ir.And, last, last.V(), ir.K(1))
		e.b.Op2(ir.Add, last, last.V(), ir.K(30))
		e.when(ir.EQ, m.V(), ir.K(2), func() {
			e.b.Mov(last, ir.K(28))
			e.b.Op2(ir.And, t, y.V(), ir.K(3))
			e.when(ir.EQ, t.V(), ir.K(0), func() {
				e.b.Mov(last, ir.K(29))
				e.b.Op2(ir.Rem, t, y.V(), ir.K(100))
				e.when(ir.EQ, t.V(), ir.K(0), func() {
					e.b.Op2(ir.Rem, t, y.V(), ir.K(400))
					e.b.Sel(last, ir.EQ, t.V(), ir.K(0), ir.K(29), ir.K(28))
				}, nil)
			}, nil)
		}, nil)
		e.b.Sel(d, ir.GT, d.V(), last.V(), last.V(), d.V())
		e.b.Clear(last, t)
	}, nil)
	to := e.daysOf(y, m.V(), d.V())
	e.b.Mov(day, to.V())
	e.b.Clear(y, m, d, to)
}
