package bind

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

var rewrite = flag.Bool("rewrite", false, "write what the tests in testdata give now")

// TestGolden binds the statements in testdata/*.txt and compares plans and errors with what is
// written below each. A file is a list of blocks, separated by blank lines: SQL, a line
// "----", the expected text. Lines that begin with # are comments.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	env := smallEnv(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for i, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
				if i > 0 {
					out.WriteString("\n")
				}
				sql, want, ok := strings.Cut(block, "\n----")
				if !ok {
					if !*rewrite && strings.TrimSpace(uncomment(sql)) != "" {
						t.Errorf("block without ----: %s", sql)
					}
					if strings.TrimSpace(uncomment(sql)) == "" {
						out.WriteString(block + "\n")
						continue
					}
				}
				got := goldenText(env, uncomment(sql))
				fmt.Fprintf(&out, "%s\n----\n%s\n", sql, got)
				if want = strings.TrimSpace(want); !*rewrite && got != want {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", sql, got, want)
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
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

// goldenParams are the values of $1, $2, …
var goldenParams = []types.Value{
	types.IntValue(types.TInt32, 7),
	{Type: types.TUnknown, S: "1999-01-01"},
	types.NullOf(types.TUnknown),
}

func goldenText(env Env, sql string) string {
	script, err := parse.Parse(sql)
	if err == nil && len(script) != 1 {
		return fmt.Sprintf("%d statements", len(script))
	}
	var b Bound
	if err == nil {
		b, err = Statement(env, script[0].Stmt, goldenParams)
	}
	if err != nil {
		return strings.TrimSpace(diag.Format(err, sql))
	}
	return strings.TrimSpace(describeBound(b))
}

// describeBound prints a bound statement.
func describeBound(b Bound) string {
	switch b := b.(type) {
	case *Query:
		return describePlan(b.Plan)
	case *Insert:
		return "insert into " + b.Table.Name + "\n" + describePlan(b.Query)
	case *Change:
		if b.Query == nil {
			return "delete all of " + b.Table.Name
		}
		out := strings.ToLower(b.Verb) + " " + b.Table.Name + "\n" + describePlan(b.Query)
		if b.Returning != nil {
			out += "\nreturning\n" + describePlan(b.Returning.Query)
		}
		return out
	case *Truncate:
		return fmt.Sprintf("truncate %d tables", len(b.Tables))
	case *CreateTable:
		var s strings.Builder
		fmt.Fprintf(&s, "create table %q", b.Name)
		for _, c := range b.Columns {
			fmt.Fprintf(&s, "\n  %s %s", c.Name, c.Type)
			if c.NotNull {
				s.WriteString(" not null")
			}
			if c.Default != "" {
				s.WriteString(" default " + c.Default)
			}
		}
		fmt.Fprintf(&s, "\nkeys %v primary %v if not exists %v or replace %v %+v", b.Keys, b.Rules.Primary, b.IfNotExists, b.OrReplace, b.Rules)
		if b.Query != nil {
			s.WriteString("\n" + describePlan(b.Query))
		}
		return s.String()
	case *CreateView:
		return fmt.Sprintf("create view %q %q as %s", b.View.Name, b.View.Columns, b.View.SQL)
	case *Copy:
		c := *b
		c.Table, c.Query, c.Pos = nil, nil, 0
		s := fmt.Sprintf("copy %+v", c)
		if b.Table != nil {
			s += "\ntable " + b.Table.Name
		}
		if b.Query != nil {
			s += "\n" + describePlan(b.Query)
		}
		return s
	case *Explain:
		s := fmt.Sprintf("explain analyze %v verbose %v", b.Analyze, b.Verbose)
		for _, o := range b.Options {
			s += " " + o.Name + "=" + o.Value.String()
		}
		return s + "\n" + describeBound(b.Stmt)
	case *Drop:
		return fmt.Sprintf("drop kind %d %v if exists %v cascade %v", b.Kind, b.Names, b.IfExists, b.Cascade)
	case *Transaction:
		return fmt.Sprintf("transaction kind %d", b.Kind)
	case *Prepare:
		return fmt.Sprintf("prepare %s %v as %s", b.Name, b.Types, b.Text)
	case *Describe:
		var s strings.Builder
		for i := range b.Names {
			fmt.Fprintf(&s, "%s %s %v\n", b.Names[i], b.Types[i], b.NotNull[i])
		}
		return s.String()
	}
	return fmt.Sprintf("%T %+v", b, b)
}

// describePlan prints a plan with the types and nullness of its output, and checks it.
func describePlan(q *plan.Query) string {
	if err := plan.Check(q); err != nil {
		return "BAD PLAN: " + err.Error() + "\n" + plan.Format(q)
	}
	var s strings.Builder
	for i, id := range q.Output {
		if i > 0 {
			s.WriteString(", ")
		}
		c := q.Cols.Get(id)
		s.WriteString(q.Names[i] + " " + strings.ToLower(c.Type.String()))
		if c.NotNull {
			s.WriteString(" not null")
		}
	}
	return s.String() + "\n" + plan.Format(q)
}
