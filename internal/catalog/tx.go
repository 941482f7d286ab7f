package catalog

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Tx is a transaction: one state of the catalog, and over it what the transaction has changed so
// far, which nobody else sees. Commit publishes all of it at once, or nothing if somebody else was
// faster to change the same. That is snapshot isolation, or, with Serializable, more.
//
// A transaction that reads only needs no end. Its methods may be called by many goroutines, except
// for Commit and Rollback, after which there is nothing left to call.
type Tx struct {
	c     *Catalog
	base  *state
	alone bool // has the right to publish since its beginning

	mu    sync.Mutex
	own   map[string]change   // by relKey
	reads map[string]struct{} // names that were looked up, if Serializable
	// relies are names whose rows must stay as they are; true: others may be added.
	relies map[string]bool
}

// change is what a transaction made of a name. It keeps what was there before, to find out at the
// end whether that is still so.
type change struct{ was, now Relation }

// Begin starts a transaction on what is committed now.
func (c *Catalog) Begin() *Tx { return &Tx{c: c, base: c.state.Load()} }

// BeginAlone waits until nobody else publishes, and then keeps everybody from it until
// the transaction ends, which it must. It cannot fail for what others do. Readers do not notice.
func (c *Catalog) BeginAlone(ctx context.Context) (*Tx, error) {
	select {
	case <-c.right:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	tx := c.Begin()
	tx.alone = true
	return tx, nil
}

// Serializable makes Commit fail also if somebody has changed what this transaction has only read: then it is as if
// such transactions had run one after the other. It must come before the first look.
func (tx *Tx) Serializable() { tx.reads = map[string]struct{}{} }

// Lookup finds a table or view as the transaction sees it. The errors are those of Catalog.Lookup.
func (tx *Tx) Lookup(schema, name string) (Relation, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if r := tx.find(relKey(schema, name)); r != nil {
		return r, nil
	}
	if err := tx.checkSchema(schema); err != nil {
		return nil, err
	}
	return nil, undefined(name)
}

// Macro finds a macro; nil if there is none.
func (tx *Tx) Macro(schema, name string) *Macro {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	m, _ := tx.find((&Macro{Schema: schema, Name: name}).key()).(*Macro)
	return m
}

// HasSchema reports whether there is a schema of that name.
func (tx *Tx) HasSchema(schema string) bool {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return tx.checkSchema(schema) == nil
}

func (tx *Tx) checkSchema(schema string) error {
	if !IsMain(schema) && tx.find((&Schema{Name: schema}).key()) == nil {
		return &types.Error{Code: "3F000", Msg: fmt.Sprintf("schema %q does not exist", schema)}
	}
	return nil
}

// RelyOn makes Commit fail if others change a table meanwhile: rows of this transaction are right only as long as those are there. If
// it may grow, rows that others append do no harm.
func (tx *Tx) RelyOn(t *Table, mayGrow bool) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.relies == nil {
		tx.relies = map[string]bool{}
	}
	key := t.key()
	if grow, ok := tx.relies[key]; !ok || grow {
		tx.relies[key] = mayGrow
	}
}

// reliable reports that what the transaction relies on is still so.
func (tx *Tx) reliable(cur *state) bool {
	for key, mayGrow := range tx.relies {
		was, now := tx.base.rels[key], cur.rels[key]
		if was == now || was == nil {
			continue
		}
		a, _ := was.(*Table)
		b, _ := now.(*Table)
		if !mayGrow || a == nil || b == nil || a.id != b.id || a.writes != b.writes {
			return false
		}
	}
	return true
}

// find is what the transaction sees under a key; nil if there is nothing.
func (tx *Tx) find(key string) Relation {
	if ch, ok := tx.own[key]; ok {
		return ch.now
	}
	if tx.reads != nil {
		tx.reads[key] = struct{}{}
	}
	return tx.base.rels[key]
}

// Names lists the names of the tables and views that need no schema before them, sorted.
func (tx *Tx) Names() []string {
	var out []string
	for _, r := range tx.Relations() {
		switch x := r.(type) {
		case *Table:
			if IsMain(x.Schema) {
				out = append(out, x.Name)
			}
		case *View:
			if IsMain(x.Schema) {
				out = append(out, x.Name)
			}
		}
	}
	return out
}

// Relations lists all that has a name, by schemas and names.
func (tx *Tx) Relations() []Relation {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	rels := tx.base.rels
	if len(tx.own) > 0 {
		rels = apply(rels, tx.own)
	}
	return list[Relation](rels)
}

// apply is a copy of rels with changes.
func apply(rels map[string]Relation, own map[string]change) map[string]Relation {
	out := maps.Clone(rels)
	for key, ch := range own {
		if ch.now == nil {
			delete(out, key)
		} else {
			out[key] = ch.now
		}
	}
	return out
}

// put changes what a name means in this transaction.
func (tx *Tx) put(key string, now Relation) {
	ch, ok := tx.own[key]
	if !ok {
		ch.was = tx.base.rels[key]
	}
	ch.now = now
	if tx.own == nil {
		tx.own = map[string]change{}
	}
	tx.own[key] = ch
}

// AddTable puts a table made with NewTable under its name.
func (tx *Tx) AddTable(t *Table, mode IfExists) error { return tx.create(t, mode) }

// CreateView stores a view.
func (tx *Tx) CreateView(v *View, mode IfExists) error { return tx.create(v, mode) }

func (tx *Tx) create(r Relation, mode IfExists) error {
	name, key := r.relationName(), r.key()
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if err := tx.checkSchema(schemaOf(r)); err != nil {
		return err
	}
	if old := tx.find(key); old != nil {
		switch {
		case mode == Keep:
			return nil
		case mode == Fail:
			return duplicate(r)
		}
		// A view does not replace a table, nor a table a view: that would lose more than was meant.
		if kindOf(old) != kindOf(r) {
			return wrongKind(name, kindOf(r))
		}
	}
	tx.put(key, r)
	return nil
}

// Add puts a view, schema, sequence or macro under its name.
func (tx *Tx) Add(r Relation, mode IfExists) error { return tx.create(r, mode) }

// schemaOf is where a relation is, "" if it is in none.
func schemaOf(r Relation) string {
	switch x := r.(type) {
	case *Table:
		return x.Schema
	case *View:
		return x.Schema
	case *Sequence:
		return x.Schema
	case *Macro:
		return x.Schema
	case *Enum:
		return x.Schema
	}
	return ""
}

// SchemaOf is the schema of a relation by its name.
func SchemaOf(r Relation) string { return SchemaName(schemaOf(r)) }

// NameOf is the name of a relation.
func NameOf(r Relation) string { return r.relationName() }

// duplicate is the error if a name is taken.
func duplicate(r Relation) error {
	switch r.(type) {
	case *Schema:
		return &types.Error{Code: "42P06", Msg: fmt.Sprintf("schema %q already exists", r.relationName())}
	case *Enum:
		return &types.Error{Code: "42710", Msg: fmt.Sprintf("type %q already exists", r.relationName())}
	case *Macro:
		return &types.Error{Code: "42723", Msg: fmt.Sprintf("function %q already exists", r.relationName())}
	}
	return duplicateName(r.relationName())
}

// Drop removes what was found by Lookup or Relations.
func (tx *Tx) Drop(r Relation) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.put(r.key(), nil)
}

// Put makes r what its name means, whatever that was before.
func (tx *Tx) Put(r Relation) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.put(r.key(), r)
}

func duplicateName(name string) error {
	return &types.Error{Code: "42P07", Msg: fmt.Sprintf("relation %q already exists", name)}
}

// DropTable removes a table.
func (tx *Tx) DropTable(name string, ifExists bool) error { return tx.drop(name, "table", ifExists) }

// DropView removes a view.
func (tx *Tx) DropView(name string, ifExists bool) error { return tx.drop(name, "view", ifExists) }

func (tx *Tx) drop(name, kind string, ifExists bool) error {
	key := strings.ToLower(name)
	tx.mu.Lock()
	defer tx.mu.Unlock()
	r := tx.find(key)
	switch {
	case r == nil && ifExists:
		return nil
	case r == nil: // PostgreSQL names the kind here: table "x" does not exist
		return &types.Error{Code: "42P01", Msg: fmt.Sprintf("%s %q does not exist", kind, name)}
	case kindOf(r) != kind:
		return wrongKind(name, kind)
	}
	tx.put(key, nil)
	return nil
}

// Write is the version of a table, found by Lookup, whose rows the transaction may change: a fork
// of it that only the transaction sees, made when it is first asked for.
func (tx *Tx) Write(t *Table) *Table {
	key := t.key()
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if own, ok := tx.own[key].now.(*Table); ok && own.id == t.id {
		return own
	}
	f := t.fork()
	tx.put(key, f)
	return f
}

// Unchanged is a *Conflict if others have changed a table since the transaction began: then
// there is no use in replacing its rows, because Commit would refuse it.
func (tx *Tx) Unchanged(t *Table) error {
	key := t.key()
	if cur := tx.c.state.Load(); cur.rels[key] != tx.base.rels[key] {
		return conflict("concurrent update")
	}
	return nil
}

// conflict is the error of what came too late.
func conflict(reason string) error {
	return &Conflict{&types.Error{Code: "40001", Msg: "could not serialize access due to " + reason}}
}

// Commit publishes what the transaction changed. If others have changed the same since it
// began, nothing is published and the error is a *Conflict: the first to commit wins. Rows that
// were only appended conflict with nothing but the table's keys, since they can as well be appended to
// what others have made of the table. The transaction has ended in any case.
func (tx *Tx) Commit(ctx context.Context) error {
	defer tx.Rollback()
	if len(tx.own) == 0 {
		return nil
	}
	if !tx.alone {
		select {
		case <-tx.c.right:
			tx.alone = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	tx.endTemporary()
	tx.forgetUnchanged()
	cur := tx.c.state.Load()
	if !tx.reliable(cur) {
		return conflict("concurrent update")
	}
	for key := range tx.reads {
		if cur.rels[key] != tx.base.rels[key] {
			return conflict("read/write dependencies among transactions")
		}
	}
	for key, ch := range tx.own {
		if cur.rels[key] == ch.was {
			continue
		}
		now, err := merge(cur.rels[key], ch)
		if err != nil {
			return err
		}
		ch.now = now
		tx.own[key] = ch
	}
	next := &state{rels: apply(cur.rels, tx.own), version: cur.version + 1}
	for _, ch := range tx.own {
		if t, ok := ch.now.(*Table); ok {
			t.origin = nil // it stands for itself now; what it came from must not be kept alive
		}
	}
	tx.own = nil
	tx.c.state.Store(next)
	return nil
}

// endTemporary empties or drops the temporary tables that the transaction has made or filled, if they want that.
func (tx *Tx) endTemporary() {
	for key, ch := range tx.own {
		t, ok := ch.now.(*Table)
		if !ok {
			continue
		}
		switch t.Rules.OnCommit {
		case "delete":
			tx.put(key, ShapeOf(t).Empty())
		case "drop":
			tx.put(key, nil)
			for k, r := range apply(tx.base.rels, tx.own) {
				if q, ok := r.(*Sequence); ok && q.OwnerTable == t.Name && SchemaOf(q) == SchemaOf(t) {
					tx.put(k, nil)
				}
			}
		}
	}
}

// forgetUnchanged drops forks to which nothing was added after all, so that nobody takes them for changes.
func (tx *Tx) forgetUnchanged() {
	for key, ch := range tx.own {
		if t, ok := ch.now.(*Table); ok && t.origin != nil && t.Snapshot().Rows == t.origin.Snapshot().Rows {
			t.returnIndexes()
			delete(tx.own, key)
		}
	}
}

// merge is what becomes of a change when others have changed the same name.
func merge(has Relation, ch change) (Relation, error) {
	mine, ok := ch.now.(*Table)
	theirs, same := has.(*Table)
	if ok && same && mine.origin != nil && mine.id == theirs.id {
		added, err := mine.added()
		if err != nil {
			return nil, err
		}
		f := theirs.fork()
		if err := f.Append(added...); err != nil {
			f.returnIndexes()
			return nil, err
		}
		return f, nil
	}
	switch {
	case ch.now == nil && has == nil:
		return nil, nil // both dropped it
	case ch.was == nil && ch.now == nil:
		return has, nil // made and dropped again: nothing was changed
	case ch.was == nil:
		return nil, &Conflict{duplicate(ch.now)}
	case has == nil:
		return nil, conflict("concurrent drop")
	}
	return nil, conflict("concurrent update")
}

// Rollback forgets what the transaction changed. It may be called after Commit.
func (tx *Tx) Rollback() {
	for _, ch := range tx.own {
		if t, ok := ch.now.(*Table); ok {
			t.returnIndexes()
		}
	}
	tx.own = nil
	if tx.alone {
		tx.alone = false
		tx.c.right <- struct{}{}
	}
}

// Conflict is the error of a commit that came too late: the same may succeed if it is tried again.
type Conflict struct{ cause error }

func (c *Conflict) Error() string { return c.cause.Error() }

// Unwrap is the reason, a *types.Error.
func (c *Conflict) Unwrap() error { return c.cause }
