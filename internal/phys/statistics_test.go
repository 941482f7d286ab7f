package phys

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TestBelievedKeys: that a left row has at most one match says that the keys of the right side are unique, and nothing about
// those of the left; what a side itself says counts for both.
func TestBelievedKeys(t *testing.T) {
	table := &catalog.Table{Name: "t", Keys: [][]int{{0, 2}}}
	scan := &plan.Scan{Table: table, Cols: []plan.ColID{1, 2, 3}, Ordinal: []int{0, 1, 2}}
	series := &plan.Series{Col: 9, N: 5}
	ref := func(ids ...plan.ColID) (out []plan.Expr) {
		for _, id := range ids {
			out = append(out, &plan.Ref{ID: id, T: types.TInt64})
		}
		return out
	}
	counted := func(distinct float64) *plan.Scan {
		snap := &catalog.Snapshot{Rows: 100, Stats: []catalog.ColumnStats{{Distinct: distinct}}}
		return &plan.Scan{Table: &catalog.Table{Name: "u"}, Snap: snap, Cols: []plan.ColID{5}, Ordinal: []int{0}}
	}
	for _, c := range []struct {
		name string
		join plan.Join
		keys []plan.Expr
		want bool
	}{
		{"right, at most one", plan.Join{Left: series, Right: scan, AtMostOne: true}, ref(1), true},
		{"right, any number", plan.Join{Left: series, Right: scan}, ref(1), false},
		{"right, a key of the table", plan.Join{Left: series, Right: scan}, ref(3, 1), true},
		{"right, no column", plan.Join{Left: series, Right: scan}, []plan.Expr{plan.NullConst(types.TInt64)}, false},
		{"left, at most one on the right", plan.Join{Left: scan, Right: series, AtMostOne: true, BuildLeft: true}, ref(1), false},
		{"left, a key of the table", plan.Join{Left: scan, Right: series, BuildLeft: true}, ref(1, 3), true},
		{"left, a series", plan.Join{Left: series, Right: scan, BuildLeft: true}, ref(9), true},
		// What was joined before: rows of a side stay unique where each finds at most one match.
		{"a join, its left side unique, at most one", plan.Join{Left: &plan.Join{Left: series, Right: scan, AtMostOne: true}, Right: scan, BuildLeft: true}, ref(9), true},
		{"a join, its left side unique, any number", plan.Join{Left: &plan.Join{Left: series, Right: scan, LKeys: ref(9), RKeys: ref(2)}, Right: scan, BuildLeft: true}, ref(9), false},
		{"a join, its right side unique, left keys unique", plan.Join{Left: &plan.Join{Left: series, Right: scan, LKeys: ref(9), RKeys: ref(2)}, Right: scan, BuildLeft: true}, ref(1, 3), true},
		{"a join, its right side unique, left keys not", plan.Join{Left: &plan.Join{Left: scan, Right: series, LKeys: ref(1), RKeys: ref(9)}, Right: scan, BuildLeft: true}, ref(9), false},
		// What statistics say of a column that is no declared key.
		{"nearly all different", plan.Join{Left: series, Right: counted(91)}, ref(5), true},
		{"too few different", plan.Join{Left: series, Right: counted(89)}, ref(5), false},
	} {
		if got, _ := BelievedKeys(&pipe.Build{Join: &c.join, Keys: c.keys}, nil).Unique(Table{}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
