package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// unpivoted is what becomes one row: a name and values.
type unpivoted struct {
	name   string
	values []plan.Expr
	pos    []int
}

// unpivot binds UNPIVOT: each row is repeated once for each of its parts, and the number of the copy says which values it has.
func (b *binder) unpivot(u *ast.Unpivot, around *scope) result {
	s := around.push()
	node := b.from(s, []ast.TableExpr{u.Source})
	s.clause = "UNPIVOT"
	parts, used := b.unpivotParts(s, u)

	copies := &plan.Repeat{Input: node, Count: plan.NewConst(types.IntValue(types.TInt64, int64(len(parts)))), Col: b.cols.New("copy", types.TInt64, true)}
	p := b.project(copies, 0)
	var r result
	for _, c := range s.columns(func(string) bool { return true }) {
		col := &c.rel.cols[c.i]
		if used[found{nil, c.rel, c.i}] {
			continue
		}
		id := p.col(b.column(c.rel, c.i), col.name)
		r.cols = append(r.cols, outCol{name: col.name, id: id, pos: u.Pos})
	}
	choose := func(t types.Type, value func(i int) plan.Expr) plan.Expr {
		e := &plan.Call{Op: plan.Case, T: t, Pos: u.Pos}
		for i := range len(parts) - 1 {
			is := plan.Compare(plan.Eq, b.ref(copies.Col), plan.NewConst(types.IntValue(types.TInt64, int64(i))))
			e.Args = append(e.Args, is, value(i))
		}
		if last := value(len(parts) - 1); len(parts) == 1 {
			return last
		} else {
			e.Args = append(e.Args, last)
		}
		return e
	}
	add := func(id ast.Ident, e plan.Expr) plan.ColID {
		c := b.newCol(id.Name, e)
		p.node.Exprs, p.node.Cols = append(p.node.Exprs, e), append(p.node.Cols, c)
		r.cols = append(r.cols, outCol{name: id.Name, id: c, pos: id.Pos})
		return c
	}
	add(u.Name, choose(types.TText, func(i int) plan.Expr { return plan.NewConst(types.TextValue(parts[i].name)) }))
	var present []plan.Expr
	for k, id := range u.Values {
		column := make([]plan.Expr, len(parts))
		for i := range parts {
			column[i] = parts[i].values[k]
		}
		t := b.commonType(column, func(i int) int { return parts[i].pos[k] }, "UNPIVOT")
		c := add(id, choose(t, func(i int) plan.Expr { return b.convert(column[i], t, parts[i].pos[k]) }))
		present = append(present, plan.Negate(plan.NewCall(plan.IsNull, types.TBool, b.ref(c))))
	}
	if r.node = p.done(); !u.IncludeNulls {
		r.node = &plan.Filter{Input: r.node, Preds: present}
	}
	return r
}

// unpivotParts binds what becomes rows, and says which columns those are made of.
func (b *binder) unpivotParts(s *scope, u *ast.Unpivot) ([]unpivoted, map[found]bool) {
	var parts []unpivoted
	used := map[found]bool{}
	onColumn := func(c *ast.ColumnRef) {
		if at, ok := b.lookup(s, c); ok {
			used[found{nil, at.rel, at.i}] = true
		}
	}
	for _, on := range u.On {
		if cols := b.manyColumns(s, on.Exprs); cols != nil {
			for _, c := range cols {
				used[found{nil, c.rel, c.i}] = true
				x := b.mustReadExpr(b.read(c, on.Exprs[0].Position()), on.Exprs[0].Position())
				parts = append(parts, unpivoted{c.rel.cols[c.i].name, []plan.Expr{x}, []int{on.Exprs[0].Position()}})
			}
			continue
		}
		var part unpivoted
		var names []string
		for _, x := range on.Exprs {
			walk := useCounter{column: onColumn}
			walk.expr(x)
			part.values = append(part.values, b.expr(s, x))
			part.pos = append(part.pos, x.Position())
			names = append(names, ast.ColumnName(x))
		}
		if part.name = strings.Join(names, "_"); !on.Alias.Empty() {
			part.name = on.Alias.Name
		}
		parts = append(parts, part)
	}
	for _, part := range parts {
		if len(part.values) != len(u.Values) {
			panic(diag.Errorf(diag.SyntaxError, part.pos[0], "UNPIVOT makes %d values of %d columns", len(u.Values), len(part.values)).
				WithHint("(a, b) become two values: INTO NAME n VALUE v, w"))
		}
	}
	return parts, used
}

// manyColumns are the columns of * and COLUMNS(…), each of which is a part; nil for anything else.
func (b *binder) manyColumns(s *scope, list []ast.Expr) []found {
	if len(list) != 1 {
		return nil
	}
	switch x := list[0].(type) {
	case *ast.Star:
		return b.columnsBut(s, x, x.Pos)
	case *ast.Func:
		if len(x.Name) == 1 && x.Name[0].Name == "columns" && !x.Name[0].Quoted {
			return b.columnsOf(s, x)
		}
	}
	return nil
}
