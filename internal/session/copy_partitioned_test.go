package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// below are the files in a folder, sorted.
func below(t *testing.T, folder string) (out []string) {
	t.Helper()
	if err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(folder, path)
			out = append(out, path)
		}
		return err
	}); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// Many partitions, more than there are files open, in all formats, on several threads: rows read as they were, and in each folder
// they are in order.
func TestCopyManyPartitions(t *testing.T) {
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Threads, x.Off.ThreadTrial = 3, true })
	const rows, parts = 20_000, 250
	mustRun(t, s, fmt.Sprintf("create table t as select i, i * 7919 %% %d as k, 'text ' || i as s, case when i %% 3 = 0 then null else i * 0.25 end as x from range(%d) r(i)", parts, rows))
	for _, c := range []struct{ from, options, ending string }{
		{"(select i, k % 102 as k, s, x from t)", "FORMAT csv, HEADER", "csv"}, // files are closed while others want them
		{"t", "FORMAT csv", "csv"},
		{"(select i, k, s || '' as s, x from t)", "FORMAT parquet", "parquet"},
		{"(select i, k, s || '' as s, x from t where i >= 0)", "FORMAT json, COMPRESSION gzip", "json.gz"},
		{"(select * from t order by i)", "FORMAT csv, FILE_SIZE_BYTES 500", "csv"},
	} {
		parts, from := parts, c.from
		if strings.Contains(from, "102") {
			parts = 102
		}
		want := rowsOf(t, s, "SELECT count(*), sum(i), sum(k * i), count(distinct s), sum(x), count(distinct k) FROM "+from)
		out := filepath.Join(t.TempDir(), "out")
		mustRun(t, s, "SET memory_limit = '3MB'")
		mustRun(t, s, "COPY "+from+" TO '"+out+"' ("+c.options+", PARTITION_BY k)")
		list := below(t, out)
		folders := map[string]bool{}
		for _, f := range list {
			folders[filepath.Dir(f)] = true
			if !strings.HasSuffix(f, "."+c.ending) || !strings.HasPrefix(filepath.Base(f), "data_") {
				t.Fatalf("%s: a file %s", c.options, f)
			}
		}
		one := !strings.Contains(c.options, "parquet") && !strings.Contains(c.options, "SIZE") // rows are added to files that were closed
		if len(folders) != parts || one != (len(list) == parts) || !slices.Contains(list, filepath.Join("k=17", "data_0."+c.ending)) {
			t.Errorf("%s: %d files in %d folders", c.options, len(list), len(folders))
		}
		files := "read_" + strings.TrimSuffix(c.ending, ".gz") + "('" + out + "/*/data_*." + c.ending + "', filename = true)"
		mustRun(t, s, "SET memory_limit = 0")
		if got := rowsOf(t, s, "SELECT count(*), sum(i), sum(k * i), count(distinct s), sum(x)::decimal(18,2), count(distinct k) FROM "+files); got != want {
			t.Errorf("%s: %s, want %s", c.options, got, want)
		}
		if got := rowsOf(t, s, "SELECT count(*) FROM (SELECT i, lag(i) OVER (PARTITION BY filename) AS before FROM "+files+") WHERE i < before"); got != "0\n" {
			t.Errorf("%s: %s rows are out of order", c.options, got)
		}
	}
}

// Values of all types name folders, NULL and what paths cannot have too, and every kind of column is in the files.
func TestCopyPartitionTypes(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	mustRun(t, s, `create table t as select i, case i % 4 when 0 then null when 1 then '' when 2 then 'a/b=c% ž' else '__HIVE_DEFAULT_PARTITION__' end as "a b/=",
		i % 2 = 0 as b, case when i > 1 then timestamp '2024-01-02 03:04:05' + i * interval '1 hour' end as ts, (i * 1.5)::decimal(20,1) as n, [i, null, i + 1] as l,
		case when i <> 3 then {'x': i, 'y': 'text ' || i} end as st, map {'k' || i: [i]} as m, 'ž' || i as s, null as nothing, i % 3 = 0 as c, i * interval '1 day' as d from range(9) r(i)`)
	for _, format := range []string{"parquet", "arrow"} {
		for key, folder := range map[string]string{
			`"a b/="`: "a%20b%2F%3D=a%2Fb%3Dc%25%20%C5%BE", "b": "b=true", "ts": "ts=2024-01-02%2005%3A04%3A05", "n": "n=12.0", `(b, "a b/=")`: "b=true/a%20b%2F%3D=__HIVE_DEFAULT_PARTITION__",
		} {
			out := filepath.Join(dir, format+folder[:1]+fmt.Sprint(len(key)))
			mustRun(t, s, "COPY t TO '"+out+"' (FORMAT "+format+", PARTITION_BY "+key+", WRITE_PARTITION_COLUMNS)")
			if _, err := os.Stat(filepath.Join(out, folder, "data_0."+format)); err != nil {
				t.Error(err)
			}
			values := `SELECT i, "a b/=", b, ts, n, l, st, m, s, nothing, c, d FROM `
			if format == "arrow" {
				values = `SELECT i, "a b/=", b, ts, n, l, s, nothing, c, d FROM `
			}
			if got, want := rowsOf(t, s, values+"read_"+format+"('"+out+"/**/*."+format+"') ORDER BY i"), rowsOf(t, s, values+"t ORDER BY i"); got != want {
				t.Errorf("%s by %s:\n%swant\n%s", format, key, got, want)
			}
			out += "less"
			mustRun(t, s, "COPY t TO '"+out+"' (FORMAT "+format+", PARTITION_BY "+key+")")
			if got, want := rowsOf(t, s, `SELECT i, "a b/=", b, ts, s FROM read_`+format+"('"+out+"/**/*."+format+"') ORDER BY i"), rowsOf(t, s, `SELECT i, "a b/=", b, ts, s FROM t ORDER BY i`); got != want {
				t.Errorf("%s by %s, in folders alone:\n%swant\n%s", format, key, got, want)
			}
		}
	}
}

// What becomes of files that are there already, how new ones are named, and what is left when it fails.
func TestCopyPartitionFiles(t *testing.T) {
	s := New(NewDB())
	out := filepath.Join(t.TempDir(), "a", "b")
	mustRun(t, s, "create table t as select i, i % 2 as k from range(4) r(i)")
	copyTo := func(options string) error {
		_, err := ask(s, "COPY t TO '"+out+"' (FORMAT csv, PARTITION_BY k"+options+")")
		return err
	}
	sees := func(what string, want ...string) {
		t.Helper()
		list := below(t, out)
		for i := range list { // UUIDs are any
			if name := filepath.Base(list[i]); strings.Count(name, "-") == 4 {
				list[i] = filepath.Join(filepath.Dir(list[i]), "uuid"+name[36:])
			}
		}
		if slices.Sort(list); !slices.Equal(list, want) {
			t.Errorf("%s: %v, want %v", what, list, want)
		}
	}
	for _, c := range []struct {
		options string
		code    string
		want    []string
	}{
		{", FILENAME_PATTERN 'x/{i}'", diag.InvalidParameter, nil},
		{", FILENAME_PATTERN '{i}{uuid}'", diag.InvalidParameter, nil},
		{", OVERWRITE, APPEND", diag.InvalidParameter, nil},
		{"", "", []string{"k=0/data_0.csv", "k=1/data_0.csv"}},
		{"", diag.DuplicateFile, []string{"k=0/data_0.csv", "k=1/data_0.csv"}},
		{", OVERWRITE false", diag.DuplicateFile, []string{"k=0/data_0.csv", "k=1/data_0.csv"}},
		{", OVERWRITE_OR_IGNORE, FILENAME_PATTERN 'x{i}y', FILE_EXTENSION '.foo'", "", []string{"k=0/data_0.csv", "k=0/x0y.foo", "k=1/data_0.csv", "k=1/x0y.foo"}},
		{", OVERWRITE, FILENAME_PATTERN 'name'", "", []string{"k=0/name0.csv", "k=1/name0.csv"}},
		{", APPEND, FILENAME_PATTERN 'name'", "", []string{"k=0/name0.csv", "k=0/name1.csv", "k=1/name0.csv", "k=1/name1.csv"}},
		{", APPEND", "", []string{"k=0/name0.csv", "k=0/name1.csv", "k=0/uuid.csv", "k=1/name0.csv", "k=1/name1.csv", "k=1/uuid.csv"}},
	} {
		if err := copyTo(c.options); err == nil && c.code != "" || err != nil && diag.CodeOf(err) != c.code {
			t.Errorf("%q: %v", c.options, err)
		}
		sees(c.options, c.want...)
	}
	if got := rowsOf(t, s, "SELECT count(*), sum(i) FROM '"+out+"/**/*.csv'"); got != "12|18\n" {
		t.Error(got)
	}

	// Nothing changes if it fails, if it is canceled, or if a folder cannot be made.
	mustRun(t, s, "SET memory_limit = '4MB'; SET threads = 4")
	before := below(t, out)
	for _, options := range []string{"OVERWRITE", "OVERWRITE_OR_IGNORE", "APPEND"} {
		if _, err := ask(s, "COPY (select i, i % 200 as k, 1 / (90000 - i) as x from range(100000) r(i)) TO '"+out+"' (FORMAT csv, PARTITION_BY k, "+options+")"); diag.CodeOf(err) != diag.DivisionByZero {
			t.Errorf("%s: %v", options, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_, err := s.Query(ctx, "COPY (select i, i % 300 as k from range(1000000000000) r(i)) TO '"+out+"' (FORMAT parquet, PARTITION_BY k, "+options+")")
		cancel()
		if diag.CodeOf(err) != diag.QueryCanceled {
			t.Errorf("%s: %v", options, err)
		}
		if list := below(t, out); !slices.Equal(list, before) {
			t.Errorf("%s that fails leaves %v", options, list)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "k=3"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(s, "COPY (select i, i as k from range(9) r(i)) TO '"+out+"' (FORMAT csv, PARTITION_BY k, OVERWRITE_OR_IGNORE)"); err == nil {
		t.Error("a file is in the way of a folder")
	}
	if list := below(t, out); !slices.Equal(list, append(before, "k=3")) {
		t.Errorf("a folder that cannot be made: %v", list)
	}
	if list, err := os.ReadDir(out); err != nil || slices.ContainsFunc(list, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }) {
		t.Errorf("left behind: %v, %v", list, err)
	}
	if _, err := ask(s, "COPY t TO '"+strings.Repeat("x", 300)+"' (FORMAT csv, PARTITION_BY k)"); diag.CodeOf(err) != diag.IOError {
		t.Error(err)
	}
}
