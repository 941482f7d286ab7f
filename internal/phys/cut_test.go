package phys

import (
	"slices"
	"testing"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

func TestRegisters(t *testing.T) {
	for pressure, want := range map[int]int{0: 18, 20: 27, 40: 36, 41: 36, 60: 54, 200: 180} {
		if got := Registers(pressure); got != want {
			t.Errorf("%d wanted at a time: %d registers, not %d", pressure, got, want)
		}
	}
}

func TestFuseBudget(t *testing.T) {
	for text, want := range map[string]int{"auto": 128, "16": 16, "255": 255} {
		b, err := ParseFuseBudget(text)
		if err != nil || b.Allowed() != want || b.String() != text {
			t.Errorf("%s: %d registers as %s, %v", text, b.Allowed(), b, err)
		}
	}
	for _, text := range []string{"", "15", "256", "0", "-20", "many"} {
		if _, err := ParseFuseBudget(text); err == nil {
			t.Errorf("%q is a budget", text)
		}
	}
}

// TestMostPressure: a glance at a pipeline counts values wherever they are computed.
func TestMostPressure(t *testing.T) {
	ref := plan.Expr(&plan.Ref{})
	two := plan.Expr(&plan.Call{Args: []plan.Expr{ref}})
	collect := &pipe.Collect{}
	for i, c := range []struct {
		p      pipe.Pipeline
		values int
	}{
		{pipe.Pipeline{Source: &pipe.Table{Filter: []plan.Expr{two, ref}, Reduce: make([]pipe.Reduce, 2)}, Sink: collect}, 5},
		{pipe.Pipeline{Ops: []pipe.Op{&pipe.Filter{Preds: []plan.Expr{two}}, &pipe.Map{Exprs: []plan.Expr{two, two}}}, Sink: collect}, 6},
		{pipe.Pipeline{Ops: []pipe.Op{&pipe.Probe{Keys: []plan.Expr{ref}, On: []plan.Expr{two}}}, Sink: &pipe.Build{Keys: []plan.Expr{two}}}, 5},
		{pipe.Pipeline{Sink: &pipe.Aggregate{Group: &plan.Group{Keys: []plan.Expr{ref}, Aggs: []plan.Agg{{Arg: two, Filter: ref}, {}}}}}, 1 + 3 + 3 + 3},
	} {
		if got := MostPressure(&c.p); got != 48+2*c.values {
			t.Errorf("%d: %d registers, not %d", i, got, 48+2*c.values)
		}
	}
}

// TestCutPlaces: a pipeline can be cut behind what drops or makes rows or computes something, and before a sink that does more than keep them.
func TestCutPlaces(t *testing.T) {
	filter, join := &plan.Filter{}, &plan.Join{}
	filter.Props().Rows, join.Props().Rows = 50, 70
	ops := []pipe.Op{&pipe.Filter{Node: filter}, &pipe.Rename{}, &pipe.Probe{Join: join, Build: &pipe.Build{Join: join}}}
	groups := &pipe.Pipeline{Source: &pipe.Constants{}, Ops: ops, Sink: &pipe.Aggregate{}}
	kept := &pipe.Pipeline{Source: &pipe.Constants{}, Ops: ops, Sink: &pipe.Collect{}}
	round := &pipe.Pipeline{Source: &pipe.Constants{}, Ops: ops, Sink: &pipe.Collect{}, Loop: &pipe.Rounds{}}
	for _, c := range []struct {
		p    *pipe.Pipeline
		want []CutPlace
	}{
		{groups, []CutPlace{{1, "the filter", OnThread, 50}, {3, "the join", OnBlock, 70}}},
		{kept, []CutPlace{{1, "the filter", OnThread, 50}}},
		{round, nil},
	} {
		if got := CutPlaces(c.p); !slices.Equal(got, c.want) {
			t.Errorf("%v, not %v", got, c.want)
		}
	}
}
