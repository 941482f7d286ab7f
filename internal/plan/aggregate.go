package plan

import "github.com/kelpiedb/kelpie/internal/types"

// Averages and deviations are expressions over sums and counts, of groups as of windows.

// AvgOf is the average of values of type t of which sum and count are known.
func AvgOf(t types.Type, sum, count Expr) Expr {
	avg, _ := types.AvgType(t)
	if avg.IsFloat() {
		sum, count = Double(sum), Double(count)
	}
	return NewCall(Div, avg, sum, count)
}

// VarianceOf is (Σx² - (Σx)²/n) / n, or / (n-1) for a sample, never less than zero; or its root, as f says.
func VarianceOf(f AggFunc, sum, squares, count Expr) Expr {
	t := types.TFloat64
	op := func(o Op, l, r Expr) Expr { return NewCall(o, t, l, r) }
	n := Double(count)
	v := op(Sub, squares, op(Div, op(Mul, sum, sum), n))
	v = NewCall(Greatest, t, v, NewConst(types.FloatValue(t, 0)))
	least := int64(0)
	if f == StddevSamp || f == VarSamp {
		least = 1
		n = op(Sub, n, NewConst(types.FloatValue(t, 1)))
	}
	v = op(Div, v, n)
	if f == StddevSamp || f == StddevPop {
		v = NewCall(Sqrt, t, v)
	}
	enough := Compare(Gt, count, NewConst(types.IntValue(types.TInt64, least)))
	return NewCall(Case, t, enough, v, NullConst(t))
}

// Double is e as a double.
func Double(e Expr) Expr {
	if e.Type() == types.TFloat64 {
		return e
	}
	return NewCall(Cast, types.TFloat64, e)
}
