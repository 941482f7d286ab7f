package gpu

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TestPrefiltered: the CPU tests filters where something of their columns crosses the bus, or is read there, and, left to decide, where that is much and its threads
// have nothing else to do.
func TestPrefiltered(t *testing.T) {
	if !device.HasCPU() {
		t.Skip("nobody could test them")
	}
	value := func(i int64) types.Value { return types.IntValue(types.TInt64, i) }
	snap := &catalog.Snapshot{Rows: 1 << 30, Table: &catalog.Table{Columns: []catalog.ColumnDef{{Name: "a", Type: types.TInt64}, {Name: "n", Type: types.TInt64}, {Name: "t", Type: types.TText}}},
		Stats: []catalog.ColumnStats{{HasRange: true, Max: value(1000)}, {HasRange: true, Max: value(1 << 40), NullCount: 5}, {AvgLen: 100}}}
	const a, n, text = 0, 1, 2
	cols := &plan.Columns{}
	query := &plan.Query{Cols: cols}
	scan := &plan.Scan{Snap: snap, Table: snap.Table, Ordinal: []int{a, n, text}}
	for _, c := range snap.Table.Columns {
		scan.Cols = append(scan.Cols, cols.New(c.Name, c.Type, false))
	}
	table := &pipe.Table{Scan: scan, Filter: []plan.Expr{&plan.Ref{ID: scan.Cols[a], T: types.TInt64}}}
	if x, y, z, p := bitsOf(table, a, packing{}), bitsOf(table, n, packing{}), bitsOf(table, n, packing{bits: 41}), bitsOf(table, a, packing{bits: 10}); x != 16 || y != 72 || z != 49 || p != 10 {
		t.Error(x, y, z, p)
	}
	for _, c := range []struct {
		name   string
		sink   []plan.ColID
		parts  map[int]part
		mode   phys.Prefilter
		shares bool
		want   bool
	}{
		{"16 bits", scan.Cols[n:], map[int]part{a: streamed}, phys.PrefilterOn, false, true},
		{"too few", scan.Cols[n:], map[int]part{a: streamed}, phys.PrefilterAuto, false, false},
		{"they are there", scan.Cols[n:], map[int]part{n: streamed}, phys.PrefilterOn, false, false},
		{"they are needed", scan.Cols, map[int]part{a: streamed, n: streamed}, phys.PrefilterOn, false, false},
		{"88 bits", scan.Cols[text:], map[int]part{a: streamed, n: streamed}, phys.PrefilterAuto, false, true},
		{"72 bits", scan.Cols[text:], map[int]part{n: streamed}, phys.PrefilterAuto, false, true},
		{"a text over the bus", scan.Cols[a:text], map[int]part{text: far}, phys.PrefilterAuto, false, true},
		{"threads have their own rows", scan.Cols[text:], map[int]part{a: streamed, n: streamed}, phys.PrefilterAuto, true, false},
		{"in any case", scan.Cols[text:], map[int]part{n: streamed}, phys.PrefilterOn, true, true},
		{"nobody wants it", scan.Cols[text:], map[int]part{n: streamed}, phys.PrefilterOff, false, false},
	} {
		l := &lease{parts: map[itemKey]part{}, terms: terms{pass: c.shares}}
		for ord, p := range c.parts {
			l.parts[keyOf(snap, ord)] = p
		}
		prog := &pipe.Program{Query: query, Pipelines: []*pipe.Pipeline{{Source: table, Sink: &pipe.Collect{Cols: c.sink}}}}
		got := l.prefiltered(prog, &exec.Options{Prefilter: c.mode, Threads: 16})
		if (got != prog) != c.want || table.Before != nil || cols.Len() != 4 {
			t.Errorf("%s: %v", c.name, got != prog)
		}
		if got == prog {
			continue
		}
		s := got.Pipelines[0].Source.(*pipe.Table)
		if k := len(s.Scan.Cols) - 1; s.Before != table || s.Scan.Ordinal[k] != plan.Tested || k != len(c.sink) || got.Query.Cols.Len() != 5 {
			t.Errorf("%s: %+v", c.name, s.Scan)
		}
	}
}
