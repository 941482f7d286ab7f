package file

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// What is said of files that nobody can guess: which lines are rows, how columns are called and of which types they
// are, what is to be done with rows that are none.

// ParseValue reads a value in a format that files have.
type ParseValue func(text string) (types.Value, error)

// TypeOf is the type of a column: that of a name, or, without one, that at a place.
type TypeOf struct {
	Name string
	At   int
	Type types.Type
}

// lineFilter leaves lines of a text out: so many at its beginning, and those that begin with a character.
type lineFilter struct {
	r       io.Reader
	skip    int
	comment byte
	inside  bool // of a line that stays
	drop    bool // the line that is being read
}

func (f *lineFilter) Read(p []byte) (int, error) {
	for {
		n, err := f.r.Read(p)
		kept := p[:0]
		for _, b := range p[:n] {
			if !f.inside && !f.drop {
				f.drop = f.skip > 0 || b == f.comment && f.comment != 0
				f.inside = !f.drop
			}
			if !f.drop {
				kept = append(kept, b)
			}
			if b == '\n' {
				if f.drop && f.skip > 0 {
					f.skip--
				}
				f.inside, f.drop = false, false
			}
		}
		if len(kept) > 0 || err != nil || n == 0 {
			return len(kept), err
		}
	}
}

// filtered is a text without the lines that are no rows, nor a byte order mark before them.
func (in *input) filtered(r io.Reader) io.Reader {
	if in.skip == 0 && in.comment == 0 {
		return r
	}
	br := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := br.Peek(len(byteOrderMark)); string(mark) == string(byteOrderMark) {
		br.Discard(len(byteOrderMark))
	}
	return &lineFilter{r: br, skip: in.skip, comment: in.comment}
}

// say changes the columns that were found to what the options say of them.
func (o *Options) say(s *Source) error {
	for i, name := range o.Names {
		if i >= len(s.cols) {
			return diag.Errorf(diag.InvalidParameter, diag.NoPos, "%s has %d columns, but %d names are given", s.describe(), len(s.cols), len(o.Names))
		}
		s.cols[i].Name = name
	}
	for _, t := range o.Types {
		at := t.At
		if t.Name != "" {
			at = slices.IndexFunc(s.cols, func(c catalog.ColumnDef) bool { return strings.EqualFold(c.Name, t.Name) })
		}
		if at < 0 || at >= len(s.cols) {
			var names []string
			for _, c := range s.cols {
				names = append(names, c.Name)
			}
			return diag.Errorf(diag.UndefinedColumn, diag.NoPos, "%s has no column %q, whose type is given", s.describe(), t.Name).
				WithHint(diag.DidYouMean(t.Name, names))
		}
		s.cols[at].Type = t.Type
		s.said = append(s.said, at)
	}
	return nil
}

// addFilename adds the column that says of which file a row is.
func (s *Source) addFilename() error {
	const name = "filename"
	if slices.ContainsFunc(s.cols, func(c catalog.ColumnDef) bool { return strings.EqualFold(c.Name, name) }) {
		return diag.Errorf(diag.DuplicateColumn, diag.NoPos, "%s has a column %q already", s.describe(), name)
	}
	f := folderColumn{col: len(s.cols), values: map[*input]folderValue{}}
	for _, in := range s.files {
		f.values[in] = folderValue{v: types.TextValue(in.path)}
	}
	s.cols = append(slices.Clip(s.cols), catalog.ColumnDef{Name: name, Type: types.TText, NotNull: true})
	s.folders = append(s.folders, f)
	for len(s.hunches) < f.col {
		s.hunches = append(s.hunches, hunch{})
	}
	s.hunches = append(s.hunches, f.hunch())
	return nil
}

// addPlaces adds the columns that are not in the files, but in their names.
func (s *Source) addPlaces(o *Options) error {
	if !o.NoFolders {
		s.addFolders()
	}
	if o.Filename {
		return s.addFilename()
	}
	return nil
}

// class is what a value looks like, in the formats that are said.
func (o *Options) class(text string) class {
	for _, f := range []struct {
		parse ParseValue
		c     class
	}{{o.ParseDate, looksDate}, {o.ParseTime, looksTimestamp}} {
		if f.parse == nil {
			continue
		}
		if _, err := f.parse(text); err == nil {
			return f.c
		}
	}
	return classOf(text)
}

// tolerant reads rows like piece, but leaves those out that cannot be read. Nothing of a row is stored before all of it is
// known to be right.
func (r *rowParser) tolerant(ctx context.Context, b []byte, pc *piece) (rows int, err error) {
	multi := len(r.cols) > 1
	var row []sniffed
	values := make([]types.Value, len(r.cols))
	errs := make([]error, len(r.cols))
	place := &rejecting{b: b, pc: pc, line: pc.line, at: pc.lo}
	for p, n := pc.lo, 0; p < pc.hi; n++ {
		if q := r.d.skip(b, p, multi); q > p {
			p = q
			continue
		}
		if n%cancelRows == 0 && ctx.Err() != nil {
			return 0, diag.Canceled(ctx)
		}
		from := p
		if row, p, err = r.tok.row(b, p, pc.hi, row[:0]); err != nil { // a quote that is not closed: the rest of the block
			line := from + bytes.IndexByte(b[from:pc.hi], r.d.nl)
			return rows, r.reject(place, from, line, -1, nil)
		}
		if !r.readable(row, values, errs) {
			if err := r.reject(place, from, p, len(row), errs); err != nil {
				return rows, err
			}
			continue
		}
		for c := range r.cols {
			if t := &r.cols[c]; t.kind != scanSkip {
				t.b.Append(values[c])
			}
		}
		rows++
	}
	return rows, nil
}

// readable reads the values of a row; errs are what is wrong with those that cannot be read.
func (r *rowParser) readable(row []sniffed, values []types.Value, errs []error) bool {
	clear(errs)
	if extra := len(row) - len(r.cols); extra > 1 || extra < 0 || extra == 1 && row[len(row)-1].text != "" {
		return false
	}
	good := true
	for c := range r.cols {
		t, f := &r.cols[c], &row[c]
		if t.kind == scanSkip {
			continue
		}
		if values[c], errs[c] = r.tolerated(t, f); errs[c] != nil {
			good = false
		}
	}
	return good
}

// tolerated reads a value.
func (r *rowParser) tolerated(t *target, f *sniffed) (types.Value, error) {
	if t.isNull(r.d, f.text, f.null, f.quoted) {
		if t.notNull {
			return types.Value{}, t.nullError()
		}
		return types.NullOf(t.t), nil
	}
	if t.guessed && t.kind < scanDates {
		if err := t.lossy(unsafe.Slice(unsafe.StringData(f.text), len(f.text))); err != nil {
			return types.Value{}, err
		}
	}
	return r.value(t, f.text)
}
