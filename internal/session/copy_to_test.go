package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// copyFormats are the endings of files that COPY TO writes.
var copyFormats = []string{"csv", "json", "parquet", "arrow", "tbl", "csv.gz"}

// A result that is much larger than the memory of its statement is written as it comes: computed from numbers, with texts made by
// generated code and in Go, from a table, and from files of each kind.
func TestCopyLargerThanMemory(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	const rows = 250_000
	file := func(name string) string { return filepath.Join(dir, name) }
	mustRun(t, s, fmt.Sprintf(`create table t as select i, i * 7 as j, 'text of the row ' || i || repeat('x', 40) as s from range(%d) r(i);
		COPY t TO '%s' (ROW_GROUP_SIZE 8000); COPY t TO '%s'; COPY t TO '%s'`, rows, file("in.parquet"), file("in.csv"), file("in.json")))
	reader := New(s.DB)
	mustRun(t, s, "SET threads = 3; SET memory_limit = '20MB'")
	if _, err := ask(s, "select i, s || 'y' from t order by s desc"); diag.CodeOf(err) != diag.OutOfMemory {
		t.Fatalf("the limit is too large for this test: %v", err)
	}
	for i, from := range []string{
		fmt.Sprintf("select i, i * 7 as j, 'text of the row ' || i || repeat('x', 40) as s from range(%d) r(i)", rows),
		fmt.Sprintf("select i, i * 7 as j, replace('text of the row ' || i || repeat('y', 40), 'y', 'x') as s from range(%d) r(i)", rows), // in Go
		"select i, j, s || '' as s from t",
		"from t",
		"from '" + file("in.parquet") + "'",
		"select i, j, s || '' as s from '" + file("in.csv") + "'",
		"from '" + file("in.json") + "'",
	} {
		out := file("out." + copyFormats[i%len(copyFormats)])
		if strings.HasSuffix(out, "parquet") { // a row group has room of its own
			mustRun(t, s, fmt.Sprintf("COPY (%s) TO '%s' (ROW_GROUP_SIZE 10000)", from, out))
		} else {
			mustRun(t, s, fmt.Sprintf("COPY (%s) TO '%s'", from, out))
		}
		if strings.HasSuffix(out, "arrow") || strings.HasSuffix(out, "tbl") { // the one is read as a whole, the other has no names
			continue
		}
		got := rowsOf(t, reader, "select count(*), sum(i), sum(j), min(s), max(length(s)) from '"+out+"'")
		n := int64(rows)
		want := fmt.Sprintf("%d|%d|%d|text of the row 0%s|%d\n", n, n*(n-1)/2, 7*n*(n-1)/2, strings.Repeat("x", 40), len("text of the row ")+6+40)
		if got != want {
			t.Errorf("%s as %s: %s, want %s", from, filepath.Base(out), got, want)
		}
	}
}

// onlyFile fails if a folder has anything but one file.
func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Name() != name {
			t.Errorf("%s was left behind", f.Name())
		}
	}
}

// COPY TO that fails half way, or is canceled, leaves no file, and the one that was there before.
func TestCopyUnfinished(t *testing.T) {
	dir := t.TempDir()
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Threads = 4 })
	for _, ext := range copyFormats {
		out := filepath.Join(dir, "old."+ext)
		if err := os.WriteFile(out, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ask(s, "COPY (select i, 1 / (90000 - i) as x from range(100000) r(i)) TO '"+out+"'"); diag.CodeOf(err) != diag.DivisionByZero {
			t.Errorf("%s: %v", ext, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		_, err := s.Query(ctx, "COPY (select i, 'x' || i as s from range(1000000000000) r(i)) TO '"+out+"'")
		cancel()
		if diag.CodeOf(err) != diag.QueryCanceled {
			t.Errorf("%s: %v", ext, err)
		}
		if b, err := os.ReadFile(out); err != nil || string(b) != "old" {
			t.Errorf("%s: the file that was there is now %.20q, %v", ext, b, err)
		}
		onlyFile(t, dir, filepath.Base(out))
		os.Remove(out)
	}
}

// failingWriter takes some bytes and no more.
type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// If what COPY writes to fails, so does the statement, once, though several threads bring rows.
func TestCopyWriteFails(t *testing.T) {
	s := New(NewDB())
	for _, threads := range []int{1, 8} {
		s.Configure(func(x *Settings) { x.Threads, x.Off.ThreadTrial = threads, true })
		s.Stdout = &failingWriter{1 << 20}
		if _, err := s.Query(context.Background(), "COPY (select i, 'x' || i from range(100000000000) r(i)) TO STDOUT"); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%d threads: %v", threads, err)
		}
	}
}

// Several files: of a size each, in order, or one for each thread that writes.
func TestCopyToFolder(t *testing.T) {
	dir := t.TempDir()
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Threads, x.Off.ThreadTrial = 3, true })
	mustRun(t, s, "create table t as select i, 'text ' || i as s from range(100000) r(i)")
	for i, c := range []struct{ from, options, ending, files string }{
		{"t", "FORMAT csv, FILE_SIZE_BYTES 250000", "csv", "count(*) BETWEEN 4 AND 10"},
		{"(select * from t where i >= 0 order by i)", "FORMAT csv, FILE_SIZE_BYTES '200kB'", "csv", "count(*) BETWEEN 4 AND 10"},
		{"t", "FORMAT json, PER_THREAD_OUTPUT", "json", "count(*) BETWEEN 1 AND 3"},
		{"t", "FORMAT parquet, PER_THREAD_OUTPUT true, FILE_SIZE_BYTES '50kB', ROW_GROUP_SIZE 10000", "parquet", "count(*) BETWEEN 2 AND 20"},
		{"(select i + 0 as i, s from t)", "FORMAT arrow, PER_THREAD_OUTPUT", "arrow", "count(*) BETWEEN 1 AND 3"},
		{"(select i, s from t where i < 0)", "FORMAT parquet, PER_THREAD_OUTPUT", "parquet", "count(*) = 0"},
	} {
		folder := filepath.Join(dir, fmt.Sprint(i))
		copy := "COPY " + c.from + " TO '" + folder + "' (" + c.options + ")"
		mustRun(t, s, copy)
		read := "read_" + strings.Replace(c.ending, "tbl", "csv", 1) + "('" + folder + "/data_*." + c.ending + "', filename = true)"
		if c.files == "count(*) = 0" {
			if got := rowsOf(t, s, "SELECT count(*) FROM "+read); got != "0\n" {
				t.Errorf("%s: %s", copy, got)
			}
			onlyFile(t, folder, "data_0.parquet")
			continue
		}
		if got := rowsOf(t, s, "SELECT count(*), sum(i), count(DISTINCT s) FROM "+read); got != "100000|4999950000|100000\n" {
			t.Errorf("%s: %s", copy, got)
		}
		if got := rowsOf(t, s, "SELECT "+c.files+" FROM (SELECT DISTINCT filename FROM "+read+")"); got != "true\n" {
			t.Errorf("%s: not %s files", copy, c.files)
		}
		if !strings.Contains(c.options, "PER_THREAD") { // rows are in the order of the files
			if got := rowsOf(t, s, `SELECT count(*) FROM (SELECT max(i) AS hi, lead(min(i)) OVER (ORDER BY length(filename), filename) AS next FROM `+read+` GROUP BY filename) WHERE hi > next`); got != "0\n" {
				t.Errorf("%s: out of order", copy)
			}
		}
		if _, err := ask(s, copy); diag.CodeOf(err) != diag.DuplicateFile {
			t.Errorf("%s again: %v", copy, err)
		}
		mustRun(t, s, strings.TrimSuffix(copy, ")")+", OVERWRITE_OR_IGNORE)")
	}
	folder := filepath.Join(dir, "failed")
	for _, options := range []string{"FORMAT csv, PER_THREAD_OUTPUT", "FORMAT parquet, FILE_SIZE_BYTES '10kB', ROW_GROUP_SIZE 1000"} {
		if _, err := ask(s, "COPY (select i, 1 / (90000 - i) as x from t) TO '"+folder+"' ("+options+")"); diag.CodeOf(err) != diag.DivisionByZero {
			t.Errorf("%s: %v", options, err)
		}
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the folder is there: %v", options, err)
		}
	}
	for _, q := range []string{"COPY t TO '" + folder + "' (PER_THREAD_OUTPUT, PARTITION_BY (i))", "COPY t TO STDOUT (FILE_SIZE_BYTES 10)"} {
		if _, err := ask(s, q); diag.CodeOf(err) != diag.FeatureNotSupported {
			t.Errorf("%s: %v", q, err)
		}
	}
	if _, err := ask(s, "COPY t TO '"+folder+"' (FILE_SIZE_BYTES 'much')"); diag.CodeOf(err) != diag.InvalidParameter {
		t.Errorf("a senseless size: %v", err)
	}
}
