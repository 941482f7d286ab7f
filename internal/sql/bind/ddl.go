package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// createTable binds CREATE TABLE in both forms.
func (b *binder) createTable(s *ast.CreateTable) Bound {
	out := &CreateTable{IfNotExists: s.IfNotExists, OrReplace: s.OrReplace, Temp: s.Temp, Pos: s.Name.Pos()}
	out.Schema, out.Name = splitName(s.Name)
	if s.As != nil {
		b.createTableAs(s, out)
		return out
	}
	var primary []int
	for i := range s.Columns {
		c := &s.Columns[i]
		def := catalog.ColumnDef{Name: c.Name.Name, Type: typeName(c.Type), NotNull: c.NotNull || c.PrimaryKey}
		if c.Default != nil {
			b.assign(b.expr(&scope{clause: "DEFAULT expressions"}, c.Default), def.Type, c.Default.Position(),
				"column "+quoted(def.Name))
			def.Default = ast.Format(c.Default)
		}
		if c.Check != nil {
			unsupported(c.Check.Position(), "a CHECK constraint")
		}
		if c.References != nil {
			out.notice("foreign keys are accepted but not enforced")
		}
		if c.PrimaryKey {
			primary = onePrimary(primary, []int{i}, s, c.Pos)
		}
		out.addColumn(def, c.Pos)
	}
	for i := range s.Constraints {
		k := &s.Constraints[i]
		switch k.Kind {
		case ast.PrimaryKey:
			primary = onePrimary(primary, out.ordinals(k.Columns), s, k.Pos)
			for _, o := range primary {
				out.Columns[o].NotNull = true
			}
		case ast.ForeignKey:
			out.ordinals(k.Columns)
			out.notice("foreign keys are accepted but not enforced")
		case ast.Check:
			unsupported(k.Pos, "a CHECK constraint")
		}
	}
	if primary != nil {
		out.Keys, out.HasPrimary = append(out.Keys, primary), true
	}
	for i := range s.Columns {
		if s.Columns[i].Unique {
			out.addKey([]int{i})
		}
	}
	for i := range s.Constraints {
		if k := &s.Constraints[i]; k.Kind == ast.Unique {
			out.addKey(out.ordinals(k.Columns))
		}
	}
	return out
}

func onePrimary(old, key []int, s *ast.CreateTable, pos int) []int {
	if old != nil {
		fail(diag.InvalidTableDefinition, pos, "multiple primary keys for table %s are not allowed", quoted(s.Name.Last()))
	}
	return key
}

func quoted(name string) string { return `"` + name + `"` }

func (t *CreateTable) notice(text string) {
	for _, n := range t.Notices {
		if n == text {
			return
		}
	}
	t.Notices = append(t.Notices, text)
}

// addColumn checks that the name is new.
func (t *CreateTable) addColumn(def catalog.ColumnDef, pos int) {
	for i := range t.Columns {
		if strings.EqualFold(t.Columns[i].Name, def.Name) {
			fail(diag.DuplicateColumn, pos, "column %q specified more than once", def.Name)
		}
	}
	t.Columns = append(t.Columns, def)
}

// addKey adds a unique key unless it is there already.
func (t *CreateTable) addKey(key []int) {
	for _, k := range t.Keys {
		same := len(k) == len(key)
		for i := 0; same && i < len(k); i++ {
			same = k[i] == key[i]
		}
		if same {
			return
		}
	}
	t.Keys = append(t.Keys, key)
}

// ordinals finds the columns of a constraint.
func (t *CreateTable) ordinals(names []ast.Ident) []int {
	var out []int
	for _, id := range names {
		o := -1
		all := make([]string, len(t.Columns))
		for i := range t.Columns {
			if all[i] = t.Columns[i].Name; all[i] == id.Name {
				o = i
			}
		}
		if o < 0 {
			panic(diag.Errorf(diag.UndefinedColumn, id.Pos, "column %q named in key does not exist", id.Name).
				WithHint(diag.DidYouMean(id.Name, all)))
		}
		for _, have := range out {
			if have == o {
				fail(diag.DuplicateColumn, id.Pos, "column %q appears twice in a key", id.Name)
			}
		}
		out = append(out, o)
	}
	return out
}

func (b *binder) createTableAs(s *ast.CreateTable, out *CreateTable) {
	q := b.root(s.As)
	if len(s.AsColumns) > len(q.Output) {
		fail(diag.SyntaxError, s.AsColumns[len(q.Output)].Pos, "too many column names were specified")
	}
	for i, id := range q.Output {
		name, pos := q.Names[i], s.As.Pos
		if i < len(s.AsColumns) {
			name, pos = s.AsColumns[i].Name, s.AsColumns[i].Pos
		}
		q.Names[i] = name
		out.addColumn(catalog.ColumnDef{Name: name, Type: q.Cols.Get(id).Type}, pos)
	}
	if !s.NoData {
		out.Query = q
	}
}

func (b *binder) createView(s *ast.CreateView) Bound {
	out := &CreateView{IfNotExists: s.IfNotExists, OrReplace: s.OrReplace, Temp: s.Temp, Pos: s.Name.Pos()}
	out.View = &catalog.View{SQL: s.QueryText}
	out.Schema, out.View.Name = splitName(s.Name)
	b.params = nil // a view is bound again without them
	q := b.finish(b.query(s.Query, nil))
	if len(s.Columns) > len(q.Output) {
		fail(diag.SyntaxError, s.Columns[len(q.Output)].Pos, "CREATE VIEW specifies more column names than columns")
	}
	names := append([]string(nil), q.Names...)
	for i, id := range s.Columns {
		names[i] = id.Name
		out.View.Columns = names
	}
	for i := range names {
		for j := range i {
			if names[i] == names[j] {
				fail(diag.DuplicateColumn, s.Query.Pos, "column %q specified more than once", names[i])
			}
		}
	}
	return out
}

func (b *binder) drop(s *ast.Drop) Bound {
	out := &Drop{View: s.Kind == ast.DropView, IfExists: s.IfExists, Cascade: s.Cascade, Pos: s.Pos}
	for _, n := range s.Names {
		schema, name := splitName(n)
		_, isTable := b.env.Table(schema, name)
		_, isView := b.env.View(name)
		kind, ok, other := "table", isTable, isView
		if out.View {
			kind, ok, other = "view", isView, isTable
		}
		switch {
		case ok:
		case other:
			panic(diag.Errorf(diag.WrongObjectType, n.Pos(), "%q is not a %s", name, kind).
				WithHint("use DROP %s", map[bool]string{true: "TABLE", false: "VIEW"}[out.View]))
		case !s.IfExists:
			panic(diag.Errorf(diag.UndefinedTable, n.Pos(), "%s %q does not exist", kind, name).
				WithHint(diag.DidYouMean(name, b.env.TableNames())))
		}
		if !slices.ContainsFunc(out.Names, func(o string) bool { return strings.EqualFold(o, name) }) {
			out.Names = append(out.Names, name)
		}
	}
	return out
}

// defaultValue is the DEFAULT of a column, NULL if it has none.
func (b *binder) defaultValue(c *catalog.ColumnDef, pos int) plan.Expr {
	if c.Default == "" {
		return plan.NullConst(c.Type)
	}
	x, err := parseDefault(c.Default)
	if err != nil {
		panic(diag.Internalf("bind", "default of column %s: %v", c.Name, err))
	}
	return b.assign(b.expr(&scope{clause: "DEFAULT expressions"}, x), c.Type, pos, "column "+quoted(c.Name))
}
