package session

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// systemOIDs are the numbers of pg_catalog's tables that clients know by heart.
var systemOIDs = map[string]int64{"pg_type": 1247, "pg_attribute": 1249, "pg_proc": 1255, "pg_class": 1259, "pg_database": 1262, "pg_constraint": 2606,
	"pg_namespace": 2615, "pg_index": 2610, "pg_attrdef": 2604, "pg_description": 2609}

// macros calls f for the macros, with their numbers.
func (d *describing) macros(f func(oid int64, m *catalog.Macro)) {
	oid := int64(firstOID) * 2
	for _, r := range d.tx.Relations() {
		if m, ok := r.(*catalog.Macro); ok {
			f(oid, m)
			oid++
		}
	}
}

// numberedConstraints calls f for the constraints, with their numbers.
func (d *describing) numberedConstraints(f func(oid int64, c *constraint)) {
	oid := int64(firstOID * 100)
	d.constraints(func(c *constraint) {
		oid++
		f(oid, c)
	})
}

// kelpieObjects fills the table that functions of the catalog ask: how objects are defined, and how many bytes they take.
func kelpieObjects(d *describing, add func(...any)) {
	d.tables(func(x *described, t *catalog.Table, v *catalog.View) {
		switch {
		case t != nil:
			add(x.oid, "table", nil, nil, tableBytes(t))
		case !x.isSystem:
			add(x.oid, "view", " "+v.SQL+";", nil, int64(0))
		default:
			add(x.oid, "view", nil, nil, int64(0))
		}
	})
	for _, x := range d.relations() {
		if _, ok := x.rel.(*catalog.Sequence); ok {
			add(x.oid, "sequence", nil, nil, int64(0))
		}
	}
	d.indexes(func(x *index) { add(x.oid, "index", x.definition(), x.columns, int64(0)) })
	d.numberedConstraints(func(oid int64, c *constraint) { add(oid, "constraint", c.definition(), nil, nil) })
}

// tableBytes is what the columns of a table take.
func tableBytes(t *catalog.Table) int64 {
	n := int64(0)
	for _, s := range t.Snapshot().Segments {
		for _, c := range s.Chunks {
			if c != nil {
				n += int64(c.MemBytes())
			}
		}
	}
	return n
}

// definition is CREATE INDEX.
func (x *index) definition() string {
	word := "CREATE INDEX "
	if x.unique {
		word = "CREATE UNIQUE INDEX "
	}
	return word + ast.QuoteIdent(x.name) + " ON " + ast.QuoteIdent(x.of.schema) + "." + ast.QuoteIdent(x.of.name) + " USING btree (" + quotedList(x.columns) + ")"
}

// definition is the constraint as ALTER TABLE … ADD takes it.
func (c *constraint) definition() string {
	switch {
	case c.kind == "CHECK":
		return "CHECK ((" + c.check + "))"
	case c.parent != nil:
		parent := ast.QuoteIdent(c.parent.Table)
		if schema := catalog.SchemaName(c.parent.Schema); schema != catalog.Main {
			parent = ast.QuoteIdent(schema) + "." + parent
		}
		text := "FOREIGN KEY (" + quotedList(columnNames(c.t, c.columns)) + ") REFERENCES " + parent + "(" + quotedList(c.parent.Refs) + ")"
		if c.parent.OnUpdate != catalog.NoAction {
			text += " ON UPDATE " + c.parent.OnUpdate.String()
		}
		if c.parent.OnDelete != catalog.NoAction {
			text += " ON DELETE " + c.parent.OnDelete.String()
		}
		return text
	}
	return c.kind + " (" + quotedList(columnNames(c.t, c.columns)) + ")"
}

func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = ast.QuoteIdent(n)
	}
	return strings.Join(quoted, ", ")
}

// ClassNumber is the number of a table, view, sequence or index.
func (e env) ClassNumber(schema, name string) (oid int64, ok bool) {
	if e.tx == nil {
		return 0, false
	}
	d := &describing{s: e.s, tx: e.tx}
	path := []string{schema}
	if schema == "" {
		path = append([]string{"pg_catalog"}, e.Path()...)
	}
	for _, schema := range path {
		schema = catalog.SchemaName(schema)
		for _, x := range d.relations() {
			if x.schema == schema && x.name == name {
				return x.oid, true
			}
		}
		d.indexes(func(x *index) {
			if x.of.schema == schema && x.name == name {
				oid, ok = x.oid, true
			}
		})
		if ok {
			return oid, true
		}
	}
	return 0, false
}

// TypeNumber is the number of a type.
func (e env) TypeNumber(t types.Type) int64 { return (&describing{s: e.s, tx: e.tx}).typeOf(t).oid }

// Setting is what SHOW shows.
func (e env) Setting(name string) (string, error) {
	name = strings.ToLower(name)
	if of := transactionSettings[name]; of != nil {
		return e.s.transactionSetting(of), nil
	}
	st, err := e.s.shownSetting(name, -1)
	if err != nil {
		return "", err
	}
	cur := e.s.Settings()
	return st.show(&cur), nil
}

// SetSetting is SET, or SET LOCAL.
func (e env) SetSetting(name, value string, local bool) (string, error) {
	name = strings.ToLower(name)
	st, err := findSetting(name, -1)
	if err != nil {
		return "", err
	}
	if !local || e.s.Status() != Idle {
		if err := e.s.assign(st, types.TextValue(value), local, -1); err != nil {
			return "", err
		}
		return e.Setting(name)
	}
	return value, nil
}

// numbersOf are columns as pg_catalog numbers them.
func numbersOf(columns []int) any {
	var out []int
	for _, c := range columns {
		out = append(out, c+1)
	}
	if out == nil {
		return nil
	}
	return out
}

// parentColumns are the columns that a foreign key refers to.
func (d *describing) parentColumns(c *constraint) any {
	if c.parent == nil {
		return nil
	}
	r, err := d.tx.Lookup(c.parent.Schema, c.parent.Table)
	t, ok := r.(*catalog.Table)
	if err != nil || !ok {
		return nil
	}
	var out []int
	for _, name := range c.parent.Refs {
		out = append(out, t.Column(name))
	}
	return numbersOf(out)
}
