package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// tree makes files in a new folder.
func tree(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func TestGlob(t *testing.T) {
	dir := tree(t, map[string]string{
		"b.csv": "k,v\n2,b\n", "a.csv": "k,v\n1,a\n", "c.csv": "k,v\n3,c", "empty.csv": "", "only.csv": "k,v\n",
		"x/d.csv": "k,v\n4,d\n", "x/y/e.csv": "k,v\n5,e\n5.5,f\n", "z.txt": "no", "odd[1].csv": "k,v\n9,z\n",
	})
	for _, c := range []struct{ pattern, want string }{
		{"a.csv", "1 \"a\"\n"},
		{"?.csv", "1 \"a\"\n2 \"b\"\n3 \"c\"\n"},
		{"[ab].csv", "1 \"a\"\n2 \"b\"\n"},
		{"odd[1].csv", "9 \"z\"\n"},
		{"[a-f]*.csv", "1 \"a\"\n2 \"b\"\n3 \"c\"\n"},
		{"only.csv", ""},
		{"x/**/*.csv", "4 \"d\"\n5 \"e\"\n5.5 \"f\"\n"},
		{"**/?.csv", "1 \"a\"\n2 \"b\"\n3 \"c\"\n4 \"d\"\n5 \"e\"\n5.5 \"f\"\n"},
		{"x/*", "4 \"d\"\n"},
	} {
		for _, tune := range splits {
			table, err := loadFile(filepath.Join(dir, c.pattern), Options{}, nil, tune, 3)
			if err != nil {
				t.Errorf("%s: %v", c.pattern, err)
				continue
			}
			same(t, c.pattern, dump(table), c.want)
			if n := len(table.Snapshot().Segments); tune == nil && n > 1 {
				t.Errorf("%s: %d segments of small files", c.pattern, n)
			}
		}
	}
	for _, c := range []struct{ pattern, want string }{
		{"none.csv", "ERROR: could not open file \"none.csv\": No such file or directory (58P01)"},
		{"n*.csv", "ERROR: could not open file \"n*.csv\": No such file or directory (58P01)"},
		{"x", "ERROR: \"x\" is a directory (42809)\nHINT: to read all files in it, say \"x/*\""},
		{"empty.csv", "ERROR: file \"empty.csv\" is empty: it says nothing of its columns (22P04)"},
		{"[", "ERROR: bad file pattern \"[\" (22023)"},
	} {
		path := filepath.Join(dir, c.pattern)
		_, err := Open(path, Options{})
		same(t, c.pattern, message(err, path), c.want)
	}
}

func TestFilesDisagree(t *testing.T) {
	dir := tree(t, map[string]string{"a.csv": "k,v\n1,a\n", "b.csv": "k,w\n1,a\n", "c/a.csv": "k,v\n1,2\n", "c/b.csv": "k,v,w\n1,2,3\n"})
	for _, c := range []struct{ pattern, want string }{
		{"?.csv", "ERROR: the columns of file \"b.csv\" differ from those of the other files (42804)\nDETAIL: column 2 is \"w\", in file a.csv it is \"v\""},
		{"c/*.csv", "ERROR: the columns of file \"c/b.csv\" differ from those of the other files (42804)\nDETAIL: it has 3 columns, file c/a.csv has 2"},
	} {
		_, err := Open(filepath.Join(dir, c.pattern), Options{})
		same(t, c.pattern, message(err, filepath.Join(dir, "x")), c.want)
	}
	for i, cols := range []string{"a INTEGER, b VARCHAR", "a INTEGER, b DATE", "a INTEGER"} {
		if err := save(randomTable(t, defs(t, cols), 3), filepath.Join(dir, fmt.Sprintf("p%d.parquet", i)), Options{}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Open(filepath.Join(dir, "p[01].parquet"), Options{})
	same(t, "types", message(err, filepath.Join(dir, "x")), "ERROR: the columns of file \"p1.parquet\" differ from those of the other files (42804)\nDETAIL: column 2 is \"b\" DATE, in file \"p0.parquet\" it is \"b\" VARCHAR")
	_, err = Open(filepath.Join(dir, "p*[02].parquet"), Options{})
	same(t, "count", message(err, filepath.Join(dir, "x")), "ERROR: the columns of file \"p2.parquet\" differ from those of the other files (42804)\nDETAIL: it has 1 columns, file \"p0.parquet\" has 2")
}

// TestParquetGlob puts many small files into one segment.
func TestParquetGlob(t *testing.T) {
	dir := t.TempDir()
	var want strings.Builder
	for i := range 7 {
		table := randomTable(t, defs(t, "a INTEGER, b VARCHAR"), 10+i)
		if err := save(table, filepath.Join(dir, fmt.Sprintf("%d.parquet", i)), Options{RowGroupSize: 4}); err != nil {
			t.Fatal(err)
		}
		want.WriteString(dump(table))
	}
	for threads := range 3 {
		table, err := loadFile(filepath.Join(dir, "*.parquet"), Options{}, nil, nil, threads)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "rows", dump(table), want.String())
		if n := len(table.Snapshot().Segments); n != 1 {
			t.Errorf("%d segments", n)
		}
	}
}

func TestMapping(t *testing.T) {
	path := write(t, "x.csv", "a,b,c\n1,\"x,\",2020-01-01\n2,,2020-01-02\n")
	src, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := newTable(defs(t, "z VARCHAR, C DATE, y INTEGER, a INTEGER, B VARCHAR"))
	byName, err := src.MapByName(table)
	if err != nil || fmt.Sprint(byName) != "[3 4 1]" {
		t.Fatal(byName, err)
	}
	var defaults []types.Value
	for _, c := range table.Columns {
		defaults = append(defaults, types.NullOf(c.Type))
	}
	defaults[2] = types.IntValue(types.TInt32, 7)
	for _, mapping := range [][]int{{3, 4, 1}, {3, -1, 1}} {
		if _, err := src.Load(context.Background(), table, LoadOptions{Columns: mapping, Defaults: defaults}); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "rows", dump(table), "NULL 2020-01-01 7 1 \"x,\"\nNULL 2020-01-02 7 2 NULL\nNULL 2020-01-01 7 1 NULL\nNULL 2020-01-02 7 2 NULL\n")
	if _, err := src.MapByName(newTable(defs(t, "a INTEGER, bb VARCHAR, c DATE"))); message(err, path) != "ERROR: column \"b\" of file \"x.csv\" is not a column of relation \"t\" (42703)" {
		t.Error(message(err, path))
	}
	_, err = src.Load(context.Background(), newTable(defs(t, "a INTEGER")), LoadOptions{})
	same(t, "count", message(err, path), "ERROR: file \"x.csv\" has 3 columns, but 1 are expected (22P04)")
	_, err = src.Load(context.Background(), table, LoadOptions{Columns: []int{1, 1, 2}})
	same(t, "twice", message(err, path), "ERROR: column \"C\" specified more than once (42701)")
}

// TestKeys: a load that breaks a constraint leaves the table as it was.
func TestKeys(t *testing.T) {
	cols := defs(t, "a INTEGER NOT NULL")
	table := catalog.NewTable("t", cols, [][]int{{0}}, column.DefaultOptions())
	path := write(t, "x.csv", "1\n2\n3\n")
	for i := range 2 {
		src, err := Open(path, Options{Columns: cols})
		if err != nil {
			t.Fatal(err)
		}
		_, err = src.Load(context.Background(), table, LoadOptions{})
		if (err != nil) != (i == 1) || table.Snapshot().Rows != 3 {
			t.Errorf("%v, %d rows", err, table.Snapshot().Rows)
		}
	}
}

func TestCompressedCSV(t *testing.T) {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Write([]byte("a,b\n1,x\n"))
	z.Close()
	good := buf.String()
	for name, c := range map[string]struct{ text, want string }{
		"x.csv.gz": {good, "1 \"x\"\n"},
		"gz":       {good, "1 \"x\"\n"}, // whatever its name
		"y.csv.gz": {"a,b\n1,x\n", "1 \"x\"\n"},
		"two.gz":   {good + good[:0], "1 \"x\"\n"},
	} {
		path := write(t, name, c.text)
		table, err := loadFile(path, Options{}, nil, nil, 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, name, dump(table), c.want)
	}
	path := write(t, "x.csv.gz", good[:len(good)-6])
	_, err := loadFile(path, Options{}, nil, nil, 1)
	same(t, "cut", message(err, path), "ERROR: file \"x.csv.gz\" is damaged: unexpected EOF (XX001)")
}

func TestStream(t *testing.T) {
	cols := defs(t, "a INTEGER, b VARCHAR")
	for _, c := range []struct {
		opts Options
		text string
	}{
		{Options{Columns: cols}, "1,x\n2,\"a\nb\"\n"},
		{Options{Columns: cols, Format: Text}, "1\tx\n2\ta\\nb\n\\.\n"},
		{Options{}, "a,b\n1,x\n2,\"a\nb\"\n"},
	} {
		src, err := OpenReader(io.MultiReader(strings.NewReader(c.text[:5]), strings.NewReader(c.text[5:])), "stdin", c.opts)
		if err != nil {
			t.Fatal(err)
		}
		table := newTable(cols)
		if _, err := src.Load(context.Background(), table, LoadOptions{}); err != nil {
			t.Fatal(err)
		}
		same(t, "rows", dump(table), "1 \"x\"\n2 \"a\\nb\"\n")
	}
	src, err := OpenReader(strings.NewReader("1,x\nz,y\n"), "stdin", Options{Columns: cols})
	if err != nil {
		t.Fatal(err)
	}
	_, err = src.Load(context.Background(), newTable(cols), LoadOptions{})
	same(t, "error", message(err, "x"), "ERROR: invalid input syntax for type integer: \"z\" (22P02)\nDETAIL: file stdin, line 2, column \"a\"")
}

// bigCSV is many rows, some with newlines in quotes.
func bigCSV(rows int) string {
	rng := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	for i := range rows {
		switch rng.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "%d,\"text, \"\"quoted\"\"\n%d\",%d.5\n", i, rng.IntN(100), i)
		case 1:
			fmt.Fprintf(&b, "%d,,\r\n", i)
		default:
			fmt.Fprintf(&b, "%d,it's \"%d\",%d.25\n", i, rng.IntN(1e6), i)
		}
	}
	return b.String()
}

// TestParallel: any number of goroutines gives the same rows in the same order.
func TestParallel(t *testing.T) {
	cols := defs(t, "a INTEGER NOT NULL, b VARCHAR, c DECIMAL(12,2)")
	rows := 200_000
	path := write(t, "x.csv", bigCSV(rows))
	one, err := loadFile(path, Options{Columns: cols}, cols, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := dump(one)
	if n := strings.Count(want, "\n"); n != rows {
		t.Fatal(n)
	}
	for _, threads := range []int{2, 5} {
		many, err := loadFile(path, Options{Columns: cols}, cols, func(s *cutting) { s.rows = 10_000; s.chunk = 10_007 }, threads)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "rows", dump(many), want)
	}
	full, err := loadFile(path, Options{Columns: cols}, cols, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "rows", dump(full), want)
	for i, s := range full.Snapshot().Segments {
		if want := min(column.SegmentRows, rows-i*column.SegmentRows); s.Rows != want {
			t.Errorf("segment %d has %d rows, want %d", i, s.Rows, want)
		}
	}
	parquet := filepath.Join(t.TempDir(), "x.parquet")
	if err := save(one, parquet, Options{RowGroupSize: 70_000}); err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{1, 4} {
		back, err := loadFile(parquet, Options{}, nil, nil, threads)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "parquet", dump(back), want)
	}
}

// TestOracle compares with the CSV reader of the standard library.
func TestOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	pieces := []string{"a", "bc", "\"", "\n", ",", "'", " ", "ü", "\\", "x\ty", ";"}
	cols := defs(t, "a VARCHAR, b VARCHAR, c VARCHAR")
	for range 300 {
		var buf bytes.Buffer
		w := csv.NewWriter(&buf)
		w.UseCRLF = rng.IntN(2) == 0
		var want strings.Builder
		for range 1 + rng.IntN(8) {
			row := make([]string, 3)
			for i := range row {
				for range rng.IntN(5) {
					row[i] += pieces[rng.IntN(len(pieces))]
				}
				if row[i] == "" {
					row[i] = "e" // the library does not tell an empty text from NULL
				}
			}
			w.Write(row)
			if w.UseCRLF { // it also changes newlines in quotes
				for i := range row {
					row[i] = strings.ReplaceAll(row[i], "\n", "\r\n")
				}
			}
			fmt.Fprintf(&want, "%q %q %q\n", row[0], row[1], row[2])
		}
		w.Flush()
		path := write(t, "x.csv", buf.String())
		for _, tune := range splits {
			table, err := loadFile(path, Options{Columns: cols, Delimiter: ','}, cols, tune, 2)
			if err != nil {
				t.Fatalf("%q: %v", buf.String(), message(err, path))
			}
			same(t, fmt.Sprintf("%q", buf.String()), dump(table), want.String())
		}
	}
}

func TestProgressAndCancel(t *testing.T) {
	cols := defs(t, "a INTEGER, b VARCHAR, c DECIMAL(12,2)")
	csvPath := write(t, "x.csv", bigCSV(100_000))
	table, err := loadFile(csvPath, Options{Columns: cols}, cols, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	parquetPath := filepath.Join(t.TempDir(), "x.parquet")
	if err := save(table, parquetPath, Options{RowGroupSize: 10_000}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{csvPath, parquetPath} {
		src, err := Open(path, Options{Columns: cols})
		if err != nil {
			t.Fatal(err)
		}
		src.tune = func(s *cutting) { s.rows = 10_000 }
		last, calls := int64(0), 0
		_, err = src.Load(context.Background(), newTable(cols), LoadOptions{Threads: 2, Progress: func(done, total, _ int64) {
			if done < 0 || done > total || total <= 0 {
				t.Errorf("%d of %d", done, total)
			}
			last, calls = max(last, done*100/total), calls+1
		}})
		if err != nil || last != 100 || calls < 2 {
			t.Errorf("%v: %d %%, %d calls", err, last, calls)
		}
		// Canceled before, and in the middle.
		for _, before := range []bool{true, false} {
			ctx, cancel := context.WithCancel(context.Background())
			if before {
				cancel()
			}
			to := newTable(cols)
			_, err = src.Load(ctx, to, LoadOptions{Threads: 2, Progress: func(done, total, _ int64) { cancel() }})
			if !errors.Is(err, context.Canceled) || diag.CodeOf(err) != diag.QueryCanceled {
				t.Errorf("%s: %v", path, err)
			}
			if to.Snapshot().Rows != 0 {
				t.Error("a canceled load left rows")
			}
			cancel()
		}
	}
}

func TestOptionsChecked(t *testing.T) {
	path := write(t, "x.csv", "a,b\n1,2\n")
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{Delimiter: '\n'}, "ERROR: COPY delimiter cannot be newline or carriage return (22023)"},
		{Options{Delimiter: '"'}, "ERROR: COPY delimiter and quote must be different (22023)"},
		{Options{Quote: 0xe4}, "ERROR: COPY quote must be a single one-byte character (22023)"},
		{Options{Delimiter: ',', Null: "a,b", HasNull: true}, "ERROR: COPY delimiter character must not appear in the NULL specification (22023)"},
		{Options{Null: "a\n", HasNull: true}, "ERROR: COPY null representation cannot use newline or carriage return (22023)"},
	} {
		_, err := Open(path, c.opts)
		same(t, "error", message(err, path), c.want)
	}
}
