package catalog

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Catalog holds tables and views by name. Names are equal in any case. It may be used
// by many goroutines.
type Catalog struct {
	// Encoding is what new tables may use; set before the first is created.
	Encoding column.Options

	mu      sync.RWMutex
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
	return &Catalog{Encoding: column.DefaultOptions(), rels: map[string]Relation{}}
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
	if err := CheckSchema(schema); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if r := c.rels[strings.ToLower(name)]; r != nil {
		return r, nil
	}
	return nil, undefined(name)
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
	t := NewTable(name, columns, keys, c.Encoding)
	r, err := c.create(t, mode)
	if err != nil {
		return nil, err
	}
	if t, ok := r.(*Table); ok {
		return t, nil
	}
	return nil, wrongKind(name, "table")
}

// AddTable puts a table made with NewTable under its name, as CREATE TABLE AS does
// once the rows are in.
func (c *Catalog) AddTable(t *Table, mode IfExists) error {
	_, err := c.create(t, mode)
	return err
}

// CreateView stores a view.
func (c *Catalog) CreateView(v *View, mode IfExists) error {
	_, err := c.create(v, mode)
	return err
}

// create stores r and returns what is under its name then.
func (c *Catalog) create(r Relation, mode IfExists) (Relation, error) {
	name := r.relationName()
	key := strings.ToLower(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.rels[key]; old != nil {
		switch {
		case mode == Keep:
			return old, nil
		case mode == Fail:
			return nil, &types.Error{Code: "42P07", Msg: fmt.Sprintf("relation %q already exists", name)}
		}
		// A view does not replace a table, nor a table a view: that would lose more than was meant.
		if _, ok := old.(*Table); ok != isTable(r) {
			return nil, wrongKind(name, kindOf(r))
		}
	}
	c.rels[key] = r
	c.version++
	return r, nil
}

func isTable(r Relation) bool { _, ok := r.(*Table); return ok }

func kindOf(r Relation) string {
	if isTable(r) {
		return "table"
	}
	return "view"
}

// DropTable removes a table. Its memory goes when the last query that reads it is done.
func (c *Catalog) DropTable(name string, ifExists bool) error { return c.drop(name, "table", ifExists) }

// DropView removes a view.
func (c *Catalog) DropView(name string, ifExists bool) error { return c.drop(name, "view", ifExists) }

func (c *Catalog) drop(name, kind string, ifExists bool) error {
	key := strings.ToLower(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.rels[key]
	switch {
	case r == nil && ifExists:
		return nil
	case r == nil: // PostgreSQL names the kind here: table "x" does not exist
		return &types.Error{Code: "42P01", Msg: fmt.Sprintf("%s %q does not exist", kind, name)}
	case kindOf(r) != kind:
		return wrongKind(name, kind)
	}
	delete(c.rels, key)
	c.version++
	return nil
}

// Version changes whenever a relation is created, replaced or dropped. Plans made
// under another version must be made again.
func (c *Catalog) Version() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.version
}

// Tables lists the tables by name.
func (c *Catalog) Tables() []*Table { return list[*Table](c) }

// Views lists the views by name.
func (c *Catalog) Views() []*View { return list[*View](c) }

// Names lists the names of all tables and views, sorted.
func (c *Catalog) Names() []string {
	var out []string
	for _, r := range list[Relation](c) {
		out = append(out, r.relationName())
	}
	return out
}

func list[R Relation](c *Catalog) []R {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []R
	for _, r := range c.rels {
		if x, ok := r.(R); ok {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b R) int {
		return strings.Compare(strings.ToLower(a.relationName()), strings.ToLower(b.relationName()))
	})
	return out
}
