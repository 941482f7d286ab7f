package phys

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

func TestChooseSample(t *testing.T) {
	snap := &catalog.Snapshot{Stats: []catalog.ColumnStats{{Sorted: true, Min: types.IntValue(types.TInt64, 3), Max: types.IntValue(types.TInt64, 9)}, {NullCount: 1}, {}}}
	table := &catalog.Table{Columns: []catalog.ColumnDef{{Type: types.TInt64}, {Type: types.TInt64}, {Type: types.TText}}}
	scan := &pipe.Table{Scan: &plan.Scan{Table: table, Snap: snap, Cols: []plan.ColID{11, 12, 13}, Ordinal: []int{0, 1, 2}}}
	key := func(col plan.ColID, desc, nullsFirst bool) []plan.SortKey {
		return []plan.SortKey{{Col: col, Desc: desc, NullsFirst: nullsFirst}}
	}
	for _, c := range []struct {
		name      string
		sink      pipe.Collect
		rows, own int64
		from, n   int64
		op        plan.Op
	}{
		{"ascending", pipe.Collect{Keys: key(11, false, false), Limit: 10}, 8 << 20, 0, 0, 1 << 20, plan.Le},
		{"the last rows are the best", pipe.Collect{Keys: key(11, true, true), Limit: 10}, 8<<20 + 1, 0, 7 << 20, 1<<20 + 1, plan.Ge},
		{"not sorted", pipe.Collect{Keys: key(12, true, false), Limit: 10}, 8 << 20, 0, 0, 1 << 20, plan.Ge},
		{"NULLs first", pipe.Collect{Keys: key(12, true, true), Limit: 10}, 8 << 20, 0, 0, 0, 0},
		{"a text", pipe.Collect{Keys: key(13, false, false), Limit: 10}, 8 << 20, 0, 0, 0, 0},
		{"another column", pipe.Collect{Keys: key(14, false, false), Limit: 10}, 8 << 20, 0, 0, 0, 0},
		{"few rows", pipe.Collect{Keys: key(11, false, false), Limit: 10}, sampleLeast - 1, 0, 0, 0, 0},
		{"many wanted", pipe.Collect{Keys: key(11, false, false), Limit: 100000, Offset: 10000}, 8 << 20, 0, 0, 1760000 &^ 255, plan.Le},
		{"too many wanted", pipe.Collect{Keys: key(11, false, false), Limit: 1 << 20}, 8 << 20, 0, 0, 0, 0},
		{"all wanted", pipe.Collect{Keys: key(11, false, false), Limit: -1}, 8 << 20, 0, 0, 0, 0},
		{"none wanted", pipe.Collect{Keys: key(11, false, false), Limit: 0}, 8 << 20, 0, 0, 0, 0},
		{"somebody wants it", pipe.Collect{Keys: key(11, false, false), Limit: 100}, 1000, 200, 0, 256, plan.Le},
		{"smaller than that", pipe.Collect{Keys: key(11, false, false), Limit: 100}, 256, 200, 0, 0, 0},
	} {
		got := ChooseSample(&pipe.Pipeline{Source: scan, Sink: &c.sink}, c.rows, c.own)
		if got.From != c.from || got.Rows != c.n || got.Op != c.op {
			t.Errorf("%s: from %d, %d rows, %v; want %d, %d, %v", c.name, got.From, got.Rows, got.Op, c.from, c.n, c.op)
		}
		if from, to := got.Others(c.rows); got.Rows > 0 && to-from+got.Rows != c.rows {
			t.Errorf("%s: others from %d to %d", c.name, from, to)
		}
	}
}
