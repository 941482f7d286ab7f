package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// alterTable is ALTER TABLE: one action after the other, each on what those before it have left.
func (s *Session) alterTable(ctx context.Context, tx *catalog.Tx, b *bind.AlterTable, t Timing) (*Result, error) {
	tag, kind := "ALTER TABLE", "table"
	if b.View {
		tag, kind = "ALTER VIEW", "view"
	}
	r := done(tag, t)
	schema, name := "", b.Name.Last()
	if len(b.Name) > 1 {
		schema = b.Name[len(b.Name)-2].Name
	}
	for i := range b.Actions {
		a := &b.Actions[i]
		e := s.env(ctx, tx)
		found := e.find(schema, name)
		if table, ok := found.(*catalog.Table); ok && s.isSystem(tx, schema, name) {
			return nil, diag.Errorf(diag.InsufficientPrivilege, b.Name.Pos(), "permission denied: %q is a system catalog", table.Name)
		}
		var err error
		switch rel := found.(type) {
		case nil:
			if !b.IfExists {
				return nil, diag.Errorf(diag.UndefinedTable, b.Name.Pos(), "relation %q does not exist", b.Name.String()).
					WithHint(diag.DidYouMean(name, e.TableNames()))
			}
			r.notices = append(r.notices, fmt.Sprintf("relation %q does not exist, skipping", name))
			return r, nil
		case *catalog.Table:
			if a.Kind == ast.RenameTable && a.To.Name == rel.Name {
				return nil, diag.Errorf(diag.DuplicateTable, a.To.Pos, "relation %q already exists", rel.Name)
			}
			if b.View {
				return nil, diag.Errorf(diag.WrongObjectType, b.Name.Pos(), "%q is not a %s", name, kind)
			}
			err = s.alter(ctx, tx, rel, a, r)
		case *catalog.View:
			err = s.alterView(tx, rel, a)
		case *catalog.Sequence:
			if a.Kind != ast.RenameTable {
				return nil, diag.Errorf(diag.WrongObjectType, b.Name.Pos(), "%q is not a table", name)
			}
			q := rel.Renamed(rel.Schema, a.To.Name)
			if err = tx.Add(q, catalog.Fail); err == nil {
				tx.Drop(rel)
			}
		}
		if err != nil {
			return nil, at(err, a.Pos)
		}
		switch a.Kind {
		case ast.RenameTable:
			name = a.To.Name
		case ast.SetSchema:
			schema = a.To.Name
		}
	}
	return r, nil
}

// alterSequence puts another sequence in the place of one.
func alterSequence(tx *catalog.Tx, b *bind.AlterSequence, t Timing) (*Result, error) {
	r := done("ALTER SEQUENCE", t)
	if b.Sequence == nil {
		r.notices = []string{fmt.Sprintf("relation %q does not exist, skipping", b.Name)}
		return r, nil
	}
	tx.Put(b.Sequence)
	return r, nil
}

// alterView renames a view.
func (s *Session) alterView(tx *catalog.Tx, v *catalog.View, a *ast.AlterAction) error {
	now := *v
	switch a.Kind {
	case ast.RenameTable:
		now.Name = a.To.Name
	case ast.SetSchema:
		now.Schema = a.To.Name
	default:
		return diag.Errorf(diag.WrongObjectType, a.Pos, "ALTER action cannot be performed on relation %q", v.Name).
			WithDetail("This operation is not supported for views.")
	}
	for _, o := range tx.Relations() {
		if w, ok := o.(*catalog.View); ok && w != v {
			if u, err := bind.ViewUses(s.env(context.Background(), tx), w); err == nil && u.Views[v] {
				return diag.Unsupported(a.Pos, "renaming a view that another view uses").WithHint("drop view %q first", w.Name)
			}
		}
	}
	if err := tx.Add(&now, catalog.Fail); err != nil {
		return err
	}
	tx.Drop(v)
	return nil
}

// alter does one action.
func (s *Session) alter(ctx context.Context, tx *catalog.Tx, t *catalog.Table, a *ast.AlterAction, r *Result) error {
	if err := tx.Unchanged(t); err != nil {
		return err
	}
	e := s.env(ctx, tx)
	x, err := bind.AlterAction(e, t, a)
	if err != nil {
		return err
	}
	if x.Notice != "" {
		r.notices = append(r.notices, x.Notice)
		return nil
	}
	d := &dropping{s: s, ctx: ctx, tx: tx, cascade: a.Cascade, pos: a.Pos, also: map[catalog.Relation]bool{t: true}}
	if err := s.beforeAlter(d, t, x); err != nil {
		return err
	}
	r.notices = append(r.notices, d.notices...)
	for _, q := range x.Sequences {
		if err := tx.Add(q, catalog.Fail); err != nil {
			return err
		}
	}
	rewritten, err := s.rewrittenViews(e, tx, t, x, a)
	if err != nil {
		return err
	}
	var made *catalog.Table
	if x.Query != nil {
		if made, err = s.computed(ctx, t, x); err != nil {
			return err
		}
	}
	now, err := t.Altered(catalog.Shape{Schema: x.Schema, Name: x.Name, Columns: x.Columns, Keys: x.Keys, Rules: x.Rules}, x.From, made, nil)
	if err != nil {
		return err
	}
	if now.Name != t.Name || now.Schema != t.Schema {
		if err := tx.AddTable(now, catalog.Fail); err != nil {
			return err
		}
		tx.Drop(t)
		s.followName(tx, t, now)
	} else {
		tx.Put(now)
	}
	if x.Renamed >= 0 {
		s.followColumn(tx, t, x.Renamed, now)
	}
	for _, v := range rewritten {
		tx.Put(v)
	}
	if x.NewChecks {
		return s.verify(ctx, tx, now, now.Snapshot().Segments)
	}
	return nil
}

// beforeAlter sees to what depends on a column or key that goes.
func (s *Session) beforeAlter(d *dropping, t *catalog.Table, x *bind.Alteration) error {
	if x.Dropped >= 0 {
		uses := func(u *bind.Uses) bool { return u.Tables[t][x.Dropped] }
		if x.Retyped {
			for _, o := range d.tx.Relations() {
				if v, ok := o.(*catalog.View); ok {
					if u, err := bind.ViewUses(s.env(d.ctx, d.tx), v); err == nil && uses(u) {
						return diag.Errorf(diag.FeatureNotSupported, d.pos, "cannot alter type of a column used by a view or rule").
							WithDetail("view %s depends on column %q", v.Name, x.DroppedName).WithHint("drop the view and make it again")
					}
				}
			}
			return nil
		}
		if err := d.dependents(t, uses, "column", x.DroppedName+" of table "+t.Name); err != nil {
			return err
		}
		for _, o := range d.tx.Relations() {
			if q, ok := o.(*catalog.Sequence); ok && owns(t, q) && strings.EqualFold(q.OwnerCol, x.DroppedName) {
				d.tx.Drop(q)
			}
		}
	}
	if x.DroppedKey != nil {
		return d.references(t, x.DroppedKey)
	}
	return nil
}

// rewrittenViews are the views that name the table or column by another name now.
func (s *Session) rewrittenViews(e env, tx *catalog.Tx, t *catalog.Table, x *bind.Alteration, a *ast.AlterAction) (out []*catalog.View, err error) {
	if x.Renamed < 0 && x.Name == t.Name && x.Schema == t.Schema {
		return nil, nil
	}
	for _, o := range tx.Relations() {
		v, ok := o.(*catalog.View)
		if !ok {
			continue
		}
		u, err := bind.ViewUses(e, v)
		if err != nil || u.Tables[t] == nil {
			continue
		}
		if x.Schema != t.Schema {
			return nil, diag.Unsupported(a.Pos, "moving a table that a view uses").WithHint("drop view %q first", v.Name)
		}
		now := *v
		if now.Columns == nil { // its own columns keep their names
			cols, err := s.viewColumnsIn(e, v)
			if err != nil {
				return nil, err
			}
			now.Columns = cols
		}
		if now.SQL, err = bind.RenamedIn(e, v, t, x.Renamed, a.To.Name); err != nil {
			return nil, err
		}
		out = append(out, &now)
	}
	return out, nil
}

// viewColumnsIn are the names of a view's columns.
func (s *Session) viewColumnsIn(e env, v *catalog.View) ([]string, error) {
	b, err := bind.Statement(e, &ast.Describe{Table: ast.Name{{Name: catalog.SchemaOf(v)}, {Name: v.Name}}}, nil)
	if err != nil {
		return nil, err
	}
	return b.(*bind.Describe).Names, nil
}

// computed is a table of the columns that an action adds or changes.
func (s *Session) computed(ctx context.Context, t *catalog.Table, x *bind.Alteration) (*catalog.Table, error) {
	var defs []catalog.ColumnDef
	for i, f := range x.From {
		if f < 0 {
			defs = append(defs, catalog.ColumnDef{Name: x.Columns[i].Name, Type: x.Columns[i].Type})
		}
	}
	res, err := s.loadQuery(ctx, x.Query, Timing{})
	if err != nil {
		return nil, unplaced(err)
	}
	defer res.Close()
	made := catalog.NewTable(t.Name, defs, nil, t.Encoding())
	segs, err := s.segments(ctx, made, res)
	if err != nil {
		return nil, err
	}
	return made.AppendNew(segs)
}

// followName lets foreign keys and sequences know a table by its new name.
func (s *Session) followName(tx *catalog.Tx, was, now *catalog.Table) {
	for _, o := range tx.Relations() {
		switch r := o.(type) {
		case *catalog.Table:
			sh := catalog.ShapeOf(r)
			sh.Rules = sh.Rules.Clone()
			changed := false
			for i := range sh.Rules.Foreign {
				if f := &sh.Rules.Foreign[i]; f.Table == was.Name && catalog.SchemaName(f.Schema) == catalog.SchemaOf(was) {
					f.Table, f.Schema, changed = now.Name, now.Schema, true
				}
			}
			if changed {
				s.keepRows(tx, r, sh)
			}
		case *catalog.Sequence:
			if owns(was, r) {
				q := *r
				q.OwnerTable = now.Name
				tx.Put(&q)
			}
		}
	}
}

// followColumn lets foreign keys and sequences know a column by its new name.
func (s *Session) followColumn(tx *catalog.Tx, was *catalog.Table, o int, now *catalog.Table) {
	old, name := was.Columns[o].Name, now.Columns[o].Name
	for _, rel := range tx.Relations() {
		switch r := rel.(type) {
		case *catalog.Table:
			sh := catalog.ShapeOf(r)
			sh.Rules = sh.Rules.Clone()
			changed := false
			for i := range sh.Rules.Foreign {
				f := &sh.Rules.Foreign[i]
				if f.Table != now.Name || catalog.SchemaName(f.Schema) != catalog.SchemaOf(now) {
					continue
				}
				f.Refs = append([]string(nil), f.Refs...)
				for k := range f.Refs {
					if f.Refs[k] == old {
						f.Refs[k], changed = name, true
					}
				}
			}
			if changed {
				s.keepRows(tx, r, sh)
			}
		case *catalog.Sequence:
			if owns(now, r) && strings.EqualFold(r.OwnerCol, old) {
				q := *r
				q.OwnerCol = name
				tx.Put(&q)
			}
		}
	}
}

// keepRows gives a table other rules, to which its rows hold already.
func (s *Session) keepRows(tx *catalog.Tx, t *catalog.Table, sh catalog.Shape) {
	from := make([]int, len(t.Columns))
	for i := range from {
		from[i] = i
	}
	if now, err := t.Altered(sh, from, nil, nil); err == nil {
		tx.Put(now)
	}
}
