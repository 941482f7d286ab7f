package file

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	pqgo "github.com/parquet-go/parquet-go"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// scanWay is a way to scan files, which must not matter.
type scanWay struct {
	trust bool
	opts  catalog.ScanOptions
	cut   func(rows int64) (lo, hi int64) // of each segment; nil: all
}

var scanWays = []scanWay{
	{trust: true, opts: catalog.ScanOptions{Narrow: true, Dict: true}},
	{trust: true, opts: catalog.ScanOptions{Narrow: true, Dict: true, Cache: true}},
	{trust: true},
	{trust: false, opts: catalog.ScanOptions{Narrow: true, Dict: true}},
	{trust: false},
	{trust: true, opts: catalog.ScanOptions{Narrow: true, Dict: true, SIMD: true, Map: true}},
	{trust: true, opts: catalog.ScanOptions{SIMD: true}},
	{trust: false, opts: catalog.ScanOptions{Narrow: true, Map: true}},
}

// scanFile reads a file as a query does and writes the rows as dump does.
func scanFile(path string, w scanWay) (string, error) {
	src, err := Open(path, Options{Format: Parquet})
	if err != nil {
		return "", err
	}
	return scanSource(src, w)
}

func scanSource(src *Source, w scanWay) (string, error) {
	table := src.Table("t", w.trust, NewCache(1<<20))
	snap := table.Snapshot()
	var all []int
	for i := range src.Columns() {
		all = append(all, i)
	}
	opened, err := snap.External.Begin(w.opts).Open(context.Background(), all, all)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, seg := range opened.Segments {
		if w.cut != nil {
			p := *seg.Loader.(*rowPiece)
			lo, hi := w.cut(p.hi - p.lo)
			p.lo, p.hi = p.lo+lo, p.lo+hi
			if p.lo == p.hi {
				continue
			}
			seg = p.segment(all, func(c int) bounds { return bounds{} })
		}
		text, err := scanSegment(opened, seg)
		if err == nil && w.opts.Cache { // from the cache
			var again string
			if again, err = scanSegment(opened, seg); err == nil && again != text {
				err = fmt.Errorf("internal error: the cache has other rows")
			}
		}
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// scanSegment loads a segment's columns into memory full of rubbish.
func scanSegment(snap *catalog.Snapshot, seg *catalog.Segment) (string, error) {
	var mems []*column.Mem
	chunks := make([]*column.Chunk, len(seg.Chunks))
	for i := range chunks {
		c, _, err := seg.Loader.Load(context.Background(), i, nil, func(size int) (uintptr, error) {
			mem, err := column.Alloc(size)
			if err != nil {
				return 0, err
			}
			for i := range mem.Bytes() {
				mem.Bytes()[i] = 0xA5
			}
			mems = append(mems, mem)
			return mem.Addr(), nil
		})
		if err != nil {
			return "", err
		}
		stub := seg.Chunks[i]
		if c.Shape != stub.Shape || c.Base != stub.Base || c.Dict != stub.Dict || c.Rows != stub.Rows {
			return "", fmt.Errorf("internal error: column %d is %+v, promised was %+v", i, c.Shape, stub.Shape)
		}
		chunks[i] = c
	}
	var b strings.Builder
	for row := range seg.Rows {
		for i, c := range chunks {
			if i > 0 {
				b.WriteString(" ")
			}
			v := c.Value(row)
			if z := &seg.Chunks[i].Zone; !v.Null && z.Min.Type.Kind == v.Type.Kind && !v.Type.IsFloat() && v.Type.Kind != types.Text &&
				(types.Compare(v, z.Min) < 0 || types.Compare(v, z.Max) > 0) {
				return "", fmt.Errorf("internal error: %s is not between %s and %s", v, z.Min, z.Max)
			}
			if v.Type.Kind == types.Text && !v.Null {
				fmt.Fprintf(&b, "%q", v.S)
			} else {
				b.WriteString(v.String())
			}
		}
		b.WriteString("\n")
	}
	runtime.KeepAlive(mems)
	runtime.KeepAlive(snap)
	return b.String(), nil
}

func TestScanOfOthers(t *testing.T) {
	texts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(texts) < 5 {
		t.Fatal(texts, err)
	}
	for _, text := range texts {
		path := strings.TrimSuffix(text, ".txt") + ".parquet"
		golden, err := os.ReadFile(text)
		if err != nil {
			t.Fatal(err)
		}
		_, want, _ := strings.Cut(string(golden), "\n")
		for i, w := range scanWays {
			got, err := scanFile(path, w)
			if err != nil {
				t.Fatal(message(err, path))
			}
			same(t, fmt.Sprintf("%s, way %d", path, i), got, want)
		}
	}
}

// encodedRow has a column for each encoding.
type encodedRow struct {
	Plain  int64    `parquet:"plain"`
	Delta  int64    `parquet:"delta,delta"`
	Delta4 int32    `parquet:"delta4,delta"`
	Dict   int64    `parquet:"dict,dict"`
	Null   *int32   `parquet:"null,optional"`
	NullD  *int32   `parquet:"nulld,optional,dict"`
	Split  float64  `parquet:"split,split"`
	Split4 float32  `parquet:"split4,split"`
	F      *float64 `parquet:"f,optional"`
	S      string   `parquet:"s"`
	SD     string   `parquet:"sd,dict"`
	SN     *string  `parquet:"sn,optional,dict"`
	SL     string   `parquet:"sl,delta"`
	SP     *string  `parquet:"sp,optional"`
	B      bool     `parquet:"b"`
	BN     *bool    `parquet:"bn,optional"`
	U      [16]byte `parquet:"u,uuid"`
	Days   int32    `parquet:"days,date"`
	Dec    int64    `parquet:"dec,decimal(2:12)"`
	U32    uint32   `parquet:"u32"`
	U64    uint64   `parquet:"u64,dict"`
}

func encodedRows(rng *rand.Rand, n int) []encodedRow {
	rows := make([]encodedRow, n)
	words := []string{"", "a", "twelve bytes", "thirteen byte", "a longer text that is not kept in its descriptor", "ähnlich", "日本語"}
	opt := func() bool { return rng.IntN(5) > 0 }
	for i := range rows {
		r := &rows[i]
		r.Plain = int64(i)*3 - 1000
		r.Delta = int64(rng.Uint64()) >> rng.IntN(64)
		r.Delta4 = int32(rng.Uint32()) >> rng.IntN(32)
		r.Dict = []int64{-5, 0, 77, 1 << 40}[rng.IntN(4)]
		x, y, f := int32(rng.IntN(1000)), int32(rng.IntN(10)), rng.NormFloat64()
		if opt() {
			r.Null = &x
		}
		if opt() {
			r.NullD = &y
		}
		r.Split, r.Split4 = rng.Float64(), rng.Float32()
		if opt() {
			r.F = &f
		}
		r.S = fmt.Sprint(words[rng.IntN(len(words))], rng.IntN(1000))
		r.SD = words[rng.IntN(len(words))]
		if s := words[rng.IntN(len(words))]; opt() {
			r.SN = &s
		}
		r.SL = strings.Repeat("common beginning ", i%3) + fmt.Sprint(i)
		if s := fmt.Sprint(words[rng.IntN(len(words))], i); opt() {
			r.SP = &s
		}
		r.B = rng.IntN(2) == 0
		if b := rng.IntN(2) == 0; opt() {
			r.BN = &b
		}
		for k := range r.U {
			r.U[k] = byte(rng.Uint32())
		}
		r.Days = int32(rng.IntN(20000)) - 5000
		r.Dec = int64(rng.IntN(1e9)) - 5e8
		r.U32, r.U64 = rng.Uint32(), rng.Uint64()>>rng.IntN(64)
	}
	return rows
}

// writeEncoded writes rows with parquet-go, in small pages with an index of them.
func writeEncoded(tb testing.TB, rows []encodedRow, opts ...pqgo.WriterOption) string {
	var buf bytes.Buffer
	w := pqgo.NewGenericWriter[encodedRow](&buf, opts...)
	if _, err := w.Write(rows); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return write(tb, "encoded.parquet", buf.String())
}

// encodedText is what rows look like when they are read; with nothing of what reads them.
func encodedText(rows []encodedRow) string {
	var b strings.Builder
	quoted := func(s *string) string {
		if s == nil {
			return "NULL"
		}
		return fmt.Sprintf("%q", *s)
	}
	for i := range rows {
		r := &rows[i]
		fmt.Fprint(&b, r.Plain, " ", r.Delta, " ", r.Delta4, " ", r.Dict, " ", orNull(r.Null), " ", orNull(r.NullD), " ")
		fmt.Fprint(&b, types.FloatValue(types.TFloat64, r.Split), " ", types.FloatValue(types.TFloat32, float64(r.Split4)), " ")
		if r.F == nil {
			b.WriteString("NULL ")
		} else {
			fmt.Fprint(&b, types.FloatValue(types.TFloat64, *r.F), " ")
		}
		fmt.Fprint(&b, quoted(&r.S), " ", quoted(&r.SD), " ", quoted(r.SN), " ", quoted(&r.SL), " ", quoted(r.SP), " ", r.B, " ", orNull(r.BN), " ")
		fmt.Fprintf(&b, "%x-%x-%x-%x-%x ", r.U[:4], r.U[4:6], r.U[6:8], r.U[8:10], r.U[10:])
		fmt.Fprint(&b, types.DateValue(int64(r.Days)), " ", types.DecimalValue(types.TDecimal(12, 2), types.FromInt64(r.Dec)), " ", r.U32, " ", r.U64, "\n")
	}
	return b.String()
}

func orNull[T any](x *T) string {
	if x == nil {
		return "NULL"
	}
	return fmt.Sprint(*x)
}

// TestScanEncodings reads every encoding, whole and in parts.
func TestScanEncodings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	most, cuts := 20000, 10
	if testing.Short() {
		most, cuts = 10000, 1 // two row groups still
	}
	for i, opts := range [][]pqgo.WriterOption{
		{pqgo.PageBufferSize(2000), pqgo.MaxRowsPerRowGroup(9000)},
		{pqgo.PageBufferSize(1000), pqgo.Compression(&pqgo.Snappy), pqgo.DataPageVersion(1)},
		{pqgo.Compression(&pqgo.Zstd), pqgo.DataPageVersion(2)},
		{pqgo.Compression(&pqgo.Gzip), pqgo.MaxRowsPerRowGroup(100)},
		{pqgo.Compression(&pqgo.Lz4Raw), pqgo.DataPageStatistics(true)},
	} {
		rows := encodedRows(rng, []int{most, 1, 7, 1000, 3000}[i])
		path, want := writeEncoded(t, rows, opts...), encodedText(rows)
		table, err := loadFile(path, Options{}, nil, nil, 2)
		if err != nil {
			t.Fatal(message(err, path))
		}
		same(t, fmt.Sprintf("file %d, loaded", i), dump(table), want)
		src, err := Open(path, Options{})
		if err != nil {
			t.Fatal(message(err, path))
		}
		table = newTable(src.Columns())
		if _, err := src.Load(context.Background(), table, LoadOptions{NoMap: true, NoSIMD: true}); err != nil {
			t.Fatal(message(err, path))
		}
		same(t, fmt.Sprintf("file %d, loaded without maps and vectors", i), dump(table), want)
		for k, w := range scanWays {
			got, err := scanFile(path, w)
			if err != nil {
				t.Fatal(i, k, message(err, path))
			}
			same(t, fmt.Sprintf("file %d, way %d", i, k), got, want)
		}
		lines := strings.SplitAfter(want, "\n")
		for range cuts {
			at := int64(0)
			var expect strings.Builder
			w := scanWays[rng.IntN(2)*3]
			w.cut = func(rows int64) (lo, hi int64) {
				lo = rng.Int64N(rows + 1)
				hi = lo + rng.Int64N(rows-lo+1)
				expect.WriteString(strings.Join(lines[at+lo:at+hi], ""))
				at += rows
				return lo, hi
			}
			got, err := scanFile(path, w)
			if err != nil {
				t.Fatal(message(err, path))
			}
			same(t, fmt.Sprintf("file %d, parts", i), got, expect.String())
		}
	}
}

// TestScanPages leaves out pages by their index.
func TestScanPages(t *testing.T) {
	path := writeEncoded(t, encodedRows(rand.New(rand.NewPCG(1, 2)), 100000), pqgo.PageBufferSize(20000), pqgo.MaxRowsPerRowGroup(60000))
	src, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ext := src.Table("t", true, nil).Snapshot().External
	snap, err := ext.Begin(catalog.ScanOptions{Narrow: true, Dict: true}).Open(context.Background(), []int{0, 9}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Segments) < 8 {
		t.Fatalf("%d segments", len(snap.Segments))
	}
	rows := 0
	for i, s := range snap.Segments {
		z := s.Chunks[0].Zone
		if z.Min.I != int64(rows)*3-1000 || z.Max.I != int64(rows+s.Rows-1)*3-1000 {
			t.Errorf("segment %d: rows from %d are between %s and %s", i, rows, z.Min, z.Max)
		}
		rows += s.Rows
	}
	if rows != 100000 {
		t.Errorf("%d rows", rows)
	}
	joined := snap.Segments[0]
	for _, s := range snap.Segments[1:] {
		if both := joined.Loader.Join(joined, s); both != nil {
			joined = both
		}
	}
	if joined.Rows != 60000 {
		t.Errorf("the first row group has %d rows", joined.Rows)
	}
}

// TestScanLies has statistics that are wrong: an error, or without them the rows.
func TestScanLies(t *testing.T) {
	rows := encodedRows(rand.New(rand.NewPCG(1, 2)), 100)
	path := writeEncoded(t, rows, pqgo.Compression(&pqgo.Uncompressed))
	src, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := scanSource(src, scanWays[0])
	if err != nil {
		t.Fatal(err)
	}
	for col := range src.Columns() {
		info := &src.parquet[0].chunks[0][col]
		good := *info
		switch {
		case info.known && info.min.Type.Phys() == types.PhysI64:
			info.max = numberOf(info.max.Type, info.max.Int128().Sub(types.FromInt64(1)))
		case info.nulls > 0:
			info.nulls = 0
		default:
			continue
		}
		if _, err := scanSource(src, scanWays[0]); err == nil || !strings.Contains(err.Error(), "statistics of column") {
			t.Errorf("column %d: %v", col, err)
		}
		got, err := scanSource(src, scanWays[3])
		if err != nil {
			t.Error(err)
		}
		same(t, "without them", got, want)
		*info = good
	}
}

func TestCache(t *testing.T) {
	c := NewCache(100 << 10)
	chunk := func() *column.Chunk {
		b := column.NewBuilder(types.TInt64)
		for i := range 1000 {
			b.AppendInt(int64(i) << 30)
		}
		ch, err := b.Seal(column.DefaultOptions(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return ch
	}
	for i := range 50 {
		c.put(cacheKey{col: i}, chunk(), 0)
		if c.get(cacheKey{col: 0}) == nil {
			t.Fatal("what is used was dropped")
		}
	}
	if c.Used() > 100<<10 || c.get(cacheKey{col: 1}) != nil || c.get(cacheKey{col: 49}) == nil {
		t.Error(c.Used())
	}
	c.SetLimit(0)
	if c.Used() != 0 || c.get(cacheKey{col: 0}) != nil {
		t.Error("not empty")
	}
}

// TestCutShort cuts a file short that is being read in place: an error, not the end of the process.
func TestCutShort(t *testing.T) {
	path := t.TempDir() + "/t.parquet"
	table := newTable(defs(t, "a bigint, s text"))
	sb := table.NewSegmentBuilder()
	for i := range int64(60000) {
		sb.Cols[0].AppendInt(i * 7919 % 65537)
		sb.Cols[1].AppendBytes(fmt.Appendf(nil, "a text that is long, number %d", i))
	}
	seg, err := table.Seal(sb)
	if err == nil {
		err = table.Append(seg)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, codec := range []string{"", "snappy", "none"} {
		if err := save(table, path, Options{Compression: codec}); err != nil {
			t.Fatal(err)
		}
		src, err := Open(path, Options{Format: Parquet})
		if err != nil {
			t.Fatal(err)
		}
		opts := catalog.ScanOptions{Narrow: true}
		for _, f := range src.parquet { // the file is found unchanged before it is cut
			h, err := openUnchanged(f)
			if err != nil {
				t.Fatal(err)
			}
			if f.mapped(h) == nil {
				t.Skip("files cannot be mapped here")
			}
			h.Close()
			if err := os.Truncate(path, 4096); err != nil {
				t.Fatal(err)
			}
			for col := range f.cols {
				form := (&parquetTable{s: src, ranks: make([]bounds, len(f.cols))}).formOf(col, &opts)
				r := &chunkReader{ctx: context.Background(), f: f, data: f.mapped(nil), col: col, info: &f.chunks[0][col], hi: f.chunks[0][col].rows, simd: true}
				_, err := r.read(&form, func(size int) (uintptr, error) {
					m, err := column.Alloc(size)
					if err != nil {
						return 0, err
					}
					t.Cleanup(m.Free)
					return m.Addr(), nil
				})
				if err == nil {
					t.Errorf("codec %q, column %d: no error", codec, col)
				}
			}
		}
	}
}

// TestFoundKeys finds columns that are unique.
func TestFoundKeys(t *testing.T) {
	path := t.TempDir() + "/t.parquet"
	table := newTable(defs(t, "up bigint, twice bigint, down int, hole bigint, jump bigint, s text"))
	sb := table.NewSegmentBuilder()
	const rows = 50000
	for i := range int64(rows) {
		sb.Cols[0].AppendInt(3 * i)
		sb.Cols[1].AppendInt(i - i/(rows-1))
		sb.Cols[2].AppendInt(-i)
		if i == 777 {
			sb.Cols[3].AppendNull()
		} else {
			sb.Cols[3].AppendInt(i)
		}
		sb.Cols[4].AppendInt(i ^ 1)
		sb.Cols[5].AppendBytes(fmt.Appendf(nil, "%09d", i))
	}
	seg, err := table.Seal(sb)
	if err == nil {
		err = table.Append(seg)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{0, 9999} {
		if err := save(table, path, Options{RowGroupSize: size}); err != nil {
			t.Fatal(err)
		}
		src, err := Open(path, Options{Format: Parquet})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(src.Table("t", true, nil).Snapshot().External.Keys()); got != "[[0]]" {
			t.Errorf("row groups of %d: %s", size, got)
		}
		if got := src.Table("t", false, nil).Snapshot().External.Keys(); got != nil {
			t.Errorf("without trust: %v", got)
		}
	}
}
