package funcs

import (
	"math"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TestFormulas: what code computes of sums is what Go does, to the bit.
func TestFormulas(t *testing.T) {
	var folds []*plan.Fold
	for i := range foldRows {
		folds = append(folds, foldRows[i].Fold)
	}
	for _, f := range InOrder {
		folds = append(folds, f)
	}
	tried := map[string]bool{}
	numbers := []float64{0, 1, -2.5, 1e-320, 3e200, math.Inf(1), math.NaN()}
	for _, f := range folds {
		if f.Parts == nil || f.Parts.OfSums == nil {
			continue
		}
		fn := f.Parts.OfSums
		tried[fn.Name] = true
		operands := 3
		if f.Parts.Sums == sumsOfPairs {
			operands = 6
		}
		for _, n := range []int64{0, 1, 2, 3, 1 << 40} {
			for k := range 400 {
				args := []types.Value{types.IntValue(types.TInt64, n)}
				x := make([]float64, operands)
				x[0] = float64(n)
				for i := 1; i < operands; i++ {
					x[i] = numbers[(k*i*i+k/7*i+k)%len(numbers)]
					args = append(args, types.FloatValue(types.TFloat64, x[i]))
				}
				want, err := fn.Eval(args, types.TFloat64)
				if err != nil {
					t.Fatal(err)
				}
				got, ok := byFormula(fn.Formula, x)
				if ok == want.Null || ok && math.Float64bits(got) != math.Float64bits(want.F) && !(math.IsNaN(got) && math.IsNaN(want.F)) {
					t.Fatalf("%s of %v: %v %v, Go has %v", fn.Name, x, got, ok, want)
				}
			}
		}
	}
	if len(tried) < 14 {
		t.Errorf("only %d formulas", len(tried))
	}
}

func byFormula(f *plan.Formula, x []float64) (float64, bool) {
	if x[0] <= float64(f.Over) {
		return 0, false
	}
	for _, i := range f.NotZero {
		if x[i] == 0 {
			return 0, false
		}
	}
	if f.OneIfZero > 0 && x[f.OneIfZero] == 0 {
		return 1, true
	}
	var s []float64
	for _, w := range strings.Fields(f.Steps) {
		n := len(s)
		switch w {
		case "one":
			s = append(s, 1)
		case "+":
			s = append(s[:n-2], s[n-2]+s[n-1])
		case "-":
			s = append(s[:n-2], s[n-2]-s[n-1])
		case "*":
			s = append(s[:n-2], s[n-2]*s[n-1])
		case "/":
			s = append(s[:n-2], s[n-2]/s[n-1])
		case "sqrt":
			s[n-1] = math.Sqrt(s[n-1])
		default:
			s = append(s, x[w[0]-'0'])
		}
	}
	return s[0], len(s) == 1
}
