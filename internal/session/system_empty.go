package session

import "github.com/kelpiedb/kelpie/internal/catalog"

// Tools join these with the others; here there is nothing of their kind, or what there is never changes.

// emptyTables are the columns of tables without rows.
var emptyTables = map[string]string{
	"pg_catalog.pg_inherits":          "inhrelid bigint, inhparent bigint, inhseqno int, inhdetachpending bool",
	"pg_catalog.pg_trigger":           "oid bigint, tgrelid bigint, tgparentid bigint, tgname text, tgfoid bigint, tgtype small, tgenabled text, tgisinternal bool, tgconstraint bigint",
	"pg_catalog.pg_policy":            "oid bigint, polname text, polrelid bigint, polcmd text, polpermissive bool",
	"pg_catalog.pg_extension":         "oid bigint, extname text, extowner bigint, extnamespace bigint, extrelocatable bool, extversion text",
	"pg_catalog.pg_matviews":          "schemaname text, matviewname text, matviewowner text, tablespace text, hasindexes bool, ispopulated bool, definition text",
	"pg_catalog.pg_publication":       "oid bigint, pubname text, pubowner bigint, puballtables bool, pubinsert bool, pubupdate bool, pubdelete bool",
	"pg_catalog.pg_partitioned_table": "partrelid bigint, partstrat text, partnatts small, partdefid bigint",
	"information_schema.triggers":     "trigger_catalog text, trigger_schema text, trigger_name text, event_manipulation text, event_object_schema text, event_object_table text, action_statement text, action_timing text",
	"information_schema.domains":      "domain_catalog text, domain_schema text, domain_name text, data_type text, domain_default text",
}

// addEmptyTables adds them, and the others that are the same for everyone.
func addEmptyTables() {
	for name, columns := range emptyTables {
		systemTables[name] = system{columns, func(*describing, func(...any)) {}}
	}
	systemTables["pg_catalog.pg_am"] = system{"oid bigint, amname text, amtype text", func(_ *describing, add func(...any)) { add(2, "heap", "t") }}
	systemTables["pg_catalog.pg_collation"] = system{"oid bigint, collname text, collnamespace bigint, collowner bigint, collprovider text, collencoding int", func(d *describing, add func(...any)) {
		add(950, "C", d.schemaOID("pg_catalog"), 10, "c", -1)
	}}
	systemTables["pg_catalog.pg_tablespace"] = system{"oid bigint, spcname text, spcowner bigint", func(_ *describing, add func(...any)) { add(1663, "pg_default", 10) }}
	systemTables["pg_catalog.pg_user"] = system{"usename text, usesysid bigint, usecreatedb bool, usesuper bool", func(_ *describing, add func(...any)) { add(database, 10, true, true) }}
	systemTables["information_schema.information_schema_catalog_name"] = system{"catalog_name text", func(_ *describing, add func(...any)) { add(database) }}
	for _, name := range []string{"pg_stat_user_tables", "pg_stat_all_tables"} {
		systemTables["pg_catalog."+name] = system{"relid bigint, schemaname text, relname text, n_live_tup bigint, n_dead_tup bigint", func(d *describing, add func(...any)) {
			d.tables(func(x *described, t *catalog.Table, _ *catalog.View) {
				if t != nil && !x.isSystem {
					add(x.oid, x.schema, x.name, t.Snapshot().Rows, 0)
				}
			})
		}}
	}
}
