package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

func TestJSONFiles(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.json":   `[{"id": 1, "name": "x", "big": 12345678901234567890}, {"id": 2, "tags": ["p", "q"], "big": 1}]`,
		"b.ndjson": "{\"id\":1,\"at\":\"2024-01-02T03:04:05\"}\n{\"id\":2,\"at\":null,\"ok\":true}\n",
		"c.jsonl":  "{\"id\":1}\n{\"id\":oops}\n",
		"d.data":   `{"v":0.5}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rowsOf(t, s, "CREATE TABLE t (id INTEGER NOT NULL, name VARCHAR DEFAULT 'none', d DECIMAL(38,3), f DOUBLE, day DATE)")
	rowsOf(t, s, `INSERT INTO t VALUES (1, 'a "quoted" \ text
of two lines', 12345678901234567890123456789012345.678, 0.1, '2024-02-29'), (2, NULL, NULL, 'NaN', NULL)`)
	for _, c := range []struct{ q, want string }{
		{"SELECT * FROM '" + dir + "/a.json' ORDER BY id", "1|x|12345678901234567890|NULL\n2|NULL|1|{p,q}\n"},
		{"DESCRIBE '" + dir + "/a.json'", "id|BIGINT|YES\nname|VARCHAR|YES\nbig|DECIMAL(38,0)|YES\ntags|VARCHAR[]|YES\n"},
		{"SELECT at, ok FROM '" + dir + "/b.ndjson' WHERE id = 1", "2024-01-02 03:04:05|NULL\n"},
		{"SELECT v FROM read_json('" + dir + "/d.data')", "0.5\n"},
		{"SELECT sum(a.id) FROM '" + dir + "/a.json' a JOIN '" + dir + "/b.ndjson' b ON a.id = b.id", "3\n"},
		{"COPY t TO '" + dir + "/out.json'; SELECT * FROM '" + dir + "/out.json' ORDER BY id",
			"1|a \"quoted\" \\ text\nof two lines|12345678901234567890123456789012345.678|0.1|2024-02-29\n2|NULL|NULL|NaN|NULL\n"},
		{"COPY (SELECT id FROM t ORDER BY id) TO '" + dir + "/array.txt' (FORMAT json, ARRAY); SELECT sum(id), count(*) FROM read_json('" + dir + "/array.txt')", "3|2\n"},
		{"COPY t TO '" + dir + "/out.json.gz' (ARRAY true); SELECT count(name) FROM '" + dir + "/out.json.gz'", "1\n"},
		{"CREATE TABLE u (id INTEGER, name VARCHAR DEFAULT 'none', d DECIMAL(38,3), f DOUBLE, day DATE); COPY u FROM '" + dir + "/out.json'; " +
			"SELECT * FROM u EXCEPT SELECT * FROM t", ""},
	} {
		if got := rowsOf(t, s, c.q); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.q, got, c.want)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "array.txt")); err != nil || string(b) != "[\n{\"id\":1},\n{\"id\":2}\n]\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "few.json"), []byte(`{"ID":7}{"id":8,"name":null}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(t, s, "TRUNCATE u; COPY u (id, name) FROM '"+dir+"/few.json'; SELECT id, name FROM u ORDER BY id"), "7|none\n8|NULL\n"; got != want {
		t.Errorf("defaults: %s", got)
	}
	for q, want := range map[string]string{
		"SELECT * FROM '" + dir + "/c.jsonl'":                        "there is 'o' where a value should be (22P02)",
		"COPY t TO '" + dir + "/x.json' (HEADER)":                    "COPY in JSON format has no HEADER",
		"COPY t TO '" + dir + "/x.csv' (ARRAY)":                      "COPY ARRAY is for JSON only",
		"COPY (SELECT 1 AS a, 2 AS a) TO '" + dir + "/x.json'":       "column \"a\" appears twice",
		"COPY u (id) FROM '" + dir + "/few.json'":                    "key \"name\" of the file is not a column of relation \"u\" (42703)",
		"COPY t TO '" + dir + "/x.json' (COMPRESSION snappy)":        "compression \"snappy\" of text is not supported",
		"SELECT * FROM '" + dir + "/few.json' WHERE id = 'x'":        "22P02",
		"COPY u FROM '" + dir + "/a.json'":                           "key \"big\" of the file is not a column",
		"SELECT * FROM read_json('" + dir + "/a.json', lines=>true)": `option "lines" not recognized`,
	} {
		if got := failure(t, s, q); !strings.Contains(got, want) || strings.Contains(got, "internal") {
			t.Errorf("%s: %s\nwant %s", q, got, want)
		}
	}
	if list, _ := filepath.Glob(filepath.Join(dir, ".*")); len(list) > 0 {
		t.Errorf("left behind: %q", list)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Query(ctx, "SELECT count(*) FROM '"+dir+"/a.json'"); diag.CodeOf(err) != diag.QueryCanceled {
		t.Errorf("canceled: %v", err)
	}
}
