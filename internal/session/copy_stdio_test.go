package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// Rows of COPY FROM STDIN and TO STDOUT are written as PostgreSQL writes them.
func TestCopyStdio(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "CREATE TABLE t (a int, b text)")
	for _, c := range []struct{ options, in, rows string }{
		{"", "1\tx\n2\t\\N\n3\ta\\tb\\\\\n", "1|x\n2|NULL\n3|a\tb\\\n"},
		{"(FORMAT csv)", "1,x\n2,\n3,\"\"\n4,\"a,\"\"b\n\"\n", "1|x\n2|NULL\n3|\n4|a,\"b\n\n"},
		{"(FORMAT csv, HEADER)", "a,b\n1,b\n", "1|b\n"},
		{"(FORMAT csv, FORCE_NULL (b))", "1,\"\"\n2,\n3,\" \"\n", "1|NULL\n2|NULL\n3| \n"},
		{"(FORMAT csv, FORCE_NOT_NULL (b))", "1,\"\"\n2,\n", "1|\n2|\n"},
		{"CSV NULL '-' FORCE NOT NULL b FORCE NULL a", "\"-\",-\n2,\"-\"\n", "2|-\nNULL|-\n"},
		{"(FORMAT csv, FORCE_NULL *, ON_ERROR ignore)", "\"\",\"\"\nx,y\n2,z\n", "2|z\nNULL|NULL\n"},
		{"(FORMAT csv, FORCE_NOT_NULL *, ON_ERROR ignore)", ",y\n2,\n", "2|\n"},
		{"(FORMAT csv, HEADER match)", "a,\"b\"\n1,b\n", "1|b\n"},
		{"(HEADER match)", "a\tb\n1\tb\n", "1|b\n"},
		{"(FORMAT csv, HEADER match)", "", ""},
		{"CSV DELIMITER ';' NULL '-'", "1;-\n2;\n", "1|NULL\n2|\n"},
		{"(FORMAT json)", `{"b":"x","a":1}` + "\n", "1|x\n"},
		{"(FORMAT csv, ENCODING 'latin1')", "1,\xe4\n", "1|ä\n"},
		{"", "", ""},
	} {
		rowsOf(t, s, "TRUNCATE t")
		s.Stdin = strings.NewReader(c.in)
		rowsOf(t, s, "COPY t FROM STDIN "+c.options)
		if got := rowsOf(t, s, "SELECT * FROM t ORDER BY a"); got != c.rows {
			t.Errorf("FROM STDIN %s: got %q, want %q", c.options, got, c.rows)
		}
	}
	rowsOf(t, s, "TRUNCATE t; INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, E'a\\tb\\\\'), (4, ''), (5, 'q\"')")
	for _, c := range []struct{ options, out string }{
		{"", "1\tx\n2\t\\N\n3\ta\\tb\\\\\n4\t\n5\tq\"\n"},
		{"(FORMAT csv)", "1,x\n2,\n3,a\tb\\\n4,\"\"\n5,\"q\"\"\"\n"},
		{"CSV HEADER FORCE QUOTE a", "a,b\n\"1\",x\n\"2\",\n\"3\",a\tb\\\n\"4\",\"\"\n\"5\",\"q\"\"\"\n"},
		{"(FORMAT csv, FORCE_QUOTE (b))", "1,\"x\"\n2,\n3,\"a\tb\\\"\n4,\"\"\n5,\"q\"\"\"\n"},
		{"(FORMAT csv, FORCE_QUOTE *)", "\"1\",\"x\"\n\"2\",\n\"3\",\"a\tb\\\"\n\"4\",\"\"\n\"5\",\"q\"\"\"\n"},
	} {
		var out bytes.Buffer
		s.Stdout = &out
		rowsOf(t, s, "COPY (SELECT * FROM t ORDER BY a) TO STDOUT "+c.options)
		if out.String() != c.out {
			t.Errorf("TO STDOUT %s: got %q, want %q", c.options, out.String(), c.out)
		}
	}
	for _, c := range []struct{ options, in, code, says string }{
		{"(FORMAT csv, HEADER match)", "a,x\n1,b\n", diag.BadCopyFormat, `column name mismatch in header line field 2: got "x", expected "b"`},
		{"(FORMAT csv, HEADER match)", "A,b\n1,b\n", diag.BadCopyFormat, `field 1: got "A", expected "a"`},
		{"(FORMAT csv, HEADER match)", "a,", diag.BadCopyFormat, `field 2: got null value (""), expected "b"`},
		{"(FORMAT csv, HEADER match)", "a\n1,b\n", diag.BadCopyFormat, "wrong number of fields in header line: got 1, expected 2"},
		{"(FORMAT csv, FORCE_NOT_NULL (a))", ",b\n", diag.InvalidTextRepresentation, `invalid input syntax for type integer: ""`},
		{"(FORMAT csv, FORCE_NULL (x))", "", diag.UndefinedColumn, `column "x"`},
		{"(FORMAT csv, FORCE_NULL (a, a))", "", diag.DuplicateColumn, `column "a"`},
	} {
		s.Stdin = strings.NewReader(c.in)
		if _, err := s.Query(context.Background(), "COPY t FROM STDIN "+c.options); diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("FROM STDIN %s: %v, want %s", c.options, err, c.says)
		}
	}
	s.Stdin, s.Stdout = nil, nil
	for _, q := range []string{"COPY t TO STDOUT", "COPY t FROM STDIN", "COPY t TO 't.parquet.gz'", "COPY t TO 't.csv.bz2'", "COPY t TO 't.csv' (ENCODING 'latin1')",
		"COPY t TO STDOUT (FORCE_QUOTE *)", "COPY t TO 't.csv' (FORCE_NULL (b))", "COPY t FROM STDIN (FORCE_NULL (b))", "COPY t TO 't.csv' (HEADER match)"} {
		_, err := s.Query(context.Background(), q)
		if e, ok := err.(*diag.Error); !ok || e.Code != diag.FeatureNotSupported || e.Pos < 0 {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// Texts in other encodings are what they are in UTF-8, also where a character lies across two reads.
func TestEncodings(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("n,s\n")
	for i := range 20000 {
		text.WriteString([]string{"1,äö\n", "2,日本 €\n", "3,😀x\n", "4,\n"}[i%4])
	}
	utf8Path := filepath.Join(dir, "8.csv")
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("8.csv", []byte(text.String()))
	wide := func(mark, big bool) (out []byte) {
		units := utf16.Encode([]rune(text.String()))
		if mark {
			units = append([]uint16{0xfeff}, units...)
		}
		for _, u := range units {
			if big {
				out = append(out, byte(u>>8), byte(u))
			} else {
				out = append(out, byte(u), byte(u>>8))
			}
		}
		return out
	}
	const q = "SELECT n, s, count(*) FROM %s GROUP BY ALL ORDER BY n"
	want := rowsOf(t, s, strings.ReplaceAll(q, "%s", "'"+utf8Path+"'"))
	for _, c := range []struct {
		name, encoding string
		data           []byte
	}{
		{"le.csv", "utf-16", wide(false, false)}, {"mark.csv", "UTF16", wide(true, false)}, {"swapped.csv", "utf-16", wide(true, true)},
		{"be.csv", "utf-16be", wide(false, true)}, {"bemark.csv", "utf_16be", wide(true, true)},
	} {
		path := write(c.name, c.data)
		if got := rowsOf(t, s, strings.ReplaceAll(q, "%s", "read_csv('"+path+"', encoding = '"+c.encoding+"')")); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, want)
		}
	}
	// Half of a pair, and half of a unit.
	path := write("half.csv", []byte{'a', 0, '\n', 0, 'x', 0, 0x3d, 0xd8, '\n', 0, 'y', 0, 'z'})
	if got := rowsOf(t, s, "SELECT a FROM read_csv('"+path+"', encoding = 'utf-16', header = true)"); got != "x\uFFFD\ny\uFFFD\n" {
		t.Errorf("halves: %q", got)
	}
	if _, err := s.Query(context.Background(), "SELECT * FROM read_csv('"+path+"', encoding = 'shift-jis')"); err == nil || !strings.Contains(err.Error(), "encoding") {
		t.Errorf("an unknown encoding: %v", err)
	}
}
