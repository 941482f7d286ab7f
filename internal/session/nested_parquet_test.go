package session

import (
	"fmt"
	"strings"
	"testing"
)

// TestNestedParquetOfOthers reads a file that DuckDB wrote: lists, structs and maps in each other, NULL or empty at every level.
// The expected rows are what DuckDB says.
func TestNestedParquetOfOthers(t *testing.T) {
	s := New(NewDB())
	from := " FROM 'testdata/files/nested.parquet'"
	for _, c := range []struct{ q, rows string }{
		{"SELECT s" + from + " WHERE i IN (0, 1, 11) ORDER BY i", "NULL\n{'a': 1, 'b': x1, 'l': [1, NULL, 2]}\n{'a': 11, 'b': x11, 'l': [11, NULL, 12]}\n"},
		{"SELECT i, l" + from + " WHERE i BETWEEN 4 AND 7 ORDER BY i",
			"4|[{'q': 4, 'd': 2020-01-05}, NULL]\n5|NULL\n6|[]\n7|[{'q': 7, 'd': 2020-01-08}, NULL]\n"},
		{"SELECT m, ll, t, u, ts, bo, deep" + from + " WHERE i = 3",
			"{k3=3, z=NULL}|{{3.000},{},NULL}|{{a,NULL},NULL}|{3,255}|{\"2020-01-01 03:00:00\"}|{t,f}|{'n': {'m': [3]}}\n"},
		{"SELECT sum(s.a), sum(deep.n.m[1]), sum(cardinality(m)), count(s), count(l), sum(len(l)), sum(l[1].q)" + from, "59|66|24|10|9|12|33\n"},
		{"SELECT count(*)" + from + " WHERE s IS NULL AND l[2] IS NULL AND m['z'] IS NULL", "2\n"},
		{"SELECT u.q, count(*) FROM (SELECT unnest(l) AS u" + from + ") x GROUP BY u.q ORDER BY 1 LIMIT 2", "2|1\n3|1\n"},
		{"CREATE TABLE n AS SELECT *" + from + "; SELECT count(*) FROM (SELECT * FROM n EXCEPT SELECT *" + from + ") x", "0\n"},
		{"CREATE TABLE c (i BIGINT, s STRUCT(a INTEGER, b VARCHAR, l VARCHAR[]), rest VARCHAR); INSERT INTO c SELECT i, s, m" + from +
			"; SELECT s, rest FROM c WHERE i = 1", "{'a': 1, 'b': x1, 'l': [1, NULL, 2]}|{k1=1, z=NULL}\n"},
	} {
		if got := rowsOf(t, s, c.q); got != c.rows {
			t.Errorf("%s:\n%swant\n%s", c.q, got, c.rows)
		}
	}
}

// TestNestedFilesRoundTrip writes nested values in every format that has them, over several row groups, and reads them again.
func TestNestedFilesRoundTrip(t *testing.T) {
	dir := t.TempDir()
	s := New(NewDB())
	exec := func(q string) string { t.Helper(); return rowsOf(t, s, q) }
	exec("SET threads = 3")
	exec(`CREATE TABLE n AS SELECT i,
		CASE i % 4 WHEN 0 THEN null WHEN 1 THEN {'a': null, 'b': null} WHEN 2 THEN {'a': i, 'b': []::text[]} ELSE {'a': -i, 'b': ['ü' || i, null, '', 'a, "b"']} END AS s,
		CASE i % 5 WHEN 0 THEN null WHEN 1 THEN [] WHEN 2 THEN [null] ELSE [[{'x': i}, null], [], null] END AS l,
		CASE i % 3 WHEN 0 THEN null WHEN 1 THEN MAP {}::MAP(BIGINT, STRUCT(d DATE, t TIMESTAMPTZ, n DECIMAL(30,4))) ELSE
			MAP {i: {'d': date '2000-02-29' + i::int, 't': timestamptz '2020-01-01 00:00:00+00', 'n': i / 3.0}, 0: null} END AS m,
		CASE WHEN i % 6 > 0 THEN [i % 2 = 0, null, true] END AS f, [1.5::real, 'NaN', null] AS r, ['\x00ff'::bytea, null] AS y,
		['00000000-0000-0000-0000-000000000001'::uuid] AS u
		FROM generate_series(1, 1000) g(i)`)
	exec("COPY n TO '" + dir + "/n.parquet' (ROW_GROUP_SIZE 130)")
	for _, q := range []string{
		"SELECT * FROM n EXCEPT ALL SELECT i, s, l, m, f, r, y, u::uuid[] FROM '" + dir + "/n.parquet'",
		"SELECT i, s, l, m, f, r, y, u::uuid[] FROM '" + dir + "/n.parquet' EXCEPT ALL SELECT * FROM n",
	} {
		if got := exec("SELECT count(*) FROM (" + q + ") x"); got != "0\n" {
			t.Errorf("%s: %s", q, got)
		}
	}
	exec("CREATE TABLE back AS SELECT * FROM n WHERE false; COPY back FROM '" + dir + "/n.parquet'")
	if got := exec("SELECT count(*) FROM (SELECT * FROM n EXCEPT ALL SELECT * FROM back) x"); got != "0\n" {
		t.Errorf("COPY FROM: %s", got)
	}
	// Rows that pass a filter by the pages of another column.
	if got := exec("SELECT sum(s.a), count(l) FROM '" + dir + "/n.parquet' WHERE i BETWEEN 500 AND 510"); got != exec("SELECT sum(s.a), count(l) FROM n WHERE i BETWEEN 500 AND 510") {
		t.Errorf("filtered: %s", got)
	}
	for _, format := range []string{"json", "csv"} {
		path := fmt.Sprintf("%s/n.%s", dir, format)
		exec("COPY (SELECT i, s, l, m, f FROM n) TO '" + path + "'; CREATE TABLE b" + format + " AS SELECT i, s, l, m, f FROM n WHERE false; COPY b" + format + " FROM '" + path + "'")
		if got := exec("SELECT count(*) FROM (SELECT i, s, l, m, f FROM n EXCEPT ALL SELECT * FROM b" + format + ") x"); got != "0\n" {
			t.Errorf("%s: %s", format, got)
		}
	}
	exec("COPY n TO '" + dir + "/n.arrow'")
	if got := failure(t, s, "COPY (SELECT [interval '1 day'] AS x) TO '"+dir+"/x.parquet'"); !strings.Contains(got, "0A000") {
		t.Error(got)
	}
}
