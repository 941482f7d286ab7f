package types

// TIME is a time of day: microseconds since midnight, 24:00:00 included.

// ParseTime reads HH:MM[:SS[.ffffff]] or HHMM[SS], with AM or PM; a date before it is dropped, and a zone after it.
func ParseTime(s string) (int64, error) {
	text := trimSpace(s)
	if _, rest, st := scanDate(text); st == dateOK && digitsAt(text) != len(text) && rest != "" {
		if rest[0] == ' ' || rest[0] == 'T' || rest[0] == 't' {
			text = trimSpace(rest[1:])
		}
	} else if text != "" && (text[0] == 'T' || text[0] == 't') {
		text = text[1:]
	}
	micros, rest, st := scanTime(text)
	if st == dateOK && !isZone(trimSpace(rest)) {
		st = dateSyntax
	}
	return micros, st.err(TTime, s)
}

// scanTime reads a time of day at the start of s.
func scanTime(s string) (micros int64, rest string, st dateStatus) {
	var h, m, sec, frac int64
	ok := false
	if n := digitsAt(s); n == 4 || n == 6 {
		h, m, ok = int64(atoi(s[:2])), int64(atoi(s[2:4])), true
		if rest = s[n:]; n == 6 {
			sec = int64(atoi(s[4:6]))
			if rest != "" && rest[0] == '.' {
				frac, rest = scanMicros(rest[1:])
			}
		}
	} else {
		h, m, sec, frac, rest, ok = scanClock(s)
	}
	if !ok {
		return 0, "", dateSyntax
	}
	if half := trimSpace(rest); len(half) >= 2 && half[1]|32 == 'm' && (half[0]|32 == 'a' || half[0]|32 == 'p') && (len(half) == 2 || !isLetter(half[2])) {
		if h > 12 {
			return 0, "", dateRange
		}
		h %= 12
		if half[0]|32 == 'p' {
			h += 12
		}
		rest = half[2:]
	}
	micros = h*microsPerHour + m*microsPerMinute + sec*microsPerSecond + frac
	if h > 24 || m > 59 || sec > 60 || micros > MicrosPerDay {
		return 0, "", dateRange
	}
	return micros, rest, dateOK
}

func isLetter(c byte) bool { return c|32 >= 'a' && c|32 <= 'z' }

// AppendTime appends HH:MM:SS[.f…].
func AppendTime(dst []byte, micros int64) []byte { return appendClock(dst, micros) }

// TimeOfInterval is the part of a day that an interval's microseconds are; days and months do not count.
func TimeOfInterval(iv Value) int64 { return floorMod(iv.Hi, MicrosPerDay) }

// AddToTime adds to a time of day, around midnight if need be.
func AddToTime(t int64, micros int64) int64 {
	return floorMod(floorMod(t, MicrosPerDay)+floorMod(micros, MicrosPerDay), MicrosPerDay)
}
