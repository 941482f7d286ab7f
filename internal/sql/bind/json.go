package bind

import (
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

// jsonTable is such a function in FROM.
func (b *binder) jsonTable(s *scope, left []*rel, t *ast.FuncTable) (plan.Node, *rel) {
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
	x = b.convert(x, kind, t.Call.Args[0].X.Position())
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
