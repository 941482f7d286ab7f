package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Catalog holds tables and views by name. Names are equal in any case. It may be used
// by many goroutines: see state and Tx for how they do not get into each other's way.
type Catalog struct {
	// Encoding is what new tables may use; set before the first is created.
	Encoding column.Options

	state atomic.Pointer[state]
	right chan struct{} // holds one token: who took it may publish a state
}

// state is what the names mean at a moment. It is never changed, only followed by another, so that a
// statement which looks everything up in one state sees all tables as they were at one time.
type state struct {
	rels    map[string]Relation // by lower-case name
	version uint64
}

// Relation is a *Table or a *View.
type Relation interface{ relationName() string }

// View is a stored query.
type View struct {
	Name    string
	Columns []string // names given to its columns; nil = the query's own
	SQL     string   // the query
}

func (t *Table) relationName() string { return t.Name }
func (v *View) relationName() string  { return v.Name }

// New returns an empty catalog with all encodings.
func New() *Catalog {
	c := &Catalog{Encoding: column.DefaultOptions(), right: make(chan struct{}, 1)}
	c.right <- struct{}{}
	c.state.Store(&state{rels: map[string]Relation{}})
	return c
}

// IfExists says what creating does when the name is taken.
type IfExists uint8

const (
	Fail    IfExists = iota // error 42P07
	Keep                    // IF NOT EXISTS: leave the old one
	Replace                 // OR REPLACE: the new one takes its place
)

// CheckSchema accepts the one schema there is, under its names in DuckDB and PostgreSQL.
func CheckSchema(schema string) error {
	switch strings.ToLower(schema) {
	case "", "main", "public":
		return nil
	}
	return &types.Error{Code: "3F000", Msg: fmt.Sprintf("schema %q does not exist", schema)}
}

// Lookup finds a table or view; the schema may be empty. The error is 42P01, or 3F000 for
// an unknown schema.
func (c *Catalog) Lookup(schema, name string) (Relation, error) {
	return c.Begin().Lookup(schema, name)
}

func undefined(name string) error {
	return &types.Error{Code: "42P01", Msg: fmt.Sprintf("relation %q does not exist", name)}
}

// Table finds a table.
func (c *Catalog) Table(name string) (*Table, error) {
	r, err := c.Lookup("", name)
	if err != nil {
		return nil, err
	}
	if t, ok := r.(*Table); ok {
		return t, nil
	}
	return nil, wrongKind(name, "table")
}

func wrongKind(name, want string) error {
	return &types.Error{Code: "42809", Msg: fmt.Sprintf("%q is not a %s", name, want)}
}

// CreateTable makes an empty table and returns it; with Keep, the one that is there.
func (c *Catalog) CreateTable(name string, columns []ColumnDef, keys [][]int, mode IfExists) (*Table, error) {
	for i, col := range columns {
		for _, other := range columns[:i] {
			if strings.EqualFold(col.Name, other.Name) {
				return nil, &types.Error{Code: "42701", Msg: fmt.Sprintf("column %q specified more than once", col.Name)}
			}
		}
	}
	if err := c.AddTable(NewTable(name, columns, keys, c.Encoding), mode); err != nil {
		return nil, err
	}
	return c.Table(name)
}

// AddTable puts a table made with NewTable under its name, as CREATE TABLE AS does
// once the rows are in.
func (c *Catalog) AddTable(t *Table, mode IfExists) error {
	return c.change(func(tx *Tx) error { return tx.AddTable(t, mode) })
}

// CreateView stores a view.
func (c *Catalog) CreateView(v *View, mode IfExists) error {
	return c.change(func(tx *Tx) error { return tx.CreateView(v, mode) })
}

// DropTable removes a table. Its memory goes when the last query that reads it is done.
func (c *Catalog) DropTable(name string, ifExists bool) error {
	return c.change(func(tx *Tx) error { return tx.DropTable(name, ifExists) })
}

// DropView removes a view.
func (c *Catalog) DropView(name string, ifExists bool) error {
	return c.change(func(tx *Tx) error { return tx.DropView(name, ifExists) })
}

// change runs a transaction of one step.
func (c *Catalog) change(step func(*Tx) error) error {
	tx, err := c.BeginAlone(context.Background())
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := step(tx); err != nil {
		return err
	}
	return tx.Commit(context.Background())
}

func isTable(r Relation) bool { _, ok := r.(*Table); return ok }

func kindOf(r Relation) string {
	if isTable(r) {
		return "table"
	}
	return "view"
}

// Version changes whenever a transaction that changed something is committed.
func (c *Catalog) Version() uint64 { return c.state.Load().version }

// Tables lists the tables by name.
func (c *Catalog) Tables() []*Table { return list[*Table](c.state.Load().rels) }

// Views lists the views by name.
func (c *Catalog) Views() []*View { return list[*View](c.state.Load().rels) }

// Names lists the names of all tables and views, sorted.
func (c *Catalog) Names() []string { return c.Begin().Names() }

func list[R Relation](rels map[string]Relation) []R {
	var out []R
	for _, r := range rels {
		if x, ok := r.(R); ok {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b R) int {
		return strings.Compare(strings.ToLower(a.relationName()), strings.ToLower(b.relationName()))
	})
	return out
}
