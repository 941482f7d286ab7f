package types

import "time"

// TIMETZ is a time of day and how far the clock that shows it is from UTC. PostgreSQL orders such times by when they are in UTC, and those at the
// same moment by their zones, from east to west. Its number has both in that order, so that it is compared, sorted and grouped as numbers are:
// microseconds of the day in UTC, which may be the day before or after, and seconds to the west in the bits below.

const (
	westBits = 18
	westZero = 1 << (westBits - 1)
)

// MinTimeTZ and MaxTimeTZ bound the numbers of times in all zones.
const (
	MinTimeTZ = -mostOffset * microsPerSecond << westBits
	MaxTimeTZ = (MicrosPerDay+mostOffset*microsPerSecond+1)<<westBits - 1
)

// MakeTimeTZ is the number of a time of day on a clock that is so many seconds west of UTC.
func MakeTimeTZ(local, west int64) int64 {
	return (local+west*microsPerSecond)<<westBits | (west + westZero)
}

// SplitTimeTZ takes such a number apart.
func SplitTimeTZ(x int64) (local, west int64) {
	west = x&(1<<westBits-1) - westZero
	return x>>westBits - west*microsPerSecond, west
}

// AppendTimeTZ appends HH:MM:SS[.f…]+HH[:MM[:SS]].
func AppendTimeTZ(dst []byte, x int64) []byte {
	local, west := SplitTimeTZ(x)
	return appendOffset(appendClock(dst, local), int(-west))
}

// ParseTimeTZ reads a time of day, and the zone that it is in: that of the text, or else z. A zone whose clocks are changed needs a date, which
// for z is today.
func ParseTimeTZ(s string, z *Zone) (int64, error) {
	text := trimSpace(s)
	day := int64(0)
	dated := false
	if days, rest, st := scanDate(text); st == dateOK && digitsAt(text) != len(text) && rest != "" {
		if rest[0] == ' ' || rest[0] == 'T' || rest[0] == 't' {
			text, day, dated = trimSpace(rest[1:]), days, true
		}
	} else if text != "" && (text[0] == 'T' || text[0] == 't') {
		text = text[1:]
	}
	local, own, st := scanTimeAndZone(text)
	if st != dateOK {
		return 0, st.err(TTimeTZ, s)
	}
	if own != "" {
		var err error
		if z, err = writtenZone(own, TTimeTZ, s); err != nil {
			return 0, err
		}
		if z.history() && !dated {
			return 0, dateSyntax.err(TTimeTZ, s)
		}
	}
	if dated {
		return MakeTimeTZ(local, -z.offsetOf(day*MicrosPerDay+local)/microsPerSecond), nil
	}
	return MakeTimeTZ(local, -z.offsetNow()/microsPerSecond), nil
}

// offsetNow is how many microseconds clocks in the zone are ahead of UTC today.
func (z *Zone) offsetNow() int64 { return z.OffsetAt(time.Now().UnixMicro()) }

// ClockIn makes a TIMETZ of a time of day or an instant, in the zone. Those that are infinite have no clock: NULL.
func ClockIn(z *Zone, v Value) (Value, error) {
	if v.Type.Kind == Time {
		return IntValue(TTimeTZ, MakeTimeTZ(v.I, -z.offsetNow()/microsPerSecond)), nil
	}
	if v.IsInfinite() {
		return NullOf(TTimeTZ), nil
	}
	offset := z.OffsetAt(v.I)
	_, local := SplitTimestamp(v.I + offset)
	return IntValue(TTimeTZ, MakeTimeTZ(local, -offset/microsPerSecond)), nil
}

// ClockAt is what a clock in the zone shows today when one in another shows x.
func (z *Zone) ClockAt(x int64) int64 {
	local, west := SplitTimeTZ(x)
	to := -z.offsetNow() / microsPerSecond
	return MakeTimeTZ(floorMod(local+(west-to)*microsPerSecond, MicrosPerDay), to)
}

// AddToTimeTZ adds to a time of day in its zone, around midnight if need be.
func AddToTimeTZ(x int64, micros int64) int64 {
	local, west := SplitTimeTZ(x)
	return MakeTimeTZ(AddToTime(local, micros), west)
}
