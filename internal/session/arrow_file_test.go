package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// arrowRows has a column of each type that Arrow files have, extremes, NULLs and more rows than a segment.
const arrowRows = `CREATE TABLE t AS
	SELECT 1::smallint AS i, 2 AS n, 9223372036854775807 AS l, 1.5::real AS r, 'NaN'::double AS f, -12.34::decimal(10,2) AS d,
		-99999999999999999999999999999999999999::decimal(38,0) AS w, true AS b, date '1600-02-29' AS day, timestamp '1969-12-31 23:59:59.999999' AS ts,
		timestamptz '2024-01-02 03:04:05+01' AS tz, time '24:00:00' AS t, interval '1 month -2 days 03:00:00.5' AS iv, 'Grüße, 世界' AS s, '\x00ff'::bytea AS by,
		array[1, NULL, 3] AS la, array['a', '', NULL] AS ls
	UNION ALL SELECT NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
	UNION ALL SELECT 1, i, -i, i, i / 7, i % 100, i, i % 2 = 0, date '2000-01-01' + i, timestamp '2000-01-01', NULL, NULL, NULL, repeat('x', i % 9), NULL, array[i], array[]::text[]
		FROM generate_series(3, 70000) AS g(i)`

func TestArrowFiles(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	rowsOf(t, s, arrowRows)
	// Rows at the beginning, around the end of the first batch, and at the end.
	some := " WHERE n < 500 OR n BETWEEN 65000 AND 66000 OR n > 69990 ORDER BY n"
	count := rowsOf(t, s, "SELECT count(*), count(DISTINCT n), sum(n) FROM t")
	want := rowsOf(t, s, "SELECT * FROM t"+some)
	for i, option := range thin([]string{"", " (COMPRESSION zstd)", " (COMPRESSION lz4)", " (COMPRESSION zstd)"}) {
		path := filepath.Join(dir, []string{"t.arrow", "t.arrows"}[i/3])
		rowsOf(t, s, "COPY t TO '"+path+"'"+option)
		for _, from := range []string{"'" + path + "'", "read_arrow('" + path + "')"} {
			if got := rowsOf(t, s, "SELECT * FROM "+from+some); got != want || rowsOf(t, s, "SELECT count(*), count(DISTINCT n), sum(n) FROM "+from) != count {
				t.Errorf("FROM %s%s differs", from, option)
			}
		}
		rowsOf(t, s, "CREATE OR REPLACE TABLE u AS SELECT * FROM t LIMIT 0")
		rowsOf(t, s, "COPY u FROM '"+path+"'")
		if got := rowsOf(t, s, "SELECT * FROM u"+some); got != want || rowsOf(t, s, "SELECT count(*), count(DISTINCT n), sum(n) FROM u") != count {
			t.Errorf("COPY FROM%s differs", option)
		}
	}
	// By names, with defaults, and as assignments convert.
	path := filepath.Join(dir, "few.arrow")
	rowsOf(t, s, "COPY (SELECT n::bigint AS b, s AS a FROM t WHERE n < 5) TO '"+path+"'")
	rowsOf(t, s, "CREATE TABLE v (a text, c int DEFAULT 7, b smallint); COPY v FROM '"+path+"'")
	if got := rowsOf(t, s, "SELECT * FROM v ORDER BY b"); got != "NULL|7|0\nGrüße, 世界|7|2\nxxx|7|3\nxxxx|7|4\n" {
		t.Errorf("by names: %s", got)
	}
	// Folders and lists of files.
	rowsOf(t, s, "COPY (SELECT n, n % 2 AS odd FROM t WHERE n < 10) TO '"+dir+"/parts' (FORMAT arrow, PARTITION_BY (odd))")
	if got := rowsOf(t, s, "SELECT odd, sum(n), count(DISTINCT filename) FROM read_arrow('"+dir+"/parts/*/*.arrow', filename = true) GROUP BY odd ORDER BY 1"); got != "0|20|1\n1|24|1\n" {
		t.Errorf("folders: %s", got)
	}
	rowsOf(t, s, "COPY (SELECT 1 AS n WHERE false) TO '"+dir+"/none.arrow'")
	if got := rowsOf(t, s, "SELECT count(*), sum(n) FROM '"+dir+"/none.arrow'"); got != "0|NULL\n" {
		t.Errorf("no rows: %s", got)
	}
}

// TestArrowNested: structs, maps and lists of them come out of Arrow files as they went in, NULL or empty at each depth.
func TestArrowNested(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, `CREATE TABLE n (i int, s struct(a int, b struct(c text)), l struct(x int)[], m map(text, int[]), d map(int, struct(y double)));
		INSERT INTO n VALUES (1, {'a': 1, 'b': {'c': 'é'}}, [{'x': 1}, NULL, {'x': NULL}], MAP {'k': [1, NULL], 'z': []}, MAP {7: {'y': 1.5}}),
			(2, NULL, NULL, NULL, NULL), (3, {'a': NULL, 'b': NULL}, [], MAP {}, MAP {}), (4, {'a': 2, 'b': {'c': NULL}}, [NULL], MAP {'k': NULL}, MAP {1: NULL, 2: {'y': NULL}})`)
	want := rowsOf(t, s, "SELECT * FROM n ORDER BY i")
	for _, name := range []string{"n.arrow", "n.arrows"} {
		path := filepath.Join(t.TempDir(), name)
		rowsOf(t, s, "COPY n TO '"+path+"'")
		if got := rowsOf(t, s, "SELECT * FROM '"+path+"' ORDER BY i"); got != want {
			t.Errorf("%s has\n%swant\n%s", name, got, want)
		}
		if got := rowsOf(t, s, "SELECT (s).b.c, l[1].x, m['k'][1], d[7].y FROM '"+path+"' WHERE i = 1"); got != "é|1|1|1.5\n" {
			t.Errorf("parts of %s: %s", name, got)
		}
	}
}

// TestArrowStreams: the stream format goes through pipes, where nothing can be read twice.
func TestArrowStreams(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, arrowRows)
	want := rowsOf(t, s, "SELECT * FROM t ORDER BY n")
	var out bytes.Buffer
	s.Stdout = &out
	rowsOf(t, s, "COPY t TO STDOUT (FORMAT arrows)")
	rowsOf(t, s, "CREATE TABLE u AS SELECT * FROM t LIMIT 0")
	s.Stdin = iotest.OneByteReader(bytes.NewReader(out.Bytes()))
	rowsOf(t, s, "COPY u FROM STDIN (FORMAT arrow)")
	if got := rowsOf(t, s, "SELECT * FROM u ORDER BY n"); got != want {
		t.Error("through a pipe: differs")
	}
	s.Stdin = bytes.NewReader(out.Bytes())
	rowsOf(t, s, "SET memory_limit = '1MB'")
	if _, err := s.Query(context.Background(), "COPY u FROM STDIN (FORMAT arrow)"); diag.CodeOf(err) != diag.OutOfMemory {
		t.Errorf("more than memory: %v", err)
	}
	for _, in := range []string{"", "ARROW1\x00\x00 and no more", "\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\x7f", "a,b\n1,2\n and so on"} {
		s.Stdin = strings.NewReader(in)
		if _, err := s.Query(context.Background(), "COPY u FROM STDIN (FORMAT arrow)"); diag.CodeOf(err) != diag.DataCorrupted {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestArrowFilesDamaged cuts a file off, and changes each byte of its footer: the answer is rows or an error that names the file, never a bug.
func TestArrowFilesDamaged(t *testing.T) {
	for _, name := range []string{"t.arrow", "t.arrows"} {
		arrowDamaged(t, filepath.Join(t.TempDir(), name))
	}
}

func arrowDamaged(t *testing.T, path string) {
	s := New(NewDB())
	rowsOf(t, s, "COPY (SELECT 1 AS n, 'a' AS s, array[1, 2] AS l UNION ALL SELECT 2, NULL, NULL) TO '"+path+"'")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(data []byte, what string, at int) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := s.Query(context.Background(), "SELECT * FROM '"+path+"'")
		if err == nil {
			res.Close()
			return
		}
		if e, ok := err.(*diag.Error); !ok || e.Code == diag.InternalError {
			t.Errorf("%s at %d: %v", what, at, err)
		}
	}
	step := 5
	if testing.Short() {
		step = 31
	}
	for n := 0; n < len(whole); n += step * 3 {
		try(whole[:n], "cut off", n)
	}
	for i := 8; i < len(whole); i += step {
		for _, x := range []byte{0xff, 0x7f, 0x01} {
			data := append([]byte(nil), whole...)
			data[i] ^= x
			try(data, "changed", i)
		}
	}
	_, err = s.Query(context.Background(), "SELECT * FROM read_arrow('arrow_file_test.go')")
	if err == nil || !strings.Contains(err.Error(), "is not an Arrow file") {
		t.Errorf("a text: %v", err)
	}
}
