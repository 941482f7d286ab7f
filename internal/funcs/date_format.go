package funcs

import (
	"math"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Formats of dates and times: the words of to_char, to_date and to_timestamp.

// civil is a point in time, taken apart; an interval has months and days of its own.
type civil struct {
	year, month, day int // the year 0 is 1 BC
	days             int64
	hour, min, sec   int64
	micros           int64
	interval         bool
}

func civilOf(v types.Value) civil {
	var c civil
	micros := int64(0)
	switch v.Type.Kind {
	case types.Date:
		c.days = v.I
	case types.Interval:
		m, d, us := v.IntervalParts()
		c.interval = true
		c.year, c.month, c.day = int(m/12), int(m%12), int(d)
		c.days = intervalDay(int64(c.year), int64(c.month), int64(c.day))
		micros = us
	default:
		c.days, micros = types.SplitTimestamp(v.I)
	}
	if !c.interval {
		c.year, c.month, c.day = types.CivilFromDays(c.days)
	}
	c.micros = micros % 1e6
	c.sec, c.min, c.hour = micros/1e6%60, micros/6e7%60, micros/36e8
	return c
}

// intervalDay is what PostgreSQL takes for the day of years, months and days: its formula for dates, which months of 0 and less
// do not keep from counting.
func intervalDay(year, month, day int64) int64 {
	if month > 2 {
		month, year = month+1, year+4800
	} else {
		month, year = month+13, year+4799
	}
	century := year / 100
	return year*365 - 32167 + year/4 - century + century/4 + 7834*month/256 + day - 2440588
}

var (
	monthNames  = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames    = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	romanMonths = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}
)

// dateWord is a word of a format: its spelling there and, in capitals, what it means.
type dateWord struct {
	key  string // "" for a text
	text string
	fill bool // FM before it
	th   string
}

// dateKeywords are longest first among those that begin alike. Some are told apart by case: Month from MONTH.
var dateKeywords = []string{"A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "CC", "DAY", "DDD", "DD", "DY", "D", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6",
	"HH24", "HH12", "HH", "IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I", "J", "MI", "MM", "MONTH", "MON", "MS", "OF", "P.M.", "PM",
	"Q", "RM", "SSSSS", "SSSS", "SS", "TZH", "TZM", "TZ", "US", "WW", "W", "Y,YYY", "YYYY", "YYY", "YY", "Y"}

// quotedInFormat is a text in quotes at the beginning of a format, and what follows it; ok is false if there is none. A backslash is
// special inside of quotes, and before one.
func quotedInFormat(s string) (text, rest string, ok bool) {
	if strings.HasPrefix(s, `\"`) {
		return `"`, s[2:], true
	}
	t, ok := strings.CutPrefix(s, `"`)
	if !ok {
		return "", s, false
	}
	var b strings.Builder
	for t != "" && t[0] != '"' {
		if t[0] == '\\' && len(t) > 1 {
			t = t[1:]
		}
		b.WriteByte(t[0])
		t = t[1:]
	}
	return b.String(), strings.TrimPrefix(t, `"`), true
}

func readDateFormat(s string) []dateWord {
	var out []dateWord
	fill := false
next:
	for s != "" {
		if text, rest, ok := quotedInFormat(s); ok {
			out = append(out, dateWord{text: text})
			s = rest
			continue
		}
		if len(s) >= 2 && strings.EqualFold(s[:2], "FM") {
			fill = true
			s = s[2:]
			continue
		}
		if len(s) >= 2 && (strings.EqualFold(s[:2], "FX") || s[:2] == "TM") {
			s = s[2:]
			continue
		}
		for _, k := range dateKeywords {
			if len(s) < len(k) || !strings.EqualFold(s[:len(k)], k) {
				continue
			}
			w := dateWord{key: k, text: s[:len(k)], fill: fill}
			fill = false
			s = s[len(k):]
			if len(s) >= 2 && (s[:2] == "TH" || s[:2] == "th") {
				w.th = s[:2]
				s = s[2:]
			}
			out = append(out, w)
			continue next
		}
		n := 1
		for n < len(s) && s[n]&0xc0 == 0x80 {
			n++
		}
		out = append(out, dateWord{text: s[:n]})
		s = s[n:]
	}
	return out
}

// cased writes a name as the word in the format is written: MONTH, Month, month.
func cased(name, word string) string {
	upper := func(letter byte) bool { return letter&0x20 == 0 }
	switch {
	case len(word) > 1 && upper(word[0]) && upper(word[1]):
		return strings.ToUpper(name)
	case upper(word[0]):
		return name
	}
	return strings.ToLower(name)
}

// formatDate is to_char(timestamp or interval, format).
func formatDate(a []types.Value, t types.Type) (types.Value, error) {
	c := civilOf(a[0])
	if a[1].S == "" {
		return null(t)
	}
	var b strings.Builder
	for _, w := range readDateFormat(a[1].S) {
		if w.key == "" {
			b.WriteString(w.text)
			continue
		}
		s, err := c.word(w)
		if err != nil {
			return types.Value{}, err
		}
		b.WriteString(s)
	}
	return text(b.String())
}

// word is one word of a format.
func (c *civil) word(w dateWord) (string, error) {
	num := func(n int64, width int) (string, error) {
		s := strconv.FormatInt(max(n, -n), 10)
		if !w.fill {
			s = strings.Repeat("0", max(width-len(s), 0)) + s
		}
		if n < 0 {
			s = "-" + s
		}
		if w.th != "" {
			s += ordinal(s, w.th == "TH")
		}
		return s, nil
	}
	year := int64(c.year)
	if !c.interval && year <= 0 {
		year = 1 - year // BC
	}
	// lastDigits of a negative year have room for the sign, which a zero does not show.
	lastDigits := func(of int64, width int) (string, error) {
		if year < 0 && year%of == 0 {
			width++
		}
		return num(year%of, width)
	}
	// isoDigits have room for the sign where the year, as it is said, is negative.
	isoDigits := func(of int64, width int) (string, error) {
		n, _ := types.ISOWeek(c.days)
		iso := int64(n)
		switch {
		case !c.interval && iso <= 0:
			iso = 1 - iso
		case c.interval && iso%of < 0 && year >= 0:
			width--
		}
		return num(iso%of, width)
	}
	// days are of a width that counts the sign, too.
	days := func(n int64, width int) (string, error) {
		if n < 0 {
			width--
		}
		return num(n, width)
	}
	name := func(s string, width int) (string, error) {
		s = cased(s, w.text)
		if !w.fill {
			s += strings.Repeat(" ", max(width-len(s), 0))
		}
		return s, nil
	}
	if c.interval {
		switch w.key {
		case "MONTH", "MON", "DAY", "DY", "AD", "A.D.", "BC", "B.C.", "J", "RM", "D", "ID", "IW", "IYYY", "IYY", "IY", "I", "IDDD", "WW", "TZ", "TZH", "TZM", "OF":
			if w.key == "RM" && c.month != 0 {
				break
			}
			if strings.HasPrefix(w.key, "I") || w.key == "WW" || w.key == "J" || w.key == "RM" {
				break
			}
			return "", diag.Errorf(diag.InvalidDatetime, diag.NoPos, "invalid format specification for an interval value").
				WithHint("intervals are not tied to specific calendar dates")
		}
	}
	week := 0
	if w.key == "IW" || w.key == "IDDD" {
		_, week = types.ISOWeek(c.days)
	}
	hour12 := c.hour % 12
	if hour12 == 0 {
		hour12 = 12
	}
	if hour12 < 0 {
		hour12 = -hour12
	}
	switch w.key {
	case "A.M.", "P.M.", "AM", "PM":
		s := "AM"
		if c.hour%24 >= 12 {
			s = "PM"
		}
		if strings.Contains(w.key, ".") {
			s = s[:1] + ".M."
		}
		if w.text[0] >= 'a' {
			s = strings.ToLower(s)
		}
		return s, nil
	case "A.D.", "B.C.", "AD", "BC":
		s := "AD"
		if c.year <= 0 {
			s = "BC"
		}
		if strings.Contains(w.key, ".") {
			s = s[:1] + "." + s[1:] + "."
		}
		if w.text[0] >= 'a' {
			s = strings.ToLower(s)
		}
		return s, nil
	case "HH", "HH12":
		return num(hour12, 2)
	case "HH24":
		return num(c.hour, 2)
	case "MI":
		return num(c.min, 2)
	case "SS":
		return num(c.sec, 2)
	case "MS", "FF3":
		return num(c.micros/1e3, 3)
	case "US", "FF6":
		return num(c.micros, 6)
	case "FF1":
		return num(c.micros/1e5, 1)
	case "FF2":
		return num(c.micros/1e4, 2)
	case "FF4":
		return num(c.micros/100, 4)
	case "FF5":
		return num(c.micros/10, 5)
	case "SSSS", "SSSSS":
		return num(c.hour*3600+c.min*60+c.sec, 0)
	case "TZ":
		return "", nil
	case "TZH", "OF":
		return "+00", nil
	case "TZM":
		return "00", nil
	case "MONTH":
		return name(monthNames[c.month-1], 9)
	case "MON":
		return name(monthNames[c.month-1][:3], 0)
	case "MM":
		return num(int64(c.month), 2)
	case "DAY":
		return name(dayNames[types.Weekday(c.days)], 9)
	case "DY":
		return name(dayNames[types.Weekday(c.days)][:3], 0)
	case "DDD":
		if c.interval {
			return days(int64(c.year)*360+int64(c.month)*30+int64(c.day), 3)
		}
		return num(c.days-types.DaysFromCivil(c.year, 1, 1)+1, 3)
	case "IDDD":
		return num(int64(week-1)*7+int64((types.Weekday(c.days)+6)%7)+1, 3)
	case "DD":
		return days(int64(c.day), 2)
	case "D":
		return num(int64(types.Weekday(c.days))+1, 0)
	case "ID":
		d := int64(types.Weekday(c.days))
		if d == 0 {
			d = 7
		}
		return num(d, 0)
	case "WW":
		if c.interval {
			return num((int64(c.year)*360+int64(c.month)*30+int64(c.day)-1)/7+1, 2)
		}
		return num((c.days-types.DaysFromCivil(c.year, 1, 1))/7+1, 2)
	case "IW":
		return num(int64(week), 2)
	case "W":
		return num(int64(c.day-1)/7+1, 0)
	case "Q":
		if c.month == 0 {
			return "", nil
		}
		return num(int64(c.month-1)/3+1, 0)
	case "CC":
		if c.interval {
			return num(year/100, 2)
		}
		century := (year-1)/100 + 1
		if c.year <= 0 {
			century = -century
		}
		return num(century, 2)
	case "J":
		return num(c.days+2440588, 0)
	case "RM":
		if c.month == 0 {
			return "", nil
		}
		s := romanMonths[(c.month+11)%12]
		if w.text[0] >= 'a' {
			s = strings.ToLower(s)
		}
		if !w.fill {
			s += strings.Repeat(" ", 4-len(s))
		}
		return s, nil
	case "Y,YYY":
		s := strconv.FormatInt(year/1000, 10) + "," + pad3(year%1000)
		if w.th != "" {
			s += ordinal(s, w.th == "TH")
		}
		return s, nil
	case "YYYY":
		return num(year, 4)
	case "YYY":
		return lastDigits(1000, 3)
	case "YY":
		return lastDigits(100, 2)
	case "Y":
		return num(year%10, 1)
	case "IYYY":
		return isoDigits(math.MaxInt64, 4)
	case "IYY":
		return isoDigits(1000, 3)
	case "IY":
		return isoDigits(100, 2)
	case "I":
		return isoDigits(10, 1)
	}
	return "", errorf(diag.FeatureNotSupported, "%q in the format of a date is not supported", w.key)
}

func pad3(n int64) string {
	s := strconv.FormatInt(n, 10)
	return strings.Repeat("0", max(3-len(s), 0)) + s
}
