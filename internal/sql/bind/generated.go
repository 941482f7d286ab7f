package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// checkGenerated binds the expressions of generated columns once, and gives those a type that have none. cols are the columns
// as they were written; one without an expression is left alone.
func (b *binder) checkGenerated(d *definition, cols []ast.ColumnDef) {
	for i := range cols {
		c := &d.Columns[i]
		if cols[i].Generated == nil {
			continue
		}
		pos := cols[i].Generated.Position()
		s, scan := b.over(d, "column generation expressions")
		e := b.expr(s, cols[i].Generated)
		for _, o := range scan.Ordinal {
			if d.Columns[o].Generated != "" {
				panic(diag.Errorf(diag.InvalidObjectDefinition, pos, "cannot use generated column %q in column generation expression", d.Columns[o].Name).
					WithDetail("A generated column cannot reference another generated column."))
			}
		}
		switch {
		case plan.HasSubquery(e):
			fail(diag.FeatureNotSupported, pos, "cannot use subquery in column generation expression")
		case plan.Volatile(e):
			fail(diag.InvalidObjectDefinition, pos, "generation expression is not immutable")
		}
		if cols[i].Type.Name == "" {
			c.Type = b.settle(e).Type()
		}
		b.assign(e, c.Type, pos, "column "+quoted(c.Name))
	}
}

// hasGenerated reports columns that depend on others.
func hasGenerated(t *catalog.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c catalog.ColumnDef) bool { return c.Generated != "" })
}

// generate computes the generated columns of rows whose first columns are the table's.
func (b *binder) generate(t *catalog.Table, r result) result {
	if !hasGenerated(t) {
		return r
	}
	row := &rel{name: t.Name, schema: t.Schema, cols: make([]relCol, len(t.Columns))}
	for i, c := range t.Columns {
		row.cols[i] = relCol{name: c.Name, typ: c.Type, id: r.cols[i].id, expr: b.convert(b.ref(r.cols[i].id), c.Type, diag.NoPos)}
	}
	p := b.project(r.node, len(r.cols))
	out := result{cols: slices.Clone(r.cols)}
	for i := range r.cols {
		if i < len(t.Columns) && t.Columns[i].Generated != "" {
			c := &t.Columns[i]
			e := b.store(b.expr(&scope{rels: []*rel{row}, clause: "column generation expressions"}, parsed(c.Generated)), c, diag.NoPos)
			out.cols[i].id = p.col(e, c.Name)
			continue
		}
		p.col(b.ref(r.cols[i].id), "")
	}
	out.node = p.done()
	return out
}

// mayGive checks that INSERT may give a column another value than its default.
func mayGive(c *catalog.ColumnDef, overriding bool, pos int) {
	switch {
	case c.Generated != "":
		panic(diag.Errorf(diag.GeneratedAlways, pos, "cannot insert a non-DEFAULT value into column %q", c.Name).
			WithDetail("Column %q is a generated column.", c.Name))
	case c.Identity == catalog.IdentityAlways && !overriding:
		panic(diag.Errorf(diag.GeneratedAlways, pos, "cannot insert a non-DEFAULT value into column %q", c.Name).
			WithDetail("Column %q is an identity column defined as GENERATED ALWAYS.", c.Name).WithHint("Use OVERRIDING SYSTEM VALUE to override."))
	}
}

// maySet checks that UPDATE may give a column another value than its default.
func maySet(c *catalog.ColumnDef, pos int) {
	switch {
	case c.Generated != "":
		panic(diag.Errorf(diag.GeneratedAlways, pos, "column %q can only be updated to DEFAULT", c.Name).
			WithDetail("Column %q is a generated column.", c.Name))
	case c.Identity == catalog.IdentityAlways:
		panic(diag.Errorf(diag.GeneratedAlways, pos, "column %q can only be updated to DEFAULT", c.Name).
			WithDetail("Column %q is an identity column defined as GENERATED ALWAYS.", c.Name))
	}
}
