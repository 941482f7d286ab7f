package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// catalogSQL are functions that ask tables of pg_catalog: p1, p2 … are the arguments, NULL if they are left out. A name behind a colon is a kind
// of number that the first one is, which may be given by a name.
var catalogSQL = map[string]string{
	"obj_description:regclass": `(SELECT d.description FROM pg_catalog.pg_description d WHERE d.objoid = p1 AND d.objsubid = 0
		AND (p2 IS NULL OR d.classoid = (SELECT c.oid FROM pg_catalog.pg_class c WHERE c.relname = p2)) LIMIT 1)`,
	"col_description:regclass": `(SELECT d.description FROM pg_catalog.pg_description d WHERE d.objoid = p1 AND d.objsubid = p2 AND p2 > 0 LIMIT 1)`,
	"shobj_description":        `NULL::text`,
	"pg_get_userbyid":          `(SELECT coalesce(max(rolname), 'unknown (OID=' || p1 || ')') FROM pg_catalog.pg_roles WHERE oid = p1)`,
	"pg_encoding_to_char":      `CASE WHEN p1 = 6 THEN 'UTF8' ELSE '' END`,
	"pg_get_expr":              `p1`,
	"pg_table_is_visible": `(SELECT bool_or(n.nspname = ANY(current_schemas(true))) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.oid = p1)`,
	"pg_type_is_visible":              `(SELECT true FROM pg_catalog.pg_type WHERE oid = p1 LIMIT 1)`,
	"pg_function_is_visible":          `(SELECT true FROM pg_catalog.pg_proc WHERE oid = p1 LIMIT 1)`,
	"pg_get_constraintdef":            `(SELECT definition FROM pg_catalog.kelpie_objects WHERE oid = p1 AND kind = 'constraint')`,
	"pg_get_indexdef":                 `(SELECT CASE WHEN coalesce(p2, 0) = 0 THEN definition ELSE parts[p2] END FROM pg_catalog.kelpie_objects WHERE oid = p1 AND kind = 'index')`,
	"pg_get_viewdef:regclass":         `(SELECT definition FROM pg_catalog.kelpie_objects WHERE oid = p1 AND kind = 'view')`,
	"pg_relation_size:regclass":       `(SELECT bytes FROM pg_catalog.kelpie_objects WHERE oid = p1 AND kind IN ('table', 'index', 'view', 'sequence'))`,
	"pg_table_size:regclass":          `(SELECT bytes FROM pg_catalog.kelpie_objects WHERE oid = p1 AND kind IN ('table', 'view', 'sequence'))`,
	"pg_total_relation_size:regclass": `(SELECT bytes FROM pg_catalog.kelpie_objects WHERE oid = p1 AND kind IN ('table', 'index', 'view', 'sequence'))`,
	"pg_indexes_size:regclass":        `(SELECT 0::bigint FROM pg_catalog.kelpie_objects WHERE oid = p1 AND kind IN ('table', 'view', 'sequence'))`,
	"pg_database_size":                `(SELECT sum(bytes)::bigint FROM pg_catalog.kelpie_objects WHERE p1 IS NOT NULL)`,
	"pg_is_in_recovery":               `false`,
	"pg_backend_pid":                  `1`,
	"pg_my_temp_schema":               `0::bigint`,
	"pg_is_other_temp_schema":         `p1 IS NULL AND NULL`,
}

// addCatalogBuilders puts them among the others.
func addCatalogBuilders() {
	for name, text := range catalogSQL {
		name, kind, _ := strings.Cut(name, ":")
		builders[name] = func(b *binder, c *call) plan.Expr {
			args := slices.Clone(c.args)
			if kind != "" {
				args[0] = b.regs[b.registered(c.scope, args[0], kind, c.argPos(0), true)].oid
			}
			rows := funcs.Find(name)
			letters, _, _ := rows[0].Params()
			for len(args) < len(letters) {
				t, _ := paramType(letters[len(args)], types.TText)
				args = append(args, plan.NullConst(t))
			}
			return b.sqlOver(c.scope, text, c.pos, args...)
		}
	}
	for _, kind := range []string{"regclass", "regtype", "regnamespace", "regrole"} {
		builders["to_"+kind] = func(b *binder, c *call) plan.Expr { return b.registered(c.scope, c.args[0], kind, c.argPos(0), false) }
	}
	for name, words := range privileges {
		builders[name] = func(b *binder, c *call) plan.Expr { return b.privilege(c, words) }
	}
	builders["format_type"] = (*binder).formatType
	builders["current_schemas"] = (*binder).currentSchemas
	builders["current_setting"] = (*binder).currentSetting
	builders["set_config"] = (*binder).setConfig
	builders["pg_column_size"] = (*binder).columnSize
}

// typeNames are PostgreSQL's types by their numbers; those of arrays are made of them.
var typeNames = map[int64]string{16: "boolean", 17: "bytea", 18: "\"char\"", 19: "name", 20: "bigint", 21: "smallint", 23: "integer", 25: "text", 26: "oid", 114: "json", 700: "real",
	701: "double precision", 1042: "character", 1043: "character varying", 1082: "date", 1083: "time without time zone", 1114: "timestamp without time zone",
	1184: "timestamp with time zone", 1186: "interval", 1266: "time with time zone", 1700: "numeric", 2950: "uuid", 3802: "jsonb",
	1000: "boolean[]", 1001: "bytea[]", 1016: "bigint[]", 1005: "smallint[]", 1007: "integer[]", 1009: "text[]", 1021: "real[]", 1022: "double precision[]",
	1015: "character varying[]", 1182: "date[]", 1183: "time without time zone[]", 1115: "timestamp without time zone[]", 1185: "timestamp with time zone[]",
	1187: "interval[]", 1270: "time with time zone[]", 1231: "numeric[]", 2951: "uuid[]", 199: "json[]", 3807: "jsonb[]"}

// knownType is the name of a type that is no enum, with what its modifier says; NULL if there is none.
var knownType = &plan.Function{Name: "type_name", NullOut: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
	name, ok := typeNames[a[0].I]
	if a[0].Null || !ok {
		return types.NullOf(t), nil
	}
	if mod := a[1].I - 4; !a[1].Null && mod >= 0 {
		number := func(x int64) string { return types.IntValue(types.TInt64, x).String() }
		switch a[0].I {
		case 1042, 1043:
			name += "(" + number(mod) + ")"
		case 1700:
			name += "(" + number(mod>>16) + "," + number(mod&0xffff) + ")"
		}
	}
	return types.TextValue(name), nil
}}

// formatType is the name of a type by its number.
func (b *binder) formatType(c *call) plan.Expr {
	known := plan.NewApply(knownType, types.TText, c.pos, b.settle(c.args[0]), b.settle(c.args[1]))
	return b.sqlOver(c.scope, `CASE WHEN p1 IS NOT NULL THEN coalesce(p2, (SELECT quote_ident(typname) FROM pg_catalog.pg_type WHERE oid = p1), '???') END`, c.pos, c.args[0], known)
}

// privileges are what can be asked for, by function. Everything belongs to the only user there is.
var privileges = map[string]string{
	"has_table_privilege":      "SELECT INSERT UPDATE DELETE TRUNCATE REFERENCES TRIGGER RULE",
	"has_any_column_privilege": "SELECT INSERT UPDATE REFERENCES",
	"has_column_privilege":     "SELECT INSERT UPDATE REFERENCES",
	"has_sequence_privilege":   "USAGE SELECT UPDATE",
	"has_schema_privilege":     "CREATE USAGE",
	"has_database_privilege":   "CREATE TEMPORARY TEMP CONNECT",
	"has_function_privilege":   "EXECUTE",
	"has_type_privilege":       "USAGE",
	"pg_has_role":              "MEMBER USAGE",
}

// privilege is true if there is such an object and such a privilege.
func (b *binder) privilege(c *call, words string) plan.Expr {
	objects := 1
	if c.name == "has_column_privilege" {
		objects = 2
	}
	first := len(c.args) - objects - 1 // behind the user
	b.wanted(c, words)
	if first < 0 {
		panic(noFunction(c.name, c.args, c.pos))
	}
	args := c.args[first : len(c.args)-1]
	pos := c.argPos(first)
	kinds := map[string]string{"has_table_privilege": "regclass", "has_any_column_privilege": "regclass", "has_column_privilege": "regclass",
		"has_sequence_privilege": "regclass", "has_schema_privilege": "regnamespace", "has_type_privilege": "regtype", "pg_has_role": "regrole"}
	object := args[0]
	switch kind := kinds[c.name]; {
	case kind != "":
		object = b.regs[b.registered(c.scope, object, kind, pos, true)].oid
	case c.name == "has_database_privilege":
		if k, ok := object.(*plan.Const); ok && !k.V.Null && k.V.Type.Kind != types.Int32 && k.V.S != "kelpie" {
			fail("3D000", pos, "database %q does not exist", k.V.S)
		}
	case c.name == "has_function_privilege":
		if k, ok := object.(*plan.Const); ok && !k.V.Null && !k.V.Type.IsInteger() {
			name, _, _ := strings.Cut(k.V.S, "(")
			b.registered(c.scope, &plan.Const{V: types.TextValue(strings.TrimSpace(name))}, "regproc", pos, true)
		}
	}
	if objects == 2 {
		if k, ok := args[1].(*plan.Const); ok && !k.V.Null && !k.V.Type.IsInteger() {
			b.needColumn(args[0], k.V.S, c.argPos(first+1))
		}
	}
	null := plan.NewCall(plan.IsNull, types.TBool, b.settle(object))
	return &plan.Call{Op: plan.Case, T: types.TBool, Args: []plan.Expr{null, plan.NullConst(types.TBool), &plan.Const{V: types.BoolValue(true)}}, Pos: c.pos}
}

// needColumn checks that the table that a constant names has a column.
func (b *binder) needColumn(table plan.Expr, column string, pos int) {
	k, ok := table.(*plan.Const)
	if !ok || k.V.Null || k.V.Type.IsInteger() {
		return
	}
	n, err := parseName(k.V.S)
	if err != nil {
		return
	}
	schema, name := splitName(n)
	if t, ok := b.env.Table(schema, name); ok && t.Column(column) < 0 {
		fail(diag.UndefinedColumn, pos, "column %q of relation %q does not exist", column, name)
	}
}

// wanted checks the privileges that the last argument names.
func (b *binder) wanted(c *call, words string) {
	last := len(c.args) - 1
	k, ok := c.args[last].(*plan.Const)
	if !ok || k.V.Null {
		return
	}
	for w := range strings.SplitSeq(k.V.S, ",") {
		w = strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(w)), " WITH GRANT OPTION")
		if !slices.Contains(strings.Fields(words), w) {
			fail(diag.InvalidParameter, c.argPos(last), "unrecognized privilege type: %q", strings.TrimSpace(k.V.S))
		}
	}
}

// Configured is an Env whose settings functions can see and change.
type Configured interface {
	Setting(name string) (value string, err error)
	SetSetting(name, value string, local bool) (string, error)
}

// currentSetting is current_setting(name [, whether it may be missing]).
func (b *binder) currentSetting(c *call) plan.Expr {
	env, ok := b.env.(Configured)
	if !ok {
		unsupported(c.pos, "current_setting here")
	}
	fn := &plan.Function{Name: "current_setting", Fails: true, NullOut: true, Volatile: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		if a[0].Null || len(a) > 1 && a[1].Null {
			return types.NullOf(t), nil
		}
		v, err := env.Setting(a[0].S)
		if err != nil && diag.CodeOf(err) == diag.UndefinedObject && len(a) > 1 && a[1].I != 0 {
			return types.NullOf(t), nil
		}
		return types.TextValue(v), err
	}}
	return plan.NewApply(fn, types.TText, c.pos, c.args...)
}

// setConfig is set_config(name, value, whether for the transaction alone).
func (b *binder) setConfig(c *call) plan.Expr {
	env, ok := b.env.(Configured)
	if !ok {
		unsupported(c.pos, "set_config here")
	}
	fn := &plan.Function{Name: "set_config", Fails: true, NullOut: true, Volatile: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		if a[0].Null {
			return types.Value{}, &types.Error{Code: diag.NullNotAllowed, Msg: "SET requires parameter name"}
		}
		v, err := env.SetSetting(a[0].S, a[1].S, !a[2].Null && a[2].I != 0)
		return types.TextValue(v), err
	}}
	return plan.NewApply(fn, types.TText, c.pos, c.args...)
}

// columnSize is how many bytes PostgreSQL stores a value in: a text has one byte more than its own, or four if it is long.
func (b *binder) columnSize(c *call) plan.Expr {
	x := b.settle(c.args[0])
	sizes := map[types.Kind]string{types.Bool: "1", types.Int8: "2", types.Int16: "2", types.Int32: "4", types.Int64: "8", types.Float32: "4", types.Float64: "8", types.Date: "4",
		types.Time: "8", types.TimeTZ: "12", types.Timestamp: "8", types.TimestampTZ: "8", types.Interval: "16", types.UUID: "16", types.Enum: "4"}
	switch size := sizes[x.Type().Kind]; {
	case size != "":
		return b.sqlOver(c.scope, "CASE WHEN p1 IS NOT NULL THEN "+size+" END", c.pos, x)
	case x.Type().Kind == types.Text, x.Type().Kind == types.Bytes, x.Type().Kind == types.JSON:
		return b.sqlOver(c.scope, "octet_length(p1::text) + CASE WHEN octet_length(p1::text) < 127 THEN 1 ELSE 4 END", c.pos, x)
	}
	unsupported(c.pos, "pg_column_size of %s", x.Type().SQLName())
	return nil
}
