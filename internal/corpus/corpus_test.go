package corpus

import "testing"

const sample = `# A comment.

statement ok
create table t(a int);

statement error 22012
select 1/0;

nopg ours
planned five tables
query rowsort rounded # why
select a,
  s from t;
----
2|(empty)
1|NULL

# The end.
`

func TestParse(t *testing.T) {
	f, err := Parse("sample", sample)
	if err != nil {
		t.Fatal(err)
	}
	if f.String() != sample {
		t.Errorf("written again:\n%s", f)
	}
	if n := len(f.Records); n != 3 {
		t.Fatalf("%d records", n)
	}
	r := f.Records[2]
	if !r.Query || !r.RowSort || !r.Rounded || r.NoPG != "ours" || r.Planned != "five tables" || r.Line != 12 || r.SQL != "select a,\n  s from t;" || len(r.Rows) != 2 {
		t.Errorf("%+v", r)
	}
	if f.Records[1].Code != "22012" {
		t.Errorf("%+v", f.Records[1])
	}
	for _, bad := range []string{"select 1", "query sorted\nselect 1\n", "statement error\nselect 1\n", "query\n\n", "nopg\nquery\nselect 1\n", "planned\nquery\nselect 1\n", "statement ok\nselect 1\n----\n1\n"} {
		if _, err := Parse("bad", bad); err == nil {
			t.Errorf("no error: %q", bad)
		}
	}
}

// TestDiff: what is compared exactly, what by value, and what within bounds.
func TestDiff(t *testing.T) {
	num := func(kind Kind, text string) [][]Cell { return [][]Cell{{{Kind: kind, Text: text}}} }
	for _, c := range []struct {
		want    string
		got     [][]Cell
		foreign Foreign
		rounded bool
		same    bool
	}{
		{"1.50", num(Exact, "1.5"), false, false, false},
		{"1.50", num(Exact, "1.5"), true, false, true},
		{"1.50", num(Other, "1.5"), true, false, false},
		{"0.333333", num(Exact, "0.33333333"), true, false, false},
		{"0.333333", num(Exact, "0.33333333"), true, true, true},
		{"0.333334", num(Exact, "0.33333333"), true, true, false},
		{"1e+20", num(Double, "1.00000000000000001e+20"), false, false, true},
		{"1", num(Double, "1.00000000001"), false, false, false},
		{"1", num(Single, "1.0000001"), false, false, true},
		{"0", num(Double, "-0"), false, false, false},
		{"NaN", num(Double, "NaN"), false, false, true},
		{"Infinity", num(Double, "1e+308"), false, false, false},
		{"NULL", [][]Cell{{{Null: true}}}, false, false, true},
		{"NULL", [][]Cell{{{Text: "NULL"}}}, false, false, false},
		{"(empty)", [][]Cell{{{Text: ""}}}, false, false, true},
		{"1", [][]Cell{{{Text: "1"}}, {{Text: "1"}}}, false, false, false},
		{"1", [][]Cell{{{Text: "1"}, {Text: "1"}}}, false, false, false},
		{"1", nil, false, false, false},
	} {
		r := &Record{Query: true, Rounded: c.rounded, Rows: []string{c.want}}
		if diff := r.Diff(c.got, c.foreign); (diff == "") != c.same {
			t.Errorf("%s against %v: %q", c.want, c.got, diff)
		}
	}
	r := &Record{Query: true, RowSort: true, Rows: []string{"b", "a"}}
	if diff := r.Diff([][]Cell{{{Text: "a"}}, {{Text: "b"}}}, false); diff != "" {
		t.Error(diff)
	}
}
