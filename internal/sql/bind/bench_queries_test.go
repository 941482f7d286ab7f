package bind

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// queries reads the benchmark's query files.
func queries(t testing.TB, bench string) map[string]string {
	files, _ := filepath.Glob("../../../gen/" + bench + "/queries/*.sql")
	if len(files) == 0 {
		t.Fatal("no queries of ", bench)
	}
	out := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = string(text)
	}
	return out
}

func TestBenchmarkQueries(t *testing.T) {
	for _, b := range []struct {
		name string
		env  *testEnv
		n    int
	}{{"tpch", tpchEnv(t), 22}, {"ssb", ssbEnv(t), 13}} {
		qs := queries(t, b.name)
		if len(qs) != b.n {
			t.Errorf("%s: %d queries, want %d", b.name, len(qs), b.n)
		}
		for name, sql := range qs {
			t.Run(b.name+"/"+name, func(t *testing.T) {
				q := bindQuery(t, b.env, sql)
				t.Log("\n" + plan.Format(q))
			})
		}
	}
}

func BenchmarkBind(b *testing.B) {
	env := tpchEnv(b)
	for name, sql := range queries(b, "tpch") {
		stmt := parseOne(b, sql).(*ast.Query)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Select(env, stmt, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
