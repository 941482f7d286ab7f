PRAGMA version
PRAGMA show_tables
PRAGMA show_tables_expanded
PRAGMA table_info('t')
PRAGMA table_info(t)
PRAGMA storage_info('t')
PRAGMA database_list
PRAGMA database_size
PRAGMA show_databases
PRAGMA show('t')
PRAGMA functions
PRAGMA collations
PRAGMA platform
PRAGMA threads=2
PRAGMA threads
PRAGMA memory_limit='1GB'
PRAGMA enable_progress_bar
PRAGMA disable_progress_bar
PRAGMA enable_profiling
PRAGMA disable_profiling
PRAGMA enable_object_cache
PRAGMA enable_optimizer
PRAGMA disable_optimizer
PRAGMA verify_parallelism
PRAGMA enable_verification
PRAGMA user_agent
PRAGMA metadata_info
PRAGMA force_checkpoint
PRAGMA enable_checkpoint_on_shutdown
PRAGMA default_null_order='NULLS LAST'
PRAGMA default_order='ASC'
PRAGMA explain_output='all'
PRAGMA enable_logging
PRAGMA import_database('x')
CALL pragma_version()
CALL duckdb_functions()
CALL pragma_table_info('t')
CALL show_tables()
CALL dbgen(sf=0.001)
CALL dsdgen(sf=0.01)
CALL start_ui()
CALL pragma_database_size()
SELECT * FROM pragma_version()
SELECT * FROM pragma_table_info('t')
SELECT * FROM pragma_show('t')
SELECT name, type FROM pragma_table_info('t')
SELECT * FROM pragma_database_list
SELECT * FROM pragma_storage_info('t')
SELECT * FROM pragma_collations()
SELECT * FROM duckdb_tables()
SELECT * FROM duckdb_columns()
SELECT * FROM duckdb_views()
SELECT * FROM duckdb_schemas()
SELECT * FROM duckdb_functions() LIMIT 3
SELECT function_name FROM duckdb_functions() WHERE function_name = 'abs'
SELECT * FROM duckdb_settings() LIMIT 3
SELECT name, value FROM duckdb_settings() WHERE name = 'threads'
SELECT * FROM duckdb_types() LIMIT 3
SELECT * FROM duckdb_indexes()
SELECT * FROM duckdb_constraints()
SELECT * FROM duckdb_sequences()
SELECT * FROM duckdb_extensions() LIMIT 3
SELECT * FROM duckdb_databases()
SELECT * FROM duckdb_keywords() LIMIT 3
SELECT * FROM duckdb_memory()
SELECT * FROM duckdb_temporary_files()
SELECT * FROM duckdb_optimizers()
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_variables()
SELECT * FROM duckdb_dependencies()
SELECT table_name, estimated_size, column_count FROM duckdb_tables()
SELECT database_name, schema_name, table_name, column_name, data_type FROM duckdb_columns() WHERE table_name = 't'
SELECT * FROM sqlite_master
SELECT name FROM sqlite_master WHERE type = 'table'
SHOW TABLES
SHOW ALL TABLES
SHOW DATABASES
SHOW SCHEMAS
SHOW TABLES FROM main
SHOW ALL
SHOW search_path
SHOW timezone
SHOW TIME ZONE
SHOW server_version
SHOW server_encoding
SHOW client_encoding
SHOW transaction isolation level
SHOW transaction_isolation
SHOW standard_conforming_strings
SHOW DateStyle
SHOW max_connections
SHOW lc_collate
SHOW work_mem
SHOW is_superuser
DESCRIBE t
DESCRIBE SELECT * FROM t
DESCRIBE
DESC t
DESCRIBE TABLE t
DESCRIBE main.t
SUMMARIZE t
SUMMARIZE SELECT a FROM t
SUMMARIZE TABLE t
FROM (SUMMARIZE t)
FROM t
FROM t SELECT a
FROM t LIMIT 2
SET threads = 2
SET threads TO 2
SET memory_limit = '1GB'
SET max_memory = '1GB'
SET temp_directory = '/tmp'
SET default_null_order = 'nulls_last'
SET default_order = 'ASC'
SET preserve_insertion_order = false
SET enable_progress_bar = true
SET schema = 'main'
SET schema 'public'
SET search_path = 'main'
SET search_path TO public
SET search_path TO public, pg_catalog
SET VARIABLE x = 5
SELECT getvariable('x')
RESET VARIABLE x
SET GLOBAL threads = 2
SET SESSION threads = 2
SET LOCAL threads = 2
RESET threads
RESET ALL
RESET SESSION AUTHORIZATION
SET TimeZone = 'UTC'
SET TIME ZONE 'UTC'
SET TIME ZONE LOCAL
SET TIME ZONE DEFAULT
SET timezone TO DEFAULT
SET statement_timeout = 0
SET statement_timeout = '10s'
SET lock_timeout = 0
SET idle_in_transaction_session_timeout = 0
SET client_encoding = 'UTF8'
SET NAMES 'UTF8'
SET client_min_messages = warning
SET standard_conforming_strings = on
SET extra_float_digits = 3
SET application_name = 'x'
SET datestyle = 'ISO, MDY'
SET datestyle TO ISO
SET intervalstyle = 'postgres'
SET bytea_output = 'hex'
SET work_mem = '64MB'
SET maintenance_work_mem = '64MB'
SET enable_seqscan = off
SET enable_hashjoin = off
SET max_parallel_workers_per_gather = 4
SET jit = off
SET row_security = off
SET xmloption = content
SET default_tablespace = ''
SET default_table_access_method = heap
SET check_function_bodies = false
SET synchronous_commit = off
SET random_page_cost = 1.1
SET effective_cache_size = '4GB'
SET geqo = off
SET join_collapse_limit = 1
SET constraints all deferred
SET CONSTRAINTS ALL IMMEDIATE
SET role none
SET ROLE postgres
SET SESSION AUTHORIZATION DEFAULT
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED
BEGIN; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
BEGIN; SET TRANSACTION READ ONLY
SET enable_object_cache = true
SET s3_region = 'us-east-1'
SET home_directory = '/tmp'
SET autoinstall_known_extensions = true
SET allow_unsigned_extensions = true
SET explain_output = 'all'
SET enable_profiling = 'json'
SET errors_as_json = true
SET integer_division = true
SET old_implicit_casting = true
SET Calendar = 'gregorian'
SET wal_autocheckpoint = '1GB'
SET checkpoint_threshold = '1GB'
SET access_mode = 'automatic'
SET file_search_path = '/tmp'
SET lambda_syntax = 'DEFAULT'
SELECT current_setting('threads')
SELECT current_setting('server_version')
SELECT current_setting('server_version_num')
SELECT current_setting('search_path')
SELECT current_setting('nope', true)
SELECT set_config('search_path', 'public', false)
SELECT version()
SELECT current_database()
SELECT current_schema()
SELECT current_schema
SELECT current_schemas(true)
SELECT current_user
SELECT session_user
SELECT current_catalog
SELECT user
SELECT pg_backend_pid()
SELECT pg_is_in_recovery()
SELECT inet_server_addr()
SELECT pg_postmaster_start_time()
SELECT pg_table_size('t')
SELECT pg_total_relation_size('t')
SELECT pg_relation_size('t')
SELECT pg_size_pretty(pg_total_relation_size('t'))
SELECT pg_database_size(current_database())
SELECT pg_size_pretty(pg_database_size('main'))
SELECT 't'::regclass
SELECT 't'::regclass::oid
SELECT to_regclass('t')
SELECT to_regtype('int4')
SELECT 'int4'::regtype
SELECT oid FROM pg_class WHERE relname = 't'
SELECT pg_typeof(1)
SELECT format_type(23, NULL)
SELECT pg_get_viewdef('v'::regclass)
SELECT pg_get_userbyid(10)
SELECT pg_encoding_to_char(6)
SELECT has_table_privilege('t', 'select')
SELECT has_schema_privilege('public', 'usage')
SELECT obj_description('t'::regclass)
SELECT col_description('t'::regclass, 1)
SELECT pg_table_is_visible('t'::regclass)
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef
SELECT pg_get_constraintdef(oid) FROM pg_constraint
SELECT pg_get_indexdef(indexrelid) FROM pg_index
SELECT pg_sleep(0)
SELECT txid_current()
SELECT pg_current_wal_lsn()
SELECT pg_cancel_backend(1)
SELECT pg_terminate_backend(1)
SELECT pg_reload_conf()
SELECT pg_advisory_lock(1)
SELECT * FROM information_schema.tables
SELECT * FROM information_schema.columns WHERE table_name = 't'
SELECT * FROM information_schema.schemata
SELECT * FROM information_schema.views
SELECT * FROM information_schema.table_constraints
SELECT * FROM information_schema.key_column_usage
SELECT * FROM information_schema.constraint_column_usage
SELECT * FROM information_schema.referential_constraints
SELECT * FROM information_schema.check_constraints
SELECT * FROM information_schema.routines
SELECT * FROM information_schema.sequences
SELECT * FROM information_schema.character_sets
SELECT * FROM information_schema.triggers
SELECT * FROM information_schema.table_privileges
SELECT * FROM information_schema.applicable_roles
SELECT * FROM information_schema.enabled_roles
SELECT * FROM information_schema.parameters
SELECT * FROM information_schema.domains
SELECT * FROM information_schema.sql_features
SELECT catalog_name FROM information_schema.information_schema_catalog_name
SELECT * FROM pg_tables
SELECT * FROM pg_catalog.pg_tables WHERE schemaname = 'public'
SELECT * FROM pg_views
SELECT * FROM pg_indexes
SELECT * FROM pg_class
SELECT * FROM pg_attribute
SELECT * FROM pg_namespace
SELECT * FROM pg_type
SELECT * FROM pg_proc LIMIT 1
SELECT * FROM pg_database
SELECT * FROM pg_index
SELECT * FROM pg_constraint
SELECT * FROM pg_attrdef
SELECT * FROM pg_description
SELECT * FROM pg_depend
SELECT * FROM pg_enum
SELECT * FROM pg_settings
SELECT * FROM pg_stat_activity
SELECT * FROM pg_stat_user_tables
SELECT * FROM pg_stat_all_tables
SELECT * FROM pg_stat_database
SELECT * FROM pg_stats
SELECT * FROM pg_locks
SELECT * FROM pg_roles
SELECT * FROM pg_user
SELECT * FROM pg_authid
SELECT * FROM pg_group
SELECT * FROM pg_extension
SELECT * FROM pg_available_extensions
SELECT * FROM pg_timezone_names LIMIT 1
SELECT * FROM pg_timezone_abbrevs LIMIT 1
SELECT * FROM pg_sequences
SELECT * FROM pg_matviews
SELECT * FROM pg_tablespace
SELECT * FROM pg_trigger
SELECT * FROM pg_language
SELECT * FROM pg_am
SELECT * FROM pg_operator LIMIT 1
SELECT * FROM pg_collation LIMIT 1
SELECT * FROM pg_inherits
SELECT * FROM pg_rewrite
SELECT * FROM pg_statistic
SELECT * FROM pg_prepared_statements
SELECT * FROM pg_cursors
SELECT * FROM pg_publication
SELECT * FROM pg_policy
SELECT * FROM pg_foreign_table
SELECT * FROM pg_range
SELECT * FROM pg_stat_statements
SELECT * FROM pg_shadow
SELECT * FROM pg_aggregate LIMIT 1
SELECT * FROM pg_partitioned_table
SELECT * FROM pg_event_trigger
SELECT * FROM pg_statio_user_tables
SELECT * FROM pg_shdescription
SELECT * FROM pg_cast LIMIT 1
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r','p','v','m','S','f','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2
SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation, a.attidentity, a.attgenerated FROM pg_catalog.pg_attribute a WHERE a.attrelid = 't'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
SELECT d.datname as "Name", pg_catalog.pg_get_userbyid(d.datdba) as "Owner", pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding", d.datcollate as "Collate", d.datctype as "Ctype" FROM pg_catalog.pg_database d ORDER BY 1
SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2
SELECT column_name, data_type, is_nullable, column_default, character_maximum_length, numeric_precision, numeric_scale FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 't' ORDER BY ordinal_position
SELECT kcu.column_name FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kcu ON tc.constraint_name = kcu.constraint_name WHERE tc.constraint_type = 'PRIMARY KEY' AND tc.table_name = 't'
SELECT t.typname, e.enumlabel FROM pg_type t JOIN pg_enum e ON t.oid = e.enumtypid ORDER BY 1, e.enumsortorder
SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY 1
SELECT relname, n_live_tup FROM pg_stat_user_tables ORDER BY n_live_tup DESC
SELECT schemaname, tablename, attname, n_distinct, null_frac FROM pg_stats WHERE tablename = 't'
ATTACH 'x.db'
ATTACH 'x.db' AS x
ATTACH ':memory:' AS mem
ATTACH IF NOT EXISTS 'x.db' AS x (READ_ONLY)
ATTACH 'dbname=x' AS pg (TYPE postgres)
DETACH x
DETACH DATABASE IF EXISTS x
USE main
USE memory.main
USE x
INSTALL httpfs
LOAD httpfs
INSTALL spatial FROM community
FORCE INSTALL httpfs
UPDATE EXTENSIONS
EXPORT DATABASE 'dir'
EXPORT DATABASE 'dir' (FORMAT parquet)
IMPORT DATABASE 'dir'
CHECKPOINT
FORCE CHECKPOINT
CHECKPOINT main
VACUUM
VACUUM t
VACUUM FULL t
VACUUM ANALYZE t
VACUUM (VERBOSE, ANALYZE) t
ANALYZE
ANALYZE t
ANALYZE VERBOSE t
ANALYZE t (a)
REINDEX TABLE t
REINDEX DATABASE main
CLUSTER t
COMMENT ON TABLE t IS 'a table'
COMMENT ON COLUMN t.a IS 'a column'
COMMENT ON VIEW v IS 'x'
COMMENT ON DATABASE main IS 'x'
COMMENT ON SCHEMA public IS 'x'
CREATE VIEW v1 AS SELECT 1 AS a
CREATE OR REPLACE VIEW v1 AS SELECT 2 AS a
CREATE VIEW IF NOT EXISTS v1 AS SELECT 3 AS a
CREATE TEMP VIEW v2 AS SELECT * FROM t
CREATE TEMPORARY VIEW v22 (x) AS SELECT a FROM t
CREATE RECURSIVE VIEW nums (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM nums WHERE n < 5
CREATE MATERIALIZED VIEW mv AS SELECT 1
REFRESH MATERIALIZED VIEW mv
DROP MATERIALIZED VIEW mv
CREATE TABLE c1 AS SELECT * FROM t
CREATE TABLE IF NOT EXISTS c1 AS SELECT * FROM t
CREATE OR REPLACE TABLE c1 AS SELECT 1 AS a
CREATE TEMP TABLE c2 AS SELECT * FROM t
CREATE TEMPORARY TABLE c3 (a int) ON COMMIT DROP
CREATE TEMP TABLE c33 (a int) ON COMMIT PRESERVE ROWS
CREATE UNLOGGED TABLE c4 (a int)
CREATE TABLE c5 (LIKE t)
CREATE TABLE c55 (LIKE t INCLUDING ALL)
CREATE TABLE c6 AS FROM t
CREATE TABLE c7 (x, y) AS SELECT a, b FROM t
CREATE TABLE c8 AS SELECT * FROM t WITH NO DATA
CREATE TABLE c88 AS SELECT * FROM t WITH DATA
CREATE TABLE c9 AS TABLE t
CREATE TABLE c10 AS VALUES (1, 'a'), (2, 'b')
CREATE TABLE c12 (a int) WITH (fillfactor = 70)
CREATE TABLE c13 (a int) TABLESPACE pg_default
CREATE TABLE c14 (a int) PARTITION BY RANGE (a)
CREATE TABLE c15 (a int) INHERITS (t)
CREATE TABLE c16 PARTITION OF c14 FOR VALUES FROM (1) TO (10)
CREATE FOREIGN TABLE c17 (a int) SERVER s
SELECT a INTO c18 FROM t
SELECT a INTO TEMP c19 FROM t
CREATE TABLE pos (id int PRIMARY KEY, n varchar(20) DEFAULT 'x', t timestamp DEFAULT now())
CREATE INDEX i1 ON t (a)
CREATE UNIQUE INDEX i2 ON keyed (id)
CREATE INDEX CONCURRENTLY i3 ON t (a)
CREATE INDEX i4 ON t USING btree (a)
CREATE INDEX i5 ON t USING gin (s)
CREATE INDEX IF NOT EXISTS i1 ON t (a)
CREATE INDEX i1 ON t (a); DROP INDEX i1
DROP INDEX IF EXISTS nope
CREATE SEQUENCE sq START 1
SELECT nextval('numbers')
CREATE SCHEMA IF NOT EXISTS s1
CREATE SCHEMA s1; DROP SCHEMA s1 CASCADE
CREATE DATABASE d
DROP DATABASE d
ALTER DATABASE d RENAME TO e
ALTER DATABASE main SET TimeZone = 'UTC'
CREATE USER u
CREATE USER u WITH PASSWORD 'x'
CREATE ROLE r
ALTER USER u SET search_path = x
ALTER ROLE r LOGIN
DROP USER u
DROP ROLE r
GRANT SELECT ON t TO PUBLIC
GRANT ALL PRIVILEGES ON ALL TABLES IN SCHEMA public TO u
REVOKE ALL ON t FROM PUBLIC
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC
ALTER TABLE t OWNER TO postgres
CREATE EXTENSION IF NOT EXISTS pg_trgm
CREATE EXTENSION keyedtgis
DROP EXTENSION pg_trgm
CREATE TYPE mood AS ENUM ('a', 'b')
CREATE TYPE pt AS (x int, y int)
CREATE TYPE pts AS STRUCT(x INTEGER)
CREATE DOMAIN dom AS int CHECK (VALUE > 0)
CREATE MACRO add1(a) AS a + 1
CREATE OR REPLACE MACRO add1(a) AS a + 1
CREATE TEMP MACRO add2(a) AS a + 2
CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'select a'
CREATE FUNCTION g() RETURNS int LANGUAGE plpgsql AS 'begin return 1 end'
CREATE PROCEDURE p() LANGUAGE sql AS 'select 1'
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()
CREATE RULE r AS ON INSERT TO t DO NOTHING
CREATE POLICY p ON t
CREATE AGGREGATE ag (int) (sfunc = int4pl, stype = int)
CREATE OPERATOR === (leftarg = int, rightarg = int, procedure = int4eq)
CREATE CAST (int AS text) WITH FUNCTION f(int)
CREATE COLLATION c FROM "C"
CREATE STATISTICS st ON a, b FROM t
CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw
CREATE PUBLICATION p FOR ALL TABLES
CREATE SECRET (TYPE s3, KEY_ID 'x', SECRET 'y')
DROP SECRET x
DO 'BEGIN RAISE NOTICE 1 END'
LISTEN ch
NOTIFY ch, 'x'
UNLISTEN *
LOCK TABLE t IN ACCESS SHARE MODE
DECLARE c CURSOR FOR SELECT * FROM t
FETCH 2 FROM c
MOVE NEXT FROM c
CLOSE c
DISCARD ALL
DEALLOCATE ALL
PREPARE q AS SELECT * FROM t WHERE a = $1
PREPARE q AS SELECT * FROM t WHERE a = $1; EXECUTE q(1)
PREPARE q AS SELECT * FROM t WHERE a = $1; DEALLOCATE q
PREPARE q2 (int) AS SELECT $1 + 1
PREPARE q2 (int) AS SELECT $1 + 1; EXECUTE q2 (4)
BEGIN
START TRANSACTION
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ
BEGIN READ ONLY
BEGIN; COMMIT
BEGIN; ROLLBACK
BEGIN; ABORT
BEGIN; END
BEGIN; COMMIT AND CHAIN
BEGIN; SAVEPOINT a
PREPARE TRANSACTION 'x'
EXPLAIN SELECT * FROM t
EXPLAIN ANALYZE SELECT * FROM t
EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM t
EXPLAIN (FORMAT JSON) SELECT * FROM t
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM t
EXPLAIN VERBOSE SELECT * FROM t
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) SELECT 1
EXPLAIN INSERT INTO t SELECT * FROM t
EXPLAIN CREATE TABLE x AS SELECT 1
COPY t TO STDOUT
COPY t TO STDOUT WITH CSV HEADER
COPY (SELECT 1) TO STDOUT (FORMAT csv)
COPY t TO STDOUT WITH (FORMAT csv, HEADER true, DELIMITER ';')
COPY FROM DATABASE a TO b
TABLE t
VALUES (1), (2)
SELECT * FROM t FOR UPDATE
SELECT * FROM t FETCH FIRST 2 ROWS ONLY
SELECT * FROM t OFFSET 1 ROW FETCH NEXT 1 ROW ONLY
SELECT * FROM t TABLESAMPLE BERNOULLI (50)
SELECT * FROM t USING SAMPLE 2
SELECT * FROM t USING SAMPLE 10%
SELECT * FROM ONLY t
SELECT ALL a FROM t
SELECT DISTINCT ON (a) * FROM t
SELECT * EXCLUDE (a) FROM t
SELECT * REPLACE (a + 1 AS a) FROM t
SELECT COLUMNS('a|b') FROM t
SELECT count() FROM t
SELECT a.* FROM t a
SELECT rowid, * FROM t LIMIT 1
SELECT ctid FROM t
SELECT xmin FROM t
SELECT tableoid FROM t
SELECT 1 == 1
SELECT 7 // 2
SELECT 2 ** 3
SELECT 2 ^ 3
SELECT 'a' COLLATE "C"
SELECT 'a' COLLATE nocase
SELECT E'a\nb'
SELECT U&'d\0061t'
SELECT $$x$$
SELECT 0xff
SELECT 1_000
SELECT INTERVAL 1 DAY
SELECT INTERVAL (1) DAY
SELECT DATE '2020-01-01' + INTERVAL '1' MONTH
SELECT today()
SELECT now()::date
SELECT current_date - 1
SELECT epoch(now()) > 0
SELECT strftime(DATE '2020-01-01', '%Y')
SELECT date_diff('day', DATE '2020-01-01', DATE '2020-02-01')
SELECT list_value(1, 2)
SELECT [1, 2][1]
SELECT {'a': 1}.a
SELECT MAP {'a': 1}['a']
SELECT struct_pack(a := 1)
SELECT unnest([1, 2])
SELECT range(3)
SELECT * FROM range(3)
SELECT * FROM repeat('x', 2)
SELECT * FROM glob('*')
SELECT * FROM read_text('x.txt')
SELECT * FROM read_blob('x.bin')
SELECT * FROM parquet_metadata('x.parquet')
SELECT * FROM parquet_schema('x.parquet')
SELECT * FROM postgres_scan('x', 'y', 'z')
SELECT * FROM sqlite_scan('x', 'y')
SELECT * FROM iceberg_scan('x')
SELECT * FROM delta_scan('x')
SELECT * FROM test_all_types()
SELECT * FROM generate_series(1, 3)
SELECT * FROM query('select 1')
SELECT * FROM query_table('t')
SELECT uuid()
SELECT gen_random_uuid()
SELECT hash('x')
SELECT md5('x')
SELECT typeof(1)
SELECT alias(a) FROM t LIMIT 1
SELECT stats(a) FROM t LIMIT 1
SELECT format('{} {}', 1, 2)
SELECT if(true, 1, 2)
SELECT ifnull(NULL, 1)
SELECT nvl(NULL, 1)
SELECT TRY_CAST('x' AS int)
SELECT CAST('1' AS int)
SELECT arg_max(a, b), first(a), any_value(a) FROM t
SELECT string_agg(s, ','), group_concat(s), listagg(s, ',') FROM t
SELECT approx_quantile(a, 0.5), quantile_cont(a, 0.5), median(a), mode(a) FROM t
SELECT row_number() OVER () FROM t
SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a) = 1
SELECT * FROM t ORDER BY ALL
SELECT a, count(*) FROM t GROUP BY ALL
PIVOT t ON a USING count(*)
UNPIVOT t ON a, b
SELECT * FROM t PIVOT (count(*) FOR a IN (1, 2))
INSERT INTO t (a, b) VALUES (1, 2)
INSERT INTO t BY NAME SELECT 1 AS a
INSERT INTO t DEFAULT VALUES
INSERT OR REPLACE INTO keyed (id) VALUES (1)
INSERT INTO keyed (id) VALUES (1) ON CONFLICT DO NOTHING
INSERT INTO t SELECT * FROM t RETURNING a
UPDATE t SET a = 1 WHERE a = 2 RETURNING *
DELETE FROM t WHERE a = 99
TRUNCATE t
TRUNCATE TABLE t RESTART IDENTITY CASCADE
ALTER TABLE t ADD COLUMN z int DEFAULT 1
ALTER TABLE t RENAME y TO z
ALTER TABLE t ALTER y TYPE bigint
ALTER TABLE t ALTER COLUMN y SET DATA TYPE text USING y::text
ALTER TABLE t DROP COLUMN IF EXISTS y
ALTER TABLE t SET (fillfactor = 70)
ALTER TABLE t ENABLE ROW LEVEL SECURITY
ALTER TABLE t CLUSTER ON i
ALTER VIEW v RENAME TO v9
ALTER SEQUENCE numbers RESTART WITH 5
ALTER SYSTEM SET work_mem = '1MB'
DROP TABLE IF EXISTS nope
DROP VIEW IF EXISTS nope CASCADE
KILL 1
SHOW CREATE TABLE t
SHOW COLUMNS FROM t
SHOW INDEX FROM t
SHOW VARIABLES
SHOW FUNCTIONS
SHOW PROCESSLIST
SHOW EXTENSIONS
REPLACE INTO t VALUES (1)
MERGE INTO keyed USING t ON keyed.id = t.a WHEN MATCHED THEN DELETE
