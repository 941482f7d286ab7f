package funcs

import (
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// parsedDate is what the words of a format have read.
type parsedDate struct {
	year, month, day   int64
	haveYear, bc       bool
	century            int64
	dayOfYear, julian  int64
	week, weekday      int64 // WW, D
	isoYear, isoWeek   int64
	isoDay             int64
	iso, gregorian     bool
	hour, min, sec     int64
	micros             int64
	pm, halves, clocks bool // a half of the day; an hour of one
	secondOfDay        int64
	haveSecondOfDay    bool
}

// dateReader reads a text by a format.
type dateReader struct {
	s string
	parsedDate
}

// readDate reads all of a format's words that the text has.
func readDate(s, format string) (*parsedDate, error) {
	r := &dateReader{s: s}
	r.month, r.day = 1, 1
	words := readDateFormat(format)
	for i, w := range words {
		if r.s == "" {
			break
		}
		if w.key == "" {
			r.literal(w.text)
			continue
		}
		r.blanks()
		// Digits of the next word must be left alone.
		next := i+1 < len(words) && words[i+1].key != "" && !isName(words[i+1].key)
		if err := r.word(w, next); err != nil {
			return nil, err
		}
	}
	if r.iso && r.gregorian {
		return nil, diag.Errorf(diag.InvalidDatetime, diag.NoPos, "invalid combination of date conventions").
			WithHint("do not mix Gregorian and ISO week date conventions in a formatting template")
	}
	return &r.parsedDate, nil
}

func isName(key string) bool {
	switch key {
	case "MONTH", "MON", "DAY", "DY", "AM", "PM", "A.M.", "P.M.", "AD", "BC", "A.D.", "B.C.", "RM":
		return true
	}
	return false
}

func (r *dateReader) blanks() { r.s = strings.TrimLeft(r.s, " \t\n\v\f\r") }

func separator(c byte) bool {
	return c > 0x20 && c < 0x7f && !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z')
}

// literal passes over what stands for a text of the format: any separators for a separator, else as many characters.
func (r *dateReader) literal(t string) {
	for _, c := range t {
		if c == ' ' || c < 0x80 && separator(byte(c)) {
			r.blanks()
			if r.s != "" && separator(r.s[0]) && (r.s[0] != '-' && r.s[0] != '+' || c != ' ') {
				r.s = r.s[1:]
			}
			r.blanks()
			continue
		}
		r.s = skipChars(r.s, 1)
	}
}

// number reads up to width digits, or all if no other digits are to follow. It counts what it read, a sign, too.
func (r *dateReader) number(w dateWord, width int, next bool) (n int64, chars int, err error) {
	if w.fill || !next {
		width = max(width, 9)
	}
	i := 0
	if i < len(r.s) && (r.s[i] == '-' || r.s[i] == '+') {
		i++
		width++
	}
	start := i
	for i < len(r.s) && i < width && r.s[i] >= '0' && r.s[i] <= '9' {
		i++
	}
	if i == start {
		return 0, 0, diag.Errorf(diag.InvalidDatetime, diag.NoPos, "invalid value %q for %q", firstChars(r.s, max(width, 1)), w.text).
			WithDetail("value must be an integer")
	}
	n, _ = strconv.ParseInt(r.s[:i], 10, 64)
	r.s = r.s[i:]
	if w.th != "" {
		r.s = skipChars(r.s, 2)
	}
	return n, i, nil
}

// oneOf reads one of some names and gives its place.
func (r *dateReader) oneOf(w dateWord, names []string) (int64, error) {
	for i, n := range names {
		if len(r.s) >= len(n) && strings.EqualFold(r.s[:len(n)], n) {
			r.s = r.s[len(n):]
			return int64(i), nil
		}
	}
	word, _, _ := strings.Cut(r.s, " ")
	return 0, diag.Errorf(diag.InvalidDatetime, diag.NoPos, "invalid value %q for %q", word, w.text).
		WithDetail("the given value did not match any of the allowed values for this field")
}

func shortened(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, n[:3])
	}
	return out
}

// fullYear is what people mean by a year of less than four digits.
func fullYear(y int64) int64 {
	switch {
	case y < 70:
		return y + 2000
	case y < 100:
		return y + 1900
	case y < 520:
		return y + 2000
	}
	return y + 1000
}

// fraction reads the digits of a second's part.
func (r *dateReader) fraction(w dateWord, width int, next bool) error {
	n, digits, err := r.number(w, width, next)
	if err != nil {
		return err
	}
	for ; digits < 6; digits++ {
		n *= 10
	}
	for ; digits > 6; digits-- {
		n /= 10
	}
	r.micros = n
	return nil
}

// word reads what one word of the format stands for.
func (r *dateReader) word(w dateWord, next bool) (err error) {
	set := func(to *int64, width int) error {
		*to, _, err = r.number(w, width, next)
		return err
	}
	fraction := func(width int) error { return r.fraction(w, width, next) }
	switch w.key {
	case "YYYY", "YYY", "YY", "Y":
		n, digits, err := r.number(w, len(w.key), next)
		if err != nil {
			return err
		}
		if digits < 4 && w.key != "YYYY" {
			n = fullYear(n)
		}
		r.year, r.haveYear, r.gregorian = n, true, true
	case "Y,YYY":
		n, _, err := r.number(dateWord{text: w.text, fill: true}, 9, false)
		if err != nil {
			return err
		}
		r.s = strings.TrimPrefix(r.s, ",")
		m, _, err := r.number(w, 3, next)
		if err != nil {
			return err
		}
		r.year, r.haveYear, r.gregorian = n*1000+m, true, true
	case "IYYY", "IYY", "IY", "I":
		n, digits, err := r.number(w, len(w.key), next)
		if err != nil {
			return err
		}
		if digits < 4 && w.key != "IYYY" {
			n = fullYear(n)
		}
		r.isoYear, r.iso = n, true
	case "IW":
		r.iso = true
		return set(&r.isoWeek, 2)
	case "ID":
		r.iso = true
		return set(&r.isoDay, 1)
	case "IDDD":
		r.iso = true
		n, _, err := r.number(w, 3, next)
		r.isoWeek, r.isoDay = (n-1)/7+1, (n-1)%7+1
		return err
	case "MM":
		r.gregorian = true
		return set(&r.month, 2)
	case "MONTH", "MON":
		r.gregorian = true
		names := monthNames
		if w.key == "MON" {
			names = shortened(names)
		}
		m, err := r.oneOf(w, names)
		r.month = m + 1
		return err
	case "RM":
		r.gregorian = true
		// The longer ones first: VIII begins as VII does.
		best := -1
		for i, n := range romanMonths {
			if len(r.s) >= len(n) && strings.EqualFold(r.s[:len(n)], n) && (best < 0 || len(n) > len(romanMonths[best])) {
				best = i
			}
		}
		if best < 0 {
			_, err := r.oneOf(w, romanMonths)
			return err
		}
		r.s, r.month = r.s[len(romanMonths[best]):], int64(best)+1
	case "DD":
		r.gregorian = true
		return set(&r.day, 2)
	case "DAY":
		_, err := r.oneOf(w, dayNames)
		return err
	case "DY":
		_, err := r.oneOf(w, shortened(dayNames))
		return err
	case "D":
		r.gregorian = true
		return set(&r.weekday, 1)
	case "DDD":
		r.gregorian = true
		return set(&r.dayOfYear, 3)
	case "WW":
		r.gregorian = true
		return set(&r.week, 2)
	case "W", "Q":
		var ignored int64
		if err := set(&ignored, 1); err != nil || w.key == "Q" {
			return err
		}
		r.gregorian = true
		r.day = (ignored-1)*7 + 1
	case "CC":
		r.gregorian = true
		return set(&r.century, 2)
	case "J":
		return set(&r.julian, 9)
	case "HH", "HH12":
		r.clocks = true
		return set(&r.hour, 2)
	case "HH24":
		return set(&r.hour, 2)
	case "MI":
		return set(&r.min, 2)
	case "SS":
		return set(&r.sec, 2)
	case "MS":
		return fraction(3)
	case "US":
		return fraction(6)
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		return fraction(int(w.key[2] - '0'))
	case "SSSS", "SSSSS":
		r.haveSecondOfDay = true
		return set(&r.secondOfDay, 5)
	case "AM", "PM", "A.M.", "P.M.":
		names := []string{"AM", "PM", "A.M.", "P.M."}
		i, err := r.oneOf(w, names)
		r.halves, r.pm, r.clocks = true, i%2 == 1, true
		return err
	case "AD", "BC", "A.D.", "B.C.":
		i, err := r.oneOf(w, []string{"AD", "BC", "A.D.", "B.C."})
		r.bc = i%2 == 1
		return err
	default:
		return errorf(diag.FeatureNotSupported, "%q in the format of a date to be read is not supported", w.key)
	}
	return nil
}

// timestamp is the point in time that was read.
func (p *parsedDate) timestamp(source string) (int64, error) {
	bad := func() (int64, error) {
		return 0, errorf(diag.DatetimeOverflow, "date/time field value out of range: %q", source)
	}
	if p.clocks && (p.hour < 1 || p.hour > 12) {
		return 0, diag.Errorf(diag.InvalidDatetime, diag.NoPos, "hour \"%d\" is invalid for the 12-hour clock", p.hour).
			WithHint("use the 24-hour clock, or give an hour between 1 and 12")
	}
	if p.month == 0 { // PostgreSQL takes a zero as if nothing were given
		p.month = 1
	}
	if p.day == 0 {
		p.day = 1
	}
	hour := p.hour
	switch {
	case p.halves && p.pm && hour < 12:
		hour += 12
	case p.halves && !p.pm && hour == 12:
		hour = 0
	}
	if hour < 0 || hour > 23 || p.min < 0 || p.min > 59 || p.sec < 0 || p.sec > 59 {
		return bad()
	}
	year := p.year
	if !p.haveYear && p.century > 0 {
		year = (p.century-1)*100 + 1
	}
	switch {
	case p.bc && year > 0:
		year = 1 - year
	case !p.haveYear && p.century == 0 && !p.iso && p.julian == 0:
		year = 0 // 1 BC, where PostgreSQL begins
	case p.haveYear && year < 0:
		year++ // -44 is 44 BC
	}
	if year < -5000 || year > 300000 || p.month < 1 || p.month > 12 {
		return bad()
	}
	var days int64
	switch {
	case p.julian > 0:
		days = p.julian - 2440588
	case p.iso:
		if p.isoWeek == 0 {
			p.isoWeek = 1
		}
		if p.isoWeek < 1 || p.isoWeek > 53 || p.isoDay < 0 || p.isoDay > 7 {
			return bad()
		}
		// The week of 4 January is the first.
		fourth := types.DaysFromCivil(int(p.isoYear), 1, 4)
		monday := fourth - int64((types.Weekday(fourth)+6)%7)
		days = monday + (p.isoWeek-1)*7 + max(p.isoDay-1, 0)
	case p.dayOfYear > 0:
		if p.dayOfYear > types.DaysFromCivil(int(year)+1, 1, 1)-types.DaysFromCivil(int(year), 1, 1) {
			return bad()
		}
		days = types.DaysFromCivil(int(year), 1, 1) + p.dayOfYear - 1
	case p.week > 0:
		if p.week > 53 {
			return bad()
		}
		days = types.DaysFromCivil(int(year), 1, 1) + (p.week-1)*7
	default:
		if p.day < 1 || p.day > int64(types.DaysInMonth(int(year), int(p.month))) {
			return bad()
		}
		days = types.DaysFromCivil(int(year), int(p.month), int(p.day))
	}
	if !types.DateInRange(days) || days > types.MaxTimestamp/types.MicrosPerDay {
		return bad()
	}
	clock := hour*3600 + p.min*60 + p.sec
	if p.haveSecondOfDay {
		if p.secondOfDay < 0 || p.secondOfDay > 86399 {
			return bad()
		}
		clock = p.secondOfDay
	}
	ts := days*types.MicrosPerDay + clock*1e6 + p.micros
	if !types.TimestampInRange(ts) {
		return bad()
	}
	return ts, nil
}

// parseTimestamp is to_timestamp(text, format), parseDate to_date.
func parseTimestamp(a []types.Value, t types.Type) (types.Value, error) {
	p, err := readDate(a[0].S, a[1].S)
	if err != nil {
		return types.Value{}, err
	}
	ts, err := p.timestamp(a[0].S)
	return types.IntValue(t, ts), err
}

func parseDate(a []types.Value, t types.Type) (types.Value, error) {
	v, err := parseTimestamp(a, t)
	days, _ := types.SplitTimestamp(v.I)
	return types.IntValue(t, days), err
}
