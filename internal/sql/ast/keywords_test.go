package ast

import "testing"

func TestQuoteIdent(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "l_shipdate": "l_shipdate", "date": "date", "größe": "größe", "a$1": "a$1", "year": "year",
		"": `""`, "A": `"A"`, "a b": `"a b"`, `a"b`: `"a""b"`, "1a": `"1a"`, "select": `"select"`, "left": `"left"`, "values": `"values"`,
	} {
		if got := QuoteIdent(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if got := QuoteString("it's"); got != "'it''s'" {
		t.Error(got)
	}
}

func TestName(t *testing.T) {
	n := Name{{Name: "s", Pos: 3}, {Name: "T", Pos: 5}}
	if n.String() != `s."T"` || n.Last() != "T" || n.Pos() != 3 {
		t.Errorf("%s %s %d", n, n.Last(), n.Pos())
	}
	if n := (Name)(nil); n.String() != "" || n.Last() != "" || n.Pos() != -1 {
		t.Errorf("%s %s %d", n, n.Last(), n.Pos())
	}
}
