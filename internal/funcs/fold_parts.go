package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Folds of which frames of a window share parts.

// join takes the sums of other rows. By the distance of the two means (T. Chan, G. Golub and R. LeVeque) nothing cancels out.
func (s *pairSums) join(o *pairSums) error {
	n := s.N + o.N
	dx, dy := s.X/s.N-o.X/o.N, s.Y/s.N-o.Y/o.N
	scale := s.N * o.N / n
	t := pairSums{N: n, X: s.X + o.X, Y: s.Y + o.Y, XX: s.XX + o.XX + dx*dx*scale, YY: s.YY + o.YY + dy*dy*scale, XY: s.XY + o.XY + dx*dy*scale}
	finiteX, finiteY := !infinite(s.X) && !infinite(o.X), !infinite(s.Y) && !infinite(o.Y)
	if finiteX && (infinite(t.X) || infinite(t.XX)) || finiteY && (infinite(t.Y) || infinite(t.YY)) || finiteX && finiteY && infinite(t.XY) {
		return errorf(diag.NumericOutOfRange, "value out of range: overflow")
	}
	*s = t
	return nil
}

// partsOfSums has what follows from sums, which is what the formula says, too. It has rows added by add where they come one by one, which rounds as in a group.
func partsOfSums(sums *plan.FoldSums, of func(*pairSums) (float64, bool), code plan.Formula, add func(s *pairSums, row *pairSums) error, row func(s *pairSums, a, b float64) error) *plan.FoldParts {
	return &plan.FoldParts{
		Sums:   sums,
		OfSums: ofSums(of, &code),
		Of: func(a, b uint64) plan.FoldState {
			var s pairSums
			row(&s, math.Float64frombits(a), math.Float64frombits(b)) // one row does not overflow
			return plan.FoldState(s)
		},
		Join: func(a, b plan.FoldState) (plan.FoldState, error) {
			s, o := (*pairSums)(&a), (*pairSums)(&b)
			var err error
			if o.N == 1 {
				err = add(s, o)
			} else {
				err = s.join(o)
			}
			return a, err
		},
		Value: func(s plan.FoldState, t types.Type) types.Value {
			v, _ := (*pairSums)(&s).result(of, t)
			return v
		},
	}
}

// ofSums is what an aggregate makes of its sums as a function of them, in the order of plan.FoldParts.
func ofSums(of func(*pairSums) (float64, bool), code *plan.Formula) *plan.Function {
	return &plan.Function{NullOut: true, Formula: code, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		s := pairSums{N: float64(a[0].I), X: a[1].F}
		if len(a) == 3 {
			s.XX = a[2].F
		} else {
			s.Y, s.XX, s.YY, s.XY = a[2].F, a[3].F, a[4].F, a[5].F
		}
		return s.result(of, t)
	}}
}

func pairParts(of func(*pairSums) (float64, bool), code plan.Formula) *plan.FoldParts {
	return partsOfSums(sumsOfPairs, of, code, func(s, row *pairSums) error { return s.add(row.Y, row.X) },
		(*pairSums).add)
}

func numberParts(of func(*pairSums) (float64, bool), code plan.Formula) *plan.FoldParts {
	return partsOfSums(sumsOfNumbers, of, code, func(s, row *pairSums) error { return s.addOne(row.X) },
		func(s *pairSums, x, _ float64) error { return s.addOne(x) })
}

// sumsOfPairs are of pairs (y, x).
var sumsOfPairs = &plan.FoldSums{Add: func(states []plan.FoldState, groups, ys, xs []uint64) error {
	for i, g := range groups {
		if err := (*pairSums)(&states[g]).add(math.Float64frombits(ys[i]), math.Float64frombits(xs[i])); err != nil {
			return err
		}
	}
	return nil
}}

var sumsOfNumbers = &plan.FoldSums{Add: func(states []plan.FoldState, groups, xs, _ []uint64) error {
	for i, g := range groups {
		if err := (*pairSums)(&states[g]).addOne(math.Float64frombits(xs[i])); err != nil {
			return err
		}
	}
	return nil
}}

var productParts = &plan.FoldParts{
	Of: func(a, _ uint64) plan.FoldState { return plan.FoldState{N: 1, X: math.Float64frombits(a)} },
	Join: func(a, b plan.FoldState) (plan.FoldState, error) {
		a.N, a.X = a.N+b.N, a.X*b.X
		return a, nil
	},
	Value: func(s plan.FoldState, t types.Type) types.Value { return types.FloatValue(t, s.X) },
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
