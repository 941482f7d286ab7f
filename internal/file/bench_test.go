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
	if err := src.checkMapping(t, &opts); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		sp := newSplitter(src.csv, src.files)
		r := newRowParser(context.Background(), src, t, opts)
		var buf []byte
		for {
			blk, err := sp.next(buf)
			if err != nil {
				break
			}
			r.sb.Reset()
			for i := range blk.pieces {
				if _, err := r.piece(blk.buf, &blk.pieces[i]); err != nil {
					b.Fatal(err)
				}
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
		sp := newSplitter(src.csv, src.files)
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
