package bind

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

func parseDefault(text string) (ast.Expr, error) { return parse.ParseExpr(text) }

// insert binds INSERT.
func (b *binder) insert(s *ast.Insert) Bound {
	if len(s.Returning) > 0 {
		unsupported(s.Returning[0].X.Position(), "RETURNING")
	}
	t := b.target(s.Table, "insert into")
	targets := b.targetColumns(t, s.Columns)
	out := &Insert{Table: t, Pos: s.Pos}
	switch {
	case s.DefaultValues:
		out.Query = b.finish(b.insertRows(t, nil, &ast.Values{Rows: [][]ast.Expr{{}}}))
	default:
		if s.With != nil {
			b.with(s.With, s.Query, nil)
		}
		q := s.Query
		if v, ok := q.Body.(*ast.Values); ok && q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
			checkWidth(len(v.Rows[0]), len(targets), len(s.Columns) > 0, s.Columns, v.Rows[0][min(len(targets), len(v.Rows[0])-1)].Position())
			out.Query = b.finish(b.insertRows(t, targets, v))
			break
		}
		r := b.query(q, nil)
		for _, c := range r.cols {
			b.mustRead(c.id, c.pos)
		}
		checkWidth(len(r.cols), len(targets), len(s.Columns) > 0, s.Columns, q.Pos)
		out.Query = b.finish(b.insertQuery(t, targets, r))
	}
	return out
}

// targetColumns is the ordinals of the columns named, or of all.
func (b *binder) targetColumns(t *catalog.Table, names []ast.Ident) []int {
	if len(names) == 0 {
		all := make([]int, len(t.Columns))
		for i := range all {
			all[i] = i
		}
		return all
	}
	out := make([]int, 0, len(names))
	for _, id := range names {
		o := tableColumn(t, id)
		for _, have := range out {
			if have == o {
				fail(diag.DuplicateColumn, id.Pos, "column %q specified more than once", id.Name)
			}
		}
		out = append(out, o)
	}
	return out
}

func tableColumn(t *catalog.Table, id ast.Ident) int {
	if o := t.Column(id.Name); o >= 0 {
		return o
	}
	names := make([]string, len(t.Columns))
	for i := range t.Columns {
		names[i] = t.Columns[i].Name
	}
	panic(diag.Errorf(diag.UndefinedColumn, id.Pos, "column %q of relation %q does not exist", id.Name, t.Name).
		WithHint(diag.DidYouMean(id.Name, names)))
}

// checkWidth compares the number of values with the number of columns. Columns at the end may be
// missing if none were named.
func checkWidth(have, want int, named bool, names []ast.Ident, pos int) {
	switch {
	case have > want:
		fail(diag.SyntaxError, pos, "INSERT has more expressions than target columns")
	case have < want && named:
		fail(diag.SyntaxError, names[have].Pos, "INSERT has more target columns than expressions")
	}
}

// store converts a value for a column of a table.
func (b *binder) store(e plan.Expr, c *catalog.ColumnDef, pos int) plan.Expr {
	e = b.assign(e, c.Type, pos, "column "+quoted(c.Name))
	if k, ok := e.(*plan.Const); ok && c.Type.Len > 0 && !k.V.Null {
		v, err := types.Assign(k.V, c.Type) // too long for VARCHAR(n)
		check(err, pos)
		v.Type = types.TText
		return &plan.Const{V: v}
	}
	return e
}

// insertRows binds the rows of INSERT … VALUES straight to the table's types, so that each literal
// is read as what its column is.
func (b *binder) insertRows(t *catalog.Table, targets []int, v *ast.Values) result {
	s := &scope{clause: "VALUES"}
	given := make([]int, len(t.Columns)) // which expression a column gets, -1 for its default
	for o := range given {
		given[o] = -1
	}
	for i, o := range targets {
		if i < len(v.Rows[0]) {
			given[o] = i
		}
	}
	rows := make([][]plan.Expr, len(v.Rows))
	for i, row := range v.Rows {
		if len(row) != len(v.Rows[0]) {
			fail(diag.SyntaxError, row[0].Position(), "VALUES lists must all be the same length")
		}
		rows[i] = make([]plan.Expr, len(t.Columns))
		for o := range t.Columns {
			c := &t.Columns[o]
			if given[o] < 0 {
				rows[i][o] = b.defaultValue(c, v.Pos)
				continue
			}
			x := row[given[o]]
			if _, ok := x.(*ast.Default); ok {
				rows[i][o] = b.defaultValue(c, x.Position())
				continue
			}
			rows[i][o] = b.store(b.expr(s, x), c, x.Position())
		}
	}
	cols := make([]outCol, len(t.Columns))
	want := make([]types.Type, len(t.Columns))
	for o, c := range t.Columns {
		cols[o].name, want[o] = c.Name, c.Type
	}
	return b.valuesNode(rows, cols, want)
}

// insertQuery puts a query's columns where the table wants them.
func (b *binder) insertQuery(t *catalog.Table, targets []int, r result) result {
	p := b.project(r.node, len(t.Columns))
	out := result{cols: make([]outCol, len(t.Columns))}
	for o := range t.Columns {
		c := &t.Columns[o]
		e := plan.Expr(nil)
		for i, target := range targets {
			if target != o || i >= len(r.cols) {
				continue
			}
			e = b.ref(r.cols[i].id)
			if r.cols[i].lit != nil {
				e = r.cols[i].lit
			}
			e = b.store(e, c, r.cols[i].pos)
		}
		if e == nil {
			e = b.defaultValue(c, diag.NoPos)
		}
		out.cols[o] = outCol{name: c.Name, id: p.col(e, c.Name)}
	}
	out.node = p.done()
	return out
}

// whole makes the scan of all columns of a table that is to be changed, under an alias.
func (b *binder) whole(t *catalog.Table, n ast.Name, alias ast.Ident) (*scope, plan.Node, []outCol) {
	schema, _ := splitName(n)
	scan, r := b.scan(t, schema, n.Pos())
	if !alias.Empty() {
		applyAlias(r, &ast.Alias{Name: alias})
		scan.Alias = r.name
	}
	cols := make([]outCol, len(t.Columns))
	for i := range t.Columns {
		b.require(r, i)
		cols[i] = outCol{name: t.Columns[i].Name, id: r.cols[i].id}
	}
	return &scope{rels: []*rel{r}}, scan, cols
}

// delete binds DELETE as the rows that stay.
func (b *binder) delete(s *ast.Delete) Bound {
	switch {
	case len(s.Returning) > 0:
		unsupported(s.Returning[0].X.Position(), "RETURNING")
	case len(s.Using) > 0:
		unsupported(s.Using[0].Position(), "DELETE … USING")
	case s.With != nil:
		unsupported(s.With.Pos, "WITH before DELETE")
	}
	t := b.target(s.Table, "delete from")
	out := &Delete{Table: t, Pos: s.Pos}
	if s.Where == nil {
		return out
	}
	sc, n, cols := b.whole(t, s.Table, s.Alias)
	sc.clause = "WHERE"
	gone := &plan.Call{Op: plan.IsTrue, T: types.TBool, Args: []plan.Expr{b.condition(sc, s.Where, "WHERE")}, Pos: s.Where.Position()}
	out.Keep = b.finish(result{filter(n, not(gone, s.Where.Position())), cols})
	return out
}

// update binds UPDATE as all rows of the table, the changed ones marked. The condition is a column of
// its own first, since every assignment depends on it.
func (b *binder) update(s *ast.Update) Bound {
	switch {
	case len(s.Returning) > 0:
		unsupported(s.Returning[0].X.Position(), "RETURNING")
	case len(s.From) > 0:
		unsupported(s.From[0].Position(), "UPDATE … FROM")
	case s.With != nil:
		unsupported(s.With.Pos, "WITH before UPDATE")
	}
	t := b.target(s.Table, "update")
	sc, n, cols := b.whole(t, s.Table, s.Alias)
	hit := plan.Expr(plan.BoolConst(true))
	if s.Where != nil {
		sc.clause = "WHERE"
		cond := b.condition(sc, s.Where, "WHERE")
		hit = &plan.Call{Op: plan.IsTrue, T: types.TBool, Args: []plan.Expr{cond}, Pos: s.Where.Position()}
	}
	mark := b.project(n, len(cols))
	for _, c := range cols {
		mark.col(b.ref(c.id), "")
	}
	updated := mark.col(hit, "updated")

	sc.clause = "UPDATE"
	values := make([]plan.Expr, len(cols))
	for i := range s.Set {
		b.assignment(sc, t, &s.Set[i], values)
	}
	p := b.project(mark.done(), len(cols)+1)
	out := result{cols: make([]outCol, 0, len(cols)+1)}
	for i, c := range cols {
		e := b.ref(c.id)
		if v := values[i]; v != nil {
			if s.Where == nil {
				e = v
			} else {
				v = b.convert(v, c.typeIn(b), s.Pos)
				e = &plan.Call{Op: plan.Case, T: c.typeIn(b), Args: []plan.Expr{b.ref(updated), v, e}, Pos: s.Pos}
			}
		}
		out.cols = append(out.cols, outCol{name: c.name, id: p.col(e, c.name)})
	}
	out.cols = append(out.cols, outCol{name: "updated", id: p.col(b.ref(updated), "updated")})
	out.node = p.done()
	return &Update{Table: t, Query: b.finish(out), Pos: s.Pos}
}

func (c outCol) typeIn(b *binder) types.Type { return b.cols.Get(c.id).Type }

// assignment binds SET a = x, or (a, b) = (x, y).
func (b *binder) assignment(s *scope, t *catalog.Table, a *ast.Assignment, values []plan.Expr) {
	xs := []ast.Expr{a.X}
	if len(a.Columns) > 1 {
		row, ok := a.X.(*ast.Row)
		if !ok {
			unsupported(a.X.Position(), "the assignment of a subquery to several columns")
		}
		if xs = row.Elems; len(xs) != len(a.Columns) {
			fail(diag.SyntaxError, a.X.Position(), "number of columns does not match number of values")
		}
	}
	for i, id := range a.Columns {
		o := tableColumn(t, id)
		c := &t.Columns[o]
		if values[o] != nil {
			fail(diag.SyntaxError, id.Pos, "multiple assignments to same column %q", id.Name)
		}
		if d, ok := xs[i].(*ast.Default); ok {
			values[o] = b.defaultValue(c, d.Pos)
			continue
		}
		values[o] = b.store(b.expr(s, xs[i]), c, xs[i].Position())
	}
}
