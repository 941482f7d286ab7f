package session

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestCSVStreams asks the same of a CSV file that is loaded and of one that is read while the query runs, in blocks of
// many sizes.
func TestCSVStreams(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	rowsOf(t, s, `COPY (SELECT range AS k, range % 7 AS g, CASE WHEN range % 11 = 0 THEN NULL ELSE (range * 37) % 1000 END AS n,
		'name ' || (range % 30) AS s, 'a text, of its own: "' || range || '"' AS own, CASE WHEN range % 3 = 0 THEN NULL ELSE 'x' || (range % 5) END AS sn,
		CAST(range AS DECIMAL(30,0)) * 12345678901234567890 AS d, CAST(range AS DOUBLE) / 4 AS f, DATE '1995-01-01' + CAST(range % 3000 AS INTEGER) AS day,
		range % 2 = 0 AS b, CAST(NULL AS INTEGER) AS nothing FROM range(0, 3000) ORDER BY range) TO '`+dir+`/one.csv'`)
	for i, rows := range []string{"k < 100", "k < 0", "k >= 100"} {
		rowsOf(t, s, fmt.Sprintf("COPY (SELECT * FROM '%s/one.csv' WHERE %s) TO '%s/part%d.csv.gz'", dir, rows, dir, i))
	}
	queries := []string{
		"SELECT count(*) FROM %s t",
		"SELECT own, k, sn, d, f, own FROM %s t",
		"SELECT * FROM %s t LIMIT 3 OFFSET 2499",
		"SELECT * FROM %s t LIMIT 0",
		"SELECT k + 1, own FROM %s t WHERE g = 3 LIMIT 5",
		"SELECT * FROM %s t WHERE k >= 1345 AND k < 1350 ORDER BY k",
		"SELECT * FROM %s t ORDER BY f DESC LIMIT 3",
		"SELECT sn, k FROM %s t ORDER BY sn, k DESC LIMIT 7",
		"SELECT g, s, count(*), sum(n), min(day), max(d), max(f), bool_and(b) FROM %s t GROUP BY g, s ORDER BY g, s",
		"SELECT max(own), min(sn), max(s), count(DISTINCT s), max(upper(s)) FROM %s t",
		"SELECT own, g, max(s), min(sn) FROM %s t GROUP BY own, g ORDER BY own LIMIT 20",
		"SELECT substring(s, 3), max(own), count(sn), min(coalesce(sn, own)) FROM %s t GROUP BY 1 ORDER BY 1",
		"SELECT sn, count(*), count(n), min(own) FROM %s t WHERE s = 'name 4' GROUP BY sn ORDER BY sn",
		"SELECT count(*), sum(length(own)) FROM %s t WHERE own LIKE '%%99%%'",
		"SELECT count(*), max(a.own) FROM %s a JOIN %s b ON a.k = b.k + 1 AND a.sn = b.sn WHERE b.n < 100",
		"SELECT a.k, b.own FROM %s a LEFT JOIN %s b ON a.k = b.n AND b.g = 1 ORDER BY 1, 2",
		"SELECT s, max(substring(own, 20)) FROM %s t WHERE k IN (SELECT k FROM %s WHERE day = DATE '1999-09-09') GROUP BY s ORDER BY s",
		"SELECT count(nothing), count(*) FROM %s t WHERE nothing IS NULL",
		"SELECT count(*) FROM %s t WHERE nothing IS NOT NULL",
		"SELECT count(own) FROM (SELECT own FROM %s t LIMIT 5 OFFSET 1000) x",
		"SELECT DISTINCT upper(sn) FROM %s t ORDER BY 1",
		"SELECT k FROM %s t UNION ALL SELECT n FROM %s ORDER BY 1 LIMIT 4",
		"SELECT max(d), sum(d + 1), sum(k * 4000000000) FROM %s t",
		"SELECT k FROM %s t WHERE k NOT IN (SELECT n FROM %s WHERE n IS NOT NULL) ORDER BY k LIMIT 3",
		"WITH w AS (SELECT g, count(*) c FROM %s GROUP BY g) SELECT a.g, b.c FROM w a JOIN w b ON a.g = b.g ORDER BY 1",
	}
	want := rowsFrom(t, s, queries, "'"+dir+"/one.csv'")
	settings := []string{
		"SET file_block = 7", "SET file_block = 5000; SET threads = 4; SET check = on", "SET file_block = 100000; SET threads = 1; SET check = on",
		"SET file_block = 20000; SET morsel_rows = 77; SET threads = 3",
	}
	if !testing.Short() {
		settings = append(settings, "SET file_block = 50000; SET device = simt")
	}
	for i, set := range settings {
		if raced && i != 1 { // threads meet
			continue
		}
		rowsOf(t, s, "RESET ALL")
		rowsOf(t, s, set)
		for _, from := range []string{dir + "/one.csv", dir + "/part*.csv.gz"} {
			for i, got := range rowsFrom(t, s, queries, "'"+from+"'") {
				ordered := i > 2 && i != 4 || !strings.Contains(set, "simt") // lanes finish in any order
				if got != want[i] && got != "" && ordered {
					t.Errorf("%s, from %s: %s\n%s\nwant\n%s", set, filepath.Base(from), queries[i], got, want[i])
				}
			}
		}
		rowsOf(t, s, "CREATE OR REPLACE TABLE back AS SELECT * FROM '"+dir+"/one.csv'")
		for i, got := range rowsFrom(t, s, queries, "back") {
			if got != want[i] && got != "" && !strings.Contains(set, "simt") {
				t.Errorf("%s, CREATE TABLE AS: %s\n%s\nwant\n%s", set, queries[i], got, want[i])
			}
		}
	}
}

// bigCSV writes a file that is too large to be loaded while a query is planned.
func bigCSV(t *testing.T, name string, rows int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	b.WriteString("k,g,s\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,%d,a text of some length %d\n", i, i%10, i)
	}
	if strings.HasSuffix(name, ".gz") {
		z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
		z.Write([]byte(b.String()))
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := f.WriteString(b.String()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCSVMemory: under a memory limit, files of any size and compression are read with little memory.
func TestCSVMemory(t *testing.T) {
	skipRaced(t)
	if !device.HasCPU() {
		t.Skip("no CPU translator")
	}
	s := New(NewDB())
	for _, name := range []string{"x.csv", "x.csv.gz"} {
		path := bigCSV(t, name, 1_000_000) // 40 MB of text
		rowsOf(t, s, "SET memory_limit = '16MB'")
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		held := column.BytesInUse()
		got := rowsOf(t, s, "SELECT count(*), sum(k), max(length(s)) FROM '"+path+"'")
		runtime.ReadMemStats(&after)
		if !strings.Contains(got, "1000000") || !strings.Contains(got, "499999500000") {
			t.Errorf("%s: %s", name, got)
		}
		if n := int64(after.HeapSys) - int64(before.HeapSys); n > 64<<20 {
			t.Errorf("%s: the heap grew by %d MB", name, n>>20)
		}
		if n := column.BytesInUse() - held; n > 8<<20 {
			t.Errorf("%s: %d MB stay", name, n>>20)
		}
		if got := rowsOf(t, s, "SELECT g, count(*), max(s) FROM '"+path+"' GROUP BY g ORDER BY g LIMIT 1"); got != "0|100000|a text of some length 999990\n" {
			t.Errorf("%s: %s", name, got)
		}
		if got := rowsOf(t, s, "SELECT substring(s, 1, 10), min(s) FROM '"+path+"' GROUP BY 1"); got != "a text of |a text of some length 0\n" {
			t.Errorf("%s: %s", name, got)
		}
		_, err := s.Query(context.Background(), "SELECT * FROM '"+path+"'")
		if d := (*diag.Error)(nil); !errors.As(err, &d) || d.Code != diag.OutOfMemory {
			t.Errorf("%s: a result of more than the limit: %v", name, err)
		}
		rowsOf(t, s, "SELECT * FROM '"+path+"' LIMIT 10")
		rowsOf(t, s, "CREATE OR REPLACE TABLE t(k bigint, g bigint, s varchar)")
		_, err = s.Query(context.Background(), "COPY t FROM '"+path+"' (FORMAT csv, HEADER)")
		if d := (*diag.Error)(nil); !errors.As(err, &d) || d.Code != diag.OutOfMemory {
			t.Errorf("%s: a table of more than the limit: %v", name, err)
		}
	}
}

// TestCSVErrors: a value that does not fit is named, with line, column and a way out.
func TestCSVErrors(t *testing.T) {
	s := New(NewDB())
	path := bigCSV(t, "x.csv", 200_000)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "oops,1,x\n007,1,x\n1,1\n")
	f.Close()
	for _, c := range []struct{ query, want string }{
		{"SELECT sum(k) FROM '%s'", `line 200002, column "k"`},
		{"SELECT sum(k) FROM '%s'", "read_csv('…', all_varchar => true)"},
		{"SELECT count(*) FROM '%s'", "line 200004"}, // k is not looked at
		{"SELECT k FROM '%s'", `line 200002, column "k"`},
		{"CREATE TABLE x AS SELECT * FROM '%s'", `invalid input syntax for type bigint: "oops"`},
	} {
		_, err := s.Query(context.Background(), fmt.Sprintf(c.query, path))
		if err == nil || !strings.Contains(diag.Format(err, ""), c.want) {
			t.Errorf("%s: %v\nwant %s", c.query, diag.Format(err, ""), c.want)
		}
	}
	// Rows before the mistake can be had.
	if got := rowsOf(t, s, "SELECT max(k) FROM (SELECT k FROM '"+path+"' LIMIT 1000) x"); !strings.Contains(got, "999") {
		t.Error(got)
	}
}

// TestReadCSV: what may be said of a file, and what may not.
func TestReadCSV(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a.csv", "k;v\n1;'x;y'\n2;NA\n")
	write("zip.csv", "zip,n\n01067,1\n10115,12345678901234567890\n")
	write("late.csv", strings.Repeat("1,2\n", 1_200_000)+"x,2.5\n")
	for _, block := range []string{"0", "5"} {
		rowsOf(t, s, "SET file_block = "+block)
		for _, c := range []struct{ query, want string }{
			{"SELECT * FROM read_csv('DIR/a.csv', quote => '''', nullstr => 'NA')", "1|x;y\n2|NULL\n"},
			{"SELECT * FROM read_csv('DIR/a.csv', delim => ',')", "1;'x;y'\n2;NA\n"},
			{"SELECT * FROM read_csv('DIR/a.csv', header => false, all_varchar => true) LIMIT 1", "k|v\n"},
			{"SELECT zip, n FROM 'DIR/zip.csv'", "01067|1\n10115|12345678901234567890\n"},
			{"SELECT count(DISTINCT n), max(n) - 1 FROM 'DIR/zip.csv'", "2|12345678901234567889\n"},
			{"SELECT sum(length(zip)) FROM read_csv('DIR/zip.csv', all_varchar => true)", "10\n"},
		} {
			if got := rowsOf(t, s, strings.ReplaceAll(c.query, "DIR", dir)); got != c.want {
				t.Errorf("%s:\n%s\nwant\n%s", c.query, got, c.want)
			}
		}
	}
	rowsOf(t, s, "RESET ALL")
	for _, c := range []struct{ query, want string }{
		{"SELECT column0, column1 FROM read_csv('DIR/late.csv', sample_size => -1) LIMIT 1", "1|2\n"},
		{"SELECT max(column0), max(column1) FROM read_csv('DIR/late.csv', sample_size => -1)", "x|2.5\n"},
	} {
		if got := rowsOf(t, s, strings.ReplaceAll(c.query, "DIR", dir)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.query, got, c.want)
		}
	}
	for _, c := range []struct{ query, want string }{
		{"SELECT * FROM 'DIR/late.csv' WHERE column0 > 1", "sample_size => -1"},
		{"SELECT * FROM read_csv('DIR/a.csv', heder => true)", "header"},
		{"SELECT * FROM read_csv('DIR/a.csv', delim => 'ab')", "single one-byte"},
		{"SELECT * FROM read_csv('DIR/a.csv', sample_size => 0)", "sample_size must be"},
		{"SELECT * FROM read_csv('DIR/a.csv', 'DIR/b.csv')", "options are given by name"},
		{"SELECT * FROM read_csv()", "name of a file"},
		{"SELECT * FROM read_csv(7)", "name of a file"},
		{"SELECT * FROM read_parquet('DIR/a.parquet', header => true)", "the option header of read_parquet is not supported"},
	} {
		_, err := s.Query(context.Background(), strings.ReplaceAll(c.query, "DIR", dir))
		if err == nil || !strings.Contains(diag.Format(err, ""), c.want) {
			t.Errorf("%s: %v\nwant %s", c.query, err, c.want)
		}
	}
}
