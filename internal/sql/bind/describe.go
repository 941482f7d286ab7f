package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// describe lists the columns of a relation.
func (b *binder) describe(s *ast.Describe) Bound {
	out := &Describe{}
	switch {
	case s.Query != nil:
		out.ofQuery(b, b.finish(b.query(s.Query, nil)))
	case s.File != "":
		t, err := b.env.File(FileRef{Path: s.File}, s.Pos)
		check(err, s.Pos)
		out.ofTable(t)
	default:
		schema, name := splitName(s.Table)
		if t, ok := b.env.Table(schema, name); ok {
			out.ofTable(t)
			break
		}
		v, ok := b.env.View(schema, name)
		if !ok {
			panic(b.unknownTable(s.Table))
		}
		n, r := b.view(v, s.Table.Pos())
		q := result{node: n}
		for i := range r.cols {
			q.cols = append(q.cols, outCol{name: r.cols[i].name, id: r.cols[i].id})
		}
		out.ofQuery(b, b.finish(q))
	}
	return out
}

// described is DESCRIBE of a query as a relation, with the columns that the statement gives.
func (b *binder) described(s *ast.Describe, around *scope) result {
	out := &Describe{}
	out.ofQuery(b, b.finish(b.query(s.Query, around)))
	var rows [][]plan.Expr
	for _, row := range out.Rows() {
		var exprs []plan.Expr
		for _, text := range row {
			exprs = append(exprs, plan.NewConst(types.TextValue(text)))
		}
		rows = append(rows, exprs)
	}
	var cols []outCol
	for _, name := range DescribeColumns {
		cols = append(cols, outCol{name: name, pos: s.Pos})
	}
	return b.valuesNode(rows, cols, slices.Repeat([]types.Type{types.TText}, len(cols)))
}

// DescribeColumns are the columns of what DESCRIBE gives.
var DescribeColumns = []string{"column_name", "column_type", "null"}

// Rows has a row for each column.
func (d *Describe) Rows() (rows [][]string) {
	for i, name := range d.Names {
		null := "YES"
		if d.NotNull[i] {
			null = "NO"
		}
		kind := d.Types[i].String()
		if d.Foreign[i] != "" {
			kind = d.Foreign[i] + " (cannot be read)"
		}
		rows = append(rows, []string{name, kind, null})
	}
	return rows
}

func (d *Describe) ofTable(t *catalog.Table) {
	d.Table = t
	for i := range t.Columns {
		c := &t.Columns[i]
		d.add(c.Name, c.Type, c.NotNull, c)
	}
}

func (d *Describe) ofQuery(b *binder, q *plan.Query) {
	for i, id := range q.Output {
		c := q.Cols.Get(id)
		d.add(q.Names[i], c.Type, c.NotNull, b.foreign[id])
	}
}

// add lists a column; def is its definition in a file or table, if that is known.
func (d *Describe) add(name string, t types.Type, notNull bool, def *catalog.ColumnDef) {
	foreign := ""
	if def != nil && def.Foreign != nil && def.Foreign.Unreadable {
		foreign = def.Foreign.Type
	}
	d.Names, d.Types, d.NotNull = append(d.Names, name), append(d.Types, t), append(d.NotNull, notNull)
	d.Foreign = append(d.Foreign, foreign)
}
