package eval

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// apply is one operation on operands that are not NULL, unless it is one that looks at NULLs.
// The caller gives the result its type.
func apply(x *plan.Call, a []types.Value) (types.Value, error) {
	switch x.Op {
	// Arithmetic.
	case plan.Add:
		return types.Add(a[0], a[1], x.T)
	case plan.Sub:
		if a[0].Type.Kind == types.Timestamp {
			return types.SubTimestamps(a[0].I, a[1].I)
		}
		return types.Sub(a[0], a[1], x.T)
	case plan.Mul:
		if x.T.Kind == types.Interval {
			return types.ScaleInterval(a[0], a[1].Float(), false)
		}
		return types.Mul(a[0], a[1], x.T)
	case plan.Div:
		if x.T.Kind == types.Interval {
			return types.ScaleInterval(a[0], a[1].Float(), true)
		}
		return types.Div(a[0], a[1], x.T)
	case plan.Mod:
		return types.Mod(a[0], a[1], x.T)
	case plan.Neg:
		return types.Neg(a[0])

	// Comparison and logic.
	case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge:
		return types.BoolValue(Holds(x.Op, types.Compare(a[0], a[1]))), nil
	case plan.NotDistinct:
		return types.BoolValue(types.Compare(a[0], a[1]) == 0), nil
	case plan.Not:
		return types.BoolValue(a[0].I == 0), nil
	case plan.IsNull:
		return types.BoolValue(a[0].Null), nil
	case plan.IsTrue:
		return types.BoolValue(!a[0].Null && a[0].I != 0), nil
	case plan.NullIf:
		if !a[0].Null && !a[1].Null && types.Compare(a[0], a[1]) == 0 {
			return types.NullOf(x.T), nil
		}
		return a[0], nil
	case plan.InList:
		return inList(a), nil
	case plan.Greatest, plan.Least:
		return extreme(x, a), nil

	// Text.
	case plan.Like:
		return like(a[0].S, a[1].S)
	case plan.StartsWith:
		return types.BoolValue(strings.HasPrefix(a[0].S, a[1].S)), nil
	case plan.Length:
		return types.IntValue(x.T, int64(utf8.RuneCountInString(a[0].S))), nil
	case plan.OctetLength:
		return types.IntValue(x.T, int64(len(a[0].S))), nil
	case plan.Position:
		return types.IntValue(x.T, position(a[0].S, a[1].S)), nil
	case plan.Substring:
		return substring(a)
	case plan.LeftStr:
		return types.TextValue(left(a[0].S, a[1].I)), nil
	case plan.RightStr:
		return types.TextValue(right(a[0].S, a[1].I)), nil
	case plan.Lower:
		return types.TextValue(strings.ToLower(a[0].S)), nil
	case plan.Upper:
		return types.TextValue(strings.ToUpper(a[0].S)), nil
	case plan.Concat:
		return types.TextValue(concat(a)), nil
	case plan.Trim:
		return types.TextValue(strings.Trim(a[0].S, a[1].S)), nil
	case plan.Ltrim:
		return types.TextValue(strings.TrimLeft(a[0].S, a[1].S)), nil
	case plan.Rtrim:
		return types.TextValue(strings.TrimRight(a[0].S, a[1].S)), nil
	case plan.Replace:
		if a[1].S == "" { // nothing to look for, and not a place between all characters
			return a[0], nil
		}
		return types.TextValue(strings.ReplaceAll(a[0].S, a[1].S, a[2].S)), nil

	// Dates.
	case plan.DateAdd:
		d, err := types.AddDays(a[0].I, a[1].I)
		return types.DateValue(d), err
	case plan.DateSub:
		d, err := types.SubDates(a[0].I, a[1].I)
		return types.IntValue(x.T, d), err
	case plan.AddInterval:
		m, d, us := a[1].IntervalParts()
		ts, err := types.AddInterval(a[0].I, m, d, us)
		return types.IntValue(x.T, ts), err
	case plan.Extract:
		f, _ := types.ParseField(a[0].S)
		return types.Extract(f, a[1])
	case plan.DateTrunc:
		f, _ := types.ParseField(a[0].S)
		ts, err := types.DateTrunc(f, a[1].I)
		return types.IntValue(x.T, ts), err

	// Numbers.
	case plan.Abs:
		if a[0].Type.IsFloat() {
			return types.FloatValue(x.T, math.Abs(a[0].F)), nil
		}
		if a[0].Int128().Sign() >= 0 {
			return a[0], nil
		}
		return types.Neg(a[0])
	case plan.Round, plan.Trunc, plan.Floor, plan.Ceil:
		return round(x, a)
	case plan.Sign:
		return sign(a[0], x.T), nil
	case plan.Sqrt:
		if a[0].F < 0 {
			return types.Value{}, fail(invalidPower, "cannot take square root of a negative number")
		}
		return types.FloatValue(x.T, math.Sqrt(a[0].F)), nil
	case plan.Power:
		return power(a[0].F, a[1].F)
	case plan.Exp:
		return finite(math.Exp(a[0].F), a[0].F)
	case plan.Ln:
		return logarithm(a[0].F, funcs.Log)
	case plan.Log10:
		return logarithm(a[0].F, funcs.Log10)
	case plan.Cast:
		return types.Cast(a[0], x.T)
	}
	return types.Value{}, diag.Internalf("eval", "operation %s", x.Op)
}

// Holds reports whether a comparison is true for operands of which types.Compare says c.
func Holds(op plan.Op, c int) bool {
	switch op {
	case plan.Eq:
		return c == 0
	case plan.Ne:
		return c != 0
	case plan.Lt:
		return c < 0
	case plan.Le:
		return c <= 0
	case plan.Gt:
		return c > 0
	}
	return c >= 0
}

func inList(a []types.Value) types.Value {
	if a[0].Null {
		return types.NullOf(types.TBool)
	}
	null := false
	for _, v := range a[1:] {
		if v.Null {
			null = true
		} else if types.Compare(a[0], v) == 0 {
			return types.BoolValue(true)
		}
	}
	if null {
		return types.NullOf(types.TBool)
	}
	return types.BoolValue(false)
}

// extreme is greatest and least; NULLs do not count.
func extreme(x *plan.Call, a []types.Value) types.Value {
	best := types.NullOf(x.T)
	for _, v := range a {
		if v.Null {
			continue
		}
		c := types.Compare(v, best)
		if best.Null || x.Op == plan.Greatest && c > 0 || x.Op == plan.Least && c < 0 {
			best = v
		}
	}
	return best
}
