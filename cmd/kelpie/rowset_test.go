package main

import (
	"math"
	"strings"
	"testing"
)

func setOf(ordered bool, rows ...[]any) *rowSet {
	s := &rowSet{ordered: ordered}
	for _, r := range rows {
		s.add(r)
	}
	return s
}

// TestRowSet: rows are compared as sets, or in an order up to ties, floating-point numbers about.
func TestRowSet(t *testing.T) {
	type rows = [][]any
	for _, c := range []struct {
		name    string
		ordered bool
		a, b    rows
		differs string
	}{
		{"same", false, rows{{1, "x"}, {2, nil}}, rows{{2, nil}, {1, "x"}}, ""},
		{"order", true, rows{{1, "x"}, {2, "a"}}, rows{{2, "a"}, {1, "x"}}, "row 1 is in another order"},
		{"falling", true, rows{{10, "x"}, {9, "z"}, {9, "a"}}, rows{{9, "z"}, {10, "x"}, {9, "a"}}, "another order"},
		{"ties", true, rows{{1, "x"}, {1, "a"}, {2, "y"}}, rows{{1, "a"}, {1, "x"}, {2, "y"}}, ""},
		{"fewer", false, rows{{1}}, rows{}, "0 rows, want 1"},
		{"twice", false, rows{{1}, {1}, {2}}, rows{{1}, {2}, {2}}, "got  \"2\"\nwant \"1\""},
		{"null", false, rows{{nil}}, rows{{"NULL"}}, "got  \"NULL\"\nwant NULL"},
		{"cells", false, rows{{"a|b", "c"}}, rows{{"a", "b|c"}}, "got"},
		{"rounding", false, rows{{"a", 1e15 / 3}}, rows{{"a", 1e15/3 + 0.1}}, ""},
		{"too far", false, rows{{"a", 1.0}}, rows{{"a", 1.00000001}}, "got  \"a\"|1.00000001"},
		{"zero", false, rows{{0.0}}, rows{{math.Copysign(0, -1)}}, ""},
		{"nan", false, rows{{math.NaN()}, {math.Inf(1)}}, rows{{math.Inf(1)}, {math.NaN()}}, ""},
		{"infinite", false, rows{{math.Inf(1)}}, rows{{math.Inf(-1)}}, "got"},
	} {
		d := setOf(c.ordered, c.a...).differs(setOf(c.ordered, c.b...))
		if (d == "") != (c.differs == "") || !strings.Contains(d, c.differs) {
			t.Errorf("%s: %q, want %q", c.name, d, c.differs)
		}
	}
	defer func(n int64) { maxRows = n }(maxRows)
	maxRows = 100
	large := func(first int, ordered bool) *rowSet {
		s := setOf(ordered, []any{first})
		for i := range maxRows {
			s.add([]any{i})
		}
		return s
	}
	if a, b := large(1, false), large(2, false); a.differs(b) == "" || a.differs(large(1, false)) != "" || len(a.rows) > 0 {
		t.Error("large sets")
	}
	for sql, want := range map[string]bool{"select 1": false, "select a from t ORDER BY (a) limit 1": true, "select * from (select a from t order by a) x": false} {
		if orderedText(sql) != want {
			t.Errorf("%s", sql)
		}
	}
}
