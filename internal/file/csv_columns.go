package file

import (
	"context"
	"io"
	"math"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/types"
)

// guesser finds out which columns files have, by looking at a sample of each.
type guesser struct {
	s       *Source
	d       *dialect
	opts    *Options
	names   []string // nil before the first file
	guesses []guess
	hunches []hunch
}

// look takes a file into account. The first decides on the header, the number of columns and their names.
func (g *guesser) look(ctx context.Context, sm *sample) error {
	rows, _ := sm.rows(g.d, hunchRows)
	if len(rows) == 0 {
		return located(unterminated(), "file %s, line 1", sm.file.path)
	}
	first := g.names == nil
	if first {
		n := columnCount(g.d, rows)
		if !g.opts.HasHeader {
			g.d.header = hasHeader(rows[:min(len(rows), shapeRows)], n)
		}
		g.guesses = make([]guess, n)
		g.names = plainNames(n)
	}
	heads := 0
	if g.d.header {
		heads = 1
		got := headerNames(rows[0], len(g.guesses))
		if first {
			g.names = got
		}
		if err := g.s.sameNames(sm.file, g.names, got, rows[0]); err != nil {
			return err
		}
	}
	// Of a file that is read to its end by looking at it, every row counts.
	limit := g.opts.sampleRows()
	if g.s.seen && g.opts.SampleRows == 0 {
		limit = math.MaxInt
	}
	seen, used := 0, 0
	if used, _ = sm.each(g.d, limit, false, func(row []sniffed) {
		if seen++; seen > heads {
			g.see(row)
		}
	}); first {
		g.hunches = hunchesOf(rows[heads:], len(g.guesses))
		g.s.rows = estimateRows(g.s.files, seen-heads, used, sm.all)
		for i := range g.hunches {
			g.hunches[i].scale(len(rows)-heads, g.s.rows)
		}
	}
	if !sm.all && sm.file.stream == nil && limit > defaultSampleRows {
		return g.lookOn(ctx, sm.file, limit)
	}
	return nil
}

func (g *guesser) see(row []sniffed) {
	for c := range min(len(row), len(g.guesses)) {
		g.guesses[c].seeAs(&row[c], g.opts.class)
	}
}

// lookOn looks at more of a file than its beginning, block by block.
func (g *guesser) lookOn(ctx context.Context, f *input, limit int) error {
	sp := newSplitter(ctx, g.d, []*input{f})
	sp.size = streamBlock
	defer sp.close()
	tok := newTokenizer(g.d)
	var buf []byte
	var row []sniffed
	for {
		b, err := nextBlock(sp, buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		buf = b.buf
		for _, pc := range b.pieces {
			for p := pc.lo; p < pc.hi; {
				if q := g.d.skip(b.buf, p, len(g.guesses) > 1); q > p {
					p = q
					continue
				}
				var err error
				if row, p, err = tok.row(b.buf, p, pc.hi, row[:0]); err != nil {
					return nil // reading the rows will say what is wrong
				}
				g.see(row)
				if limit--; limit == 0 {
					return nil
				}
			}
		}
	}
}

// columns is what was found.
func (g *guesser) columns() ([]catalog.ColumnDef, []hunch) {
	var out []catalog.ColumnDef
	for i, name := range g.names {
		t := types.TText
		if !g.opts.AllText {
			t = g.guesses[i].best()
		}
		out = append(out, catalog.ColumnDef{Name: name, Type: t})
	}
	return out, g.hunches
}

// estimateRows guesses how many rows the files have, by those of a number of bytes.
func estimateRows(files []*input, rows, used int, all bool) int64 {
	if all && len(files) == 1 {
		return int64(rows)
	}
	var size int64
	for _, f := range files {
		size += f.size
	}
	return int64(float64(size) * float64(rows) / float64(max(1, used)))
}

// hunchesOf counts the different values of each column in some rows, and how long they are.
func hunchesOf(rows [][]sniffed, cols int) []hunch {
	out := make([]hunch, cols)
	seen := map[string]bool{}
	for c := range out {
		clear(seen)
		bytes := 0
		for _, r := range rows {
			if c < len(r) {
				seen[r[c].text] = true
				bytes += len(r[c].text)
			}
		}
		out[c] = hunch{distinct: float64(len(seen)), length: float64(bytes) / float64(max(len(rows), 1))}
	}
	return out
}

// scale makes what was seen in some rows a guess for all: values that hardly repeat go on coming.
func (h *hunch) scale(seen int, rows int64) {
	if h.distinct > 0.75*float64(seen) {
		h.distinct *= max(float64(rows)/float64(max(seen, 1)), 1)
	}
}

// sampleRows is how many rows of a file to look at.
func (o *Options) sampleRows() int {
	switch {
	case o.SampleRows < 0:
		return math.MaxInt
	case o.SampleRows == 0:
		return defaultSampleRows
	}
	return o.SampleRows
}
