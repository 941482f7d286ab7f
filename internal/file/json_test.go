package file

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/kelpiedb/kelpie/internal/diag"
)

func TestJSONTypes(t *testing.T) {
	for _, c := range []struct{ text, cols, rows string }{
		{`{"a":1,"b":"x","c":true}` + "\n" + `{"a":-2,"b":null,"c":false}`, "a BIGINT, b VARCHAR, c BOOLEAN", "1 \"x\" true\n-2 NULL false\n"},
		{`[{"a":1},{"b":2}, {} ,{"b":3,"a":4}]`, "a BIGINT, b BIGINT", "1 NULL\nNULL 2\nNULL NULL\n4 3\n"},
		{"\xef\xbb\xbf{\"a\":\r\n1}\r\n{\"a\":2}{\"a\":3}", "a BIGINT", "1\n2\n3\n"},
		{`{"a":1.5}{"a":2}{"a":1e3}{"a":-0.0}`, "a DOUBLE", "1.5\n2\n1000\n-0\n"},
		{`{"a":0.30000000000000004}{"a":9007199254740992}`, "a DOUBLE", "0.30000000000000004\n9.007199254740992e+15\n"},
		{`{"a":9223372036854775807}{"a":-9223372036854775808}`, "a BIGINT", "9223372036854775807\n-9223372036854775808\n"},
		{`{"a":9223372036854775808}{"a":1}`, "a DECIMAL(38,0)", "9223372036854775808\n1\n"},
		{`{"a":0.5}{"a":9007199254740993}`, "a DECIMAL(38,1)", "0.5\n9007199254740993.0\n"},
		{`{"a":1.2345678901234567890}`, "a DECIMAL(38,19)", "1.2345678901234567890\n"},
		{`{"a":123456789012345678901234567890123456789}`, "a VARCHAR", "\"123456789012345678901234567890123456789\"\n"},
		{`{"a":1e999}{"a":1}`, "a VARCHAR", "\"1e999\"\n\"1\"\n"},
		{`{"a":1}{"a":"1"}{"a":true}{"a":[1, {"x":"]"}]}{"a":null}`, "a VARCHAR", "\"1\"\n\"1\"\n\"true\"\n\"[1, {\\\"x\\\":\\\"]\\\"}]\"\nNULL\n"},
		{`{"a":{"b":{}}}`, "a STRUCT(b VARCHAR)", "{'b': '{}'}\n"},
		{`{"a":{"b":1,"B":2}}`, "a VARCHAR", "\"{\\\"b\\\":1,\\\"B\\\":2}\"\n"}, // names of fields differ in more than case
		{`{"a":{"x":1,"t":"2024-02-29"}}{"a":{"y":[true,null]}}{"a":null}{"a":{"x":2}}`, "a STRUCT(x BIGINT, t DATE, y BOOLEAN[])",
			"{'x': 1, 't': 2024-02-29, 'y': NULL}\n{'x': NULL, 't': NULL, 'y': [true, NULL]}\nNULL\n{'x': 2, 't': NULL, 'y': NULL}\n"},
		{`{"a":[1,2.5]}{"a":[]}{"a":null}`, "a DOUBLE[]", "{1,2.5}\n{}\nNULL\n"},
		{`{"a":[[1],[],null]}`, "a BIGINT[][]", "{{1},{},NULL}\n"},
		{`{"a":[1,"x",{"y":null}]}`, "a VARCHAR[]", "{1,x,\"{\\\"y\\\":null}\"}\n"},
		{`{"a":[]}`, "a VARCHAR[]", "{}\n"},
		{`{"a":[{"n":9223372036854775808}]}`, "a STRUCT(n DECIMAL(38,0))[]", "[{'n': 9223372036854775808}]\n"},
		{`{"a":null}`, "a VARCHAR", "NULL\n"},
		{`{"d":"2024-02-29","t":"2024-02-29T12:00:00.25","m":"2024-02-29"}` + `{"d":null,"t":"2024-02-29 12:00","m":"2024-02-29 01:02:03"}`,
			"d DATE, t TIMESTAMP, m TIMESTAMP", "2024-02-29 2024-02-29 12:00:00.25 2024-02-29 00:00:00\nNULL 2024-02-29 12:00:00 2024-02-29 01:02:03\n"},
		{`{"z":"2024-02-29T12:00:00Z","n":"2024-02-29T12:00:00.123456789","x":"2024-02-30","s":"2024/02/29"}`, "z VARCHAR, n VARCHAR, x VARCHAR, s VARCHAR",
			"\"2024-02-29T12:00:00Z\" \"2024-02-29T12:00:00.123456789\" \"2024-02-30\" \"2024/02/29\"\n"},
		{`{"a":"\u00e4\ud83d\ude00\/\b\f\n\r\t\"\\","b c.\"d\"":""}`, "a VARCHAR, b c.\"d\" VARCHAR", "\"ä😀/\\b\\f\\n\\r\\t\\\"\\\\\" \"\"\n"},
		{`{"a":1,"A":2,"":3}`, "a BIGINT, A BIGINT,  BIGINT", "1 2 3\n"},
	} {
		path := write(t, "x.json", c.text)
		src, err := Open(path, Options{})
		if err != nil {
			t.Errorf("%s: %s", c.text, message(err, path))
			continue
		}
		if got := show(src.Columns()); got != c.cols {
			t.Errorf("%s:\ncolumns %s\nwant    %s", c.text, got, c.cols)
		}
		table, err := loadFile(path, Options{}, nil, nil, 2)
		if err != nil {
			t.Errorf("%s: %s", c.text, message(err, path))
			continue
		}
		same(t, c.text, dump(table), c.rows)
	}
}

func TestJSONRefused(t *testing.T) {
	many := strings.Repeat("{\"a\":1}\n", defaultSampleRows)
	for text, want := range map[string]string{
		"":                           "has no columns",
		"[]":                         "has no columns",
		"{}":                         "has no columns",
		"1\n2":                       "there is no object (22P02)\nDETAIL: line 1",
		"[1]":                        "there is no object",
		"{\"a\":1}\nnull":            "there is no object (22P02)\nDETAIL: line 2",
		"{\"a\":1},{\"a\":2}":        "there is no object",
		"[{\"a\":1}{\"a\":2}]":       "there is no object",
		"[{\"a\":1},]":               "there is no object",
		"[,{\"a\":1}]":               "there is no object",
		"[{\"a\":1}]\n[{\"a\":1}]":   "there is something after the end of the array (22P02)\nDETAIL: line 2",
		"[{\"a\":1}\n":               "the array does not end (22P02)\nDETAIL: line 2",
		"{\"a\":1}\n{\"a\":\n":       "the file ends inside an object (22P02)\nDETAIL: line 2",
		"{\"a\":\"x":                 "the file ends inside an object",
		"{\"a\":1}\n{\"a\":01}":      "a number begins with 0 (22P02)\nDETAIL: line 2",
		"{\"a\":1}\n{\"a\":\n+1}":    "there is '+' where a value should be (22P02)\nDETAIL: line 3",
		"{\"a\":.5}":                 "there is '.' where a value should be",
		"{\"a\":1.}":                 "there is '}' where a digit should be",
		"{\"a\":1e}":                 "there is '}' where a digit should be",
		"{\"a\":-}":                  "there is '}' where a digit should be",
		"{\"a\":nul}":                "there is 'n' where a value should be",
		"{\"a\":NaN}":                "there is 'N' where a value should be",
		"{\"a\" 1}":                  "there is '1' where a colon should be",
		"{\"a\":1 \"b\":2}":          "there is '\"' where a comma or the end of the object should be",
		"{\"a\":1,}":                 "there is '}' where a key should be",
		"{a:1}":                      "there is 'a' where a key should be",
		"{'a':1}":                    "where a key should be",
		"{\"a\":[1 2]}":              "there is '2' where a comma should be",
		"{\"a\":[1}]}":               "there is '}' where a comma should be",
		"{\"a\":\"\\x\"}":            "there is no escape \\x",
		"{\"a\":\"\\u12g4\"}":        "an escape \\u needs four hexadecimal digits",
		"{\"a\":\"\\ud800\"}":        "an escape \\u is half of a pair",
		"{\"a\":\"\\ude00\\ud800\"}": "an escape \\u is half of a pair",
		"{\"a\":\"tab\there\"}":      "a string has a character 0x9 that must be escaped",
		"{\"a\":\"\xff\"}":           "invalid byte sequence for encoding \"UTF8\" (22021)\nDETAIL: file x.json, line 1",
		"{\"a\":1,\"a\":2}":          "key \"a\" appears twice in an object (42701)",
		many + "{\"b\":1}":           "key \"b\" does not appear in the first rows of the file, which the columns are taken from (42703)\nDETAIL: file x.json, line 20481",
		many + "{\"a\":\"x\"}":       "there is a string where BIGINT should be (22P02)\nDETAIL: file x.json, line 20481, key \"a\"",
		many + "{\"a\":1.5}":         "invalid input syntax for type bigint: \"1.5\" (22P02)\nDETAIL: file x.json, line 20481, key \"a\"",
		strings.Repeat("{\"a\":{\"x\":1}}\n", defaultSampleRows) + "{\"a\":{\"x\":1,\"y\":2}}":    "there is a key \"y\" that STRUCT(x BIGINT) has not",
		strings.Repeat("{\"a\":[1.5]}\n", defaultSampleRows) + "{\"a\":[0.12345678901234567890]}": "would change as DOUBLE",
		many + "{\"a\":[1]}":                 "there is a nested value where BIGINT should be",
		many + "{\"a\":9223372036854775808}": "out of range for type bigint",
		"{\"a\":" + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}": "values are nested more than 512 deep",
	} {
		path := write(t, "x.json", text)
		_, err := loadFile(path, Options{}, nil, nil, 2)
		short := text
		if len(short) > 60 {
			short = "…" + short[len(short)-40:]
		}
		if got := message(err, path); !strings.Contains(got, want) || strings.Contains(got, "internal") {
			t.Errorf("%q:\n%s\nwant\n%s", short, got, want)
		}
	}
}

// TestJSONSplit cuts a file in all places, and with all threads: the rows are the same.
func TestJSONSplit(t *testing.T) {
	var text strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	text.WriteString("[")
	for i := range 500 {
		if i > 0 {
			text.WriteString([]string{",", " ,\n", ",\n\n  "}[r.IntN(3)])
		}
		fmt.Fprintf(&text, `{"id":%d,"s":"%s","n":[{"x":"}"},%d]}`, i, strings.Repeat(`\"\\]{`, r.IntN(5)), i)
	}
	text.WriteString("\n]\n")
	path := write(t, "x.json", text.String())
	var want string
	for _, size := range []int{1 << 20, 1, 7, 64, 1000} {
		src, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		tune := func(s *cutting) {
			s.size = size
			if size == 1000 {
				s.rows = 3
			}
		}
		src.tune = tune
		table := newTable(src.Columns())
		if _, err := src.Load(context.Background(), table, LoadOptions{Threads: 3}); err != nil {
			t.Fatal(size, message(err, path))
		}
		if got := dump(table); want == "" {
			want = got
			if strings.Count(got, "\n") != 500 {
				t.Fatal(got)
			}
		} else if got != want {
			t.Errorf("blocks of %d bytes: other rows", size)
		}
		if got, err := streamFile(path, Options{}, tune, 3); err != nil || got != want {
			t.Errorf("a stream of blocks of %d bytes: other rows, %v", size, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	src, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Load(ctx, newTable(src.Columns()), LoadOptions{}); diag.CodeOf(err) != diag.QueryCanceled {
		t.Errorf("canceled: %v", err)
	}
}

// TestJSONIntoTable: the columns are a table's.
func TestJSONIntoTable(t *testing.T) {
	cols := defs(t, "a INTEGER, b VARCHAR(3), c DECIMAL(6,2), d DOUBLE, day DATE, ok BOOLEAN NOT NULL")
	for text, want := range map[string]string{
		`{"A":1.0,"b":"äöü","c":1.5,"d":"NaN","day":"2024-01-02","ok":true}{"ok":false,"c":"2.25","a":1e3}`: "1 \"äöü\" 1.50 NaN 2024-01-02 true\n1000 NULL 2.25 NULL NULL false\n",
		`[]`:                         "",
		``:                           "",
		`{"ok":true,"x":1}`:          `key "x" of the file is not a column of relation "t" (42703)`,
		`{"ok":null}`:                `null value in column "ok" of relation "t" violates not-null constraint (23502)`,
		`{"a":1}`:                    `null value in column "ok"`,
		`{"ok":true,"a":2147483648}`: `out of range for type integer`,
		`{"ok":true,"a":1.5}`:        `invalid input syntax for type integer: "1.5"`,
		`{"ok":true,"b":"abcd"}`:     `value too long for type character varying(3)`,
		`{"ok":true,"day":20240102}`: `there is a number where DATE should be`,
		`{"ok":1}`:                   `there is a number where BOOLEAN should be`,
		`{"ok":true,"a":1,"A":2}`:    `key "a" appears twice`,
	} {
		path := write(t, "x.ndjson", text)
		table, err := loadFile(path, Options{Columns: cols}, cols, nil, 2)
		got := message(err, path)
		if err == nil {
			got = dump(table)
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestJSONRoundTrip writes and reads all types.
func TestJSONRoundTrip(t *testing.T) {
	cols := defs(t, "b BOOLEAN, i SMALLINT, n INTEGER, l BIGINT, d DECIMAL(12,3), w DECIMAL(38,5), r REAL, f DOUBLE, day DATE, at TIMESTAMP, iv INTERVAL, s VARCHAR")
	path := write(t, "x.csv", `true,1,2,-9223372036854775808,1.500,123456789012345678901234567890.12345,1.5,0.1,1996-02-29,2001-02-03 04:05:06.789,1 year 2 days,plain
false,-1,-2,9223372036854775807,-0.001,-1,3.4028235e38,-0,0001-01-01,1969-12-31 23:59:59.999999,-00:00:01,"""quoted"" \back/ tab	{}[] äöü😀"
,,,,,,NaN,Infinity,,,,""
,,,,,,-Infinity,1e-300,,,,"
"
`)
	table, err := loadFile(path, Options{Columns: cols, HasHeader: true}, cols, nil, 1)
	if err != nil {
		t.Fatal(message(err, path))
	}
	want := dump(table)
	for _, name := range []string{"x.json", "x.ndjson", "x.jsonl.gz", "x.json.zst"} {
		for _, array := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), name)
			if err := save(table, path, Options{Array: array}); err != nil {
				t.Fatal(err)
			}
			got, err := loadFile(path, Options{Columns: cols}, cols, nil, 2)
			if err != nil {
				t.Fatal(name, message(err, path))
			}
			same(t, name, dump(got), want)
			// Without knowing the columns it must be readable, too.
			if _, err := loadFile(path, Options{}, nil, nil, 2); err != nil {
				t.Error(name, message(err, path))
			}
		}
	}
	empty := filepath.Join(t.TempDir(), "x.json")
	if err := save(newTable(cols), empty, Options{Array: true}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(empty); err != nil || string(b) != "[]\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := save(newTable(defs(t, "a INTEGER, a INTEGER")), empty, Options{}); diag.CodeOf(err) != diag.DuplicateColumn {
		t.Errorf("a name twice: %v", err)
	}
}

// TestJSONFiles reads several files, compressed ones, and damaged ones.
func TestJSONFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1.json": `{"a":1}`, "2.json": `[{"b":"x","a":2}]`, "3.json": "", "4.json": `{"a":2.5}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	table, err := loadFile(filepath.Join(dir, "*.json"), Options{}, nil, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "three files", show(table.Columns)+"\n"+dump(table), "a DOUBLE, b VARCHAR\n1 NULL\n2 \"x\"\n2.5 NULL\n")
	path := filepath.Join(dir, "z.json.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	z.Write([]byte(strings.Repeat("{\"a\":\"some text\"}\n", 10000)))
	z.Close()
	f.Close()
	if table, err = loadFile(path, Options{}, nil, nil, 2); err != nil || table.Snapshot().Rows != 10000 {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 60); err != nil {
		t.Fatal(err)
	}
	if _, err = loadFile(path, Options{}, nil, nil, 2); diag.CodeOf(err) != diag.DataCorrupted {
		t.Errorf("cut short: %v", err)
	}
}

// usersError: a file can make no error of ours.
func usersError(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "internal error") {
		t.Fatal(err)
	}
}

// FuzzJSON: any text gives rows that can be written and read again, or an error.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":"x"}`, `[{"a":1.5},{"b":[1,{"c":null}]}]`, "{\"a\":\"\\u00e4\"}\n{\"a\":true}", `{"a":"2024-01-02"}{}`, `[`, `{"a":1e5,"":-0}`} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		src, err := Open(path, Options{})
		if err != nil {
			usersError(t, err)
			return
		}
		src.tune = func(s *cutting) { s.size = max(size%100, 1) }
		table := newTable(src.Columns())
		if _, err := src.Load(context.Background(), table, LoadOptions{Threads: 2}); err != nil {
			usersError(t, err)
			return
		}
		// What was read can be written and gives the same again, of the same types.
		again := filepath.Join(t.TempDir(), "y.json")
		if err := save(table, again, Options{Array: size%2 == 0}); err != nil {
			t.Fatal(err)
		}
		back, err := loadFile(again, Options{Columns: table.Columns}, table.Columns, nil, 1)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if a, b := dump(table), dump(back); a != b {
			t.Errorf("%q: %s, then %s", data, a, b)
		}
	})
}
