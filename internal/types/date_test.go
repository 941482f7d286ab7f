package types

import (
	"testing"
	"time"
)

// TestCalendar walks day by day through four centuries around 1970 and in larger steps through
// the whole range, against package time.
func TestCalendar(t *testing.T) {
	check := func(days int64) {
		y, m, d := CivilFromDays(days)
		w := time.Unix(days*86400, 0).UTC()
		if y != w.Year() || m != int(w.Month()) || d != w.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %v", days, y, m, d, w)
		}
		if back := DaysFromCivil(y, m, d); back != days {
			t.Fatalf("%d-%d-%d is day %d, want %d", y, m, d, back, days)
		}
		if Weekday(days) != int(w.Weekday()) {
			t.Fatalf("weekday of %v", w)
		}
		iy, iw := ISOWeek(days)
		if wy, ww := w.ISOWeek(); iy != wy || iw != ww {
			t.Fatalf("ISO week of %v: %d-%d, want %d-%d", w, iy, iw, wy, ww)
		}
		if last := time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day(); last != DaysInMonth(y, m) {
			t.Fatalf("%d-%d has %d days", y, m, DaysInMonth(y, m))
		}
	}
	for d := int64(-150000); d < 150000; d++ {
		check(d)
	}
	for d := MinDate; d <= MaxDate; d += 99991 {
		check(d)
	}
	check(MinDate)
	check(MaxDate)
	if MaxDate > 1<<31-1 || MinDate < -1<<31 {
		t.Error("dates do not fit in 32 bits")
	}
}

func TestParseDate(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"1998-09-02", "1998-09-02"}, {" 1998-9-2 ", "1998-09-02"}, {"19980902", "1998-09-02"}, {"1998/09/02", "1998-09-02"},
		{"1998-09-02 10:20:30", "1998-09-02"}, {"1998-09-02T10:20", "1998-09-02"}, {"0044-03-15 BC", "0044-03-15 BC"}, {"0001-01-01", "0001-01-01"},
		{"2000-02-29", "2000-02-29"}, {"4714-11-24 BC", "4714-11-24 BC"}, {"5874897-12-31", "5874897-12-31"}, {"12345-01-01", "12345-01-01"},
		{"1900-02-29", "!22008"}, {"1999-13-01", "!22008"}, {"1999-00-01", "!22008"}, {"1999-01-32", "!22008"}, {"0000-01-01", "!22008"},
		{"5874898-01-01", "!22008"}, {"4714-11-23 BC", "!22008"}, {"1998-09-02 25:00", "!22008"},
		{"", "!22007"}, {"abc", "!22007"}, {"1998", "!22007"}, {"1998-09", "!22007"}, {"1998-09-02x", "!22007"}, {"98-09-02", "!22007"},
		{"1998-09/02", "!22007"}, {"1998-09-02 10", "!22007"}, {"--", "!22007"},
	} {
		v, err := ParseValue(TDate, c.in)
		checkText(t, "date "+c.in, v, err, c.want)
	}
	_, err := ParseValue(TDate, "abc")
	if err.Error() != `invalid input syntax for type date: "abc" (22007)` {
		t.Error(err)
	}
	_, err = ParseValue(TDate, "1999-02-30")
	if err.Error() != `date/time field value out of range: "1999-02-30" (22008)` {
		t.Error(err)
	}
}

func TestParseTimestamp(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"2001-02-03", "2001-02-03 00:00:00"}, {"2001-02-03 04:05", "2001-02-03 04:05:00"}, {"2001-02-03T04:05:06", "2001-02-03 04:05:06"},
		{"2001-02-03 04:05:06.7", "2001-02-03 04:05:06.7"}, {"2001-02-03 04:05:06.123456", "2001-02-03 04:05:06.123456"},
		{"2001-02-03 04:05:06.1234567", "2001-02-03 04:05:06.123457"}, {"2001-02-03 23:59:59.9999999", "2001-02-04 00:00:00"},
		{"2001-02-03 24:00:00", "2001-02-04 00:00:00"}, {"2001-02-03 04:05:60", "2001-02-03 04:06:00"},
		{"2001-02-03 04:05:06Z", "2001-02-03 04:05:06"}, {"2001-02-03 04:05:06+01", "2001-02-03 04:05:06"}, {"2001-02-03 04:05:06 -03:30", "2001-02-03 04:05:06"},
		{"1960-01-01 00:00:00.5", "1960-01-01 00:00:00.5"}, {"0044-03-15 12:00:00 BC", "0044-03-15 12:00:00 BC"},
		{"294246-12-31 23:59:59.999999", "294246-12-31 23:59:59.999999"}, {"294247-01-01", "!22008"}, {"2001-02-03 24:00:01", "!22008"},
		{"2001-02-03 04:60", "!22008"}, {"2001-02-03 4", "!22007"}, {"2001-02-03 04:05:06+1x", "!22007"}, {"2001-02-03 04:05:06.", "2001-02-03 04:05:06"},
		{"04:05:06", "!22007"},
	} {
		v, err := ParseValue(TTimestamp, c.in)
		checkText(t, "timestamp "+c.in, v, err, c.want)
	}
}

func mustParse(t *testing.T, typ Type, text string) Value {
	t.Helper()
	v, err := ParseValue(typ, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAddInterval(t *testing.T) {
	for _, c := range []struct{ ts, ivl, want string }{
		{"2001-01-31", "1 month", "2001-02-28 00:00:00"}, {"2000-01-31", "1 month", "2000-02-29 00:00:00"}, {"2001-03-31", "-1 month", "2001-02-28 00:00:00"},
		{"2000-02-29", "1 year", "2001-02-28 00:00:00"}, {"2000-02-29", "4 years", "2004-02-29 00:00:00"}, {"1995-12-01", "3 months", "1996-03-01 00:00:00"},
		{"1998-12-01", "-90 days", "1998-09-02 00:00:00"}, {"2001-01-31 23:00:00", "1 month 1 day 2 hours", "2001-03-02 01:00:00"},
		{"1970-01-01", "-1 microsecond", "1969-12-31 23:59:59.999999"}, {"0001-01-01", "-1 day", "0001-12-31 00:00:00 BC"},
		{"2001-01-01", "1 day -1 second", "2001-01-01 23:59:59"}, {"294246-12-31", "1 day", "!22008"}, {"2000-01-01", "-178000000 years", "!22008"},
		{"2000-01-01", "178000000 years 2000000000 days", "!22008"},
	} {
		ts, iv := mustParse(t, TTimestamp, c.ts), mustParse(t, TInterval, c.ivl)
		m, d, u := iv.IntervalParts()
		sum, err := AddInterval(ts.I, m, d, u)
		checkText(t, c.ts+" + "+c.ivl, IntValue(TTimestamp, sum), err, c.want)
	}
	a, b := mustParse(t, TTimestamp, "2001-03-01 12:00"), mustParse(t, TTimestamp, "2001-02-01 13:00")
	diff, err := SubTimestamps(a.I, b.I)
	checkText(t, "a - b", diff, err, "27 days 23:00:00")
	diff, err = SubTimestamps(b.I, a.I)
	checkText(t, "b - a", diff, err, "-27 days -23:00:00")
}

func TestInterval(t *testing.T) {
	for _, c := range []struct{ in, qualifier, want string }{
		{"3 months", "", "3 mons"}, {"3", "month", "3 mons"}, {"90", "DAY", "90 days"}, {"1", "year", "1 year"}, {"1 year 2 days", "", "1 year 2 days"},
		{"01:02:03", "", "01:02:03"}, {"1-2", "", "1 year 2 mons"}, {"1-2", "year to month", "1 year 2 mons"}, {"-1-2", "", "-1 years -2 mons"},
		{"3 4:05:06.7", "", "3 days 04:05:06.7"}, {"3 4:05:06.7", "day to second", "3 days 04:05:06.7"}, {"1.5 months", "", "1 mon 15 days"},
		{"1.5 years", "", "1 year 6 mons"}, {"1.5 days", "", "1 day 12:00:00"}, {"1.5 weeks", "", "10 days 12:00:00"}, {"0.5 month", "", "15 days"},
		{"2 weeks", "", "14 days"}, {"1 hour ago", "", "-01:00:00"}, {"-1 day 2 hours", "", "-1 days +02:00:00"}, {"1 day -2 hours", "", "1 day -02:00:00"},
		{"-1 month +2 days", "", "-1 mons +2 days"}, {"1.5", "second", "00:00:01.5"}, {"1.5", "", "00:00:01.5"}, {"90", "", "00:01:30"},
		{"100 microseconds", "", "00:00:00.0001"}, {"1500 ms", "", "00:00:01.5"}, {"5m", "", "00:05:00"}, {"2h 5m 3s", "", "02:05:03"}, {"2hours", "", "02:00:00"},
		{"P1Y2M3DT4H5M6.5S", "", "1 year 2 mons 3 days 04:05:06.5"}, {"PT-1H", "", "-01:00:00"}, {"P2W", "", "14 days"}, {"-00:00:01", "", "-00:00:01"},
		{"0", "", "00:00:00"}, {"0 days", "", "00:00:00"}, {"@ 1 minute", "", "00:01:00"}, {"1 century 1 decade", "", "110 years"}, {"1 quarter", "", "3 mons"},
		{"1 year 5 months 3 days", "year", "1 year"}, {"1 year 5 months 3 days", "month", "1 year 5 mons"}, {"1 day 02:03:04", "day", "1 day"},
		{"1 day 02:03:04", "hour", "1 day 02:00:00"}, {"1 day 02:03:04", "day to minute", "1 day 02:03:00"}, {"100:00:00", "", "100:00:00"},
		{"2147483647 months", "", "178956970 years 7 mons"}, {"-2147483648 days", "", "-2147483648 days"}, {"2147483648 days", "", "!22008"}, {"2147483647 years", "", "!22008"},
		{"9223372036854775807 us", "", "2562047788:00:54.775807"}, {"9223372036854775808 us", "", "!22008"}, {"9223372036854775807 us 1 us", "", "!22008"},
		{"", "", "!22007"}, {"abc", "", "!22007"}, {"1 fortnight", "", "!22007"}, {"1 2", "", "!22007"}, {"P", "", "!22007"}, {"PT", "", "!22007"}, {"ago", "", "!22007"},
		{"1:60", "", "!22007"}, {"1-12", "", "!22007"}, {"-", "", "!22007"}, {"1 day x", "", "!22007"}, {"1", "fortnight", "!22023"}, {":", "", "!22007"}, {"-:1", "", "!22007"},
	} {
		v, err := ParseInterval(c.in, c.qualifier)
		checkText(t, "interval "+c.in+" "+c.qualifier, v, err, c.want)
	}
}

func TestIntervalOrder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"1 month", "30 days", 0}, {"1 month", "31 days", -1}, {"24:00:00", "1 day", 0}, {"1 year", "360 days", 0}, {"-1 day", "0", -1}, {"1 us", "0", 1}} {
		if got := Compare(mustParse(t, TInterval, c.a), mustParse(t, TInterval, c.b)); got != c.want {
			t.Errorf("Compare(%s, %s) = %d", c.a, c.b, got)
		}
	}
}

func TestExtract(t *testing.T) {
	for _, c := range []struct{ field, typ, in, want string }{
		{"year", "date", "1998-09-02", "1998"}, {"month", "date", "1998-09-02", "9"}, {"day", "date", "1998-09-02", "2"}, {"quarter", "date", "1998-09-02", "3"},
		{"dow", "date", "2001-02-16", "5"}, {"isodow", "date", "2001-02-18", "7"}, {"dow", "date", "2001-02-18", "0"}, {"doy", "date", "2001-02-16", "47"},
		{"week", "date", "2001-02-16", "7"}, {"week", "date", "2005-01-01", "53"}, {"isoyear", "date", "2005-01-01", "2004"}, {"isoyear", "date", "2006-01-02", "2006"},
		{"century", "date", "2000-12-16", "20"}, {"century", "date", "2001-02-16", "21"}, {"century", "date", "0001-01-01 BC", "-1"}, {"decade", "date", "2001-02-16", "200"},
		{"decade", "date", "0001-01-01 BC", "0"}, {"decade", "date", "0011-01-01 BC", "-1"},
		{"millennium", "date", "2001-02-16", "3"}, {"millennium", "date", "2000-02-16", "2"}, {"year", "date", "0044-03-15 BC", "-44"}, {"epoch", "date", "1970-01-02", "86400"},
		{"julian", "date", "1970-01-01", "2440588"}, {"hour", "date", "1970-01-01", "!0A000"}, {"nope", "date", "1970-01-01", "!"},
		{"hour", "timestamp", "2001-02-16 20:38:40.12", "20"}, {"minute", "timestamp", "2001-02-16 20:38:40.12", "38"}, {"second", "timestamp", "2001-02-16 20:38:40.12", "40.120000"},
		{"milliseconds", "timestamp", "2001-02-16 20:38:40.12", "40120.000"}, {"microseconds", "timestamp", "2001-02-16 20:38:40.12", "40120000"},
		{"epoch", "timestamp", "2001-02-16 20:38:40.12", "982355920.120000"}, {"epoch", "timestamp", "1969-12-31 23:59:59", "-1.000000"}, {"julian", "timestamp", "1970-01-01 12:00", "2440588.5"},
		{"year", "timestamp", "1969-12-31 23:59:59", "1969"}, {"second", "timestamp", "1969-12-31 23:59:59.5", "59.500000"},
		{"day", "interval", "40 days 1 minute", "40"}, {"hour", "interval", "40 days 25:00:00", "25"}, {"month", "interval", "15 months", "3"}, {"year", "interval", "15 months", "1"},
		{"epoch", "interval", "5 days 3 hours", "442800.000000"}, {"epoch", "interval", "1 year 1 month", "34149600.000000"}, {"second", "interval", "-00:00:01.5", "-1.500000"}, {"dow", "interval", "1 day", "!0A000"},
		{"quarter", "interval", "4 months", "2"},
	} {
		typ, err := ParseType(c.typ, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := ParseField(c.field)
		if !ok {
			if c.want != "!" {
				t.Errorf("no field %s", c.field)
			}
			continue
		}
		v, err := Extract(f, mustParse(t, typ, c.in))
		checkText(t, c.field+" of "+c.in, v, err, c.want)
		if want, ok := ExtractType(f, typ); ok && v.Type != want {
			t.Errorf("%s of %s has type %s, want %s", c.field, c.typ, v.Type, want)
		}
	}
	if v, err := Extract(Year, NullOf(TDate)); err != nil || !v.Null || v.Type != TInt64 {
		t.Error(v, err)
	}
	for _, name := range []string{"Years", "MON", "hr", "dayofyear", "sec", "us", "ms"} {
		if _, ok := ParseField(name); !ok {
			t.Errorf("no field %s", name)
		}
	}
}

func TestDateTrunc(t *testing.T) {
	for _, c := range []struct{ field, in, want string }{
		{"microseconds", "2001-02-16 20:38:40.123456", "2001-02-16 20:38:40.123456"}, {"milliseconds", "2001-02-16 20:38:40.123456", "2001-02-16 20:38:40.123"},
		{"second", "2001-02-16 20:38:40.123456", "2001-02-16 20:38:40"}, {"minute", "2001-02-16 20:38:40", "2001-02-16 20:38:00"}, {"hour", "1960-02-16 20:38:40", "1960-02-16 20:00:00"},
		{"day", "1960-02-16 20:38:40", "1960-02-16 00:00:00"}, {"week", "2001-02-16 20:38:40", "2001-02-12 00:00:00"}, {"week", "1960-01-01", "1959-12-28 00:00:00"},
		{"month", "2001-02-16", "2001-02-01 00:00:00"}, {"quarter", "2001-06-16", "2001-04-01 00:00:00"}, {"year", "2001-02-16", "2001-01-01 00:00:00"},
		{"decade", "2001-02-16", "2000-01-01 00:00:00"}, {"century", "2000-02-16", "1901-01-01 00:00:00"}, {"century", "2001-02-16", "2001-01-01 00:00:00"},
		{"millennium", "2000-02-16", "1001-01-01 00:00:00"}, {"dow", "2000-01-01", "!0A000"},
	} {
		f, _ := ParseField(c.field)
		ts, err := DateTrunc(f, mustParse(t, TTimestamp, c.in).I)
		checkText(t, c.field+" of "+c.in, IntValue(TTimestamp, ts), err, c.want)
	}
}

func BenchmarkCivilFromDays(b *testing.B) {
	sum := 0
	for i := 0; b.Loop(); i++ {
		y, m, d := CivilFromDays(int64(8000 + i&4095))
		sum += y + m + d
	}
	_ = sum
}
