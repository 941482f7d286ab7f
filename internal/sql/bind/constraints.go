package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// definition is what a table is to be: CREATE TABLE makes one, ALTER TABLE changes that of a table.
type definition catalog.Shape

// names are those of the constraints.
func (d *definition) names() []string { return d.table().ConstraintNames() }

// table is an empty table of that definition.
func (d *definition) table() *catalog.Table { return catalog.Shape(*d).Empty() }

// columnConstraints are the constraints written with a column.
func columnConstraints(c *ast.ColumnDef) (list []ast.Constraint) {
	id := []ast.Ident{c.Name}
	if c.PrimaryKey {
		list = append(list, ast.Constraint{Pos: c.Pos, Kind: ast.PrimaryKey, Columns: id})
	}
	if c.Unique {
		list = append(list, ast.Constraint{Pos: c.Pos, Kind: ast.Unique, Columns: id})
	}
	return append(list, c.Constraints...)
}

// constraints adds constraints to a definition: keys first, since others may be about them.
func (b *binder) constraints(d *definition, list []ast.Constraint) {
	for _, kind := range []ast.ConstraintKind{ast.PrimaryKey, ast.Unique, ast.Check, ast.ForeignKey} {
		for i := range list {
			if k := &list[i]; k.Kind == kind {
				b.constraint(d, k)
			}
		}
	}
}

// constraint adds one constraint.
func (b *binder) constraint(d *definition, k *ast.Constraint) {
	if !k.Name.Empty() && slices.ContainsFunc(d.names(), func(n string) bool { return strings.EqualFold(n, k.Name.Name) }) {
		if k.Kind == ast.PrimaryKey || k.Kind == ast.Unique {
			fail(diag.DuplicateTable, k.Name.Pos, "relation %q already exists", k.Name.Name)
		}
		fail(diag.DuplicateObject, k.Name.Pos, "constraint %q for relation %q already exists", k.Name.Name, d.Name)
	}
	switch k.Kind {
	case ast.PrimaryKey:
		if d.Rules.Primary {
			fail(diag.InvalidTableDefinition, k.Pos, "multiple primary keys for table %s are not allowed", quoted(d.Name))
		}
		key := d.ordinals(k.Columns)
		for _, o := range key {
			d.Columns[o].NotNull = true
		}
		d.addKey(key, k.Name.Name, true, false)
	case ast.Unique:
		d.addKey(d.ordinals(k.Columns), k.Name.Name, false, false)
	case ast.Check:
		d.Rules.Checks = append(d.Rules.Checks, b.checkConstraint(d, k))
	case ast.ForeignKey:
		d.Rules.Foreign = append(d.Rules.Foreign, b.foreignKey(d, k))
	}
}

// addKey adds a unique key, the primary one in front. A constraint without a name that is there already is not there twice.
func (d *definition) addKey(key []int, name string, primary, index bool) {
	if name == "" && !primary {
		for _, k := range d.Keys {
			if slices.Equal(k, key) {
				return
			}
		}
	}
	for len(d.Rules.KeyNames) < len(d.Keys) {
		d.Rules.KeyNames = append(d.Rules.KeyNames, "")
	}
	for len(d.Rules.Unique) < len(d.Keys) {
		d.Rules.Unique = append(d.Rules.Unique, false)
	}
	at := len(d.Keys)
	if primary {
		at, d.Rules.Primary = 0, true
	}
	d.Keys = slices.Insert(slices.Clip(d.Keys), at, key)
	d.Rules.KeyNames = slices.Insert(slices.Clip(d.Rules.KeyNames), at, name)
	d.Rules.Unique = slices.Insert(slices.Clip(d.Rules.Unique), at, index)
	if name == "" { // one that stays when columns or the table get other names
		d.Rules.KeyNames[at] = ""
		own := d.table().KeyName(at)
		others := slices.Delete(d.names(), at, at+1)
		d.Rules.KeyNames[at] = catalog.FreeName(own, others)
	}
}

// ordinals finds the columns of a constraint.
func (d *definition) ordinals(names []ast.Ident) []int {
	var out []int
	for _, id := range names {
		o := -1
		all := make([]string, len(d.Columns))
		for i := range d.Columns {
			if all[i] = d.Columns[i].Name; all[i] == id.Name {
				o = i
			}
		}
		if o < 0 {
			panic(diag.Errorf(diag.UndefinedColumn, id.Pos, "column %q named in key does not exist", id.Name).
				WithHint(diag.DidYouMean(id.Name, all)))
		}
		if slices.Contains(out, o) {
			fail(diag.DuplicateColumn, id.Pos, "column %q appears twice in a key", id.Name)
		}
		out = append(out, o)
	}
	return out
}

// over is a scope of the columns of a definition, and the scan that tells which of them are asked for.
func (b *binder) over(d *definition, clause string) (*scope, *plan.Scan) {
	scan, r := b.scan(d.table(), d.Schema, diag.NoPos)
	return &scope{rels: []*rel{r}, clause: clause}, scan
}

// checkConstraint binds CHECK once to see that it is right.
func (b *binder) checkConstraint(d *definition, k *ast.Constraint) catalog.Check {
	s, scan := b.over(d, "check constraints")
	e := b.condition(s, k.Check, "CHECK")
	if plan.HasSubquery(e) {
		fail(diag.FeatureNotSupported, k.Check.Position(), "cannot use subquery in check constraint")
	}
	c := catalog.Check{Name: k.Name.Name, SQL: ast.Format(k.Check)}
	if c.Name == "" {
		name := d.Name
		switch {
		case len(k.Columns) == 1:
			name += "_" + k.Columns[0].Name
		case len(scan.Ordinal) == 1:
			name += "_" + d.Columns[scan.Ordinal[0]].Name
		}
		c.Name = catalog.FreeName(name+"_check", d.names())
	}
	return c
}

// foreignKey binds REFERENCES.
func (b *binder) foreignKey(d *definition, k *ast.Constraint) catalog.ForeignKey {
	f := catalog.ForeignKey{Name: k.Name.Name, Columns: d.ordinals(k.Columns),
		OnDelete: catalog.Action(k.References.OnDelete), OnUpdate: catalog.Action(k.References.OnUpdate)}
	if f.Name == "" {
		name := d.Name
		for _, id := range k.Columns {
			name += "_" + id.Name
		}
		f.Name = catalog.FreeName(name+"_fkey", d.names())
	}
	n := k.References.Table
	schema, name := splitName(n)
	parent := d.table()
	if t, ok := b.env.Table(schema, name); ok && !(t.Name == d.Name && t.Schema == d.Schema) {
		parent = t
	} else if !ok && !(strings.EqualFold(name, d.Name) && (schema == "" || schema == d.Schema)) {
		panic(b.unknownTable(n))
	}
	f.Schema, f.Table = parent.Schema, parent.Name
	var key []int
	if len(k.References.Columns) == 0 {
		if !parent.Rules.Primary {
			fail(diag.UndefinedObject, n.Pos(), "there is no primary key for referenced table %q", parent.Name)
		}
		key = parent.Keys[0]
	} else {
		for _, id := range k.References.Columns {
			o := parent.Column(id.Name)
			if o < 0 {
				fail(diag.UndefinedColumn, id.Pos, "column %q referenced in foreign key constraint does not exist", id.Name)
			}
			key = append(key, o)
		}
	}
	if len(key) != len(f.Columns) {
		fail(diag.InvalidForeignKey, k.Pos, "number of referencing and referenced columns for foreign key disagree")
	}
	if !slices.ContainsFunc(parent.Keys, func(have []int) bool {
		return slices.Equal(slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(key)))
	}) {
		fail(diag.InvalidForeignKey, k.Pos, "there is no unique constraint matching given keys for referenced table %q", parent.Name)
	}
	for i, o := range key {
		f.Refs = append(f.Refs, parent.Columns[o].Name)
		mine, theirs := d.Columns[f.Columns[i]].Type, parent.Columns[o].Type
		if _, ok := types.CommonType(mine, theirs); !ok {
			panic(diag.Errorf(diag.DatatypeMismatch, k.Pos, "foreign key constraint %q cannot be implemented", f.Name).
				WithDetail("Key columns %q and %q are of incompatible types: %s and %s.", d.Columns[f.Columns[i]].Name,
					parent.Columns[o].Name, strings.ToLower(mine.String()), strings.ToLower(theirs.String())))
		}
	}
	return f
}

// createIndex binds CREATE INDEX.
func (b *binder) createIndex(s *ast.CreateIndex) Bound {
	t := b.target(s.Table, "create index on")
	out := &CreateIndex{Table: t, Unique: s.Unique, IfNotExists: s.IfNotExists, Pos: s.Pos}
	name := t.Name
	for _, id := range s.Columns {
		if id.Empty() {
			if s.Unique {
				unsupported(id.Pos, "a unique index on an expression")
			}
			name += "_expr"
			continue
		}
		o := tableColumn(t, id)
		name += "_" + t.Columns[o].Name
		out.Columns = append(out.Columns, o)
		out.Index.Columns = append(out.Index.Columns, t.Columns[o].Name)
	}
	out.Index.Name = s.Name.Name
	if s.Name.Empty() {
		out.Index.Name = catalog.FreeName(name+"_idx", t.ConstraintNames())
	}
	return out
}

// WithKey is the keys and rules of a table with one more key, of an index.
func WithKey(t *catalog.Table, key []int, name string) ([][]int, catalog.Rules) {
	d := definitionOf(t)
	d.addKey(key, name, false, true)
	return d.Keys, d.Rules
}

// definitionOf is the definition of a table, which can be changed.
func definitionOf(t *catalog.Table) *definition {
	d := &definition{Schema: t.Schema, Name: t.Name, Columns: slices.Clone(t.Columns), Keys: slices.Clone(t.Keys), Rules: t.Rules.Clone()}
	for i := range t.Keys { // names stay, whatever else changes
		if i >= len(d.Rules.KeyNames) {
			d.Rules.KeyNames = append(d.Rules.KeyNames, "")
		}
		d.Rules.KeyNames[i] = t.KeyName(i)
	}
	return d
}
