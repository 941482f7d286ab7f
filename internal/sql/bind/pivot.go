package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// maxPivoted is how many columns of values a PIVOT may make.
const maxPivoted = 10_000

// Asker is an Env that can answer a query while a statement is bound: PIVOT makes columns of the values that there are.
type Asker interface {
	Ask(q *ast.Query, params []types.Value) ([][]types.Value, error)
}

// pivot binds PIVOT as the grouped query that it stands for:
//
//	PIVOT sales ON year USING sum(amount) GROUP BY city
//	SELECT city, sum(amount) FILTER (WHERE year = 2023) AS "2023", … FROM sales GROUP BY city
func (b *binder) pivot(v *ast.Pivot, around *scope) result {
	sel := &ast.Select{Pos: v.Pos, From: []ast.TableExpr{v.Source}, GroupByAll: true}
	using := v.Using
	if len(using) == 0 {
		using = []ast.SelectItem{{X: &ast.Func{Pos: v.Pos, Name: ast.Name{{Name: "count", Pos: v.Pos}}, Star: true}}}
	}
	if v.Grouped {
		for _, g := range v.GroupBy {
			sel.Items = append(sel.Items, ast.SelectItem{X: g})
		}
	} else {
		sel.Items = []ast.SelectItem{{X: &ast.Star{Pos: v.Pos, Leaving: pivotedColumns(v)}}}
	}
	named := len(using) > 1 || !using[0].Alias.Empty()
	for _, c := range b.pivotColumns(v) {
		for _, agg := range using {
			f, ok := agg.X.(*ast.Func)
			if !ok {
				panic(diag.Unsupported(agg.X.Position(), "an expression that is not an aggregate in PIVOT").
					WithHint("compute with the columns of the result in a query around it"))
			}
			call := *f
			call.Filter = both(f.Pos, f.Filter, c.cond)
			name := c.name
			switch {
			case !agg.Alias.Empty():
				name += "_" + agg.Alias.Name
			case named:
				name += "_" + ast.Format(f)
			}
			sel.Items = append(sel.Items, ast.SelectItem{X: &call, Alias: ast.Ident{Name: name, Pos: f.Pos, Quoted: true}})
		}
	}
	return b.selectBody(sel, &ast.Query{Pos: v.Pos}, around)
}

// pivotColumn is a column of values: those rows whose values are these.
type pivotColumn struct {
	name string
	cond ast.Expr
}

// pivotColumns are the columns of values: one for each combination of the values of all that the PIVOT is ON.
func (b *binder) pivotColumns(v *ast.Pivot) []pivotColumn {
	columns := []pivotColumn{{}}
	for _, on := range v.On {
		values := on.Values
		if values == nil {
			values = b.pivotValues(v, on.X)
		}
		if len(values)*len(columns) > maxPivoted {
			fail(diag.StatementTooComplex, on.X.Position(), "PIVOT makes more than %d columns", maxPivoted)
		}
		var next []pivotColumn
		for _, c := range columns {
			for _, it := range values {
				name := it.Alias.Name
				if it.Alias.Empty() {
					name = b.pivotName(it.X)
				}
				if c.name != "" {
					name = c.name + "_" + name
				}
				is := &ast.Binary{Pos: it.X.Position(), Op: "=", L: on.X, R: it.X}
				next = append(next, pivotColumn{name, both(is.Pos, c.cond, is)})
			}
		}
		columns = next
	}
	return columns
}

// pivotName is what the column of a value is called.
func (b *binder) pivotName(x ast.Expr) string {
	v := b.constant(x, "PIVOT")
	if v.Null {
		return "NULL"
	}
	return v.String()
}

// pivotValues asks for the values of an expression that there are; NULL is none.
func (b *binder) pivotValues(v *ast.Pivot, x ast.Expr) []ast.SelectItem {
	env, ok := b.env.(Asker)
	if !ok || len(b.views) > 0 {
		panic(diag.Unsupported(x.Position(), "PIVOT of values that are not listed in a view").WithHint("list them: ON x IN (1, 2)"))
	}
	sel := &ast.Select{Pos: v.Pos, Distinct: true, Items: []ast.SelectItem{{X: x}}, From: []ast.TableExpr{v.Source},
		Where: &ast.IsNull{Pos: x.Position(), X: x, Not: true}}
	one := &ast.Literal{Pos: x.Position(), Kind: ast.LitInt, Text: "1"}
	q := &ast.Query{Pos: v.Pos, Body: sel, OrderBy: []ast.OrderItem{{Pos: x.Position(), X: one}}}
	q.With = b.visibleWith(v.Pos)
	rows, err := env.Ask(q, b.params)
	check(err, x.Position())
	out := make([]ast.SelectItem, 0, len(rows))
	for _, row := range rows {
		if len(out) == maxPivoted {
			fail(diag.StatementTooComplex, x.Position(), "PIVOT makes more than %d columns", maxPivoted)
		}
		out = append(out, ast.SelectItem{X: &ast.Literal{Pos: x.Position(), Kind: ast.LitString, Text: row[0].String()}})
	}
	return out
}

// visibleWith is a WITH clause of all WITH queries that can be seen here, for a query that is asked alone.
func (b *binder) visibleWith(pos int) *ast.With {
	var list []ast.CTE
	for c := b.ctes; c != nil; c = c.outer {
		if c.working != nil || c.def.Query == nil {
			unsupported(pos, "PIVOT of values that are not listed in such a WITH query")
		}
		list = append([]ast.CTE{*c.def}, list...)
	}
	if list == nil {
		return nil
	}
	recursive := false
	for c := b.ctes; c != nil; c = c.outer {
		recursive = recursive || c.recursive
	}
	return &ast.With{Pos: pos, CTEs: list, Recursive: recursive}
}

// pivotedColumns are the names of the columns that become others: those that ON and USING refer to.
func pivotedColumns(v *ast.Pivot) []string {
	names := []string{}
	add := func(x ast.Expr) {
		w := useCounter{column: func(c *ast.ColumnRef) { names = append(names, c.Name.Last()) }}
		w.expr(x)
	}
	for _, on := range v.On {
		add(on.X)
	}
	for _, u := range v.Using {
		add(u.X)
	}
	return names
}
