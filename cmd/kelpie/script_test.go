package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie"
)

// TestScriptAsItComes: a statement can run before the next one is there.
func TestScriptAsItComes(t *testing.T) {
	in, out := io.Pipe()
	s := newScript("", in)
	for _, c := range []struct{ give, want string }{
		{"select 1;\n", "select 1;"},
		{"select\n 2; select 3;\n", "select\n 2;"},
		{"", " select 3;"},
		{"select ';\n';\n", "select ';\n';"},
		{`\d t` + "\n", `\d t`},
		{"select 4 \\g\n", `\g`},
	} {
		if c.give != "" {
			go io.WriteString(out, c.give)
		}
		it, err := s.next()
		if err != nil || it.text != strings.TrimSpace(c.want) {
			t.Fatalf("%q: %q, %v", c.give, it.text, err)
		}
	}
	if p := s.pending(); p != "select 4" {
		t.Errorf("%q is left", p)
	}
	out.CloseWithError(errors.New("broken"))
	if _, err := s.next(); err == nil || err.Error() != "broken" {
		t.Errorf("%v", err)
	}
}

// TestScriptLong: a statement of very many lines, and very many statements in a line, take no time to cut.
func TestScriptLong(t *testing.T) {
	n := 200_000
	s := scriptOf("", "insert into t values\n"+strings.Repeat("(1, 'x'),\n", n)+"(2, 'y');"+strings.Repeat("select 1;", n))
	count := 0
	for {
		it, err := s.next()
		if err == io.EOF {
			break
		}
		if count++; count == 1 && len(it.text) != 21+10*n+9 || count > 1 && (it.text != "select 1;" || it.line != n+1) {
			t.Fatalf("item %d: %d bytes in line %d", count, len(it.text), it.line)
		}
	}
	if count != n+1 {
		t.Errorf("%d items", count)
	}
}

// TestScreen: on a terminal, results have as many rows and columns as fit; the code that EXPLAIN shows is all there.
func TestScreen(t *testing.T) {
	db, err := kelpie.Open()
	if err != nil {
		t.Fatal(err)
	}
	dates := strings.Repeat(", '2024-01-01'::date", 30)[2:]
	for _, c := range []struct {
		commands, sql string
		want, not     string
	}{
		{"", "select * from generate_series(1, 10000) t(i)", "\n 16\n… 9,984 more rows; --format csv shows all\n(10000 rows)\n", " 17"},
		{"", "select * from generate_series(1, 16) t(i)", "\n 16\n(16 rows)\n", "…"},
		{"\\pset maxrows 5\n", "select * from generate_series(1, 6) t(i)", "\n 5\n… 1 more row; --format csv shows all\n(6 rows)", " 6\n"},
		{".maxrows all\n", "select * from generate_series(1, 100) t(i)", "\n 100\n(100 rows)", "…"},
		{".mode csv\n", "select * from generate_series(1, 100) t(i)", "\n100\n", "…"},
		{"\\x\n", "select * from generate_series(1, 100) t(i)", "\ni | 16\n… 84 more rows", "i | 17"},
		{"", "select " + dates, "\n 2024-01-01 | 2024-01-01 | … | 2024-01-01 | 2024-01-01 | 2024-01-01\n(1 row, 30 columns, 5 shown)\n", "…2"},
		{"", "explain (x64) select sum(i) from generate_series(1, 100) t(i) where i > 3", "ret", " more row"},
	} {
		var out strings.Builder
		r := &runner{session: db.Session(), progress: &progress{}}
		r.options.Format = "table"
		r.setOutput(output{Writer: &out, size: func() (int, int) { return 80, 24 }})
		if err := r.run(t.Context(), scriptOf("", c.commands+c.sql)); err != nil {
			t.Error(err)
		}
		if got := out.String(); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%s%s:\n%s", c.commands, c.sql, got)
		}
	}
}

func TestQuotedFile(t *testing.T) {
	for arg, want := range map[string]string{
		"t from a/b-c.csv":                     "t from 'a/b-c.csv'",
		"t FROM a.csv (header, delimiter ';')": "t FROM 'a.csv' (header, delimiter ';')",
		"t from 'a b.csv' csv":                 "t from 'a b.csv' csv",
		"(select 1 from t) to x.parquet":       "(select 1 from t) to 'x.parquet'",
		"t from it's":                          "t from 'it''s'",
		"t to stdout":                          "t to stdout",
		`"from" from x`:                        `"from" from 'x'`,
		"t":                                    "t",
		"t from":                               "t from",
	} {
		if got := quotedFile(arg); got != want {
			t.Errorf("%s: %s, not %s", arg, got, want)
		}
	}
}

func TestCandidates(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	for _, name := range []string{"first.csv", "first.parquet", "it's", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	os.MkdirAll(filepath.Join(dir, "folder", "inner"), 0o700)
	db, err := kelpie.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{runner: &runner{session: db.Session()}}
	if _, err := s.session.Exec(t.Context(), "create table herd (legs int, name varchar)"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string // the cursor is at |
		want string // what is replaced, and by what
	}{
		{"from 'fi|", "fi [first.csv' first.parquet']"},
		{"from 'fi|'", "fi [first.csv first.parquet]"},
		{"from 'fo|", "fo [folder/]"},
		{"from 'folder/|", "folder/ [folder/inner/]"},
		{"from '~/fo|", "~/fo [~/folder/]"},
		{"from 'i|", "i [it''s']"},
		{"from '|", " [first.csv' first.parquet' folder/ it''s']"},
		{"from '.h|", ".h [.hidden']"},
		{"from 'nope/|", "nope/ []"},
		{"select 'it''s' from h|", "h [herd]"},
		{`\i fi|`, "fi [first.csv first.parquet]"},
		{`.read fo|`, "fo [folder/]"},
		{`\copy h|`, "h [herd]"},
		{`\copy herd from fi|`, "fi [first.csv first.parquet]"},
		{`\d h|`, "h [herd]"},
		{`\tim|`, `\tim [\timing]`},
		{".ta|", ".ta [.tables]"},
		{"select 1\n\\tim|", `\tim [\timing]`},
		{"select herd.l|", "l [legs]"},
		{"select split_p|", "split_p [split_part]"},
		{"select bit_co|", "bit_co [bit_count]"},
	} {
		before, after, _ := strings.Cut(c.text, "|")
		start, words := s.candidates(before+after, len(before))
		slices.Sort(words)
		if got := fmt.Sprintf("%s %v", before[start:], words); got != c.want {
			t.Errorf("%s: %s, not %s", c.text, got, c.want)
		}
	}
}
