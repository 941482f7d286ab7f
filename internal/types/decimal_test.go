package types

import (
	"errors"
	"math/big"
	"strings"
	"testing"
)

func TestParseDecimal(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, c := range []struct {
		in      string
		want    string
		scale   int
		fit, ok bool
	}{
		{"0", "0", 0, true, true},
		{"1.50", "1.50", 2, true, true},
		{" -.5 ", "-0.5", 1, true, true},
		{"5.", "5", 0, true, true},
		{"+12.34e1", "123.4", 1, true, true},
		{"1e3", "1000", 0, true, true},
		{"1E-3", "0.001", 3, true, true},
		{"0e999999999999", "0", 0, true, true},
		{nines, nines, 0, true, true},
		{"-0." + nines, "-0." + nines, 38, true, true},
		{"0.5" + strings.Repeat("0", 60), "0.5" + strings.Repeat("0", 37), 38, true, true},
		{nines + "0", "", 0, false, true},
		{"1e38", "", 0, false, true},
		{"1e-39", "", 0, false, true},
		{"1e99999999999999999999", "", 0, false, true},
		{"", "", 0, false, false}, {".", "", 0, false, false}, {"-", "", 0, false, false},
		{"1.2.3", "", 0, false, false}, {"1e", "", 0, false, false}, {"1e+", "", 0, false, false},
		{"abc", "", 0, false, false}, {"1 2", "", 0, false, false}, {"NaN", "", 0, false, false},
		{"1e5x", "", 0, false, false}, {"--1", "", 0, false, false},
	} {
		x, scale, fit, ok := ParseDecimal(c.in)
		if ok != c.ok || fit != c.fit || ok && fit && (scale != c.scale || string(AppendDecimal(nil, x, scale)) != c.want) {
			t.Errorf("ParseDecimal(%q) = %s, %d, %v, %v", c.in, AppendDecimal(nil, x, scale), scale, fit, ok)
		}
	}
}

func TestParseDecimalAs(t *testing.T) {
	for _, c := range []struct {
		in          string
		prec, scale int
		want        string
	}{
		{"1.005", 5, 2, "1.01"}, {"-1.005", 5, 2, "-1.01"}, {"1.0049999999999999999999999999999999999999999999999999", 5, 2, "1.00"},
		{"0.005", 5, 2, "0.01"}, {"0.0049", 5, 2, "0.00"}, {"-0.004", 5, 2, "0.00"}, {"0.5", 1, 0, "1"}, {"0.05", 1, 0, "0"},
		{"999.994", 5, 2, "999.99"}, {"999.995", 5, 2, "!22003"}, {"1000", 5, 2, "!22003"}, {"7", 38, 38, "!22003"},
		{"12e2", 5, 1, "1200.0"}, {"1e-400", 5, 2, "0.00"}, {"1e400", 5, 2, "!22003"}, {"x", 5, 2, "!22P02"},
		{"99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999"},
		{"99999999999999999999999999999999999999.5", 38, 0, "!22003"},
		{strings.Repeat("0", 100) + "1", 5, 2, "1.00"}, {"0e400", 5, 2, "0.00"},
	} {
		v, err := ParseValue(TDecimal(c.prec, c.scale), c.in)
		checkText(t, "decimal "+c.in, v, err, c.want)
	}
}

// checkText compares a result with its text, or with !SQLSTATE for an error.
func checkText(t *testing.T, what string, v Value, err error, want string) {
	t.Helper()
	got := v.String()
	if err != nil {
		got = "!" + err.(*Error).Code
	}
	if got != want {
		t.Errorf("%s: got %s, want %s (%v)", what, got, want, err)
	}
}

func TestRescale(t *testing.T) {
	ten := big.NewInt(10)
	for _, x := range someInts(300) {
		for from := 0; from <= 38; from += 3 {
			for to := 0; to <= 38; to += 2 {
				// round half away from zero, in big integers
				want := x.ToBig()
				if to >= from {
					want.Mul(want, new(big.Int).Exp(ten, big.NewInt(int64(to-from)), nil))
				} else {
					p := new(big.Int).Exp(ten, big.NewInt(int64(from-to)), nil)
					half := new(big.Int).Rsh(p, 1)
					if want.Sign() < 0 {
						half.Neg(half)
					}
					want.Quo(want.Add(want, half), p)
				}
				fits := want.CmpAbs(Pow10(38).ToBig()) < 0
				got, ok := Rescale(x, from, to)
				if ok != fits || ok && got.ToBig().Cmp(want) != 0 {
					t.Fatalf("Rescale(%v, %d, %d) = %v, %v; want %v, %v", x, from, to, got, ok, want, fits)
				}
			}
		}
	}
}

func TestAppendDecimal(t *testing.T) {
	for _, c := range []struct {
		x     int64
		scale int
		want  string
	}{{0, 0, "0"}, {0, 2, "0.00"}, {5, 2, "0.05"}, {-5, 2, "-0.05"}, {105, 2, "1.05"}, {-100, 0, "-100"}, {7, 1, "0.7"}, {1, 38, "0." + strings.Repeat("0", 37) + "1"}} {
		if got := string(AppendDecimal(nil, FromInt64(c.x), c.scale)); got != c.want {
			t.Errorf("AppendDecimal(%d, %d) = %s, want %s", c.x, c.scale, got, c.want)
		}
	}
	for _, x := range someInts(500) {
		if !FitsPrecision(x, 38) {
			continue
		}
		for _, scale := range []int{0, 1, 7, 18, 19, 20, 37, 38} {
			text := string(AppendDecimal(nil, x, scale))
			back, s, fit, ok := ParseDecimal(text)
			if !ok || !fit || s != scale || back != x {
				t.Fatalf("%v scale %d printed as %s, read as %v scale %d", x, scale, text, back, s)
			}
		}
	}
}

func TestDecimalFloat(t *testing.T) {
	for _, c := range []struct {
		x     int64
		scale int
		want  float64
	}{{15, 1, 1.5}, {1, 1, 0.1}, {-12345, 3, -12.345}, {1234567890123456789, 10, 123456789.0123456789}, {1, 25, 1e-25}} {
		if got := DecimalFloat(FromInt64(c.x), c.scale); got != c.want {
			t.Errorf("DecimalFloat(%d, %d) = %v", c.x, c.scale, got)
		}
	}
}

func TestDerive(t *testing.T) {
	dec := TDecimal
	type pair = func(a, b Type) (Type, bool)
	for _, c := range []struct {
		name string
		f    pair
		a, b Type
		want string // "" = none
	}{
		{"common", CommonType, TInt16, TInt64, "BIGINT"},
		{"common", CommonType, TInt32, dec(15, 2), "DECIMAL(15,2)"},
		{"common", CommonType, TInt64, dec(15, 2), "DECIMAL(21,2)"},
		{"common", CommonType, dec(10, 1), dec(6, 4), "DECIMAL(13,4)"},
		{"common", CommonType, dec(38, 0), dec(38, 10), "DECIMAL(38,10)"},
		{"common", CommonType, dec(10, 1), TFloat32, "DOUBLE"},
		{"common", CommonType, TFloat32, TFloat32, "REAL"},
		{"common", CommonType, TInt32, TFloat32, "DOUBLE"},
		{"common", CommonType, TDate, TTimestamp, "TIMESTAMP"},
		{"common", CommonType, TUnknown, TDate, "DATE"},
		{"common", CommonType, TBool, TUnknown, "BOOLEAN"},
		{"common", CommonType, Type{Kind: Text, Len: 3}, Type{Kind: Text, Len: 7}, "VARCHAR(7)"},
		{"common", CommonType, Type{Kind: Text, Len: 3}, TText, "VARCHAR"},
		{"common", CommonType, TText, TInt32, ""},
		{"common", CommonType, TBool, TInt32, ""},
		{"add", AddType, TInt32, TInt64, "BIGINT"},
		{"add", AddType, dec(15, 2), dec(15, 2), "DECIMAL(16,2)"},
		{"add", AddType, TInt32, dec(15, 2), "DECIMAL(16,2)"},
		{"add", AddType, dec(38, 2), dec(1, 0), "DECIMAL(38,2)"},
		{"add", AddType, TDate, TInt32, ""},
		{"mul", MulType, dec(15, 2), dec(16, 2), "DECIMAL(31,4)"},
		{"mul", MulType, dec(31, 4), dec(16, 2), "DECIMAL(38,6)"},
		{"mul", MulType, dec(38, 30), dec(38, 30), "DECIMAL(38,30)"},
		{"mul", MulType, dec(20, 15), dec(20, 15), "DECIMAL(38,28)"},
		{"mul", MulType, dec(30, 20), dec(30, 20), "DECIMAL(38,20)"},
		{"mul", MulType, dec(38, 10), dec(38, 10), "DECIMAL(38,20)"},
		{"mul", MulType, TInt16, dec(4, 2), "DECIMAL(9,2)"},
		{"mul", MulType, TInt16, TInt32, "INTEGER"},
		{"mul", MulType, TInt32, TText, ""},
		{"mul", MulType, TDate, dec(4, 2), ""},
		{"div", DivType, dec(4, 2), TInt32, "DECIMAL(22,20)"},
		{"div", DivType, dec(15, 2), dec(15, 2), "DECIMAL(35,20)"},
		{"div", DivType, dec(20, 0), TInt32, "DECIMAL(38,18)"},
		{"div", DivType, dec(19, 0), dec(18, 4), "DECIMAL(38,15)"},
		{"div", DivType, dec(26, 0), TInt32, "DECIMAL(38,12)"},
		{"div", DivType, dec(27, 0), TInt32, "DECIMAL(38,16)"},
		{"div", DivType, dec(38, 4), dec(38, 4), "DECIMAL(38,16)"},
		{"div", DivType, dec(38, 30), dec(10, 9), "DECIMAL(38,30)"},
		{"div", DivType, TFloat32, dec(10, 9), "DOUBLE"},
		{"div", DivType, TInt32, TInt32, "INTEGER"},
		{"mod", ModType, dec(4, 2), TInt32, "DECIMAL(12,2)"},
	} {
		got, ok := c.f(c.a, c.b)
		if ok != (c.want != "") || ok && got.String() != c.want {
			t.Errorf("%s(%s, %s) = %s, %v; want %s", c.name, c.a, c.b, got, ok, c.want)
		}
	}
	for _, c := range []struct {
		a    Type
		want string
	}{{TInt16, "BIGINT"}, {TInt32, "BIGINT"}, {TInt64, "DECIMAL(38,0)"}, {dec(15, 2), "DECIMAL(38,2)"}, {TFloat32, "REAL"}, {TFloat64, "DOUBLE"}, {TInterval, "INTERVAL"}} {
		if got, ok := SumType(c.a); !ok || got.String() != c.want {
			t.Errorf("sum(%s) is %s", c.a, got)
		}
	}
	if _, ok := SumType(TText); ok {
		t.Error("sum(text) exists")
	}
	for _, c := range []struct {
		a    Type
		want string
	}{{TInt16, "DECIMAL(25,20)"}, {TInt32, "DECIMAL(30,20)"}, {TInt64, "DECIMAL(38,19)"}, {dec(15, 2), "DECIMAL(33,20)"}, {dec(38, 2), "DECIMAL(38,16)"},
		{dec(38, 38), "DECIMAL(38,38)"}, {TFloat32, "DOUBLE"}, {TFloat64, "DOUBLE"}, {TInterval, "INTERVAL"}} {
		if got, ok := AvgType(c.a); !ok || got.String() != c.want {
			t.Errorf("avg(%s) is %s", c.a, got)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for _, c := range []struct{ in, typ, text string }{
		{"1", "INTEGER", "1"}, {"2147483648", "BIGINT", "2147483648"}, {"9223372036854775808", "DECIMAL(19,0)", "9223372036854775808"},
		{"0.05", "DECIMAL(2,2)", "0.05"}, {"1.50", "DECIMAL(3,2)", "1.50"}, {"0.0", "DECIMAL(1,1)", "0.0"}, {"5.", "DECIMAL(1,0)", "5"},
		{"1e3", "DOUBLE", "1000"}, {strings.Repeat("1", 38), "DECIMAL(38,0)", strings.Repeat("1", 38)},
		{"-2147483648", "INTEGER", "-2147483648"}, {"-9223372036854775808", "BIGINT", "-9223372036854775808"},
	} {
		v, err := ParseNumber(c.in)
		if err != nil || v.Type.String() != c.typ || v.String() != c.text {
			t.Errorf("ParseNumber(%s) = %s %s, %v", c.in, v.Type, v, err)
		}
	}
	if _, err := ParseNumber("1x"); err == nil {
		t.Error("1x is a number")
	}
	for _, long := range []string{strings.Repeat("1", 39), "0." + strings.Repeat("1", 39), "1" + strings.Repeat("0", 38) + ".5"} {
		var e *Error
		if _, err := ParseNumber(long); !errors.As(err, &e) || e.Code != codeOutOfRange {
			t.Errorf("ParseNumber(%s): %v", long, err)
		}
	}
}
