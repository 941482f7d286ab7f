package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Folds of which frames of a window share parts.

// state and sumsOf are sums as a frame keeps them.
func (s *pairSums) state() plan.FoldState {
	return plan.FoldState{N: int64(s.n), F: [5]float64{s.x, s.y, s.xx, s.yy, s.xy}}
}

func sumsOf(s *plan.FoldState) pairSums {
	return pairSums{float64(s.N), s.F[0], s.F[1], s.F[2], s.F[3], s.F[4]}
}

// join takes the sums of other rows. By the distance of the two means (T. Chan, G. Golub and R. LeVeque) nothing cancels out.
func (s *pairSums) join(o *pairSums) error {
	n := s.n + o.n
	dx, dy := s.x/s.n-o.x/o.n, s.y/s.n-o.y/o.n
	scale := s.n * o.n / n
	t := pairSums{n, s.x + o.x, s.y + o.y, s.xx + o.xx + dx*dx*scale, s.yy + o.yy + dy*dy*scale, s.xy + o.xy + dx*dy*scale}
	finiteX, finiteY := !infinite(s.x) && !infinite(o.x), !infinite(s.y) && !infinite(o.y)
	if finiteX && (infinite(t.x) || infinite(t.xx)) || finiteY && (infinite(t.y) || infinite(t.yy)) || finiteX && finiteY && infinite(t.xy) {
		return errorf(diag.NumericOutOfRange, "value out of range: overflow")
	}
	*s = t
	return nil
}

// partsOfSums has rows added by add where they come one by one, which rounds as in a group.
func partsOfSums(of func(*pairSums) (float64, bool), add func(s *pairSums, row *pairSums) error, row func(s *pairSums, a, b float64) error) *plan.FoldParts {
	return &plan.FoldParts{
		Of: func(a, b uint64) plan.FoldState {
			var s pairSums
			row(&s, math.Float64frombits(a), math.Float64frombits(b)) // one row does not overflow
			return s.state()
		},
		Join: func(a, b plan.FoldState) (plan.FoldState, error) {
			s, o := sumsOf(&a), sumsOf(&b)
			var err error
			if o.n == 1 {
				err = add(&s, &o)
			} else {
				err = s.join(&o)
			}
			return s.state(), err
		},
		Value: func(s plan.FoldState, t types.Type) types.Value {
			sums := sumsOf(&s)
			v, _ := sums.result(of, t)
			return v
		},
	}
}

func pairParts(of func(*pairSums) (float64, bool)) *plan.FoldParts {
	return partsOfSums(of, func(s, row *pairSums) error { return s.add(row.y, row.x) },
		(*pairSums).add)
}

func numberParts(of func(*pairSums) (float64, bool)) *plan.FoldParts {
	return partsOfSums(of, func(s, row *pairSums) error { return s.addOne(row.x) },
		func(s *pairSums, x, _ float64) error { return s.addOne(x) })
}

var productParts = &plan.FoldParts{
	Of: func(a, _ uint64) plan.FoldState { return plan.FoldState{N: 1, F: [5]float64{math.Float64frombits(a)}} },
	Join: func(a, b plan.FoldState) (plan.FoldState, error) {
		a.N, a.F[0] = a.N+b.N, a.F[0]*b.F[0]
		return a, nil
	},
	Value: func(s plan.FoldState, t types.Type) types.Value { return types.FloatValue(t, s.F[0]) },
}

// bitFold combines the bits of integers.
func bitFold(name string, f func(a, b int64) int64, doc string) FoldRow {
	return withParts(fold(name, "i", tSame, plan.SkipNull, allBits(f), doc), &plan.FoldParts{
		Of: func(a, _ uint64) plan.FoldState { return plan.FoldState{N: 1, Bits: a} },
		Join: func(a, b plan.FoldState) (plan.FoldState, error) {
			a.N, a.Bits = a.N+b.N, uint64(f(int64(a.Bits), int64(b.Bits)))
			return a, nil
		},
		Value: func(s plan.FoldState, t types.Type) types.Value { return types.IntValue(t, int64(s.Bits)) },
	})
}

func countRows(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	return number(t, int64(rows.Len()))
}

// sumExact adds whole numbers, decimals of one scale, or intervals.
func sumExact(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	if rows.Len() == 0 {
		return null(t)
	}
	at := func(i int) types.Value { // as a number of type t
		v := rows.Value(i, 0)
		if t.Kind == types.Decimal {
			x := v.Int128()
			v.I, v.Hi = int64(x.Lo), x.Hi
		}
		v.Type = t
		return v
	}
	sum := at(0)
	for i := 1; i < rows.Len(); i++ {
		var err error
		if sum, err = types.Add(sum, at(i), t); err != nil {
			return types.Value{}, err
		}
	}
	return sum, nil
}

// avgInterval divides the sum of intervals by how many there are.
func avgInterval(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	sum, err := sumExact(rows, nil, t)
	if err != nil || sum.Null {
		return sum, err
	}
	return types.ScaleInterval(sum, float64(rows.Len()), true)
}
