package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/device"
)

// TestFileScans asks the same of a table and of files with its rows, under all settings that concern files.
func TestFileScans(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	rowsOf(t, s, `CREATE TABLE t AS SELECT range AS k, range % 7 AS g, CASE WHEN range % 11 = 0 THEN NULL ELSE (range * 37) % 1000 END AS n,
		'name ' || (range % 30) AS s, 'a text that is its own: ' || range AS own, CASE WHEN range % 3 = 0 THEN NULL ELSE 'x' || (range % 5) END AS sn,
		CAST(range AS DECIMAL(30,2)) * 1.5 AS d, CAST(range AS DOUBLE) / 3 AS f, DATE '1995-01-01' + CAST(range % 3000 AS INTEGER) AS day,
		CAST(NULL AS INTEGER) AS nothing FROM range(0, 40000) ORDER BY range`)
	rowsOf(t, s, "COPY t TO '"+dir+"/one.parquet' (ROW_GROUP_SIZE 6000)")
	rowsOf(t, s, "COPY (SELECT * FROM t WHERE k < 100) TO '"+dir+"/part0.parquet'")
	rowsOf(t, s, "COPY (SELECT * FROM t WHERE k < 0) TO '"+dir+"/part1.parquet'")
	rowsOf(t, s, "COPY (SELECT * FROM t WHERE k >= 100) TO '"+dir+"/part2.parquet' (ROW_GROUP_SIZE 1000, COMPRESSION zstd)")
	queries := []string{
		"SELECT count(*) FROM %s t",
		"SELECT own, k, sn, d, f, own FROM %s t",
		"SELECT * FROM %s t LIMIT 3 OFFSET 17999",
		"SELECT * FROM %s t WHERE k >= 12345 AND k < 12350 ORDER BY k",
		"SELECT * FROM %s t ORDER BY f DESC LIMIT 3",
		"SELECT g, s, count(*), sum(n), min(day), max(d), max(f) FROM %s t GROUP BY g, s ORDER BY g, s",
		"SELECT sn, count(*), count(n), min(own) FROM %s t WHERE s = 'name 4' GROUP BY sn ORDER BY sn",
		"SELECT count(*), sum(length(own)) FROM %s t WHERE own LIKE '%%99%%'",
		"SELECT count(*), max(a.own) FROM %s a JOIN %s b ON a.k = b.k + 1 AND a.sn = b.sn WHERE b.n < 100",
		"SELECT s, max(substring(own, 20)) FROM %s t WHERE k IN (SELECT k FROM %s WHERE day = DATE '1999-09-09') GROUP BY s ORDER BY s",
		"SELECT count(nothing), count(*) FROM %s t WHERE nothing IS NULL",
		"SELECT count(own) FROM (SELECT own FROM %s t LIMIT 5 OFFSET 9000) x",
		"SELECT DISTINCT upper(sn) FROM %s t ORDER BY 1",
	}
	want := rowsFrom(t, s, queries, "t")
	settings := []string{
		"", "SET file_cache = off", "SET file_cache = off; SET threads = 1", "SET file_cache = off; SET morsel_rows = 777; SET threads = 4",
		"SET file_statistics = off", "SET file_cache = off; SET narrow_integers = off", "SET file_cache = off; SET dictionaries = off; SET check = on",
		"SET file_cache = off; SET file_simd = off; SET file_map = off",
	}
	if !testing.Short() {
		settings = append(settings, "SET device = simt", "SET device = simt; SET file_cache = off")
	}
	if !device.HasCPU() {
		settings = settings[:1]
	}
	rowsOf(t, s, "SET file_cache = off; CREATE TABLE back AS SELECT * FROM '"+dir+"/part*.parquet'")
	for i, got := range rowsFrom(t, s, queries, "back") {
		if got != want[i] {
			t.Errorf("CREATE TABLE AS: %s\n%s\nwant\n%s", queries[i], got, want[i])
		}
	}
	for _, set := range thin(settings) {
		rowsOf(t, s, "RESET ALL")
		if set != "" {
			rowsOf(t, s, set)
		}
		for _, from := range []string{dir + "/one.parquet", dir + "/part*.parquet"} {
			for i, got := range rowsFrom(t, s, queries, "'"+from+"'") {
				ordered := i != 1 && i != 2 || !strings.Contains(set, "simt") // lanes finish in any order
				if got != want[i] && got != "" && ordered {
					t.Errorf("%s, from %s: %s\n%s\nwant\n%s", set, filepath.Base(from), queries[i], got, want[i])
				}
			}
		}
	}
}

// TestFileSkipping looks at what is not read.
func TestFileSkipping(t *testing.T) {
	if !device.HasCPU() {
		t.Skip("no CPU translator")
	}
	s := New(NewDB())
	path := t.TempDir() + "/t.parquet"
	rowsOf(t, s, "COPY (SELECT range AS k, range % 10 AS g FROM range(0, 100000) ORDER BY range) TO '"+path+"' (ROW_GROUP_SIZE 10000)")
	for _, c := range []struct {
		set, query string
		skipped    int64
	}{
		{"RESET ALL", "SELECT sum(g) FROM '%s' WHERE k BETWEEN 25000 AND 34999", 80000},
		{"RESET ALL", "SELECT sum(g) FROM '%s' WHERE k = 7", 90000},
		{"RESET ALL", "SELECT sum(g) FROM '%s' WHERE g = 11", 100000},
		{"SET file_statistics = off", "SELECT sum(g) FROM '%s' WHERE k = 7", 0},
	} {
		rowsOf(t, s, c.set)
		res, err := s.Query(context.Background(), fmt.Sprintf(c.query, path))
		if err != nil {
			t.Fatal(err)
		}
		var skipped int64
		for _, p := range res.Stats.Pipelines {
			skipped += p.SkippedRows
		}
		res.Close()
		if skipped != c.skipped {
			t.Errorf("%s: %d rows skipped, want %d", c.query, skipped, c.skipped)
		}
	}
}

// TestPageSkipping leaves out pages of a single row group.
func TestPageSkipping(t *testing.T) {
	if !device.HasCPU() {
		t.Skip("no CPU translator")
	}
	s := New(NewDB())
	path := t.TempDir() + "/t.parquet"
	rowsOf(t, s, "COPY (SELECT range AS k, range % 10 AS g, 'text ' || range AS s FROM range(0, 400000) ORDER BY range) TO '"+path+"' (ROW_GROUP_SIZE 400000)")
	for _, cache := range []string{"on", "off"} {
		rowsOf(t, s, "SET file_cache = "+cache)
		for _, k := range []int{0, 123456, 399999} {
			q := fmt.Sprintf("SELECT k, g, s FROM '%s' WHERE k BETWEEN %d AND %d ORDER BY k", path, k, k+1)
			res, err := s.Query(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			if n := res.Stats.Pipelines[0].SkippedRows; n < 200000 || n >= 400000 {
				t.Errorf("k = %d: %d rows skipped", k, n)
			}
			row := res.Values()[0]
			if row[0].I != int64(k) || row[1].I != int64(k%10) || row[2].S != fmt.Sprintf("text %d", k) {
				t.Errorf("k = %d: %v", k, row)
			}
			res.Close()
		}
	}
}

// TestFileChanges changes a file between queries, with and without what is kept of it.
func TestFileChanges(t *testing.T) {
	s := New(NewDB())
	path := t.TempDir() + "/t.parquet"
	for _, set := range []string{"SET file_cache = on", "SET file_cache = off"} {
		rowsOf(t, s, set)
		for i := range 5 {
			rowsOf(t, s, fmt.Sprintf("COPY (SELECT range AS k, 'v%d' AS s FROM range(0, %d)) TO '%s'", i, i+1, path))
			later := time.Now().Add(time.Duration(i) * time.Second) // clocks of file systems are coarse
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got, want := rowsOf(t, s, "SELECT count(*), max(k), max(s) FROM '"+path+"'"), fmt.Sprintf("%d|%d|v%d\n", i+1, i, i); got != want {
					t.Errorf("%s: got %s want %s", set, got, want)
				}
			}
		}
	}
	// A view reads what the file has when it is asked.
	rowsOf(t, s, "CREATE VIEW v AS SELECT s, count(*) AS n FROM '"+path+"' GROUP BY s")
	rowsOf(t, s, "COPY (SELECT 'other' AS s) TO '"+path+"'")
	if got := rowsOf(t, s, "SELECT * FROM v"); got != "other|1\n" {
		t.Errorf("view: %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Query(context.Background(), "SELECT * FROM v"); err == nil || !strings.Contains(err.Error(), "No such file") {
		t.Error(err)
	}
}

// TestFileCancel stops a query that reads files.
func TestFileCancel(t *testing.T) {
	s := New(NewDB())
	path := t.TempDir() + "/t.parquet"
	rowsOf(t, s, "COPY (SELECT range AS k, 'text ' || range AS s FROM range(0, 200000)) TO '"+path+"' (ROW_GROUP_SIZE 2000)")
	rowsOf(t, s, "SET file_cache = off")
	for i := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*300*time.Microsecond)
		res, err := s.Query(ctx, "SELECT count(*), sum(length(s)) FROM '"+path+"'")
		cancel()
		if err == nil {
			res.Close()
		} else if !strings.Contains(err.Error(), "cancel") {
			t.Fatal(err)
		}
	}
	rowsOf(t, s, "SET memory_limit = '1MB'")
	_, err := s.Query(context.Background(), "SELECT max(s) FROM '"+path+"' GROUP BY k")
	if err == nil || !strings.Contains(err.Error(), "memory limit") {
		t.Errorf("memory limit: %v", err)
	}
}

// TestFileMemory: of a file that is scanned, only the row groups that are worked on are held.
func TestFileMemory(t *testing.T) {
	s := New(NewDB())
	path := t.TempDir() + "/t.parquet"
	rowsOf(t, s, "COPY (SELECT range::bigint * 7919 % 1000003 AS a, range AS b FROM range(0, 400000)) TO '"+path+"' (ROW_GROUP_SIZE 10000)")
	rowsOf(t, s, "SET file_cache = off; SET threads = 2; SET memory_limit = '2500kB'")
	if got := rowsOf(t, s, "SELECT sum(a + b), count(*) FROM '"+path+"' WHERE b >= 0"); got != "279986050410|400000\n" {
		t.Error(got)
	}
	// EXPLAIN ANALYZE goes through a sample several times: through all of a small file, so that it must stay.
	if !device.HasCPU() {
		return
	}
	rowsOf(t, s, "SET memory_limit = '64MB'")
	for i, rows := range []int{10000, 8000, 16000, 32000, 64000} {
		group := 4096
		if i == 0 { // so small that the sample has some whole groups, however long it takes
			group = 50
		}
		rowsOf(t, s, fmt.Sprintf("COPY (SELECT range::bigint * 7919 %% 1000003 AS a, range AS b FROM range(0, %d)) TO '%s' (ROW_GROUP_SIZE %d)", rows, path, group))
		var doc struct{ Pipelines []jsonPipeline }
		explainJSON(t, s, "explain (analyze, pipelines, format json) SELECT sum(a % 1000 + b), count(*), max(a * b) FROM '"+path+"' WHERE b >= 0", &doc)
		if p := doc.Pipelines[0]; *p.Stats.ExecuteMS-*p.Stats.FinishMS > 0.6 && p.Source.MS == nil {
			t.Errorf("%d rows: a scan of %v ms is not profiled", rows, *p.Stats.ExecuteMS)
		}
	}
}

// TestFileManyColumns reads few of hundreds of columns.
func TestFileManyColumns(t *testing.T) {
	s := New(NewDB())
	path := t.TempDir() + "/t.parquet"
	var cols []string
	for i := range 300 {
		cols = append(cols, fmt.Sprintf("range + %d AS c%d", i, i))
	}
	rowsOf(t, s, "COPY (SELECT "+strings.Join(cols, ", ")+" FROM range(0, 5000)) TO '"+path+"' (ROW_GROUP_SIZE 2048)")
	if got := rowsOf(t, s, "SELECT sum(c299) - sum(c0), count(*) FROM '"+path+"' WHERE c150 > 160"); got != "1491711|4989\n" {
		t.Error(got)
	}
	if got := rowsOf(t, s, "SELECT * FROM '"+path+"' WHERE c0 = 4999"); strings.Count(got, "|") != 299 || !strings.HasSuffix(got, "|5298\n") {
		t.Error(got)
	}
}

// TestLateLoads compares what is read of columns where rows pass with what is read of all.
func TestLateLoads(t *testing.T) {
	if !device.HasCPU() {
		t.Skip("no CPU translator")
	}
	s := New(NewDB())
	path := t.TempDir() + "/t.parquet"
	rowsOf(t, s, `COPY (SELECT range AS k, range * CAST(7919 AS BIGINT) % 300007 AS r, 'text number ' || range AS s, 'group ' || range % 7 AS g,
		CASE WHEN range % 3 = 0 THEN NULL ELSE range * 1.5 END AS n, CAST(range AS DOUBLE) AS f, DATE '2001-01-01' + CAST(range % 900 AS INTEGER) AS d
		FROM range(0, 300000)) TO '`+path+`'`)
	for _, q := range []string{
		"SELECT * FROM '%s' WHERE r = 4711",
		"SELECT * FROM '%s' WHERE r IN (1, 150000, 299999) ORDER BY k",
		"SELECT * FROM '%s' WHERE s LIKE '%%number 12345%%' ORDER BY k",
		"SELECT count(*), max(s), sum(n), min(d), max(f) FROM '%s' WHERE r < 9",
		"SELECT g, count(*), max(s), sum(n), max(extract(year FROM d)) FROM '%s' WHERE r BETWEEN 100 AND 120 GROUP BY g ORDER BY g",
		"SELECT a.s, b.s, a.n FROM '%s' a JOIN '%s' b ON a.r = b.k WHERE b.k < 60000 AND b.s LIKE '%%999' ORDER BY a.k",
		"SELECT * FROM '%s' WHERE n IS NULL AND r > 299990 ORDER BY s",
		"SELECT * FROM '%s' WHERE r > 300 * 1000000",
		"SELECT s FROM '%s' WHERE r % 50000 = 3 LIMIT 4",
		"SELECT k, 100 / (r - 5) FROM '%s' WHERE r = 6",
	} {
		q = strings.ReplaceAll(strings.ReplaceAll(q, "%s", path), "%%", "%")
		rowsOf(t, s, "RESET ALL; SET file_cache = off; SET late_loads = off")
		want := rowsOf(t, s, q)
		for _, set := range thin([]string{"SET file_cache = off; SET threads = 4; SET morsel_rows = 777", "", "SET file_cache = off", "SET file_cache = off; SET threads = 1"}) {
			rowsOf(t, s, "RESET ALL")
			if set != "" {
				rowsOf(t, s, set)
			}
			for range 2 {
				if got := rowsOf(t, s, q); got != want {
					t.Errorf("%s: %s\n%s\nwant\n%s", set, q, got, want)
				}
			}
		}
	}
}
