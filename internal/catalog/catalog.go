package catalog

import (
	"cmp"
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
	rels    map[string]Relation // by relKey
	version uint64
}

// Relation is what has a name in a catalog: a *Table, *View or *Sequence, of which there is one by a name in a schema; or a
// *Schema, *Macro or *Enum, which have names of their own.
type Relation interface {
	relationName() string
	key() string
}

// View is a stored query.
type View struct {
	Schema  string // "" is the one that needs no name
	Name    string
	Columns []string // names given to its columns; nil = the query's own
	Width   int      // how many columns it had when it was made; 0: not known
	SQL     string   // the query
	Path    []string // where its names were looked for when it was made
	// Comment is the view's, Comments those of its columns, by their names.
	Comment  string
	Comments map[string]string
}

// Schema is a namespace besides the one that needs no name.
type Schema struct{ Name, Comment string }

// Macro is an expression or a query with parameters.
type Macro struct {
	Schema, Name string
	Params       []Param
	SQL          string
	Table        bool   // the text is a query
	Result       string // the type that a function returns; "" as the text has it
	Function     bool   // made by CREATE FUNCTION
	Comment      string
}

// Param is a parameter of a macro; Type and Default are SQL texts, "" if not given.
type Param struct{ Name, Type, Default string }

func (t *Table) relationName() string    { return t.Name }
func (v *View) relationName() string     { return v.Name }
func (s *Schema) relationName() string   { return s.Name }
func (m *Macro) relationName() string    { return m.Name }
func (q *Sequence) relationName() string { return q.Name }

func (t *Table) key() string    { return relKey(t.Schema, t.Name) }
func (v *View) key() string     { return relKey(v.Schema, v.Name) }
func (q *Sequence) key() string { return relKey(q.Schema, q.Name) }
func (s *Schema) key() string   { return "schema\x00" + strings.ToLower(s.Name) }
func (m *Macro) key() string    { return "macro\x00" + relKey(m.Schema, m.Name) }

// relKey is under which a name stands in a state: names are equal in any case, and no name has a zero byte.
func relKey(schema, name string) string {
	if IsMain(schema) {
		return strings.ToLower(name)
	}
	return strings.ToLower(schema) + "\x00" + strings.ToLower(name)
}

// IsMain reports the schema that needs no name, under its names in DuckDB and PostgreSQL.
func IsMain(schema string) bool {
	return schema == "" || strings.EqualFold(schema, "main") || strings.EqualFold(schema, "public")
}

// Main is the name of the schema that needs none.
const Main = "public"

// SchemaName is a schema by its name.
func SchemaName(schema string) string {
	if IsMain(schema) {
		return Main
	}
	return schema
}

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

// kindOf is what a relation is called in messages.
func kindOf(r Relation) string {
	switch r.(type) {
	case *Table:
		return "table"
	case *View:
		return "view"
	case *Sequence:
		return "sequence"
	case *Schema:
		return "schema"
	case *Enum:
		return "type"
	}
	return "function"
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
		return cmp.Or(strings.Compare(strings.ToLower(schemaOf(a)), strings.ToLower(schemaOf(b))),
			strings.Compare(strings.ToLower(a.relationName()), strings.ToLower(b.relationName())))
	})
	return out
}
