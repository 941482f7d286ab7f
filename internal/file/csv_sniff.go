package file

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// Guessing what the options leave open, from the beginning of each file.

const (
	sampleBytes = 4 << 20   // of the first file
	moreBytes   = 256 << 10 // of each of the others
	shapeBytes  = 256 << 10 // enough to tell delimiters apart
	shapeRows   = 500       // likewise
	hunchRows   = 2048      // enough to see which values repeat
)

// sample is the beginning of a file, cut after a row.
type sample struct {
	file *input
	text []byte // without byte order mark and empty lines before the first row; a newline at the end, then pad bytes
	all  bool   // the whole file
}

func (sm *sample) end() int { return len(sm.text) - pad }

// lookCSV settles the dialect and the columns.
func (s *Source) lookCSV(ctx context.Context, opts Options) error {
	d := opts.newDialect(s.format)
	s.csv = &d
	if d.delim == 0 {
		d.delim = delimiterByName(s.files[0].path)
	}
	if s.files[0].stream != nil && opts.Columns != nil {
		// A stream for a known table is a client's, which follows PostgreSQL: nothing is guessed, so that
		// nothing must be read before the client sends it.
		d.defaultDelimiter()
		s.cols = opts.Columns
		return nil
	}
	g := guesser{s: s, d: &d, opts: &opts}
	s.seen = true
	total := 0
	for _, f := range s.files {
		n := moreBytes
		if opts.Columns == nil && g.names == nil {
			n = sampleBytes
		}
		text, whole, err := f.head(ctx, n, f.text)
		if err != nil {
			return err
		}
		total += len(text)
		s.seen = s.seen && whole && total <= sampleBytes
		if text = bytes.TrimLeft(bytes.TrimPrefix(text, byteOrderMark), "\r\n"); len(text) == 0 {
			continue
		}
		sm := sample{f, text, whole}
		if g.names == nil {
			s.settle(&d, &opts, &sm)
			if opts.Columns != nil { // one file is enough for the dialect
				s.cols = opts.Columns
				return s.named(&opts)
			}
		}
		if err := g.look(ctx, &sm); err != nil {
			return err
		}
	}
	switch {
	case g.names != nil:
		s.guessed = true
		s.cols, s.hunches = g.columns()
		if err := opts.say(s); err != nil {
			return err
		}
		return s.addPlaces(&opts)
	case opts.Columns != nil:
		d.defaultDelimiter()
		s.cols = opts.Columns
		return s.named(&opts)
	}
	return diag.Errorf(diag.BadCopyFormat, diag.NoPos, "%s is empty: it says nothing of its columns", s.describe())
}

// named adds to columns that somebody has listed those that are in the names of files. A table that is loaded has its own.
func (s *Source) named(opts *Options) error {
	if !opts.Named {
		return nil
	}
	s.cols = slices.Clone(s.cols)
	return s.addPlaces(opts)
}

// settle decides what the dialect's options leave open; and whether columns of a known table come from the names of
// folders, because the rows lack just those.
func (s *Source) settle(d *dialect, opts *Options, first *sample) {
	d.nl = newlineOf(first.text)
	cols := opts.Columns
	// For a known table, quotes are PostgreSQL's unless they are given: a guess would change data.
	if opts.Columns == nil && d.hasQuote && opts.Quote == 0 && opts.Escape == 0 && singleQuoted(d, first) {
		d.quote, d.escape = '\'', '\''
	}
	if folders := s.foldersFor(cols); len(folders) > 0 && len(folders) < len(cols) {
		fewer := slices.Clone(cols)
		for _, f := range slices.Backward(folders) {
			fewer = slices.Delete(fewer, f.col, f.col+1)
		}
		if shareOf(d, first, len(fewer)) > shareOf(d, first, len(cols)) {
			s.folders, cols = folders, fewer
		}
	}
	if d.delim == 0 {
		d.delim = guessDelimiter(d, first, len(cols))
	}
	if cols != nil && !opts.HasHeader {
		d.header = namesIn(d, first, cols)
	}
}

// shareOf is the share of rows that have a number of fields.
func shareOf(d *dialect, sm *sample, n int) float64 {
	try := *d
	if try.delim == 0 {
		try.delim = guessDelimiter(d, sm, n)
	}
	short := sm.brief(&try)
	rows, _ := short.rows(&try, shapeRows)
	_, share := shape(rows, n)
	return share
}

// newlineOf is what ends rows: CR only if there is no LF at all.
func newlineOf(text []byte) byte {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') >= 0 {
		return '\r'
	}
	return '\n'
}

// whole cuts the sample after its last whole row, as the dialect sees rows, or after so many.
func (sm *sample) whole(d *dialect, limit int) sample {
	sp := newSplitter(context.Background(), d, nil)
	sp.buf, sp.eof = sm.text, sm.all
	sp.scan(limit)
	out := append(make([]byte, 0, sp.rowEnd+1+pad), sm.text[:sp.rowEnd]...)
	if sp.rowEnd == 0 || sm.all && sp.n < limit && sp.rowEnd < len(sm.text) { // a row without newline
		out = append(append(out, sm.text[sp.rowEnd:]...), d.nl)
	}
	return sample{sm.file, append(out, make([]byte, pad)...), sm.all}
}

// brief is the first rows, if they are not long.
func (sm *sample) brief(d *dialect) sample {
	if len(sm.text) > shapeBytes {
		short := sample{sm.file, sm.text[:shapeBytes:shapeBytes], false}
		if w := short.whole(d, shapeRows); w.end() <= shapeBytes {
			return short
		}
	}
	return *sm
}

// each calls f with up to limit rows, whose fields are valid until f returns unless keep is true. It
// stops at a row that is malformed, and ok is false; reading the file will complain of it.
func (sm *sample) each(d *dialect, limit int, keep bool, f func(row []sniffed)) (used int, ok bool) {
	w := sm.whole(d, limit)
	tok := newTokenizer(d)
	var row []sniffed
	p := 0
	for p < w.end() && limit > 0 {
		if q := d.skip(w.text, p, true); q > p {
			p = q
			continue
		}
		if keep {
			row = make([]sniffed, 0, len(row))
		}
		var q int
		var err error
		if row, q, err = tok.row(w.text, p, w.end(), row[:0]); err != nil {
			return p, false
		}
		f(row)
		limit--
		p = q
	}
	return p, true
}

// rows are the first rows, at most limit.
func (sm *sample) rows(d *dialect, limit int) (out [][]sniffed, ok bool) {
	_, ok = sm.each(d, limit, true, func(row []sniffed) { out = append(out, row) })
	return out, ok
}

// singleQuoted reports a file that quotes with ' instead of ". It must do so in a consistent way.
func singleQuoted(d *dialect, sm *sample) bool {
	if bytes.IndexByte(sm.text, '"') >= 0 || bytes.IndexByte(sm.text, '\'') < 0 {
		return false
	}
	try := *d
	try.quote, try.escape = '\'', '\''
	if try.delim == 0 {
		try.delim = guessDelimiter(&try, sm, 0)
	}
	short := sm.brief(&try)
	rows, ok := short.rows(&try, shapeRows)
	found := false
	for _, row := range rows {
		for _, f := range row {
			ok = ok && !f.loose
			found = found || f.quoted
		}
	}
	return ok && found
}

// guessDelimiter takes the delimiter under which most rows have the same number of fields, or the
// number that is wanted if it is not 0.
func guessDelimiter(d *dialect, sm *sample, want int) byte {
	candidates := ",|;\t"
	if d.text {
		candidates = "\t|,;"
	}
	best, bestShare, bestCount := candidates[0], 0.0, 1
	if want == 1 {
		return best // anything that is not in the file would do
	}
	for i := range len(candidates) {
		try := *d
		try.delim = candidates[i]
		if try.hasQuote && try.quote == try.delim {
			continue
		}
		short := sm.brief(&try)
		rows, _ := short.rows(&try, shapeRows)
		count, share := shape(rows, want)
		if count < 2 && want == 0 || len(rows) == 0 {
			continue
		}
		if share > bestShare || share == bestShare && count > bestCount {
			best, bestShare, bestCount = try.delim, share, count
		}
	}
	return best
}

// shape is the usual number of fields (want, if it is not 0) and the share of rows that have it. An empty field at
// the end of a row may be missing.
func shape(rows [][]sniffed, want int) (count int, share float64) {
	times := map[int]int{}
	for _, r := range rows {
		times[len(r)]++
		if n := len(r); r[n-1].text == "" {
			times[n-1]++
		}
	}
	count = want
	if want == 0 {
		for n, k := range times {
			if k > times[count] || k == times[count] && n > count {
				count = n
			}
		}
	}
	return count, float64(times[count]) / float64(max(1, len(rows)))
}

// namesIn reports whether the first row has just the names of the columns.
func namesIn(d *dialect, sm *sample, cols []catalog.ColumnDef) bool {
	short := sm.brief(d)
	rows, _ := short.rows(d, 1)
	if len(rows) == 0 || len(rows[0]) < len(cols) {
		return false
	}
	for i, c := range cols {
		if !strings.EqualFold(strings.TrimSpace(rows[0][i].text), c.Name) {
			return false
		}
	}
	return true
}
