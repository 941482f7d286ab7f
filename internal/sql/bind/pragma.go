package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
)

// pragmas are queries under the names that DuckDB gives them; $ stands for the argument as a text.
var pragmas = map[string]struct {
	args int
	sql  string
}{
	"show_tables":          {0, "SELECT table_name AS name FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1"},
	"show_databases":       {0, "SELECT current_database() AS database_name"},
	"database_list":        {0, "SELECT 0 AS seq, current_database() AS name, NULL::VARCHAR AS file"},
	"version":              {0, "SELECT version() AS library_version"},
	"table_info":           {1, "SELECT ordinal_position - 1 AS cid, column_name AS name, upper(data_type) AS type, is_nullable = 'NO' AS notnull, column_default AS dflt_value, EXISTS (SELECT 1 FROM information_schema.key_column_usage k JOIN information_schema.table_constraints t USING (constraint_schema, constraint_name, table_name) WHERE t.constraint_type = 'PRIMARY KEY' AND k.table_name = c.table_name AND k.column_name = c.column_name) AS pk FROM information_schema.columns c WHERE table_name = $ ORDER BY 1"},
	"collations":           {0, "SELECT 'C' AS collname"},
	"show_tables_expanded": {0, "SELECT table_schema AS schema, table_name AS name, table_type AS type FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1, 2"},
}

// pragma binds PRAGMA: a query, or a setting.
func (b *binder) pragma(s *ast.Pragma) Bound {
	if s.Set {
		return b.statement(&ast.Set{Pos: s.Pos, Name: s.Name, Values: s.Args})
	}
	if s.Name == "show" && len(s.Args) == 1 {
		return b.describe(&ast.Describe{Pos: s.Pos, Table: ast.Name{{Name: b.pragmaArg(s.Args[0]), Pos: s.Args[0].Position()}}})
	}
	return &Query{b.root(b.pragmaQuery(s.Name, s.Args, s.Pos))}
}

// pragmaQuery is the query that a pragma stands for.
func (b *binder) pragmaQuery(name string, args []ast.Expr, pos int) *ast.Query {
	p, ok := pragmas[name]
	switch {
	case !ok:
		panic(diag.Unsupported(pos, "PRAGMA %s", name).WithHint("there are show_tables, table_info('t'), version, database_list and settings: PRAGMA name = value"))
	case len(args) != p.args:
		fail(diag.SyntaxError, pos, "PRAGMA %s takes %d arguments", name, p.args)
	}
	sql := p.sql
	if p.args > 0 {
		arg := b.pragmaArg(args[0])
		if _, ok := b.env.Table("", arg); !ok {
			if _, ok := b.env.View("", arg); !ok {
				panic(b.unknownTable(ast.Name{{Name: arg, Pos: args[0].Position()}}))
			}
		}
		sql = strings.Replace(sql, "$", ast.QuoteString(arg), 1)
	}
	script, err := parse.Parse(sql)
	if err != nil {
		panic(diag.Internalf("bind", "pragma %s: %v", name, err))
	}
	return script[0].Stmt.(*ast.Query)
}

// pragmaCall is the pragma that a function stands for, such as pragma_version(), and its arguments.
func pragmaCall(f *ast.Func) (name string, args []ast.Expr, ok bool) {
	if name, ok = strings.CutPrefix(f.Name.Last(), "pragma_"); !ok {
		return "", nil, false
	}
	for _, a := range f.Args {
		args = append(args, a.X)
	}
	return name, args, true
}

// pragmaArg is the name of a table, with or without quotes.
func (b *binder) pragmaArg(x ast.Expr) string {
	if c, ok := x.(*ast.ColumnRef); ok {
		return c.Name.Last()
	}
	return b.constant(x, "PRAGMA").S
}
