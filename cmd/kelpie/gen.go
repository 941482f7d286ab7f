package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kelpiedb/kelpie/gen"
)

const genHelp = `Writes a benchmark's tables as .tbl files, equal to the reference generator's.

Usage:
  kelpie gen tpch|ssb [flags]

Flags:
  --sf N             scale factor (default 1)
  --out DIR          folder for the files (default: the current one)
  --threads N        threads (default: all processors)
`

func genCommand(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("gen", flag.ContinueOnError)
	sf := fs.Float64("sf", 1, "")
	dir := fs.String("out", ".", "")
	threads := fs.Int("threads", runtime.GOMAXPROCS(0), "")
	words, err := parseFlags(fs, args, genHelp)
	if err != nil {
		return err
	}
	s, err := findSuite("gen", words)
	if err != nil {
		return err
	}
	if err := checkScale(*sf); err != nil {
		return err
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	meter := newProgress(os.Stderr)
	for _, t := range s.tables {
		path := filepath.Join(*dir, t.Name+".tbl")
		meter.prefix = "writing " + path
		var n int64
		err := meter.during(func() (err error) {
			n, err = writeTable(ctx, path, t, *sf, *threads)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Printf("%s  %s rows, %.1f MB\n", path, thousands(t.CountRows(*sf, 0, t.Units(*sf))), float64(n)/1e6)
	}
	return nil
}

// writeTable writes one file and returns its size. A file that was not finished is removed.
func writeTable(ctx context.Context, path string, t gen.Table, sf float64, threads int) (size int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			os.Remove(path)
		}
	}()
	w := &counter{ctx: ctx, w: bufio.NewWriterSize(f, 1<<20)}
	if err := gen.WriteTable(w, t, sf, threads); err != nil {
		return 0, err
	}
	return w.n, w.w.Flush()
}

// counter counts bytes, and ends when the context does.
type counter struct {
	ctx context.Context
	w   *bufio.Writer
	n   int64
}

func (c *counter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	c.n += int64(len(b))
	return c.w.Write(b)
}
