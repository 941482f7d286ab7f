package scanned

import (
	"math"
	"testing"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// TestRangeOf compares ranges with what the comparisons say, at the ends of what a word holds, too.
func TestRangeOf(t *testing.T) {
	values := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	holds := map[plan.Op]func(x, v int64) bool{
		plan.Eq: func(x, v int64) bool { return x == v }, plan.Ne: func(x, v int64) bool { return x == v },
		plan.Lt: func(x, v int64) bool { return x < v }, plan.Le: func(x, v int64) bool { return x <= v },
		plan.Gt: func(x, v int64) bool { return x > v }, plan.Ge: func(x, v int64) bool { return x >= v },
	}
	for op, want := range holds {
		for _, v := range values {
			lo, hi := RangeOf(op, v)
			for _, x := range values {
				if got := lo <= x && x <= hi; got != want(x, v) {
					t.Errorf("%d %s %d: the range is %d to %d", x, op, v, lo, hi)
				}
			}
		}
	}
}
