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
	t := b.target(s.Table, "insert into")
	rows := b.inserted(s, t)
	if s.OnConflict != nil && !s.OnConflict.Nothing {
		return b.upsert(s, t, rows)
	}
	out := &Insert{Table: t, Query: b.finish(rows), Pos: s.Pos}
	if s.OnConflict != nil {
		out.Ignore = b.arbiters(t, s.OnConflict)
	}
	out.Returning = b.returning(&returningClause{s.Returning, s.With, t, s.Table, s.Alias}, nil)
	return out
}

// inserted is the rows that INSERT would add: all columns of the table, in order.
func (b *binder) inserted(s *ast.Insert, t *catalog.Table) result {
	targets := b.targetColumns(t, s.Columns)
	if s.DefaultValues {
		return b.generate(t, b.insertRows(t, nil, &ast.Values{Rows: [][]ast.Expr{{}}}))
	}
	q := s.Query
	if s.With != nil {
		b.with(s.With, changeUses(s.OnConflict.Assignments(), []ast.TableExpr{&ast.SubqueryTable{Query: q}}, s.OnConflict.Condition()), nil)
	}
	if v, ok := q.Body.(*ast.Values); ok && !s.ByName && q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
		checkWidth(len(v.Rows[0]), len(targets), len(s.Columns) > 0, s.Columns, v.Rows[0][min(len(targets), len(v.Rows[0])-1)].Position())
		for _, row := range v.Rows {
			for i, x := range row {
				if _, ok := x.(*ast.Default); !ok && i < len(targets) {
					mayGive(&t.Columns[targets[i]], s.Overriding, x.Position())
				}
			}
		}
		return b.generate(t, b.insertRows(t, targets, v))
	}
	r := b.query(q, nil)
	for _, c := range r.cols {
		b.mustRead(c.id, c.pos)
	}
	if s.ByName {
		names := make([]ast.Ident, len(r.cols))
		for i, c := range r.cols {
			names[i] = ast.Ident{Name: c.name, Pos: c.pos}
		}
		targets = b.targetColumns(t, names)
	}
	checkWidth(len(r.cols), len(targets), len(s.Columns) > 0, s.Columns, q.Pos)
	for i := range r.cols {
		mayGive(&t.Columns[targets[i]], s.Overriding, r.cols[i].pos)
	}
	return b.generate(t, b.insertQuery(t, targets, r))
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
	if k, ok := e.(*plan.Const); ok && c.Type.Kind == types.Text && c.Type.Len > 0 && !k.V.Null {
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
