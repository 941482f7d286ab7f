package funcs

import (
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// strftime writes a time by a format of C's, with DuckDB's additions: %g milliseconds, %f microseconds, %n nanoseconds; a minus
// leaves zeros out.
func strftime(a []types.Value, _ types.Type) (types.Value, error) {
	v, format := a[0], a[1].S
	if v.Type.Kind == types.Text { // the older order of arguments
		v, format = a[1], a[0].S
	}
	if v.IsInfinite() {
		return text(v.String())
	}
	c := civilOf(v)
	var b strings.Builder
	if err := c.strftime(&b, format); err != nil {
		return types.Value{}, err
	}
	return text(b.String())
}

func (c *civil) strftime(b *strings.Builder, format string) error {
	for format != "" {
		lead, rest, ok := strings.Cut(format, "%")
		b.WriteString(lead)
		if !ok {
			return nil
		}
		bare := strings.HasPrefix(rest, "-")
		rest = strings.TrimPrefix(rest, "-")
		if rest == "" {
			return errorf(diag.InvalidParameter, "a format must not end with %%")
		}
		num := func(n int64, width int) {
			s := strconv.FormatInt(n, 10)
			if !bare {
				s = strings.Repeat("0", max(width-len(s), 0)) + s
			}
			b.WriteString(s)
		}
		yday := c.days - types.DaysFromCivil(c.year, 1, 1)
		wday := int64(types.Weekday(c.days))
		hour := c.hour % 12
		if hour == 0 {
			hour = 12
		}
		switch rest[0] {
		case 'a':
			b.WriteString(dayNames[wday][:3])
		case 'A':
			b.WriteString(dayNames[wday])
		case 'w':
			num(wday, 0)
		case 'u':
			num((wday+6)%7+1, 0)
		case 'd':
			num(int64(c.day), 2)
		case 'b', 'h':
			b.WriteString(monthNames[c.month-1][:3])
		case 'B':
			b.WriteString(monthNames[c.month-1])
		case 'm':
			num(int64(c.month), 2)
		case 'y':
			num(int64((c.year%100+100)%100), 2)
		case 'Y':
			num(int64(c.year), 0)
		case 'G':
			y, _ := types.ISOWeek(c.days)
			num(int64(y), 0)
		case 'V':
			_, w := types.ISOWeek(c.days)
			num(int64(w), 2)
		case 'H':
			num(c.hour, 2)
		case 'I':
			num(hour, 2)
		case 'p':
			if c.hour < 12 {
				b.WriteString("AM")
			} else {
				b.WriteString("PM")
			}
		case 'M':
			num(c.min, 2)
		case 'S':
			num(c.sec, 2)
		case 'g':
			num(c.micros/1000, 3)
		case 'f':
			num(c.micros, 6)
		case 'n':
			num(c.micros*1000, 9)
		case 'z':
			b.WriteString("+00")
		case 'Z':
		case 'j':
			num(yday+1, 3)
		case 'U':
			num((yday+7-wday)/7, 2)
		case 'W':
			num((yday+7-(wday+6)%7)/7, 2)
		case 'c', 'x', 'F', 'D', 'X', 'T', 'R':
			c.strftime(b, wholeFormats[rest[0]])
		case '%':
			b.WriteByte('%')
		default:
			return errorf(diag.InvalidParameter, "the format has %%%s, which means nothing", firstChars(rest, 1))
		}
		format = skipChars(rest, 1)
	}
	return nil
}

// wholeFormats are letters that stand for several others.
var wholeFormats = map[byte]string{'c': "%Y-%m-%d %H:%M:%S", 'x': "%Y-%m-%d", 'F': "%Y-%m-%d", 'D': "%m/%d/%y", 'X': "%H:%M:%S", 'T': "%H:%M:%S", 'R': "%H:%M"}

// strptime reads a time that a format of C's wrote; all of the text must match.
func strptime(a []types.Value, t types.Type) (types.Value, error) {
	ts, err := readStrptime(a[0].S, a[1].S)
	return types.IntValue(t, ts), err
}

// Strptime reads a timestamp as strptime() does.
func Strptime(text, format string) (types.Value, error) {
	ts, err := readStrptime(text, format)
	return types.IntValue(types.TTimestamp, ts), err
}

// tryStrptime is NULL where the text does not match.
func tryStrptime(a []types.Value, t types.Type) (types.Value, error) {
	ts, err := readStrptime(a[0].S, a[1].S)
	if err != nil {
		return null(t)
	}
	return types.IntValue(t, ts), nil
}

func readStrptime(s, format string) (int64, error) {
	r := &dateReader{s: s}
	r.year, r.month, r.day, r.haveYear = 1900, 1, 1, true
	mismatch := func() error {
		return errorf(diag.InvalidDatetime, "could not parse %q by the format %q", s, format)
	}
	var read func(format string) error
	read = func(f string) error {
		for f != "" {
			if f[0] == ' ' {
				r.blanks()
				f = f[1:]
				continue
			}
			if f[0] != '%' {
				if r.s == "" || r.s[0] != f[0] {
					return mismatch()
				}
				r.s, f = r.s[1:], f[1:]
				continue
			}
			f = strings.TrimPrefix(f[1:], "-")
			if f == "" {
				return errorf(diag.InvalidParameter, "a format must not end with %%")
			}
			if err := r.percent(f[0], read); err != nil {
				return err
			}
			f = f[1:]
		}
		return nil
	}
	if err := read(format); err != nil {
		if d, ok := err.(*diag.Error); ok && d.Code == diag.InvalidParameter {
			return 0, err
		}
		return 0, mismatch()
	}
	if strings.TrimSpace(r.s) != "" {
		return 0, mismatch()
	}
	return r.timestamp(s)
}

// percent reads what a letter after % stands for.
func (r *dateReader) percent(c byte, read func(string) error) (err error) {
	w := dateWord{text: "%" + string(rune(c))}
	set := func(to *int64, width int) error {
		*to, _, err = r.number(w, width, true)
		return err
	}
	name := func(names []string) (int64, error) {
		i, err := r.oneOf(w, names)
		if err != nil {
			i, err = r.oneOf(w, shortened(names))
		}
		return i, err
	}
	switch c {
	case 'Y':
		return set(&r.year, 4)
	case 'y':
		if err := set(&r.year, 2); err != nil {
			return err
		}
		r.year = fullYear(r.year)
	case 'm':
		return set(&r.month, 2)
	case 'd':
		return set(&r.day, 2)
	case 'j':
		return set(&r.dayOfYear, 3)
	case 'H':
		return set(&r.hour, 2)
	case 'I':
		r.clocks = true
		return set(&r.hour, 2)
	case 'M':
		return set(&r.min, 2)
	case 'S':
		return set(&r.sec, 2)
	case 'g', 'f', 'n':
		return r.fraction(w, map[byte]int{'g': 3, 'f': 6, 'n': 9}[c], true)
	case 'p':
		i, err := r.oneOf(w, []string{"AM", "PM"})
		r.halves, r.pm = true, i == 1
		return err
	case 'b', 'B', 'h':
		m, err := name(monthNames)
		r.month = m + 1
		return err
	case 'a', 'A':
		_, err := name(dayNames)
		return err
	case 'c', 'x', 'F', 'D', 'X', 'T', 'R':
		return read(wholeFormats[c])
	case 'z', 'Z':
		for _, zone := range []string{"UTC", "GMT", "Z", "+00:00", "+0000", "+00"} {
			if rest, ok := strings.CutPrefix(r.s, zone); ok {
				r.s = rest
				return nil
			}
		}
		return errorf(diag.InvalidDatetime, "only UTC is known")
	case '%':
		if !strings.HasPrefix(r.s, "%") {
			return errorf(diag.InvalidDatetime, "%% is missing")
		}
		r.s = r.s[1:]
	default:
		return errorf(diag.InvalidParameter, "the format has %%%c, which cannot be read", c)
	}
	return nil
}
