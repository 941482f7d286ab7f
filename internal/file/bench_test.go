package file

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/catalog"
)

// lineitem writes TPC-H's lineitem as a .tbl file and returns its columns.
func lineitem(tb testing.TB, sf float64) (path string, cols []catalog.ColumnDef) {
	tb.Helper()
	t, ok := gen.Lookup(tpch.Tables(), "lineitem")
	if !ok {
		tb.Fatal("no lineitem")
	}
	for _, c := range t.Columns {
		cols = append(cols, catalog.ColumnDef{Name: c.Name, Type: sqlType(tb, c.Type), NotNull: true})
	}
	path = filepath.Join(os.TempDir(), fmt.Sprintf("kelpie-lineitem-%g.tbl", sf))
	if st, err := os.Stat(path); err == nil && st.Size() > 0 {
		return path, cols
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := gen.WriteTable(w, t, sf, 2); err != nil {
		tb.Fatal(err)
	}
	w.Flush()
	f.Close()
	os.Rename(path+".part", path)
	return path, cols
}

func benchLoad(b *testing.B, path string, cols []catalog.ColumnDef, opts Options, threads int) {
	st, err := os.Stat(path)
	if err != nil {
		b.Skip(err)
	}
	b.SetBytes(st.Size())
	for b.Loop() {
		src, err := Open(path, opts)
		if err != nil {
			b.Fatal(err)
		}
		t := newTable(cols)
		rows, err := src.Load(context.Background(), t, LoadOptions{Threads: threads})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(rows), "rows")
	}
}

func BenchmarkCSVLineitem(b *testing.B) {
	path, cols := lineitem(b, 0.2)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) { benchLoad(b, path, cols, Options{Columns: cols}, threads) })
	}
}

// BenchmarkCSVParse leaves out sealing: what reading alone costs.
func BenchmarkCSVParse(b *testing.B) {
	path, cols := lineitem(b, 0.2)
	src, err := Open(path, Options{Columns: cols})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(src.files[0].size)
	t := newTable(cols)
	opts := LoadOptions{Threads: 1}
	if err := src.checkMapping(context.Background(), t, &opts); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		sp := newSplitter(context.Background(), src.csv, src.files)
		r := src.newBlockReader(t, opts)
		var buf []byte
		for {
			blk, err := sp.next(buf)
			if err != nil {
				break
			}
			if _, err := r.rows(context.Background(), blk); err != nil {
				b.Fatal(err)
			}
			buf = blk.buf
		}
	}
}

// BenchmarkCSVSplit is what the goroutine that feeds the others can do.
func BenchmarkCSVSplit(b *testing.B) {
	path, cols := lineitem(b, 0.2)
	src, err := Open(path, Options{Columns: cols})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(src.files[0].size)
	for b.Loop() {
		sp := newSplitter(context.Background(), src.csv, src.files)
		var buf []byte
		for {
			blk, err := sp.next(buf)
			if err != nil {
				break
			}
			buf = blk.buf
		}
	}
}

// lineitemParquet writes lineitem as a Parquet file of ours.
func lineitemParquet(b *testing.B, sf float64) (path string, cols []catalog.ColumnDef) {
	tbl, cols := lineitem(b, sf)
	path = tbl + ".parquet"
	if _, err := os.Stat(path); err == nil {
		return path, cols
	}
	t, err := loadFile(tbl, Options{Columns: cols}, cols, nil, 2)
	if err != nil {
		b.Fatal(err)
	}
	if err := save(t, path, Options{}); err != nil {
		b.Fatal(err)
	}
	return path, cols
}

func BenchmarkParquetLineitem(b *testing.B) {
	path, cols := lineitemParquet(b, 0.2)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) { benchLoad(b, path, cols, Options{}, threads) })
	}
}

// BenchmarkWriteLineitem writes 100,000 rows.
func BenchmarkWriteLineitem(b *testing.B) {
	tbl, cols := lineitem(b, 0.2)
	t, err := loadFile(tbl, Options{Columns: cols}, cols, nil, 2)
	if err != nil {
		b.Fatal(err)
	}
	const rows = 100_000
	rec := batch(t, 0, rows)
	for _, name := range []string{"x.csv", "x.parquet"} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), name)
			for b.Loop() {
				w, err := NewWriter(path, Auto, cols, Options{})
				if err != nil {
					b.Fatal(err)
				}
				for range 4 {
					if err := w.Write(rec); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			st, _ := os.Stat(path)
			b.SetBytes(st.Size())
			b.ReportMetric(4*rows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// BenchmarkSniff is Open with nothing known.
func BenchmarkSniff(b *testing.B) {
	path, _ := lineitem(b, 0.2)
	for b.Loop() {
		if _, err := Open(path, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
