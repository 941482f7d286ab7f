package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

func (s *Session) createTable(ctx context.Context, tx *catalog.Tx, b *bind.CreateTable, t Timing) (*Result, error) {
	old, err := tx.Lookup(b.Schema, b.Name)
	if err == nil && b.IfNotExists {
		r := done("CREATE TABLE", t)
		r.notices = []string{fmt.Sprintf("relation %q already exists, skipping", b.Name)}
		return r, nil
	}
	if was, ok := old.(*catalog.Table); ok && b.OrReplace {
		if err := s.unreferred(tx, was, b.Pos); err != nil {
			return nil, err
		}
	}
	enc := s.DB.Catalog.Encoding
	set := s.Settings()
	enc.Narrow, enc.Dict = enc.Narrow && set.Narrow, enc.Dict && set.Dict
	table := catalog.NewTable(b.Name, b.Columns, b.Keys, enc)
	table.Schema, table.Rules = b.Schema, b.Rules
	for _, q := range b.Sequences {
		if err := tx.Add(q, catalog.Fail); err != nil {
			return nil, at(err, b.Pos)
		}
	}
	r := done("CREATE TABLE", t)
	r.notices = b.Notices
	if b.Query != nil {
		n, tm, err := s.fill(ctx, table, b.Query, t)
		if err != nil {
			return nil, err
		}
		r.Tag, r.Timing = fmt.Sprintf("SELECT %d", n), tm
	}
	if err := tx.AddTable(table, mode(b.IfNotExists, b.OrReplace)); err != nil {
		return nil, at(err, b.Pos)
	}
	return r, nil
}

// unreferred refuses to do away with a table to which others refer.
func (s *Session) unreferred(tx *catalog.Tx, t *catalog.Table, pos int) error {
	for _, r := range referencing(tx, t) {
		if r.child != t && r.child.Name != t.Name {
			return stillNeeded("table", t.Name, fmt.Sprintf("constraint %s on table %s", r.key.Name, r.child.Name), pos)
		}
	}
	return nil
}

// stillNeeded is the error if something else depends on what is to go.
func stillNeeded(kind, name, by string, pos int) error {
	return diag.Errorf(diag.DependentObjectsStillExist, pos, "cannot drop %s %s because other objects depend on it", kind, name).
		WithDetail("%s depends on %s %s", by, kind, name).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

// create puts a schema, a sequence or a macro under its name.
func (s *Session) create(tx *catalog.Tx, b *bind.Create, t Timing) (*Result, error) {
	r := done(b.Tag, t)
	if b.IfNotExists {
		for _, have := range tx.Relations() {
			if fmt.Sprintf("%T", have) == fmt.Sprintf("%T", b.Relation) && strings.EqualFold(catalog.NameOf(have), catalog.NameOf(b.Relation)) &&
				catalog.SchemaOf(have) == catalog.SchemaOf(b.Relation) {
				r.notices = []string{fmt.Sprintf("%s %q already exists, skipping", strings.ToLower(strings.TrimPrefix(b.Tag, "CREATE ")), catalog.NameOf(have))}
				return r, nil
			}
		}
		if sc, ok := b.Relation.(*catalog.Schema); ok && (catalog.IsMain(sc.Name) || slices.Contains(systemSchemas, sc.Name)) {
			r.notices = []string{fmt.Sprintf("schema %q already exists, skipping", sc.Name)}
			return r, nil
		}
	}
	if err := tx.Add(b.Relation, mode(b.IfNotExists, b.OrReplace)); err != nil {
		return nil, at(err, b.Pos)
	}
	return r, nil
}

// createIndex is CREATE INDEX: a unique one is a key of its table; another is a name only, since scans need none.
func (s *Session) createIndex(tx *catalog.Tx, b *bind.CreateIndex, t Timing) (*Result, error) {
	r := done("CREATE INDEX", t)
	for _, rel := range tx.Relations() {
		have, ok := rel.(*catalog.Table)
		if !ok || catalog.SchemaOf(have) != catalog.SchemaOf(b.Table) {
			continue
		}
		for i := range have.Keys {
			if strings.EqualFold(have.KeyName(i), b.Index.Name) {
				return indexExists(r, b)
			}
		}
		for _, x := range have.Rules.Indexes {
			if strings.EqualFold(x.Name, b.Index.Name) {
				return indexExists(r, b)
			}
		}
	}
	sh := catalog.ShapeOf(b.Table)
	if b.Unique {
		sh.Keys, sh.Rules = bind.WithKey(b.Table, b.Columns, b.Index.Name)
	} else {
		sh.Rules = sh.Rules.Clone()
		sh.Rules.Indexes = append(sh.Rules.Indexes, b.Index)
		r.notices = []string{fmt.Sprintf("index %q is remembered but not built: scans need none", b.Index.Name)}
	}
	return r, s.reshape(tx, b.Table, sh, b.Pos)
}

func indexExists(r *Result, b *bind.CreateIndex) (*Result, error) {
	if !b.IfNotExists {
		return nil, diag.Errorf(diag.DuplicateTable, b.Pos, "relation %q already exists", b.Index.Name)
	}
	r.notices = []string{fmt.Sprintf("relation %q already exists, skipping", b.Index.Name)}
	return r, nil
}

// reshape gives a table another shape, with the same columns.
func (s *Session) reshape(tx *catalog.Tx, t *catalog.Table, sh catalog.Shape, pos int) error {
	if err := tx.Unchanged(t); err != nil {
		return err
	}
	from := make([]int, len(t.Columns))
	for i := range from {
		from[i] = i
	}
	now, err := t.Altered(sh, from, nil, nil)
	if err != nil {
		return at(err, pos)
	}
	tx.Put(now)
	return nil
}

// dropKinds are what DROP drops, in words.
var dropKinds = map[ast.DropKind]string{ast.DropTable: "table", ast.DropView: "view", ast.DropIndex: "index", ast.DropSchema: "schema",
	ast.DropSequence: "sequence", ast.DropMacro: "function", ast.DropType: "type"}

// dropping is a DROP under way.
type dropping struct {
	s       *Session
	ctx     context.Context
	tx      *catalog.Tx
	cascade bool
	pos     int
	notices []string
	also    map[catalog.Relation]bool // what is named besides: it goes anyhow
}

// drop is DROP of any kind.
func (s *Session) drop(ctx context.Context, tx *catalog.Tx, b *bind.Drop, t Timing) (*Result, error) {
	kind := dropKinds[b.Kind]
	d := &dropping{s: s, ctx: ctx, tx: tx, cascade: b.Cascade, pos: b.Pos, also: map[catalog.Relation]bool{}}
	var found []catalog.Relation
	for _, n := range b.Names {
		if b.Kind == ast.DropIndex {
			if err := d.index(n, b.IfExists); err != nil {
				return nil, err
			}
			continue
		}
		r, err := d.find(b.Kind, kind, n, b.IfExists)
		if err != nil {
			return nil, err
		}
		if r != nil && !d.also[r] {
			found, d.also[r] = append(found, r), true
		}
	}
	for _, r := range found {
		if err := d.drop(r); err != nil {
			return nil, err
		}
	}
	r := done("DROP "+strings.ToUpper(kind), t)
	r.notices = d.notices
	return r, nil
}

// find is what is to be dropped; nil if there is no such thing, and IF EXISTS.
func (d *dropping) find(what ast.DropKind, kind string, n ast.Name, ifExists bool) (catalog.Relation, error) {
	e := d.s.env(d.ctx, d.tx)
	schema, name := "", n.Last()
	if len(n) > 1 {
		schema = n[len(n)-2].Name
	}
	var r catalog.Relation
	switch what {
	case ast.DropSchema:
		if catalog.IsMain(name) || slices.Contains(systemSchemas, name) {
			return nil, diag.Errorf(diag.DependentObjectsStillExist, n.Pos(), "cannot drop schema %s because it is required by the database system", name)
		}
		for _, have := range d.tx.Relations() {
			if sc, ok := have.(*catalog.Schema); ok && strings.EqualFold(sc.Name, name) {
				r = sc
			}
		}
	case ast.DropType:
		if t := e.Enum(schema, name); t != nil {
			r = t
		}
	case ast.DropMacro:
		if m := e.Macro(schema, name); m != nil {
			r = m
		}
	default:
		r = e.find(schema, name)
		if _, isSystem := r.(*catalog.Table); isSystem && d.s.isSystem(d.tx, schema, name) {
			return nil, diag.Errorf(diag.InsufficientPrivilege, n.Pos(), "permission denied: %q is a system catalog", name)
		}
		if r != nil && kindName(r) != kind {
			return nil, diag.Errorf(diag.WrongObjectType, n.Pos(), "%q is not a %s", name, kind).WithHint("use DROP %s", strings.ToUpper(kindName(r)))
		}
	}
	if r != nil {
		return r, nil
	}
	if schema != "" && !e.HasSchema(schema) {
		if !ifExists {
			return nil, diag.Errorf(diag.InvalidSchemaName, n.Pos(), "schema %q does not exist", schema)
		}
		d.notices = append(d.notices, fmt.Sprintf("schema %q does not exist, skipping", schema))
		return nil, nil
	}
	if ifExists {
		d.notices = append(d.notices, fmt.Sprintf("%s %q does not exist, skipping", kind, name))
		return nil, nil
	}
	code := map[ast.DropKind]string{ast.DropSchema: diag.InvalidSchemaName, ast.DropMacro: diag.UndefinedFunction, ast.DropType: diag.UndefinedObject}[what]
	if code == "" {
		code = diag.UndefinedTable
	}
	return nil, diag.Errorf(code, n.Pos(), "%s %q does not exist", kind, name).WithHint(diag.DidYouMean(name, e.TableNames()))
}

// kindName is what a relation is called.
func kindName(r catalog.Relation) string {
	switch r.(type) {
	case *catalog.Table:
		return "table"
	case *catalog.View:
		return "view"
	case *catalog.Sequence:
		return "sequence"
	case *catalog.Schema:
		return "schema"
	case *catalog.Enum:
		return "type"
	}
	return "function"
}

// drop removes a relation and, with CASCADE, what depends on it.
func (d *dropping) drop(r catalog.Relation) error {
	switch r := r.(type) {
	case *catalog.Table:
		if err := d.dependents(r, func(u *bind.Uses) bool { return u.Tables[r] != nil }, "table", r.Name); err != nil {
			return err
		}
		if err := d.references(r, nil); err != nil {
			return err
		}
		for _, o := range d.tx.Relations() {
			if q, ok := o.(*catalog.Sequence); ok && owns(r, q) {
				d.tx.Drop(q)
			}
		}
	case *catalog.View:
		if err := d.dependents(r, func(u *bind.Uses) bool { return u.Views[r] }, "view", r.Name); err != nil {
			return err
		}
	case *catalog.Sequence:
		if err := d.defaults(r); err != nil {
			return err
		}
	case *catalog.Enum:
		if err := d.enumUses(r); err != nil {
			return err
		}
	case *catalog.Schema:
		if err := d.contents(r); err != nil {
			return err
		}
	}
	d.tx.Drop(r)
	return nil
}

// owns reports that a sequence is that of a column of a table.
func owns(t *catalog.Table, q *catalog.Sequence) bool {
	return q.OwnerTable != "" && strings.EqualFold(q.OwnerTable, t.Name) && catalog.SchemaOf(q) == catalog.SchemaOf(t)
}

// dependents drops views that use something, or refuses.
func (d *dropping) dependents(of catalog.Relation, uses func(*bind.Uses) bool, kind, name string) error {
	for _, o := range d.tx.Relations() {
		v, ok := o.(*catalog.View)
		if !ok || d.also[v] || catalog.Relation(v) == of {
			continue
		}
		u, err := bind.ViewUses(d.s.env(d.ctx, d.tx), v)
		if err != nil || !uses(u) {
			continue
		}
		if !d.cascade {
			return stillNeeded(kind, name, "view "+v.Name, d.pos)
		}
		d.notices = append(d.notices, "drop cascades to view "+v.Name)
		d.also[v] = true
		if err := d.drop(v); err != nil {
			return err
		}
	}
	return nil
}

// references drops foreign keys that refer to a table, or to a key of it, or refuses.
func (d *dropping) references(t *catalog.Table, key []int) error {
	for {
		ref := d.reference(t, key)
		if ref == nil {
			return nil
		}
		if !d.cascade {
			return stillNeeded("table", t.Name, fmt.Sprintf("constraint %s on table %s", ref.key.Name, ref.child.Name), d.pos)
		}
		d.notices = append(d.notices, fmt.Sprintf("drop cascades to constraint %s on table %s", ref.key.Name, ref.child.Name))
		sh := catalog.ShapeOf(ref.child)
		sh.Rules = sh.Rules.Clone()
		sh.Rules.Foreign = slices.DeleteFunc(sh.Rules.Foreign, func(f catalog.ForeignKey) bool { return f.Name == ref.key.Name })
		if err := d.s.reshape(d.tx, ref.child, sh, d.pos); err != nil { // another table takes the child's place
			return err
		}
	}
}

// reference is the first foreign key that refers to a table, or to a key of it, and does not go anyhow; nil if there is none.
func (d *dropping) reference(t *catalog.Table, key []int) *reference {
	for _, ref := range referencing(d.tx, t) {
		if ref.child.Name == t.Name && key == nil || d.also[ref.child] {
			continue
		}
		if key != nil {
			want := columnNames(t, key)
			slices.Sort(want)
			if !slices.Equal(want, slices.Sorted(slices.Values(ref.key.Refs))) {
				continue
			}
		}
		return &ref
	}
	return nil
}

// defaults takes the defaults away that a sequence gives, or refuses.
func (d *dropping) defaults(q *catalog.Sequence) error {
	for _, o := range d.tx.Relations() {
		t, ok := o.(*catalog.Table)
		if !ok || d.also[t] {
			continue
		}
		sh := catalog.ShapeOf(t)
		for i, c := range t.Columns {
			if !strings.Contains(c.Default, "nextval(") || !usesSequence(c.Default, q) {
				continue
			}
			if !d.cascade {
				return stillNeeded("sequence", q.Name, fmt.Sprintf("default value for column %s of table %s", c.Name, t.Name), d.pos)
			}
			d.notices = append(d.notices, fmt.Sprintf("drop cascades to default value for column %s of table %s", c.Name, t.Name))
			sh.Columns = slices.Clone(sh.Columns)
			sh.Columns[i].Default, sh.Columns[i].Identity = "", catalog.NoIdentity
		}
		if !slices.Equal(sh.Columns, t.Columns) {
			if err := d.s.reshape(d.tx, t, sh, d.pos); err != nil {
				return err
			}
		}
	}
	return nil
}

// usesSequence reports that a default is the next number of a sequence.
func usesSequence(text string, q *catalog.Sequence) bool {
	name := ast.QuoteIdent(q.Name)
	for _, n := range []string{name, ast.QuoteIdent(catalog.SchemaOf(q)) + "." + name} {
		if strings.Contains(strings.ToLower(text), strings.ToLower("nextval("+ast.QuoteString(n)+")")) {
			return true
		}
	}
	return false
}

// contents drops what is in a schema, or refuses.
func (d *dropping) contents(sc *catalog.Schema) error {
	var inside []catalog.Relation
	for _, o := range d.tx.Relations() {
		if _, ok := o.(*catalog.Schema); !ok && strings.EqualFold(catalog.SchemaOf(o), sc.Name) {
			inside = append(inside, o)
		}
	}
	for _, o := range inside {
		if !d.cascade {
			return stillNeeded("schema", sc.Name, kindName(o)+" "+sc.Name+"."+catalog.NameOf(o), d.pos)
		}
		d.also[o] = true
	}
	for _, o := range inside {
		d.notices = append(d.notices, "drop cascades to "+kindName(o)+" "+sc.Name+"."+catalog.NameOf(o))
		if now, err := d.tx.Lookup(sc.Name, catalog.NameOf(o)); err == nil && kindName(now) == kindName(o) {
			o = now // it may have lost a constraint meanwhile
		}
		if err := d.drop(o); err != nil {
			return err
		}
	}
	return nil
}

// index is DROP INDEX.
func (d *dropping) index(n ast.Name, ifExists bool) error {
	for _, o := range d.tx.Relations() {
		t, ok := o.(*catalog.Table)
		if !ok || len(n) > 1 && !strings.EqualFold(catalog.SchemaOf(t), catalog.SchemaName(n[len(n)-2].Name)) {
			continue
		}
		sh := catalog.ShapeOf(t)
		sh.Rules = sh.Rules.Clone()
		for i := range t.Keys {
			if !strings.EqualFold(t.KeyName(i), n.Last()) {
				continue
			}
			if !t.IsIndex(i) {
				return diag.Errorf(diag.DependentObjectsStillExist, d.pos, "cannot drop index %s because constraint %s on table %s requires it",
					n.Last(), n.Last(), t.Name).WithHint("You can drop constraint %s on table %s instead.", n.Last(), t.Name)
			}
			if err := d.references(t, t.Keys[i]); err != nil {
				return err
			}
			sh.Keys = slices.Delete(slices.Clone(t.Keys), i, i+1)
			sh.Rules.KeyNames, sh.Rules.Unique = slices.Delete(sh.Rules.KeyNames, i, i+1), slices.Delete(sh.Rules.Unique, i, i+1)
			return d.s.reshape(d.tx, t, sh, d.pos)
		}
		for i, x := range t.Rules.Indexes {
			if strings.EqualFold(x.Name, n.Last()) {
				sh.Rules.Indexes = slices.Delete(sh.Rules.Indexes, i, i+1)
				return d.s.reshape(d.tx, t, sh, d.pos)
			}
		}
	}
	if ifExists {
		d.notices = append(d.notices, fmt.Sprintf("index %q does not exist, skipping", n.Last()))
		return nil
	}
	return diag.Errorf(diag.UndefinedObject, n.Pos(), "index %q does not exist", n.Last())
}

// truncate empties tables, unless others refer to them.
func (s *Session) truncate(ctx context.Context, tx *catalog.Tx, b *bind.Truncate, t Timing) (*Result, error) {
	r := done("TRUNCATE TABLE", t)
	for i := 0; i < len(b.Tables); i++ { // CASCADE adds some
		table := b.Tables[i]
		for _, ref := range referencing(tx, table) {
			if slices.ContainsFunc(b.Tables, func(o *catalog.Table) bool { return o.Name == ref.child.Name && o.Schema == ref.child.Schema }) {
				continue
			}
			if !b.Cascade {
				return nil, diag.Errorf(diag.FeatureNotSupported, b.Pos, "cannot truncate a table referenced in a foreign key constraint").
					WithDetail("Table %q references %q.", ref.child.Name, table.Name).
					WithHint("Truncate table %q at the same time, or use TRUNCATE ... CASCADE.", ref.child.Name)
			}
			r.notices = append(r.notices, fmt.Sprintf("truncate cascades to table %q", ref.child.Name))
			b.Tables = append(b.Tables, ref.child)
		}
	}
	for _, table := range b.Tables {
		if err := replace(tx, table, nil, nil); err != nil {
			return nil, err
		}
		for _, o := range tx.Relations() {
			if q, ok := o.(*catalog.Sequence); ok && b.Restart && owns(table, q) {
				tx.Put(q.Restarted(q.Start))
			}
		}
	}
	return r, nil
}
