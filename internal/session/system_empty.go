package session

import "github.com/kelpiedb/kelpie/internal/catalog"

// Tools join these with the others; here there is nothing of their kind, or what there is never changes.

// emptyTables are the columns of tables without rows.
var emptyTables = map[string]string{
	"pg_catalog.pg_inherits":              "inhrelid bigint, inhparent bigint, inhseqno int, inhdetachpending bool",
	"pg_catalog.pg_trigger":               "oid bigint, tgrelid bigint, tgparentid bigint, tgname text, tgfoid bigint, tgtype small, tgenabled text, tgisinternal bool, tgconstraint bigint",
	"pg_catalog.pg_policy":                "oid bigint, polname text, polrelid bigint, polcmd text, polpermissive bool, polroles numbers, polqual text, polwithcheck text",
	"pg_catalog.pg_statistic_ext":         "oid bigint, stxrelid bigint, stxname text, stxnamespace bigint, stxkind list, stxstattarget int, stxowner bigint",
	"pg_catalog.pg_rewrite":               "oid bigint, rulename text, ev_class bigint, ev_type text, ev_enabled text, is_instead bool",
	"pg_catalog.pg_depend":                "classid bigint, objid bigint, objsubid int, refclassid bigint, refobjid bigint, refobjsubid int, deptype text",
	"pg_catalog.pg_publication_rel":       "oid bigint, prpubid bigint, prrelid bigint, prqual text, prattrs text",
	"pg_catalog.pg_publication_namespace": "oid bigint, pnpubid bigint, pnnspid bigint",
	"pg_catalog.pg_auth_members":          "roleid bigint, member bigint, grantor bigint, admin_option bool",
	"pg_catalog.pg_cast":                  "oid bigint, castsource bigint, casttarget bigint, castfunc bigint, castcontext text, castmethod text",
	"pg_catalog.pg_opclass":               "oid bigint, opcname text, opcnamespace bigint, opcmethod bigint",
	"pg_catalog.pg_opfamily":              "oid bigint, opfname text, opfnamespace bigint, opfmethod bigint",
	"pg_catalog.pg_shdescription":         "objoid bigint, classoid bigint, description text",
	"pg_catalog.pg_locks":                 "locktype text, database bigint, relation bigint, pid int, mode text, granted bool",
	"pg_catalog.pg_prepared_xacts":        "gid text, owner text, database text",
	"pg_catalog.pg_extension":             "oid bigint, extname text, extowner bigint, extnamespace bigint, extrelocatable bool, extversion text",
	"pg_catalog.pg_matviews":              "schemaname text, matviewname text, matviewowner text, tablespace text, hasindexes bool, ispopulated bool, definition text",
	"pg_catalog.pg_publication":           "oid bigint, pubname text, pubowner bigint, puballtables bool, pubinsert bool, pubupdate bool, pubdelete bool",
	"pg_catalog.pg_partitioned_table":     "partrelid bigint, partstrat text, partnatts small, partdefid bigint",
	"information_schema.triggers":         "trigger_catalog text, trigger_schema text, trigger_name text, event_manipulation text, event_object_schema text, event_object_table text, action_statement text, action_timing text",
	"information_schema.domains":          "domain_catalog text, domain_schema text, domain_name text, data_type text, domain_default text",
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
	systemTables["pg_catalog.pg_language"] = system{"oid bigint, lanname text, lanispl bool, lanpltrusted bool", func(_ *describing, add func(...any)) { add(14, "sql", false, true) }}
	systemTables["pg_catalog.pg_sequence"] = system{"seqrelid bigint, seqtypid bigint, seqstart bigint, seqincrement bigint, seqmax bigint, seqmin bigint, seqcache bigint, seqcycle bool", func(d *describing, add func(...any)) {
		for _, x := range d.relations() {
			if q, ok := x.rel.(*catalog.Sequence); ok {
				add(x.oid, 20, q.Start, q.Increment, q.Max, q.Min, 1, q.Cycle)
			}
		}
	}}
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
