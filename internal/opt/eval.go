package opt

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// eval computes an expression without references, or with bound values for some
// columns: bind may be nil. ok is false where the optimizer should not compute it: an error,
// which belongs to run time, or an operation not implemented here.
func eval(e plan.Expr, bind func(plan.ColID) (types.Value, bool)) (v types.Value, ok bool) {
	switch x := e.(type) {
	case *plan.Const:
		return x.V, true
	case *plan.Ref:
		if bind == nil {
			return v, false
		}
		return bind(x.ID)
	case *plan.Call:
		switch x.Op {
		case plan.And, plan.Or:
			return evalLogic(x, bind)
		case plan.Case:
			for i := 0; i+1 < len(x.Args); i += 2 {
				c, ok := eval(x.Args[i], bind)
				if !ok {
					return v, false
				}
				if !c.Null && c.I != 0 {
					return eval(x.Args[i+1], bind)
				}
			}
			if len(x.Args)%2 == 0 {
				return types.NullOf(x.T), true
			}
			return eval(x.Args[len(x.Args)-1], bind)
		case plan.Coalesce:
			for _, a := range x.Args {
				v, ok := eval(a, bind)
				if !ok || !v.Null {
					return v, ok
				}
			}
			return types.NullOf(x.T), true
		}
		var buf [4]types.Value
		args := buf[:0]
		for _, a := range x.Args {
			v, ok := eval(a, bind)
			if !ok {
				return v, false
			}
			args = append(args, v)
		}
		return evalCall(x, args)
	}
	return v, false
}

func evalLogic(x *plan.Call, bind func(plan.ColID) (types.Value, bool)) (types.Value, bool) {
	null := false
	for _, a := range x.Args {
		v, ok := eval(a, bind)
		switch {
		case !ok:
			return v, false
		case v.Null:
			null = true
		case (v.I != 0) == (x.Op == plan.Or):
			return types.BoolValue(x.Op == plan.Or), true
		}
	}
	if null {
		return types.NullOf(types.TBool), true
	}
	return types.BoolValue(x.Op == plan.And), true
}

// evalCall applies an operation to values.
func evalCall(x *plan.Call, a []types.Value) (v types.Value, ok bool) {
	if x.Op.Strict() {
		for i := range a {
			if a[i].Null {
				return types.NullOf(x.T), true
			}
		}
	}
	var err error
	switch x.Op {
	case plan.Add:
		v, err = types.Add(a[0], a[1], x.T)
	case plan.Sub:
		v, err = types.Sub(a[0], a[1], x.T)
	case plan.Mul:
		v, err = types.Mul(a[0], a[1], x.T)
	case plan.Div:
		v, err = types.Div(a[0], a[1], x.T)
	case plan.Mod:
		v, err = types.Mod(a[0], a[1], x.T)
	case plan.Neg:
		v, err = types.Neg(a[0])
	case plan.Cast:
		v, err = types.Cast(a[0], x.T)
	case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge:
		return types.BoolValue(compares(x.Op, types.Compare(a[0], a[1]))), true
	case plan.NotDistinct:
		return types.BoolValue(types.Compare(a[0], a[1]) == 0), true
	case plan.Not:
		return types.BoolValue(a[0].I == 0), true
	case plan.IsNull:
		return types.BoolValue(a[0].Null), true
	case plan.IsTrue:
		return types.BoolValue(!a[0].Null && a[0].I != 0), true
	case plan.NullIf:
		if !a[0].Null && !a[1].Null && types.Compare(a[0], a[1]) == 0 {
			return types.NullOf(x.T), true
		}
		return a[0], true
	case plan.InList:
		return evalIn(a), true
	case plan.Greatest, plan.Least:
		return evalExtreme(x, a), true
	case plan.DateAdd:
		d := a[0].I + a[1].I
		if !types.DateInRange(d) {
			return v, false
		}
		return types.DateValue(d), true
	case plan.DateSub:
		return types.IntValue(x.T, a[0].I-a[1].I), true
	case plan.AddInterval:
		m, d, us := a[1].IntervalParts()
		var ts int64
		ts, err = types.AddInterval(a[0].I, m, d, us)
		v = types.IntValue(x.T, ts)
	case plan.Extract:
		f, known := types.ParseField(a[0].S)
		if !known {
			return v, false
		}
		v, err = types.Extract(f, a[1])
	case plan.DateTrunc:
		f, known := types.ParseField(a[0].S)
		if !known {
			return v, false
		}
		var ts int64
		ts, err = types.DateTrunc(f, a[1].I)
		v = types.IntValue(x.T, ts)
	case plan.Sqrt:
		if !a[0].Type.IsFloat() || a[0].F < 0 {
			return v, false
		}
		return types.FloatValue(x.T, math.Sqrt(a[0].F)), true
	case plan.Abs:
		if a[0].Type.IsFloat() {
			return types.FloatValue(x.T, math.Abs(a[0].F)), true
		}
		if a[0].Int128().Sign() >= 0 {
			return a[0], true
		}
		v, err = types.Neg(a[0])
	default:
		return evalText(x, a)
	}
	return v, err == nil && v.Type.Kind == x.T.Kind
}

func compares(op plan.Op, c int) bool {
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

func evalIn(a []types.Value) types.Value {
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

func evalExtreme(x *plan.Call, a []types.Value) types.Value {
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

// evalText applies the operations on texts that occur in predicates over dictionaries.
func evalText(x *plan.Call, a []types.Value) (v types.Value, ok bool) {
	text := func(s string) (types.Value, bool) { return types.Value{Type: x.T, S: s}, true }
	switch x.Op {
	case plan.Like:
		return types.BoolValue(likeMatch(a[0].S, a[1].S)), true
	case plan.StartsWith:
		return types.BoolValue(strings.HasPrefix(a[0].S, a[1].S)), true
	case plan.Length:
		return types.IntValue(x.T, int64(utf8.RuneCountInString(a[0].S))), true
	case plan.OctetLength:
		return types.IntValue(x.T, int64(len(a[0].S))), true
	case plan.Concat:
		var b strings.Builder
		for _, s := range a {
			b.WriteString(s.S)
		}
		return text(b.String())
	case plan.Substring:
		if len(a) < 2 {
			return v, false
		}
		end := int64(math.MaxInt32)
		if len(a) == 3 {
			if a[2].I < 0 || a[2].I > math.MaxInt32 {
				return v, false
			}
			end = a[1].I + a[2].I
		}
		return text(runes(a[0].S, a[1].I, end))
	case plan.Lower, plan.Upper:
		for i := range len(a[0].S) {
			if a[0].S[i] >= utf8.RuneSelf { // case rules beyond ASCII belong to the executor
				return v, false
			}
		}
		if x.Op == plan.Lower {
			return text(strings.ToLower(a[0].S))
		}
		return text(strings.ToUpper(a[0].S))
	}
	return v, false
}

// runes is the part of s from the 1-based character from up to but without character to.
func runes(s string, from, to int64) string {
	start, n := len(s), int64(1)
	for i := range s {
		if n == max(from, 1) {
			start = i
		}
		if n >= to {
			return s[min(start, i):i]
		}
		n++
	}
	return s[start:]
}
