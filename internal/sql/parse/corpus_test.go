package parse

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// corpus returns the benchmark queries by file name.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../../gen/*/queries/*.sql")
	if err != nil || len(files) < 35 {
		t.Fatalf("found %d query files, %v", len(files), err)
	}
	texts := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(f) == "tables.sql" { // a template of other statements
			continue
		}
		texts[filepath.Join(filepath.Base(filepath.Dir(filepath.Dir(f))), filepath.Base(f))] = string(b)
	}
	return texts
}

func TestCorpus(t *testing.T) {
	for name, text := range corpus(t) {
		script, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, s := range script {
			if q, ok := s.Stmt.(*ast.Query); ok {
				stable(t, q)
			} else {
				t.Errorf("%s: got %T", name, s.Stmt)
			}
		}
	}
}

// stable fails if a query does not survive printing and parsing.
func stable(t *testing.T, q *ast.Query) {
	t.Helper()
	text := ast.FormatQuery(q)
	again, err := Parse(text)
	if err != nil {
		t.Errorf("prints as %s, which does not parse: %v", text, err)
		return
	}
	if a, b := dump(q, true), dump(again[0].Stmt, true); a != b {
		t.Errorf("prints as %s, which reads back as another tree\n%s\n%s", text, a, b)
	}
}

// FuzzParse: any bytes give a tree or an error, never a panic; and a query that
// parses prints as a query that parses to the same tree.
func FuzzParse(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	for _, c := range exprTests {
		f.Add("select " + c.in)
	}
	for _, c := range queryTests {
		f.Add(c.in)
	}
	for _, c := range stmtTests {
		f.Add(c.in)
	}
	for _, c := range errorTests {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, err := Parse(text)
		if err != nil {
			checkError(t, text, err)
			return
		}
		for _, s := range script {
			if q, ok := s.Stmt.(*ast.Query); ok {
				stable(t, q)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	texts := corpus(b)
	for _, name := range []string{"tpch/q1.sql", "tpch/q2.sql", "tpch/q8.sql", "tpch/q21.sql", "ssb/q4.1.sql"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(texts[name])))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(texts[name]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLex(b *testing.B) {
	text := corpus(b)["tpch/q8.sql"]
	b.SetBytes(int64(len(text)))
	var l lexer
	for b.Loop() {
		l = lexer{text: text, toks: l.toks[:0]}
		l.run()
	}
}
