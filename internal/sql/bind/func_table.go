package bind

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// fn is a scalar function.
type fn struct {
	name string
	// args has a letter per parameter: t text, i integer, f double, n any number, d date,
	// timestamp or interval, * anything; "…" at the end for any number more. The arguments are
	// cast to it.
	args string
	min  int // number of arguments required; -1: build looks at the call itself
	// The call is op with type result, unless build makes it.
	op     plan.Op
	result types.Type
	build  func(*binder, *call) plan.Expr
}

// funcs has one row per function, sorted by name. It is filled by init because the rows
// refer to functions that look into it.
var funcs []fn

func init() {
	funcs = []fn{
		{"abs", "n", 1, plan.Abs, types.Type{}, sameType(plan.Abs)},
		{"age", "", -1, 0, types.Type{}, notYet},
		{"array_agg", "", -1, 0, types.Type{}, notYet},
		{"btrim", "tt", 1, plan.Trim, types.TText, trim(plan.Trim)},
		{"ceil", "n", 1, 0, types.Type{}, rounding(plan.Ceil)},
		{"ceiling", "n", 1, 0, types.Type{}, rounding(plan.Ceil)},
		{"char_length", "t", 1, plan.Length, types.TInt32, nil},
		{"character_length", "t", 1, plan.Length, types.TInt32, nil},
		{"coalesce", "*…", 1, 0, types.Type{}, variadic(plan.Coalesce)},
		{"concat", "*…", 1, 0, types.Type{}, (*binder).concatFunc},
		{"concat_ws", "", -1, 0, types.Type{}, notYet},
		{"count_if", "", -1, 0, types.Type{}, notYet},
		{"current_catalog", "", 0, 0, types.Type{}, constant("kelpie")},
		{"current_database", "", 0, 0, types.Type{}, constant("kelpie")},
		{"current_date", "", 0, 0, types.Type{}, (*binder).currentDate},
		{"current_role", "", 0, 0, types.Type{}, constant("kelpie")},
		{"current_schema", "", 0, 0, types.Type{}, constant("public")},
		{"current_timestamp", "i", 0, 0, types.Type{}, (*binder).currentTimestamp},
		{"current_user", "", 0, 0, types.Type{}, constant("kelpie")},
		{"date", "*", 1, 0, types.Type{}, (*binder).dateFunc},
		{"date_part", "td", 2, 0, types.Type{}, (*binder).datePart},
		{"date_trunc", "td", 2, 0, types.Type{}, (*binder).dateTrunc},
		{"datepart", "td", 2, 0, types.Type{}, (*binder).datePart},
		{"day", "d", 1, 0, types.Type{}, part("day")},
		{"dayofweek", "d", 1, 0, types.Type{}, part("dow")},
		{"dayofyear", "d", 1, 0, types.Type{}, part("doy")},
		{"exp", "f", 1, plan.Exp, types.TFloat64, nil},
		{"floor", "n", 1, 0, types.Type{}, rounding(plan.Floor)},
		{"greatest", "*…", 1, 0, types.Type{}, variadic(plan.Greatest)},
		{"hour", "d", 1, 0, types.Type{}, part("hour")},
		{"ifnull", "**", 2, 0, types.Type{}, variadic(plan.Coalesce)},
		{"initcap", "", -1, 0, types.Type{}, notYet},
		{"least", "*…", 1, 0, types.Type{}, variadic(plan.Least)},
		{"left", "ti", 2, plan.LeftStr, types.TText, nil},
		{"length", "t", 1, plan.Length, types.TInt32, nil},
		{"ln", "f", 1, plan.Ln, types.TFloat64, nil},
		{"localtimestamp", "i", 0, 0, types.Type{}, (*binder).currentTimestamp},
		{"log", "ff", 1, 0, types.Type{}, (*binder).logFunc},
		{"log10", "f", 1, plan.Log10, types.TFloat64, nil},
		{"lower", "t", 1, plan.Lower, types.TText, nil},
		{"lpad", "", -1, 0, types.Type{}, notYet},
		{"ltrim", "tt", 1, plan.Ltrim, types.TText, trim(plan.Ltrim)},
		{"make_date", "iii", 3, 0, types.Type{}, (*binder).makeDate},
		{"median", "", -1, 0, types.Type{}, notYet},
		{"minute", "d", 1, 0, types.Type{}, part("minute")},
		{"mod", "nn", 2, 0, types.Type{}, (*binder).modFunc},
		{"month", "d", 1, 0, types.Type{}, part("month")},
		{"now", "", 0, 0, types.Type{}, (*binder).currentTimestamp},
		{"nullif", "**", 2, 0, types.Type{}, (*binder).nullIf},
		{"octet_length", "t", 1, plan.OctetLength, types.TInt32, nil},
		{"overlay", "", -1, 0, types.Type{}, notYet},
		{"pi", "", 0, 0, types.Type{}, (*binder).pi},
		{"position", "tt", 2, 0, types.Type{}, (*binder).positionFunc},
		{"pow", "ff", 2, plan.Power, types.TFloat64, nil},
		{"power", "ff", 2, plan.Power, types.TFloat64, nil},
		{"quarter", "d", 1, 0, types.Type{}, part("quarter")},
		{"random", "", -1, 0, types.Type{}, notYet},
		{"regexp_matches", "", -1, 0, types.Type{}, notYet},
		{"regexp_replace", "", -1, 0, types.Type{}, notYet},
		{"repeat", "", -1, 0, types.Type{}, notYet},
		{"replace", "ttt", 3, plan.Replace, types.TText, nil},
		{"reverse", "", -1, 0, types.Type{}, notYet},
		{"right", "ti", 2, plan.RightStr, types.TText, nil},
		{"round", "ni", 1, 0, types.Type{}, cut(plan.Round)},
		{"rpad", "", -1, 0, types.Type{}, notYet},
		{"rtrim", "tt", 1, plan.Rtrim, types.TText, trim(plan.Rtrim)},
		{"second", "d", 1, 0, types.Type{}, part("second")},
		{"session_user", "", 0, 0, types.Type{}, constant("kelpie")},
		{"sign", "n", 1, 0, types.Type{}, sign},
		{"split_part", "", -1, 0, types.Type{}, notYet},
		{"sqrt", "f", 1, plan.Sqrt, types.TFloat64, nil},
		{"starts_with", "tt", 2, plan.StartsWith, types.TBool, nil},
		{"string_agg", "", -1, 0, types.Type{}, notYet},
		{"strpos", "tt", 2, plan.Position, types.TInt32, nil},
		{"substr", "tii", 2, 0, types.Type{}, (*binder).substring},
		{"substring", "tii", 2, 0, types.Type{}, (*binder).substring},
		{"to_char", "", -1, 0, types.Type{}, notYet},
		{"to_date", "", -1, 0, types.Type{}, notYet},
		{"to_number", "", -1, 0, types.Type{}, notYet},
		{"to_timestamp", "", -1, 0, types.Type{}, notYet},
		{"transaction_timestamp", "", 0, 0, types.Type{}, (*binder).currentTimestamp},
		{"translate", "", -1, 0, types.Type{}, notYet},
		{"trim", "tt", 1, plan.Trim, types.TText, trim(plan.Trim)},
		{"trunc", "ni", 1, 0, types.Type{}, cut(plan.Trunc)},
		{"upper", "t", 1, plan.Upper, types.TText, nil},
		{"user", "", 0, 0, types.Type{}, constant("kelpie")},
		{"version", "", 0, 0, types.Type{}, constant(version)},
		{"week", "d", 1, 0, types.Type{}, part("week")},
		{"year", "d", 1, 0, types.Type{}, part("year")},
	}
}
