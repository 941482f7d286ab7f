package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

const rejectsQuery = "SELECT file_id, line, line_byte_position, byte_position, column_idx, column_name, error_type, csv_line, error_message FROM %s ORDER BY scan_id, file_id, line, column_idx"

// Rows that cannot be read are in tables afterwards, with their places. The first file is the example of DuckDB's documentation.
func TestRejects(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	faulty := write("faulty.csv", "Pedro,31\nOogie Boogie, three\n")
	odd := write("odd.csv", "\xef\xbb\xbfname,age\r\n\r\n\"a\nb\",x\r\n\"a\",\"1\"\"\"\r\nc\r\nd,1,2\r\n\xff,5\r\ne,6,\r\nzz,\"7\r\n")
	for _, block := range []int{0, 64, 1 << 16} {
		s := New(NewDB())
		s.Configure(func(x *Settings) { x.FileBlock, x.Threads = block, 3 })
		columns := ", columns = {'name': 'VARCHAR', 'age': 'INTEGER'}"
		check := func(what, query, want string) {
			t.Helper()
			if got := rowsOf(t, s, query); got != want {
				t.Errorf("block %d: %s: got\n%s\nwant\n%s", block, what, got, want)
			}
		}
		read := func(path, more string) string { return "FROM read_csv('" + path + "'" + columns + ", " + more + ")" }
		check("faulty", read(faulty, "store_rejects = true"), "Pedro|31\n")
		first := `0|2|10|23|2|age|CAST|Oogie Boogie, three|Error when converting column "age". invalid input syntax for type integer: " three" (22P02)` + "\n"
		check("its errors", fmt.Sprintf(rejectsQuery, "reject_errors"), first)
		check("its scan", "SELECT scan_id, file_id, file_path, delimiter, quote, escape, newline_delimiter, skip_rows, has_header, columns, user_arguments FROM reject_scans",
			"1|0|"+faulty+`|,|"|"|\n|0|false|{'name': 'VARCHAR', 'age': 'INTEGER'}|store_rejects=true`+"\n")

		// Names of one's own imply the rest. A row with two mistakes has two errors; quotes have lines in them.
		check("odd", read(odd, "header = true, rejects_table = 'Mine', rejects_scan = 'My scans'"), "e|6\n")
		want := `0|3|16|22|2|age|CAST|"a|Error when converting column "age". invalid input syntax for type integer: "x" (22P02)` + "\n"
		want = strings.Replace(want, `"a|`, "\"a\nb\",x|", 1)
		want += `0|5|25|29|2|age|CAST|"a","1"""|Error when converting column "age". invalid input syntax for type integer: "1"" (22P02)` + "\n" +
			"0|6|36|37|2|age|MISSING COLUMNS|c|Expected Number of Columns: 2 Found: 1\n" +
			"0|7|39|43|3|NULL|TOO MANY COLUMNS|d,1,2|Expected Number of Columns: 2 Found: 3\n" +
			`0|8|46|46|1|name|INVALID ENCODING|` + "\uFFFD" + `,5|Error when converting column "name". invalid byte sequence for encoding "UTF8" (22021)` + "\n" +
			`0|10|57|60|2|age|UNQUOTED VALUE|zz,"7|Value with unterminated quote found.` + "\n"
		check("its errors", fmt.Sprintf(rejectsQuery, `"Mine"`), want)
		check("nothing else", "SELECT count(*) FROM reject_errors UNION ALL SELECT count(*) FROM \"My scans\"", "1\n1\n")

		// Whatever reads the file stores them; looking at it does not, nor does a transaction that is rolled back.
		for _, q := range []string{"EXPLAIN SELECT * " + read(faulty, "store_rejects = true"), "DESCRIBE SELECT * " + read(faulty, "store_rejects = true"),
			"PREPARE p AS SELECT * " + read(faulty, "store_rejects = true"), "CREATE VIEW v AS SELECT * " + read(faulty, "store_rejects = true"),
			"BEGIN; SELECT * FROM v; ROLLBACK"} {
			mustRun(t, s, q)
		}
		check("no more", "SELECT count(*) FROM reject_errors", "1\n")
		for _, q := range []string{"EXECUTE p", "SELECT * FROM v", "CREATE TABLE t AS SELECT * FROM v", "INSERT INTO t SELECT * FROM v",
			"COPY t FROM '" + faulty + "' (STORE_REJECTS)", "COPY (SELECT * FROM v) TO '" + filepath.Join(dir, "out.csv") + "'"} {
			mustRun(t, s, q)
		}
		check("six more", "SELECT count(*), count(DISTINCT scan_id), count(DISTINCT line_byte_position) FROM reject_errors", "7|7|1\n")
		check("rows", "SELECT * FROM t", strings.Repeat("Pedro|31\n", 3))
	}
}

// Lines are found where they are, whichever block of the file they are in, and as many of each file as are wanted.
func TestRejectsOfLargeFiles(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 4000 {
		if i%7 == 3 {
			fmt.Fprintf(&text, "%d;bad%d\n", i, i)
		} else {
			fmt.Fprintf(&text, "%d;%d\n", i, i)
		}
	}
	for _, name := range []string{"a.csv", "b.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.FileBlock, x.Threads = 700, 4 })
	from := " FROM read_csv('" + filepath.Join(dir, "*.csv") + "', delim = ';', columns = {'i': 'int', 'x': 'int'}, store_rejects = true"
	if got := rowsOf(t, s, "SELECT count(*), sum(x)"+from+")"); got != "6858|13714284\n" {
		t.Errorf("rows: %s", got)
	}
	// The place in the file is where the line's own number is.
	if got := rowsOf(t, s, `SELECT file_id, count(*), bool_and(csv_line = (line - 1) || ';bad' || (line - 1)), bool_and(byte_position - line_byte_position = length(split_part(csv_line, ';', 1)) + 1),
		max(line_byte_position), max(line) FROM reject_errors GROUP BY 1 ORDER BY 1`); got != fmt.Sprintf("0|571|true|true|%[1]d|3994\n1|571|true|true|%[1]d|3994\n", strings.Index(text.String(), "3993;")+1) {
		t.Errorf("errors: %s", got)
	}
	mustRun(t, s, "DROP TABLE reject_errors; SELECT i, x"+from+", rejects_limit = 5)")
	if got := rowsOf(t, s, "SELECT file_id, count(*) FROM reject_errors GROUP BY 1 ORDER BY 1"); got != "0|5\n1|5\n" {
		t.Errorf("limited: %s", got)
	}
	s.Configure(func(x *Settings) { x.Memory = 200_000 })
	if _, err := s.Query(context.Background(), "SELECT x"+from+")"); diag.CodeOf(err) != diag.OutOfMemory {
		t.Errorf("rejects that need too much memory: %v", err)
	}
}

// PostgreSQL's words for the same.
func TestCopyOnError(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "CREATE TABLE t (a int, b int)")
	run := func(options string) (*Result, error) {
		s.Stdin = strings.NewReader("1\t2\nx\t3\n4\ty\n5\t6\n")
		return s.Query(context.Background(), "COPY t FROM STDIN "+options)
	}
	for _, c := range []struct{ options, notices string }{
		{"(ON_ERROR ignore)", "2 rows were skipped due to data type incompatibility"},
		{"(ON_ERROR ignore, LOG_VERBOSITY verbose)", `skipping row due to data type incompatibility at line 2 for column "a": "x"` + "\n" +
			`skipping row due to data type incompatibility at line 3 for column "b": "y"` + "\n2 rows were skipped due to data type incompatibility"},
		{"(ON_ERROR ignore, LOG_VERBOSITY silent)", ""},
		{"(ON_ERROR ignore, REJECT_LIMIT 2)", "2 rows were skipped due to data type incompatibility"},
		{"(IGNORE_ERRORS)", ""},
	} {
		res, err := run(c.options)
		if err != nil {
			t.Errorf("%s: %v", c.options, err)
			continue
		}
		if got := strings.Join(res.Notices(), "\n"); res.CommandTag() != "COPY 2" || got != c.notices {
			t.Errorf("%s: %s, %s", c.options, res.CommandTag(), got)
		}
	}
	for options, code := range map[string]string{"": diag.InvalidTextRepresentation, "(ON_ERROR ignore, REJECT_LIMIT 1)": diag.InvalidTextRepresentation, "(REJECT_LIMIT 1)": diag.InvalidParameter,
		"(ON_ERROR ignore, REJECT_LIMIT 0)": diag.InvalidParameter, "(ON_ERROR ignore, LOG_VERBOSITY much)": diag.InvalidParameter} {
		if _, err := run(options); diag.CodeOf(err) != code {
			t.Errorf("%s: %v", options, err)
		}
	}
	if _, err := s.Query(context.Background(), "COPY t TO 't.csv' (ON_ERROR ignore)"); diag.CodeOf(err) != diag.InvalidParameter {
		t.Errorf("COPY TO: %v", err)
	}
}
