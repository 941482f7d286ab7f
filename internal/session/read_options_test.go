package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestReadOptions asks for files with what can be said of them, read whole and in blocks of a few bytes.
func TestReadOptions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a.csv", "k;v\n1;x\n2;NA\n3;-\n")
	write("b.csv", "v;w\ny;1.5\n")
	write("skip.csv", "\xef\xbb\xbfmade by \"a tool\n\nk,v\n1,ä\n2,b\n")
	write("comment.csv", "# one, \"two\nk,v\n#3,4\n1,a#b\n# last\n2,\"#c\"\n#")
	write("one.csv", "v\n# no\na\n\nb\n")
	write("days.csv", "d,s,n\n31.12.2024,31.12.2024 23:59,1\n01.02.2023,,2\n")
	write("bad.csv", "k,v\n1,a\nx,b\n2\n3,c,d\n,e\n4,f,\n5,\"g\"\n")
	write("codes.csv", "c,n\n007,1\n008,2\n")
	write("year=2024/p.csv", "k\n1\n")
	write("year=2023/p.csv", "k\n2\n")
	write("a.json", `{"k": 1, "v": "x", "more": [1]}`+"\n"+`{"v": "y"}`)
	write("b.json", `[{"k": 2.5}]`)
	write("mark;.csv", "a\n1\n")

	cases := []struct{ from, want string }{
		{`read_csv('a.csv')`, "1|x\n2|NA\n3|-\n"},
		{`read_csv('a.csv', nullstr = 'NA')`, "1|x\n2|NULL\n3|-\n"},
		{`read_csv('a.csv', nullstr => ['NA', '-'], sep = ';')`, "1|x\n2|NULL\n3|NULL\n"},
		{`read_csv('a.csv', names = ['a', 'b']) where a > 1 and b <> '-'`, "2|NA\n"},
		{`read_csv('a.csv', types = {'K': 'VARCHAR'}) where k || 'x' = '1x'`, "1|x\n"},
		{`read_csv('a.csv', types = ['DOUBLE']) where k / 2 = 0.5`, "1|x\n"},
		{`read_csv('a.csv', columns = {'p': 'DECIMAL(5,2)', 'q': 'VARCHAR'}, header = true)`, "1.00|x\n2.00|NA\n3.00|-\n"},
		{`read_csv('a.csv', columns = {'k': 'BIGINT', 'v': 'VARCHAR'})`, "1|x\n2|NA\n3|-\n"},
		{`read_csv('a.csv', header = false, delim = ';')`, "k|v\n1|x\n2|NA\n3|-\n"},
		{`read_csv(['a.csv', 'a.csv'])`, "1|x\n2|NA\n3|-\n1|x\n2|NA\n3|-\n"},
		{`read_csv(['a.csv', 'b.csv'], union_by_name = true)`, "1|x|NULL\n2|NA|NULL\n3|-|NULL\nNULL|y|1.5\n"},
		{`read_csv('skip.csv', skip = 1)`, "1|ä\n2|b\n"},
		{`read_csv('skip.csv', skip = 3, header = false)`, "1|ä\n2|b\n"},
		{`read_csv('comment.csv', comment = '#')`, "1|a#b\n2|#c\n"},
		{`read_csv('one.csv', comment = '#')`, "a\nNULL\nb\n"},
		{`read_csv('days.csv', dateformat = '%d.%m.%Y', timestampformat = '%d.%m.%Y %H:%M')`,
			"2024-12-31|2024-12-31 23:59:00|1\n2023-02-01|NULL|2\n"},
		{`read_csv('days.csv', dateformat = '%d.%m.%Y', columns = {'d': 'DATE', 's': 'VARCHAR', 'n': 'INTEGER'})`,
			"2024-12-31|31.12.2024 23:59|1\n2023-02-01|NULL|2\n"},
		{`read_csv('bad.csv', ignore_errors = true, types = {'k': 'BIGINT'})`, "1|a\nNULL|e\n4|f\n5|g\n"},
		{`read_csv('codes.csv')`, "007|1\n008|2\n"},
		{`read_csv('codes.csv', types = {'c': 'INTEGER'})`, "7|1\n8|2\n"},
		{`read_csv('year=*/p.csv') order by k`, "1|2024\n2|2023\n"},
		{`read_csv('year=*/p.csv', hive_partitioning = false) order by k`, "1\n2\n"},
		{`(select k, year, parse_filename(filename) from read_csv('year=*/p.csv', filename = true)) order by k`, "1|2024|p.csv\n2|2023|p.csv\n"},
		{`(select filename = 'DIR/year=2024/p.csv' from read_csv('year=*/p.csv', filename = true, columns = {'k': 'INTEGER'}) where year = 2024)`, "true\n"},
		{`read_json('a.json')`, "1|x|{1}\nNULL|y|NULL\n"},
		{`read_json('a.json', columns = {'v': 'VARCHAR', 'nope': 'INTEGER'})`, "x|NULL\ny|NULL\n"},
		{`(select k, filename = 'DIR/a.json' as a from read_json(['a.json', 'b.json'], filename = true)) order by k`, "1|true\n2.5|false\nNULL|true\n"},
		{`(select k, v from read_json(['a.json', 'b.json'], union_by_name = true)) order by k, v`, "1|x\n2.5|NULL\nNULL|y\n"},
		{`read_csv('a.csv', parallel = false, auto_detect = true, max_line_size = 100, compression = 'auto', encoding = 'UTF-8') where k = 1`, "1|x\n"},
	}
	expand := func(text string) string {
		for _, name := range []string{"a.csv", "b.csv", "skip.csv", "comment.csv", "one.csv", "days.csv", "bad.csv", "codes.csv", "a.json", "b.json", "year=*/p.csv"} {
			text = strings.ReplaceAll(text, "'"+name+"'", "'"+dir+"/"+name+"'")
		}
		return strings.ReplaceAll(text, "DIR", dir)
	}
	for _, set := range []string{"", "SET file_block = 8; SET threads = 1", "SET file_cache = off; SET file_block = 40; SET threads = 4; SET morsel_rows = 1"} {
		s := New(NewDB())
		rowsOf(t, s, "SELECT 1; "+set)
		for _, c := range cases {
			if got := rowsOf(t, s, expand("FROM "+c.from)); got != c.want {
				t.Errorf("%s\n%s\ngot:\n%swant:\n%s", set, c.from, got, c.want)
			}
		}
	}

	s := New(NewDB())
	for _, c := range []struct{ sql, code, says string }{
		{"FROM read_csv('a.csv', nope = 1)", diag.SyntaxError, `option "nope" not recognized`},
		{"FROM read_csv('a.csv', skip = -1)", diag.InvalidParameter, `option "skip" must be a number from 0 on`},
		{"FROM read_csv('a.csv', normalize_names = true)", diag.FeatureNotSupported, "the option normalize_names of read_csv"},
		{"FROM read_csv('a.csv', encoding = 'latin-7')", diag.FeatureNotSupported, "the encoding \"latin-7\""},
		{"FROM read_json('a.json', delim = ',')", diag.FeatureNotSupported, "the option delim of read_json"},
		{"FROM read_csv('a.csv', types = {'z': 'INTEGER'})", diag.UndefinedColumn, `has no column "z", whose type is given`},
		{"FROM read_csv('a.csv', columns = ['INTEGER'])", diag.InvalidParameter, `option "columns" must be {'name': 'TYPE', …}`},
		{"FROM read_csv('a.csv', types = {'k': 'NOTYPE'})", diag.UndefinedObject, ""},
		{"FROM read_csv('a.csv', names = ['a', 'b', 'c'])", diag.InvalidParameter, "has 2 columns, but 3 names are given"},
		{"FROM read_csv([])", diag.InvalidParameter, "needs the name of a file"},
		{"FROM read_csv(['a.csv', 'none.csv'])", diag.UndefinedFile, ""},
		{"FROM read_csv('days.csv', dateformat = '%d.%m.%Y', types = {'n': 'DATE'})", diag.InvalidDatetime, "could not parse"},
	} {
		_, err := s.Query(context.Background(), expand(c.sql))
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s %s", c.sql, err, c.code, c.says)
		}
	}
}

// TestCopyTolerant: COPY FROM leaves lines and rows out as read_csv does.
func TestCopyTolerant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("title\n# c\nk,v\n1,a\nx,b\n2,c,d\n3,e\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := New(NewDB())
	rowsOf(t, s, "CREATE TABLE t (k INTEGER, v VARCHAR)")
	for _, option := range []string{"ignore_errors true", "on_error ignore"} {
		if got := rowsOf(t, s, "TRUNCATE t; COPY t FROM '"+path+"' (skip 1, comment '#', header, "+option+"); SELECT * FROM t"); got != "1|a\n3|e\n" {
			t.Errorf("%s: %s", option, got)
		}
	}
	if _, err := s.Query(context.Background(), "COPY t FROM '"+path+"' (skip 1, comment '#', header, on_error stop)"); diag.CodeOf(err) != diag.InvalidTextRepresentation {
		t.Error(err)
	}
}

// TestCopyPartitioned: files in folders named after values, which read as they were.
func TestCopyPartitioned(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, `CREATE TABLE t (a INTEGER, b VARCHAR, d DATE, n DECIMAL(6,2))`)
	rowsOf(t, s, `INSERT INTO t VALUES (1, 'x', '2024-01-02', 1.5), (2, 'a/b=c%', NULL, 2), (3, NULL, '2024-01-02', NULL), (4, 'x', '2023-05-06', 4), (5, 'é ü', NULL, 5), (6, '..', NULL, 6)`)
	want := rowsOf(t, s, "SELECT a, n, b, d FROM t ORDER BY a")
	for _, format := range []string{"parquet", "csv", "json", "csv, compression gzip"} {
		dir := filepath.Join(t.TempDir(), "out")
		copyTo := "COPY t TO '" + dir + "' (format " + format + ", partition_by (b, d)"
		if got := rowsOf(t, s, copyTo+")"); got != "" {
			t.Error(got)
		}
		ext, _, _ := strings.Cut(format, ",")
		if _, err := os.Stat(filepath.Join(dir, "b=a%2Fb%3Dc%25", "d=__HIVE_DEFAULT_PARTITION__", "data_0."+ext)); err != nil && !strings.Contains(format, "gzip") {
			t.Error(err)
		}
		if got := rowsOf(t, s, "SELECT a, n, b, d FROM '"+dir+"/**' ORDER BY a"); strings.ReplaceAll(got, ".00", "") != strings.ReplaceAll(strings.ReplaceAll(want, ".00", ""), "1.50", "1.5") && format != "parquet" || format == "parquet" && got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", format, got, want)
		}
		if _, err := s.Query(context.Background(), copyTo+")"); diag.CodeOf(err) != diag.DuplicateFile {
			t.Errorf("%s: %v", format, err)
		}
		rowsOf(t, s, copyTo+", overwrite_or_ignore)")
		if got := rowsOf(t, s, "SELECT count(*) FROM '"+dir+"/**'"); got != "6\n" {
			t.Errorf("%s: %s", format, got)
		}
	}
	dir := filepath.Join(t.TempDir(), "failed")
	if _, err := s.Query(context.Background(), "COPY (SELECT a, 1 / (a - 4) AS q FROM t) TO '"+dir+"' (format csv, partition_by a)"); diag.CodeOf(err) != diag.DivisionByZero {
		t.Error(err)
	}
	for sql, code := range map[string]string{
		"(format csv, partition_by nope)":         diag.UndefinedColumn,
		"(format csv, partition_by (a, a))":       diag.DuplicateColumn,
		"(format csv, partition_by (a, b, d, n))": diag.InvalidParameter,
		"(format csv, partition_by (a + 1))":      diag.SyntaxError,
	} {
		if _, err := s.Query(context.Background(), "COPY t TO '"+dir+"' "+sql); diag.CodeOf(err) != code {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestCopyArrow: other programs read what COPY writes.
func TestCopyArrow(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	for rows, sql := range map[int64]string{
		5000: "SELECT i::INTEGER AS i, 'ä' || i AS s, CASE WHEN i % 3 = 0 THEN DATE '2024-01-01' + i::INTEGER END AS d, i / 4.0::DECIMAL(4,1) AS n FROM range(5000) r(i)",
		0:    "SELECT 1 AS a WHERE false",
	} {
		for _, option := range []string{"", " (compression zstd)", " (format arrow, compression lz4)"} {
			path := filepath.Join(dir, "x.arrow")
			rowsOf(t, s, "COPY ("+sql+") TO '"+path+"'"+option)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := ipc.NewFileReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			n := int64(0)
			for i := range r.NumRecords() {
				rec, err := r.RecordBatch(i)
				if err != nil {
					t.Fatal(err)
				}
				n += rec.NumRows()
			}
			if n != rows {
				t.Errorf("%d rows, want %d", n, rows)
			}
			r.Close()
		}
	}
}
