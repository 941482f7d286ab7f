package file

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/types"
)

const allTypes = "b BOOLEAN, i16 SMALLINT, i32 INTEGER, i64 BIGINT, f32 REAL, f64 DOUBLE, d9 DECIMAL(9,2), d18 DECIMAL(18,18), d19 DECIMAL(19,0), " +
	"d38 DECIMAL(38,6), dt DATE, ts TIMESTAMP, iv INTERVAL, s VARCHAR, v VARCHAR(7)"

// randomTable has rows of all types, with extremes and NULLs.
func randomTable(tb testing.TB, cols []catalog.ColumnDef, rows int) *catalog.Table {
	tb.Helper()
	rng := rand.New(rand.NewPCG(5, uint64(rows)))
	t := newTable(cols)
	a := t.NewAppender()
	for range rows {
		row := make([]types.Value, len(cols))
		for i, c := range cols {
			row[i] = randomValue(rng, c.Type)
			if !c.NotNull && rng.IntN(7) == 0 {
				row[i] = types.NullOf(c.Type)
			}
		}
		if err := a.AppendRow(row...); err != nil {
			tb.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		tb.Fatal(err)
	}
	return t
}

func randomValue(rng *rand.Rand, t types.Type) types.Value {
	v := types.Value{Type: t}
	bits := rng.Uint64() >> rng.IntN(64)
	if rng.IntN(2) == 0 {
		bits = -bits
	}
	switch t.Kind {
	case types.Bool:
		v.I = int64(bits & 1)
	case types.Int16:
		v.I = int64(int16(bits))
	case types.Int32:
		v.I = int64(int32(bits))
	case types.Int64:
		v.I = int64(bits)
	case types.Float32:
		f := []float32{0, math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN()), 1.5, float32(rng.NormFloat64())}
		v.F = float64(f[rng.IntN(len(f))])
	case types.Float64:
		f := []float64{0, math.Copysign(0, -1), math.MaxFloat64, 5e-324, math.Inf(-1), math.NaN(), 0.1, rng.NormFloat64() * 1e10, float64(rng.IntN(1000)) / 8}
		v.F = f[rng.IntN(len(f))]
	case types.Decimal:
		x, _ := types.Int128{Lo: rng.Uint64(), Hi: int64(bits) >> 1}.DivRem(types.Int128{Lo: 1 << rng.IntN(64)})
		_, x = x.DivRem(types.Pow10(int(t.Prec)))
		v = types.DecimalValue(t, x)
	case types.Date:
		v.I = []int64{types.MinDate, types.MaxDate, types.InfiniteDate, -types.InfiniteDate, 0, -1, int64(rng.IntN(40000) - 20000)}[rng.IntN(7)]
	case types.Timestamp:
		v.I = []int64{types.MinTimestamp, types.MaxTimestamp, types.InfiniteTimestamp, -types.InfiniteTimestamp, 0, -1, rng.Int64N(4e15) - 2e15}[rng.IntN(7)]
	case types.Interval:
		v = types.IntervalValue(rng.Int32N(5), rng.Int32N(40), rng.Int64N(1e7)*1000)
	case types.Text:
		words := []string{"", "plain", "a,b", "a|b\t;", "\"", "quo\"te", "line\nbreak", "cr\r", "\r\n", " sp ", "NULL", `\N`, `\`, `a\nb`, "äöü€", "'", "a;b", `\.`}
		v.S = words[rng.IntN(len(words))]
		if t.Len == 0 && rng.IntN(9) == 0 {
			v.S = strings.Repeat(v.S, 20)
		}
		if t.Len > 0 && len(v.S) > int(t.Len) {
			v.S = "short"
		}
	}
	return v
}

// TestRoundTrip writes and reads all types in all formats.
func TestRoundTrip(t *testing.T) {
	cols := defs(t, allTypes)
	for _, rows := range []int{0, 1, 1000} {
		table := randomTable(t, cols, rows)
		want := dump(table)
		for _, c := range []struct {
			file string
			opts Options
		}{
			{"x.parquet", Options{}},
			{"x.parquet", Options{Compression: "zstd", RowGroupSize: 77}},
			{"x.csv", Options{}},
			{"x.csv.gz", Options{}},
			{"x.csv.zst", Options{HasHeader: true}},
			{"x.tsv", Options{}},
			{"x.csv", Options{Delimiter: ';', Quote: '\'', Null: "NULL", HasNull: true}},
			{"x.csv", Options{Escape: '\\', Delimiter: '|', Null: `\N`, HasNull: true}},
			{"x.csv", Options{Delimiter: '-', Quote: '0', Null: "e", HasNull: true}},
			{"x.tbl", Options{}},
			{"x.txt", Options{Format: Text}},
			{"x.txt", Options{Format: Text, Delimiter: ',', Null: "", HasNull: true}},
			{"x.csv", Options{Header: true, HasHeader: true, Compression: "gzip"}},
		} {
			if c.opts.Format == Text && c.opts.HasNull {
				continue // an empty text could not be told from NULL, as in PostgreSQL
			}
			path := filepath.Join(t.TempDir(), c.file)
			name := fmt.Sprintf("%s %+v", c.file, c.opts)
			if err := save(table, path, c.opts); err != nil {
				t.Fatal(name, err)
			}
			read := c.opts
			read.Columns = cols
			if !strings.HasSuffix(c.file, ".parquet") && !read.HasHeader {
				read.HasHeader = true
				byName, _ := FormatByName(path)
				read.Header = byName != Text && read.Format != Text
			}
			for _, tune := range splits[:3] {
				got, err := loadFile(path, read, cols, tune, 2)
				if err != nil {
					t.Fatal(name, message(err, path))
				}
				same(t, name, dump(got), want)
			}
		}
	}
}

// TestRoundTripSchema: Parquet keeps the types, and NOT NULL.
func TestRoundTripSchema(t *testing.T) {
	cols := defs(t, strings.ReplaceAll(strings.ReplaceAll(allTypes, "VARCHAR(7)", "VARCHAR"), ", s", " NOT NULL, s"))
	table := randomTable(t, cols, 100)
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := save(table, path, Options{}); err != nil {
		t.Fatal(err)
	}
	got, err := loadFile(path, Options{}, nil, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "columns", show(got.Columns), show(cols))
	same(t, "rows", dump(got), dump(table))
}

// TestCSVText is what a CSV file looks like.
func TestCSVText(t *testing.T) {
	table := newTable(defs(t, "a INTEGER, b VARCHAR, c BOOLEAN, d DECIMAL(5,2), e TIMESTAMP"))
	a := table.NewAppender()
	for _, r := range [][]string{{"1", "x", "true", "1.5", "2020-01-02 03:04:05.6"}, {"", "a,\"b\"\n", "", "", ""}, {"-3", "<empty>", "false", "-0.01", "1999-12-31"}} {
		row := make([]types.Value, len(r))
		for i, s := range r {
			row[i] = types.TextValue(s)
			if s == "" {
				row[i] = types.NullOf(types.TText)
			} else if s == "<empty>" {
				row[i] = types.TextValue("")
			}
		}
		if err := a.AppendRow(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		format Format
		opts   Options
		want   string
	}{
		{CSV, Options{}, "a,b,c,d,e\n1,x,true,1.50,2020-01-02 03:04:05.6\n,\"a,\"\"b\"\"\n\",,,\n-3,\"\",false,-0.01,1999-12-31 00:00:00\n"},
		{CSV, Options{HasHeader: true, Delimiter: '\t', Null: "-", HasNull: true}, "1\tx\ttrue\t1.50\t2020-01-02 03:04:05.6\n-\t\"a,\"\"b\"\"\n\"\t-\t-\t-\n-3\t\tfalse\t-0.01\t1999-12-31 00:00:00\n"},
		{CSV, Options{HasHeader: true, Delimiter: '-'}, "1-x-true-1.50-\"2020-01-02 03:04:05.6\"\n-\"a,\"\"b\"\"\n\"---\n\"-3\"-\"\"-false-\"-0.01\"-\"1999-12-31 00:00:00\"\n"},
		{Text, Options{}, "1\tx\tt\t1.50\t2020-01-02 03:04:05.6\n\\N\ta,\"b\"\\n\t\\N\t\\N\t\\N\n-3\t\tf\t-0.01\t1999-12-31 00:00:00\n"},
	} {
		var buf bytes.Buffer
		w, err := NewStreamWriter(&buf, c.format, table.Columns, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(batch(table, 0, 3)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("%s %+v", c.format, c.opts), buf.String(), c.want)
	}
}

// TestWriterLeavesNothing: a file is there when it is complete, or not at all.
func TestWriterLeavesNothing(t *testing.T) {
	cols := defs(t, "a INTEGER, iv INTERVAL")
	table := randomTable(t, cols, 10)
	bad := newTable(cols)
	a := bad.NewAppender()
	if err := a.AppendRow(types.IntValue(types.TInt32, 1), types.IntervalValue(-1, 0, 0)); err != nil {
		t.Fatal(err)
	}
	a.Close()
	for _, name := range []string{"x.csv", "x.parquet"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		entries := func() (names []string) {
			list, _ := os.ReadDir(dir)
			for _, e := range list {
				names = append(names, e.Name())
			}
			return names
		}
		w, err := NewWriter(path, Auto, cols, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(batch(table, 0, 10)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("the file is there before it is complete")
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		w.Abort()
		if got := entries(); len(got) != 0 {
			t.Errorf("after Abort: %v", got)
		}
		// An old file stays until the new one is complete, then keeps its mode.
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err = NewWriter(path, Auto, cols, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err = w.Write(batch(bad, 0, 1)); err == nil && name == "x.parquet" { // the first rows are kept for a while
			err = w.Close()
		}
		if name == "x.parquet" {
			if want := "interval \"-1 mons\" cannot be stored in Parquet (22015)"; err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			if w.Close() == nil {
				t.Error("Close succeeds after a failed Write")
			}
			if old, _ := os.ReadFile(path); string(old) != "old" {
				t.Errorf("the old file is now %q", old)
			}
		} else if err := w.Close(); err != nil {
			t.Error(err)
		}
		if got := entries(); len(got) != 1 {
			t.Errorf("in the folder: %v", got)
		}
		if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", st.Mode())
		}
		if err := save(table, path, Options{}); err != nil {
			t.Error(err)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		if got := entries(); len(got) != 1 {
			t.Errorf("in the folder: %v", got)
		}
	}
	if _, err := NewWriter(filepath.Join(t.TempDir(), "no", "x.csv"), Auto, cols, Options{}); err == nil || !strings.Contains(err.Error(), "No such file or directory (58P01)") {
		t.Error(err)
	}
	if _, err := NewWriter(t.TempDir(), CSV, cols, Options{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
	if _, err := NewWriter(filepath.Join(t.TempDir(), "x"), Parquet, cols, Options{Compression: "rot13"}); err == nil {
		t.Error("rot13")
	}
	// A device is written in place.
	if err := save(table, "/dev/null", Options{}); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat("/dev/null"); err != nil || st.Mode().IsRegular() {
		t.Error("/dev/null is a file now")
	}
}

// TestWriteLink: writing through a link changes what it points to.
func TestWriteLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")
	os.WriteFile(target, nil, 0o666)
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	cols := defs(t, "a INTEGER")
	if err := save(randomTable(t, cols, 1), link, Options{}); err != nil {
		t.Fatal(err)
	}
	if st, _ := os.Lstat(link); st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if st, _ := os.Stat(target); st.Size() == 0 {
		t.Error("the target is empty")
	}
}

// TestParquetNames: any name is kept, as long as it is the only one of its kind.
func TestParquetNames(t *testing.T) {
	cols := defs(t, "a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER")
	for i, name := range []string{"a.b", " sum(x) ", "", "x", "X"} {
		cols[i].Name = name
	}
	table := randomTable(t, cols, 5)
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := save(table, path, Options{}); err != nil {
		t.Fatal(err)
	}
	got, err := loadFile(path, Options{}, nil, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "columns", show(got.Columns), "a.b INTEGER,  sum(x)  INTEGER, column2 INTEGER, x INTEGER, X_1 INTEGER")
	same(t, "rows", dump(got), dump(table))
}
