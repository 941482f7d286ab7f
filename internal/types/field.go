package types

import "strings"

// Field is a part of a date or time: what EXTRACT and date_trunc name.
type Field uint8

const (
	NoField Field = iota
	Millennium
	Century
	Decade
	Year
	ISOYear
	Quarter
	Month
	Week // ISO week
	Day
	DayOfWeek    // 0 Sunday … 6 Saturday
	ISODayOfWeek // 1 Monday … 7 Sunday
	DayOfYear
	Hour
	Minute
	Second // with fraction
	Milliseconds
	Microseconds
	Epoch // seconds since 1970-01-01, with fraction
	Julian
)

var fieldNames = [...]string{
	Millennium: "millennium", Century: "century", Decade: "decade", Year: "year", ISOYear: "isoyear",
	Quarter: "quarter", Month: "month", Week: "week", Day: "day", DayOfWeek: "dow", ISODayOfWeek: "isodow",
	DayOfYear: "doy", Hour: "hour", Minute: "minute", Second: "second", Milliseconds: "milliseconds",
	Microseconds: "microseconds", Epoch: "epoch", Julian: "julian",
}

// String is the field's canonical name, which plans carry.
func (f Field) String() string {
	if int(f) < len(fieldNames) {
		return fieldNames[f]
	}
	return ""
}

var fieldByName = func() map[string]Field {
	m := map[string]Field{"dayofweek": DayOfWeek, "weekday": DayOfWeek, "dayofyear": DayOfYear, "weekofyear": Week}
	for f, name := range fieldNames {
		if name != "" {
			m[name] = Field(f)
		}
	}
	return m
}()

// ParseField finds a field by any of its names.
func ParseField(name string) (Field, bool) {
	if f, ok := fieldByName[strings.ToLower(name)]; ok {
		return f, true
	}
	if strings.EqualFold(name, "m") || name == "" { // minutes or months? PostgreSQL says minutes, only in intervals
		return NoField, false
	}
	return unitOf(name)
}

// ExtractType is the type of EXTRACT(f FROM t): BIGINT where the field is whole,
// else a DECIMAL with the digits that the field has. ok is false where t has no such field.
func ExtractType(f Field, t Type) (Type, bool) {
	switch t.Kind {
	case Date:
		if f >= Hour && f <= Microseconds || f == NoField {
			return Type{}, false
		}
		return TInt64, true
	case Time, TimeTZ:
		if f < Hour || f == Julian {
			return Type{}, false
		}
		if f == Epoch {
			return TDecimal(12, 6), true
		}
	case Timestamp:
		if f == NoField {
			return Type{}, false
		}
		if f == Julian {
			return TFloat64, true
		}
	case Interval:
		switch f {
		case NoField, ISOYear, Week, DayOfWeek, ISODayOfWeek, DayOfYear, Julian:
			return Type{}, false
		}
	default:
		return Type{}, false
	}
	switch f {
	case Second:
		return TDecimal(8, 6), true
	case Milliseconds:
		return TDecimal(8, 3), true
	case Epoch: // microseconds of the whole range need more than 18 digits
		if t.Kind == Interval {
			return TDecimal(24, 6), true
		}
		return TDecimal(20, 6), true
	}
	return TInt64, true
}

// Extract computes EXTRACT(f FROM v) with the type that ExtractType says. Infinite times have no fields: NULL. (PostgreSQL has an
// infinite number for those that grow without end, as years do, which these types lack.)
func Extract(f Field, v Value) (Value, error) {
	t, ok := ExtractType(f, v.Type)
	if !ok {
		return Value{}, errf(codeNotSupported, "unit %q not supported for type %s", f, v.Type.SQLName())
	}
	if v.Null || v.IsInfinite() {
		return NullOf(t), nil
	}
	if v.Type.Kind == Interval {
		return extractInterval(f, t, v), nil
	}
	if v.Type.Kind == Time || v.Type.Kind == TimeTZ {
		local, west := v.I, int64(0)
		if v.Type.Kind == TimeTZ {
			local, west = SplitTimeTZ(v.I)
		}
		if f == Epoch { // of the day in UTC
			return DecimalValue(t, FromInt64(local+west*microsPerSecond)), nil
		}
		return extractClock(f, t, local), nil
	}
	days, micros := v.I, int64(0)
	if v.Type.Kind == Timestamp {
		days, micros = SplitTimestamp(v.I)
	}
	y, m, d := CivilFromDays(days)
	var x int64
	switch f {
	case Year:
		x = int64(y)
		if y <= 0 {
			x-- // there is no year 0: 1 BC is -1
		}
	case Millennium:
		x = centuries(y, 1000)
	case Century:
		x = centuries(y, 100)
	case Decade:
		x = floorDiv(int64(y), 10)
	case ISOYear:
		iy, _ := ISOWeek(days)
		x = int64(iy)
		if iy <= 0 {
			x--
		}
	case Quarter:
		x = int64(m-1)/3 + 1
	case Month:
		x = int64(m)
	case Week:
		_, w := ISOWeek(days)
		x = int64(w)
	case Day:
		x = int64(d)
	case DayOfWeek:
		x = int64(Weekday(days))
	case ISODayOfWeek:
		x = floorMod(days+3, 7) + 1
	case DayOfYear:
		x = days - DaysFromCivil(y, 1, 1) + 1
	case Julian:
		if t.Kind == Float64 {
			return FloatValue(t, float64(days+unixJulian)+float64(micros)/MicrosPerDay), nil
		}
		x = days + unixJulian
	case Epoch:
		if v.Type.Kind == Date {
			x = days * secondsPerDay
		} else {
			return DecimalValue(t, FromInt64(v.I)), nil
		}
	default:
		return extractClock(f, t, micros), nil
	}
	return IntValue(t, x), nil
}

// extractClock takes the fields below the day; signs follow the whole.
func extractClock(f Field, t Type, micros int64) Value {
	switch f {
	case Hour:
		return IntValue(t, micros/microsPerHour)
	case Minute:
		return IntValue(t, micros/microsPerMinute%60)
	case Second, Milliseconds: // both are the microseconds of the minute, at different scales
		return DecimalValue(t, FromInt64(micros%microsPerMinute))
	}
	return IntValue(t, micros%microsPerMinute)
}

func extractInterval(f Field, t Type, v Value) Value {
	months, days, micros := v.IntervalParts()
	years := int64(months / 12)
	var x int64
	switch f {
	case Millennium:
		x = years / 1000
	case Century:
		x = years / 100
	case Decade:
		x = years / 10
	case Year:
		x = years
	case Quarter:
		x = int64(months%12)/3 + 1
	case Month:
		x = int64(months % 12)
	case Day:
		x = int64(days)
	case Epoch: // years of 365.25 days, months of 30
		secs := years*(36525*secondsPerDay/100) + int64(months%12)*daysPerMonth*secondsPerDay + int64(days)*secondsPerDay
		e, _ := FromInt64(secs).Mul(FromInt64(microsPerSecond))
		return DecimalValue(t, e.Add(FromInt64(micros)))
	default:
		return extractClock(f, t, micros)
	}
	return IntValue(t, x)
}

// centuries counts periods of n years as people do: the years 1 … 100 are the first
// century, 100 BC … 1 BC the century -1.
func centuries(y, n int) int64 {
	if y > 0 {
		return int64((y + n - 1) / n)
	}
	return -int64((n - y) / n)
}

// DateTrunc is date_trunc(f, ts): the start of the period that ts lies in.
func DateTrunc(f Field, ts int64) (int64, error) {
	if IsInfiniteTimestamp(ts) {
		return ts, nil
	}
	days, micros := SplitTimestamp(ts)
	switch f {
	case Microseconds:
		return ts, nil
	case Milliseconds:
		return ts - micros%1000, nil
	case Second:
		return ts - micros%microsPerSecond, nil
	case Minute:
		return ts - micros%microsPerMinute, nil
	case Hour:
		return ts - micros%microsPerHour, nil
	}
	y, m, _ := CivilFromDays(days)
	switch f {
	case Day:
	case Week:
		days -= floorMod(days+3, 7)
	case Month:
		days = DaysFromCivil(y, m, 1)
	case Quarter:
		days = DaysFromCivil(y, (m-1)/3*3+1, 1)
	case Year:
		days = DaysFromCivil(y, 1, 1)
	case Decade:
		days = DaysFromCivil(int(floorDiv(int64(y), 10))*10, 1, 1)
	case Century:
		days = DaysFromCivil(int(floorDiv(int64(y)-1, 100))*100+1, 1, 1)
	case Millennium:
		days = DaysFromCivil(int(floorDiv(int64(y)-1, 1000))*1000+1, 1, 1)
	default:
		return 0, errf(codeNotSupported, "unit %q not supported for type timestamp", f)
	}
	if days < MinDate {
		return 0, ErrOutOfRange(TTimestamp)
	}
	return days * MicrosPerDay, nil
}
