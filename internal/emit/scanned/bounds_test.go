package scanned

import (
	"fmt"
	"math"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
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

// TestAddBounds: comparisons of a column with literals become one range, cut to what the column has.
func TestAddBounds(t *testing.T) {
	typ := types.TInt64
	value := func(i int64) types.Value { return types.IntValue(typ, i) }
	stats := catalog.ColumnStats{HasRange: true, Min: value(10), Max: value(109)}
	table := &Table{Emitter: &code.Emitter{}, Scan: &plan.Scan{Cols: []plan.ColID{5, 6}, Ordinal: []int{0, 1},
		Table: &catalog.Table{Columns: []catalog.ColumnDef{{Name: "a", Type: typ}, {Name: "n", Type: typ}}},
		Snap:  &catalog.Snapshot{Rows: 1000, Stats: []catalog.ColumnStats{stats, {HasRange: true, Min: value(10), Max: value(109), NullCount: 1}}}}}
	compare := func(l plan.Expr, op plan.Op, r plan.Expr) plan.Expr {
		return &plan.Call{Op: op, T: types.TBool, Args: []plan.Expr{l, r}}
	}
	a, n := &plan.Ref{ID: 5, T: typ}, &plan.Ref{ID: 6, T: typ}
	k := func(i int64) plan.Expr { return plan.NewConst(value(i)) }
	for _, c := range []struct {
		preds []plan.Expr
		want  string // lo to hi, what bounds it, the share that passes
	}{
		{[]plan.Expr{compare(a, plan.Eq, k(30))}, "30…30 below above point 0.01"},
		{[]plan.Expr{compare(k(30), plan.Eq, a)}, "30…30 below above point 0.01"},
		{[]plan.Expr{compare(a, plan.Gt, k(59))}, "60…109 below 0.5"},
		{[]plan.Expr{compare(a, plan.Ge, k(60))}, "60…109 below 0.5"},
		{[]plan.Expr{compare(k(60), plan.Gt, a)}, "10…59 above 0.5"},
		{[]plan.Expr{compare(a, plan.Le, k(59))}, "10…59 above 0.5"},
		{[]plan.Expr{compare(a, plan.Gt, k(0)), compare(a, plan.Lt, k(1000))}, "10…109 below above 1"},
		{[]plan.Expr{compare(a, plan.Ge, k(20)), compare(a, plan.Lt, k(40)), compare(a, plan.Gt, k(28))}, "29…39 below above 0.11"},
		{[]plan.Expr{compare(a, plan.Lt, k(20)), compare(a, plan.Eq, k(40))}, "40…19 below above point 0"},
	} {
		var ranges []*Bounds
		for _, p := range c.preds {
			if !table.AddBounds(&ranges, p) {
				t.Errorf("%v is refused", p)
			}
		}
		if len(ranges) != 1 || len(ranges[0].Preds) != len(c.preds) {
			t.Fatal(c.want, ranges)
		}
		b := ranges[0]
		got := fmt.Sprintf("%d…%d", b.Lo, b.Hi)
		for _, w := range []struct {
			is   bool
			name string
		}{{b.Below, "below"}, {b.Above, "above"}, {b.Point, "point"}} {
			if w.is {
				got += " " + w.name
			}
		}
		if got += fmt.Sprintf(" %.3g", b.Share); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
	var ranges []*Bounds
	for _, p := range []plan.Expr{compare(a, plan.Ne, k(1)), compare(n, plan.Eq, k(11)), compare(a, plan.Lt, plan.NullConst(typ)), compare(a, plan.Lt, n)} {
		if table.AddBounds(&ranges, p) || len(ranges) > 0 {
			t.Errorf("%v is a bound", p)
		}
	}
}
