package file

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pqgo "github.com/parquet-go/parquet-go"

	"github.com/kelpiedb/kelpie/internal/types"
)

// The files of testdata were written by pyarrow and DuckDB, the texts beside them by Python: see fixtures.py.
func TestParquetOfOthers(t *testing.T) {
	texts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(texts) < 5 {
		t.Fatal(texts, err)
	}
	for _, text := range texts {
		path := strings.TrimSuffix(text, ".txt") + ".parquet"
		t.Run(filepath.Base(path), func(t *testing.T) {
			golden, err := os.ReadFile(text)
			if err != nil {
				t.Fatal(err)
			}
			cols, rows, _ := strings.Cut(string(golden), "\n")
			for threads := 1; threads <= 4; threads += 3 {
				src, err := Open(path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if got := show(src.Columns()); got != cols {
					t.Errorf("columns %s\nwant    %s", got, cols)
				}
				if n := int64(strings.Count(rows, "\n")); src.EstimateRows() != n {
					t.Errorf("%d rows, want %d", src.EstimateRows(), n)
				}
				table, err := loadFile(path, Options{}, nil, nil, threads)
				if err != nil {
					t.Fatal(message(err, path))
				}
				same(t, "rows", dump(table), rows)
			}
		})
	}
}

func TestParquetRefused(t *testing.T) {
	for _, text := range []string{"", "PAR1", "PAR1PAR1", "a,b\n1,2\n", "PAR1" + strings.Repeat("x", 100) + "\x00\x00\x00\x00PAR1"} {
		path := write(t, "x.parquet", text)
		_, err := loadFile(path, Options{}, nil, nil, 1)
		if got := message(err, path); !strings.HasPrefix(got, "ERROR: file \"x.parquet\" is damaged: ") || !strings.Contains(got, "(XX001)") {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestParquetMapping reads some columns, converted, into others.
func TestParquetMapping(t *testing.T) {
	src, err := Open("testdata/pyarrow.parquet", Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Only d7, i32, s, us, f64, i8 are read.
	table := newTable(defs(t, "x INTEGER, s VARCHAR, d DOUBLE, i DECIMAL(12,1), day DATE, f VARCHAR, j SMALLINT, y VARCHAR"))
	mapping := make([]int, len(src.Columns()))
	for i, c := range src.Columns() {
		mapping[i] = -1
		switch c.Name {
		case "d7":
			mapping[i] = 2
		case "i32":
			mapping[i] = 3
		case "s":
			mapping[i] = 1
		case "us":
			mapping[i] = 4
		case "f64":
			mapping[i] = 5
		case "i8":
			mapping[i] = 6
		}
	}
	defaults := make([]types.Value, len(table.Columns))
	for i, c := range table.Columns {
		defaults[i] = types.NullOf(c.Type)
	}
	defaults[0] = types.IntValue(types.TInt32, 42)
	rows, err := src.Load(context.Background(), table, LoadOptions{Columns: mapping, Defaults: defaults})
	if err != nil || rows != 23 {
		t.Fatal(rows, err)
	}
	want := "42 NULL NULL NULL NULL NULL NULL NULL\n" +
		"42 \"row 1 is a fairly long string\" -45454.55 -1952257862.0 1994-07-10 \"-0.9\" -117 NULL\n"
	if got := dump(table); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	// A value that does not fit.
	narrow := newTable(defs(t, "i SMALLINT"))
	for i, c := range src.Columns() {
		mapping[i] = -1
		if c.Name == "i32" {
			mapping[i] = 0
		}
	}
	_, err = src.Load(context.Background(), narrow, LoadOptions{Columns: mapping})
	if got, want := message(err, "testdata/x"), "ERROR: smallint out of range (22003)\nDETAIL: file pyarrow.parquet, row group 0, column \"i32\""; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if narrow.Snapshot().Rows != 0 {
		t.Error("a failed load left rows")
	}
	// NULL into NOT NULL.
	strict := newTable(defs(t, "i BIGINT NOT NULL"))
	_, err = src.Load(context.Background(), strict, LoadOptions{Columns: mapping})
	if got, want := message(err, "testdata/x"), "ERROR: null value in column \"i\" of relation \"t\" violates not-null constraint (23502)\nDETAIL: file pyarrow.parquet, row group 0, column \"i32\""; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// goRow is a row for the other Parquet library.
type goRow struct {
	B   *bool    `parquet:"b,optional"`
	I16 *int32   `parquet:"i16,optional,int(16)"`
	I32 *int32   `parquet:"i32,optional"`
	I64 *int64   `parquet:"i64,optional"`
	F32 *float32 `parquet:"f32,optional"`
	F64 *float64 `parquet:"f64,optional"`
	D9  *int32   `parquet:"d9,optional,decimal(2:9)"`
	D18 *int64   `parquet:"d18,optional,decimal(4:18)"`
	DT  *int32   `parquet:"dt,optional,date"`
	TS  *int64   `parquet:"ts,optional,timestamp(microsecond:local)"`
	S   *string  `parquet:"s,optional"`
}

const goCols = "b BOOLEAN, i16 SMALLINT, i32 INTEGER, i64 BIGINT, f32 REAL, f64 DOUBLE, d9 DECIMAL(9,2), d18 DECIMAL(18,4), dt DATE, ts TIMESTAMP, s VARCHAR"

func goRows(n int) []goRow {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]goRow, n)
	for i := range rows {
		r := &rows[i]
		if rng.IntN(9) > 0 {
			r.B = ptr(rng.IntN(2) == 0)
		}
		if rng.IntN(9) > 0 {
			r.I16 = ptr(int32(int16(rng.Uint32())))
		}
		if rng.IntN(9) > 0 {
			r.I32 = ptr(int32(rng.Uint32()))
		}
		if rng.IntN(9) > 0 {
			r.I64 = ptr(int64(rng.Uint64()))
		}
		if rng.IntN(9) > 0 {
			r.F32 = ptr(rng.Float32())
		}
		if rng.IntN(9) > 0 {
			r.F64 = ptr(rng.NormFloat64())
		}
		if rng.IntN(9) > 0 {
			r.D9 = ptr(int32(rng.IntN(2e9) - 1e9 + 1))
		}
		if rng.IntN(9) > 0 {
			r.D18 = ptr(rng.Int64N(2e18-1) - 1e18 + 1)
		}
		if rng.IntN(9) > 0 {
			r.DT = ptr(int32(rng.IntN(60000) - 30000))
		}
		if rng.IntN(9) > 0 {
			r.TS = ptr(rng.Int64N(4e15) - 2e15)
		}
		if rng.IntN(9) > 0 {
			r.S = ptr(strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(20)))
		}
	}
	return rows
}

func ptr[T any](x T) *T { return &x }

// dumpGo prints rows as dump does.
func dumpGo(rows []goRow) string {
	var b strings.Builder
	value := func(v types.Value, null bool) {
		v.Null = null
		if v.Type.Kind == types.Text && !null {
			fmt.Fprintf(&b, "%q", v.S)
		} else {
			b.WriteString(v.String() + " ")
		}
	}
	for i := range rows {
		r := &rows[i]
		value(types.BoolValue(deref(r.B)), r.B == nil)
		value(types.IntValue(types.TInt16, int64(deref(r.I16))), r.I16 == nil)
		value(types.IntValue(types.TInt32, int64(deref(r.I32))), r.I32 == nil)
		value(types.IntValue(types.TInt64, deref(r.I64)), r.I64 == nil)
		value(types.FloatValue(types.TFloat32, float64(deref(r.F32))), r.F32 == nil)
		value(types.FloatValue(types.TFloat64, deref(r.F64)), r.F64 == nil)
		value(types.DecimalValue(types.TDecimal(9, 2), types.FromInt64(int64(deref(r.D9)))), r.D9 == nil)
		value(types.DecimalValue(types.TDecimal(18, 4), types.FromInt64(deref(r.D18))), r.D18 == nil)
		value(types.DateValue(int64(deref(r.DT))), r.DT == nil)
		value(types.IntValue(types.TTimestamp, deref(r.TS)), r.TS == nil)
		value(types.TextValue(deref(r.S)), r.S == nil)
		if r.S == nil {
			s := b.String()
			b.Reset()
			b.WriteString(strings.TrimSuffix(s, " "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func deref[T any](p *T) (x T) {
	if p != nil {
		x = *p
	}
	return x
}

// TestParquetCross reads with one library what the other wrote.
func TestParquetCross(t *testing.T) {
	rows := goRows(300)
	want := dumpGo(rows)
	dir := t.TempDir()

	theirs := filepath.Join(dir, "theirs.parquet")
	var buf bytes.Buffer
	w := pqgo.NewGenericWriter[goRow](&buf, pqgo.Compression(&pqgo.Zstd), pqgo.MaxRowsPerRowGroup(70))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(theirs, buf.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := loadFile(theirs, Options{}, nil, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(table.Columns); got != goCols {
		t.Errorf("columns %s\nwant    %s", got, goCols)
	}
	same(t, "we read", dump(table), want)

	for _, codec := range []string{"", "none", "zstd", "gzip", "lz4", "brotli"} {
		ours := filepath.Join(dir, "ours.parquet")
		if err := save(table, ours, Options{Compression: codec, RowGroupSize: 100}); err != nil {
			t.Fatal(err)
		}
		got, err := pqgo.ReadFile[goRow](ours)
		if err != nil {
			t.Fatal(codec, err)
		}
		same(t, codec+": they read", dumpGo(got), want)
		f, err := os.Open(ours)
		if err != nil {
			t.Fatal(err)
		}
		st, _ := f.Stat()
		pf, err := pqgo.OpenFile(f, st.Size())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(pf.RowGroups()); n != 3 {
			t.Errorf("%d row groups", n)
		}
		f.Close()
	}
}

// TestParquetRareForms reads what hardly any file has: timestamps of nanoseconds before 1970, and decimals
// whose bytes are stored as the differences of texts.
func TestParquetRareForms(t *testing.T) {
	schema := pqgo.NewSchema("t", pqgo.Group{
		"nanos":   pqgo.Timestamp(pqgo.Nanosecond),
		"lengths": pqgo.Encoded(pqgo.Decimal(2, 9, pqgo.ByteArrayType), &pqgo.DeltaLengthByteArray),
		"prefix":  pqgo.Encoded(pqgo.Decimal(0, 18, pqgo.ByteArrayType), &pqgo.DeltaByteArray),
		"wide":    pqgo.Encoded(pqgo.Decimal(1, 30, pqgo.ByteArrayType), &pqgo.DeltaByteArray),
	})
	var buf bytes.Buffer
	w := pqgo.NewWriter(&buf, schema)
	for _, r := range []struct {
		number []byte
		nanos  int64
	}{
		{[]byte{0x01}, 0}, {[]byte{0xff}, -1}, {[]byte{0x7f, 0xff}, -999}, {[]byte{0x80, 0x00}, -1000}, {nil, -1001},
		{[]byte{0xff, 0xff, 0xfe}, 999}, {[]byte{0x00, 0x00, 0x80}, 1000}, {[]byte{0x01}, math.MinInt64},
	} {
		bytes := pqgo.ValueOf(r.number)
		row := pqgo.Row{bytes.Level(0, 0, 0), pqgo.ValueOf(r.nanos).Level(0, 0, 1), bytes.Level(0, 0, 2), bytes.Level(0, 0, 3)}
		if _, err := w.WriteRows([]pqgo.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := write(t, "rare.parquet", buf.String())
	table, err := loadFile(path, Options{}, nil, nil, 1)
	if err != nil {
		t.Fatal(message(err, path))
	}
	same(t, "columns", show(table.Columns), "lengths DECIMAL(9,2) NOT NULL, nanos TIMESTAMP WITH TIME ZONE NOT NULL, prefix DECIMAL(18,0) NOT NULL, wide DECIMAL(30,1) NOT NULL")
	same(t, "rows", dump(table), `0.01 1970-01-01 00:00:00+00 1 0.1
-0.01 1969-12-31 23:59:59.999999+00 -1 -0.1
327.67 1969-12-31 23:59:59.999999+00 32767 3276.7
-327.68 1969-12-31 23:59:59.999999+00 -32768 -3276.8
0.00 1969-12-31 23:59:59.999998+00 0 0.0
-0.02 1970-01-01 00:00:00+00 -2 -0.2
1.28 1970-01-01 00:00:00.000001+00 128 12.8
0.01 1677-09-21 00:12:43.145224+00 1 0.1
`)
}

// TestParquetShortChunk: a page that goes on behind its column's bytes is not read, though there are bytes.
func TestParquetShortChunk(t *testing.T) {
	src, err := Open("testdata/duckdb.parquet", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range src.parquet[0].chunks[0] {
		src.parquet[0].chunks[0][i].size--
	}
	_, err = src.Load(context.Background(), newTable(src.Columns()), LoadOptions{Threads: 1})
	if got := message(err, "testdata/x"); !strings.Contains(got, errShort.Error()) {
		t.Errorf("%s", got)
	}
}

// TestParquetDamage changes bytes of good files: whatever comes of it, it is rows or an error.
func TestParquetDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tries := 400
	if testing.Short() {
		tries = 80
	}
	for _, name := range []string{"pyarrow_v2", "duckdb", "int96"} {
		good, err := os.ReadFile("testdata/" + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for i := range tries {
			bad := bytes.Clone(good)
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
			}
			if i%10 == 0 {
				bad = bad[:rng.IntN(len(bad))]
			}
			path := filepath.Join(dir, "x.parquet")
			if err := os.WriteFile(path, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			tryParquet(t, path)
		}
	}
}

// tryParquet loads a file that may be damaged in any way.
func tryParquet(t *testing.T, path string) {
	table, err := loadFile(path, Options{Format: Parquet}, nil, nil, 2)
	switch {
	case err != nil && strings.Contains(err.Error(), "internal error"):
		t.Error(err)
	case err != nil && table != nil && table.Snapshot().Rows != 0:
		t.Error("a failed load left rows")
	}
	var rows []string
	for _, w := range scanWays {
		got, err := scanFile(path, w)
		switch {
		case err != nil && strings.Contains(err.Error(), "internal error"):
			t.Error(err)
		case err == nil:
			rows = append(rows, got)
		}
	}
	for _, r := range rows {
		same(t, "another way to scan", r, rows[0])
	}
}
