package scalar

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// CanEmit reports that call writes code for an operation, whatever its operands turn out to look
// like: it is decided by types and constants alone, before anything is compiled. What it
// denies is computed in Go (package eval) at a cut of the pipeline.
func CanEmit(x *plan.Call) bool {
	if MakesText(x) {
		return canMake(x)
	}
	switch x.Op {
	case plan.Add, plan.Sub, plan.Mul, plan.Div, plan.Neg:
		return x.T.Kind != types.Interval
	case plan.Mod:
		return x.T.IsInteger() || x.T.Kind == types.Decimal && !x.T.Wide() && !x.Args[0].Type().Wide() && !x.Args[1].Type().Wide()
	case plan.Abs, plan.Sign:
		return x.T.IsNumeric()
	case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge, plan.NotDistinct,
		plan.And, plan.Or, plan.Not, plan.IsNull, plan.IsTrue,
		plan.Case, plan.Coalesce, plan.NullIf, plan.Greatest, plan.Least:
		return true
	case plan.InList:
		for _, a := range x.Args[1:] {
			if constantOf(a) == nil {
				return false
			}
		}
		return true
	case plan.Substring, plan.Length, plan.OctetLength, plan.LeftStr, plan.RightStr, plan.StartsWith:
		return true
	case plan.Like, plan.Position:
		return constantOf(x.Args[1]) != nil
	case plan.Trim, plan.Ltrim, plan.Rtrim:
		c := constantOf(x.Args[1])
		return c != nil && trimSet(c.S)
	case plan.Extract:
		c := constantOf(x.Args[0])
		return c != nil && canExtract(c.S, x.Args[1].Type())
	case plan.DateTrunc:
		c := constantOf(x.Args[0])
		return c != nil && truncUnits[c.S]
	case plan.DateAdd, plan.DateSub:
		return true
	case plan.AddInterval:
		c := constantOf(x.Args[1])
		return c != nil && canAddInterval(c)
	case plan.Floor, plan.Ceil, plan.Round, plan.Trunc:
		return canRound(x)
	case plan.Sqrt:
		return x.Args[0].Type().IsFloat()
	case plan.Apply:
		return x.Matching() != nil || countsElements(x) || x.Fn.Formula != nil
	case plan.Cast:
		return canCast(x.Args[0].Type(), x.T)
	}
	return false
}

// countsElements reports the length of a list whose elements are all of one size.
func countsElements(x *plan.Call) bool {
	if x.Fn.Name != "len" || len(x.Args) != 1 || x.Args[0].Type().Kind != types.List {
		return false
	}
	_, ok := types.FixedElem(x.Args[0].Type().Elem())
	return ok
}

// CanEmitTextless is CanEmit where it is left out that generated code makes texts.
func CanEmitTextless(x *plan.Call) bool { return !MakesText(x) && CanEmit(x) }

// constantOf is the value of a literal that is not NULL.
func constantOf(x plan.Expr) *types.Value {
	if c, ok := x.(*plan.Const); ok && !c.V.Null {
		return &c.V
	}
	return nil
}

func canRound(x *plan.Call) bool {
	t := x.Args[0].Type()
	if t.Kind != types.Decimal {
		return len(x.Args) == 1 || t.IsInteger()
	}
	digits := 0
	if len(x.Args) > 1 {
		c := constantOf(x.Args[1])
		if c == nil {
			return false
		}
		digits = int(min(max(c.I, -100), int64(t.Scale)))
	}
	return digits >= -types.MaxPrecision
}

// canCast reports that cast has code for the types. From doubles to decimals it has none:
// PostgreSQL rounds the decimal text of the double, not the double.
func canCast(from, to types.Type) bool {
	switch {
	case from == to, from.Kind == types.Text && to.Kind == types.Text:
		return true
	case isExact(from) && isExact(to), isExact(from) && to.IsFloat(), from.IsFloat() && to.IsFloat(), from.IsFloat() && to.IsInteger():
		return true
	case from.IsCalendar() && to.IsCalendar():
		return true
	}
	return from.Kind == types.Bool && to.IsInteger() || from.IsInteger() && to.Kind == types.Bool
}

// canExtract reports that extract has code for a field: all but the rare ones.
func canExtract(field string, t types.Type) bool {
	switch t.Kind {
	case types.Date, types.Timestamp:
		switch field {
		case "year", "isoyear", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "minute", "second",
			"milliseconds", "microseconds", "epoch":
			return true
		}
	}
	return false
}

// truncUnits are the fields to which dateTrunc has code to cut.
var truncUnits = map[string]bool{"microseconds": true, "milliseconds": true, "second": true, "minute": true, "hour": true,
	"day": true, "week": true, "month": true, "quarter": true, "year": true}

// trimSet reports a set of characters that can be trimmed byte by byte.
func trimSet(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return len(s) <= 8
}
