package session

import (
	"slices"
	"strings"
)

// foreignSettings are settings that PostgreSQL or DuckDB has and that mean nothing here, with what there is instead.
var foreignSettings = func() map[string]string {
	hints := map[string]string{}
	for names, hint := range map[string]string{
		"max_memory work_mem maintenance_work_mem temp_buffers effective_cache_size shared_buffers hash_mem_multiplier": "SET memory_limit bounds what a statement takes",
		"temp_directory max_temp_directory_size temp_tablespaces temp_file_limit":                                       "nothing is written to disk: SET memory_limit bounds what a statement takes",
		"worker_threads external_threads max_parallel_workers max_parallel_workers_per_gather max_worker_processes":     "SET threads says how many there are",
		"enable_progress_bar enable_progress_bar_print progress_bar_time":                                               "the shell shows progress by itself",
		`enable_profiling profiling_mode profile_output profiling_output explain_output auto_explain.log_analyze log_statement
			log_min_duration_statement log_query_path track_activities track_io_timing`: "EXPLAIN ANALYZE shows rows and times",
		`enable_seqscan enable_indexscan enable_bitmapscan enable_indexonlyscan enable_hashjoin enable_mergejoin enable_nestloop enable_hashagg enable_sort
			enable_material enable_memoize enable_partition_pruning enable_parallel_hash geqo join_collapse_limit from_collapse_limit random_page_cost seq_page_cost cpu_tuple_cost
			default_statistics_target disabled_optimizers enable_optimizer plan_cache_mode jit jit_above_cost`: "SHOW ALL lists the techniques that can be left out; EXPLAIN (FORMAT plan-json) lets a plan be changed",
		"default_null_order null_order": "write NULLS FIRST or NULLS LAST after a key: NULL counts as the largest value, as in PostgreSQL",
		"preserve_insertion_order":      "ORDER BY says in which order rows come",
		"old_implicit_casting":          "write the cast",
		"calendar default_collation lc_collate lc_ctype lc_messages lc_monetary lc_time lc_numeric": "texts compare byte by byte, and dates are those of the Gregorian calendar",
		"home_directory file_search_path secret_directory custom_user_agent":                        "paths are those of the process",
		`extension_directory allow_unsigned_extensions allow_community_extensions autoinstall_known_extensions autoload_known_extensions autoinstall_extension_repository
			custom_extension_repository shared_preload_libraries`: "nothing has to be installed: what there is, is built in",
		"s3_region s3_endpoint s3_access_key_id s3_secret_access_key s3_session_token s3_url_style s3_use_ssl http_timeout http_proxy enable_http_metadata_cache": "files are those of this machine",
		"wal_autocheckpoint checkpoint_threshold access_mode wal_level fsync full_page_writes max_wal_size":                                                       "tables are in memory: nothing is written",
		"errors_as_json arrow_large_buffer_size lambda_syntax enable_external_access enable_object_cache lock_configuration immediate_transaction_mode":           "there is no other way here",
		"max_connections listen_addresses port data_directory config_file ssl is_superuser session_authorization role":                                            "there is no server; SELECT version() says what this is",
		"max_expression_depth ieee_floating_point_ops": "numbers that overflow are errors, and expressions may be deep",
	} {
		for _, n := range strings.Fields(names) {
			hints[n] = hint
		}
	}
	return hints
}()

// inEffect are settings that scripts of PostgreSQL and DuckDB begin with. Every value that is accepted says how it is anyway.
var inEffect = []setting{
	oneMeaning("bytea_output", "how BYTEA is written: hex", "hex", func(v string) bool { return v == "hex" }),
	oneMeaning("check_function_bodies", "whether CREATE FUNCTION looks at what it is given: it does", "on", anyOf("on", "true", "off", "false")),
	oneMeaning("default_order", "which order a key without one has: ASC", "asc", anyOf("asc", "ascending")),
	oneMeaning("default_table_access_method", "how tables are stored", "heap", anyOf("heap")),
	oneMeaning("default_tablespace", "where tables are stored: in memory", "", anyOf("", "pg_default")),
	oneMeaning("idle_in_transaction_session_timeout", "how long a transaction may wait: without end", "0", anyOf("0")),
	oneMeaning("integer_division", "whether / of integers is an integer: it is", "on", anyOf("on", "true", "1")),
	oneMeaning("lock_timeout", "how long a statement waits for a lock: there are none", "0", func(v string) bool { return v != "" }),
	oneMeaning("row_security", "whether policies hide rows: there are none", "off", anyOf("off", "on", "true", "false")),
	oneMeaning("synchronous_commit", "whether COMMIT waits for a disk: there is none", "off", func(v string) bool { return v != "" }),
	oneMeaning("xmloption", "what XML is: there is none", "content", anyOf("content", "document")),
}

func anyOf(values ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(values, v) }
}
