package file

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Guessing what the options leave open, from the beginning of each file.

const (
	sampleBytes = 4 << 20 // of the first file
	moreBytes   = 1 << 18 // of each of the others
	shapeRows   = 500     // enough to tell delimiters apart
)

// sample is the beginning of a file, cut after a row.
type sample struct {
	file *input
	text []byte // without byte order mark; a newline at the end, then pad bytes
	all  bool   // the whole file
}

func (sm *sample) end() int { return len(sm.text) - pad }

// lookCSV settles the dialect and the columns.
func (s *Source) lookCSV(opts Options) error {
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
	var all []sample
	for _, f := range s.files {
		n := moreBytes
		switch {
		case opts.Columns != nil && len(all) > 0:
			continue // one is enough for the dialect
		case opts.Columns != nil:
		case opts.SampleRows > defaultSampleRows:
			n = math.MaxInt32
		case len(all) == 0:
			n = sampleBytes
		}
		text, whole, err := f.head(n, f.text)
		if err != nil {
			return err
		}
		text = bytes.TrimPrefix(text, byteOrderMark)
		if len(bytes.Trim(text, "\r\n")) > 0 {
			all = append(all, sample{f, text, whole})
		}
	}
	if len(all) == 0 {
		d.defaultDelimiter()
		if s.cols = opts.Columns; s.cols == nil {
			return diag.Errorf(diag.BadCopyFormat, diag.NoPos, "%s is empty: it says nothing of its columns", s.describe())
		}
		return nil
	}
	first := &all[0]
	d.nl = newlineOf(first.text)
	// For a known table, quotes are PostgreSQL's unless they are given: a guess would change data.
	if opts.Columns == nil && d.hasQuote && opts.Quote == 0 && opts.Escape == 0 && singleQuoted(&d, first) {
		d.quote, d.escape = '\'', '\''
	}
	if d.delim == 0 {
		d.delim = guessDelimiter(&d, first, len(opts.Columns))
	}
	if opts.Columns != nil {
		s.cols = opts.Columns
		if !opts.HasHeader {
			d.header = namesIn(&d, first, opts.Columns)
		}
		return nil
	}
	s.guessed = true
	limit := opts.SampleRows
	if limit <= 0 {
		limit = defaultSampleRows
	}
	return s.guessColumns(&d, opts, all, limit)
}

// newlineOf is what ends rows: CR only if there is no LF at all.
func newlineOf(text []byte) byte {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') >= 0 {
		return '\r'
	}
	return '\n'
}

// whole cuts the sample after its last whole row, as the dialect sees rows.
func (sm *sample) whole(d *dialect) sample {
	sp := newSplitter(d, nil)
	sp.buf, sp.eof = bytes.Clone(sm.text), sm.all
	sp.scan(math.MaxInt)
	if sp.rowEnd == 0 || sm.all && sp.rowEnd < len(sp.buf) {
		sp.buf = append(sp.buf, d.nl)
		sp.rowEnd = len(sp.buf)
	}
	return sample{sm.file, append(sp.buf[:sp.rowEnd], make([]byte, pad)...), sm.all}
}

// rows reads up to limit rows. A row that is malformed ends the sample, and ok is false; loading will
// complain of it.
func (sm *sample) rows(d *dialect, limit int) (out [][]sniffed, used int, ok bool) {
	w := sm.whole(d)
	tok := newTokenizer(d)
	p, width := 0, 0
	for p < w.end() && len(out) < limit {
		if q := d.skip(w.text, p, true); q > p {
			p = q
			continue
		}
		row, q, err := tok.row(w.text, p, w.end(), make([]sniffed, 0, width))
		if err != nil {
			return out, p, false
		}
		out = append(out, row)
		width = len(row)
		p = q
	}
	return out, p, true
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
	rows, _, ok := sm.rows(&try, shapeRows)
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
		rows, _, _ := sm.rows(&try, shapeRows)
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
	rows, _, _ := sm.rows(d, 1)
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

// guessColumns settles the header, the number of columns, their names and types.
func (s *Source) guessColumns(d *dialect, opts Options, all []sample, limit int) error {
	var guesses []guess
	var names []string
	for i := range all {
		rows, used, _ := all[i].rows(d, limit)
		if len(rows) == 0 {
			return diag.Errorf(diag.BadCopyFormat, diag.NoPos, "%s", errUnterminated.Error()).
				WithDetail("file %s, line 1", all[i].file.path)
		}
		if i == 0 {
			n := columnCount(d, rows)
			if !opts.HasHeader {
				d.header = hasHeader(rows[:min(len(rows), shapeRows)], n)
			}
			guesses = make([]guess, n)
			s.rows = estimateRows(s.files, rows, used, all[0].all)
		}
		if d.header {
			got := headerNames(rows[0], len(guesses))
			if i == 0 {
				names = got
			}
			if err := s.sameNames(all[i].file, names, got, rows[0]); err != nil {
				return err
			}
			rows = rows[1:]
		}
		for _, r := range rows {
			for c := range min(len(r), len(guesses)) {
				guesses[c].see(&r[c])
			}
		}
	}
	if !d.header {
		names = plainNames(len(guesses))
	}
	for i, name := range names {
		s.cols = append(s.cols, catalog.ColumnDef{Name: name, Type: guesses[i].best()})
	}
	return nil
}

// columnCount is the usual number of fields, without an empty one that every row has at its end
// where rows end with a delimiter.
func columnCount(d *dialect, rows [][]sniffed) int {
	n := len(rows[0])
	if !d.header {
		times := map[int]int{}
		for _, r := range rows {
			if times[len(r)]++; times[len(r)] > times[n] {
				n = len(r)
			}
		}
	}
	if n < 2 || d.delim != '|' && rows[0][len(rows[0])-1].text != "" {
		return n
	}
	for _, r := range rows {
		if len(r) > n || len(r) == n && (r[n-1].text != "" || r[n-1].quoted) {
			return n
		}
	}
	return n - 1
}

// hasHeader decides whether the first row names the columns: if it would be a mistake as a value,
// or if everything is text.
func hasHeader(rows [][]sniffed, n int) bool {
	if len(rows[0]) < n {
		return false
	}
	texts := true
	for c := range n {
		var g, with guess
		for _, r := range rows[1:] {
			if c < len(r) {
				g.see(&r[c])
			}
		}
		with = g
		with.see(&rows[0][c])
		if g.best().Kind != types.Text && with.best().Kind == types.Text {
			return true
		}
		texts = texts && with.best().Kind == types.Text && !rows[0][c].null
	}
	seen := map[string]bool{}
	for c := range n {
		name := strings.ToLower(rows[0][c].text)
		if seen[name] {
			return false
		}
		seen[name] = true
	}
	return texts
}

// headerNames makes n different names of a header.
func headerNames(row []sniffed, n int) []string {
	names := make([]string, n)
	for i := range min(n, len(row)) {
		names[i] = strings.ToValidUTF8(strings.TrimSpace(row[i].text), "?")
	}
	return uniqueNames(names)
}

// uniqueNames changes names that are empty, or equal to one before but for their case.
func uniqueNames(names []string) []string {
	out := plainNames(len(names))
	seen := map[string]bool{}
	for i, base := range names {
		if base == "" {
			base = out[i]
		}
		out[i] = base
		for k := 1; seen[strings.ToLower(out[i])]; k++ {
			out[i] = fmt.Sprintf("%s_%d", base, k)
		}
		seen[strings.ToLower(out[i])] = true
	}
	return out
}

// plainNames are the names of columns without header, as DuckDB gives them: column0, column1 …
// with as many digits as the last needs.
func plainNames(n int) []string {
	width := len(fmt.Sprint(n - 1))
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("column%0*d", width, i)
	}
	return names
}

// sameNames checks the header of a further file.
func (s *Source) sameNames(f *input, want, got []string, row []sniffed) error {
	detail := ""
	for i := range want {
		if want[i] != got[i] {
			detail = fmt.Sprintf("column %d is %q, in file %s it is %q", i+1, got[i], s.files[0].path, want[i])
			break
		}
	}
	if extra := len(row) - len(want); extra > 1 || extra == 1 && row[len(want)].text != "" {
		detail = fmt.Sprintf("it has %d columns, file %s has %d", len(row), s.files[0].path, len(want))
	}
	if detail == "" {
		return nil
	}
	return diag.Errorf(diag.DatatypeMismatch, diag.NoPos, "the columns of file %q differ from those of the other files", f.path).
		WithDetail("%s", detail)
}

// estimateRows guesses how many rows the files have.
func estimateRows(files []*input, rows [][]sniffed, used int, all bool) int64 {
	if all && len(files) == 1 {
		return int64(len(rows))
	}
	var size int64
	for _, f := range files {
		size += f.size
	}
	return size * int64(len(rows)) / int64(max(1, used))
}
