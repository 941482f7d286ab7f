package phys

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// scanOf is a scan of a table's second column, as column 7 of the plan.
func scanOf(t types.Type, distinct float64) *plan.Scan {
	return &plan.Scan{Table: &catalog.Table{Columns: []catalog.ColumnDef{{Type: types.TText}, {Type: t}}}, Cols: []plan.ColID{7}, Ordinal: []int{1},
		Snap: &catalog.Snapshot{Stats: []catalog.ColumnStats{{Distinct: 1}, {Distinct: distinct}}}}
}

// TestCanReduce: only integers are tested against a set of integers, and only where NULL matches nothing.
func TestCanReduce(t *testing.T) {
	for _, c := range []struct {
		name     string
		scanned  types.Type
		key      layout.Form
		nullSafe []bool
		col      plan.ColID
		want     bool
	}{
		{"integers", types.TInt32, layout.I64, nil, 7, true},
		{"decimals of one word", types.TDecimal(12, 2), layout.I64, []bool{true, false}, 7, true},
		{"a key of two words", types.TInt64, layout.I128, nil, 7, false},
		{"a key that is a code", types.TInt64, layout.Code, nil, 7, false},
		{"floats", types.TFloat64, layout.I64, nil, 7, false},
		{"texts", types.TText, layout.I64, nil, 7, false},
		{"NULL equals NULL", types.TInt32, layout.I64, []bool{false, true}, 7, false},
		{"another column", types.TInt32, layout.I64, nil, 8, false},
	} {
		tuple := layout.NewTuple(false, false, []layout.Field{{Desc: layout.Desc{Type: types.TText, Form: layout.Str}}, {Desc: layout.Desc{Type: c.scanned, Form: c.key}}})
		rd := pipe.Reduce{Build: &pipe.Build{NullSafe: c.nullSafe}, Key: 1, Col: c.col}
		if got := CanReduce(&pipe.Table{Scan: scanOf(c.scanned, 0)}, rd, tuple); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestWorthReducing: a filter that most rows pass is not worth its test; of an unknown column nothing is known.
func TestWorthReducing(t *testing.T) {
	for _, c := range []struct {
		values   int64
		distinct float64
		col      plan.ColID
		share    float64
		worth    bool
	}{
		{80, 100, 7, 0.8, true}, {81, 100, 7, 0.81, false}, {1, 0, 7, 0, true}, {100, 100, 8, 0, true},
	} {
		if share, worth := WorthReducing(c.values, scanOf(types.TInt32, c.distinct), c.col); share != c.share || worth != c.worth {
			t.Errorf("%d values of %v in column %d: %v, %t", c.values, c.distinct, c.col, share, worth)
		}
	}
}

// TestMayReduce: where all rows would be tested by a filter, few that pass the scan's own tests are not worth one.
func TestMayReduce(t *testing.T) {
	for _, c := range []struct {
		tests int
		rows  float64
		can   Capabilities
		want  bool
	}{
		{1, 25, Capabilities{FewFilters: true}, true},
		{1, 24, Capabilities{FewFilters: true}, false},
		{0, 24, Capabilities{FewFilters: true}, true},
		{1, 24, Capabilities{}, true},
	} {
		scan := scanOf(types.TInt32, 0)
		scan.Snap.Rows, scan.Props().Rows = 100, c.rows
		if got := MayReduce(&pipe.Table{Scan: scan, Filter: make([]plan.Expr, c.tests)}, c.can); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// TestWorthAnother: where filters cost a launch each, many rows must be left for one more.
func TestWorthAnother(t *testing.T) {
	few := Capabilities{FewFilters: true}
	if WorthAnother(manyLeft-1, few) || !WorthAnother(manyLeft, few) || !WorthAnother(0, Capabilities{}) {
		t.Error("another filter")
	}
}
