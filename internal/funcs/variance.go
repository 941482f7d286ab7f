package funcs

import (
	"math"
	"math/big"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A variance of whole numbers and short decimals follows from exact sums: nothing cancels out, whatever the numbers are. That of
// doubles does not: it is a fold, which corrects a sum of squares row by row (fold_sums.go).

// exactVariances are functions of a sum, a sum of squares and a count.
var exactVariances = map[plan.AggFunc]*plan.Function{
	plan.VarPop: exactVariance(0, false), plan.VarSamp: exactVariance(1, false),
	plan.StddevPop: exactVariance(0, true), plan.StddevSamp: exactVariance(1, true),
}

// SumsOfVariance are what a variance of numbers, perhaps cast to doubles, is made of: a number and its square, both exact and with room for
// sums. ok is false for numbers whose squares have no room.
func SumsOfVariance(x plan.Expr) (number, square plan.Expr, ok bool) {
	if c, cast := x.(*plan.Call); cast && c.Op == plan.Cast && c.T.Kind == types.Float64 {
		x = c.Args[0]
	}
	switch t := x.Type(); {
	case t.IsInteger() && types.TInt32.Covers(t):
		number = plan.NewCall(plan.Cast, types.TInt64, x)
		return number, plan.NewCall(plan.Mul, types.TInt64, number, number), true
	case t.IsInteger():
		wide := plan.NewCall(plan.Cast, types.TDecimal(19, 0), x)
		return x, plan.NewCall(plan.Mul, types.TDecimal(38, 0), wide, wide), true
	case t.Kind == types.Decimal && t.Prec <= 19:
		wide := types.TDecimal(2*int(t.Prec), 2*int(t.Scale))
		return x, plan.NewCall(plan.Mul, wide, x, x), true
	}
	return nil, nil, false
}

// VarianceOfSums is the variance, or its root, as f says, of numbers whose sums these are.
func VarianceOfSums(f plan.AggFunc, sum, squares, count plan.Expr) plan.Expr {
	return plan.NewApply(exactVariances[f], types.TFloat64, -1, sum, squares, count)
}

// exactVariance computes (n Σx² - (Σx)²) / (n (n - less)).
func exactVariance(less int64, root bool) *plan.Function {
	return &plan.Function{Name: "variance", Strict: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		n := a[2].I
		if n <= less {
			return null(t)
		}
		v := scaledDifference(a[0].Int128(), a[1].Int128(), n) / (float64(n) * float64(n-less) * math.Pow10(int(a[1].Type.Scale)))
		if root {
			v = math.Sqrt(v)
		}
		return types.FloatValue(t, v), nil
	}}
}

// scaledDifference is n·squares - sum², rounded once.
func scaledDifference(sum, squares types.Int128, n int64) float64 {
	x, ok1 := squares.Mul(types.FromInt64(n))
	y, ok2 := sum.Mul(sum)
	if ok1 && ok2 {
		return x.Sub(y).Float64()
	}
	wide := new(big.Int).Mul(squares.ToBig(), big.NewInt(n))
	f, _ := new(big.Float).SetInt(wide.Sub(wide, new(big.Int).Mul(sum.ToBig(), sum.ToBig()))).Float64()
	return f
}
