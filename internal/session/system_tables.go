package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/types"
)

// database is the name of the only one.
const database = "kelpie"

// systemTables are the tables of information_schema and pg_catalog.
var systemTables map[string]system

func init() {
	systemTables = map[string]system{
		"information_schema.schemata": {"catalog_name text, schema_name text, schema_owner text", func(d *describing, add func(...any)) {
			d.schemas(func(_ int64, name string) { add(database, name, database) })
		}},
		"information_schema.tables": {"table_catalog text, table_schema text, table_name text, table_type text, is_insertable_into text", infoTables},
		"information_schema.views": {"table_catalog text, table_schema text, table_name text, view_definition text, check_option text, is_updatable text", func(d *describing, add func(...any)) {
			d.tables(func(x *described, _ *catalog.Table, v *catalog.View) {
				if v != nil && !x.isSystem {
					add(database, x.schema, x.name, v.SQL, "NONE", "NO")
				}
			})
		}},
		"information_schema.columns": {`table_catalog text, table_schema text, table_name text, column_name text, ordinal_position int, column_default text,
			is_nullable text, data_type text, character_maximum_length int, numeric_precision int, numeric_precision_radix int, numeric_scale int,
			datetime_precision int, udt_name text, is_identity text, identity_generation text, is_generated text, generation_expression text, is_updatable text`, infoColumns},
		"information_schema.table_constraints": {`constraint_catalog text, constraint_schema text, constraint_name text, table_catalog text, table_schema text,
			table_name text, constraint_type text, is_deferrable text, initially_deferred text, enforced text`, func(d *describing, add func(...any)) {
			d.constraints(func(c *constraint) {
				add(database, c.x.schema, c.name, database, c.x.schema, c.x.name, c.kind, "NO", "NO", "YES")
			})
		}},
		"information_schema.key_column_usage": {`constraint_catalog text, constraint_schema text, constraint_name text, table_catalog text, table_schema text,
			table_name text, column_name text, ordinal_position int, position_in_unique_constraint int`, func(d *describing, add func(...any)) {
			d.constraints(func(c *constraint) {
				for i, o := range c.columns {
					at := any(nil)
					if c.parent != nil {
						at = i + 1
					}
					add(database, c.x.schema, c.name, database, c.x.schema, c.x.name, c.t.Columns[o].Name, i+1, at)
				}
			})
		}},
		"information_schema.referential_constraints": {`constraint_catalog text, constraint_schema text, constraint_name text, unique_constraint_schema text,
			unique_constraint_name text, match_option text, update_rule text, delete_rule text`, func(d *describing, add func(...any)) {
			d.constraints(func(c *constraint) {
				if c.parent != nil {
					add(database, c.x.schema, c.name, catalog.SchemaName(c.parent.Schema), orNil(d.keyNameOf(c.parent)), "NONE", c.parent.OnUpdate.String(), c.parent.OnDelete.String())
				}
			})
		}},
		"information_schema.check_constraints": {"constraint_catalog text, constraint_schema text, constraint_name text, check_clause text", func(d *describing, add func(...any)) {
			d.constraints(func(c *constraint) {
				if c.kind == "CHECK" {
					add(database, c.x.schema, c.name, "("+c.check+")")
				}
			})
		}},
		"information_schema.sequences": {`sequence_catalog text, sequence_schema text, sequence_name text, data_type text, start_value text, minimum_value text,
			maximum_value text, increment text, cycle_option text`, func(d *describing, add func(...any)) {
			for _, x := range d.relations() {
				if q, ok := x.rel.(*catalog.Sequence); ok {
					n := func(x int64) string { return types.IntValue(types.TInt64, x).String() }
					add(database, x.schema, x.name, "bigint", n(q.Start), n(q.Min), n(q.Max), n(q.Increment), yesNo(q.Cycle))
				}
			}
		}},

		"pg_catalog.pg_namespace": {"oid bigint, nspname text, nspowner bigint, nspacl list", func(d *describing, add func(...any)) {
			d.schemas(func(oid int64, name string) { add(oid, name, 10) })
		}},
		"pg_catalog.pg_database": {"oid bigint, datname text, datdba bigint, encoding int, datcollate text, datallowconn bool, datctype text=C, datistemplate bool=false, datconnlimit int=-1, dattablespace bigint=1663, datlocprovider text=c, daticulocale text, datacl list", func(_ *describing, add func(...any)) {
			add(5, database, 10, 6, "C", true)
		}},
		"pg_catalog.pg_class": {`oid bigint, relname text, relnamespace bigint, reltype bigint, relowner bigint, relam bigint, reltuples real, relkind text,
			relnatts small, relhasindex bool, relchecks small, relispartition bool, relpersistence text, reloftype bigint=0, relfilenode bigint=0,
			reltablespace bigint=0, relpages int=0, relallvisible int=0, reltoastrelid bigint=0, relisshared bool=false, relhasrules bool=false, relhastriggers bool=false,
			relhassubclass bool=false, relrowsecurity bool=false, relforcerowsecurity bool=false, relispopulated bool=true, relreplident text=d, relrewrite bigint=0,
			relacl list, reloptions list, relpartbound text`, pgClass},
		"pg_catalog.pg_attribute": {`attrelid bigint, attname text, atttypid bigint, attlen small, attnum small, atttypmod int, attnotnull bool, atthasdef bool,
			attisdropped bool, attidentity text, attgenerated text, attndims int=0, attcollation bigint=0, attstattarget int=-1,
			attstorage text=p, attcompression text=, attislocal bool=true, attinhcount int=0, atthasmissing bool=false, attacl list, attoptions list`, func(d *describing, add func(...any)) {
			for _, x := range d.relations() {
				for _, c := range x.columns {
					t := d.typeOf(c.def.Type)
					identity := map[catalog.Identity]string{catalog.NoIdentity: "", catalog.IdentityAlways: "a", catalog.IdentityByDefault: "d"}[c.def.Identity]
					generated := map[bool]string{true: "", false: "s"}[c.def.Generated == ""]
					add(x.oid, c.def.Name, t.oid, t.len, c.num, typeMod(c.def.Type), c.def.NotNull, c.def.Default+c.def.Generated != "", false, identity, generated)
				}
			}
		}},
		"pg_catalog.pg_attrdef": {"oid bigint, adrelid bigint, adnum small, adbin text", func(d *describing, add func(...any)) {
			for _, x := range d.relations() {
				for _, c := range x.columns {
					if text := c.def.Default + c.def.Generated; text != "" {
						add(x.oid*1000+int64(c.num), x.oid, c.num, text)
					}
				}
			}
		}},
		"pg_catalog.pg_type": {"oid bigint, typname text, typnamespace bigint, typlen small, typtype text, typcategory text, typnotnull bool, typbasetype bigint, typrelid bigint=0, typelem bigint=0, typarray bigint=0, typtypmod int=-1, typndims int=0, typcollation bigint=0, typdefault text, typowner bigint=10, typisdefined bool=true, typdelim text", func(d *describing, add func(...any)) {
			for _, t := range pgTypes {
				add(t.oid, t.name, 11, t.len, "b", t.category, false, 0)
			}
			d.enums(func(oid int64, e *catalog.Enum) {
				add(oid, e.Name, d.schemaOID(catalog.SchemaOf(e)), 4, "e", "E", false, 0)
			})
		}},
		"pg_catalog.pg_enum": {"oid bigint, enumtypid bigint, enumsortorder real, enumlabel text", func(d *describing, add func(...any)) {
			d.enums(func(oid int64, e *catalog.Enum) {
				for i, l := range e.Type.Labels() {
					add(oid*1000+int64(i), oid, float64(i+1), l)
				}
			})
		}},
		"pg_catalog.pg_constraint": {"oid bigint, conname text, connamespace bigint, contype text, conrelid bigint, confrelid bigint, confdeltype text, confupdtype text, convalidated bool, conkey numbers, confkey numbers, conindid bigint=0, condeferrable bool=false, condeferred bool=false, contypid bigint=0, conparentid bigint=0, confmatchtype text=s, conislocal bool=true, coninhcount int=0, connoinherit bool=false, conbin text", pgConstraint},
		"pg_catalog.pg_index":      {"indexrelid bigint, indrelid bigint, indnatts small, indisunique bool, indisprimary bool, indisvalid bool, indkey text, indnkeyatts small, indisclustered bool=false, indisexclusion bool=false, indimmediate bool=true, indisready bool=true, indislive bool=true, indisreplident bool=false, indnullsnotdistinct bool=false, indoption text, indcollation text, indclass text, indexprs text, indpred text", pgIndex},
		"pg_catalog.pg_indexes":    {"schemaname text, tablename text, indexname text, tablespace text, indexdef text", pgIndexes},
		"pg_catalog.pg_tables": {"schemaname text, tablename text, tableowner text, tablespace text, hasindexes bool, hasrules bool, hastriggers bool, rowsecurity bool", func(d *describing, add func(...any)) {
			d.tables(func(x *described, t *catalog.Table, _ *catalog.View) {
				if t != nil {
					add(x.schema, x.name, database, nil, len(t.Keys)+len(t.Rules.Indexes) > 0, false, false, false)
				}
			})
		}},
		"pg_catalog.pg_views": {"schemaname text, viewname text, viewowner text, definition text", func(d *describing, add func(...any)) {
			d.tables(func(x *described, _ *catalog.Table, v *catalog.View) {
				if v != nil {
					add(x.schema, x.name, database, v.SQL)
				}
			})
		}},
		"pg_catalog.pg_sequences": {"schemaname text, sequencename text, sequenceowner text, data_type text, start_value bigint, min_value bigint, max_value bigint, increment_by bigint, cycle bool, cache_size bigint, last_value bigint", func(d *describing, add func(...any)) {
			for _, x := range d.relations() {
				if q, ok := x.rel.(*catalog.Sequence); ok {
					last := any(nil)
					if n, called := q.Last(); called {
						last = n
					}
					add(x.schema, x.name, database, "bigint", q.Start, q.Min, q.Max, q.Increment, q.Cycle, 1, last)
				}
			}
		}},
		"pg_catalog.pg_settings": {"name text, setting text, unit text, category text, short_desc text, context text, vartype text, source text", func(d *describing, add func(...any)) {
			cur := d.s.Settings()
			for _, st := range allSettings() {
				add(st.name, st.show(&cur), nil, "Settings", st.doc, "user", "string", "session")
			}
		}},
		"pg_catalog.pg_roles": {"oid bigint, rolname text, rolsuper bool, rolcanlogin bool, rolinherit bool=true, rolcreaterole bool=true, rolcreatedb bool=true, rolreplication bool=false, rolconnlimit int=-1, rolvaliduntil text, rolbypassrls bool=true", func(_ *describing, add func(...any)) { add(10, database, true, true) }},
		"pg_catalog.pg_proc": {"oid bigint, proname text, pronamespace bigint, prosrc text, prokind text=f, proowner bigint=10, provolatile text=s, proisstrict bool=false, proretset bool=false, pronargs small=0, prorettype bigint=0, proargtypes text, proargnames list, prolang bigint=14", func(d *describing, add func(...any)) {
			d.macros(func(oid int64, m *catalog.Macro) { add(oid, m.Name, d.schemaOID(catalog.SchemaOf(m)), m.SQL) })
		}},
		"pg_catalog.pg_description": {"objoid bigint, classoid bigint, objsubid int, description text", func(d *describing, add func(...any)) {
			d.comments(func(oid int64, class string, column int, text string) { add(oid, systemOIDs[class], column, text) })
		}},
		"pg_catalog.kelpie_objects": {"oid bigint, kind text, definition text, parts list, bytes bigint", kelpieObjects},
	}
	addEmptyTables()
	systemNames = slices.Sorted(maps.Keys(systemTables))
}

func infoTables(d *describing, add func(...any)) {
	d.tables(func(x *described, t *catalog.Table, _ *catalog.View) {
		kind := "VIEW"
		if t != nil {
			kind = "BASE TABLE"
		}
		add(database, x.schema, x.name, kind, yesNo(t != nil))
	})
}

func infoColumns(d *describing, add func(...any)) {
	for _, x := range d.relations() {
		for _, c := range x.columns {
			def := &c.def
			t := d.typeOf(def.Type)
			length, precision, radix, scale, dates := any(nil), any(nil), any(nil), any(nil), any(nil)
			switch def.Type.Kind {
			case types.Text:
				if def.Type.Len > 0 {
					length = int(def.Type.Len)
				}
			case types.Int8, types.UInt8:
				precision, radix, scale = 8, 2, 0
			case types.Int16, types.UInt16:
				precision, radix, scale = 16, 2, 0
			case types.Int32, types.UInt32:
				precision, radix, scale = 32, 2, 0
			case types.Int64:
				precision, radix, scale = 64, 2, 0
			case types.Float32:
				precision, radix = 24, 2
			case types.Float64:
				precision, radix = 53, 2
			case types.Decimal:
				precision, radix, scale = int(def.Type.Prec), 10, int(def.Type.Scale)
			case types.Date:
				dates = 0
			case types.Timestamp, types.TimestampTZ, types.Time, types.TimeTZ, types.Interval:
				dates = 6
			}
			identity := map[catalog.Identity]any{catalog.NoIdentity: nil, catalog.IdentityAlways: "ALWAYS", catalog.IdentityByDefault: "BY DEFAULT"}[def.Identity]
			text := def.Default
			if def.Identity != catalog.NoIdentity {
				text = ""
			}
			_, isTable := x.rel.(*catalog.Table)
			add(database, x.schema, x.name, def.Name, c.num, orNil(text), yesNo(!def.NotNull), t.long, length, precision, radix, scale, dates, t.name,
				yesNo(def.Identity != catalog.NoIdentity), identity, map[bool]string{true: "NEVER", false: "ALWAYS"}[def.Generated == ""], orNil(def.Generated), yesNo(isTable))
		}
	}
}

// keyNameOf is the name of the key that a foreign key refers to.
func (d *describing) keyNameOf(f *catalog.ForeignKey) string {
	r, err := d.tx.Lookup(f.Schema, f.Table)
	t, ok := r.(*catalog.Table)
	if err != nil || !ok {
		return ""
	}
	want := slices.Sorted(slices.Values(f.Refs))
	for i, key := range t.Keys {
		if slices.Equal(slices.Sorted(slices.Values(columnNames(t, key))), want) {
			return t.KeyName(i)
		}
	}
	return ""
}

func pgClass(d *describing, add func(...any)) {
	for _, x := range d.relations() {
		kind, rows, checks, indexed := "v", -1.0, 0, false
		switch r := x.rel.(type) {
		case *catalog.Table:
			kind, rows, checks, indexed = "r", float64(r.Snapshot().Rows), len(r.Rules.Checks), len(r.Keys)+len(r.Rules.Indexes) > 0
		case *catalog.Sequence:
			kind, rows = "S", 1
		}
		add(x.oid, x.name, d.schemaOID(x.schema), 0, 10, 0, rows, kind, len(x.columns), indexed, checks, false, "p")
	}
	d.indexes(func(x *index) {
		add(x.oid, x.name, d.schemaOID(x.of.schema), 0, 10, 0, 0.0, "i", len(x.columns), false, 0, false, "p")
	})
}

// index is a key or an index of a table.
type index struct {
	oid             int64
	of              *described
	name            string
	columns         []string
	unique, primary bool
}

// indexes calls f for the indexes of all tables.
func (d *describing) indexes(f func(x *index)) {
	d.tables(func(x *described, t *catalog.Table, _ *catalog.View) {
		if t == nil {
			return
		}
		oid := x.oid * 1000
		for i, key := range t.Keys {
			oid++
			f(&index{oid, x, t.KeyName(i), columnNames(t, key), true, t.IsPrimary(i)})
		}
		for _, ix := range t.Rules.Indexes {
			oid++
			f(&index{oid, x, ix.Name, ix.Columns, false, false})
		}
	})
}

func pgIndex(d *describing, add func(...any)) {
	d.indexes(func(x *index) {
		var nums []string
		for _, n := range x.columns {
			for _, c := range x.of.columns {
				if strings.EqualFold(c.def.Name, n) {
					nums = append(nums, types.IntValue(types.TInt32, int64(c.num)).String())
				}
			}
		}
		add(x.oid, x.of.oid, len(x.columns), x.unique, x.primary, true, strings.Join(nums, " "), len(x.columns))
	})
}

func pgIndexes(d *describing, add func(...any)) {
	d.indexes(func(x *index) {
		word := "CREATE INDEX "
		if x.unique {
			word = "CREATE UNIQUE INDEX "
		}
		add(x.of.schema, x.of.name, x.name, nil, word+x.name+" ON "+x.of.schema+"."+x.of.name+" ("+strings.Join(x.columns, ", ")+")")
	})
}

func pgConstraint(d *describing, add func(...any)) {
	d.numberedConstraints(func(oid int64, c *constraint) {
		kind := map[string]string{"PRIMARY KEY": "p", "UNIQUE": "u", "CHECK": "c", "FOREIGN KEY": "f"}[c.kind]
		parent, onDelete, onUpdate := int64(0), " ", " "
		if c.parent != nil {
			letters := "arcnd"
			onDelete, onUpdate = letters[c.parent.OnDelete:][:1], letters[c.parent.OnUpdate:][:1]
			for _, x := range d.relations() {
				if x.name == c.parent.Table && x.schema == catalog.SchemaName(c.parent.Schema) {
					parent = x.oid
				}
			}
		}
		add(oid, c.name, d.schemaOID(c.x.schema), kind, c.x.oid, parent, onDelete, onUpdate, true, numbersOf(c.columns), d.parentColumns(c))
	})
}

// pgType is a type as PostgreSQL knows it.
type pgType struct {
	kind     types.Kind
	oid      int64
	name     string
	long     string
	len      int
	category string
}

var pgTypes = []pgType{
	{types.Bool, 16, "bool", "boolean", 1, "B"}, {types.Int64, 20, "int8", "bigint", 8, "N"}, {types.Int16, 21, "int2", "smallint", 2, "N"},
	{types.Int32, 23, "int4", "integer", 4, "N"}, {types.Text, 25, "text", "text", -1, "S"}, {types.Float32, 700, "float4", "real", 4, "N"},
	{types.Float64, 701, "float8", "double precision", 8, "N"}, {types.Text, 1043, "varchar", "character varying", -1, "S"},
	{types.Date, 1082, "date", "date", 4, "D"}, {types.Timestamp, 1114, "timestamp", "timestamp without time zone", 8, "D"},
	{types.Time, 1083, "time", "time without time zone", 8, "D"}, {types.TimestampTZ, 1184, "timestamptz", "timestamp with time zone", 8, "D"},
	{types.TimeTZ, 1266, "timetz", "time with time zone", 12, "D"},
	{types.Bytes, 17, "bytea", "bytea", -1, "U"}, {types.UUID, 2950, "uuid", "uuid", 16, "U"},
	{types.JSON, 114, "json", "json", -1, "U"}, {types.JSON, 3802, "jsonb", "jsonb", -1, "U"},
	{types.Interval, 1186, "interval", "interval", 16, "T"}, {types.Decimal, 1700, "numeric", "numeric", -1, "N"},
}

// arrayTypes are the types of arrays, by those of their elements.
var arrayTypes = map[int64]int64{16: 1000, 17: 1001, 20: 1016, 21: 1005, 23: 1007, 25: 1009, 700: 1021, 701: 1022, 1043: 1015, 1082: 1182, 1083: 1183,
	1114: 1115, 1184: 1185, 1186: 1187, 1266: 1270, 1700: 1231, 2950: 2951, 114: 199, 3802: 3807}

// enums calls f for the enums that have names, with their numbers.
func (d *describing) enums(f func(oid int64, e *catalog.Enum)) {
	oid := int64(firstOID * 10)
	for _, r := range d.tx.Relations() {
		if e, ok := r.(*catalog.Enum); ok {
			f(oid, e)
			oid++
		}
	}
}

// typeOf is PostgreSQL's type for one of ours.
func (d *describing) typeOf(t types.Type) *pgType {
	if t.Kind == types.Enum {
		p := &pgType{kind: t.Kind, name: strings.ToLower(t.String()), long: "USER-DEFINED", len: 4, category: "E"}
		d.enums(func(oid int64, e *catalog.Enum) {
			if e.Type == t {
				p.oid, p.name = oid, e.Name
			}
		})
		return p
	}
	for i := range pgTypes {
		if p := &pgTypes[i]; p.kind == t.Kind && t != types.TUInt64 && (t.Kind != types.JSON || p.name == t.SQLName()) && (t.Kind != types.Text || (t.Len > 0) == (p.name == "varchar")) {
			return p
		}
	}
	for narrow, wide := range map[types.Type]types.Type{types.TInt8: types.TInt16, types.TUInt8: types.TInt16, types.TUInt16: types.TInt32, types.TUInt32: types.TInt64, types.TUInt64: types.TDecimal(20, 0)} {
		if t == narrow { // PostgreSQL has no such type: its clients know one that holds the values
			p := *d.typeOf(wide)
			p.long = t.SQLName()
			return &p
		}
	}
	if t.Kind == types.List {
		for t.Kind == types.List {
			t = t.Elem()
		}
		elem := d.typeOf(t)
		return &pgType{kind: types.List, oid: arrayTypes[elem.oid], name: "_" + elem.name, long: "ARRAY", len: -1, category: "A"}
	}
	return &pgType{name: strings.ToLower(t.String()), long: strings.ToLower(t.String()), category: "X"}
}

// typeMod is how PostgreSQL writes length, precision and scale.
func typeMod(t types.Type) int {
	switch {
	case t.Kind == types.Text && t.Len > 0:
		return int(t.Len) + 4
	case t.Kind == types.Decimal:
		return int(t.Prec)<<16 | int(t.Scale) + 4
	}
	return -1
}
