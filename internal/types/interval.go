package types

import (
	"math"
	"strconv"
	"strings"
)

// intervalUnits are the words after a quantity, singular; a final s is cut before the lookup.
var intervalUnits = map[string]Field{
	"microsecond": Microseconds, "usec": Microseconds, "u": Microseconds,
	"millisecond": Milliseconds, "msec": Milliseconds, "m": Minute, "min": Minute, "minute": Minute,
	"second": Second, "sec": Second, "": Second, // "s"
	"hour": Hour, "hr": Hour, "h": Hour,
	"day": Day, "d": Day, "week": Week, "w": Week,
	"month": Month, "mon": Month, "quarter": Quarter, "qtr": Quarter,
	"year": Year, "yr": Year, "y": Year,
	"decade": Decade, "dec": Decade, "century": Century, "centurie": Century, "cent": Century, "c": Century,
	"millennium": Millennium, "millennia": Millennium, "mil": Millennium,
}

// unitOf finds the unit a word names.
func unitOf(word string) (Field, bool) {
	word = strings.ToLower(word)
	switch word {
	case "ms":
		return Milliseconds, true
	case "us":
		return Microseconds, true
	}
	f, ok := intervalUnits[strings.TrimSuffix(word, "s")]
	return f, ok && word != ""
}

// ParseInterval reads an interval: '3 months', '1 year 2 days', '1.5 hours ago',
// '01:02:03', '2 01:02:03', '1-2' (years-months), 'P1Y2M3DT4H5M6S'. The qualifier is what follows the
// literal in SQL, "MONTH" or "DAY TO SECOND", or empty: it gives a number without unit
// its meaning and cuts off what is finer.
func ParseInterval(text, qualifier string) (Value, error) {
	unit, err := lastUnit(qualifier)
	if err != nil {
		return Value{}, err
	}
	p := intervalParser{bare: unit}
	if !p.parse(text) {
		return Value{}, errf(codeDateFormat, "invalid input syntax for type interval: %q", text)
	}
	if p.overflow || p.months != int64(int32(p.months)) || p.days != int64(int32(p.days)) {
		return Value{}, errf(codeDateOverflow, "interval field value out of range: %q", text)
	}
	if qualifier != "" {
		p.cut(unit)
	}
	return IntervalValue(int32(p.months), int32(p.days), p.micros), nil
}

// lastUnit is the finest unit of a qualifier: SECOND for none and for DAY TO SECOND.
func lastUnit(qualifier string) (Field, error) {
	words := strings.Fields(qualifier)
	if len(words) == 0 {
		return Second, nil
	}
	u, ok := unitOf(words[len(words)-1])
	if !ok {
		return 0, errf(codeBadParameter, "unit %q not recognized for type interval", qualifier)
	}
	return u, nil
}

type intervalParser struct {
	bare         Field // what a number without unit counts
	months, days int64
	micros       int64
	overflow     bool
}

func (p *intervalParser) parse(text string) bool {
	s := trimSpace(text)
	if len(s) > 1 && (s[0] == 'P' || s[0] == 'p') {
		return p.parseISO(s[1:])
	}
	words := strings.Fields(strings.TrimPrefix(s, "@"))
	if len(words) == 0 {
		return false
	}
	ago := false
	if last := len(words) - 1; last > 0 && strings.EqualFold(words[last], "ago") {
		ago, words = true, words[:last]
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch n := numberAt(w); {
		case strings.IndexByte(w, ':') > 0:
			if !p.clock(w) {
				return false
			}
		case n == 0:
			return false
		case n < len(w) && w[n] == '-': // years-months
			if !p.yearMonth(w) {
				return false
			}
		case n < len(w): // 3days
			u, ok := unitOf(w[n:])
			if !ok || !p.add(w[:n], u) {
				return false
			}
		case i+1 < len(words) && numberAt(words[i+1]) == 0:
			u, ok := unitOf(words[i+1])
			if !ok || !p.add(w, u) {
				return false
			}
			i++
		case i+1 < len(words): // days before a clock: '2 01:02:03'
			if strings.IndexByte(words[i+1], ':') < 0 || !p.add(w, Day) {
				return false
			}
		default:
			if !p.add(w, p.bare) {
				return false
			}
		}
	}
	if ago {
		p.overflow = p.overflow || p.micros == math.MinInt64
		p.months, p.days, p.micros = -p.months, -p.days, -p.micros
	}
	return true
}

// parseISO reads what follows the P of an ISO 8601 duration.
func (p *intervalParser) parseISO(s string) bool {
	date := map[byte]Field{'Y': Year, 'M': Month, 'W': Week, 'D': Day}
	clock := map[byte]Field{'H': Hour, 'M': Minute, 'S': Second}
	units, any := date, false
	for s != "" {
		if c := s[0] &^ 32; c == 'T' && units['Y'] == Year {
			units, s = clock, s[1:]
			continue
		}
		n := numberAt(s)
		if n == 0 || n == len(s) {
			return false
		}
		u, ok := units[s[n]&^32]
		if !ok || !p.add(s[:n], u) {
			return false
		}
		s, any = s[n+1:], true
	}
	return any
}

// numberAt is the length of the signed decimal number at the start of s.
func numberAt(s string) int {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := digitsAt(s[i:])
	i += digits
	if i < len(s) && s[i] == '.' {
		frac := digitsAt(s[i+1:])
		i += 1 + frac
		digits += frac
	}
	if digits == 0 {
		return 0
	}
	return i
}

// clock reads [±]H:MM[:SS[.f]].
func (p *intervalParser) clock(w string) bool {
	neg := w[0] == '-'
	if neg || w[0] == '+' {
		w = w[1:]
	}
	h, m, sec, frac, rest, ok := scanClock(w)
	if !ok || rest != "" || m > 59 || sec > 60 {
		return false
	}
	t, _ := FromInt64(h).Mul(FromInt64(microsPerHour))
	t = t.Add(FromInt64(m*microsPerMinute + sec*microsPerSecond + frac))
	if neg {
		t = t.Neg()
	}
	p.overflow = p.overflow || !t.FitsInt64()
	p.addMicros(int64(t.Lo))
	return true
}

// yearMonth reads [±]Y-M.
func (p *intervalParser) yearMonth(w string) bool {
	neg := w[0] == '-'
	if neg || w[0] == '+' {
		w = w[1:]
	}
	y, m, _ := strings.Cut(w, "-")
	if digitsAt(y) != len(y) || digitsAt(m) != len(m) || len(y) > 9 || len(m) < 1 || len(m) > 2 || atoi(m) > 11 {
		return false
	}
	months := int64(atoi(y))*12 + int64(atoi(m))
	if neg {
		months = -months
	}
	p.months += months
	return true
}

// unitSize says what one of a unit is, coarsest component only.
var unitSize = map[Field]struct{ months, days, micros int64 }{
	Millennium: {12000, 0, 0}, Century: {1200, 0, 0}, Decade: {120, 0, 0}, Year: {12, 0, 0},
	Quarter: {3, 0, 0}, Month: {1, 0, 0}, Week: {0, 7, 0}, Day: {0, 1, 0},
	Hour: {0, 0, microsPerHour}, Minute: {0, 0, microsPerMinute}, Second: {0, 0, microsPerSecond},
	Milliseconds: {0, 0, 1000}, Microseconds: {0, 0, 1},
}

// add adds a quantity. A fraction of a year is months, of a month days (of 30), of a
// day time, as in PostgreSQL.
func (p *intervalParser) add(number string, unit Field) bool {
	u := unitSize[unit]
	whole, frac, _ := strings.Cut(number, ".")
	neg := number[0] == '-'
	if whole == "" || whole == "-" || whole == "+" {
		whole += "0"
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		p.overflow = true
		return true
	}
	var f float64
	if frac != "" {
		f, _ = strconv.ParseFloat("0."+frac, 64)
		if neg {
			f = -f
		}
	}
	switch {
	case u.micros != 0:
		hi, ok := mul64(n, u.micros)
		if !ok {
			p.overflow = true
			return true
		}
		p.addMicros(hi)
		p.addMicros(int64(math.RoundToEven(f * float64(u.micros))))
	case u.days != 0:
		p.addDays(n, u.days)
		p.addDayFraction(f * float64(u.days))
	default:
		p.addMonths(n, u.months)
		if u.months >= 12 {
			p.months += int64(math.RoundToEven(f * float64(u.months)))
		} else {
			m := f * float64(u.months)
			p.months += int64(m)
			p.addDayFraction((m - math.Trunc(m)) * daysPerMonth)
		}
	}
	return true
}

// addDayFraction adds days that may have a fraction, which becomes time.
func (p *intervalParser) addDayFraction(f float64) {
	p.days += int64(f)
	p.addMicros(int64(math.RoundToEven((f - math.Trunc(f)) * MicrosPerDay)))
}

func (p *intervalParser) addMicros(t int64) {
	sum := p.micros + t
	if (sum > p.micros) != (t > 0) && t != 0 {
		p.overflow = true
	}
	p.micros = sum
}

func (p *intervalParser) addDays(n, size int64) {
	if n > math.MaxInt32 || n < math.MinInt32 {
		p.overflow = true
		return
	}
	p.days += n * size
}

func (p *intervalParser) addMonths(n, size int64) {
	if n > math.MaxInt32 || n < math.MinInt32 {
		p.overflow = true
		return
	}
	p.months += n * size
}

// cut removes what is finer than unit.
func (p *intervalParser) cut(unit Field) {
	size := unitSize[unit]
	switch {
	case unit >= Second: // keeps its fraction
	case size.micros != 0:
		p.micros -= p.micros % size.micros
	case size.days != 0:
		p.micros = 0
	default:
		p.micros, p.days = 0, 0
		p.months -= p.months % size.months
	}
}

func mul64(a, b int64) (int64, bool) {
	p, _ := FromInt64(a).Mul(FromInt64(b))
	return int64(p.Lo), p.FitsInt64()
}

// AppendInterval appends an interval as PostgreSQL writes it:
// 1 year 2 mons 3 days 04:05:06.7.
func AppendInterval(dst []byte, months, days int32, micros int64) []byte {
	start := len(dst)
	before := false // the previous part was negative: mark positive ones
	part := func(n int64, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if before && n > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, n, 10)
		dst = append(append(dst, ' '), unit...)
		if n != 1 {
			dst = append(dst, 's')
		}
		before = n < 0
	}
	part(int64(months/12), "year")
	part(int64(months%12), "mon")
	part(int64(days), "day")
	if micros == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	switch {
	case micros < 0:
		dst = append(dst, '-')
	case before:
		dst = append(dst, '+')
	}
	return appendDuration(dst, micros)
}

// appendDuration appends |micros| as H…HH:MM:SS[.f].
func appendDuration(dst []byte, micros int64) []byte {
	if micros == math.MinInt64 { // its negative does not exist
		return append(dst, "2562047788:00:54.775808"...)
	}
	if micros < 0 {
		micros = -micros
	}
	return appendClock(dst, micros)
}

// IntervalKey orders intervals: months of 30 days, days of 24 hours, in microseconds.
func IntervalKey(months, days int32, micros int64) Int128 {
	d := FromInt64(int64(months)*daysPerMonth + int64(days))
	k, _ := d.Mul(FromInt64(MicrosPerDay))
	return k.Add(FromInt64(micros))
}

// ScaleInterval is an interval times f, or by f if divide. Fractions of a month become days of a thirtieth,
// fractions of a day become time; each is rounded to a millionth before, as in PostgreSQL.
func ScaleInterval(iv Value, f float64, divide bool) (Value, error) {
	if divide && f == 0 {
		return Value{}, ErrDivisionByZero
	}
	scale := func(x float64) float64 {
		if divide {
			return x / f
		}
		return x * f
	}
	m, d, u := iv.IntervalParts()
	months, days := scale(float64(m)), scale(float64(d))
	const limit = 1 << 31
	if !(math.Abs(months) < limit && math.Abs(days) < limit) {
		return Value{}, ErrOutOfRange(TInterval)
	}
	micro := func(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }
	const daySeconds = MicrosPerDay / microsPerSecond
	rest := micro((months - math.Trunc(months)) * daysPerMonth)
	seconds := micro((days - math.Trunc(days) + rest - math.Trunc(rest)) * daySeconds)
	sum := math.Trunc(days) + math.Trunc(rest)
	if math.Abs(seconds) >= daySeconds {
		more := math.Trunc(seconds / daySeconds)
		sum, seconds = sum+more, seconds-more*daySeconds
	}
	micros := math.RoundToEven(scale(float64(u)) + seconds*microsPerSecond)
	if !(math.Abs(sum) < limit && micros >= math.MinInt64 && micros < -math.MinInt64) {
		return Value{}, ErrOutOfRange(TInterval)
	}
	return IntervalValue(int32(months), int32(sum), int64(micros)), nil
}
