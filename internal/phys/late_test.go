package phys

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TestChooseLate: columns 1 to 4 of the plan are those of a table, two integers and two texts; 5 and 6 are 1 and 3 under other names.
func TestChooseLate(t *testing.T) {
	table := &pipe.Table{Scan: &plan.Scan{Cols: []plan.ColID{1, 2, 3, 4}, Ordinal: []int{3, 2, 1, 0},
		Table: &catalog.Table{Columns: []catalog.ColumnDef{{Type: types.TText}, {Type: types.TText}, {Type: types.TInt32}, {Type: types.TInt64}}}}}
	ops := []pipe.Op{&pipe.Map{Cols: []plan.ColID{5, 7}, Exprs: []plan.Expr{&plan.Ref{ID: 1}, &plan.Const{}}}, &pipe.Rename{From: []plan.ColID{3}, To: []plan.ColID{6}}}
	key := func(col plan.ColID) []plan.SortKey { return []plan.SortKey{{Col: col}} }
	memory, file := func(*plan.Scan) bool { return true }, func(*plan.Scan) bool { return false }
	for _, c := range []struct {
		name   string
		result pipe.Collect
		source pipe.Source
		more   bool // another pipeline ends there
		where  func(*plan.Scan) bool
		want   string
	}{
		{"a text and an integer", pipe.Collect{Cols: []plan.ColID{1, 3}, Limit: -1}, table, false, memory, "2 late columns"},
		{"two integers save too little", pipe.Collect{Cols: []plan.ColID{1, 2}, Limit: -1}, table, false, memory, "no late columns"},
		{"a column twice counts once", pipe.Collect{Cols: []plan.ColID{1, 1, 2}, Limit: -1}, table, false, memory, "no late columns"},
		{"other names", pipe.Collect{Cols: []plan.ColID{5, 6}, Limit: -1}, table, false, memory, "2 late columns"},
		{"what is computed is not late", pipe.Collect{Cols: []plan.ColID{7, 3, 4}, Limit: -1}, table, false, memory, "2 late columns"},
		{"two words do not pay", pipe.Collect{Cols: []plan.ColID{7, 3}, Limit: -1}, table, false, memory, "no late columns"},
		{"a file", pipe.Collect{Cols: []plan.ColID{1, 3}, Limit: -1}, table, false, file, "no late columns"},
		{"groups", pipe.Collect{Cols: []plan.ColID{1, 3}, Limit: -1}, &pipe.Buffer{}, false, memory, "no late columns"},
		{"a union", pipe.Collect{Cols: []plan.ColID{1, 3}, Limit: -1}, table, true, memory, "no late columns"},
		{"a sort", pipe.Collect{Cols: []plan.ColID{3, 4}, Keys: key(1), Limit: -1}, table, false, memory, "no late columns"},
		{"the first rows of one", pipe.Collect{Cols: []plan.ColID{3, 4}, Keys: key(1), Limit: 10}, table, false, memory, "2 late columns"},
		{"sort keys are in tuples", pipe.Collect{Cols: []plan.ColID{1, 3, 4}, Keys: key(3), Limit: 10}, table, false, memory, "2 late columns"},
		{"and do not count", pipe.Collect{Cols: []plan.ColID{3, 4}, Keys: key(3), Limit: 10}, table, false, memory, "no late columns"},
	} {
		p := &pipe.Pipeline{Source: c.source, Ops: ops, Sink: &c.result}
		prog := &pipe.Program{Pipelines: []*pipe.Pipeline{p}, Result: &c.result}
		if c.more {
			prog.Pipelines = append(prog.Pipelines, &pipe.Pipeline{Source: c.source, Sink: &c.result})
		}
		got := ChooseLate(prog, p, c.where)
		cols := got.Cols()
		if got.String() != c.want || len(got.Ordinal) != cols.Len() {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for id, ord := range got.Ordinal {
			if want := map[plan.ColID]int{1: 3, 2: 2, 3: 1, 4: 0, 5: 3, 6: 1}[id]; ord != want {
				t.Errorf("%s: column %d is at %d", c.name, id, ord)
			}
		}
	}
	prog := &pipe.Program{Result: collect(0, -1, 0)}
	other := &pipe.Pipeline{Source: table, Sink: collect(0, -1, 0)}
	if got := ChooseLate(prog, other, memory); len(got.Ordinal) > 0 {
		t.Errorf("not the result: %s", got)
	}
}
