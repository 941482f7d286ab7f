package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

func roundHalfEven(f float64) float64 { return math.RoundToEven(f) }

// age is the difference of two timestamps in years, months and days, as people count: months end on the same day.
func age(a []types.Value, _ types.Type) (types.Value, error) {
	if a[0].IsInfinite() || a[1].IsInfinite() {
		return types.Value{}, types.ErrInfiniteTimestamps
	}
	x, y := civilOf(a[0]), civilOf(a[1])
	flip := a[0].I < a[1].I
	year, month, day := int64(x.year-y.year), int64(x.month-y.month), int64(x.day-y.day)
	hour, min, sec, us := x.hour-y.hour, x.min-y.min, x.sec-y.sec, x.micros-y.micros
	if flip {
		year, month, day, hour, min, sec, us = -year, -month, -day, -hour, -min, -sec, -us
	}
	carry := func(low *int64, base int64, high *int64) {
		for *low < 0 {
			*low += base
			*high--
		}
	}
	carry(&us, 1e6, &sec)
	carry(&sec, 60, &min)
	carry(&min, 60, &hour)
	carry(&hour, 24, &day)
	for day < 0 {
		m := y
		if flip {
			m = x
		}
		day += int64(types.DaysInMonth(m.year, m.month))
		month--
	}
	carry(&month, 12, &year)
	micros := ((hour*60+min)*60+sec)*1e6 + us
	if flip {
		year, month, day, micros = -year, -month, -day, -micros
	}
	return types.IntervalValue(int32(year*12+month), int32(day), micros), nil
}

// unit is a field that timestamps can be counted in, or an error.
func unit(name string) (types.Field, error) {
	f, ok := types.ParseField(name)
	if ok {
		switch f {
		case types.Millennium, types.Century, types.Decade, types.Year, types.ISOYear, types.Quarter, types.Month, types.Week, types.Day, types.DayOfYear,
			types.DayOfWeek, types.ISODayOfWeek, types.Hour, types.Minute, types.Second, types.Milliseconds, types.Microseconds:
			return f, nil
		}
	}
	return f, errorf(diag.InvalidParameter, "unit %q not recognized for type timestamp", name)
}

// monthsIn is how many months a field has, microsIn how many microseconds; 0: that is not how it is counted.
func monthsIn(f types.Field) int64 {
	switch f {
	case types.Millennium:
		return 12000
	case types.Century:
		return 1200
	case types.Decade:
		return 120
	case types.Year, types.ISOYear:
		return 12
	case types.Quarter:
		return 3
	case types.Month:
		return 1
	}
	return 0
}

func microsIn(f types.Field) int64 {
	switch f {
	case types.Week:
		return 7 * types.MicrosPerDay
	case types.Hour:
		return 3600e6
	case types.Minute:
		return 60e6
	case types.Second:
		return 1e6
	case types.Milliseconds:
		return 1000
	case types.Microseconds:
		return 1
	}
	return types.MicrosPerDay
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// dateDiff counts the bounds of units between two times: of 31 December and 1 January the years differ by one.
func dateDiff(a []types.Value, t types.Type) (types.Value, error) {
	f, err := unit(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	index := func(ts int64) int64 {
		days, _ := types.SplitTimestamp(ts)
		y, m, _ := types.CivilFromDays(days)
		if f == types.ISOYear {
			iso, _ := types.ISOWeek(days)
			return int64(iso)
		}
		if n := monthsIn(f); n > 0 {
			return floorDiv(int64(y)*12+int64(m)-1, n)
		}
		if f == types.Week { // weeks begin on Mondays, and the first day was a Thursday
			return floorDiv(days+3, 7)
		}
		return floorDiv(ts, microsIn(f))
	}
	return number(t, index(a[2].I)-index(a[1].I))
}

// dateSub counts the whole units between two times.
func dateSub(a []types.Value, t types.Type) (types.Value, error) {
	f, err := unit(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	if n := monthsIn(f); n > 0 {
		v, err := age([]types.Value{a[2], a[1]}, types.TInterval)
		months, _, _ := v.IntervalParts()
		return types.IntValue(t, int64(months)/n), err
	}
	return number(t, (a[2].I-a[1].I)/microsIn(f))
}

// dateBin puts a time to the start of its part of time, counted from an origin.
func dateBin(a []types.Value, t types.Type) (types.Value, error) {
	months, days, us := a[0].IntervalParts()
	if months != 0 {
		return fail(diag.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	stride, ok := addWithin(int64(days)*types.MicrosPerDay, us)
	if days > math.MaxInt64/types.MicrosPerDay || days < math.MinInt64/types.MicrosPerDay || !ok {
		return fail(diag.DatetimeOverflow, "interval out of range")
	}
	if stride <= 0 {
		return fail(diag.DatetimeOverflow, "stride must be greater than zero")
	}
	if a[1].IsInfinite() {
		return number(t, a[1].I)
	}
	if a[2].IsInfinite() {
		return fail(diag.DatetimeOverflow, "origin out of range")
	}
	since, ok := addWithin(a[1].I, -a[2].I)
	if !ok {
		return fail(diag.DatetimeOverflow, "interval out of range")
	}
	return inTime(a[2].I+floorDiv(since, stride)*stride, t)
}

// addWithin is a sum of numbers that are not the least there is, if it fits.
func addWithin(x, y int64) (int64, bool) {
	sum := x + y
	return sum, sum > x == (y > 0)
}

func inTime(ts int64, t types.Type) (types.Value, error) {
	if !types.TimestampInRange(ts) {
		return fail(diag.DatetimeOverflow, "timestamp out of range")
	}
	return number(t, ts)
}

// timeBucket is dateBin that knows months; the origin is Monday, 3 January 2000, or 1 January for months.
func timeBucket(a []types.Value, t types.Type) (types.Value, error) {
	months, days, us := a[0].IntervalParts()
	switch {
	case months < 0 || days < 0 || us < 0 || months == 0 && days == 0 && us == 0:
		return fail(diag.InvalidParameter, "the width of a bucket must be greater than zero")
	case months > 0 && (days != 0 || us != 0):
		return fail(diag.FeatureNotSupported, "a bucket of months and days is not supported")
	case months == 0:
		origin := types.IntValue(t, types.DaysFromCivil(2000, 1, 3)*types.MicrosPerDay)
		if len(a) > 2 {
			origin = a[2]
		}
		return dateBin([]types.Value{a[0], a[1], origin}, t)
	}
	if a[1].IsInfinite() {
		return number(t, a[1].I)
	}
	from := int64(2000 * 12)
	if len(a) > 2 {
		c := civilOf(a[2])
		from = int64(c.year)*12 + int64(c.month) - 1
	}
	c := civilOf(a[1])
	m := from + floorDiv(int64(c.year)*12+int64(c.month)-1-from, int64(months))*int64(months)
	return inTime(types.DaysFromCivil(int(floorDiv(m, 12)), int(m-floorDiv(m, 12)*12)+1, 1)*types.MicrosPerDay, t)
}

// fromEpoch is the time that many units after 1970, each of so many microseconds.
func fromEpoch(micros int64) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		if a[0].I > math.MaxInt64/micros || a[0].I < math.MinInt64/micros {
			return fail(diag.DatetimeOverflow, "timestamp out of range")
		}
		return inTime(a[0].I*micros, t)
	}
}

// sinceEpoch is the time since 1970 in microseconds times up, divided by down.
func sinceEpoch(up, down int64) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		if a[0].I > math.MaxInt64/up || a[0].I < math.MinInt64/up {
			return outOfRange("bigint")
		}
		return number(t, floorDiv(a[0].I*up, down))
	}
}

// justify makes days of 24 hours, and months of 30 days, with one sign for all of them.
func justify(hours, days bool) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		m32, d32, us := a[0].IntervalParts()
		months, d := int64(m32), int64(d32)
		const perDay = types.MicrosPerDay
		if hours && days { // days first, so that months do not overflow by hours
			d += us / perDay
			us %= perDay
			months += d / 30
			d %= 30
			switch {
			case months > 0 && (d < 0 || d == 0 && us < 0):
				d += 30
				months--
			case months < 0 && (d > 0 || d == 0 && us > 0):
				d -= 30
				months++
			}
		} else if hours {
			d += us / perDay
			us %= perDay
		}
		if hours {
			switch {
			case d > 0 && us < 0:
				us += perDay
				d--
			case d < 0 && us > 0:
				us -= perDay
				d++
			}
		}
		if days && !hours {
			months += d / 30
			d %= 30
			switch {
			case months > 0 && d < 0:
				d += 30
				months--
			case months < 0 && d > 0:
				d -= 30
				months++
			}
		}
		if months != int64(int32(months)) || d != int64(int32(d)) {
			return fail(diag.DatetimeOverflow, "interval out of range")
		}
		return types.IntervalValue(int32(months), int32(d), us), nil
	}
}

func isFinite(a []types.Value, _ types.Type) (types.Value, error) {
	return types.BoolValue(!a[0].IsInfinite()), nil
}

func isInfinite(a []types.Value, _ types.Type) (types.Value, error) {
	return types.BoolValue(a[0].IsInfinite()), nil
}

func lastDay(a []types.Value, t types.Type) (types.Value, error) {
	c := civilOf(a[0])
	return number(t, types.DaysFromCivil(c.year, c.month, types.DaysInMonth(c.year, c.month)))
}

// civilDays is the day of a date; -44 is 44 BC, and no year is 0.
func civilDays(y, m, d int64) (int64, error) {
	wrong := errorf(diag.DatetimeOverflow, "date field value out of range: %d-%02d-%02d", y, m, d)
	if y == 0 || y > 1e7 || y < -1e7 || m < 1 || m > 12 || d < 1 {
		return 0, wrong
	}
	year := int(y)
	if year < 0 {
		year++
	}
	if d > int64(types.DaysInMonth(year, int(m))) {
		return 0, wrong
	}
	days := types.DaysFromCivil(year, int(m), int(d))
	if !types.DateInRange(days) {
		return 0, errorf(diag.DatetimeOverflow, "date out of range: %d-%02d-%02d", y, m, d)
	}
	return days, nil
}

func makeDate(a []types.Value, t types.Type) (types.Value, error) {
	days, err := civilDays(a[0].I, a[1].I, a[2].I)
	return types.IntValue(t, days), err
}

func makeTimestamp(a []types.Value, t types.Type) (types.Value, error) {
	days, err := civilDays(a[0].I, a[1].I, a[2].I)
	if err != nil {
		return types.Value{}, err
	}
	hour, min, sec := a[3].I, a[4].I, a[5].F
	// Second 60 is the next minute, and hour 24 the next day, if nothing comes after them.
	if hour < 0 || min < 0 || min > 59 || !(sec >= 0 && sec <= 60) || hour > 24 || hour == 24 && (min > 0 || sec > 0) {
		return fail(diag.DatetimeOverflow, "time field value out of range: %d:%02d:%02g", hour, min, sec)
	}
	if days > types.MaxTimestamp/types.MicrosPerDay || days < types.MinTimestamp/types.MicrosPerDay {
		return fail(diag.DatetimeOverflow, "timestamp out of range")
	}
	return inTime(days*types.MicrosPerDay+hour*3600e6+min*60e6+int64(math.RoundToEven(sec*1e6)), t)
}

// makeInterval is make_interval(years, months, weeks, days, hours, mins, secs), each of which may be left out.
func makeInterval(a []types.Value, _ types.Type) (types.Value, error) {
	months, ok := sum(at(a, 0, 0), 12, at(a, 1, 0), 1)
	days, ok2 := sum(at(a, 2, 0), 7, at(a, 3, 0), 1)
	minutes, ok3 := sum(at(a, 4, 0), 60, at(a, 5, 0), 1)
	secs := 0.0
	if len(a) > 6 {
		secs = a[6].F
	}
	us := float64(minutes)*60e6 + math.RoundToEven(secs*1e6)
	if !ok || !ok2 || !ok3 || months != int64(int32(months)) || days != int64(int32(days)) || !(us > -9.2e18 && us < 9.2e18) {
		return fail(diag.DatetimeOverflow, "interval out of range")
	}
	return types.IntervalValue(int32(months), int32(days), minutes*60e6+int64(math.RoundToEven(secs*1e6))), nil
}

// sum is a*x + b*y for numbers of the size of integers.
func sum(a, x, b, y int64) (int64, bool) {
	const most = 1 << 40
	if a > most || a < -most || b > most || b < -most {
		return 0, false
	}
	return a*x + b*y, true
}

// span is an interval of so many units.
func span(months, days int32, micros int64) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		n := a[0].I
		m, d := n*int64(months), n*int64(days)
		if (months != 0 || days != 0) && (n != int64(int32(n)) || m != int64(int32(m)) || d != int64(int32(d))) ||
			micros > 1 && (n > math.MaxInt64/micros || n < math.MinInt64/micros) {
			return fail(diag.DatetimeOverflow, "interval out of range")
		}
		return types.IntervalValue(int32(m), int32(d), n*micros), nil
	}
}

// datePartBy is date_part with a field that only the rows know; the result is a double, as in PostgreSQL.
func datePartBy(a []types.Value, t types.Type) (types.Value, error) {
	f, ok := types.ParseField(a[0].S)
	if !ok {
		return fail(diag.InvalidParameter, "unit %q not recognized for type %s", a[0].S, a[1].Type.SQLName())
	}
	if _, ok := types.ExtractType(f, a[1].Type); !ok {
		return fail(diag.FeatureNotSupported, "unit %q not supported for type %s", a[0].S, a[1].Type.SQLName())
	}
	v, err := types.Extract(f, a[1])
	if err != nil || v.Null {
		return types.NullOf(t), err
	}
	return double(v.Float())
}

// CanTruncate reports a field to which times can be cut.
func CanTruncate(f types.Field) bool {
	switch f {
	case types.DayOfWeek, types.ISODayOfWeek, types.DayOfYear, types.Epoch, types.Julian, types.ISOYear:
		return false
	}
	return true
}

func dateTruncBy(a []types.Value, t types.Type) (types.Value, error) {
	f, ok := types.ParseField(a[0].S)
	if !ok || !CanTruncate(f) {
		return fail(diag.InvalidParameter, "unit %q not recognized for type timestamp", a[0].S)
	}
	ts, err := types.DateTrunc(f, a[1].I)
	return types.IntValue(t, ts), err
}

// intervalTrunc cuts an interval to a field.
func intervalTrunc(a []types.Value, _ types.Type) (types.Value, error) {
	f, ok := types.ParseField(a[0].S)
	if !ok || !CanTruncate(f) {
		return fail(diag.InvalidParameter, "unit %q not recognized for type interval", a[0].S)
	}
	m, d, us := a[1].IntervalParts()
	if f == types.Week {
		return fail(diag.FeatureNotSupported, "unit %q not supported for type interval", a[0].S)
	}
	if n := monthsIn(f); n > 0 {
		return types.IntervalValue(m/int32(n)*int32(n), 0, 0), nil
	}
	if f == types.Day {
		return types.IntervalValue(m, d, 0), nil
	}
	n := microsIn(f)
	return types.IntervalValue(m, d, us/n*n), nil
}
