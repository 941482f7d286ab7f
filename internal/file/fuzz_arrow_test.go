package file

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/types"
)

// FuzzArrow: whatever is damaged in a file or a stream of Arrow's, loading it gives rows or an error, and the same rows on any
// number of threads.
func FuzzArrow(f *testing.F) {
	for _, data := range arrowSeeds(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.arrow")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		load := func(threads int) string {
			src, err := Open(path, Options{Format: Arrow})
			if err != nil {
				return refused(t, err)
			}
			// A damaged length may ask for any memory, as long as somebody counts it.
			table := newTable(src.Columns())
			_, err = src.Load(context.Background(), table, LoadOptions{Threads: threads, Account: budget.New(64 << 20)})
			switch {
			case err != nil && table.Snapshot().Rows != 0:
				t.Error("a failed load left rows")
			case err == nil:
				return dump(table)
			}
			return refused(t, err)
		}
		same(t, "on two threads", load(2), load(1))
	})
}

// refused looks at an error. It is the same for all: several threads may find another of several mistakes first.
func refused(t *testing.T, err error) string {
	if strings.Contains(err.Error(), "internal error") {
		t.Error(err)
	}
	return ""
}

// arrowSeeds are a file and a stream with a column of most kinds, of several batches, some values NULL; with compression and without.
func arrowSeeds(tb testing.TB) (out [][]byte) {
	cols := defs(tb, "a INTEGER, b VARCHAR, c DECIMAL(30,2), d DATE, e TIMESTAMP, f DOUBLE, g BOOLEAN, h BIGINT")
	table := newTable(cols)
	sb := table.NewSegmentBuilder()
	texts := []string{"", "a", "twelve bytes", "a longer one, which is kept elsewhere", "žluťoučký"}
	for i := range 9 {
		for k, c := range sb.Cols {
			switch kind := cols[k].Type.Kind; {
			case (i+k)%4 == 3:
				c.AppendNull()
			case kind == types.Text:
				c.AppendString(texts[i%len(texts)])
			case kind == types.Float64:
				c.AppendFloat(float64(i) / 4)
			case kind == types.Bool:
				c.AppendInt(int64(i % 2))
			default:
				c.AppendInt(int64(i*1001 - 3))
			}
		}
	}
	seg, err := table.Seal(sb)
	if err != nil {
		tb.Fatal(err)
	}
	if err := table.Append(seg); err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "seed")
	for _, opts := range []Options{{Format: Arrow}, {Format: Arrow, Stream: true}, {Format: Arrow, Compression: "zstd"}, {Format: Arrow, Compression: "lz4"}} {
		opts.Schema = batch(table, 0, 1).Schema()
		if err := save(table, path, opts); err != nil {
			tb.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		back, err := loadFile(path, opts, nil, nil, 1)
		if err != nil {
			tb.Fatal(err)
		}
		if got, want := dump(back), dump(table); got != want {
			tb.Fatalf("%s\nwas\n%s", got, want)
		}
		out = append(out, data)
	}
	return out
}
