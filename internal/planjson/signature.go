package planjson

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// signatures are the operands of operations, and after > the result. Letters: b boolean, i integer, n number, f double, t text, D date, T timestamp,
// V interval, d any kind of date, time or interval, * anything, x what can be subtracted, = what the result is, 1 what the first operand is, m a number of any scale; … repeats the
// last one any number of times; those after ? may be missing. Generated code believes types, so those of a document are looked at.
var signatures = map[plan.Op]string{
	plan.Add: "==>n", plan.Sub: "xx>n", plan.Mul: "nn>n", plan.Div: "nn>n", plan.Mod: "==>n", plan.Neg: "=>n",
	plan.Eq: "*1>b", plan.Ne: "*1>b", plan.Lt: "*1>b", plan.Le: "*1>b", plan.Gt: "*1>b", plan.Ge: "*1>b", plan.NotDistinct: "*1>b",
	plan.And: "b…>b", plan.Or: "b…>b", plan.Not: "b>b", plan.IsNull: "*>b", plan.IsTrue: "b>b",
	plan.Coalesce: "=…>*", plan.NullIf: "=1>*", plan.InList: "*1…>b",
	plan.Like: "tt>b", plan.Substring: "ti?i>t", plan.Length: "t>i", plan.OctetLength: "t>i", plan.Lower: "t>t", plan.Upper: "t>t", plan.Concat: "tt…>t",
	plan.Trim: "t?t>t", plan.Ltrim: "t?t>t", plan.Rtrim: "t?t>t", plan.Replace: "ttt>t", plan.Position: "tt>i", plan.StartsWith: "tt>b",
	plan.LeftStr: "ti>t", plan.RightStr: "ti>t",
	plan.Extract: "td>n", plan.DateAdd: "Di>D", plan.DateSub: "DD>i", plan.DateTrunc: "tT>T", plan.AddInterval: "TV>T",
	plan.Abs: "=>n", plan.Round: "m?i>n", plan.Floor: "m?i>n", plan.Ceil: "m?i>n", plan.Trunc: "m?i>n", plan.Sqrt: "f>f", plan.Sign: "m>n",
	plan.Power: "ff>f", plan.Exp: "f>f", plan.Ln: "f>f", plan.Log10: "f>f", plan.Greatest: "=…>*", plan.Least: "=…>*",
	plan.Cast: "*>*",
}

// misfit says what is wrong with the types of an operation; "": nothing.
func misfit(x *plan.Call) string {
	if x.Op == plan.Case {
		return misfitCase(x)
	}
	operands, result, _ := strings.Cut(signatures[x.Op], ">")
	rest, more := strings.CutSuffix(operands, "…")
	letters, least := rest, len(rest)
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		letters, least = rest[:i]+rest[i+1:], i
	}
	if len(x.Args) < least || len(x.Args) > len(letters) && !more {
		return fmt.Sprintf("%s with %d operands", x.Op, len(x.Args))
	}
	if !is(result[0], x.T, x) {
		return fmt.Sprintf("%s cannot be %s", x.Op, x.T)
	}
	for i, a := range x.Args {
		if letter := letters[min(i, len(letters)-1)]; !is(letter, a.Type(), x) {
			return fmt.Sprintf("operand %d of %s is %s, which does not fit", i+1, x.Op, a.Type())
		}
	}
	switch x.Op {
	case plan.Sub:
		a, b := x.Args[0].Type(), x.Args[1].Type()
		if times := a.Kind == types.Timestamp && b.Kind == types.Timestamp && x.T.Kind == types.Interval; !times && (!fits(a, x.T) || !fits(b, x.T)) {
			return fmt.Sprintf("%s less %s is not %s", a, b, x.T)
		}
	case plan.Mul, plan.Div:
		a, b := x.Args[0].Type(), x.Args[1].Type()
		exact := func(t types.Type) bool { return t.IsInteger() || t.Kind == types.Decimal || t.Kind == types.Unknown }
		switch {
		case x.T.Kind == types.Interval:
			if a.Kind != types.Interval && b.Kind != types.Interval {
				return fmt.Sprintf("%s of %s and %s is no interval", x.Op, a, b)
			}
		case x.T.Kind == types.Decimal:
			if !exact(a) || !exact(b) || x.Op == plan.Mul && !scaled(a, b, x.T) {
				return fmt.Sprintf("%s of %s and %s is not %s", x.Op, a, b, x.T)
			}
		case !fits(a, x.T) || !fits(b, x.T):
			return fmt.Sprintf("%s of %s and %s is not %s", x.Op, a, b, x.T)
		}
	case plan.InList, plan.Extract, plan.DateTrunc:
		list := x.Args[1:]
		if x.Op != plan.InList {
			list = x.Args[:1]
		}
		for _, a := range list {
			if _, ok := a.(*plan.Const); !ok {
				return fmt.Sprintf("%s wants a literal", x.Op)
			}
		}
	case plan.Cast:
		if from := x.Args[0].Type(); from.Kind != types.Unknown && !types.CanCast(from, x.T) {
			return fmt.Sprintf("cannot cast type %s to %s", from, x.T)
		}
	}
	return ""
}

// scaled reports that the product of two decimals can have a type: it has the digits of both, unless those are more than there can be.
func scaled(a, b, t types.Type) bool {
	digits := int(a.Scale) + int(b.Scale)
	return int(t.Scale) == digits || int(t.Scale) < digits && t.Prec == types.MaxPrecision
}

func misfitCase(x *plan.Call) string {
	if len(x.Args) < 2 {
		return "case has pairs of conditions and values, and perhaps a value after them"
	}
	for i, a := range x.Args {
		want := x.T
		if i%2 == 0 && i+1 < len(x.Args) {
			want = types.TBool
		}
		if !fits(a.Type(), want) {
			return fmt.Sprintf("operand %d of case is %s, not %s", i+1, a.Type(), want)
		}
	}
	return ""
}

// is reports that a type is what a letter stands for.
func is(letter byte, t types.Type, x *plan.Call) bool {
	if t.Kind == types.Unknown { // NULL
		return true
	}
	switch letter {
	case 'b':
		return t.Kind == types.Bool
	case 'i':
		return t.IsInteger()
	case 'n', 'm':
		return t.IsNumeric() || t.Kind == types.Interval && letter == 'n'
	case 'x':
		return t.IsNumeric() || t.Kind == types.Interval || t.Kind == types.Timestamp
	case 'f':
		return t.IsFloat()
	case 't':
		return t.Phys() == types.PhysStr
	case 'D':
		return t.Kind == types.Date
	case 'T':
		return t.Kind == types.Timestamp
	case 'V':
		return t.Kind == types.Interval
	case 'd':
		return !t.IsNumeric() && t.Kind != types.Bool && t.Phys() != types.PhysStr
	case '=':
		return fits(t, x.T)
	case '1':
		return fits(t, x.Args[0].Type())
	}
	return true
}
