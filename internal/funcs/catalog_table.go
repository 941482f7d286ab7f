package funcs

// catalogRows look at the catalog, or at the session: the binder makes queries of them.
var catalogRows = []Row{
	made("col_description", "*i", ""),
	made("current_schemas", "b", "current_schemas(false) → {public}"),
	made("current_setting", "t?b", "current_setting('timezone') → UTC"),
	made("format_type", "ii", "format_type(1043, 14) → character varying(10)"),
	made("has_any_column_privilege", "**?t", ""),
	made("has_column_privilege", "***?t", ""),
	made("has_database_privilege", "**?t", ""),
	made("has_function_privilege", "**?t", ""),
	made("has_schema_privilege", "**?t", ""),
	made("has_sequence_privilege", "**?t", ""),
	made("has_table_privilege", "**?t", ""),
	made("has_type_privilege", "**?t", ""),
	made("obj_description", "*?t", ""),
	made("pg_backend_pid", "", ""),
	made("pg_column_size", "*", "pg_column_size(1) → 4"),
	made("pg_database_size", "*", ""),
	made("pg_encoding_to_char", "i", "pg_encoding_to_char(6) → UTF8"),
	made("pg_function_is_visible", "i", ""),
	made("pg_get_constraintdef", "i?b", ""),
	made("pg_get_expr", "ti?b", ""),
	made("pg_get_indexdef", "i?ib", ""),
	made("pg_get_userbyid", "i", "pg_get_userbyid(10) → kelpie"),
	made("pg_get_viewdef", "*?*", ""),
	made("pg_has_role", "**?t", ""),
	made("pg_indexes_size", "*", ""),
	made("pg_is_in_recovery", "", "pg_is_in_recovery() → false"),
	made("pg_is_other_temp_schema", "i", ""),
	made("pg_my_temp_schema", "", ""),
	made("pg_relation_size", "*?t", ""),
	made("pg_table_is_visible", "i", ""),
	made("pg_table_size", "*", ""),
	made("pg_total_relation_size", "*", ""),
	made("pg_type_is_visible", "i", ""),
	made("set_config", "ttb", ""),
	made("shobj_description", "it", ""),
	made("to_regclass", "t", ""),
	made("to_regnamespace", "t", ""),
	made("to_regrole", "t", ""),
	made("to_regtype", "t", "to_regtype('int') → integer"),
}

// LooksAtCatalog reports a function whose value depends on what there is in the database, or on the session.
func LooksAtCatalog(name string) bool {
	for i := range catalogRows {
		if catalogRows[i].Name == name {
			return true
		}
	}
	return false
}
