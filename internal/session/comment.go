package session

import (
	"context"
	"maps"
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// comment is COMMENT ON: an object like the one there was, with another comment, takes its place.
func (s *Session) comment(ctx context.Context, tx *catalog.Tx, b *bind.Comment, t Timing) (*Result, error) {
	text := ""
	if b.Text != nil {
		text = *b.Text
	}
	c := &commenting{s: s, tx: tx, e: s.env(ctx, tx), b: b, text: text}
	if err := c.store(); err != nil {
		return nil, err
	}
	return done("COMMENT", t), nil
}

// commenting is a COMMENT under way.
type commenting struct {
	s    *Session
	tx   *catalog.Tx
	e    env
	b    *bind.Comment
	text string
}

func (c *commenting) store() error {
	n := c.b.Name
	switch c.b.Kind {
	case "column":
		return c.column(n)
	case "constraint":
		return c.constraint()
	case "index":
		return c.index(n)
	}
	kinds := map[string]ast.DropKind{"schema": ast.DropSchema, "function": ast.DropMacro, "type": ast.DropType}
	if kind, ok := kinds[c.b.Kind]; ok {
		if kind == ast.DropSchema && (catalog.IsMain(n.Last()) || slices.Contains(systemSchemas, n.Last())) {
			return diag.Unsupported(n.Pos(), "a comment on schema %s", n.Last()).WithHint("schemas that CREATE SCHEMA makes have comments")
		}
		d := &dropping{s: c.s, ctx: c.e.ctx, tx: c.tx}
		r, err := d.find(kind, c.b.Kind, n, false)
		if err != nil {
			return err
		}
		switch r := r.(type) {
		case *catalog.Schema:
			now := *r
			now.Comment = c.text
			c.tx.Put(&now)
		case *catalog.Macro:
			now := *r
			now.Comment = c.text
			c.tx.Put(&now)
		case *catalog.Enum:
			now := *r
			now.Comment = c.text
			c.tx.Put(&now)
		}
		return nil
	}
	r, err := c.relation(n)
	if err != nil {
		return err
	}
	if kindName(r) != c.b.Kind {
		return diag.Errorf(diag.WrongObjectType, n.Pos(), "%q is not a %s", n.Last(), c.b.Kind)
	}
	switch r := r.(type) {
	case *catalog.Table:
		sh := catalog.ShapeOf(r)
		sh.Rules.Comment = c.text
		return c.s.reshape(c.tx, r, sh, n.Pos())
	case *catalog.View:
		now := *r
		now.Comment = c.text
		c.tx.Put(&now)
	case *catalog.Sequence:
		now := *r
		now.Comment = c.text
		c.tx.Put(&now)
	}
	return nil
}

// relation finds the table, view or sequence of a name.
func (c *commenting) relation(n ast.Name) (catalog.Relation, error) {
	schema, name := "", n.Last()
	if len(n) > 1 {
		schema = n[len(n)-2].Name
	}
	r := c.e.find(schema, name)
	switch {
	case r == nil && schema != "" && !c.e.HasSchema(schema):
		return nil, diag.Errorf(diag.InvalidSchemaName, n.Pos(), "schema %q does not exist", schema)
	case r == nil:
		return nil, diag.Errorf(diag.UndefinedTable, n.Pos(), "relation %q does not exist", n.String()).WithHint(diag.DidYouMean(name, c.e.TableNames()))
	case c.s.isSystem(c.tx, schema, name):
		return nil, diag.Errorf(diag.InsufficientPrivilege, n.Pos(), "permission denied: %q is a system catalog", name)
	}
	return r, nil
}

// column comments t.c.
func (c *commenting) column(n ast.Name) error {
	if len(n) < 2 {
		return diag.Errorf(diag.SyntaxError, n.Pos(), "column name must be qualified")
	}
	column := n[len(n)-1]
	r, err := c.relation(n[:len(n)-1])
	if err != nil {
		return err
	}
	missing := func() error {
		return diag.Errorf(diag.UndefinedColumn, column.Pos, "column %q of relation %q does not exist", column.Name, catalog.NameOf(r))
	}
	switch r := r.(type) {
	case *catalog.Table:
		i := r.Column(column.Name)
		if i < 0 {
			return missing()
		}
		sh := catalog.ShapeOf(r)
		sh.Columns = slices.Clone(sh.Columns)
		sh.Columns[i].Comment = c.text
		return c.s.reshape(c.tx, r, sh, n.Pos())
	case *catalog.View:
		cols, err := c.s.ViewColumnsIn(c.tx, r)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(cols, func(x Column) bool { return x.Name == column.Name }) {
			return missing()
		}
		now := *r
		now.Comments = withComment(r.Comments, column.Name, c.text)
		c.tx.Put(&now)
		return nil
	}
	return diag.Errorf(diag.WrongObjectType, n.Pos(), "%q is not a table or view", catalog.NameOf(r))
}

// constraint comments a constraint of a table.
func (c *commenting) constraint() error {
	r, err := c.relation(c.b.On)
	if err != nil {
		return err
	}
	t, ok := r.(*catalog.Table)
	if !ok {
		return diag.Errorf(diag.WrongObjectType, c.b.On.Pos(), "%q is not a table", catalog.NameOf(r))
	}
	found := false
	d := &describing{s: c.s, tx: c.tx}
	d.constraints(func(x *constraint) { found = found || x.t == t && x.name == c.b.Name.Last() })
	if !found {
		return diag.Errorf(diag.UndefinedObject, c.b.Name.Pos(), "constraint %q for table %q does not exist", c.b.Name.Last(), t.Name)
	}
	return c.ofTable(t, c.b.Name.Last())
}

// index comments an index, which belongs to a table.
func (c *commenting) index(n ast.Name) error {
	var t *catalog.Table
	d := &describing{s: c.s, tx: c.tx}
	d.indexes(func(x *index) {
		if x.name == n.Last() && (len(n) == 1 || x.of.schema == n[len(n)-2].Name) {
			t, _ = x.of.rel.(*catalog.Table)
		}
	})
	if t == nil {
		if r, err := c.relation(n); err != nil {
			return err
		} else {
			return diag.Errorf(diag.WrongObjectType, n.Pos(), "%q is not an index", catalog.NameOf(r))
		}
	}
	return c.ofTable(t, n.Last())
}

// ofTable stores the comment of what belongs to a table.
func (c *commenting) ofTable(t *catalog.Table, name string) error {
	sh := catalog.ShapeOf(t)
	sh.Rules.Comments = withComment(sh.Rules.Comments, name, c.text)
	return c.s.reshape(c.tx, t, sh, c.b.Pos)
}

// withComment is a copy of comments with another one; "" takes it away.
func withComment(have map[string]string, name, text string) map[string]string {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	if out[name] = text; text == "" {
		delete(out, name)
	}
	return out
}

// comments calls f for all comments: the object's number, the table of pg_catalog that has it, and the number of a column, else 0.
func (d *describing) comments(f func(oid int64, class string, column int, text string)) {
	say := func(oid int64, class string, column int, text string) {
		if text != "" {
			f(oid, class, column, text)
		}
	}
	for _, x := range d.relations() {
		switch r := x.rel.(type) {
		case *catalog.Table:
			say(x.oid, "pg_class", 0, r.Rules.Comment)
			for _, c := range x.columns {
				say(x.oid, "pg_class", c.num, c.def.Comment)
			}
		case *catalog.View:
			say(x.oid, "pg_class", 0, r.Comment)
			for _, c := range x.columns {
				say(x.oid, "pg_class", c.num, r.Comments[c.def.Name])
			}
		case *catalog.Sequence:
			say(x.oid, "pg_class", 0, r.Comment)
		}
	}
	d.indexes(func(x *index) {
		if t, ok := x.of.rel.(*catalog.Table); ok && !slices.ContainsFunc(d.constraintsOf(t), func(n string) bool { return n == x.name }) {
			say(x.oid, "pg_class", 0, t.Rules.Comments[x.name])
		}
	})
	d.numberedConstraints(func(oid int64, c *constraint) { say(oid, "pg_constraint", 0, c.t.Rules.Comments[c.name]) })
	d.schemas(func(oid int64, name string) {
		for _, r := range d.tx.Relations() {
			if sc, ok := r.(*catalog.Schema); ok && sc.Name == name {
				say(oid, "pg_namespace", 0, sc.Comment)
			}
		}
	})
	d.enums(func(oid int64, e *catalog.Enum) { say(oid, "pg_type", 0, e.Comment) })
	d.macros(func(oid int64, m *catalog.Macro) { say(oid, "pg_proc", 0, m.Comment) })
}

// constraintsOf are the names of a table's constraints.
func (d *describing) constraintsOf(t *catalog.Table) (out []string) {
	d.constraints(func(c *constraint) {
		if c.t == t {
			out = append(out, c.name)
		}
	})
	return out
}
