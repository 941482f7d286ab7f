package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// alterEnum is ALTER TYPE: an enum with other labels is another type, to which all columns of the old one are converted.
func (s *Session) alterEnum(ctx context.Context, tx *catalog.Tx, b *bind.AlterEnum, t Timing) (*Result, error) {
	r := done("ALTER TYPE", t)
	if b.Enum == nil {
		r.notices = []string{b.Notice}
		return r, nil
	}
	if b.Renamed != "" {
		if err := s.labelUses(ctx, tx, b); err != nil {
			return nil, err
		}
	}
	if b.Enum.Name == b.Was.Name {
		tx.Put(b.Enum)
	} else if err := s.renameEnum(ctx, tx, b); err != nil {
		return nil, err
	}
	for _, o := range tx.Relations() {
		table, ok := o.(*catalog.Table)
		if !ok {
			continue
		}
		for i := range table.Columns {
			if !holdsEnum(table.Columns[i].Type, b.Was.Type) {
				continue
			}
			var err error
			if table, err = s.convertEnum(ctx, tx, table, i, b); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// renameEnum gives a type another name, unless a text that is stored has the old one.
func (s *Session) renameEnum(ctx context.Context, tx *catalog.Tx, b *bind.AlterEnum) error {
	refuse := func(where string) error {
		return diag.Unsupported(b.Pos, "renaming a type that %s names", where).WithHint("drop it, and make it again with the new name")
	}
	names := func(sql string) bool { return strings.Contains(sql, b.Was.Type.EnumName()) }
	for _, o := range tx.Relations() {
		switch r := o.(type) {
		case *catalog.View:
			if u, err := bind.ViewUses(s.env(ctx, tx), r); err == nil && u.Enums[b.Was.Type] {
				return refuse("view " + r.Name)
			}
		case *catalog.Table:
			for _, c := range r.Rules.Checks {
				if names(c.SQL) {
					return refuse("constraint " + c.Name + " of table " + r.Name)
				}
			}
			for _, c := range r.Columns {
				if names(c.Generated) || names(c.Default) {
					return refuse("column " + c.Name + " of table " + r.Name)
				}
			}
		}
	}
	tx.Drop(b.Was)
	tx.Put(b.Enum)
	return nil
}

// convertEnum gives a column what has become of its type: the name of the type means that now.
func (s *Session) convertEnum(ctx context.Context, tx *catalog.Tx, t *catalog.Table, i int, b *bind.AlterEnum) (*catalog.Table, error) {
	if err := tx.Unchanged(t); err != nil {
		return nil, err
	}
	c := t.Columns[i]
	n, err := parse.ParseType(c.Type.WithEnum(b.Was.Type, b.Enum.Type).String())
	if err != nil {
		return nil, diag.Internalf("session", "type %s: %v", c.Type, err)
	}
	if b.Renamed != "" && strings.Contains(c.Default, b.Renamed) {
		sh := catalog.ShapeOf(t)
		sh.Columns = append([]catalog.ColumnDef(nil), sh.Columns...)
		sh.Columns[i].Default = strings.ReplaceAll(c.Default, b.Renamed, b.To)
		if err := s.reshape(tx, t, sh, b.Pos); err != nil {
			return nil, err
		}
		r, err := tx.Lookup(t.Schema, t.Name)
		if err != nil {
			return nil, err
		}
		t = r.(*catalog.Table)
	}
	a := &ast.AlterAction{Pos: b.Pos, Kind: ast.AlterType, Name: ast.Ident{Name: c.Name, Pos: b.Pos}, Type: n}
	if b.Enum.Name != b.Was.Name { // enums of other names have only their texts in common
		texts, err := parse.ParseType(c.Type.InFiles().String())
		if err != nil {
			return nil, diag.Internalf("session", "type %s: %v", c.Type, err)
		}
		a.X = &ast.Cast{Pos: b.Pos, X: &ast.Cast{Pos: b.Pos, X: &ast.ColumnRef{Name: ast.Name{a.Name}}, Type: texts}, Type: n}
	}
	x, err := bind.AlterAction(s.env(ctx, tx), t, a)
	if err != nil {
		return nil, err
	}
	made, err := s.computed(ctx, t, x)
	if err != nil {
		return nil, err
	}
	now, err := t.Altered(catalog.Shape{Schema: x.Schema, Name: x.Name, Columns: x.Columns, Keys: x.Keys, Rules: x.Rules}, x.From, made, nil)
	if err != nil {
		return nil, at(err, b.Pos)
	}
	tx.Put(now)
	return now, nil
}

// labelUses refuses to rename a label that stands in a text that is stored.
func (s *Session) labelUses(ctx context.Context, tx *catalog.Tx, b *bind.AlterEnum) error {
	refuse := func(where string) error {
		return diag.Unsupported(b.Pos, "renaming a label that %s may name", where).WithHint("drop it, and make it again with the new name")
	}
	for _, o := range tx.Relations() {
		switch r := o.(type) {
		case *catalog.View:
			if u, err := bind.ViewUses(s.env(ctx, tx), r); err == nil && strings.Contains(r.SQL, b.Renamed) && s.usesEnum(tx, r, u, b.Was) {
				return refuse("view " + r.Name)
			}
		case *catalog.Table:
			has := false
			for _, c := range r.Columns {
				has = has || holdsEnum(c.Type, b.Was.Type)
			}
			if !has {
				continue
			}
			for _, c := range r.Rules.Checks {
				if strings.Contains(c.SQL, b.Renamed) {
					return refuse("constraint " + c.Name + " of table " + r.Name)
				}
			}
			for _, c := range r.Columns {
				if strings.Contains(c.Generated, b.Renamed) {
					return refuse("the generated column " + c.Name + " of table " + r.Name)
				}
			}
		}
	}
	return nil
}

// usesEnum reports a view that names an enum, or a column of it.
func (s *Session) usesEnum(tx *catalog.Tx, v *catalog.View, u *bind.Uses, e *catalog.Enum) bool {
	if u.Enums[e.Type] {
		return true
	}
	for t, cols := range u.Tables {
		for i := range cols {
			if holdsEnum(t.Columns[i].Type, e.Type) {
				return true
			}
		}
	}
	return false
}

// holdsEnum reports that t is an enum or made of it.
func holdsEnum(t, enum types.Type) bool {
	if t == enum {
		return true
	}
	if t.IsNested() {
		for _, f := range t.Fields() {
			if holdsEnum(f.Type, enum) {
				return true
			}
		}
	}
	return false
}

// enumUses drops views and columns that have a type, or refuses.
func (d *dropping) enumUses(e *catalog.Enum) error {
	if err := d.dependents(e, func(u *bind.Uses) bool { return d.s.usesEnum(d.tx, nil, u, e) }, "type", e.Name); err != nil {
		return err
	}
	for _, o := range d.tx.Relations() {
		t, ok := o.(*catalog.Table)
		if !ok || d.also[t] {
			continue
		}
		for _, c := range t.Columns {
			if !holdsEnum(c.Type, e.Type) {
				continue
			}
			if !d.cascade {
				return stillNeeded("type", e.Name, fmt.Sprintf("column %s of table %s", c.Name, t.Name), d.pos)
			}
			d.notices = append(d.notices, fmt.Sprintf("drop cascades to column %s of table %s", c.Name, t.Name))
			r := &Result{}
			a := &ast.AlterAction{Pos: d.pos, Kind: ast.DropColumn, Name: ast.Ident{Name: c.Name, Pos: d.pos}, Cascade: true}
			if err := d.s.alter(d.ctx, d.tx, t, a, r); err != nil {
				return err
			}
			now, err := d.tx.Lookup(t.Schema, t.Name)
			if err != nil {
				return err
			}
			t = now.(*catalog.Table)
		}
	}
	return nil
}
