package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHiveFolders: the names of folders are columns like others, under all settings that concern files.
func TestHiveFolders(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	rowsOf(t, s, `CREATE TABLE t (id INTEGER, v DOUBLE, year BIGINT, month BIGINT, country VARCHAR, day DATE)`)
	folder := func(parts ...string) string {
		path := filepath.Join(append([]string{dir, "set"}, parts...)...)
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
		return path
	}
	id := 0
	for _, year := range []string{"2023", "2024"} {
		for _, month := range []string{"01", "02", "12"} {
			for _, country := range []string{"DE", "long name / with %2F", "", "__HIVE_DEFAULT_PARTITION__"} {
				day := year + "-" + month + "-28"
				rows := 100
				if country == "" {
					rows = 0
				}
				value := "'" + country + "'"
				if country == "__HIVE_DEFAULT_PARTITION__" {
					value = "NULL"
				}
				text := fmt.Sprintf("SELECT CAST(range AS INTEGER) AS id, CAST(range AS DOUBLE) / 4 AS v FROM range(%d, %d) ORDER BY id", id, id+rows)
				path := folder("year="+year, "month="+month, "country="+strings.NewReplacer("%", "%25", "/", "%2F").Replace(country), "day="+day)
				rowsOf(t, s, "COPY ("+text+") TO '"+path+"/x.parquet' (ROW_GROUP_SIZE 40)")
				rowsOf(t, s, fmt.Sprintf("INSERT INTO t SELECT id, v, %s, %s, %s, DATE '%s' FROM (%s) x", year, month, value, day, text))
				id += rows
			}
		}
	}
	from := "'" + dir + "/set/**/*.parquet'"
	if got, want := rowsOf(t, s, "DESCRIBE "+from), "id|INTEGER|NO\nv|DOUBLE|NO\nyear|BIGINT|NO\nmonth|BIGINT|NO\ncountry|VARCHAR|YES\nday|DATE|NO\n"; got != want {
		t.Errorf("columns\n%swant\n%s", got, want)
	}
	queries := []string{
		"SELECT * FROM %s t ORDER BY id",
		"SELECT count(*), sum(v) FROM %s t WHERE year = 2024 AND month = 2",
		"SELECT country, count(*), min(id), max(day) FROM %s t GROUP BY country ORDER BY country",
		"SELECT count(*) FROM %s t WHERE country = 'DE' AND id > 100",
		"SELECT count(*) FROM %s t WHERE country LIKE '%%/%%'",
		"SELECT count(*), count(country) FROM %s t WHERE country IS NULL",
		"SELECT year, month FROM %s t GROUP BY year, month ORDER BY 1, 2",
		"SELECT max(month), min(country), max(day) FROM %s t",
		"SELECT a.id, a.country FROM %s a JOIN %s b ON a.id = b.id + 1 AND a.month = b.month WHERE b.day >= DATE '2024-12-01' ORDER BY 1",
		"SELECT upper(country), sum(length(country)) FROM %s t GROUP BY 1 ORDER BY 1",
		"SELECT count(*) FROM %s t WHERE year = 1999",
		"SELECT * FROM %s t WHERE year + month = 2025 ORDER BY id LIMIT 3",
	}
	ask := func(from string) (out []string) {
		for _, q := range queries {
			q = strings.ReplaceAll(strings.ReplaceAll(q, "%s", from), "%%", "%")
			if res, err := s.Query(context.Background(), q); err != nil && strings.Contains(err.Error(), "device simt") {
				out = append(out, "")
				continue
			} else if err == nil {
				res.Close()
			}
			out = append(out, rowsOf(t, s, q))
		}
		return out
	}
	want := ask("t")
	settings := []string{"", "SET file_cache = off", "SET file_cache = off; SET threads = 1", "SET file_cache = off; SET morsel_rows = 7; SET threads = 4",
		"SET file_statistics = off", "SET narrow_integers = off", "SET file_cache = off; SET dictionaries = off; SET check = on", "SET file_map = off"}
	for _, set := range settings {
		rowsOf(t, s, "RESET ALL")
		if set != "" {
			rowsOf(t, s, set)
		}
		for i, got := range ask(from) {
			if got != want[i] {
				t.Errorf("%s: %s\n%s\nwant\n%s", set, queries[i], got, want[i])
			}
		}
	}
	rowsOf(t, s, "RESET ALL; SET device = simt")
	for i, got := range ask(from) {
		if got != "" && got != want[i] {
			t.Errorf("simt: %s\n%s\nwant\n%s", queries[i], got, want[i])
		}
	}
	rowsOf(t, s, "RESET ALL")

	// Folders that cannot have rows are not read: here, because they cannot be.
	for _, path := range []string{"year=2023/month=01/country=DE/day=2023-01-28", "year=2023/month=02/country=DE/day=2023-02-28"} {
		path = filepath.Join(dir, "set", path, "x.parquet")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(b) / 2 { // the pages, not the footer
			b[4+i] ^= 0x55
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got := failure(t, s, "SELECT sum(v) FROM "+from); !strings.Contains(got, "damaged") && !strings.Contains(got, "statistics") {
		t.Error(got)
	}
	for _, where := range []string{"year = 2024", "month > 2", "day >= DATE '2023-12-01'", "country <> 'DE'", "country IS NULL", "year = 2023 AND month = 12",
		"month IN (12, 11)", "country LIKE '%/%' OR year > 2023", "month BETWEEN 3 AND 12"} {
		if got, want := rowsOf(t, s, "SELECT sum(v), count(*) FROM "+from+" t WHERE "+where), rowsOf(t, s, "SELECT sum(v), count(*) FROM t WHERE "+where); got != want {
			t.Errorf("%s: %s, want %s", where, got, want)
		}
	}
}

// TestHiveOdd: folders that are not all alike, and names that the files have themselves.
func TestHiveOdd(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	put := func(query string, parts ...string) {
		path := filepath.Join(append([]string{dir}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		rowsOf(t, s, "COPY ("+query+") TO '"+path+"'")
	}
	put("SELECT 1 AS a", "p", "x=1", "f.parquet")
	put("SELECT 2 AS a", "p", "x=2", "y=b", "f.parquet")
	put("SELECT 3 AS a", "p", "f.parquet")
	put("SELECT 7 AS zip, 1 AS b", "q", "zip=01234", "B=5", "odd \"name\".v=1%2", "f.parquet")
	put("SELECT 8 AS zip, 2 AS b", "q", "zip=00009", "B=6", "odd \"name\".v=%C3%A4", "f.parquet")
	for q, want := range map[string]string{
		"SELECT * FROM '" + dir + "/p/**/*.parquet' ORDER BY a":                                                                  "1|1|NULL\n2|2|b\n3|NULL|NULL\n",
		"SELECT a FROM '" + dir + "/p/**/*.parquet' WHERE x IS NULL":                                                             "3\n",
		"SELECT a, x, y FROM '" + dir + "/p/x=2/y=b/f.parquet'":                                                                  "2|2|b\n",
		"SELECT zip, b, \"odd \"\"name\"\".v\" FROM '" + dir + "/q/*/*/*/*.parquet' ORDER BY b":                                  "7|1|1%2\n8|2|ä\n",
		"CREATE TABLE c (a INTEGER); COPY c FROM '" + dir + "/p/**/*.parquet'; SELECT sum(a) FROM c":                             "6\n",
		"CREATE TABLE d (a INTEGER, x INTEGER, y VARCHAR); COPY d FROM '" + dir + "/p/**/*.parquet'; SELECT * FROM d ORDER BY a": "1|1|NULL\n2|2|b\n3|NULL|NULL\n",
		"CREATE TABLE e AS SELECT * FROM '" + dir + "/p/**/*.parquet'; SELECT sum(x), max(y) FROM e":                             "3|b\n",
	} {
		if got := rowsOf(t, s, q); got != want {
			t.Errorf("%s:\n%swant\n%s", q, got, want)
		}
	}
	// A new folder is seen by the next statement.
	put("SELECT 4 AS a", "p", "x=9223372036854775807", "f.parquet")
	if got := rowsOf(t, s, "SELECT max(x), count(*) FROM '"+dir+"/p/**/*.parquet'"); got != "9223372036854775807|4\n" {
		t.Error(got)
	}
	put("SELECT 5 AS a", "p", "x=no number", "f.parquet")
	if got := rowsOf(t, s, "SELECT max(x), count(*) FROM '"+dir+"/p/**/*.parquet'"); got != "no number|5\n" {
		t.Error(got)
	}
}

// TestFixedColumns: a column that has one value besides NULL in a row group or page decides nothing about the
// rows that are NULL.
func TestFixedColumns(t *testing.T) {
	s := New(NewDB())
	path := filepath.Join(t.TempDir(), "x.parquet")
	rowsOf(t, s, "CREATE TABLE t AS SELECT range AS k, CASE WHEN range % 100 = 0 THEN NULL ELSE 5 END AS c, CASE WHEN range < 30000 THEN 'a' END AS s FROM range(0, 60000) ORDER BY range")
	rowsOf(t, s, "COPY t TO '"+path+"' (ROW_GROUP_SIZE 30000)")
	for _, where := range []string{"c IS NULL", "c IS NULL AND k < 9000", "c IS NOT NULL AND k > 40000", "c <> 5 OR c IS NULL", "coalesce(c, 7) = 7", "c IN (5, 6)", "c + 1 = 6 AND k >= 12000 AND k < 13000",
		"s IS NULL", "s IS NOT NULL", "s <> 'a'", "s LIKE 'a%'", "coalesce(s, 'b') = 'b'", "c IS NULL OR s IS NULL", "c = 5 AND s = 'a'", "length(s) = c", "c / (c - 5) = 1 AND k < 0"} {
		q := "SELECT count(*), sum(k) FROM %s t WHERE " + where
		if got, want := rowsOf(t, s, strings.Replace(q, "%s", "'"+path+"'", 1)), rowsOf(t, s, strings.Replace(q, "%s", "t", 1)); got != want {
			t.Errorf("%s: %s, want %s", where, got, want)
		}
	}
}
