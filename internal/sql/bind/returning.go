package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// Returning is a query over the rows that a statement has stored or deleted. They are known only when that is done: then Scan gets
// a snapshot of Rows, an empty table with the columns of the statement's table and those of tables beside it that are asked for.
type Returning struct {
	Rows  *catalog.Table
	Scan  *plan.Scan
	Query *plan.Query
	more  []carried
}

// carried is a column of a table beside the one that is changed, for RETURNING.
type carried struct {
	rel *rel
	i   int
}

// returningClause is what RETURNING is about.
type returningClause struct {
	items []ast.SelectItem
	with  *ast.With
	table *catalog.Table
	name  ast.Name
	alias ast.Ident
}

// returning binds RETURNING; others are the relations beside the table. It is a query of its own, of another binder.
func (b *binder) returning(c *returningClause, others []*rel) *Returning {
	if len(c.items) == 0 {
		return nil
	}
	b2 := newBinder(b.env, b.params)
	b2.pending = b.pending
	if c.with != nil {
		b2.with(c.with, &ast.Query{Body: &ast.Select{Items: c.items}}, nil)
	}
	schema, _ := splitName(c.name)
	scan, r := b2.scan(c.table, schema, c.name.Pos())
	if !c.alias.Empty() {
		applyAlias(r, &ast.Alias{Name: c.alias})
		scan.Alias = r.name
	}
	out := &Returning{Scan: scan}
	s := &scope{rels: []*rel{r}, aggs: &aggregates{}, clause: "RETURNING"}
	for _, o := range others {
		s.rels = append(s.rels, out.beside(c.table, scan, o))
	}
	items := b2.items(s, &ast.Select{Items: c.items})
	p := b2.project(scan, len(items))
	res := result{cols: make([]outCol, len(items))}
	for i, it := range items {
		res.cols[i] = outCol{name: it.name, id: p.col(it.x, it.name), pos: it.at.pos}
	}
	res.node = p.done()
	more := make([]catalog.ColumnDef, len(out.more))
	for i, m := range out.more {
		more[i] = catalog.ColumnDef{Name: m.rel.cols[m.i].name, Type: m.rel.cols[m.i].typ}
	}
	out.Rows = c.table.With(more)
	scan.Table, scan.Snap = out.Rows, out.Rows.Snapshot()
	out.Query = b2.finish(res)
	return out
}

// beside makes a relation whose columns are carried with the changed rows when they are first asked for.
func (out *Returning) beside(t *catalog.Table, scan *plan.Scan, o *rel) *rel {
	r := &rel{name: o.name, schema: o.schema, aliased: o.aliased, pos: o.pos, scan: scan, cols: slices.Clone(o.cols)}
	for i := range r.cols {
		c := &r.cols[i]
		c.id, c.expr, c.notNull, c.source = 0, nil, false, 0
	}
	r.ordinal = func(i int) int {
		out.more = append(out.more, carried{o, i})
		return len(t.Columns) + len(out.more) - 1
	}
	return r
}
