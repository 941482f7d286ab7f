package session

import (
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
	formats := map[string][]string{
		"parquet": {"", "SET file_cache = off", "SET file_cache = off; SET threads = 1", "SET file_cache = off; SET morsel_rows = 7; SET threads = 4",
			"SET file_statistics = off", "SET narrow_integers = off", "SET file_cache = off; SET dictionaries = off; SET check = on", "SET file_map = off", "SET device = simt"},
		"csv":    {"", "SET file_block = 300", "SET file_block = 100000; SET morsel_rows = 7; SET threads = 4; SET check = on", "SET file_block = 5000; SET device = simt"},
		"csv.gz": {"SET file_block = 5000; SET threads = 1"},
		"json":   {"", "SET file_block = 300", "SET file_block = 100000; SET morsel_rows = 7; SET threads = 4; SET check = on", "SET file_block = 5000; SET device = simt"},
	}
	rowsOf(t, s, `CREATE TABLE t (id BIGINT, v DOUBLE, year BIGINT, month BIGINT, country VARCHAR, day DATE)`)
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
				text := fmt.Sprintf("SELECT CAST(range AS BIGINT) AS id, CAST(range AS DOUBLE) / 4 AS v FROM range(%d, %d) ORDER BY id", id, id+rows)
				path := folder("year="+year, "month="+month, "country="+strings.NewReplacer("%", "%25", "/", "%2F").Replace(country), "day="+day)
				for ext := range formats {
					option := ""
					if ext == "parquet" {
						option = " (ROW_GROUP_SIZE 40)"
					}
					rowsOf(t, s, "COPY ("+text+") TO '"+path+"/x."+ext+"'"+option)
				}
				rowsOf(t, s, fmt.Sprintf("INSERT INTO t SELECT id, v, %s, %s, %s, DATE '%s' FROM (%s) x", year, month, value, day, text))
				id += rows
			}
		}
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
		"SELECT country FROM %s t ORDER BY country DESC NULLS LAST, id LIMIT 2",
		"SELECT count(*) FROM %s t",
	}
	want := rowsFrom(t, s, queries, "t")
	for ext, settings := range formats {
		from := "'" + dir + "/set/**/*." + ext + "'"
		nulls := "YES" // nobody knows
		if ext == "parquet" {
			nulls = "NO"
		}
		if got, want := rowsOf(t, s, "DESCRIBE "+from), "id|BIGINT|"+nulls+"\nv|DOUBLE|"+nulls+"\nyear|BIGINT|NO\nmonth|BIGINT|NO\ncountry|VARCHAR|YES\nday|DATE|NO\n"; got != want {
			t.Errorf("columns of %s\n%swant\n%s", ext, got, want)
		}
		for _, set := range settings {
			rowsOf(t, s, "RESET ALL")
			if set != "" {
				rowsOf(t, s, set)
			}
			for i, got := range rowsFrom(t, s, queries, from) {
				if got != want[i] && (got != "" || !strings.Contains(set, "simt")) {
					t.Errorf("%s, %s: %s\n%s\nwant\n%s", ext, set, queries[i], got, want[i])
				}
			}
			if strings.Contains(set, "simt") {
				continue
			}
			rowsOf(t, s, "CREATE OR REPLACE TABLE back AS SELECT * FROM "+from)
			for i, got := range rowsFrom(t, s, queries, "back") {
				if got != want[i] {
					t.Errorf("%s, %s, CREATE TABLE AS: %s\n%s\nwant\n%s", ext, set, queries[i], got, want[i])
				}
			}
			rowsOf(t, s, "CREATE OR REPLACE TABLE back AS SELECT * FROM t WHERE false; COPY back FROM "+from)
			if got := rowsOf(t, s, "SELECT * FROM back ORDER BY id"); got != want[0] {
				t.Errorf("%s, %s, COPY: \n%s\nwant\n%s", ext, set, got, want[0])
			}
		}
	}
	rowsOf(t, s, "RESET ALL")
	from := "'" + dir + "/set/**/*.parquet'"

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

// TestHivePruning: text files whose folders say that they have no row that is wanted are not read: here, because
// they end in a row that cannot be.
func TestHivePruning(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	rowsOf(t, s, "CREATE TABLE t (k BIGINT, year BIGINT, region VARCHAR); CREATE TABLE wanted (y BIGINT); INSERT INTO wanted VALUES (2022), (2024)")
	for _, year := range []string{"2022", "2023", "2024"} {
		for _, region := range []string{"eu", "__HIVE_DEFAULT_PARTITION__"} {
			folder := filepath.Join(dir, "year="+year, "region="+region)
			if err := os.MkdirAll(folder, 0o777); err != nil {
				t.Fatal(err)
			}
			var csv, json strings.Builder
			csv.WriteString("k,s\n")
			for k := range 30000 {
				fmt.Fprintf(&csv, "%d,a text\n", k)
				fmt.Fprintf(&json, "{\"k\":%d,\"s\":\"a text\"}\n", k)
			}
			if year == "2023" {
				csv.WriteString("oops,1\n")
				json.WriteString("{\"k\":\"oops\",\"s\":\"\"}\n")
			}
			for name, text := range map[string]string{"x.csv": csv.String(), "x.json": json.String()} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			value := "'" + region + "'"
			if region != "eu" {
				value = "NULL"
			}
			rowsOf(t, s, fmt.Sprintf("INSERT INTO t SELECT range, %s, %s FROM range(0, 30000)", year, value))
		}
	}
	for _, ext := range []string{"csv", "json"} {
		from := "'" + dir + "/**/*." + ext + "'"
		if got := failure(t, s, "SELECT sum(k) FROM "+from); !strings.Contains(got, "22P02") {
			t.Error(got)
		}
		for _, where := range []string{"year = 2024", "year <> 2023", "year IN (2022, 2024)", "year < 2023 AND k > 5", "year > 2023 OR year = 2022 AND region = 'eu'",
			"year % 2 = 0", "length(region) = 2 AND year = 2022", "region IS NULL AND year > 2023", "CASE WHEN year = 2023 THEN false ELSE k < 9 END AND year <> 2023",
			"year = 1", "year IS NULL", "region = 'us'", "region LIKE 'a%'", "coalesce(region, 'x') = 'x' AND 2023 < year", "year = (SELECT max(y) FROM wanted)"} {
			q := "SELECT count(*), sum(k), min(region), max(year) FROM %s t WHERE " + where
			if got, want := rowsFrom(t, s, []string{q}, from)[0], rowsFrom(t, s, []string{q}, "t")[0]; got != want {
				t.Errorf("%s, %s: %s, want %s", ext, where, got, want)
			}
		}
		for _, threads := range []string{"1", "3"} {
			rowsOf(t, s, "SET threads = "+threads+"; CREATE OR REPLACE TABLE made AS SELECT k, region, year FROM "+from+" WHERE year = 2022")
			if got := rowsOf(t, s, "SELECT count(*), count(region), min(year), max(year) FROM made"); got != "60000|30000|2022|2022\n" {
				t.Error(ext, got)
			}
		}
	}
}

// TestHiveOdd: folders that are not all alike, and names that the files have themselves.
func TestHiveOdd(t *testing.T) {
	for _, set := range []string{"RESET ALL", "SET file_block = 4"} {
		for _, ext := range []string{"parquet", "csv", "csv.gz", "json"} {
			if ext != "parquet" || set == "RESET ALL" {
				t.Run(ext+" "+set[:3], func(t *testing.T) { hiveOdd(t, set, ext) })
			}
		}
	}
}

func hiveOdd(t *testing.T, set, ext string) {
	s := New(NewDB())
	rowsOf(t, s, set)
	dir := t.TempDir()
	put := func(query string, parts ...string) {
		path := filepath.Join(append([]string{dir}, parts...)...)
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
		rowsOf(t, s, "COPY ("+query+") TO '"+path+"/f."+ext+"'")
	}
	put("SELECT 1 AS a", "p", "x=1")
	put("SELECT 2 AS a", "p", "x=2", "y=b")
	put("SELECT 3 AS a", "p")
	put("SELECT 7 AS zip, 1 AS b", "q", "zip=01234", "B=5", "odd \"name\".v=1%2")
	put("SELECT 8 AS zip, 2 AS b", "q", "zip=00009", "B=6", "odd \"name\".v=%C3%A4")
	put("SELECT 1 AS a", "r", "K=1", "x=%ff")
	put("SELECT 2 AS a", "r", "k=2", "x=%00")
	put("SELECT 3 AS a", "r", "k=%37", "x= ")
	put("SELECT 1 AS a, 'in the file' AS t", "own", "t=in the folder", "u=")
	put("SELECT 1 AS a", "day", "d=2024-02-29")
	put("SELECT 2 AS a", "day", "d=__HIVE_DEFAULT_PARTITION__")
	put("SELECT 3 AS a WHERE false", "day", "d=2024-02-30")
	all := func(set string) string { return "'" + dir + "/" + set + "/**/*." + ext + "'" }
	for q, want := range map[string]string{
		"SELECT * FROM " + all("p") + " ORDER BY a":                                                                  "1|1|NULL\n2|2|b\n3|NULL|NULL\n",
		"SELECT a FROM " + all("p") + " WHERE x IS NULL":                                                             "3\n",
		"SELECT y, x FROM " + all("p") + " WHERE x + 1 > 1 ORDER BY x":                                               "NULL|1\nb|2\n",
		"SELECT x FROM " + all("p") + " LIMIT 0":                                                                     "",
		"SELECT a, x, y FROM '" + dir + "/p/x=2/y=b/f." + ext + "'":                                                  "2|2|b\n",
		"SELECT zip, b, \"odd \"\"name\"\".v\" FROM '" + dir + "/q/*/*/*/*." + ext + "' ORDER BY b":                  "7|1|1%2\n8|2|ä\n",
		"SELECT a, \"K\", x FROM " + all("r") + " ORDER BY a":                                                        "1|1|%ff\n2|2|%00\n3|7| \n",
		"SELECT t, u FROM " + all("own"):                                                                             "in the file|\n",
		"SELECT d, a FROM " + all("day") + " ORDER BY a":                                                             "2024-02-29|1\nNULL|2\n",
		"SELECT max(d || '!') FROM " + all("day") + " WHERE d > '2024-02-28'":                                        "2024-02-29!\n",
		"CREATE TABLE c (a INTEGER); COPY c FROM " + all("p") + "; SELECT sum(a) FROM c":                             "6\n",
		"CREATE TABLE d (a INTEGER, x INTEGER, y VARCHAR); COPY d FROM " + all("p") + "; SELECT * FROM d ORDER BY a": "1|1|NULL\n2|2|b\n3|NULL|NULL\n",
		"CREATE TABLE e AS SELECT * FROM " + all("p") + "; SELECT sum(x), max(y) FROM e":                             "3|b\n",
		"CREATE TABLE g (a INTEGER, t VARCHAR); COPY g FROM " + all("own") + "; SELECT t FROM g":                     "in the file\n",
		"CREATE TABLE h (d DATE, a INTEGER); COPY h FROM '" + dir + "/day/d=2024*/*." + ext + "'; SELECT * FROM h":   "2024-02-29|1\n",
	} {
		if ext == "parquet" && strings.Contains(q, "TABLE h ") {
			continue // there the folders have one type for all files, and 2024-02-30 is not a date
		}
		if got := rowsOf(t, s, q); got != want {
			t.Errorf("%s:\n%swant\n%s", q, got, want)
		}
	}
	if ext != "parquet" {
		put("SELECT 4 AS a", "day", "d=2024-02-30")
		if got := failure(t, s, "COPY h FROM "+all("day")); !strings.Contains(got, "22008") || !strings.Contains(got, "in the name of a folder") {
			t.Error(got)
		}
	}
	// A new folder is seen by the next statement.
	put("SELECT 4 AS a", "p", "x=9223372036854775807")
	if got := rowsOf(t, s, "SELECT max(x), count(*) FROM "+all("p")); got != "9223372036854775807|4\n" {
		t.Error(got)
	}
	put("SELECT 5 AS a", "p", "x=no number")
	if got := rowsOf(t, s, "SELECT max(x), count(*) FROM "+all("p")); got != "no number|5\n" {
		t.Error(got)
	}
}

// TestHiveCopy: of a table's columns, those that text files lack are taken from the names of folders.
func TestHiveCopy(t *testing.T) {
	dir := t.TempDir()
	put := func(text string, parts ...string) {
		path := filepath.Join(append([]string{dir}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("1,one\n2,two\n", "y=01", "a.csv")
	put("3,three\n", "y=02", "a.csv")
	put("4,4 of file,four\n", "y=04", "b.csv")
	put("id|s\n5|five, really\n", "y=05", "c.csv")
	put("id,y,s\n6,\"\",six\n", "y=06", "d.csv")
	put("7\n8\n", "y=07", "e.csv")
	put("", "y=08", "f.csv")
	put(`{"id":1}{"id":2,"y":"own"}{"id":3,"y":null}`, "y=09", "a.json")
	put(`{"id":4}{"id":5,"y":"own"}`, "a.json")
	put(`{"id":6}`, "y=__HIVE_DEFAULT_PARTITION__", "a.json")
	put(`{"id":1, "n":7}`, "n=no number", "g.json")
	put(`{"id":1}`, "n=no number", "h.json")
	for _, c := range []struct{ table, from, want string }{
		{"id INTEGER, y VARCHAR, s VARCHAR", "y=*/a.csv", "1|01|one\n2|01|two\n3|02|three\n"},
		{"y INTEGER, id INTEGER, s VARCHAR", "y=*/a.csv", "1|1|one\n1|2|two\n2|3|three\n"},
		{"id INTEGER, s VARCHAR, y INTEGER NOT NULL", "*/a.csv", "1|one|1\n2|two|1\n3|three|2\n"},
		{"id INTEGER, s VARCHAR", "*/a.csv", "1|one\n2|two\n3|three\n"},
		{"id INTEGER, y VARCHAR, s VARCHAR", "*/b.csv", "4|4 of file|four\n"},
		{"id INTEGER, y VARCHAR, s VARCHAR", "*/c.csv", "5|05|five, really\n"},
		{"id INTEGER, y VARCHAR, s VARCHAR", "*/d.csv", "6||six\n"},
		{"id INTEGER, y VARCHAR", "*/e.csv", "7|07\n8|07\n"},
		{"y INTEGER", "*/e.csv", "7\n8\n"},
		{"id INTEGER, y VARCHAR", "*/f.csv", ""},
		{"id INTEGER, y VARCHAR DEFAULT 'default'", "**/a.json", "1|09\n2|own\n3|NULL\n4|default\n5|own\n6|NULL\n"},
		{"id INTEGER, n INTEGER", "*/g.json", "1|7\n"},
		{"id INTEGER, n INTEGER", "*/h.json", "22P02"},
		{"id INTEGER, s VARCHAR, y DATE", "*/a.csv", "22007"},
		{"id INTEGER, s VARCHAR, y VARCHAR(1)", "*/a.csv", "22001"},
		{"id INTEGER, y VARCHAR, z INTEGER, s VARCHAR", "*/a.csv", "22P04"},
	} {
		s := New(NewDB())
		rowsOf(t, s, "CREATE TABLE t ("+c.table+")")
		q := "COPY t FROM '" + dir + "/" + c.from + "'"
		if len(c.want) == 5 && !strings.Contains(c.want, "\n") {
			if got := failure(t, s, q); !strings.Contains(got, c.want) {
				t.Errorf("%s, %s: %s", c.table, c.from, got)
			}
			continue
		}
		rowsOf(t, s, q)
		order := "id"
		if !strings.Contains(c.table, "id ") {
			order = "1"
		}
		if got := rowsOf(t, s, "SELECT * FROM t ORDER BY "+order); got != c.want {
			t.Errorf("%s, %s:\n%swant\n%s", c.table, c.from, got, c.want)
		}
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
