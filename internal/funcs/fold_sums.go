package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// allBits combines integers.
func allBits(f func(a, b int64) int64) func(plan.FoldRows, []types.Value, types.Type) (types.Value, error) {
	return func(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
		if rows.Len() == 0 {
			return null(t)
		}
		x := rows.Value(0, 0).I
		for i := 1; i < rows.Len(); i++ {
			x = f(x, rows.Value(i, 0).I)
		}
		return number(t, x)
	}
}

func product(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	if rows.Len() == 0 {
		return null(t)
	}
	p := 1.0
	for i := range rows.Len() {
		p *= rows.Value(i, 0).F
	}
	return double(p)
}

// sumInOrder adds doubles one after the other.
func sumInOrder(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	if rows.Len() == 0 {
		return null(t)
	}
	sum, finite := 0.0, true
	for i := range rows.Len() {
		x := rows.Value(i, 0).F
		finite = finite && !math.IsInf(x, 0)
		sum += x
	}
	if t.Kind == types.Float32 {
		sum = float64(float32(sum))
	}
	if math.IsInf(sum, 0) && finite {
		return fail(diag.NumericOutOfRange, "value out of range: overflow")
	}
	return types.FloatValue(t, sum), nil
}

// pairSums are sums over pairs of numbers from which deviations follow, by the method of Youngs and Cramer: each pair
// corrects the sums of squares by its distance from the mean so far, so that nothing cancels out.
type pairSums plan.FoldState

// add takes a pair; the error is that a sum of finite numbers is not finite.
func (s *pairSums) add(y, x float64) error {
	before, oldX, oldY := s.N, s.X, s.Y
	s.N++
	s.X += x
	s.Y += y
	if before == 0 {
		// Of NaN and infinity there is no distance.
		if x-x != 0 {
			s.XX, s.XY = math.NaN(), math.NaN()
		}
		if y-y != 0 {
			s.YY, s.XY = math.NaN(), math.NaN()
		}
		return nil
	}
	dx, dy := x*s.N-s.X, y*s.N-s.Y
	scale := 1 / (s.N * before)
	s.XX += dx * dx * scale
	s.YY += dy * dy * scale
	s.XY += dx * dy * scale
	if all := s.X + s.Y + s.XX + s.YY + s.XY; all-all == 0 {
		return nil
	}
	finiteX, finiteY := !infinite(oldX) && !infinite(x), !infinite(oldY) && !infinite(y)
	if finiteX && (infinite(s.X) || infinite(s.XX)) || finiteY && (infinite(s.Y) || infinite(s.YY)) ||
		finiteX && finiteY && infinite(s.XY) {
		return errorf(diag.NumericOutOfRange, "value out of range: overflow")
	}
	for _, p := range [...]*float64{&s.XX, &s.YY, &s.XY} {
		if infinite(*p) {
			*p = math.NaN()
		}
	}
	return nil
}

func infinite(x float64) bool { return math.IsInf(x, 0) }

// addOne takes a number. It rounds as PostgreSQL does for numbers that are alone.
func (s *pairSums) addOne(x float64) error {
	before, old := s.N, s.X
	s.N++
	s.X += x
	if before == 0 {
		if x-x != 0 {
			s.XX = math.NaN()
		}
		return nil
	}
	d := x*s.N - s.X
	s.XX += d * d / (s.N * before)
	if all := s.X + s.XX; all-all == 0 {
		return nil
	}
	if infinite(s.X) || infinite(s.XX) {
		if !infinite(old) && !infinite(x) {
			return errorf(diag.NumericOutOfRange, "value out of range: overflow")
		}
		s.XX = math.NaN()
	}
	return nil
}

// ofPairs is an aggregate of pairs (y, x); ok is false where it is NULL.
func ofPairs(f func(*pairSums) (float64, bool)) func(plan.FoldRows, []types.Value, types.Type) (types.Value, error) {
	return func(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
		var s pairSums
		if c, ok := rows.(plan.FoldColumns); ok {
			if ys, xs := c.Floats(0), c.Floats(1); ys != nil && xs != nil {
				for i, y := range ys {
					if err := s.add(y, xs[i]); err != nil {
						return types.Value{}, err
					}
				}
				return s.result(f, t)
			}
		}
		for i := range rows.Len() {
			if err := s.add(rows.Value(i, 0).F, rows.Value(i, 1).F); err != nil {
				return types.Value{}, err
			}
		}
		return s.result(f, t)
	}
}

// ofNumbers is an aggregate of numbers.
func ofNumbers(f func(*pairSums) (float64, bool)) func(plan.FoldRows, []types.Value, types.Type) (types.Value, error) {
	return func(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
		var s pairSums
		if c, ok := rows.(plan.FoldColumns); ok {
			if xs := c.Floats(0); xs != nil {
				for _, x := range xs {
					if err := s.addOne(x); err != nil {
						return types.Value{}, err
					}
				}
				return s.result(f, t)
			}
		}
		for i := range rows.Len() {
			if err := s.addOne(rows.Value(i, 0).F); err != nil {
				return types.Value{}, err
			}
		}
		return s.result(f, t)
	}
}

func (s *pairSums) result(f func(*pairSums) (float64, bool), t types.Type) (types.Value, error) {
	if s.N == 0 {
		return null(t)
	}
	x, ok := f(s)
	if !ok {
		return null(t)
	}
	return types.FloatValue(t, x), nil
}

// variance is that of numbers, or its root; less is 1 for a sample.
func variance(less float64, root bool) func(*pairSums) (float64, bool) {
	return func(s *pairSums) (float64, bool) {
		if s.N <= less {
			return 0, false
		}
		v := s.XX / (s.N - less)
		if root {
			v = math.Sqrt(v)
		}
		return v, true
	}
}

// pairFolds are the aggregates of pairs, as Go computes them and as code does. Operands of formulas are N, X, Y, XX, YY and XY.
var pairFolds = []struct {
	name, doc string
	of        func(s *pairSums) (float64, bool)
	code      plan.Formula
}{
	{"corr", "the coefficient of correlation", func(s *pairSums) (float64, bool) {
		return s.XY / math.Sqrt(s.XX*s.YY), s.XX != 0 && s.YY != 0
	}, plan.Formula{NotZero: []int{3, 4}, Steps: "5 3 4 * sqrt /"}},
	{"covar_pop", "the covariance of a population", func(s *pairSums) (float64, bool) { return s.XY / s.N, true }, plan.Formula{Steps: "5 0 /"}},
	{"covar_samp", "the covariance of a sample", func(s *pairSums) (float64, bool) { return s.XY / (s.N - 1), s.N > 1 },
		plan.Formula{Over: 1, Steps: "5 0 one - /"}},
	{"regr_intercept", "where the line of least squares through the points (x, y) crosses x = 0", func(s *pairSums) (float64, bool) {
		return (s.Y - s.X*s.XY/s.XX) / s.N, s.XX != 0
	}, plan.Formula{NotZero: []int{3}, Steps: "2 1 5 * 3 / - 0 /"}},
	{"regr_r2", "the square of the coefficient of correlation", func(s *pairSums) (float64, bool) {
		if s.YY == 0 {
			return 1, s.XX != 0
		}
		return s.XY * s.XY / (s.XX * s.YY), s.XX != 0
	}, plan.Formula{NotZero: []int{3}, OneIfZero: 4, Steps: "5 5 * 3 4 * /"}},
	{"regr_slope", "the slope of the line of least squares through the points (x, y)", func(s *pairSums) (float64, bool) {
		return s.XY / s.XX, s.XX != 0
	}, plan.Formula{NotZero: []int{3}, Steps: "5 3 /"}},
	{"regr_sxx", "the sum of the squared distances of x from its mean", func(s *pairSums) (float64, bool) { return s.XX, true }, plan.Formula{Steps: "3"}},
	{"regr_sxy", "the sum of the products of distances from the means", func(s *pairSums) (float64, bool) { return s.XY, true }, plan.Formula{Steps: "5"}},
	{"regr_syy", "the sum of the squared distances of y from its mean", func(s *pairSums) (float64, bool) { return s.YY, true }, plan.Formula{Steps: "4"}},
}

// moments are the sums of the powers of distances from the mean, in two passes.
func moments(rows plan.FoldRows) (n, m2, m3, m4 float64) {
	n = float64(rows.Len())
	mean := 0.0
	for i := range rows.Len() {
		mean += rows.Value(i, 0).F / n
	}
	for i := range rows.Len() {
		d := rows.Value(i, 0).F - mean
		m2 += d * d
		m3 += d * d * d
		m4 += d * d * d * d
	}
	return n, m2, m3, m4
}

func skewness(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	n, m2, m3, _ := moments(rows)
	if n <= 2 || m2 == 0 {
		return null(t)
	}
	return double(math.Sqrt(n*(n-1)) / (n - 2) * (m3 / n) / math.Pow(m2/n, 1.5))
}

func kurtosis(sample bool) func(plan.FoldRows, []types.Value, types.Type) (types.Value, error) {
	return func(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
		n, m2, _, m4 := moments(rows)
		if n < 1 || m2 == 0 || sample && n <= 3 {
			return null(t)
		}
		g := (m4/n)/(m2/n*m2/n) - 3
		if sample {
			g = (n - 1) / ((n - 2) * (n - 3)) * ((n+1)*g + 6)
		}
		return double(g)
	}
}
