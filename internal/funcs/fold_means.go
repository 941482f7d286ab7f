package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// compensated adds doubles and, apart from them, what each addition has rounded off (W. Kahan, with A. Neumaier's care for
// addends that are larger than the sum); or it is their mean.
func compensated(mean bool) func(plan.FoldRows, []types.Value, types.Type) (types.Value, error) {
	return func(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
		if rows.Len() == 0 {
			return null(t)
		}
		sum, lost := 0.0, 0.0
		for i := range rows.Len() {
			x := rows.Value(i, 0).F
			s := sum + x
			if math.Abs(sum) >= math.Abs(x) {
				lost += sum - s + x
			} else {
				lost += x - s + sum
			}
			sum = s
		}
		if !math.IsInf(sum, 0) && !math.IsNaN(lost) {
			sum += lost
		}
		if mean {
			sum /= float64(rows.Len())
		}
		return double(sum)
	}
}

// geometricMean is the mean of logarithms, as a number again.
func geometricMean(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	if rows.Len() == 0 {
		return null(t)
	}
	sum := 0.0
	for i := range rows.Len() {
		x := rows.Value(i, 0).F
		if x < 0 {
			return fail(invalidLogarithm, "cannot take logarithm of a negative number")
		}
		sum += Log(x)
	}
	return double(math.Exp(sum / float64(rows.Len())))
}

// standardError is the deviation of the population, by the root of how many there are.
func standardError(s *pairSums) (float64, bool) {
	return math.Sqrt(s.XX/s.N) / math.Sqrt(s.N), true
}
