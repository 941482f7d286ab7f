package opt

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// testEnv is a catalog of generated tables. The data is small; the statistics are scaled up, so that plans
// are those of scale factor 1.
type testEnv struct {
	tables map[string]*catalog.Table
	scaled map[*catalog.Table]*catalog.Snapshot
}

func (e *testEnv) Table(_, name string) (*catalog.Table, bool) { t, ok := e.tables[name]; return t, ok }
func (e *testEnv) View(string, string) (*catalog.View, bool)   { return nil, false }
func (e *testEnv) TableNames() []string                        { return nil }
func (e *testEnv) File(f bind.FileRef, pos int) (*catalog.Table, error) {
	return nil, diag.Errorf(diag.UndefinedFile, pos, "no file %s", f.Path)
}

const (
	testScale  = 0.01
	scaleStats = 100
)

var (
	tpchEnv  = sync.OnceValue(func() *testEnv { return benchEnv(tpch.Tables()) })
	ssbEnv   = sync.OnceValue(func() *testEnv { return benchEnv(ssb.Tables()) })
	smallEnv = sync.OnceValue(makeSmall)
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func sqlType(name string) types.Type {
	n := must(parse.ParseType(name))
	mods := make([]int, len(n.Mods))
	for i, m := range n.Mods {
		mods[i] = int(m)
	}
	return must(types.ParseType(strings.ToLower(n.Name), mods))
}

func benchEnv(tables []gen.Table) *testEnv {
	e := &testEnv{tables: map[string]*catalog.Table{}, scaled: map[*catalog.Table]*catalog.Snapshot{}}
	for _, g := range tables {
		defs := make([]catalog.ColumnDef, len(g.Columns))
		var key []int
		for i, c := range g.Columns {
			defs[i] = catalog.ColumnDef{Name: c.Name, Type: sqlType(c.Type), NotNull: true}
		}
		for _, name := range g.PrimaryKey {
			for i, c := range g.Columns {
				if c.Name == name {
					key = append(key, i)
				}
			}
		}
		t := catalog.NewTable(g.Name, defs, [][]int{key}, column.DefaultOptions())
		e.tables[g.Name] = t
		fill(t, g)
		e.scaled[t] = scaleUp(t.Snapshot())
	}
	return e
}

// fill appends the generated rows.
func fill(t *catalog.Table, g gen.Table) {
	var b gen.Batch
	sb := t.NewSegmentBuilder()
	const step = 10000
	for lo := int64(0); lo < g.Units(testScale); lo += step {
		g.Generate(testScale, lo, min(lo+step, g.Units(testScale)), &b)
		for k := range b.Vectors {
			if b.Columns[k].Kind() == gen.String {
				sb.Cols[k].AppendStrings(b.Vectors[k].Bytes, b.Vectors[k].Offsets[:b.Rows+1])
			} else {
				sb.Cols[k].AppendInts(b.Vectors[k].Ints[:b.Rows])
			}
		}
		if err := t.AppendTrusted(must(t.Seal(sb))); err != nil {
			panic(err)
		}
	}
}

// scaleUp multiplies rows, and the distinct values of columns that grow with them.
func scaleUp(s *catalog.Snapshot) *catalog.Snapshot {
	switch s.Table.Name {
	case "region", "nation", "date":
		return s
	}
	out := &catalog.Snapshot{Table: s.Table, Rows: s.Rows * scaleStats, Stats: append([]catalog.ColumnStats(nil), s.Stats...)}
	for i := range out.Stats {
		st := &out.Stats[i]
		name := s.Table.Columns[i].Name
		key := strings.HasSuffix(name, "key") && !strings.HasSuffix(name, "nationkey")
		if key || st.Distinct > float64(s.Rows)/2 {
			st.Distinct *= scaleStats
			if st.Max.Type.IsInteger() {
				st.Max.I *= scaleStats
			}
		}
	}
	return out
}

// makeSmall has tables with every kind of nullability.
func makeSmall() *testEnv {
	e := &testEnv{tables: map[string]*catalog.Table{}, scaled: map[*catalog.Table]*catalog.Snapshot{}}
	add := func(name string, rows int64, key []int, cols ...string) {
		var defs []catalog.ColumnDef
		for _, c := range cols {
			words := strings.Fields(c)
			typ, notNull := strings.CutSuffix(strings.Join(words[1:], " "), " not null")
			defs = append(defs, catalog.ColumnDef{Name: words[0], Type: sqlType(typ), NotNull: notNull})
		}
		var keys [][]int
		if key != nil {
			keys = [][]int{key}
		}
		t := catalog.NewTable(name, defs, keys, column.DefaultOptions())
		e.tables[name] = t
		s := &catalog.Snapshot{Table: t, Rows: rows, Stats: make([]catalog.ColumnStats, len(defs))}
		for i := range s.Stats {
			if !defs[i].NotNull {
				s.Stats[i].NullCount = rows / 10
			}
		}
		e.scaled[t] = s
	}
	add("t", 100000, []int{0}, "a int not null", "b int", "c text", "d date", "e decimal(10,2)", "f double", "g bigint", "h boolean")
	add("u", 5000, nil, "a int", "x text not null", "y decimal(15,4)", "z date")
	add("v", 1000000, []int{0, 1}, "id int not null", "k int not null", "name varchar(10)", "w int")
	add("w", 100, []int{0}, "a int not null", "n int not null")
	return e
}

// bound parses and binds a query; its scans get the scaled statistics.
func bound(t testing.TB, e *testEnv, sql string) (*plan.Query, error) {
	t.Helper()
	script, err := parse.Parse(sql)
	if err != nil {
		t.Fatalf("%s\n%s", sql, diag.Format(err, sql))
	}
	q, err := bind.Select(e, script[0].Stmt.(*ast.Query), nil)
	if err != nil {
		return nil, err
	}
	setSnaps(e, q.Root)
	for _, s := range q.Shared {
		setSnaps(e, s.Plan)
	}
	return q, nil
}

func setSnaps(e *testEnv, n plan.Node) {
	plan.WalkNode(n, func(n plan.Node) bool {
		if s, ok := n.(*plan.Scan); ok && e.scaled[s.Table] != nil {
			s.Snap = e.scaled[s.Table]
		}
		plan.NodeExprs(n, func(x plan.Expr) {
			plan.WalkExpr(x, func(x plan.Expr) bool {
				if q, ok := x.(*plan.Subquery); ok {
					setSnaps(e, q.Plan)
				}
				return true
			})
		})
		return true
	})
}

// benchQueries reads the queries of a benchmark.
func benchQueries(t testing.TB, bench string) map[string]string {
	files, _ := filepath.Glob("../../gen/" + bench + "/queries/*.sql")
	if len(files) == 0 {
		t.Fatal("no queries of ", bench)
	}
	out := map[string]string{}
	for _, f := range files {
		out[strings.TrimSuffix(filepath.Base(f), ".sql")] = string(must(os.ReadFile(f)))
	}
	return out
}
