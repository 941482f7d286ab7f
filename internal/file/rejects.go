package file

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Rejects are the lines of CSV files that were left out because they cannot be read. Many goroutines add to them.
type Rejects struct {
	// Keep: what is wrong with each line is wanted, of at most PerFile lines of a file; 0: of all.
	Keep    bool
	PerFile int64
	// Most is how many lines may be left out, if Limited.
	Most    int64
	Limited bool
	// Account counts what is kept; nil: nobody does.
	Account *budget.Account

	source *Source

	mu    sync.Mutex
	lines int64
	kept  map[*input]int64
	list  []Reject
	taken int64
}

// Reject is one thing that is wrong with a line. Lines, bytes and columns are counted from 1.
type Reject struct {
	Path           string
	File           int // number of the file in its source, from 0
	Line           int64
	LineByte, Byte int64 // where the line begins, and where the mistake is
	Column         int
	Name           string
	Kind           string // as DuckDB calls it
	Text           string // the line
	Message        string
	Value          string // what cannot be converted
}

// rejectBytes is what a reject takes besides its texts.
const rejectBytes = 256

// add takes what is wrong with a line.
func (r *Rejects) add(in *input, list []Reject) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines++; r.Limited && r.lines > r.Most {
		return diag.Errorf(diag.InvalidTextRepresentation, diag.NoPos, "skipped more than REJECT_LIMIT (%d) rows due to data type incompatibility", r.Most)
	}
	if r.kept == nil {
		r.kept = map[*input]int64{}
	}
	if r.kept[in]++; !r.Keep || r.PerFile > 0 && r.kept[in] > r.PerFile {
		return nil
	}
	for _, x := range list {
		n := int64(rejectBytes + len(x.Text) + len(x.Message))
		if err := r.Account.Take(n); err != nil {
			return err
		}
		r.taken += n
	}
	r.list = append(r.list, list...)
	return nil
}

// Described is what is known of a file in which lines may have been left out.
type Described struct {
	Path                              string
	Delimiter, Quote, Escape, Newline byte
	Header                            bool
	Columns                           []catalog.ColumnDef
}

// Files are those that were looked at.
func (r *Rejects) Files() (out []Described) {
	s := r.source
	if s == nil || s.csv == nil {
		return nil
	}
	for _, f := range s.files {
		out = append(out, Described{f.path, s.csv.delim, s.csv.quote, s.csv.escape, s.csv.nl, s.csv.header, s.cols})
	}
	return out
}

// Lines is how many were left out.
func (r *Rejects) Lines() int64 { return r.lines }

// List is what was kept, in the order of the files; it is not counted any more.
func (r *Rejects) List() []Reject {
	slices.SortFunc(r.list, func(a, b Reject) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.LineByte, b.LineByte), cmp.Compare(a.Column, b.Column))
	})
	r.Account.Give(r.taken)
	r.taken = 0
	return r.list
}

// rejecting is the row that is being looked at, for what is said of it.
type rejecting struct {
	b    []byte
	pc   *piece
	line int64 // of the byte at …
	at   int   // … this place of the block
}

// place goes on to a row and is where it is.
func (j *rejecting) place(row int, nl byte) (line, at int64) {
	j.line += int64(bytes.Count(j.b[j.at:row], []byte{nl}))
	j.at = row
	return j.line, j.pc.offset + int64(row-j.pc.lo) + 1
}

// reject says what is wrong with the row from p to q: the columns whose values have errors, or something else.
func (r *rowParser) reject(j *rejecting, p, q, fields int, errs []error) error {
	all := r.said.Rejects
	if all == nil {
		return nil
	}
	line, at := j.place(p, r.d.nl)
	text := strings.ToValidUTF8(string(bytes.TrimRight(j.b[p:q], "\r\n")), "\uFFFD")
	var list []Reject
	add := func(column int, field int, kind, message, value string) {
		x := Reject{Path: j.pc.file.path, File: j.pc.file.num, Line: line, LineByte: at, Byte: at + int64(field-p), Column: column, Kind: kind, Text: text, Message: message, Value: value}
		if column <= len(r.cols) {
			x.Name = r.cols[column-1].name
		}
		list = append(list, x)
	}
	starts := r.starts(j.b, p, q, j.pc.hi)
	end := p + len(bytes.TrimRight(j.b[p:q], "\r\n"))
	switch n := len(r.cols); {
	case fields < 0:
		add(len(starts), starts[len(starts)-1], "UNQUOTED VALUE", "Value with unterminated quote found.", "")
	case fields < n:
		add(fields+1, end, "MISSING COLUMNS", wrongNumber(n, fields), "")
	case fields > n && !slices.ContainsFunc(errs, func(err error) bool { return err != nil }):
		add(n+1, starts[n], "TOO MANY COLUMNS", wrongNumber(n, fields), "")
	}
	if list == nil {
		for c, err := range errs {
			if err == nil {
				continue
			}
			kind := "CAST"
			if e := (*types.Error)(nil); errors.As(err, &e) && e.Code == diag.CharacterNotInRepertoire {
				kind = "INVALID ENCODING"
			}
			f, _, _ := r.tok.field(j.b, starts[c], j.pc.hi)
			value := strings.ToValidUTF8(string(f.bytes()), "\uFFFD")
			add(c+1, starts[c], kind, fmt.Sprintf("Error when converting column %q. %v", r.cols[c].name, err), value)
		}
	}
	return all.add(j.pc.file, list)
}

func wrongNumber(want, got int) string {
	return fmt.Sprintf("Expected Number of Columns: %d Found: %d", want, got)
}

// starts are where the fields of a row begin.
func (r *rowParser) starts(b []byte, p, q, end int) []int {
	var out []int
	for {
		out = append(out, p)
		_, at, err := r.tok.field(b, p, end)
		if err != nil || b[at] != r.d.delim || at+1 >= q {
			return out
		}
		p = at + 1
	}
}
