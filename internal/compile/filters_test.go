package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/techniques"
	"github.com/kelpiedb/kelpie/internal/types"
)

// madeKeys are the keys of a build side of which so many are believed, and so many found when a set of them is made.
type madeKeys struct {
	believed, found int64
	drops           bool // a set of them could drop something
	err             error
	made            *[]int64 // what sets were made of, in order
}

func (k *madeKeys) Count() int64 { return k.believed }

func (k *madeKeys) Filter() (scanned.Filter, bool, error) {
	*k.made = append(*k.made, k.believed)
	k.believed = k.found
	return scanned.Filter{Kind: layout.Bitmap}, k.drops, k.err
}

// fewFacts know keys of build sides alone.
type fewFacts struct {
	Facts
	keys map[*pipe.Build]Keys
}

func (f fewFacts) Keys(b *pipe.Build, key int) (Keys, error) {
	if k := f.keys[b]; k != nil {
		return k, nil
	}
	return nil, nil
}

func (f fewFacts) Rows(pipe.Sink) (Rows, bool) { return Rows{}, false }

// TestFilters: a scan of 10 million rows whose column has 100 values, and build sides with so many of them each.
func TestFilters(t *testing.T) {
	const rows = 10_000_000
	all := phys.Capabilities{}
	few := phys.Capabilities{FewFilters: true}
	for _, c := range []struct {
		name     string
		can      phys.Capabilities
		off      techniques.Off
		believed []int64 // of each build side; 0: its keys are not known, -1: it is not finished
		found    []int64 // nil: the same
		useless  bool    // sets drop nothing
		made     []int64
		want     []int // build sides whose keys filter, in order
	}{
		{name: "all that drop rows", can: all, believed: []int64{50, 81, 80, 10}, made: []int64{50, 80, 10}, want: []int{0, 2, 3}},
		{name: "none", can: all, off: techniques.Off{SemiJoins: true}, believed: []int64{50}},
		{name: "what is not known or not finished", can: all, believed: []int64{0, -1, 50}, made: []int64{50}, want: []int{2}},
		{name: "more than was believed", can: all, believed: []int64{50, 60}, found: []int64{90, 60}, made: []int64{50, 60}, want: []int{1}},
		{name: "nothing to drop", can: all, believed: []int64{50, 60}, useless: true, made: []int64{50, 60}},
		{name: "the best alone, few rows are left", can: few, believed: []int64{50, 10, 40}, made: []int64{10}, want: []int{1}},
		{name: "not much better: in the order of the joins", can: few, believed: []int64{20, 10}, made: []int64{20}, want: []int{0}},
		{name: "clearly better", can: few, believed: []int64{20, 9}, made: []int64{9}, want: []int{1}},
		{name: "many are left: those behind the best, then those before it", can: few, believed: []int64{75, 37, 60}, made: []int64{37, 60, 75}, want: []int{1, 2, 0}},
		{name: "until few are left", can: few, believed: []int64{75, 50, 36, 60}, made: []int64{36, 60, 75}, want: []int{2, 3, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			snap := &catalog.Snapshot{Rows: rows, Stats: []catalog.ColumnStats{{Distinct: 100}}}
			scan := &plan.Scan{Props_: plan.Props{Rows: rows}, Snap: snap, Cols: []plan.ColID{7}, Ordinal: []int{0},
				Table: &catalog.Table{Columns: []catalog.ColumnDef{{Type: types.TInt64}}}}
			table := &pipe.Table{Scan: scan}
			w := New(&pipe.Program{}, Place{Can: c.can}, Options{Off: c.off})
			facts := fewFacts{keys: map[*pipe.Build]Keys{}}
			var made []int64
			var builds []*pipe.Build
			for i, n := range c.believed {
				b := &pipe.Build{}
				builds = append(builds, b)
				table.Reduce = append(table.Reduce, pipe.Reduce{Build: b, Col: 7})
				if n >= 0 {
					w.Tables[b] = &layout.Table{Tuple: &layout.Tuple{Fields: []layout.Field{{Desc: layout.Desc{Form: layout.I64}}}}}
				}
				if n > 0 {
					found := n
					if c.found != nil {
						found = c.found[i]
					}
					facts.keys[b] = &madeKeys{believed: n, found: found, drops: !c.useless, made: &made}
				}
			}
			got, err := w.filters(table, facts)
			if err != nil {
				t.Fatal(err)
			}
			var from []int
			for i, f := range got {
				k := slices.Index(builds, f.Build)
				from = append(from, k)
				if want := float64(facts.keys[f.Build].Count()) / 100; f.Share != want || f.Index != i || f.Col != 7 {
					t.Errorf("filter %d: share %v, want %v; index %d, column %d", i, f.Share, want, f.Index, f.Col)
				}
			}
			if !slices.Equal(from, c.want) || !slices.Equal(made, c.made) {
				t.Errorf("filters of %v, want %v; sets made of %v, want %v", from, c.want, made, c.made)
			}
		})
	}
}

// TestFilterFails: what goes wrong while a set is made is told.
func TestFilterFails(t *testing.T) {
	b, broken := &pipe.Build{}, errors.New("no memory")
	scan := &plan.Scan{Snap: &catalog.Snapshot{Stats: make([]catalog.ColumnStats, 1)}, Cols: []plan.ColID{7}, Ordinal: []int{0},
		Table: &catalog.Table{Columns: []catalog.ColumnDef{{Type: types.TInt64}}}}
	w := New(&pipe.Program{}, Place{}, Options{})
	w.Tables[b] = &layout.Table{Tuple: &layout.Tuple{Fields: []layout.Field{{Desc: layout.Desc{Form: layout.I64}}}}}
	_, err := w.filters(&pipe.Table{Scan: scan, Reduce: []pipe.Reduce{{Build: b, Col: 7}}},
		fewFacts{keys: map[*pipe.Build]Keys{b: &madeKeys{believed: 1, err: broken, made: new([]int64)}}})
	if err != broken {
		t.Errorf("error %v", err)
	}
}

// TestMissing: a pipeline whose build side or input is not compiled cannot be, and says which.
func TestMissing(t *testing.T) {
	b, sink := &pipe.Build{}, &pipe.Collect{Limit: -1}
	before := &pipe.Collect{Limit: -1}
	for _, p := range []*pipe.Pipeline{
		{Source: &pipe.Table{}, Ops: []pipe.Op{&pipe.Probe{Build: b}}, Sink: sink},
		{Source: &pipe.Buffer{Of: before}, Sink: sink},
	} {
		w := New(&pipe.Program{Pipelines: []*pipe.Pipeline{p}, Result: sink}, Place{}, Options{})
		_, err := w.Step(p, fewFacts{})
		if got := fmt.Sprint(err); !strings.Contains(got, "which is not compiled") {
			t.Errorf("error %s", got)
		}
	}
}

// TestForget: a sink's layout is that of the first fragment until it is forgotten, its table too.
func TestForget(t *testing.T) {
	b, other := &pipe.Build{}, &pipe.Collect{}
	w := New(&pipe.Program{}, Place{}, Options{})
	for _, s := range []pipe.Sink{b, other} {
		w.sinks[s] = &Layout{MaxRows: 3}
		w.unions[s] = []layout.Field{{}}
	}
	w.Tables[b] = &layout.Table{}
	if w.Layout(b).MaxRows != 3 {
		t.Error("a layout is not found")
	}
	w.Forget(b)
	if w.Layout(b) != nil || w.unions[b] != nil || w.Tables[b] != nil || w.Layout(other) == nil || w.unions[other] == nil {
		t.Error("one sink is to be forgotten, with all that is known of it")
	}
	w.Forget(other)
	if w.Layout(other) != nil {
		t.Error("the other one, too")
	}
}
