package session

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// The tables of information_schema and pg_catalog are made when a statement names one, from what its transaction sees. They have
// the columns that tools and people ask for, named and typed as PostgreSQL's as far as there are such types.

// systemSchemas are those of the tables that describe the others.
var systemSchemas = []string{"information_schema", "pg_catalog"}

// system is a table that describes others.
type system struct {
	columns string // name type=what it is if the rows do not say it, …; without =, NULL
	rows    func(d *describing, add func(...any))
}

// defs are the columns, and what those have that the rows leave out.
func (t *system) defs() (defs []catalog.ColumnDef, rest []types.Value) {
	for def := range strings.SplitSeq(t.columns, ",") {
		name, kind, _ := strings.Cut(strings.TrimSpace(def), " ")
		kind, value, given := strings.Cut(kind, "=")
		typ := systemTypes[kind]
		v := types.NullOf(typ)
		if given {
			var err error
			if v, err = types.Cast(types.TextValue(value), typ); err != nil {
				panic(err)
			}
		}
		defs, rest = append(defs, catalog.ColumnDef{Name: name, Type: typ}), append(rest, v)
	}
	return defs, rest
}

// isSystem reports that a name means such a table.
func (s *Session) isSystem(tx *catalog.Tx, schema, name string) bool {
	if schema == "" {
		schema = "pg_catalog"
	}
	return s.systemTable(tx, schema, name) != nil
}

// systemTable makes such a table; nil if there is none of that name.
func (s *Session) systemTable(tx *catalog.Tx, schema, name string) *catalog.Table {
	schema, name = strings.ToLower(schema), strings.ToLower(name)
	if !slices.Contains(systemSchemas, schema) {
		return nil
	}
	t, ok := systemTables[schema+"."+name]
	if !ok {
		return nil
	}
	defs, rest := t.defs()
	out := catalog.NewTable(name, defs, nil, column.DefaultOptions())
	out.Schema = schema
	a := out.NewAppender()
	t.rows(&describing{s: s, tx: tx}, func(row ...any) {
		vals := make([]types.Value, len(defs))
		for i := range defs {
			if i < len(row) {
				vals[i] = systemValue(row[i], defs[i].Type)
			} else {
				vals[i] = rest[i]
			}
		}
		if err := a.AppendRow(vals...); err != nil {
			panic(err)
		}
	})
	if err := a.Close(); err != nil {
		panic(err)
	}
	return out
}

var systemTypes = map[string]types.Type{"text": types.TText, "int": types.TInt32, "bigint": types.TInt64, "bool": types.TBool, "small": types.TInt16,
	"real": types.TFloat64, "list": types.TList(types.TText), "numbers": types.TList(types.TInt16)}

// systemValue is a Go value as one of a column; nil is NULL.
func systemValue(x any, t types.Type) types.Value {
	switch x := x.(type) {
	case string:
		return types.TextValue(x)
	case bool:
		return types.BoolValue(x)
	case int:
		return types.IntValue(t, int64(x))
	case int64:
		return types.IntValue(t, x)
	case float64:
		return types.FloatValue(t, x)
	case []int:
		var list []types.Value
		for _, n := range x {
			list = append(list, types.IntValue(types.TInt16, int64(n)))
		}
		return types.ListValue(types.TInt16, list)
	case []string:
		var list []types.Value
		for _, s := range x {
			list = append(list, types.TextValue(s))
		}
		return types.ListValue(types.TText, list)
	}
	return types.NullOf(t)
}

// describing is who fills such tables.
type describing struct {
	s    *Session
	tx   *catalog.Tx
	rels []described
}

// described is a table, view, sequence or index with its number, which is the same in all tables of a statement.
type described struct {
	oid      int64
	rel      catalog.Relation
	schema   string
	name     string
	columns  []columnInfo
	isSystem bool
}

// columnInfo is a column of a table or view.
type columnInfo struct {
	def catalog.ColumnDef
	num int
}

// firstOID is the number of the first object that is not the system's, as in PostgreSQL.
const firstOID = 16384

// relations are all tables, views and sequences, those of the system last.
func (d *describing) relations() []described {
	if d.rels != nil {
		return d.rels
	}
	next := int64(firstOID)
	add := func(r described) {
		if r.oid = systemOIDs[r.name]; r.oid == 0 || !r.isSystem {
			r.oid = next
			next++
		}
		d.rels = append(d.rels, r)
	}
	for _, r := range d.tx.Relations() {
		x := described{rel: r, schema: catalog.SchemaOf(r), name: catalog.NameOf(r)}
		switch r := r.(type) {
		case *catalog.Table:
			for i, c := range r.Columns {
				x.columns = append(x.columns, columnInfo{c, i + 1})
			}
		case *catalog.View:
			cols, _ := d.s.ViewColumnsIn(d.tx, r)
			for i, c := range cols {
				x.columns = append(x.columns, columnInfo{catalog.ColumnDef{Name: c.Name, Type: c.Type}, i + 1})
			}
		case *catalog.Sequence:
		default:
			continue
		}
		add(x)
	}
	for _, key := range systemNames {
		schema, name, _ := strings.Cut(key, ".")
		x := described{rel: &catalog.View{Schema: schema, Name: name}, schema: schema, name: name, isSystem: true}
		t := systemTables[key]
		defs, _ := t.defs()
		for i, def := range defs {
			x.columns = append(x.columns, columnInfo{def, i + 1})
		}
		add(x)
	}
	return d.rels
}

// tables calls f for tables and views.
func (d *describing) tables(f func(x *described, t *catalog.Table, v *catalog.View)) {
	rels := d.relations()
	for i := range rels {
		switch r := rels[i].rel.(type) {
		case *catalog.Table:
			f(&rels[i], r, nil)
		case *catalog.View:
			f(&rels[i], nil, r)
		}
	}
}

// constraint is a constraint of a table.
type constraint struct {
	x                  *described
	t                  *catalog.Table
	name               string
	kind               string // as in information_schema
	columns            []int
	check              string
	parent             *catalog.ForeignKey
	onDelete, onUpdate catalog.Action
}

// constraints calls f for those of all tables, NOT NULL not among them.
func (d *describing) constraints(f func(c *constraint)) {
	d.tables(func(x *described, t *catalog.Table, _ *catalog.View) {
		if t == nil {
			return
		}
		for i, key := range t.Keys {
			if t.IsIndex(i) {
				continue
			}
			kind := "UNIQUE"
			if t.IsPrimary(i) {
				kind = "PRIMARY KEY"
			}
			f(&constraint{x: x, t: t, name: t.KeyName(i), kind: kind, columns: key})
		}
		for _, c := range t.Rules.Checks {
			f(&constraint{x: x, t: t, name: c.Name, kind: "CHECK", check: c.SQL})
		}
		for i := range t.Rules.Foreign {
			k := &t.Rules.Foreign[i]
			f(&constraint{x: x, t: t, name: k.Name, kind: "FOREIGN KEY", columns: k.Columns, parent: k})
		}
	})
}

// schemas calls f for all schemas, with their numbers.
func (d *describing) schemas(f func(oid int64, name string)) {
	f(11, "pg_catalog")
	f(13000, "information_schema")
	f(2200, catalog.Main)
	oid := int64(firstOID - 1000)
	for _, r := range d.tx.Relations() {
		if sc, ok := r.(*catalog.Schema); ok {
			f(oid, sc.Name)
			oid++
		}
	}
}

// schemaOID is the number of a schema.
func (d *describing) schemaOID(name string) (oid int64) {
	d.schemas(func(o int64, n string) {
		if strings.EqualFold(n, name) {
			oid = o
		}
	})
	return oid
}

// systemNames are the keys of systemTables, sorted.
var systemNames []string

// orNil is nil for an empty text.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}
