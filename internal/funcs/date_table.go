package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// dateRows are functions of dates, timestamps and intervals.
var dateRows = []Row{
	fn("age", "TT", tSpan, "age(timestamp '2001-04-10', timestamp '1957-06-13') → 43 years 9 mons 27 days", age, fails),
	made("age", "T", ""),
	made("overlaps", "****", "overlaps(date '2001-02-16', date '2001-12-21', date '2001-10-30', date '2002-10-30') → true"),
	made("date", "*", "date(timestamp '2001-02-16 20:38:40') → 2001-02-16"),
	made("date_add", "TV", "date_add(date '2001-01-31', interval '1 month') → 2001-02-28 00:00:00"),
	fn("date_bin", "VTT", tTime, "date_bin('15 minutes', timestamp '2020-02-11 15:44:17', timestamp '2001-01-01') → 2020-02-11 15:30:00", dateBin, fails),
	fn("date_diff", "tTT", tBigint, "date_diff('month', date '1992-09-15', date '1992-11-14') → 2", dateDiff, fails, finiteOnly),
	fn("datediff", "tTT", tBigint, "datediff('day', date '1992-09-15', date '1992-11-14') → 60", dateDiff, fails, finiteOnly),
	fn("date_sub", "tTT", tBigint, "date_sub('month', date '1992-09-15', date '1992-11-14') → 1", dateSub, fails, finiteOnly),
	fn("datesub", "tTT", tBigint, "datesub('month', date '1992-09-15', date '1992-11-14') → 1", dateSub, fails, finiteOnly),
	made("date_trunc", "td", "date_trunc('hour', timestamp '2001-02-16 20:38:40') → 2001-02-16 20:00:00"),
	made("datetrunc", "td", "datetrunc('hour', timestamp '2001-02-16 20:38:40') → 2001-02-16 20:00:00"),
	fn("dayname", "T", tText, "dayname(date '1992-03-22') → Sunday", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(dayNames[types.Weekday(civilOf(a[0]).days)])
	}, finiteOnly),
	fn("epoch_ms", "i", tTime, "epoch_ms(701222400000) → 1992-03-22 00:00:00", fromEpoch(1000), fails),
	fn("epoch_ms", "T", tBigint, "epoch_ms(timestamp '1970-01-01 00:00:01') → 1000", sinceEpoch(1, 1000), fails, finiteOnly),
	fn("epoch_ns", "T", tBigint, "epoch_ns(timestamp '1970-01-01 00:00:01') → 1000000000", sinceEpoch(1000, 1), fails, finiteOnly),
	fn("epoch_us", "T", tBigint, "epoch_us(timestamp '1970-01-01 00:00:01') → 1000000", sinceEpoch(1, 1), fails, finiteOnly),
	fn("justify_days", "V", tSpan, "justify_days(interval '1 year 65 days') → 1 year 2 mons 5 days", justify(false, true), fails),
	fn("justify_hours", "V", tSpan, "justify_hours(interval '50 hours 10 minutes') → 2 days 02:10:00", justify(true, false), fails),
	fn("justify_interval", "V", tSpan, "justify_interval(interval '1 mon -1 hour') → 29 days 23:00:00", justify(true, true), fails),
	fn("last_day", "T", tDate, "last_day(date '1992-02-22') → 1992-02-29", lastDay, finiteOnly),
	fn("make_date", "iii", tDate, "make_date(2013, 7, 15) → 2013-07-15", makeDate, fails),
	named(fn("make_interval", "?iiiiiif", tSpan, "make_interval(days => 10) → 10 days", makeInterval, fails),
		"years", "months", "weeks", "days", "hours", "mins", "secs"),
	fn("make_timestamp", "iiiiif", tTime, "make_timestamp(2013, 7, 15, 8, 15, 23.5) → 2013-07-15 08:15:23.5", makeTimestamp, fails),
	fn("make_timestamp", "i", tTime, "make_timestamp(1667810584123456) → 2022-11-07 08:43:04.123456", fromEpoch(1), fails),
	fn("make_timestamp_ms", "i", tTime, "make_timestamp_ms(1667810584123) → 2022-11-07 08:43:04.123", fromEpoch(1000), fails),
	fn("monthname", "T", tText, "monthname(date '1992-09-20') → September", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(monthNames[civilOf(a[0]).month-1])
	}, finiteOnly),
	fn("time_bucket", "VT?T", tTime, "time_bucket(interval '2 weeks', timestamp '1992-04-20 15:26:00') → 1992-04-20 00:00:00", timeBucket, fails),
	fn("to_centuries", "i", tSpan, "to_centuries(1) → 100 years", span(1200, 0, 0), fails),
	fn("to_days", "i", tSpan, "to_days(5) → 5 days", span(0, 1, 0), fails),
	fn("to_decades", "i", tSpan, "to_decades(5) → 50 years", span(120, 0, 0), fails),
	fn("to_hours", "i", tSpan, "to_hours(5) → 05:00:00", span(0, 0, 3600e6), fails),
	fn("to_microseconds", "i", tSpan, "to_microseconds(5) → 00:00:00.000005", span(0, 0, 1), fails),
	fn("to_millennia", "i", tSpan, "to_millennia(1) → 1000 years", span(12000, 0, 0), fails),
	fn("to_milliseconds", "i", tSpan, "to_milliseconds(5) → 00:00:00.005", span(0, 0, 1000), fails),
	fn("to_minutes", "i", tSpan, "to_minutes(5) → 00:05:00", span(0, 0, 60e6), fails),
	fn("to_months", "i", tSpan, "to_months(5) → 5 mons", span(1, 0, 0), fails),
	fn("to_quarters", "i", tSpan, "to_quarters(5) → 1 year 3 mons", span(3, 0, 0), fails),
	fn("to_seconds", "f", tSpan, "to_seconds(5) → 00:00:05", func(a []types.Value, _ types.Type) (types.Value, error) {
		us := a[0].F * 1e6
		if !(us > -9.2e18 && us < 9.2e18) {
			return outOfRange("interval")
		}
		return types.IntervalValue(0, 0, int64(us)), nil
	}, fails),
	fn("to_weeks", "i", tSpan, "to_weeks(5) → 35 days", span(0, 7, 0), fails),
	fn("to_years", "i", tSpan, "to_years(5) → 5 years", span(12, 0, 0), fails),
}

// fieldRows are parts of dates.
var fieldRows = []Row{
	made("century", "d", "century(date '1992-02-15') → 20"),
	made("date_part", "td", "date_part('month', date '1992-09-20') → 9"),
	made("datepart", "td", "datepart('month', date '1992-09-20') → 9"),
	made("day", "d", "day(date '1992-02-15') → 15"),
	made("dayofmonth", "d", "dayofmonth(date '1992-02-15') → 15"),
	made("dayofweek", "d", "dayofweek(date '1992-02-15') → 6"),
	made("dayofyear", "d", "dayofyear(date '1992-02-15') → 46"),
	made("decade", "d", "decade(date '1992-02-15') → 199"),
	made("epoch", "d", "epoch(timestamp '1970-01-01 00:00:05') → 5.000000"),
	fn("era", "T", tBigint, "era(date '0044-03-15 BC') → 0", func(a []types.Value, t types.Type) (types.Value, error) {
		if civilOf(a[0]).year <= 0 {
			return number(t, 0)
		}
		return number(t, 1)
	}, finiteOnly),
	made("hour", "d", "hour(timestamp '1992-02-15 01:02:03') → 1"),
	made("isodow", "d", "isodow(date '1992-02-15') → 6"),
	made("isoyear", "d", "isoyear(date '1992-01-01') → 1992"),
	made("julian", "d", "julian(date '1992-09-20') → 2448886"),
	made("microsecond", "d", "microsecond(timestamp '1992-02-15 01:02:03.5') → 3500000"),
	made("millennium", "d", "millennium(date '1992-02-15') → 2"),
	made("millisecond", "d", "millisecond(timestamp '1992-02-15 01:02:03.5') → 3500.000"),
	made("minute", "d", "minute(timestamp '1992-02-15 01:02:03') → 2"),
	made("month", "d", "month(date '1992-02-15') → 2"),
	made("quarter", "d", "quarter(date '1992-02-15') → 1"),
	made("second", "d", "second(timestamp '1992-02-15 01:02:03') → 3.000000"),
	made("week", "d", "week(date '1992-02-15') → 7"),
	made("weekday", "d", "weekday(date '1992-02-15') → 6"),
	made("weekofyear", "d", "weekofyear(date '1992-02-15') → 7"),
	made("year", "d", "year(date '1992-02-15') → 1992"),
	fn("yearweek", "T", tBigint, "yearweek(date '1992-02-15') → 199207", func(a []types.Value, t types.Type) (types.Value, error) {
		y, w := types.ISOWeek(civilOf(a[0]).days)
		if y < 0 {
			w = -w
		}
		return number(t, int64(y)*100+int64(w))
	}, finiteOnly),
	// Where only the rows know the field, the binder takes these.
	fn("date_part", "td", tDouble, "", datePartBy, fails, nullOut),
	fn("date_trunc", "tT", tTime, "", dateTruncBy, fails),
	fn("date_trunc interval", "tV", tSpan, "", intervalTrunc, fails),
}

// formatRows write and read by formats.
var formatRows = []Row{
	fn("strftime", "Tt", tText, "strftime(date '1992-01-01', '%a, %-d %B %Y') → Wed, 1 January 1992", strftime, fails),
	fn("strptime", "tt", tTime, "strptime('Wed, 1 January 1992', '%a, %-d %B %Y') → 1992-01-01 00:00:00", strptime, fails),
	fn("to_char", "Tt", tText, "to_char(timestamp '2002-04-20 17:31:12', 'HH12:MI:SS') → 05:31:12", formatDate, fails, finiteOnly),
	fn("to_char", "Vt", tText, "to_char(interval '15h 2m 12s', 'HH24:MI:SS') → 15:02:12", formatDate, fails, nullOut),
	fn("to_char", "mt", tText, "to_char(125.8, '999D9') →  125.8", formatNumber, fails),
	fn("to_char", "ft", tText, "to_char(-125.8::double, '999D99') → -125.80", formatNumber, fails),
	fn("to_date", "tt", tDate, "to_date('05 Dec 2000', 'DD Mon YYYY') → 2000-12-05", parseDate, fails),
	made("to_number", "tt", "to_number('12,454.8-', '99G999D9S') → -12454.8"),
	made("to_timestamp", "tt", "to_timestamp('05 Dec 2000', 'DD Mon YYYY') → 2000-12-05 00:00:00+00"),
	fn("to_timestamp", "f", tInstant, "to_timestamp(1284352323.5) → 2010-09-13 04:32:03.5+00", func(a []types.Value, t types.Type) (types.Value, error) {
		us := a[0].F * 1e6
		if math.IsInf(a[0].F, 0) {
			return types.Assign(types.TextValue(a[0].String()), t)
		}
		if !(us >= float64(types.MinTimestamp) && us <= float64(types.MaxTimestamp)) {
			return fail(diag.DatetimeOverflow, "timestamp out of range: %q", a[0].String())
		}
		return number(t, int64(roundHalfEven(us)))
	}, fails),
	fn("try_strptime", "tt", tTime, "try_strptime('nonsense', '%Y') → NULL", tryStrptime, nullOut),
	// The binder knows the digits after the point by the format.
	fn("to_number", "tt", types.TDecimal(38, 10), "", readNumber, fails, nullOut),
}
