package bind

import (
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// testEnv is a catalog in memory, without rows.
type testEnv struct {
	tables map[string]*catalog.Table
	views  map[string]*catalog.View
}

func (e *testEnv) Table(schema, name string) (*catalog.Table, bool) {
	if !catalog.IsMain(schema) {
		return nil, false
	}
	t, ok := e.tables[name]
	return t, ok
}

func (e *testEnv) View(_, name string) (*catalog.View, bool) { v, ok := e.views[name]; return v, ok }

func (e *testEnv) File(f FileRef, pos int) (*catalog.Table, error) {
	if t, ok := e.tables[strings.TrimSuffix(f.Path, ".parquet")]; ok {
		return t, nil
	}
	return nil, diag.Errorf(diag.UndefinedFile, pos, "file %q does not exist", f.Path)
}

func (e *testEnv) TableNames() []string {
	var names []string
	for name := range e.tables {
		names = append(names, name)
	}
	for name := range e.views {
		names = append(names, name)
	}
	return names
}

// add creates a table from "name(col type [not null], …; key cols)".
func (e *testEnv) add(t testing.TB, name, cols string, key ...int) {
	t.Helper()
	var defs []catalog.ColumnDef
	for _, c := range strings.Split(cols, ",") {
		words := strings.Fields(c)
		def := catalog.ColumnDef{Name: words[0]}
		typ, notNull := strings.CutSuffix(strings.Join(words[1:], " "), " not null")
		def.Type, def.NotNull = parseTestType(t, strings.ReplaceAll(typ, ";", ",")), notNull
		defs = append(defs, def)
	}
	var keys [][]int
	if len(key) > 0 {
		keys = [][]int{key}
	}
	e.tables[name] = catalog.NewTable(name, defs, keys, column.DefaultOptions())
}

func parseTestType(t testing.TB, text string) types.Type {
	t.Helper()
	n, err := parse.ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return newBinder(nil, nil).typeName(n)
}

// smallEnv has a few tables with all types.
func smallEnv(t testing.TB) *testEnv {
	e := &testEnv{tables: map[string]*catalog.Table{}, views: map[string]*catalog.View{}}
	e.add(t, "t", "a int not null, b int, c text, d date, e decimal(10;2), f double, g bigint, h boolean, i smallint, j timestamp", 0)
	e.add(t, "u", "a int, x text not null, y decimal(15;4), z date")
	e.add(t, "v", "id bigint not null, k int not null, name varchar(10), r real, w interval", 0, 1)
	e.tables["v"].Columns[2].Default = "'none'"
	e.add(t, "order", `a int, Mixed int`)
	e.views["tv"] = &catalog.View{Name: "tv", SQL: "select a, sum(b) as s from t group by a"}
	e.views["tv2"] = &catalog.View{Name: "tv2", Columns: []string{"p", "q"}, SQL: "select a, c from t where b > 1"}
	e.views["bad"] = &catalog.View{Name: "bad", SQL: "select nope from t"}
	e.views["loop"] = &catalog.View{Name: "loop", SQL: "select * from loop"}
	return e
}

// benchEnv has the tables of a benchmark.
func benchEnv(t testing.TB, tables []gen.Table) *testEnv {
	e := &testEnv{tables: map[string]*catalog.Table{}}
	for _, g := range tables {
		var defs []catalog.ColumnDef
		for _, c := range g.Columns {
			defs = append(defs, catalog.ColumnDef{Name: c.Name, Type: parseTestType(t, c.Type), NotNull: true})
		}
		table := catalog.NewTable(g.Name, defs, nil, column.DefaultOptions())
		var key []int
		for _, name := range g.PrimaryKey {
			key = append(key, table.Column(name))
		}
		e.tables[g.Name] = catalog.NewTable(g.Name, defs, [][]int{key}, column.DefaultOptions())
	}
	return e
}

func tpchEnv(t testing.TB) *testEnv { return benchEnv(t, tpch.Tables()) }
func ssbEnv(t testing.TB) *testEnv  { return benchEnv(t, ssb.Tables()) }

func parseOne(t testing.TB, sql string) ast.Statement {
	t.Helper()
	script, err := parse.Parse(sql)
	if err != nil {
		t.Fatalf("%s\n%s", sql, diag.Format(err, sql))
	}
	if len(script) != 1 {
		t.Fatalf("%d statements in %s", len(script), sql)
	}
	return script[0].Stmt
}

func bindQuery(t testing.TB, e Env, sql string) *plan.Query {
	t.Helper()
	q, err := Select(e, parseOne(t, sql).(*ast.Query), nil)
	if err != nil {
		t.Fatalf("%s\n%s", sql, diag.Format(err, sql))
	}
	return q
}
