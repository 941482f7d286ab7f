package opt

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
)

var rewrite = flag.Bool("rewrite", false, "write what the tests in testdata give now")

// TestGolden optimizes the queries in testdata/<pass>.txt and compares the plan after that pass with
// what is written below each. A file is a list of blocks, separated by blank lines: SQL, a line
// "----", the plan. Lines that begin with # are comments. Tables are those of makeSmall, and TPC-H's.
func TestGolden(t *testing.T) {
	for _, p := range passes {
		file := "testdata/" + p.Name + ".txt"
		t.Run(p.Name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if blocks := strings.Count(string(text), "\n----"); blocks == 0 {
				t.Errorf("%s tests nothing", file)
			}
			var out strings.Builder
			for i, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
				if i > 0 {
					out.WriteString("\n")
				}
				sql, want, _ := strings.Cut(block, "\n----")
				got := strings.TrimSpace(goldenText(t, uncomment(sql), p.Name))
				fmt.Fprintf(&out, "%s\n----\n%s\n", sql, got)
				if want = strings.TrimSpace(want); !*rewrite && got != want {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", sql, got, want)
				}
			}
			write(t, file, out.String())
		})
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if !slices.ContainsFunc(passes, func(p Pass) bool { return p.Name == name }) {
			t.Errorf("%s is of no pass", file)
		}
	}
}

func write(t *testing.T, file, text string) {
	if *rewrite {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func uncomment(block string) string {
	var lines []string
	for _, l := range strings.Split(block, "\n") {
		if !strings.HasPrefix(l, "#") {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// envFor chooses the tables by what the query names.
func envFor(sql string) *testEnv {
	for _, name := range []string{"lineitem", "orders", "customer", "partsupp", "part", "supplier", "nation", "region"} {
		if strings.Contains(sql, name) {
			return tpchEnv()
		}
	}
	return smallEnv()
}

// goldenText is the plan after a pass, or the error.
func goldenText(t testing.TB, sql, pass string) string {
	q, err := bound(t, envFor(sql), sql)
	if err != nil {
		return strings.TrimSpace(diag.Format(err, sql))
	}
	var text string
	_, _, err = Optimize(q, Options{Check: true, Trace: func(p string, q *plan.Query) {
		if p == pass {
			text = plan.Format(q)
		}
	}})
	if err != nil {
		return strings.TrimSpace(diag.Format(err, sql))
	}
	return text
}

// TestBenchmarks compares the final plans of TPC-H and SSB with testdata/bench/.
func TestBenchmarks(t *testing.T) {
	for _, b := range []struct {
		name string
		env  func() *testEnv
	}{{"tpch", tpchEnv}, {"ssb", ssbEnv}} {
		t.Run(b.name, func(t *testing.T) {
			qs := benchQueries(t, b.name)
			var names []string
			for n := range qs {
				names = append(names, n)
			}
			slices.SortFunc(names, func(a, b string) int { return cmpName(a, b) })
			var out strings.Builder
			for _, n := range names {
				q, err := bound(t, b.env(), qs[n])
				if err != nil {
					t.Fatalf("%s: %v", n, err)
				}
				q, _, err = Optimize(q, Options{Check: true})
				if err != nil {
					t.Errorf("%s: %v", n, err)
					continue
				}
				fmt.Fprintf(&out, "%s\n%s\n", n, plan.Format(q))
			}
			file := filepath.Join("testdata", "bench", b.name+".txt")
			write(t, file, out.String())
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != out.String() {
				t.Errorf("plans differ from %s; see what changes with -rewrite and git diff", file)
			}
		})
	}
}

// cmpName orders q2 before q10 and q1.2 before q1.10.
func cmpName(a, b string) int {
	num := func(s string) float64 { f, _ := strconv.ParseFloat(strings.TrimPrefix(s, "q"), 64); return f }
	return int(100*num(a)) - int(100*num(b))
}

func BenchmarkOptimize(b *testing.B) {
	qs := benchQueries(b, "tpch")
	for i := 1; i <= 22; i++ {
		name := fmt.Sprintf("q%d", i)
		q, err := bound(b, tpchEnv(), qs[name])
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				c := plan.CopyQuery(q)
				b.StartTimer()
				if _, _, err := Optimize(c, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
