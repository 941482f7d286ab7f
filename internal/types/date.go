package types

// Calendar arithmetic: the proleptic Gregorian calendar, days and microseconds
// counted from 1970-01-01. Year 0 is 1 BC.

const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	// MicrosPerDay is the length of every day: there are no time zones in TIMESTAMP.
	MicrosPerDay = 24 * microsPerHour

	secondsPerDay = 86400
	daysPerMonth  = 30 // of an interval, where it must be compared or cut
	unixJulian    = 2440588
)

// The range of DATE is PostgreSQL's, and fits in 32 bits. TIMESTAMP begins with it and
// ends 30 years before PostgreSQL's, which counts from 2000.
var (
	MinDate      = DaysFromCivil(-4713, 11, 24)
	MaxDate      = DaysFromCivil(5874897, 12, 31)
	MinTimestamp = MinDate * MicrosPerDay
	MaxTimestamp = (DaysFromCivil(294246, 12, 31)+1)*MicrosPerDay - 1
)

// DaysFromCivil is the day number of a date, which need not be checked: day 0 or
// month lengths overflowing into the next month count through.
func DaysFromCivil(year, month, day int) int64 {
	// Years begin in March, so that the leap day is the last one
	// (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
	y := int64(year)
	if month <= 2 {
		y--
		month += 12
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	doy := int64(153*(month-3)+2)/5 + int64(day) - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// CivilFromDays is the date of a day number.
func CivilFromDays(days int64) (year, month, day int) {
	z := days + 719468
	era := floorDiv(z, 146097)
	doe := uint32(z - era*146097)                          // [0, 146096]
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365 // [0, 399]
	doy := doe - (365*yoe + yoe/4 - yoe/100)               // [0, 365], from 1 March
	mp := (5*doy + 2) / 153                                // [0, 11], from March
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp) + 3
	year = int(era)*400 + int(yoe)
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// DaysInMonth is 28 … 31.
func DaysInMonth(year, month int) int {
	if month == 2 {
		if isLeap(year) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

// SplitTimestamp is the day of a timestamp and the microseconds since its midnight.
func SplitTimestamp(ts int64) (days, micros int64) {
	days = floorDiv(ts, MicrosPerDay)
	return days, ts - days*MicrosPerDay
}

// DateInRange and TimestampInRange report whether a computed value is one. Infinite ones are not computed.
func DateInRange(days int64) bool    { return days >= MinDate && days <= MaxDate }
func TimestampInRange(ts int64) bool { return ts >= MinTimestamp && ts <= MaxTimestamp }

// DateToTimestamp is midnight of a day.
func DateToTimestamp(days int64) (int64, error) {
	if IsInfiniteDate(days) {
		return infiniteAs(DateValue(days), TTimestamp).I, nil
	}
	if days < MinDate || days > MaxTimestamp/MicrosPerDay {
		return 0, &Error{Code: codeDateOverflow, Msg: "date out of range for timestamp"}
	}
	return days * MicrosPerDay, nil
}

// AddMonths moves a day by months, keeping the day of the month where it exists
// and else taking the month's last: January 31 plus one month is the end of February.
func AddMonths(days int64, months int64) int64 {
	y, m, d := CivilFromDays(days)
	total := int64(y)*12 + int64(m-1) + months
	y, m = int(floorDiv(total, 12)), int(floorMod(total, 12))+1
	return DaysFromCivil(y, m, min(d, DaysInMonth(y, m)))
}

// AddInterval adds months, then days, then microseconds to a timestamp.
func AddInterval(ts int64, months, days int32, micros int64) (int64, error) {
	if IsInfiniteTimestamp(ts) {
		return ts, nil
	}
	day, rest := SplitTimestamp(ts)
	if months != 0 {
		day = AddMonths(day, int64(months))
	}
	day += int64(days)
	// |day| stays below 2^40, so only the product below can overflow.
	day += floorDiv(micros, MicrosPerDay)
	rest += floorMod(micros, MicrosPerDay)
	if rest >= MicrosPerDay {
		day, rest = day+1, rest-MicrosPerDay
	}
	if day < MinDate || day > MaxTimestamp/MicrosPerDay {
		return 0, ErrOutOfRange(TTimestamp)
	}
	return day*MicrosPerDay + rest, nil
}

// SubTimestamps is a - b as an interval of days and time, without months.
func SubTimestamps(a, b int64) (Value, error) {
	if IsInfiniteTimestamp(a) || IsInfiniteTimestamp(b) {
		return Value{}, ErrInfiniteTimestamps
	}
	day, rest := SplitTimestamp(a)
	day2, rest2 := SplitTimestamp(b)
	day, rest = day-day2, rest-rest2 // the difference of all may need more than 64 bits
	switch {
	case day > 0 && rest < 0:
		day, rest = day-1, rest+MicrosPerDay
	case day < 0 && rest > 0:
		day, rest = day+1, rest-MicrosPerDay
	}
	return IntervalValue(0, int32(day), rest), nil
}

// Weekday is 0 for Sunday … 6 for Saturday.
func Weekday(days int64) int { return int(floorMod(days+4, 7)) }

// ISOWeek is the ISO 8601 year and week of a day.
func ISOWeek(days int64) (year, week int) {
	thursday := days - floorMod(days+3, 7) + 3 // of the same week: it decides the year
	year, _, _ = CivilFromDays(thursday)
	return year, int(thursday-DaysFromCivil(year, 1, 1))/7 + 1
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
