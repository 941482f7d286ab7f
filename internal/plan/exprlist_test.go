package plan

import (
	"math"
	"testing"

	"github.com/kelpiedb/kelpie/internal/types"
)

// TestExprList: short or long, a list finds what is equal, the first of it.
func TestExprList(t *testing.T) {
	make := func(i int) Expr {
		k := NewConst(types.IntValue(types.TInt64, int64(i/3)))
		switch i % 3 {
		case 0:
			return k
		case 1:
			return Compare(Lt, &Ref{ID: 1, T: types.TInt64}, k)
		}
		return NewConst(types.FloatValue(types.TFloat64, float64(i/3)))
	}
	for _, n := range []int{1, 5, 30, 300} {
		var l ExprList
		for i := range n {
			if !l.Add(make(i)) {
				t.Fatalf("%d of %d was there already", i, n)
			}
		}
		for i := range n {
			if l.Add(make(i)) || l.Find(make(i)) != i {
				t.Fatalf("%d of %d is not found", i, n)
			}
		}
		if at := l.Find(make(n + 3)); at >= 0 {
			t.Errorf("found what is not in the list at %d", at)
		}
	}
	var odd ExprList
	for i, f := range []float64{0, math.Copysign(0, -1), math.NaN()} {
		e := NewConst(types.FloatValue(types.TFloat64, f))
		if !odd.Add(e) || odd.Find(NewConst(types.FloatValue(types.TFloat64, f))) != i {
			t.Errorf("%v is not itself, or is another number", f)
		}
	}
}
