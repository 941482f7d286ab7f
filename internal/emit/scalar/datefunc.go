package scalar

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
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
func (e *Evaluator) daysOf(y ir.Reg, m, d ir.Val) ir.Reg {
	days, t, mp := e.Int("days"), e.Int("t"), e.Int("mp")
	op := func(o ir.Op, dst ir.Reg, a, b ir.Val) { e.B.Op2(o, dst, a, b) }
	early := e.Int("early") // January and February belong to the year before
	e.B.Mov(mp, m)
	e.B.Set(early, ir.LE, mp.V(), ir.K(2))
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
	e.B.Clear(t, mp, early)
	return days
}

// weekday opens a register with the days since Monday.
func (e *Evaluator) weekday(days ir.Reg) ir.Reg {
	r := e.Int("weekday")
	e.B.Op2(ir.Add, r, days.V(), ir.K(3+7*1_000_000_000)) // positive for all dates
	e.B.Op2(ir.Rem, r, r.V(), ir.K(7))
	return r
}

// isoWeek opens a register with the ISO week of a day, or the year to which that week belongs.
func (e *Evaluator) isoWeek(days ir.Reg, wantYear bool) ir.Reg {
	thursday, w := e.Int("thursday"), e.weekday(days) // its Thursday decides a week's year
	e.B.Op2(ir.Sub, thursday, days.V(), w.V())
	e.B.Op2(ir.Add, thursday, thursday.V(), ir.K(3))
	y, m, d := e.civil(thursday, layout.Range{})
	e.B.Clear(m, d)
	if wantYear {
		e.noYearZero(y)
		e.B.Clear(thursday, w)
		return y
	}
	e.B.Op2(ir.Add, y, y.V(), ir.K(yearBias))
	first := e.daysOf(y, ir.K(1), ir.K(1))
	e.B.Op2(ir.Sub, w, thursday.V(), first.V())
	e.B.Op2(ir.Div, w, w.V(), ir.K(7))
	e.B.Op2(ir.Add, w, w.V(), ir.K(1))
	e.B.Clear(thursday, y, first)
	return w
}

// noYearZero numbers years as people do: 1 BC is -1.
func (e *Evaluator) noYearZero(y ir.Reg) {
	t := e.Int("bc")
	e.B.Op2(ir.Sub, t, y.V(), ir.K(1))
	e.B.Sel(y, ir.LE, y.V(), ir.K(0), t.V(), y.V())
	e.B.Clear(t)
}

// dayOfYear opens a register with 1…366.
func (e *Evaluator) dayOfYear(days ir.Reg, rng layout.Range) ir.Reg {
	y, m, d := e.civil(days, rng)
	e.B.Op2(ir.Add, y, y.V(), ir.K(yearBias))
	first := e.daysOf(y, ir.K(1), ir.K(1))
	e.B.Op2(ir.Sub, first, days.V(), first.V())
	e.B.Op2(ir.Add, first, first.V(), ir.K(1))
	e.B.Clear(y, m, d)
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
func (e *Evaluator) dateTrunc(x *plan.Call) code.Value {
	field := constantOf(x.Args[0]).S
	if unit := clockUnits[field]; unit > 0 && unit < microsPerDay {
		return e.unlessInfinite(e.Eval(x.Args[1]), x.T, func(v code.Value) code.Value {
			n, own := e.AnyNull(v)
			q := e.floorDiv(v.WithNull(ir.K(0), false), unit)
			if v.OwnNull {
				e.B.Clear(v.Null.R)
			}
			return e.times(q, unit, x.T).WithNull(n, own)
		})
	}
	return e.unlessInfinite(e.truncDays(x), x.T, func(d code.Value) code.Value {
		n, own := d.Null, d.OwnNull
		return e.times(d, microsPerDay, x.T).WithNull(n, own)
	})
}

// times multiplies an integer in a register of its own by a positive constant, which it survives.
func (e *Evaluator) times(v code.Value, k int64, t types.Type) code.Value {
	e.B.Op2(ir.Mul, v.A.R, v.A, ir.K(k))
	return code.IntValue(t, v.A.R, layout.FiniteRange(t).Intersect(v.Desc.Range.Mul(layout.Between(k, k))))
}

// truncDays is the first day of a period of whole days: what date_trunc gives, as a date.
func (e *Evaluator) truncDays(x *plan.Call) code.Value {
	arg := x.Args[1]
	if c, ok := arg.(*plan.Call); ok && c.Op == plan.Cast && c.Args[0].Type().Kind == types.Date && e.Describe(c.Args[0]).Range.Within(timestampDays) {
		v := e.Eval(c.Args[0])
		n, own := e.AnyNull(v)
		r := e.Int("days")
		e.B.Mov(r, v.A)
		e.Free(v)
		return e.truncDay(code.IntValue(types.TDate, r, v.Desc.Range).WithNull(n, own), x)
	}
	return e.unlessInfinite(e.Eval(arg), types.TDate, func(v code.Value) code.Value {
		return e.truncDay(e.floorDiv(v, microsPerDay), x)
	})
}

// truncDay is truncDays of a day in a register that may be overwritten.
func (e *Evaluator) truncDay(day code.Value, x *plan.Call) code.Value {
	field := constantOf(x.Args[0]).S
	days, rng, n := day.A.R, day.Desc.Range, day.Null
	day.Desc.Type = types.TDate
	day.Desc.Range = layout.FiniteRange(types.TDate)
	if field == "day" {
		day.Desc.Range = day.Desc.Range.Intersect(rng)
		return day
	}
	if field == "week" {
		w := e.weekday(days)
		e.B.Op2(ir.Sub, days, days.V(), w.V())
		e.B.Clear(w)
	} else if c, ok := e.calendarFor(rng); ok {
		since := e.calendarField(c, days, n, map[string]calField{"month": calDay, "quarter": calDoq, "year": calDoy}[field])
		e.B.Op2(ir.Sub, days, days.V(), since.V())
		e.B.Op2(ir.Add, days, days.V(), ir.K(1))
		e.B.Clear(since)
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
		day.Desc.Range = layout.Range{Known: true, Lo: types.FromInt64(first), Hi: rng.Hi}
	}
	return day
}

// truncCivil moves days to the first of the month, quarter or year, by reckoning.
func (e *Evaluator) truncCivil(days ir.Reg, rng layout.Range, field string) {
	y, m, d := e.civil(days, rng)
	if field == "month" {
		e.B.Op2(ir.Sub, days, days.V(), d.V())
		e.B.Op2(ir.Add, days, days.V(), ir.K(1))
	} else {
		month := ir.K(1)
		if field == "quarter" { // 1, 4, 7 or 10
			e.B.Op2(ir.Sub, m, m.V(), ir.K(1))
			e.B.Op2(ir.Div, m, m.V(), ir.K(3))
			e.B.Op2(ir.Mul, m, m.V(), ir.K(3))
			e.B.Op2(ir.Add, m, m.V(), ir.K(1))
			month = m.V()
		}
		e.B.Op2(ir.Add, y, y.V(), ir.K(yearBias))
		first := e.daysOf(y, month, ir.K(1))
		e.B.Mov(days, first.V())
		e.B.Clear(first)
	}
	e.B.Clear(y, m, d)
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

// subDates is date - date.
func (e *Evaluator) subDates(x *plan.Call) code.Value {
	l, r := e.FactValue(e.Eval(x.Args[0])), e.FactValue(e.Eval(x.Args[1]))
	if !finite(l) || !finite(r) {
		n, own := e.AnyNull(l, r)
		fail := diag.Errorf(diag.DatetimeOverflow, x.Pos, "cannot subtract infinite dates")
		l, r = e.mustBeFinite(l, n, fail), e.mustBeFinite(r, n, fail)
		if own {
			e.B.Clear(n.R)
		}
	}
	return e.intOp(ir.Sub, l, r, x.T, nil)
}

// addInterval is timestamp + a literal interval.
func (e *Evaluator) addInterval(x *plan.Call) code.Value {
	return e.unlessInfinite(e.Eval(x.Args[0]), x.T, func(v code.Value) code.Value { return e.moved(v, x) })
}

// moved is addInterval to a finite timestamp.
func (e *Evaluator) moved(v code.Value, x *plan.Call) code.Value {
	months, days, micros := constantOf(x.Args[1]).IntervalParts()
	fail := timestampError(x.Pos)
	if months == 0 {
		k := e.FactValue(e.Constant(types.IntValue(types.TInt64, int64(days)*microsPerDay+micros)))
		return e.intOp(ir.Add, v, k, x.T, fail)
	}
	n, own := e.AnyNull(v)
	q := e.floorDiv(v.Borrowed().WithNull(ir.K(0), false), microsPerDay)
	day, rest := q.A.R, e.Int("rest")
	e.B.Op2(ir.Mul, rest, day.V(), ir.K(microsPerDay))
	e.B.Op2(ir.Sub, rest, v.A, rest.V())
	e.Free(v)
	e.addMonths(day, int64(months), q.Desc.Range)
	// A day has its length: what micros has beyond whole days may carry into the next.
	whole := micros / microsPerDay
	if micros%microsPerDay < 0 {
		whole--
	}
	e.B.Op2(ir.Add, day, day.V(), e.Fact(int64(days)+whole))
	if left := micros - whole*microsPerDay; left > 0 {
		t := e.Int("over")
		e.B.Op2(ir.Add, rest, rest.V(), e.Fact(left))
		e.B.Set(t, ir.GE, rest.V(), ir.K(microsPerDay))
		e.B.Op2(ir.Add, day, day.V(), t.V())
		e.B.Op2(ir.Mul, t, t.V(), ir.K(microsPerDay))
		e.B.Op2(ir.Sub, rest, rest.V(), t.V())
		e.B.Clear(t)
	}
	e.rangeCheck(day, layout.Between(types.MinDate, types.MaxTimestamp/microsPerDay), n, fail)
	e.B.Op2(ir.Mul, day, day.V(), ir.K(microsPerDay))
	e.B.Op2(ir.Add, day, day.V(), rest.V())
	e.B.Clear(rest)
	return code.IntValue(x.T, day, layout.FiniteRange(x.T)).WithNull(n, own)
}

// addMonths moves a day by months; where the month is too short, to its last day.
func (e *Evaluator) addMonths(day ir.Reg, months int64, rng layout.Range) {
	y, m, d := e.civil(day, rng)
	e.B.Op2(ir.Mul, y, y.V(), ir.K(12))
	e.B.Op2(ir.Add, m, m.V(), y.V())
	e.B.Op2(ir.Add, m, m.V(), e.Fact(12*yearBias+months-1))
	e.B.Op2(ir.Div, y, m.V(), ir.K(12))
	e.B.Op2(ir.Rem, m, m.V(), ir.K(12))
	e.B.Op2(ir.Add, m, m.V(), ir.K(1))
	e.When(ir.GT, d.V(), ir.K(28), func() {
		last, t := e.Int("last"), e.Int("t")
		e.B.Op2(ir.Shr, last, m.V(), ir.K(3)) // 30 or 31
		e.B.Op2(ir.Add, last, last.V(), m.V())
		e.B.Op2(ir.And, last, last.V(), ir.K(1))
		e.B.Op2(ir.Add, last, last.V(), ir.K(30))
		e.When(ir.EQ, m.V(), ir.K(2), func() {
			e.B.Mov(last, ir.K(28))
			e.B.Op2(ir.And, t, y.V(), ir.K(3))
			e.When(ir.EQ, t.V(), ir.K(0), func() {
				e.B.Mov(last, ir.K(29))
				e.B.Op2(ir.Rem, t, y.V(), ir.K(100))
				e.When(ir.EQ, t.V(), ir.K(0), func() {
					e.B.Op2(ir.Rem, t, y.V(), ir.K(400))
					e.B.Sel(last, ir.EQ, t.V(), ir.K(0), ir.K(29), ir.K(28))
				}, nil)
			}, nil)
		}, nil)
		e.B.Sel(d, ir.GT, d.V(), last.V(), last.V(), d.V())
		e.B.Clear(last, t)
	}, nil)
	to := e.daysOf(y, m.V(), d.V())
	e.B.Mov(day, to.V())
	e.B.Clear(y, m, d, to)
}
