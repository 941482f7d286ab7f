package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// env is what a statement of this session may refer to.
type env struct {
	s    *Session
	tx   *catalog.Tx     // nil for statements that name no tables
	ctx  context.Context // looking at files ends with it
	path []string        // schemas of names without one; nil: the session's
	// beside are tables that only this statement sees, by their names.
	beside map[string]*catalog.Table
}

// env is that of a statement in a transaction.
func (s *Session) env(ctx context.Context, tx *catalog.Tx) env { return env{s: s, tx: tx, ctx: ctx} }

// Done is closed when nobody waits for the statement any more.
func (e env) Done() <-chan struct{} { return e.ctx.Done() }

// find is a relation by its name; nil if there is none.
func (e env) find(schema, name string) catalog.Relation {
	if e.tx == nil {
		return nil
	}
	if schema == "" && e.beside[name] != nil {
		return e.beside[name]
	}
	if schema != "" {
		if t := e.s.systemTable(e.tx, schema, name); t != nil {
			return t
		}
		r, _ := e.tx.Lookup(schema, name)
		return r
	}
	if t := e.s.systemTable(e.tx, "pg_catalog", name); t != nil {
		return t
	}
	for _, schema := range e.Path() {
		if r, err := e.tx.Lookup(schema, name); err == nil {
			return r
		}
	}
	return nil
}

func (e env) Table(schema, name string) (*catalog.Table, bool) {
	t, ok := e.find(schema, name).(*catalog.Table)
	return t, ok
}

func (e env) View(schema, name string) (*catalog.View, bool) {
	v, ok := e.find(schema, name).(*catalog.View)
	return v, ok
}

func (e env) Sequence(schema, name string) (*catalog.Sequence, bool) {
	q, ok := e.find(schema, name).(*catalog.Sequence)
	return q, ok
}

func (e env) Macro(schema, name string) *catalog.Macro {
	if e.tx == nil {
		return nil
	}
	if schema != "" {
		return e.tx.Macro(schema, name)
	}
	for _, schema := range e.Path() {
		if m := e.tx.Macro(schema, name); m != nil {
			return m
		}
	}
	return nil
}

func (e env) Enum(schema, name string) *catalog.Enum {
	if e.tx == nil {
		return nil
	}
	if schema != "" {
		return e.tx.Enum(schema, name)
	}
	for _, schema := range e.Path() {
		if t := e.tx.Enum(schema, name); t != nil {
			return t
		}
	}
	return nil
}

func (e env) HasSchema(name string) bool {
	return slices.Contains(systemSchemas, strings.ToLower(name)) || e.tx != nil && e.tx.HasSchema(name)
}

func (e env) Taken(schema, name string) bool {
	if schema == "" {
		schema = catalog.Main
	}
	return e.find(schema, name) != nil
}

// Path is the schemas where names are looked for, as far as there are such.
func (e env) Path() []string {
	if e.path != nil {
		return e.path
	}
	var out []string
	set := e.s.Settings()
	for name := range strings.SplitSeq(set.client.path, ",") {
		name = strings.TrimSpace(name)
		if strings.HasPrefix(name, `"`) {
			name = strings.ReplaceAll(strings.Trim(name, `"`), `""`, `"`)
		} else {
			name = strings.ToLower(name)
		}
		if name != "" && name != "$user" && e.tx != nil && e.tx.HasSchema(name) {
			out = append(out, catalog.SchemaName(name))
		}
	}
	return out
}

func (e env) CurrentSchema() string {
	if p := e.Path(); len(p) > 0 {
		return p[0]
	}
	return ""
}

func (e env) Along(path []string) bind.Env {
	e.path, e.beside = path, nil
	return e
}

func (e env) Numbers() *bind.Numbers { return &e.s.numbers }

func (e env) TableNames() []string { return e.tx.Names() }

// Now is when the transaction began.
// Zone is the session's time zone.
func (e env) Zone() *types.Zone {
	set := e.s.Settings()
	return set.client.zone
}

func (e env) Now() time.Time {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.s.open != nil {
		return e.s.open.began
	}
	return time.Now()
}

// Ask answers a query in the statement's transaction.
func (e env) Ask(q *ast.Query, params []types.Value) ([][]types.Value, error) {
	b, err := bind.Statement(e, q, params)
	if err != nil {
		return nil, err
	}
	r, err := e.s.run(e.ctx, e.tx, b, Timing{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Values(), nil
}
