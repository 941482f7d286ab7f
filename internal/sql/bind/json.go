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
	return b.structTable(t, plan.NewApply(f, types.TList(types.TStruct(fields)), t.Pos, x, zone))
}

// structTable is a table of a list of structs, with a column for each field.
func (b *binder) structTable(t *ast.FuncTable, rows plan.Expr) (plan.Node, *rel) {
	name, fields := t.Call.Name.Last(), rows.Type().Elem().Fields()
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

// populatedTable is json_populate_record or json_populate_recordset: the columns are those of a struct, or of a table that NULL::table names.
func (b *binder) populatedTable(s *scope, left []*rel, t *ast.FuncTable) (plan.Node, *rel) {
	name := t.Call.Name.Last()
	if len(t.Call.Args) != 2 {
		fail(diag.UndefinedFunction, t.Pos, "function %s takes a row and a value of JSON", name)
	}
	if t.Ordinality {
		unsupported(t.Pos, "WITH ORDINALITY of %s", name)
	}
	call := *t.Call
	call.Args = t.Call.Args[1:]
	x := b.jsonArg(s, left, &ast.FuncTable{Pos: t.Pos, Call: &call})
	base := b.rowOfTable(t.Call.Args[0].X)
	if base == nil {
		at := lateralScope(s, left)
		at.clause = "functions in FROM"
		base = b.expr(at, t.Call.Args[0].X)
	}
	if base.Type().Kind != types.Struct {
		panic(diag.Errorf(diag.DatatypeMismatch, t.Call.Args[0].X.Position(), "first argument of %s must be a row type", name).
			WithHint("%s(NULL::t, …) has the columns of the table t, and %s AS t(a INTEGER, b VARCHAR) those that a statement lists", name, strings.Replace(name, "populate", "to", 1)))
	}
	several := plan.BoolConst(strings.HasSuffix(name, "set"))
	zone := plan.NewConst(types.TextValue(b.zone().Spec()))
	return b.structTable(t, plan.NewApply(funcs.JSONPopulated, types.TList(base.Type()), t.Pos, x, zone, base, several))
}

// rowOfTable is NULL::table, a row of NULLs; nil where x is something else.
func (b *binder) rowOfTable(x ast.Expr) plan.Expr {
	c, ok := x.(*ast.Cast)
	if !ok {
		return nil
	}
	if l, ok := c.X.(*ast.Literal); !ok || l.Kind != ast.LitNull || c.Type.Dims > 0 || len(c.Type.Mods) > 0 {
		return nil
	}
	table, ok := b.env.Table(c.Type.Schema, c.Type.Name)
	if !ok {
		return nil
	}
	fields := make([]types.Member, len(table.Columns))
	for i, col := range table.Columns {
		fields[i] = types.Member{Name: col.Name, Type: col.Type}
	}
	return plan.NullConst(types.TStruct(fields))
}

// jsonExtract is json_extract or json_extract_string: several paths, or a constant one with * in it, lead to a list.
func (b *binder) jsonExtract(c *call) plan.Expr {
	t := c.args[0].Type()
	if t.Kind != types.JSON {
		t = types.TJSON
	}
	one, all := funcs.JSONExtract, funcs.JSONExtractAll
	if c.name == "json_extract_string" {
		t, one, all = types.TText, funcs.JSONExtractString, funcs.JSONExtractTexts
	}
	path, ok := c.args[1].(*plan.Const)
	if c.args[1].Type().Kind == types.List || ok && !path.V.Null && funcs.ManyWays(path.V.S) {
		return plan.NewApply(all, types.TList(t), c.pos, c.args...)
	}
	return plan.NewApply(one, t, c.pos, c.args...)
}

// noArrays reports two literals that are no arrays, which json_object('{a}', '{b}') would take.
func noArrays(args []plan.Expr) bool {
	for _, a := range args {
		if c, ok := a.(*plan.Const); !ok || c.V.Type.Kind != types.Unknown || strings.HasPrefix(strings.TrimSpace(c.V.S), "{") {
			return false
		}
	}
	return len(args) > 1
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
