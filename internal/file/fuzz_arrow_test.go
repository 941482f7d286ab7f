package file

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// FuzzArrow: whatever is damaged in a file or a stream of Arrow's, loading it gives rows or an error, and the same rows on any
// number of threads.
func FuzzArrow(f *testing.F) {
	for _, data := range arrowSeeds(f) {
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "x.arrow") // a process has one input at a time
	f.Fuzz(func(t *testing.T, data []byte) {
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

// TestArrowClaims: sizes that a file says of itself and that it cannot have are refused before memory is taken for them.
func TestArrowClaims(t *testing.T) {
	seeds := arrowSeeds(t)
	load := func(data []byte) error {
		path := write(t, "x.arrow", string(data))
		src, err := Open(path, Options{Format: Arrow})
		if err == nil {
			_, err = src.Load(context.Background(), newTable(src.Columns()), LoadOptions{Threads: 1})
		}
		return err
	}
	for _, seed := range []int{0, 2, 3} { // files, not the stream
		data := seeds[seed]
		size := int(binary.LittleEndian.Uint32(data[len(data)-10:]))
		begin := len(data) - 10 - size
		footer := flatbuffer(data[begin : begin+size])
		root, _ := footer.follow(0)
		list, _ := footer.field(root, 3)
		list, _ = footer.follow(list)
		block := begin + list + 4
		offset, meta := binary.LittleEndian.Uint64(data[block:]), binary.LittleEndian.Uint32(data[block+8:])
		body := binary.LittleEndian.Uint64(data[block+16:])
		left := uint64(len(data)) - offset - uint64(meta)
		for _, c := range []struct {
			at    int
			claim uint64
		}{{block, uint64(len(data))}, {block, 1 << 63}, {block + 16, left + 1}, {block + 16, 1 << 40}, {block + 16, math.MaxUint64}, {begin + list, 1 << 30}} {
			bad := slices.Clone(data)
			if binary.LittleEndian.PutUint64(bad[c.at:], c.claim); c.at == begin+list { // how many blocks there are
				copy(bad[c.at+4:], data[c.at+4:])
				binary.LittleEndian.PutUint32(bad[c.at:], uint32(c.claim))
			}
			if err := load(bad); diag.CodeOf(err) != diag.DataCorrupted || !strings.Contains(err.Error(), errArrowFooter.Error()) {
				t.Errorf("seed %d, %d at %d: %v", seed, c.claim, c.at-block, err)
			}
		}
		if seed == 0 {
			continue
		}
		bad := slices.Clone(data) // a buffer begins with the bytes that it is to have, uncompressed
		for at := offset + uint64(meta); at+8 <= offset+uint64(meta)+body; at += 8 {
			binary.LittleEndian.PutUint64(bad[at:], 1<<33)
		}
		if err := load(bad); diag.CodeOf(err) != diag.DataCorrupted || !strings.Contains(err.Error(), errArrowSize.Error()) {
			t.Errorf("seed %d: a buffer of 8 GB: %v", seed, err)
		}
	}
}
