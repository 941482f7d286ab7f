package types

import (
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones are the same on every machine, also where it has none
)

// Zone is a time zone: one of the IANA database, an abbreviation such as EST, or a fixed distance from UTC.
type Zone struct {
	Name string // as SHOW timezone has it
	loc  *time.Location
	// worded: words may stand for times, as they are at the instant now (see ParseAt).
	worded bool
	now    int64
}

// UTC is the zone of sessions that did not choose one.
var UTC = &Zone{Name: "UTC", loc: time.UTC}

// SessionZone finds a zone for a session, which is in one with a history: CET is not always an hour ahead of UTC there, and PST
// is none.
func SessionZone(name string) (*Zone, error) {
	if _, short := abbreviations[strings.ToUpper(name)]; short {
		return FindZone(":" + name)
	}
	return FindZone(name)
}

// Spec is a name by which FindZone finds the zone.
func (z *Zone) Spec() string {
	if _, short := abbreviations[z.Name]; short && z.loc.String() == z.Name && z.history() {
		return ":" + z.Name
	}
	return z.Name
}

// history reports that clocks of the zone were changed at some time.
func (z *Zone) history() bool {
	from, to := time.Unix(0, 0).In(z.loc).ZoneBounds()
	return !from.IsZero() || !to.IsZero()
}

// IsUTC reports that clocks in the zone always show UTC.
func (z *Zone) IsUTC() bool { return z.loc == time.UTC }

// zones are those that were asked for, by the names that were used.
var zones sync.Map

// FindZone finds a zone by its name, in any case, or by what posixZone reads; an error if there is none.
func FindZone(name string) (*Zone, error) {
	if z, ok := zones.Load(name); ok {
		return z.(*Zone), nil
	}
	z := findZone(name)
	if z == nil {
		return nil, errf(codeBadParameter, "time zone %s not recognized", quoted(name))
	}
	zones.Store(strings.Clone(name), z)
	return z, nil
}

func findZone(name string) *Zone {
	if name == "" || name == ":" || strings.EqualFold(name, "local") { // "Local" is the machine's, to Go
		return nil
	}
	switch strings.ToLower(name) {
	case "utc", "gmt", "z", "zulu", "uct", "universal", "etc/utc", "etc/gmt", "greenwich":
		return &Zone{Name: zoneCase(name), loc: time.UTC}
	}
	posix := posixZone
	if name[0] == ':' { // a name of the database, and nothing else
		name, posix = name[1:], func(string) *Zone { return nil }
	} else if secs, ok := abbreviations[strings.ToUpper(name)]; ok {
		return &Zone{Name: strings.ToUpper(name), loc: time.FixedZone(strings.ToUpper(name), secs)}
	}
	if loc, err := time.LoadLocation(name); err == nil {
		return &Zone{Name: name, loc: loc}
	}
	if spelled := zoneCase(name); spelled != name {
		if loc, err := time.LoadLocation(spelled); err == nil {
			return &Zone{Name: spelled, loc: loc}
		}
	}
	return posix(name)
}

// zoneCase spells a name as the database does: America/New_York, not america/new_york.
func zoneCase(name string) string {
	switch s := strings.ToUpper(name); s {
	case "UTC", "GMT", "UCT", "EST", "MST", "HST", "EET", "CET", "MET", "WET", "PRC", "ROC", "ROK", "NZ", "GB":
		return s
	case "ETC/UTC", "ETC/GMT", "ETC/UCT":
		return "Etc/" + s[4:]
	}
	b := []byte(strings.ToLower(name))
	first := true
	for i, c := range b {
		if first && c >= 'a' && c <= 'z' {
			b[i] = c - 32
		}
		first = c == '/' || c == '_' || c == '-'
	}
	spelled := string(b)
	for _, small := range []string{"Of", "Au", "Es", "In"} {
		spelled = strings.ReplaceAll(spelled, "-"+small+"-", "-"+strings.ToLower(small)+"-")
		spelled = strings.ReplaceAll(spelled, "_"+small+"_", "_"+strings.ToLower(small)+"_")
	}
	return spelled
}

// ParseOffset finds the zone of ±HH, ±HHMM, ±HHMMSS or ±HH:MM[:SS], where + is east of Greenwich; nil if the text is something else.
func ParseOffset(text string) (*Zone, error) {
	secs, rest, ok := scanOffset(text)
	if !ok || rest != "" {
		return nil, nil
	}
	if secs > mostOffset || secs < -mostOffset {
		return nil, errf(codeBadParameter, "numeric time zone %s out of range", quoted(text))
	}
	return FixedZone(secs), nil
}

// mostOffset is how far from UTC, in seconds, clocks may be that are written so: 15:59:59.
const mostOffset = 57599

// FixedZone is the zone that is so many seconds ahead of UTC.
func FixedZone(seconds int) *Zone {
	name := string(appendOffset([]byte{'<'}, seconds)) + ">" + string(appendOffset(nil, -seconds))
	return &Zone{Name: name, loc: time.FixedZone(name, seconds)}
}

// OffsetAt is how many microseconds clocks in the zone are ahead of UTC at an instant.
func (z *Zone) OffsetAt(ts int64) int64 {
	_, secs := time.UnixMicro(ts).In(z.loc).Zone()
	return int64(secs) * microsPerSecond
}

// Local is what a calendar and a clock in the zone show at an instant.
func (z *Zone) Local(ts int64) (int64, error) {
	if z.IsUTC() || IsInfiniteTimestamp(ts) {
		return ts, nil
	}
	local := ts + z.OffsetAt(ts)
	if !TimestampInRange(local) {
		return 0, ErrOutOfRange(TTimestamp)
	}
	return local, nil
}

// Instant is when calendar and clock in the zone show something. What they never show, because clocks were put forward,
// is read by the clock as it was before that; what they show twice, by the clock as it is after that.
func (z *Zone) Instant(local int64) (int64, error) {
	if z.IsUTC() || IsInfiniteTimestamp(local) {
		return local, nil
	}
	ts := local - z.offsetOf(local)
	if !TimestampInRange(ts) {
		return 0, ErrOutOfRange(TTimestampTZ)
	}
	return ts, nil
}

// offsetOf is Instant's distance from UTC, as PostgreSQL finds it: by the first change after the day before.
func (z *Zone) offsetOf(local int64) int64 {
	day := time.UnixMicro(local - MicrosPerDay).In(z.loc)
	_, b := day.Zone()
	before := int64(b) * microsPerSecond
	_, change := day.ZoneBounds()
	if change.IsZero() {
		return before
	}
	_, a := change.Zone()
	after := int64(a) * microsPerSecond
	at := change.UnixMicro()
	early, late := local-before, local-after
	switch {
	case early < at && late < at:
		return before
	case early >= at && late >= at:
		return after
	case early > late: // clocks were put forward
		return before
	}
	return after
}

// AddInterval adds to an instant: months and days by the zone's calendar, then microseconds.
func (z *Zone) AddInterval(ts int64, months, days int32, micros int64) (int64, error) {
	if z.IsUTC() {
		return AddInterval(ts, months, days, micros)
	}
	if months != 0 || days != 0 {
		local, err := z.Local(ts)
		if err == nil {
			local, err = AddInterval(local, months, days, 0)
		}
		if err == nil {
			ts, err = z.Instant(local)
		}
		if err != nil {
			return 0, err
		}
	}
	return AddInterval(ts, 0, 0, micros)
}

// Trunc is date_trunc(f, ts) in the zone. What is shorter than a day is cut off the clock, which keeps its distance from UTC.
func (z *Zone) Trunc(f Field, ts int64) (int64, error) {
	local, err := z.Local(ts)
	if err != nil {
		return 0, err
	}
	cut, err := DateTrunc(f, local)
	if err != nil || f >= Hour && f <= Microseconds {
		return cut - (local - ts), err
	}
	return z.Instant(cut)
}

// AssignIn is Assign where calendars and clocks are those of the zone.
func AssignIn(z *Zone, v Value, to Type) (Value, error) {
	from := v.Type
	if to.Kind == TimeTZ && !v.Null && from.Kind != TimeTZ {
		if from.Kind == Text || from.Kind == Unknown {
			return ParseIn(z, to, v.S)
		}
		if !CanCast(from, to) {
			return Assign(v, to)
		}
		return ClockIn(z, v)
	}
	if v.Null || z.IsUTC() || (from.Kind == TimestampTZ) == (to.Kind == TimestampTZ) {
		return Assign(v, to)
	}
	switch {
	case to.Kind == Text:
		return parseText(to, string(AppendTimestampTZ(nil, v.I, z)))
	case from.Kind == Text || from.Kind == Unknown:
		return ParseIn(z, to, v.S)
	case from.Kind == TimestampTZ:
		local, err := z.Local(v.I)
		if err != nil {
			return Value{}, err
		}
		return Assign(IntValue(TTimestamp, local), to)
	}
	ts, err := Assign(v, TTimestamp)
	if err == nil {
		ts.I, err = z.Instant(ts.I)
	}
	return IntValue(to, ts.I), err
}

// AppendTimestampTZ appends an instant as the zone's clocks show it, with their distance from UTC.
func AppendTimestampTZ(dst []byte, ts int64, z *Zone) []byte {
	if IsInfiniteTimestamp(ts) {
		return appendInfinite(dst, ts)
	}
	offset := z.OffsetAt(ts)
	dst = AppendTimestamp(dst, ts+offset)
	n := len(dst)
	bc := n > 3 && string(dst[n-3:]) == " BC"
	if bc {
		dst = dst[:n-3]
	}
	dst = appendOffset(dst, int(offset/microsPerSecond))
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// appendOffset appends +HH[:MM[:SS]].
func appendOffset(dst []byte, secs int) []byte {
	sign := byte('+')
	if secs < 0 {
		sign, secs = '-', -secs
	}
	dst = appendPadded(append(dst, sign), secs/3600, 2)
	if secs%3600 != 0 {
		dst = appendPadded(append(dst, ':'), secs/60%60, 2)
	}
	if secs%60 != 0 {
		dst = appendPadded(append(dst, ':'), secs%60, 2)
	}
	return dst
}

// ParseTimestampTZ reads a date and a time of day, and the zone that they are in: that of the text, or else z.
func ParseTimestampTZ(s string, z *Zone) (int64, error) {
	days, rest, st := scanDate(s)
	var micros int64
	own := ""
	if sign := parseInfinite(s); sign != 0 {
		return sign * InfiniteTimestamp, nil
	}
	if st == dateOK && trimSpace(rest) != "" {
		if rest[0] != ' ' && rest[0] != 'T' && rest[0] != 't' { // a zone right after the date
			own = trimSpace(rest)
		} else if micros, own, st = scanTimeAndZone(rest[1:]); st == dateSyntax {
			micros, own, st = 0, trimSpace(rest), dateOK
		}
	}
	if st != dateOK {
		return 0, st.err(TTimestampTZ, s)
	}
	if own != "" {
		var err error
		if z, err = writtenZone(own, TTimestampTZ, s); err != nil {
			return 0, err
		}
	}
	if days >= MinDate && days <= MaxTimestamp/MicrosPerDay {
		if ts, err := z.Instant(days*MicrosPerDay + micros); err == nil {
			return ts, nil
		}
	}
	return 0, errf(codeDateOverflow, "timestamp out of range: %q", s)
}

// writtenZone is the zone that stands behind a time of day in a text of some type: ±HH:MM, or a name.
func writtenZone(own string, t Type, whole string) (*Zone, error) {
	secs, after, ok := scanOffset(own)
	switch {
	case ok && after == "":
		if secs > mostOffset || secs < -mostOffset {
			return nil, errf("22009", "time zone displacement out of range: %s", quoted(whole))
		}
		return FixedZone(secs), nil
	case !isLetter(own[0]) || strings.ContainsAny(own, " \t\n"):
		return nil, dateSyntax.err(t, whole)
	}
	z, err := FindZone(own)
	if err != nil && strings.ContainsAny(own, "/_") {
		return nil, errf(codeBadParameter, "time zone %s not recognized", quoted(own))
	} else if err != nil {
		return nil, dateSyntax.err(t, whole)
	}
	return z, nil
}

// scanTimeAndZone reads a time of day; zone is what follows it.
func scanTimeAndZone(s string) (micros int64, zone string, st dateStatus) {
	micros, rest, st := scanTime(trimSpace(s))
	return micros, trimSpace(rest), st
}

// scanOffset reads ±HH, ±HHMM, ±HHMMSS or ±HH:MM[:SS] as seconds.
func scanOffset(s string) (secs int, rest string, ok bool) {
	sign := 1
	switch {
	case s != "" && s[0] == '-':
		sign, s = -1, s[1:]
	case s != "" && s[0] == '+':
		s = s[1:]
	default:
		return 0, "", false
	}
	n := digitsAt(s)
	var h, m, sec int
	switch {
	case n == 1 || n == 2:
		h, s = atoi(s[:n]), s[n:]
		for _, part := range []*int{&m, &sec} {
			if len(s) < 3 || s[0] != ':' || digitsAt(s[1:]) != 2 {
				break
			}
			*part, s = atoi(s[1:3]), s[3:]
		}
	case n == 3 || n == 4:
		h, m, s = atoi(s[:n-2]), atoi(s[n-2:n]), s[n:]
	case n == 5 || n == 6:
		h, m, sec, s = atoi(s[:n-4]), atoi(s[n-4:n-2]), atoi(s[n-2:n]), s[n:]
	default:
		return 0, "", false
	}
	if m > 59 || sec > 59 || h > 167 {
		return 0, "", false
	}
	return sign * (h*3600 + m*60 + sec), s, true
}

// abbreviations are the usual ones of PostgreSQL's default set, in seconds ahead of UTC.
var abbreviations = func() map[string]int {
	m := map[string]int{}
	for names, hours := range map[string]float64{
		"ACDT": 10.5, "ACST": 9.5, "ADT": -3, "AEDT": 11, "AEST": 10, "AKDT": -8, "AKST": -9, "AST": -4, "AWST": 8,
		"BRST": -2, "BRT": -3, "BST": 1, "CDT": -5, "CEST CETDST": 2, "CET": 1, "CST": -6, "EAT": 3, "EDT": -4, "EEST EETDST": 3,
		"EET": 2, "EST": -5, "HKT": 8, "HST": -10, "IDT": 3, "JST KST": 9, "MDT": -6, "MEST MESZ": 2, "MET MEZ": 1, "MSK": 3, "MST": -7,
		"NDT": -2.5, "NPT": 5.75, "NST": -3.5, "NZDT": 13, "NZST": 12, "PDT": -7, "PKT": 5, "PST": -8, "SAST": 2, "SGT": 8, "WADT": 8,
		"WEST": 1, "WET": 0, "WIB": 7,
	} {
		for _, n := range strings.Fields(names) {
			m[n] = int(hours * 3600)
		}
	}
	return m
}()
