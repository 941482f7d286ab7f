package phys

import (
	"fmt"
	"slices"
	"testing"
)

// TestChooseVectorFront: what drops most for its price comes first, and what looks values up only where it pays.
func TestChooseVectorFront(t *testing.T) {
	look := func(share, cost float64) Test { return Test{Share: share, Cost: cost, Looks: true} }
	for _, c := range []struct {
		name   string
		tests  []Test
		gather bool
		want   string
		order  string
	}{
		{"none", nil, true, "row by row", "[] []"},
		{"one", []Test{{Share: 0.9, Cost: 1}}, false, "64 rows at a time by 1 test, 90% pass", "[0] []"},
		{"one that most rows pass", []Test{{Share: 0.91, Cost: 1}}, false, "row by row", "[] []"},
		{"the cheaper one first", []Test{{Share: 0.5, Cost: 2}, {Share: 0.5, Cost: 1}}, false, "64 rows at a time by 2 tests, 25% pass", "[1 0] []"},
		{"the better one first", []Test{{Share: 0.5, Cost: 2}, {Share: 0.1, Cost: 3}}, false, "64 rows at a time by 2 tests, 5% pass", "[1 0] []"},
		{"equal ones as they come", []Test{{Share: 0.5, Cost: 1}, {Share: 0.5, Cost: 1}, {Share: 0.5, Cost: 1}}, false, "64 rows at a time by 3 tests, 12% pass", "[0 1 2] []"},
		{"nothing looked up", []Test{look(0.1, 1), {Share: 0.5, Cost: 9}}, false, "64 rows at a time by 1 test, 50% pass", "[1] [0]"},
		{"looked up", []Test{look(0.1, 1), {Share: 0.5, Cost: 9}}, true, "64 rows at a time by 2 tests, 5% pass", "[0 1] []"},
		{"looked up alone", []Test{look(0.1, 1)}, false, "row by row", "[] []"},
		{"few rows are left to look up", []Test{{Share: 0.08, Cost: 1}, look(0.5, 9)}, true, "64 rows at a time by 2 tests, 4% pass", "[0 1] []"},
		{"too few", []Test{{Share: 0.07, Cost: 1}, look(0.5, 9)}, true, "64 rows at a time by 1 test, 7% pass", "[0] [1]"},
		{"hardly any", []Test{{Share: 0.004, Cost: 1}}, true, "64 rows at a time by 1 test, <1% pass", "[0] []"},
	} {
		f := ChooseVectorFront(c.tests, c.gather)
		if order := fmt.Sprint(f.Tests, f.Left); f.String() != c.want || order != c.order {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, f, order, c.want, c.order)
		}
	}
	if MayVector(511) || !MayVector(512) {
		t.Error("512 rows are enough")
	}
}

// TestChooseLaneFront: 8 rows a lane, 4 of wide columns.
func TestChooseLaneFront(t *testing.T) {
	look := func(share, cost float64) Test { return Test{Share: share, Cost: cost, Looks: true, Width: 2} }
	for _, c := range []struct {
		name  string
		tests []Test
		want  string
		order string
	}{
		{"none", nil, "row by row", "[] []"},
		{"narrow", []Test{{Share: 0.4, Width: 2}}, "8 rows at a time by 1 test, 40% pass", "[0] []"},
		{"most pass", []Test{{Share: 0.41, Width: 2}}, "row by row", "[] []"},
		{"wide", []Test{{Share: 0.5, Width: 4}, {Share: 0.5, Width: 1}}, "4 rows at a time by 2 tests, 25% pass", "[0 1] []"},
		{"looked up last", []Test{look(0.5, 1), {Share: 0.5, Width: 1}}, "8 rows at a time by 2 tests, 25% pass", "[1 0] []"},
		{"the nearer set first", []Test{look(0.5, 3), look(0.5, 1)}, "8 rows at a time by 2 tests, 25% pass", "[1 0] []"},
		{"the better set first", []Test{look(0.9, 1), look(0.2, 3)}, "8 rows at a time by 2 tests, 18% pass", "[1 0] []"},
		{"enough rows to look up", []Test{{Share: 0.15, Width: 1}, look(0.1, 1)}, "8 rows at a time by 2 tests, 2% pass", "[0 1] []"},
		{"too few", []Test{{Share: 0.14, Width: 1}, look(0.1, 1)}, "8 rows at a time by 1 test, 14% pass", "[0] [1]"},
		{"what is left is not wide", []Test{{Share: 0.14, Width: 1}, {Share: 0.1, Width: 4, Looks: true, Cost: 1}}, "8 rows at a time by 1 test, 14% pass", "[0] [1]"},
	} {
		f := ChooseLaneFront(c.tests)
		if order := fmt.Sprint(f.Tests, f.Left); f.String() != c.want || order != c.order {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, f, order, c.want, c.order)
		}
	}
	tests := []Test{{Share: 0.1}, {Share: 0.2}}
	if ChooseLaneFront(tests); !slices.Equal(tests, []Test{{Share: 0.1}, {Share: 0.2}}) {
		t.Error("facts have changed")
	}
}

// TestPercent: what rows pass is never said to be none if some may.
func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0%", 1e-9: "<1%", 0.0099: "<1%", 0.01: "1%", 0.014: "1%", 0.5: "50%", 1: "100%"} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, not %s", share, got, want)
		}
	}
}
