package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// failure is a statement's error as a person sees it.
func failure(t testing.TB, s *Session, text string) string {
	t.Helper()
	res, err := s.Query(context.Background(), text)
	if err == nil {
		res.Close()
		t.Errorf("%s: no error", text)
		return ""
	}
	return diag.Format(err, text)
}

// TestUnreadableColumns: a column of a type that SQL has not is in nobody's way.
func TestUnreadableColumns(t *testing.T) {
	dir := t.TempDir()
	path := "testdata/files/foreign.parquet"
	s := New(NewDB())
	from := " FROM '" + path + "'"
	for q, want := range map[string]string{
		"DESCRIBE '" + path + "'": "l|INTEGER[]|YES\na|INTEGER|NO\ns|STRUCT(x BIGINT, y VARCHAR)|YES\nb|VARCHAR|YES\n" +
			"tm|TIME|YES\nHalf Float|FLOAT16 (cannot be read)|YES\nd|DECIMAL(60,2) (cannot be read)|YES\nraw|BINARY(3) (cannot be read)|YES\nm|MAP(VARCHAR, INTEGER)|YES\nc|DOUBLE|YES\n",
		"DESCRIBE SELECT *" + from + " LIMIT 1": "l|INTEGER[]|YES\na|INTEGER|NO\ns|STRUCT(x BIGINT, y VARCHAR)|YES\nb|VARCHAR|YES\n" +
			"tm|TIME|YES\nHalf Float|FLOAT16 (cannot be read)|YES\nd|DECIMAL(60,2) (cannot be read)|YES\nraw|BINARY(3) (cannot be read)|YES\nm|MAP(VARCHAR, INTEGER)|YES\nc|DOUBLE|YES\n",
		"SELECT a, b, c" + from + " ORDER BY a DESC":                                                          "3|three|-0.25\n2|NULL|NULL\n1|one|0.5\n",
		"SELECT count(*)" + from:                                                                              "3\n",
		`SELECT * EXCLUDE (l, s, "Half Float", d, raw, m)` + from + " WHERE c < 0":                            "3|three|NULL|-0.25\n",
		"SELECT a FROM (SELECT *" + from + ") x WHERE b IS NULL":                                              "2\n",
		"WITH w AS MATERIALIZED (SELECT *" + from + ") SELECT sum(a) FROM w":                                  "6\n",
		"SELECT count(*)" + from + " x JOIN '" + path + "' y ON x.a = y.a":                                    "3\n",
		"CREATE VIEW v AS SELECT *" + from + "; SELECT b FROM v WHERE a = 1":                                  "one\n",
		"CREATE TABLE t AS SELECT a, c" + from + "; SELECT max(a), min(c) FROM t":                             "3|-0.25\n",
		"CREATE TABLE u (a INTEGER, c DOUBLE); INSERT INTO u SELECT a, c" + from + "; SELECT count(*) FROM u": "3\n",
	} {
		if got := rowsOf(t, s, q); got != want {
			t.Errorf("%s:\n%swant\n%s", q, got, want)
		}
	}
	hint := "\nHINT: the other columns can be read: SELECT * EXCLUDE (\"Half Float\")"
	for q, want := range map[string]string{
		"SELECT *" + from:                                                               "ERROR: column \"Half Float\": the type FLOAT16 of the file is not supported (0A000)\nLINE 1: SELECT *" + from + "\n               ^" + hint,
		"SELECT x.\"Half Float\"" + from + " x":                                         "SELECT * EXCLUDE (\"Half Float\")",
		"SELECT d" + from + " LIMIT 0":                                                  "column \"d\": the type DECIMAL(60,2)",
		"SELECT d FROM (SELECT *" + from + ") x":                                        "column \"d\": the type DECIMAL(60,2)",
		"SELECT d, count(*)" + from + " GROUP BY d":                                     "DECIMAL(60,2)",
		"SELECT *" + from + " UNION ALL SELECT *" + from:                                "column \"Half Float\": the type FLOAT16",
		"SELECT DISTINCT *" + from:                                                      "column \"Half Float\": the type FLOAT16",
		"SELECT count(d)" + from:                                                        "column \"d\": the type DECIMAL(60,2)",
		"SELECT a FROM (SELECT *" + from + ") x ORDER BY raw":                           "column \"raw\": the type BINARY(3)",
		"CREATE TABLE w AS SELECT *" + from + " LIMIT 0":                                "column \"Half Float\": the type FLOAT16",
		"CREATE TABLE w (l VARCHAR); INSERT INTO w SELECT d" + from:                     "column \"d\": the type DECIMAL(60,2)",
		"COPY (SELECT *" + from + ") TO '" + dir + "/out.csv'":                          "column \"Half Float\": the type FLOAT16",
		"WITH w AS MATERIALIZED (SELECT *" + from + ") SELECT x.raw FROM w x, w y":      "column \"raw\": the type BINARY(3)",
		"SELECT a" + from + " x JOIN '" + path + "' y USING (d)":                        "column \"d\": the type DECIMAL(60,2)",
		"CREATE TABLE f (a INTEGER, b VARCHAR, tm VARCHAR); COPY f FROM '" + path + "'": "column \"",
	} {
		if got := failure(t, s, q); !strings.Contains(got, want) || strings.Contains(got, "internal") {
			t.Errorf("%s:\n%s\nwant\n%s", q, got, want)
		}
	}
	// Files of a glob must mean the same by a column that cannot be read, too.
	if got := failure(t, s, "SELECT a FROM 'testdata/files/part*.parquet'"); !strings.Contains(got, `column 2 is "x" INTEGER[]`) {
		t.Error(got)
	}
}

// TestZonedTimestamps: instants of files are instants.
func TestZonedTimestamps(t *testing.T) {
	dir := t.TempDir()
	path := "testdata/files/zoned.parquet"
	s := New(NewDB())
	for _, c := range []struct{ q, rows string }{
		{"SELECT at, naive FROM '" + path + "'", "2024-07-01 10:00:00.5+00|2024-07-01 12:00:00\n"},
		{"SELECT at FROM '" + path + "'", "2024-07-01 10:00:00.5+00\n"}, // the file is known by now
		{"SELECT a.at FROM '" + path + "' a JOIN '" + path + "' b USING (at)", "2024-07-01 10:00:00.5+00\n"},
		{"SELECT at FROM '" + path + "' WHERE at > timestamptz '2024-07-01 12:00:00+02'", "2024-07-01 10:00:00.5+00\n"},
		{"SELECT at FROM '" + path + "' WHERE at > timestamptz '2024-07-01 12:00:00.5+02'", ""},
		{"CREATE TABLE t AS SELECT * FROM '" + path + "'", ""},
		{"CREATE TABLE u (naive TIMESTAMP, at TIMESTAMPTZ)", ""},
		{"COPY u FROM '" + path + "'", ""},
		{"SELECT at, naive FROM u", "2024-07-01 10:00:00.5+00|2024-07-01 12:00:00\n"},
		{"COPY t TO '" + dir + "/again.parquet'", ""},
		{"SELECT * FROM '" + dir + "/again.parquet'", "2024-07-01 10:00:00.5+00|2024-07-01 12:00:00\n"},
		{"SET timezone = 'Asia/Tokyo'", ""},
		{"SELECT at::text, at::timestamp FROM '" + dir + "/again.parquet'", "2024-07-01 19:00:00.5+09|2024-07-01 19:00:00.5\n"},
		{"COPY t TO '" + dir + "/again.csv'", ""},
		{"SELECT at FROM read_csv('" + dir + "/again.csv', header => true, all_varchar => true)", "2024-07-01 19:00:00.5+09\n"},
		{"CREATE TABLE w (at TIMESTAMPTZ, naive TIMESTAMPTZ)", ""},
		{"COPY w FROM '" + dir + "/again.csv'", ""}, // the second is read in the zone of the session
		{"SELECT at::text, naive::text FROM w", "2024-07-01 19:00:00.5+09|2024-07-01 12:00:00+09\n"},
		{"COPY w TO '" + dir + "/w.json'", ""},
		{"COPY w FROM '" + dir + "/w.json'", ""},
		{"SELECT count(*), count(distinct at), min(naive)::text FROM w", "2|1|2024-07-01 12:00:00+09\n"},
	} {
		if got := rowsOf(t, s, c.q); got != c.rows {
			t.Errorf("%s:\n%swant\n%s", c.q, got, c.rows)
		}
	}
}

// TestUnknownExtension: a file is not taken for CSV because nothing else is known of it.
func TestUnknownExtension(t *testing.T) {
	dir := t.TempDir()
	s := New(NewDB())
	for _, name := range []string{"x.xlsx", "x.data.2024", "plain", "x.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a,b\n1,x\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rowsOf(t, s, "CREATE TABLE t (a INTEGER, b VARCHAR)")
	for _, q := range []string{"SELECT * FROM '" + dir + "/x.xlsx'", "DESCRIBE '" + dir + "/x.data.2024'", "COPY t FROM '" + dir + "/x.xlsx'",
		"COPY t TO '" + dir + "/out.xls'", "COPY t TO '" + dir + "/out.arrow.gz'", "SELECT * FROM '" + dir + "/x.*'"} {
		got := failure(t, s, q)
		if !strings.Contains(got, "is not known by its extension") || !strings.Contains(got, "22023") || !strings.Contains(got, ".parquet, .pq, .csv, .tsv, .txt, .tbl, .json, .ndjson, .jsonl, .arrow, .arrows and .feather") {
			t.Errorf("%s: %s", q, got)
		}
	}
	for _, q := range []string{"SELECT a, b FROM read_csv('" + dir + "/x.xlsx')", "SELECT * FROM '" + dir + "/plain'",
		"COPY t FROM '" + dir + "/x.data.2024' (FORMAT csv, HEADER); SELECT * FROM t",
		"COPY t TO '" + dir + "/out.xls' (FORMAT csv); SELECT * FROM read_csv('" + dir + "/out.xls')",
		"COPY t TO '" + dir + "/out.data' (FORMAT parquet); SELECT * FROM read_parquet('" + dir + "/out.data')"} {
		if got := rowsOf(t, s, q); got != "1|x\n" {
			t.Errorf("%s: %s", q, got)
		}
	}
	if got := failure(t, s, "SELECT * FROM '"+dir+"/*[nv]'"); !strings.Contains(got, "are not of the same format") {
		t.Error(got)
	}
}

// TestRewrittenInPlace: nothing that is kept of a file is used once the file has changed, whatever its size
// and time of modification say.
func TestRewrittenInPlace(t *testing.T) {
	dir := t.TempDir()
	s := New(NewDB())
	for _, name := range []string{"f.parquet", "f.csv"} {
		path := filepath.Join(dir, name)
		var files [2][]byte
		for i, x := range []string{"1", "2"} {
			rowsOf(t, s, "COPY (SELECT "+x+" AS a, 'a' AS b) TO '"+path+"'")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = b
		}
		if len(files[0]) != len(files[1]) {
			t.Fatal("the files should be of one size")
		}
		long := time.Now().Add(-time.Hour)
		for i := range 20 {
			// In place, or by another file; at once, or after a while.
			if i%4 < 2 {
				if err := os.WriteFile(path, files[i%2], 0o666); err != nil {
					t.Fatal(err)
				}
			} else {
				if err := os.WriteFile(path+"~", files[i%2], 0o666); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(path+"~", path); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chtimes(path, long, long); err != nil {
				t.Fatal(err)
			}
			if want := string("12"[i%2]) + "\n"; rowsOf(t, s, "SELECT a FROM '"+path+"'") != want {
				t.Fatalf("%s, rewritten %d times: a row that was there before, not %s", name, i, want)
			}
			if i > 10 {
				time.Sleep(60 * time.Millisecond)
			}
		}
	}
}
