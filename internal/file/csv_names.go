package file

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Whether the first row of a file names its columns, and how columns are called.

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
		digits := isNumber(classOf(rows[0][c].text))
		if (g.best().Kind != types.Text || g.digits()) && with.best().Kind == types.Text && !digits {
			return true
		}
		// Digits name a column, as years do, only if what is below them is something else.
		texts = texts && with.best().Kind == types.Text && !rows[0][c].null && (!digits || g[looksText])
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

// match holds a header to the names that it must have, in PostgreSQL's words.
func (s *splitter) match(header []byte) error {
	text := make([]byte, len(header), len(header)+1+pad)
	copy(text, header)
	if text[len(text)-1] != s.d.nl { // a file of nothing else
		text = append(text, s.d.nl)
	}
	end := len(text)
	text = append(text, make([]byte, pad)...)
	tok := newTokenizer(s.d)
	got, _, err := tok.row(text, 0, end, nil)
	switch {
	case err != nil:
		return unterminated()
	case len(got) != len(s.names):
		return diag.Errorf(diag.BadCopyFormat, diag.NoPos, "wrong number of fields in header line: got %d, expected %d", len(got), len(s.names))
	}
	for i, name := range s.names {
		switch {
		case got[i].null:
			return diag.Errorf(diag.BadCopyFormat, diag.NoPos, "column name mismatch in header line field %d: got null value (%q), expected %q", i+1, s.d.null, name)
		case got[i].text != name:
			return diag.Errorf(diag.BadCopyFormat, diag.NoPos, "column name mismatch in header line field %d: got %q, expected %q", i+1, got[i].text, name)
		}
	}
	return nil
}
