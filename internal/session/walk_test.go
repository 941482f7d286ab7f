package session

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/opt"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
)

var rewrite = flag.Bool("rewrite", false, "write what the tests in testdata give now")

// TestWalk shows a query at every stage of its walk through the engine. A file of
// testdata/walk has sections that begin with a line "== name": setup and sql are read, the
// others are written with -rewrite.
func TestWalk(t *testing.T) {
	files, err := filepath.Glob("testdata/walk/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no walks", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			old := sections(t, file)
			want := map[string]string{}
			for _, s := range old {
				want[s.name] = s.text
			}
			got := walk(t, want["setup"], want["sql"])
			var out strings.Builder
			for _, s := range old {
				if s.name == "" || s.name == "setup" || s.name == "sql" {
					out.WriteString(s.String())
				}
			}
			for _, s := range got {
				if s.name == "x64" && !device.HasCPU() {
					s.text = want["x64"]
				}
				out.WriteString(s.String())
				if !*rewrite && s.text != want[s.name] {
					t.Errorf("%s has changed; look at it with -rewrite and git diff. %s", s.name, firstDifference(s.text, want[s.name]))
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// firstDifference shows where two texts part.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("Line %d is\n%s\nwas\n%s", i+1, g[i], strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""))
		}
	}
	return fmt.Sprintf("It ends after line %d", len(g))
}

// section is a part of a golden file; the one without a name is the text before the first.
type section struct{ name, text string }

func (s section) String() string {
	if s.name == "" {
		return s.text + "\n\n"
	}
	return "== " + s.name + "\n" + s.text + "\n\n"
}

func sections(t *testing.T, file string) []section {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := []section{{}}
	for _, l := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
		if name, ok := strings.CutPrefix(l, "== "); ok {
			out = append(out, section{name: name})
			continue
		}
		out[len(out)-1].text += l + "\n"
	}
	for i := range out {
		out[i].text = strings.TrimRight(out[i].text, "\n")
	}
	return out
}

// walk is a query at every stage.
func walk(t *testing.T, setup, sql string) []section {
	ctx := context.Background()
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.SIMD = device.SIMDAVX2 }) // which every processor has that runs generated code
	s.Configure(func(x *Settings) { x.Check, x.Threads = true, 1 })
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(diag.Format(err, sql))
		}
	}
	if _, err := s.Query(ctx, setup); err != nil {
		t.Fatal(diag.Format(err, setup))
	}
	var out []section
	add := func(name, text string) { out = append(out, section{name, strings.TrimRight(text, "\n")}) }

	stmts, err := parse.Parse(sql)
	fail(err)
	add("ast", ast.FormatQuery(stmts[0].Stmt.(*ast.Query)))
	b, err := bind.Statement(s.env(context.Background(), s.DB.Catalog.Begin()), stmts[0].Stmt, nil)
	fail(err)
	q := b.(*bind.Query).Plan
	add("bound plan", plan.Format(q))
	q, _, err = opt.Optimize(q, opt.Options{Check: true})
	fail(err)
	add("optimized plan", plan.Format(q))
	for _, form := range explainForms[1:] {
		text := explainText(t, s, "EXPLAIN ("+form+") "+sql)
		add(form, text)
	}
	add("analyzed", explainText(t, s, "EXPLAIN (analyze, timing off, summary off) "+sql))
	add("rows", rowsText(t, s, sql))
	return out
}

// rowsText is a statement's result, a line for each row.
func rowsText(t *testing.T, s *Session, sql string) string {
	t.Helper()
	res, err := s.Query(context.Background(), sql)
	if err != nil {
		t.Fatal(diag.Format(err, sql))
	}
	defer res.Close()
	var lines []string
	for _, row := range res.Values() {
		var cells []string
		for _, v := range row {
			cells = append(cells, v.String())
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return strings.Join(lines, "\n")
}

func explainText(t *testing.T, s *Session, sql string) string {
	t.Helper()
	return strings.TrimRight(rowsText(t, s, sql), "\n")
}
