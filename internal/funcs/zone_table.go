package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Functions of time zones and times of day. Those without a row are what the binder makes of casts and operators.
var (
	tInstant = types.TTimestampTZ
	tClock   = types.TTime
)

var zoneRows = []Row{
	made("timezone", "t*", "timezone('America/New_York', timestamptz '2001-02-16 20:38:40+00') → 2001-02-16 15:38:40"),
	made("timezone", "V*", ""),
	made("date_trunc", "tZ?t", "date_trunc('day', timestamptz '2001-02-16 20:38:40+00', 'Asia/Tokyo') → 2001-02-16 15:00:00+00"),
	made("date_add", "ZV", ""),
	fn("epoch_ms", "Z", tBigint, "", sinceEpoch(1, 1000), fails, finiteOnly),
	fn("epoch_ns", "Z", tBigint, "", sinceEpoch(1000, 1), fails, finiteOnly),
	fn("epoch_us", "Z", tBigint, "", sinceEpoch(1, 1), fails, finiteOnly),
	made("make_timestamptz", "iiiiif?t", "make_timestamptz(2013, 7, 15, 8, 15, 23.5, 'UTC') → 2013-07-15 08:15:23.5+00"),
	fn("make_timestamptz", "i", tInstant, "make_timestamptz(1667810584123456) → 2022-11-07 08:43:04.123456+00", fromEpoch(1), fails),
	fn("make_time", "iif", tClock, "make_time(8, 15, 23.5) → 08:15:23.5", makeTime, fails),
	fn("date_bin", "VZZ", tInstant, "", dateBin, fails),
}

// MakeInstant is make_timestamptz(year, …, seconds, zone). Offsets count to the east, unlike those that AtZone takes, as
// PostgreSQL has it.
var MakeInstant = internalFn("make_timestamptz", func(a []types.Value, t types.Type) (types.Value, error) {
	local, err := makeTimestamp(a[:6], tTime)
	if err != nil {
		return types.Value{}, err
	}
	name := a[6].S
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return fail(diag.InvalidParameter, "invalid input syntax for type numeric time zone: %q", name)
	}
	z, err := types.ParseOffset(name)
	if z == nil && err == nil {
		z, err = types.FindZone(name)
	}
	if err != nil {
		return types.Value{}, err
	}
	return otherClock(z, local, t)
})

func internalFn(name string, eval Eval, options ...option) *plan.Function {
	f := &plan.Function{Name: name, Strict: true, Fails: true, Eval: eval}
	for _, o := range options {
		o(f)
	}
	return f
}

// ReadTimestamp is to_timestamp before the zone of the session makes it an instant.
var ReadTimestamp = internalFn("to_timestamp", parseTimestamp)

// AtZone is timezone(zone, x): to a timestamp of the other kind.
var AtZone = internalFn("timezone", func(a []types.Value, t types.Type) (types.Value, error) {
	z, err := types.FindZone(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	return otherClock(z, a[1], t)
})

// AtOffset is AtZone for an interval that says how far ahead of UTC clocks are.
var AtOffset = internalFn("timezone", func(a []types.Value, t types.Type) (types.Value, error) {
	months, days, micros := a[0].IntervalParts()
	if months != 0 || days != 0 {
		return fail(diag.InvalidParameter, "interval time zone %q must not include months or days", a[0].String())
	}
	return otherClock(types.FixedZone(int(micros/1e6)), a[1], t)
})

func otherClock(z *types.Zone, v types.Value, t types.Type) (types.Value, error) {
	if t.Kind == types.TimeTZ {
		return number(t, z.ClockAt(v.I))
	}
	shift := z.Instant
	if t.Kind == types.Timestamp {
		shift = z.Local
	}
	ts, err := shift(v.I)
	return types.IntValue(t, ts), err
}

// InstantText writes a TIMESTAMPTZ in a zone, or a list of them.
var InstantText = internalFn("timestamptz_text", func(a []types.Value, _ types.Type) (types.Value, error) {
	z, err := types.FindZone(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	return text(string(a[1].AppendTextIn(nil, z)))
})

// TextMoment reads a date or a time in a zone, or a list of them; a word such as today means what it does at an instant.
var TextMoment = internalFn("text_moment", func(a []types.Value, t types.Type) (types.Value, error) {
	z, err := types.FindZone(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	return types.CastAt(z, a[1].I, a[2], t)
}, func(f *plan.Function) { f.Cast = true })

// TryTextMoment is TextMoment of TRY_CAST.
var TryTextMoment = internalFn("try_text_moment", func(a []types.Value, t types.Type) (types.Value, error) {
	v, err := TextMoment.Eval(a, t)
	if err != nil {
		return null(t)
	}
	return v, nil
}, nullOut)

// ZoneOffset is EXTRACT of timezone, timezone_hour or timezone_minute.
var ZoneOffset = internalFn("timezone_offset", func(a []types.Value, t types.Type) (types.Value, error) {
	z, err := types.FindZone(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	return number(t, offsetPart(a[1].S, z.OffsetAt(a[2].I)/1e6))
}, finiteOnly)

// TruncInZone is date_trunc of a TIMESTAMPTZ in a zone.
var TruncInZone = internalFn("date_trunc", func(a []types.Value, t types.Type) (types.Value, error) {
	f, ok := types.ParseField(a[0].S)
	if !ok || !CanTruncate(f) {
		return fail(diag.InvalidParameter, "unit %q not recognized for type timestamp with time zone", a[0].S)
	}
	z, err := types.FindZone(a[2].S)
	if err != nil {
		return types.Value{}, err
	}
	ts, err := z.Trunc(f, a[1].I)
	return types.IntValue(t, ts), err
})

// AddInZone adds an interval to a TIMESTAMPTZ.
var AddInZone = internalFn("timestamptz_add", func(a []types.Value, t types.Type) (types.Value, error) {
	z, err := types.FindZone(a[2].S)
	if err != nil {
		return types.Value{}, err
	}
	months, days, micros := a[1].IntervalParts()
	ts, err := z.AddInterval(a[0].I, months, days, micros)
	return types.IntValue(t, ts), err
})

// AddToTime, SubTimes and DateAtTime are the arithmetic of times of day.
var AddToTime = internalFn("time_add", func(a []types.Value, t types.Type) (types.Value, error) {
	return number(t, types.AddToTime(a[0].I, a[1].Hi))
})

var SubTimes = internalFn("time_sub", func(a []types.Value, _ types.Type) (types.Value, error) {
	return types.IntervalValue(0, 0, a[0].I-a[1].I), nil
})

var DateAtTime = internalFn("date_time", func(a []types.Value, t types.Type) (types.Value, error) {
	ts, err := types.DateToTimestamp(a[0].I)
	if err != nil || types.IsInfiniteTimestamp(ts) {
		return types.IntValue(t, ts), err
	}
	if !types.TimestampInRange(ts + a[1].I) {
		err = types.ErrOutOfRange(types.TTimestamp)
	}
	return types.IntValue(t, ts+a[1].I), err
})

// ClockInZone is a TIMETZ of a text, a time of day or an instant, in a zone.
var ClockInZone = internalFn("timetz", func(a []types.Value, t types.Type) (types.Value, error) {
	z, err := types.FindZone(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	return types.AssignIn(z, a[1], t)
}, nullOut)

// AddToTimeTZ, DateAtTimeTZ and ClockOffset are the arithmetic of times of day in a zone.
var AddToTimeTZ = internalFn("timetz_add", func(a []types.Value, t types.Type) (types.Value, error) {
	return number(t, types.AddToTimeTZ(a[0].I, a[1].Hi))
})

var DateAtTimeTZ = internalFn("date_timetz", func(a []types.Value, t types.Type) (types.Value, error) {
	ts, err := types.DateToTimestamp(a[0].I)
	if err != nil || types.IsInfiniteTimestamp(ts) {
		return types.IntValue(t, ts), err
	}
	local, west := types.SplitTimeTZ(a[1].I)
	if ts += local + west*1e6; !types.TimestampInRange(ts) {
		err = types.ErrOutOfRange(types.TTimestamp)
	}
	return types.IntValue(t, ts), err
})

// ClockOffset is EXTRACT of timezone, timezone_hour or timezone_minute from a TIMETZ.
var ClockOffset = internalFn("timetz_offset", func(a []types.Value, t types.Type) (types.Value, error) {
	_, west := types.SplitTimeTZ(a[1].I)
	return number(t, offsetPart(a[0].S, -west))
})

// offsetPart is a part of how many seconds a clock is ahead of UTC.
func offsetPart(part string, secs int64) int64 {
	switch part {
	case "timezone_hour":
		return secs / 3600
	case "timezone_minute":
		return secs / 60 % 60
	}
	return secs
}

func makeTime(a []types.Value, t types.Type) (types.Value, error) {
	h, m, s := a[0].I, a[1].I, a[2].F
	us := h*3600e6 + m*60e6 + int64(math.RoundToEven(s*1e6))
	if h < 0 || h > 24 || m < 0 || m > 59 || !(s >= 0 && s <= 60) || us > types.MicrosPerDay {
		return fail(diag.DatetimeOverflow, "time field value out of range: %d:%02d:%s", h, m, types.FormatFloat(s, 64))
	}
	return number(t, us)
}
