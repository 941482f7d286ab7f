package types

import (
	"math"
	"strings"
	"testing"
)

func TestParseType(t *testing.T) {
	for _, c := range []struct {
		name string
		args []int
		want string // or !SQLSTATE
	}{
		{"int2", nil, "SMALLINT"}, {"SMALLINT", nil, "SMALLINT"}, {"int", nil, "INTEGER"}, {"Integer", nil, "INTEGER"}, {"int4", nil, "INTEGER"},
		{"int8", nil, "BIGINT"}, {"bigint", nil, "BIGINT"}, {"numeric", nil, "DECIMAL(18,3)"}, {"decimal", []int{7}, "DECIMAL(7,0)"}, {"dec", []int{38, 38}, "DECIMAL(38,38)"},
		{"real", nil, "REAL"}, {"float4", nil, "REAL"}, {"float8", nil, "DOUBLE"}, {"double  precision", nil, "DOUBLE"}, {"double", nil, "DOUBLE"}, {"float", nil, "DOUBLE"},
		{"float", []int{24}, "REAL"}, {"float", []int{25}, "DOUBLE"}, {"float", []int{54}, "!22023"}, {"float", []int{0}, "!22023"},
		{"date", nil, "DATE"}, {"timestamp", nil, "TIMESTAMP"}, {"timestamp without time zone", nil, "TIMESTAMP"}, {"timestamp", []int{6}, "TIMESTAMP"}, {"timestamp", []int{3}, "!0A000"},
		{"interval", nil, "INTERVAL"}, {"varchar", []int{10}, "VARCHAR(10)"}, {"character varying", []int{3}, "VARCHAR(3)"}, {"char", []int{3}, "VARCHAR(3)"}, {"char", nil, "VARCHAR(1)"},
		{"text", nil, "VARCHAR"}, {"string", nil, "VARCHAR"}, {"varchar", nil, "VARCHAR"}, {"bool", nil, "BOOLEAN"}, {"boolean", nil, "BOOLEAN"},
		{"text", []int{3}, "!42601"}, {"varchar", []int{0}, "!22023"}, {"varchar", []int{1 << 30}, "!22023"}, {"int", []int{3}, "!42601"}, {"numeric", []int{39}, "!22023"},
		{"numeric", []int{5, 6}, "!22023"}, {"numeric", []int{5, -1}, "!22023"}, {"numeric", []int{1, 1, 1}, "!22023"}, {"money", nil, "!0A000"}, {"nosuch", nil, "!42704"}, {"HugeInt", nil, "DECIMAL(38,0)"},
	} {
		typ, err := ParseType(c.name, c.args)
		got := typ.String()
		if err != nil {
			got = "!" + err.(*Error).Code
		}
		if got != c.want {
			t.Errorf("ParseType(%s, %v) = %s, want %s", c.name, c.args, got, c.want)
		}
	}
}

func TestParseValue(t *testing.T) {
	vc3 := Type{Kind: Text, Len: 3}
	for _, c := range []struct {
		t        Type
		in, want string
	}{
		{TBool, "t", "true"}, {TBool, " TRUE ", "true"}, {TBool, "yes", "true"}, {TBool, "on", "true"}, {TBool, "1", "true"}, {TBool, "tru", "true"},
		{TBool, "f", "false"}, {TBool, "off", "false"}, {TBool, "of", "false"}, {TBool, "n", "false"}, {TBool, "0", "false"}, {TBool, "o", "!22P02"}, {TBool, "", "!22P02"}, {TBool, "truex", "!22P02"},
		{TInt16, "32767", "32767"}, {TInt16, "32768", "!22003"}, {TInt32, " -12 ", "-12"}, {TInt32, "+5", "5"}, {TInt32, "2147483648", "!22003"}, {TInt32, "1.5", "!22P02"},
		{TInt64, "-9223372036854775808", "-9223372036854775808"}, {TInt64, "9223372036854775808", "!22003"}, {TInt32, "abc", "!22P02"}, {TInt32, "", "!22P02"}, {TInt32, "-", "!22P02"},
		{TInt32, "--5", "!22P02"}, {TInt32, "1_000", "!22P02"}, {TInt32, "99999999999999999999999", "!22003"},
		{TFloat64, "25.5", "25.5"}, {TFloat64, "1e20", "1e+20"}, {TFloat64, "nan", "NaN"}, {TFloat64, "-Infinity", "-Infinity"}, {TFloat64, "inf", "Infinity"}, {TFloat64, "-0", "-0"},
		{TFloat64, "1e400", "!22003"}, {TFloat64, "1e-400", "!22003"}, {TFloat64, "0e-400", "0"}, {TFloat64, "0x10", "!22P02"}, {TFloat64, "1_0", "!22P02"}, {TFloat64, "x", "!22P02"}, {TFloat64, "", "!22P02"},
		{TFloat64, "1e5p", "!22P02"}, {TFloat64, "infinit", "!22P02"},
		{TFloat32, "1e39", "!22003"}, {TFloat32, "0.1", "0.1"}, {TFloat32, "1e-50", "!22003"},
		{vc3, "abc", "abc"}, {vc3, "abcd", "!22001"}, {vc3, "äöü", "äöü"}, {vc3, "ab   ", "ab "}, {TText, "\xff", "!22021"}, {TText, "", ""},
	} {
		v, err := ParseValue(c.t, c.in)
		checkText(t, c.t.String()+" "+c.in, v, err, c.want)
		if err == nil && v.Type != c.t {
			t.Errorf("%s: type %s", c.in, v.Type)
		}
	}
	for _, c := range []struct {
		t        Type
		in, want string
	}{
		{TInt32, "abc", `invalid input syntax for type integer: "abc" (22P02)`},
		{TInt32, "99999999999", `value "99999999999" is out of range for type integer (22003)`},
		{TFloat64, "x", `invalid input syntax for type double precision: "x" (22P02)`},
		{TFloat64, "1e999", `"1e999" is out of range for type double precision (22003)`},
		{TDecimal(5, 2), "x", `invalid input syntax for type numeric: "x" (22P02)`},
		{TBool, "maybe", `invalid input syntax for type boolean: "maybe" (22P02)`},
		{vc3, "abcd", `value too long for type character varying(3) (22001)`},
	} {
		if _, err := ParseValue(c.t, c.in); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestFloatText(t *testing.T) {
	for _, c := range []struct {
		f    float64
		bits int
		want string
	}{
		{25.5, 64, "25.5"}, {0, 64, "0"}, {1e14, 64, "100000000000000"}, {1e15, 64, "1e+15"}, {123456789012345678, 64, "1.2345678901234568e+17"}, {0.0001, 64, "0.0001"},
		{0.00001, 64, "1e-05"}, {0.1, 64, "0.1"}, {-1.5e-10, 64, "-1.5e-10"}, {1e100, 64, "1e+100"}, {1.0 / 3, 64, "0.3333333333333333"}, {math.MaxFloat64, 64, "1.7976931348623157e+308"},
		{float64(float32(0.1)), 32, "0.1"}, {123456, 32, "123456"}, {1234567, 32, "1.234567e+06"}, {1e20, 64, "1e+20"}, {5e-324, 64, "5e-324"},
	} {
		if got := FormatFloat(c.f, c.bits); got != c.want {
			t.Errorf("FormatFloat(%v, %d) = %s, want %s", c.f, c.bits, got, c.want)
		}
	}
}

func TestCast(t *testing.T) {
	f := func(x float64) Value { return FloatValue(TFloat64, x) }
	i := func(x int64) Value { return IntValue(TInt64, x) }
	d := func(text string, prec, scale int) Value { return mustParse(t, TDecimal(prec, scale), text) }
	for _, c := range []struct {
		v    Value
		to   Type
		want string
	}{
		{f(2.5), TInt32, "2"}, {f(3.5), TInt32, "4"}, {f(-2.5), TInt32, "-2"}, {f(2147483647.4), TInt32, "2147483647"}, {f(2147483647.5), TInt32, "!22003"}, {f(math.NaN()), TInt64, "!22003"},
		{f(9223372036854775807), TInt64, "!22003"}, {f(-9223372036854775808), TInt64, "-9223372036854775808"}, {f(math.Inf(1)), TInt16, "!22003"},
		{d("2.5", 5, 1), TInt32, "3"}, {d("-2.5", 5, 1), TInt32, "-3"}, {d("2.49", 5, 2), TInt32, "2"}, {d("9223372036854775807.4", 38, 1), TInt64, "9223372036854775807"},
		{d("9223372036854775807.5", 38, 1), TInt64, "!22003"}, {i(70000), TInt16, "!22003"}, {i(70000), TInt32, "70000"}, {i(123), TDecimal(5, 2), "123.00"}, {i(1234), TDecimal(5, 2), "!22003"},
		{d("1.005", 5, 3), TDecimal(5, 2), "1.01"}, {d("99.995", 5, 3), TDecimal(4, 2), "!22003"}, {d("1.5", 5, 1), TFloat64, "1.5"}, {d("0.1", 5, 1), TFloat32, "0.1"},
		{f(0.15), TDecimal(5, 1), "0.2"}, {f(1.1), TDecimal(38, 20), "1.10000000000000000000"}, {f(math.NaN()), TDecimal(5, 1), "!22003"}, {f(1e10), TDecimal(5, 1), "!22003"},
		{f(1e300), TFloat32, "!22003"}, {f(1e-300), TFloat32, "!22003"}, {f(0), TFloat32, "0"}, {f(math.Inf(-1)), TFloat32, "-Infinity"}, {f(0.1), TFloat32, "0.1"},
		{FloatValue(TFloat32, float64(float32(0.1))), TFloat64, "0.10000000149011612"}, {FloatValue(TFloat32, float64(float32(0.1))), TDecimal(10, 5), "0.10000"},
		{BoolValue(true), TInt32, "1"}, {i(5), TBool, "true"}, {i(0), TBool, "false"}, {BoolValue(true), TText, "true"}, {f(1), TBool, "!42846"}, {BoolValue(true), TFloat64, "!42846"},
		{mustParse(t, TTimestamp, "1969-12-31 23:00"), TDate, "1969-12-31"}, {mustParse(t, TDate, "2001-01-01"), TTimestamp, "2001-01-01 00:00:00"}, {mustParse(t, TDate, "300000-01-01"), TTimestamp, "!22008"},
		{mustParse(t, TDate, "2001-01-01"), TInt32, "!42846"}, {mustParse(t, TDate, "2001-01-01"), TText, "2001-01-01"}, {TextValue("12"), TInt32, "12"}, {TextValue("x"), TInt32, "!22P02"},
		{TextValue("abcdef"), Type{Kind: Text, Len: 3}, "abc"}, {TextValue("äöüß"), Type{Kind: Text, Len: 3}, "äöü"}, {TextValue("ab"), Type{Kind: Text, Len: 3}, "ab"}, {NullOf(TUnknown), TDate, "NULL"}, {NullOf(TInt32), TText, "NULL"},
		{TextValue("1 day"), TInterval, "1 day"}, {TextValue("2001-02-03"), TDate, "2001-02-03"}, {i(12345), Type{Kind: Text, Len: 3}, "!22001"}, {TextValue(""), Type{Kind: Text, Len: 3}, ""},
	} {
		v, err := Cast(c.v, c.to)
		checkText(t, c.v.String()+" as "+c.to.String(), v, err, c.want)
		if err == nil && v.Type != c.to {
			t.Errorf("%s as %s has type %s", c.v, c.to, v.Type)
		}
	}
	if _, err := Assign(TextValue("abcd"), Type{Kind: Text, Len: 3}); err == nil || err.(*Error).Code != "22001" {
		t.Error(err)
	}
	if _, err := Cast(f(3e9), TInt32); err.Error() != "integer out of range (22003)" {
		t.Error(err)
	}
	if _, err := Cast(mustParse(t, TDate, "2001-01-01"), TInt32); err.Error() != "cannot cast type date to integer (42846)" {
		t.Error(err)
	}
}

func TestCompare(t *testing.T) {
	nan := FloatValue(TFloat64, math.NaN())
	for _, c := range []struct {
		a, b Value
		want int
	}{
		{IntValue(TInt32, 1), IntValue(TInt64, 2), -1}, {NullOf(TInt32), IntValue(TInt32, 1), 1}, {IntValue(TInt32, 1), NullOf(TInt32), -1}, {NullOf(TInt32), NullOf(TInt32), 0},
		{nan, FloatValue(TFloat64, math.Inf(1)), 1}, {nan, nan, 0}, {FloatValue(TFloat64, 0), FloatValue(TFloat64, math.Copysign(0, -1)), 0}, {IntValue(TInt32, 1), FloatValue(TFloat64, 1.5), -1},
		{mustParse(t, TDecimal(5, 2), "1.50"), mustParse(t, TDecimal(5, 1), "1.5"), 0}, {mustParse(t, TDecimal(5, 2), "1.51"), IntValue(TInt32, 1), 1},
		{mustParse(t, TDecimal(38, 0), strings.Repeat("9", 38)), mustParse(t, TDecimal(38, 38), "0.5"), 1}, {mustParse(t, TDecimal(38, 38), "0.5"), mustParse(t, TDecimal(38, 0), "-"+strings.Repeat("9", 38)), 1},
		{TextValue("a"), TextValue("b"), -1}, {TextValue("Z"), TextValue("a"), -1}, {TextValue("a"), TextValue("a\x00"), -1}, {BoolValue(false), BoolValue(true), -1},
		{mustParse(t, TDate, "2001-01-01"), mustParse(t, TTimestamp, "2001-01-01 00:00:01"), -1}, {mustParse(t, TTimestamp, "2001-01-01"), mustParse(t, TDate, "2001-01-01"), 0},
	} {
		if got := Compare(c.a, c.b); got != c.want {
			t.Errorf("Compare(%s, %s) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Compare(c.b, c.a); got != -c.want {
			t.Errorf("Compare(%s, %s) = %d, want %d", c.b, c.a, got, -c.want)
		}
	}
}

func TestArith(t *testing.T) {
	type op = func(a, b Value, t Type) (Value, error)
	i32 := func(x int64) Value { return IntValue(TInt32, x) }
	dec := TDecimal(38, 2)
	big := mustParse(t, dec, strings.Repeat("9", 36)+".99")
	f := func(x float64) Value { return FloatValue(TFloat64, x) }
	for _, c := range []struct {
		name string
		f    op
		a, b Value
		t    Type
		want string
	}{
		{"add", Add, i32(math.MaxInt32), i32(1), TInt32, "!22003"}, {"add", Add, i32(2), i32(3), TInt32, "5"}, {"sub", Sub, i32(math.MinInt32), i32(1), TInt32, "!22003"},
		{"mul", Mul, IntValue(TInt64, math.MaxInt64), IntValue(TInt64, 2), TInt64, "!22003"}, {"div", Div, i32(-7), i32(2), TInt32, "-3"}, {"div", Div, i32(1), i32(0), TInt32, "!22012"},
		{"div", Div, i32(math.MinInt32), i32(-1), TInt32, "!22003"}, {"div", Div, IntValue(TInt64, math.MinInt64), IntValue(TInt64, -1), TInt64, "!22003"}, {"mod", Mod, i32(-7), i32(2), TInt32, "-1"},
		{"mod", Mod, IntValue(TInt64, math.MinInt64), IntValue(TInt64, -1), TInt64, "0"}, {"add", Add, big, mustParse(t, dec, "0.01"), dec, "!22003"}, {"add", Add, big, mustParse(t, dec, "-0.01"), dec, strings.Repeat("9", 36) + ".98"},
		{"mul", Mul, mustParse(t, TDecimal(4, 2), "1.50"), mustParse(t, TDecimal(4, 2), "-0.25"), TDecimal(8, 4), "-0.3750"}, {"add", Add, NullOf(TInt32), i32(1), TInt32, "NULL"}, {"div", Div, NullOf(TInt32), i32(0), TInt32, "NULL"},
		{"div", Div, f(1), f(0), TFloat64, "!22012"}, {"mul", Mul, f(1e300), f(1e300), TFloat64, "!22003"}, {"mul", Mul, f(1e-300), f(1e-300), TFloat64, "!22003"}, {"mul", Mul, f(math.Inf(1)), f(2), TFloat64, "Infinity"}, {"div", Div, f(1), f(4), TFloat64, "0.25"},
		{"add", Add, mustParse(t, TInterval, "1 day"), mustParse(t, TInterval, "1 month -1 hour"), TInterval, "1 mon 1 day -01:00:00"}, {"sub", Sub, mustParse(t, TInterval, "1 day"), mustParse(t, TInterval, "2 days"), TInterval, "-1 days"},
		{"add", Add, mustParse(t, TInterval, "2147483647 days"), mustParse(t, TInterval, "1 day"), TInterval, "!22008"},
	} {
		v, err := c.f(c.a, c.b, c.t)
		checkText(t, c.a.String()+" "+c.name+" "+c.b.String(), v, err, c.want)
	}
	v, err := Neg(i32(math.MinInt32))
	checkText(t, "neg", v, err, "!22003")
	v, err = Neg(mustParse(t, dec, "1.25"))
	checkText(t, "neg", v, err, "-1.25")
	v, err = Neg(mustParse(t, TInterval, "1 day"))
	checkText(t, "neg", v, err, "-1 days")
}

func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{TextValue("o'clock"), "'o''clock'"}, {DateValue(0), "DATE '1970-01-01'"}, {IntValue(TInt32, -5), "-5"}, {NullOf(TDate), "NULL"}, {BoolValue(true), "true"},
		{IntervalValue(3, 0, 0), "INTERVAL '3 mons'"}, {FloatValue(TFloat64, math.NaN()), "DOUBLE 'NaN'"}, {FloatValue(TFloat64, 0.5), "0.5"},
	} {
		if got := c.v.Literal(); got != c.want {
			t.Errorf("Literal = %s, want %s", got, c.want)
		}
	}
}
