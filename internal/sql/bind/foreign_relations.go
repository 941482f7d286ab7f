package bind

import (
	"slices"
	"strings"
)

// foreignRelations are catalogs that PostgreSQL or DuckDB has and we have not.
var foreignRelations = map[string][]string{
	"pg_catalog": strings.Fields(`pg_aggregate pg_amop pg_amproc pg_auth_members pg_authid pg_available_extension_versions pg_available_extensions
		pg_backend_memory_contexts pg_cast pg_config pg_conversion pg_cursors pg_db_role_setting pg_default_acl pg_depend pg_event_trigger pg_file_settings
		pg_foreign_data_wrapper pg_foreign_server pg_foreign_table pg_group pg_hba_file_rules pg_init_privs pg_language pg_largeobject pg_locks pg_opclass pg_operator
		pg_opfamily pg_parameter_acl pg_policies pg_prepared_statements pg_prepared_xacts pg_publication_rel pg_publication_tables pg_range
		pg_replication_origin pg_replication_slots pg_rewrite pg_rules pg_seclabel pg_seclabels pg_shadow pg_shdepend pg_shdescription pg_shmem_allocations
		pg_stat_activity pg_stat_all_indexes pg_stat_archiver pg_stat_bgwriter pg_stat_database pg_stat_progress_vacuum pg_stat_replication pg_stat_ssl
		pg_stat_statements pg_stat_sys_tables pg_stat_user_functions pg_stat_user_indexes pg_stat_wal pg_statio_all_tables pg_statio_user_indexes
		pg_statio_user_tables pg_statistic pg_statistic_ext pg_stats pg_stats_ext pg_subscription pg_timezone_abbrevs pg_timezone_names pg_transform
		pg_ts_config pg_ts_dict pg_ts_parser pg_ts_template pg_user_mapping pg_user_mappings`),
	"information_schema": strings.Fields(`administrable_role_authorizations applicable_roles attributes character_sets check_constraint_routine_usage
		collation_character_set_applicability collations column_column_usage column_domain_usage column_options column_privileges column_udt_usage
		constraint_column_usage constraint_table_usage data_type_privileges domain_constraints domain_udt_usage domains element_types enabled_roles
		foreign_data_wrapper_options foreign_data_wrappers foreign_server_options foreign_servers foreign_table_options foreign_tables
		information_schema_catalog_name parameters role_column_grants role_routine_grants role_table_grants role_udt_grants role_usage_grants
		routine_column_usage routine_privileges routine_routine_usage routine_sequence_usage routine_table_usage routines sql_features
		sql_implementation_info sql_parts sql_sizing table_privileges transforms triggered_update_columns triggers udt_privileges usage_privileges
		user_defined_types user_mapping_options user_mappings view_column_usage view_routine_usage view_table_usage`),
	"": strings.Fields("pragma_database_list sqlite_master sqlite_schema sqlite_temp_master duckdb_columns duckdb_constraints duckdb_schemas duckdb_tables duckdb_types duckdb_views duckdb_logs"),
}

// foreignRelation says what there is instead of a catalog of PostgreSQL or DuckDB; "" if there is none of that name. Without a schema it is
// one of pg_catalog.
func foreignRelation(schema, name string) string {
	switch {
	case schema == "" && slices.Contains(foreignRelations[""], name):
		return "FROM information_schema.tables lists tables and views, information_schema.columns their columns"
	case slices.Contains(foreignRelations[schema], name), schema == "" && slices.Contains(foreignRelations["pg_catalog"], name):
		return "pg_class, pg_attribute, pg_constraint and information_schema.tables, columns and table_constraints are among those that there are"
	}
	return ""
}
