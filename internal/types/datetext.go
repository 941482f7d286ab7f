package types

import "strconv"

// Texts of dates and timestamps: ISO 8601 as PostgreSQL writes it, and the forms of
// it that people write.

// ParseDate reads YYYY-MM-DD, also with slashes or dots between, or YYYYMMDD,
// and an optional trailing BC. A time of day after it is checked and dropped.
func ParseDate(s string) (days int64, err error) {
	days, rest, st := scanDate(s)
	if sign := parseInfinite(s); sign != 0 {
		return sign * InfiniteDate, nil
	}
	if st == dateOK && trimSpace(rest) != "" {
		_, st = scanTimeOfDay(rest)
	}
	if st == dateOK && !DateInRange(days) {
		return 0, errf(codeDateOverflow, "date out of range: %q", s)
	}
	return days, st.err(TDate, s)
}

// ParseTimestamp reads a date, optionally followed by a blank or T and a time of
// day HH:MM[:SS[.ffffff]]. A zone (Z, +01, -03:30) is accepted and ignored, as
// PostgreSQL does for TIMESTAMP without time zone.
func ParseTimestamp(s string) (int64, error) {
	days, rest, st := scanDate(s)
	var micros int64
	if sign := parseInfinite(s); sign != 0 {
		return sign * InfiniteTimestamp, nil
	}
	if st == dateOK && trimSpace(rest) != "" {
		micros, st = scanTimeOfDay(rest)
	}
	if st != dateOK {
		return 0, st.err(TTimestamp, s)
	}
	if days >= MinDate && days <= MaxTimestamp/MicrosPerDay {
		if ts := days*MicrosPerDay + micros; TimestampInRange(ts) {
			return ts, nil
		}
	}
	return 0, errf(codeDateOverflow, "timestamp out of range: %q", s)
}

// dateStatus tells malformed texts from impossible dates: they are different errors.
type dateStatus uint8

const (
	dateOK dateStatus = iota
	dateSyntax
	dateRange
)

func (st dateStatus) err(t Type, s string) error {
	switch st {
	case dateSyntax:
		return errf(codeDateFormat, "invalid input syntax for type %s: %q", t.SQLName(), s)
	case dateRange:
		return errf(codeDateOverflow, "date/time field value out of range: %q", s)
	}
	return nil
}

// scanDate reads the date at the start of s; rest is what follows it, without BC.
func scanDate(s string) (days int64, rest string, st dateStatus) {
	s = trimSpace(s)
	var year, month, day int
	n := digitsAt(s)
	switch {
	case n == 8: // compact
		year, month, day = atoi(s[:4]), atoi(s[4:6]), atoi(s[6:8])
		rest = s[8:]
	case n >= 1 && n <= 7 && n < len(s) && (s[n] == '-' || s[n] == '/' || s[n] == '.'):
		if n < 3 { // 1-2-2003 would depend on DateStyle
			return 0, "", dateSyntax
		}
		sep := s[n]
		year, s = atoi(s[:n]), s[n+1:]
		n = digitsAt(s)
		if n < 1 || n > 2 || n == len(s) || s[n] != sep {
			return 0, "", dateSyntax
		}
		month, s = atoi(s[:n]), s[n+1:]
		n = digitsAt(s)
		if n < 1 || n > 2 {
			return 0, "", dateSyntax
		}
		day, rest = atoi(s[:n]), s[n:]
	default:
		return 0, "", dateSyntax
	}
	rest, bc := cutEra(rest)
	if bc {
		if year == 0 {
			return 0, "", dateRange
		}
		year = 1 - year
	} else if year == 0 {
		return 0, "", dateRange
	}
	if month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month) {
		return 0, "", dateRange
	}
	return DaysFromCivil(year, month, day), rest, dateOK
}

// cutEra removes a trailing BC or AD.
func cutEra(s string) (rest string, bc bool) {
	if n := len(s); n >= 3 && s[n-3] == ' ' {
		switch {
		case (s[n-2]|32) == 'b' && (s[n-1]|32) == 'c':
			return s[:n-3], true
		case (s[n-2]|32) == 'a' && (s[n-1]|32) == 'd':
			return s[:n-3], false
		}
	}
	return s, false
}

// scanTimeOfDay reads " HH:MM…" or "THH:MM…" with an optional zone.
func scanTimeOfDay(s string) (micros int64, st dateStatus) {
	if s[0] != ' ' && s[0] != 'T' && s[0] != 't' {
		return 0, dateSyntax
	}
	s = trimSpace(s[1:])
	h, m, sec, frac, rest, ok := scanClock(s)
	if !ok || !isZone(trimSpace(rest)) {
		return 0, dateSyntax
	}
	if h > 24 {
		return 0, dateRange
	}
	micros = h*microsPerHour + m*microsPerMinute + sec*microsPerSecond + frac
	if m > 59 || sec > 60 || micros > MicrosPerDay {
		return 0, dateRange
	}
	return micros, dateOK
}

// scanClock reads H:MM[:SS[.f…]] at the start of s; the fraction is rounded to microseconds.
func scanClock(s string) (h, m, sec, frac int64, rest string, ok bool) {
	n := digitsAt(s)
	if n < 1 || n > 10 || n == len(s) || s[n] != ':' {
		return
	}
	h, s = int64(atoi(s[:n])), s[n+1:]
	if n = digitsAt(s); n < 1 || n > 2 {
		return
	}
	m, s = int64(atoi(s[:n])), s[n:]
	if s != "" && s[0] == ':' {
		s = s[1:]
		if n = digitsAt(s); n < 1 || n > 2 {
			return
		}
		sec, s = int64(atoi(s[:n])), s[n:]
		if s != "" && s[0] == '.' {
			frac, s = scanMicros(s[1:])
		}
	}
	return h, m, sec, frac, s, true
}

// scanMicros reads the digits of a fraction as millionths, rounded.
func scanMicros(s string) (micros int64, rest string) {
	n := digitsAt(s)
	scale := int64(100_000)
	for i := 0; i < n && i < 6; i++ {
		micros += int64(s[i]-'0') * scale
		scale /= 10
	}
	if n > 6 && s[6] >= '5' {
		micros++
	}
	return micros, s[n:]
}

// isZone accepts nothing, Z, UTC, GMT, ±HH, ±HHMM and ±HH:MM.
func isZone(s string) bool {
	switch s {
	case "", "Z", "z", "UTC", "utc", "GMT", "gmt":
		return true
	}
	if s[0] != '+' && s[0] != '-' {
		return false
	}
	s = s[1:]
	n := digitsAt(s)
	switch {
	case n == len(s):
		return n >= 1 && n <= 4 && n != 3
	case s[n] == ':':
		return n >= 1 && n <= 2 && len(s) == n+3 && digitsAt(s[n+1:]) == 2
	}
	return false
}

// AppendDate appends a date as YYYY-MM-DD, with BC for years before 1.
func AppendDate(dst []byte, days int64) []byte {
	if IsInfiniteDate(days) {
		return appendInfinite(dst, days)
	}
	y, m, d := CivilFromDays(days)
	bc := y <= 0
	if bc {
		y = 1 - y
	}
	dst = appendCivil(dst, y, m, d)
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

func appendCivil(dst []byte, y, m, d int) []byte {
	dst = appendPadded(dst, y, 4)
	dst = appendPadded(append(dst, '-'), m, 2)
	return appendPadded(append(dst, '-'), d, 2)
}

// AppendTimestamp appends a timestamp as YYYY-MM-DD HH:MM:SS[.f…] without trailing zeros.
func AppendTimestamp(dst []byte, ts int64) []byte {
	if IsInfiniteTimestamp(ts) {
		return appendInfinite(dst, ts)
	}
	days, micros := SplitTimestamp(ts)
	y, m, d := CivilFromDays(days)
	bc := y <= 0
	if bc {
		y = 1 - y
	}
	dst = appendClock(append(appendCivil(dst, y, m, d), ' '), micros)
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// appendClock appends HH:MM:SS[.f…] of a non-negative time.
func appendClock(dst []byte, micros int64) []byte {
	dst = appendPadded(dst, int(micros/microsPerHour), 2)
	dst = appendPadded(append(dst, ':'), int(micros/microsPerMinute%60), 2)
	dst = appendPadded(append(dst, ':'), int(micros/microsPerSecond%60), 2)
	if f := micros % microsPerSecond; f != 0 {
		dst = appendPadded(append(dst, '.'), int(f), 6)
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	return dst
}

func appendPadded(dst []byte, x, width int) []byte {
	for p := width - 1; p > 0; p-- {
		if x < pow10i[p] {
			dst = append(dst, '0')
		}
	}
	return strconv.AppendInt(dst, int64(x), 10)
}

var pow10i = [...]int{1, 10, 100, 1000, 10000, 100000, 1000000}

// digitsAt counts the digits at the start of s.
func digitsAt(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// atoi reads up to 18 digits.
func atoi(s string) int {
	x := 0
	for i := 0; i < len(s); i++ {
		x = x*10 + int(s[i]-'0')
	}
	return x
}
