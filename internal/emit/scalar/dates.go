package scalar

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// extract is extract(field from date or timestamp) for the fields that are whole numbers.
func (e *Evaluator) extract(x *plan.Call) code.Value {
	c, ok := x.Args[0].(*plan.Const)
	if !ok {
		code.Refuse(x.Pos, "EXTRACT needs a literal field")
	}
	field := c.V.S
	return e.nullIfInfinite(e.Eval(x.Args[1]), func(v code.Value) code.Value { return e.extractFrom(v, field, x) })
}

func (e *Evaluator) extractFrom(v code.Value, field string, x *plan.Call) code.Value {
	n, own := e.AnyNull(v)
	rng := v.Desc.Range
	days := e.Int("days")
	switch v.Desc.Type.Kind {
	case types.Date:
		e.B.Mov(days, v.A)
	case types.Timestamp:
		q := e.floorDiv(v.Borrowed().WithNull(ir.K(0), false), microsPerDay)
		e.B.Mov(days, q.A)
		rng = q.Desc.Range
		e.Free(q)
	default:
		code.Refuse(x.Pos, "EXTRACT(%s FROM %s) is not supported yet", field, v.Desc.Type)
	}
	out := layout.Between(0, 1<<20)
	var r ir.Reg
	if r, out, ok := e.extractByTable(field, days, rng, n); ok {
		e.B.Clear(days)
		e.Free(v)
		return code.IntValue(x.T, r, out).WithNull(n, own)
	}
	switch field {
	case "year", "month", "day", "quarter":
		y, m, d := e.civil(days, rng)
		switch field {
		case "year":
			r, out = y, yearRange(rng)
			e.B.Clear(m, d)
			if out.Lo.Sign() <= 0 {
				e.noYearZero(y)
			}
		case "month":
			r, out = m, layout.Between(1, 12)
			e.B.Clear(y, d)
		case "day":
			r, out = d, layout.Between(1, 31)
			e.B.Clear(y, m)
		case "quarter":
			e.B.Op2(ir.Add, m, m.V(), ir.K(2))
			e.B.Op2(ir.Div, m, m.V(), ir.K(3))
			r, out = m, layout.Between(1, 4)
			e.B.Clear(y, d)
		}
	case "dow", "isodow":
		// 1970-01-01 was a Thursday; the offset keeps the dividend positive for all dates.
		r = e.Int(field)
		e.B.Op2(ir.Add, r, days.V(), ir.K(4+7*1_000_000_000))
		e.B.Op2(ir.Rem, r, r.V(), ir.K(7))
		out = layout.Between(0, 6)
		if field == "isodow" {
			e.B.Sel(r, ir.EQ, r.V(), ir.K(0), ir.K(7), r.V())
			out = layout.Between(1, 7)
		}
	case "doy":
		r, out = e.dayOfYear(days, rng), layout.Between(1, 366)
	case "week":
		r, out = e.isoWeek(days, false), layout.Between(1, 53)
	case "isoyear":
		r, out = e.isoWeek(days, true), layout.Between(-10000, 6_000_000)
	case "epoch": // whole seconds of a date, the microseconds of a timestamp
		r = e.Int(field)
		if v.Desc.Type.Kind == types.Date {
			e.B.Op2(ir.Mul, r, days.V(), ir.K(86400))
			out = layout.FiniteRange(types.TDate).Intersect(rng).Mul(layout.Between(86400, 86400))
		} else {
			e.B.Mov(r, v.A)
			out = layout.FiniteRange(types.TTimestamp).Intersect(v.Desc.Range)
		}
	case "hour", "minute", "second", "milliseconds", "microseconds":
		if v.Desc.Type.Kind == types.Date {
			r = e.Int(field)
			e.B.Mov(r, ir.K(0))
			break
		}
		r = e.Int(field)
		e.B.Op2(ir.Mul, r, days.V(), ir.K(microsPerDay))
		e.B.Op2(ir.Sub, r, v.A, r.V())
		switch field {
		case "hour":
			e.B.Op2(ir.Div, r, r.V(), ir.K(3600_000_000))
			out = layout.Between(0, 23)
		case "minute":
			e.B.Op2(ir.Div, r, r.V(), ir.K(60_000_000))
			e.B.Op2(ir.Rem, r, r.V(), ir.K(60))
			out = layout.Between(0, 59)
		default: // all three are the microseconds of the minute, at different scales
			e.B.Op2(ir.Rem, r, r.V(), ir.K(60_000_000))
			out = layout.Between(0, 60_000_000-1)
		}
	default:
		code.Refuse(x.Pos, "EXTRACT(%s …) is not supported in compiled code yet", field)
	}
	e.B.Clear(days)
	e.Free(v)
	return code.IntValue(x.T, r, out).WithNull(n, own)
}

// extractByTable opens a register with a field of a day where a calendar has it.
func (e *Evaluator) extractByTable(field string, days ir.Reg, rng layout.Range, null ir.Val) (r ir.Reg, out layout.Range, ok bool) {
	f := calMonth
	switch field {
	case "year":
		f, out = calYear, yearRange(rng)
	case "month":
		out = layout.Between(1, 12)
	case "quarter":
		out = layout.Between(1, 4)
	case "day":
		f, out = calDay, layout.Between(1, 31)
	case "doy":
		f, out = calDoy, layout.Between(1, 366)
	case "dow":
		f, out = calDow, layout.Between(0, 6)
	default:
		return 0, out, false
	}
	c, ok := e.calendarFor(rng)
	if !ok {
		return 0, out, false
	}
	r = e.calendarField(c, days, null, f)
	if field == "quarter" {
		e.B.Op2(ir.Add, r, r.V(), ir.K(2))
		e.B.Op2(ir.Div, r, r.V(), ir.K(3))
	}
	return r, out, true
}

func yearRange(days layout.Range) layout.Range {
	if !days.Fits64() {
		return layout.Between(-10000, 6_000_000)
	}
	lo, _, _ := types.CivilFromDays(int64(days.Lo.Lo))
	hi, _, _ := types.CivilFromDays(int64(days.Hi.Lo))
	if lo <= 0 { // there is no year 0
		lo--
	}
	return layout.Between(int64(lo), int64(hi))
}

// civil opens registers with year, month and day of a day number. Words do where those are faster, unless the calendar ends beyond them.
func (e *Evaluator) civil(days ir.Reg, rng layout.Range) (y, m, d ir.Reg) {
	if !e.Can.Words || !rng.Add(layout.Between(marchDays-eraDays, marchDays)).Within(code.SignedWords) {
		return e.marchYears(days, rng, ir.I64)
	}
	short := e.B.Vreg("days", ir.I32)
	e.B.Op1(ir.Narrow, short, days.V())
	words := [3]ir.Reg{}
	words[0], words[1], words[2] = e.marchYears(short, rng, ir.I32)
	y, m, d = e.Int("year"), e.Int("month"), e.Int("day")
	for i, r := range [...]ir.Reg{y, m, d} {
		e.B.Op1(ir.Widen, r, words[i].V())
	}
	e.B.Clear(words[:]...)
	e.B.Clear(short)
	return y, m, d
}

const (
	eraDays   = 146097 // of 400 years
	marchDays = 719468 // from the first March of year 0 to 1970
)

// marchYears is civil by registers of a type: the usual reckoning in years that begin in March, so that the leap day comes last.
func (e *Evaluator) marchYears(days ir.Reg, rng layout.Range, typ ir.Type) (y, m, d ir.Reg) {
	y, m, d = e.B.Vreg("year", typ), e.B.Vreg("month", typ), e.B.Vreg("day", typ)
	z, t, era := e.B.Vreg("z", typ), e.B.Vreg("t", typ), e.B.Vreg("era", typ)
	op := func(o ir.Op, dst ir.Reg, a, b ir.Val) { e.B.Op2(o, dst, a, b) }
	op(ir.Add, z, days.V(), ir.K(marchDays))
	if rng.Fits64() && int64(rng.Lo.Lo) >= -marchDays {
		op(ir.Div, era, z.V(), ir.K(eraDays))
	} else {
		op(ir.Sar, t, z.V(), ir.K(63)) // or 31, of a word
		op(ir.And, t, t.V(), ir.K(eraDays-1))
		op(ir.Sub, t, z.V(), t.V())
		op(ir.Div, era, t.V(), ir.K(eraDays))
	}
	op(ir.Mul, t, era.V(), ir.K(eraDays))
	op(ir.Sub, z, z.V(), t.V()) // day of the era, 0…146096
	op(ir.Div, t, z.V(), ir.K(1460))
	op(ir.Sub, y, z.V(), t.V())
	op(ir.Div, t, z.V(), ir.K(36524))
	op(ir.Add, y, y.V(), t.V())
	op(ir.Div, t, z.V(), ir.K(146096))
	op(ir.Sub, y, y.V(), t.V())
	op(ir.Div, y, y.V(), ir.K(365)) // year of the era
	op(ir.Mul, t, y.V(), ir.K(365))
	op(ir.Sub, z, z.V(), t.V())
	op(ir.Shr, t, y.V(), ir.K(2))
	op(ir.Sub, z, z.V(), t.V())
	op(ir.Div, t, y.V(), ir.K(100))
	op(ir.Add, z, z.V(), t.V()) // day of the March year
	op(ir.Mul, m, z.V(), ir.K(5))
	op(ir.Add, m, m.V(), ir.K(2))
	op(ir.Div, m, m.V(), ir.K(153)) // month, March = 0
	op(ir.Mul, t, m.V(), ir.K(153))
	op(ir.Add, t, t.V(), ir.K(2))
	op(ir.Div, t, t.V(), ir.K(5))
	op(ir.Sub, d, z.V(), t.V())
	op(ir.Add, d, d.V(), ir.K(1))
	op(ir.Mul, t, era.V(), ir.K(400))
	op(ir.Add, y, y.V(), t.V())
	e.B.Set(t, ir.GE, m.V(), ir.K(10))
	op(ir.Add, y, y.V(), t.V())
	op(ir.Mul, t, t.V(), ir.K(12))
	op(ir.Add, m, m.V(), ir.K(3))
	op(ir.Sub, m, m.V(), t.V())
	e.B.Clear(z, t, era)
	return y, m, d
}
