package phys

import (
	"slices"
	"testing"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// TestChooseDirect: columns 1 and 2 of the plan are the third and the first of a table; 5 is 1 under another name, 6 is computed.
func TestChooseDirect(t *testing.T) {
	table := func(change func(*pipe.Table)) *pipe.Table {
		out := &pipe.Table{Scan: &plan.Scan{Cols: []plan.ColID{1, 2}, Ordinal: []int{2, 0}}}
		if change != nil {
			change(out)
		}
		return out
	}
	names := []pipe.Op{&pipe.Map{Cols: []plan.ColID{5, 6}, Exprs: []plan.Expr{&plan.Ref{ID: 1}, &plan.Const{}}}}
	for _, c := range []struct {
		name   string
		source pipe.Source
		ops    []pipe.Op
		cols   []plan.ColID
		keys   []plan.SortKey
		stages int
		more   bool
		want   []int // nil: by code
	}{
		{name: "columns", source: table(nil), cols: []plan.ColID{2, 1}, want: []int{0, 2}},
		{name: "one of them twice, by two names", source: table(nil), ops: names, cols: []plan.ColID{5, 1}, want: []int{2, 2}},
		{name: "something computed", source: table(nil), ops: names, cols: []plan.ColID{1, 6}},
		{name: "a sort", source: table(nil), cols: []plan.ColID{1}, keys: []plan.SortKey{{Col: 1}}},
		{name: "a filter in the scan", source: table(func(t *pipe.Table) { t.Filter = []plan.Expr{&plan.Const{}} }), cols: []plan.ColID{1}},
		{name: "a filter by keys", source: table(func(t *pipe.Table) { t.Reduce = make([]pipe.Reduce, 1) }), cols: []plan.ColID{1}},
		{name: "another operator", source: table(nil), ops: []pipe.Op{&pipe.Filter{}}, cols: []plan.ColID{1}},
		{name: "no table", source: &pipe.Buffer{}, cols: []plan.ColID{1}},
		{name: "Go computes something", source: table(nil), cols: []plan.ColID{1}, stages: 1},
		{name: "another pipeline", source: table(nil), cols: []plan.ColID{1}, more: true},
	} {
		p := &pipe.Pipeline{Source: c.source, Ops: c.ops, Stages: make([]*pipe.Pipeline, c.stages)}
		prog := &pipe.Program{Pipelines: []*pipe.Pipeline{p}, Result: &pipe.Collect{Cols: c.cols, Keys: c.keys, Limit: -1}}
		if c.more {
			prog.Pipelines = append(prog.Pipelines, p)
		}
		got := ChooseDirect(prog)
		text := "by code"
		if c.want != nil {
			text = "the table's columns are the result"
		}
		if !slices.Equal(got.Ordinal, c.want) || (got.Scan == nil) != (c.want == nil) || got.String() != text {
			t.Errorf("%s: %v %s, want %v", c.name, got.Ordinal, got, c.want)
		}
	}
}
