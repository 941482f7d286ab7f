package eval

import (
	"math"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

func text(s string) plan.Expr   { return plan.NewConst(types.TextValue(s)) }
func num(i int64) plan.Expr     { return plan.NewConst(types.IntValue(types.TInt64, i)) }
func float(f float64) plan.Expr { return plan.NewConst(types.FloatValue(types.TFloat64, f)) }
func null(t types.Type) plan.Expr {
	return plan.NullConst(t)
}

// value reads a literal of a type.
func value(t types.Type, s string) plan.Expr {
	v, err := types.ParseValue(t, s)
	if err != nil {
		panic(err)
	}
	return plan.NewConst(v)
}

func op(o plan.Op, t types.Type, args ...plan.Expr) *plan.Call {
	return &plan.Call{Op: o, T: t, Args: args, Pos: 7}
}

// TestValues: what PostgreSQL 16 says.
func TestValues(t *testing.T) {
	tx, b, i, f, iv, ts := types.TText, types.TBool, types.TInt64, types.TFloat64, types.TInterval, types.TTimestamp
	dec := types.TDecimal
	for _, c := range []struct {
		x    plan.Expr
		want string
	}{
		{op(plan.Lower, tx, text("ÄÖ Straße")), "äö straße"},
		{op(plan.Upper, tx, text("äb")), "ÄB"},
		{op(plan.Concat, tx, text("a"), text(""), text("ü")), "aü"},
		{op(plan.Concat, tx, text("a"), null(tx)), "NULL"},
		{op(plan.Trim, tx, text("xxaxx"), text("x")), "a"},
		{op(plan.Ltrim, tx, text("éaé"), text("é")), "aé"},
		{op(plan.Rtrim, tx, text("  "), text(" ")), ""},
		{op(plan.Replace, tx, text("abcabc"), text("bc"), text("-")), "a-a-"},
		{op(plan.Replace, tx, text("abc"), text(""), text("-")), "abc"},
		{op(plan.Position, i, text("日本語"), text("語")), "3"},
		{op(plan.Position, i, text("abc"), text("")), "1"},
		{op(plan.Position, i, text("abc"), text("x")), "0"},
		{op(plan.LeftStr, tx, text("日本語"), num(2)), "日本"},
		{op(plan.LeftStr, tx, text("日本語"), num(-2)), "日"},
		{op(plan.LeftStr, tx, text("abc"), num(-5)), ""},
		{op(plan.RightStr, tx, text("abc"), num(2)), "bc"},
		{op(plan.RightStr, tx, text("abc"), num(-1)), "bc"},
		{op(plan.RightStr, tx, text("abc"), num(math.MinInt64)), ""},
		{op(plan.RightStr, tx, text("abc"), num(9)), "abc"},
		{op(plan.Substring, tx, text("abcdef"), num(-1), num(4)), "ab"},
		{op(plan.Substring, tx, text("abcdef"), num(3), num(math.MaxInt64)), "cdef"},
		{op(plan.Like, b, text("a%b"), text(`a\%_`)), "true"},
		{op(plan.Like, b, text("日本"), text("_本")), "true"},
		{op(plan.Like, b, text("abcbc"), text("%bc")), "true"},
		{op(plan.StartsWith, b, text("abc"), text("ab")), "true"},

		{op(plan.Round, dec(5, 1), value(dec(5, 2), "2.25"), num(1)), "2.3"},
		{op(plan.Round, dec(5, 0), value(dec(5, 2), "-2.50"), num(0)), "-3"},
		{op(plan.Round, dec(6, 0), value(dec(5, 2), "155.00"), num(-1)), "160"},
		{op(plan.Round, dec(6, 0), value(dec(5, 2), "155.00"), num(-60)), "0"},
		{op(plan.Trunc, dec(5, 1), value(dec(5, 2), "-2.29"), num(1)), "-2.2"},
		{op(plan.Floor, dec(5, 0), value(dec(5, 2), "-2.01")), "-3"},
		{op(plan.Ceil, dec(5, 0), value(dec(5, 2), "2.01")), "3"},
		{op(plan.Ceil, dec(5, 0), value(dec(5, 2), "-2.99")), "-2"},
		{op(plan.Round, f, float(2.5)), "2"},
		{op(plan.Sign, dec(5, 2), value(dec(5, 2), "-0.01")), "-1.00"},
		{op(plan.Sign, f, float(math.NaN())), "0"},
		{op(plan.Sqrt, f, float(0)), "0"},
		{op(plan.Sqrt, f, float(math.Copysign(0, -1))), "-0"},
		{op(plan.Sqrt, f, float(2.25)), "1.5"},
		{op(plan.Power, f, float(2), float(0.5)), "1.4142135623730951"},
		{op(plan.Power, f, float(0), float(0)), "1"},
		{op(plan.Exp, f, float(math.Inf(-1))), "0"},
		{op(plan.Ln, f, float(1)), "0"},
		{op(plan.Mod, dec(30, 2), value(dec(30, 2), "-123456789012345678901.25"), value(dec(30, 2), "7.50")), "-1.25"},
		{op(plan.Greatest, i, null(i), num(3), num(-1)), "3"},
		{op(plan.Least, i, null(i), null(i)), "NULL"},

		{op(plan.DateTrunc, ts, text("quarter"), value(ts, "2024-05-31 10:00:00")), "2024-04-01 00:00:00"},
		{op(plan.AddInterval, ts, value(ts, "2024-01-31 10:00:00"), value(iv, "1 mon")), "2024-02-29 10:00:00"},
		{op(plan.Sub, iv, value(ts, "2024-03-01 00:00:00"), value(ts, "2024-02-01 12:00:00")), "28 days 12:00:00"},
		{op(plan.Mul, iv, value(iv, "1 mon"), float(1.5)), "1 mon 15 days"},
		{op(plan.Div, iv, value(iv, "1 day"), num(4)), "06:00:00"},
		{op(plan.Add, iv, value(iv, "1 mon"), value(iv, "-3 days")), "1 mon -3 days"},
		{op(plan.Extract, dec(24, 6), text("epoch"), value(iv, "1 day 00:00:01.5")), "86401.500000"},

		{op(plan.Cast, types.Type{Kind: types.Text, Len: 2}, text("日本語")), "日本"},
		{op(plan.Cast, types.TInt32, text(" 42 ")), "42"},
		{op(plan.Cast, dec(4, 1), float(0.25)), "0.3"},
		{op(plan.Cast, b, text("off")), "false"},

		// Operands that do not decide are not looked at.
		{op(plan.And, b, plan.BoolConst(false), op(plan.Eq, b, op(plan.Div, i, num(1), num(0)), num(1))), "false"},
		{op(plan.Or, b, null(b), plan.BoolConst(true)), "true"},
		{op(plan.And, b, null(b), plan.BoolConst(true)), "NULL"},
		{op(plan.Case, i, plan.BoolConst(false), op(plan.Div, i, num(1), num(0)), num(5)), "5"},
		{op(plan.Case, i, null(b), num(1)), "NULL"},
		{op(plan.Coalesce, i, num(2), op(plan.Div, i, num(1), num(0))), "2"},
		{op(plan.InList, b, num(1), num(2), null(i)), "NULL"},
		{op(plan.NullIf, i, num(1), num(1)), "NULL"},
		{op(plan.NotDistinct, b, null(i), null(i)), "true"},
	} {
		v, err := Expr(c.x, nil)
		if err != nil || v.String() != c.want || v.Type != c.x.Type() {
			t.Errorf("%s: %s %s %v, want %s", plan.FormatExpr(&plan.Columns{}, c.x), v.Type, v, err, c.want)
		}
	}
}

// TestErrors: errors have PostgreSQL's codes, and the place of the call.
func TestErrors(t *testing.T) {
	tx, i, f := types.TText, types.TInt64, types.TFloat64
	for _, c := range []struct {
		x    plan.Expr
		code string
	}{
		{op(plan.Substring, tx, text("abc"), num(1), num(-1)), diag.SubstringError},
		{op(plan.Like, types.TBool, text("abc"), text(`a\`)), diag.InvalidEscapeSequence},
		{op(plan.Sqrt, f, float(-1)), "2201F"},
		{op(plan.Power, f, float(0), float(-1)), "2201F"},
		{op(plan.Power, f, float(-8), float(0.5)), "2201F"},
		{op(plan.Power, f, float(1e300), float(2)), diag.NumericOutOfRange},
		{op(plan.Exp, f, float(1000)), diag.NumericOutOfRange},
		{op(plan.Exp, f, float(-1000)), diag.NumericOutOfRange},
		{op(plan.Ln, f, float(0)), "2201E"},
		{op(plan.Log10, f, float(-1)), "2201E"},
		{op(plan.Div, i, num(1), num(0)), diag.DivisionByZero},
		{op(plan.Abs, i, num(math.MinInt64)), diag.NumericOutOfRange},
		{op(plan.DateAdd, types.TDate, value(types.TDate, "2000-01-01"), num(math.MaxInt64)), diag.DatetimeOverflow},
		{op(plan.Round, types.TDecimal(4, 0), value(types.TDecimal(4, 0), "9999"), num(-1)), diag.NumericOutOfRange},
		{op(plan.Cast, types.TInt32, text("x")), diag.InvalidTextRepresentation},
		{op(plan.Cast, types.TDate, text("2001-02-30")), diag.DatetimeOverflow},
	} {
		_, err := Expr(op(plan.IsNull, types.TBool, c.x), nil)
		e, ok := err.(*diag.Error)
		if !ok || e.Code != c.code || e.Pos != 7 {
			t.Errorf("%s: %v, want %s", plan.FormatExpr(&plan.Columns{}, c.x), err, c.code)
		}
	}
}

// TestAllocations: what needs no new text needs no memory.
func TestAllocations(t *testing.T) {
	v := types.FloatValue(types.TFloat64, 3)
	cols := func(plan.ColID) (types.Value, bool) { return v, true }
	x := op(plan.Power, types.TFloat64, op(plan.Add, types.TFloat64, &plan.Ref{ID: 1, T: types.TFloat64}, float(1)), float(2))
	for _, x := range []plan.Expr{x, op(plan.Greatest, types.TFloat64, x, float(1), float(2), float(3))} {
		if n := testing.AllocsPerRun(100, func() { Expr(x, cols) }); n > 0 {
			t.Errorf("%s: %v allocations", plan.FormatExpr(&plan.Columns{}, x), n)
		}
	}
}

// TestRoom: a text of as many bytes as a text may have is made if there is room for it, and not one of a byte more.
func TestRoom(t *testing.T) {
	made := 0
	x := func(size int64) plan.Expr {
		return plan.NewApply(&plan.Function{Name: "large", Size: func([]types.Value) int64 { return size },
			Eval: func([]types.Value, types.Type) (types.Value, error) {
				made++
				return types.TextValue("large"), nil
			}}, types.TText, 7)
	}
	if _, err := Expr(x(LongestText), nil); err != nil || made != 1 {
		t.Error("the longest:", err)
	}
	if _, err := Expr(x(LongestText+1), nil); diag.CodeOf(err) != diag.ProgramLimitExceeded || made != 1 {
		t.Error("a byte more:", err)
	}
}
