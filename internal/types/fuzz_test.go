package types

import "testing"

// The fuzz tests hold every reader to two promises: no text makes it panic, and what it
// accepts prints as a text that reads back as the same value and prints the same again.

func fuzzType(f *testing.F, t Type, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(tt *testing.T, s string) {
		v, err := ParseValue(t, s)
		if err != nil {
			if e, ok := err.(*Error); !ok || len(e.Code) != 5 || e.Msg == "" {
				tt.Fatalf("error %#v", err)
			}
			return
		}
		text := v.String()
		back, err := ParseValue(t, text)
		if err != nil {
			tt.Fatalf("%q reads as %s, which does not read back: %v", s, text, err)
		}
		if Compare(v, back) != 0 || back.String() != text {
			tt.Fatalf("%q reads as %s, which reads back as %s", s, text, back)
		}
	})
}

func FuzzParseDate(f *testing.F) {
	fuzzType(f, TDate, "1998-09-02", "0044-03-15 BC", "19980902", "5874897-12-31", "1-1-1", "1998-09-02 10:00+01")
}

func FuzzParseTimestamp(f *testing.F) {
	fuzzType(f, TTimestamp, "1998-09-02 10:20:30.5", "0044-03-15 01:02 BC", "294246-12-31 23:59:59.999999", "2000-01-01T24:00:00Z")
}

func FuzzParseInterval(f *testing.F) {
	fuzzType(f, TInterval, "1 year 2 mons -3 days +04:05:06.7", "1-2", "P1Y2M3DT4H5M6S", "3 4:05", "1.5 weeks ago", "-9223372036854775808 us", "@ 1 c")
}

func FuzzParseDecimal(f *testing.F) {
	fuzzType(f, TDecimal(20, 6), "1.5", "-0.0000005", "12345678901234.9999999", "1e-7", ".5e3", "1e99999")
}

func FuzzParseNumber(f *testing.F) {
	for _, s := range []string{"1", "1.50", "1e3", "9223372036854775808", "0.0000000000000000000000000000000000000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseNumber(s)
		if err != nil {
			return
		}
		back, err := ParseValue(v.Type, v.String())
		if err != nil || Compare(v, back) != 0 {
			t.Fatalf("%q reads as %s %s, which reads back as %s (%v)", s, v.Type, v, back, err)
		}
	})
}

func FuzzParseFloat(f *testing.F) { fuzzType(f, TFloat64, "1.5", "1e400", "-inf", "nan", "1e-320") }
