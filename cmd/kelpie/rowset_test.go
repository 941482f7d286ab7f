package main

import (
	"math"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/gen"
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
	for sql, want := range map[string]bool{"select 1": false, "select a from t ORDER BY (a) limit 1": true, "select * from (select a from t order by a) x": false} {
		if orderedText(sql) != want {
			t.Errorf("%s", sql)
		}
	}
}

// TestRowSetLarge: of a large result hashes are compared, which tell a value, a NULL, a column and, where it counts, the order.
func TestRowSetLarge(t *testing.T) {
	defer func(n int64) { maxRows = n }(maxRows)
	maxRows = 100
	db, err := kelpie.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ask := func(sql string) *rowSet {
		s, err := askRows(t.Context(), db.Session(), gen.Query{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const same = "select g, g::smallint, g * 1.5, g / 3::double precision, 'x' || g, date '2020-01-01' + g, nullif(g, 7), g = 3, interval '1 day' * g from generate_series(1, 20000) t(g)"
	want := ask(same)
	if want.n != 20000 || len(want.rows) > 0 {
		t.Fatalf("%d rows, %d kept", want.n, len(want.rows))
	}
	for _, c := range []struct {
		from, to string
		differs  bool
	}{
		{"", "", false},
		{"/ 3::double precision", "/ 3::double precision * 1.0000000000001", false},
		{"/ 3::double precision", "/ 3::double precision * 1.001", true},
		{"nullif(g, 7)", "nullif(g, 8)", true},
		{"nullif(g, 7)", "nullif(g, 20000)", true},
		{"'x' || g", "'x' || (g + (g = 9999)::int)", true},
		{"g * 1.5", "g * 1.6", true},
		{"g = 3", "g = 4", true},
		{"+ g", "- g", true},
		{"interval '1 day'", "interval '2 days'", true},
		{"(1, 20000)", "(1, 19999)", true},
		{"(1, 20000)", "(20000, 1, -1)", false},
		{"select g, g::smallint", "select g, (g - (g = 5)::int + (g = 6)::int)::smallint", true},
	} {
		got := ask(strings.Replace(same, c.from, c.to, 1))
		if d := want.differs(got); (d != "") != c.differs {
			t.Errorf("%s for %s: %q", c.to, c.from, d)
		}
	}
	want.ordered = true
	if d := want.differs(ask(same)); d != "" {
		t.Errorf("the same order: %s", d)
	}
	if want.differs(ask(strings.Replace(same, "(1, 20000)", "(20000, 1, -1)", 1))) == "" {
		t.Error("another order was not seen")
	}
}
