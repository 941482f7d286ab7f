package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// jsonList is the list of parts of a JSON value that a function is the rows of.
func jsonList(f *plan.Function, x plan.Expr, pos int) plan.Expr {
	elem := types.TText
	if f == funcs.JSONElements || f == funcs.JSONValues {
		elem = x.Type()
	}
	return plan.NewApply(f, types.TList(elem), pos, x)
}

// unnestJSON is a function of several rows in a select list.
func unnestJSON(f *plan.Function) func(*binder, *call) plan.Expr {
	return func(b *binder, c *call) plan.Expr {
		if b.unnests != c.scope || c.scope.clause != "" {
			unsupported(c.pos, "%s outside of a select list and FROM", c.name)
		}
		x := jsonList(f, c.args[0], c.pos)
		return plan.NewApply(funcs.Unnest, x.Type().Elem(), c.pos, x)
	}
}

// jsonArg is the argument of a function in FROM, which is JSON or JSONB, as its name says.
func (b *binder) jsonArg(s *scope, left []*rel, t *ast.FuncTable) plan.Expr {
	b.lateral++
	at := lateralScope(s, left)
	at.clause = "functions in FROM"
	name := t.Call.Name.Last()
	if len(t.Call.Args) != 1 {
		fail(diag.UndefinedFunction, t.Pos, "function %s takes one argument", name)
	}
	x := b.expr(at, t.Call.Args[0].X)
	kind := types.TJSON
	if strings.HasPrefix(name, "jsonb") {
		kind = types.TJSONB
	}
	if k := x.Type().Kind; k != types.JSON && k != types.Unknown {
		panic(noFunction(name, []plan.Expr{x}, t.Pos))
	}
	return b.convert(x, kind, t.Call.Args[0].X.Position())
}

// recordTable is json_to_record or json_to_recordset, with the columns that the statement defines.
func (b *binder) recordTable(s *scope, left []*rel, t *ast.FuncTable) (plan.Node, *rel) {
	x := b.jsonArg(s, left, t)
	name := t.Call.Name.Last()
	if len(t.Defs) == 0 {
		panic(diag.Errorf(diag.SyntaxError, t.Pos, "a column definition list is required for functions returning \"record\"").
			WithHint("%s(…) AS t(a INTEGER, b VARCHAR)", name))
	}
	if t.Ordinality {
		panic(diag.Errorf(diag.SyntaxError, t.Defs[0].Pos, "WITH ORDINALITY cannot be used with a column definition list").WithHint("row_number() OVER () numbers rows"))
	}
	fields := make([]types.Member, len(t.Defs))
	for i, d := range t.Defs {
		fields[i] = types.Member{Name: d.Name.Name, Type: b.typeName(d.Type)}
		if slices.ContainsFunc(fields[:i], func(f types.Member) bool { return f.Name == d.Name.Name }) {
			fail(diag.DuplicateColumn, d.Pos, "column name %q specified more than once", d.Name.Name)
		}
	}
	f := funcs.JSONRecord
	if strings.HasSuffix(name, "set") {
		f = funcs.JSONRecords
	}
	zone := plan.NewConst(types.TextValue(b.zone().Spec()))
	rows := plan.NewApply(f, types.TList(types.TStruct(fields)), t.Pos, x, zone)
	n, r := b.listTable(&ast.FuncTable{Pos: t.Pos, Call: t.Call}, []plan.Expr{rows}, []string{name})
	row := r.cols[0].id
	p := b.project(n, len(fields))
	cols := make([]outCol, len(fields))
	for i, f := range fields {
		x := plan.NewApply(funcs.StructAt, f.Type, t.Pos, b.ref(row), plan.NewConst(types.IntValue(types.TInt64, int64(i))))
		cols[i] = outCol{name: f.Name, id: p.col(x, f.Name), pos: t.Pos}
	}
	q := result{p.done(), cols}
	out := b.derived(&q, t.Pos)
	out.name = name
	applyAlias(out, t.Alias)
	return q.node, out
}

// jsonTable is such a function in FROM.
func (b *binder) jsonTable(s *scope, left []*rel, t *ast.FuncTable) (plan.Node, *rel) {
	name := t.Call.Name.Last()
	x := b.jsonArg(s, left, t)
	switch rest := strings.TrimPrefix(strings.TrimPrefix(name, "json"), "b"); rest {
	case "_each", "_each_text":
		values := funcs.JSONValues
		if rest == "_each_text" {
			values = funcs.JSONStrings
		}
		return b.listTable(t, []plan.Expr{jsonList(funcs.JSONKeys, x, t.Pos), jsonList(values, x, t.Pos)}, []string{"key", "value"})
	case "_object_keys":
		return b.listTable(t, []plan.Expr{jsonList(funcs.JSONKeys, x, t.Pos)}, []string{name})
	case "_array_elements":
		return b.listTable(t, []plan.Expr{jsonList(funcs.JSONElements, x, t.Pos)}, []string{"value"})
	}
	return b.listTable(t, []plan.Expr{jsonList(funcs.JSONTexts, x, t.Pos)}, []string{"value"})
}
