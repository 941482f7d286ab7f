package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// scanKind says which scanner reads a column.
type scanKind uint8

const (
	scanSkip scanKind = iota // the column is not wanted
	scanInts
	scanDecimals
	scanFloats
	scanReals
	scanDates
	scanTimestamps
	scanTexts
	scanOther // no scanner: package types
)

// target is where the values of a column of the file go.
type target struct {
	b       *column.Builder
	kind    scanKind
	guessed bool // the type is from a sample of the file
	end     byte // what ends a field: the delimiter, or for the last column the newline
	last    bool
	scale   int
	lo, hi  int64 // range of integers and decimals
	name    string
	t       types.Type
	notNull bool
	table   string
	// Whether NULL is written in quotes, too, or not at all.
	quotedNull, noNull bool
}

// rowParser reads the rows of CSV and text.
type rowParser struct {
	d     *dialect
	tok   tokenizer
	cols  []target
	zone  *types.Zone
	said  *Options
	plain bool // fields may be scanned before looking whether they are NULL or quoted
}

func newRowParser(s *Source, table *catalog.Table, sb *catalog.SegmentBuilder, opts LoadOptions) *rowParser {
	d := s.csv
	r := &rowParser{d: d, tok: newTokenizer(d), zone: s.zone, said: &s.reading}
	// A delimiter or quote that may be part of a number or a date is not for the scanners, nor is a way
	// to write NULL that they would take for a value.
	const inValues = "0123456789.-:T "
	r.plain = strings.IndexByte(inValues, d.delim) < 0 && !(d.hasQuote && strings.IndexByte(inValues, d.quote) >= 0) &&
		(d.null == "" || strings.IndexByte(inValues, d.null[0]) < 0) && len(d.nulls) == 0
	for i, c := range opts.Columns {
		if s.inFolders(i) {
			continue
		}
		t := target{end: d.delim, name: s.cols[i].Name, quotedNull: said(r.said.ForceNull, i), noNull: said(r.said.ForceNotNull, i)}
		if c >= 0 {
			t.to(table, c, sb.Cols[c])
			t.guessed = s.guessed && t.t == s.cols[i].Type && !slices.Contains(s.said, i)
			if t.kind == scanDates && r.said.ParseDate != nil || t.kind == scanTimestamps && r.said.ParseTime != nil {
				t.kind = scanOther
			}
		}
		r.cols = append(r.cols, t)
	}
	last := &r.cols[len(r.cols)-1]
	last.end, last.last = d.nl, true
	return r
}

// said reports that an option names column i.
func said(list []bool, i int) bool { return i < len(list) && list[i] }

// isNull reports a field that is NULL in this column.
func (t *target) isNull(d *dialect, text string, null, quoted bool) bool {
	switch {
	case t.quotedNull && quoted:
		return text == d.null
	case t.noNull:
		return false
	}
	return null || text == "" && d.lenient && t.kind != scanTexts
}

// to sets the column of the table.
func (t *target) to(table *catalog.Table, c int, b *column.Builder) {
	def := table.Columns[c]
	t.b, t.t, t.name, t.notNull, t.table = b, def.Type, def.Name, def.NotNull, table.Name
	t.lo, t.hi = math.MinInt64, math.MaxInt64
	switch def.Type.Kind {
	case types.Int8, types.UInt8, types.Int16, types.UInt16, types.Int32, types.UInt32, types.Int64:
		t.kind = scanInts
		t.lo, t.hi = types.IntRange(def.Type)
	case types.Decimal:
		t.kind, t.scale = scanDecimals, int(def.Type.Scale)
		if def.Type.Prec <= 18 {
			t.hi = pow10[def.Type.Prec] - 1
		}
		if t.lo = -t.hi; def.Type == types.TUInt64 {
			t.lo = 0
		}
		if t.scale > fastScale { // else eight digits and these fit
			t.kind = scanOther
		}
	case types.Float64:
		t.kind = scanFloats
	case types.Float32:
		t.kind = scanReals
	case types.Date:
		t.kind = scanDates
	case types.Timestamp:
		t.kind = scanTimestamps
	case types.Text:
		t.kind = scanTexts
	default:
		t.kind = scanOther
	}
}

// cancelRows is after how many rows to look whether the load is still wanted.
const cancelRows = 4096

func (r *rowParser) piece(ctx context.Context, b []byte, pc *piece) (rows int, err error) {
	if r.said.IgnoreErrors {
		return r.tolerant(ctx, b, pc)
	}
	multi := len(r.cols) > 1
	delim := r.d.delim
	for p := pc.lo; p < pc.hi; {
		row := p
		if p = r.d.skip(b, p, multi); p > row {
			continue
		}
		if rows%cancelRows == 0 && ctx.Err() != nil {
			return 0, diag.Canceled(ctx)
		}
		rows++
		for c := range r.cols {
			t := &r.cols[c]
			if r.plain {
				if q := r.fast(t, b, p); q != p {
					p = q
					continue
				}
			}
			f, q, err := r.tok.field(b, p, pc.hi)
			if err != nil {
				return 0, r.fail(err, b, pc, row, t)
			}
			if err := r.store(t, &f); err != nil {
				return 0, r.fail(err, b, pc, row, t)
			}
			switch {
			case !t.last && b[q] == delim:
				p = q + 1
			case !t.last:
				return 0, r.fail(diag.Errorf(diag.BadCopyFormat, diag.NoPos, "missing data for column %q", r.cols[c+1].name), b, pc, row, nil)
			default:
				if p = r.d.rowEnd(b, q); p < 0 {
					return 0, r.fail(diag.Errorf(diag.BadCopyFormat, diag.NoPos, "extra data after last expected column"), b, pc, row, nil)
				}
			}
		}
	}
	return rows, nil
}

// fast reads a field in its usual form: no quotes, no escapes, not NULL. It returns the
// start of the next field or row, or p if the field must be taken the long way.
func (r *rowParser) fast(t *target, b []byte, p int) int {
	var v int64
	var f float64
	q := p
	switch t.kind {
	case scanInts:
		v, q = scanInt(b, p)
	case scanDecimals:
		v, q = scanDecimal(b, p, t.scale)
	case scanDates:
		v, q = scanDate(b, p)
	case scanTimestamps:
		v, q = scanTimestamp(b, p)
	case scanFloats:
		f, q = scanFloat(b, p)
	case scanTexts, scanSkip:
		return r.fastText(t, b, p)
	}
	if q == p || v < t.lo || v > t.hi || t.guessed && t.kind < scanDates && zeroLeads(b[p:]) {
		return p
	}
	next := q + 1
	if b[q] != t.end {
		if next = r.lastEnd(t, b, q); next < 0 {
			return p
		}
	}
	if t.kind == scanFloats {
		t.b.AppendFloat(f)
	} else {
		t.b.AppendInt(v)
	}
	return next
}

// fastText is fast for texts.
func (r *rowParser) fastText(t *target, b []byte, p int) int {
	if r.d.hasQuote && b[p] == r.d.quote {
		return p
	}
	q, ascii := scanText(b, p, &r.tok.s)
	hi, next := q, q+1
	if b[q] != t.end {
		if next = r.lastEnd(t, b, q); next < 0 {
			return p // also a backslash
		}
	} else if t.last {
		hi = r.tok.trimCR(b, p, q)
	}
	if t.kind == scanSkip {
		return next
	}
	s := b[p:hi]
	if len(s) == len(r.d.null) && string(s) == r.d.null ||
		t.t.Len > 0 && len(s) > int(t.t.Len) || !ascii && !utf8.Valid(s) {
		return p
	}
	t.b.AppendBytes(s)
	return next
}

// lastEnd is the start of the next row after the last field, whose end at q is not a plain newline; -1 if
// it is not the last field.
func (r *rowParser) lastEnd(t *target, b []byte, q int) int {
	if !t.last {
		return -1
	}
	return r.d.rowEnd(b, q)
}

// store appends a field of any form.
func (r *rowParser) store(t *target, f *field) error {
	if t.kind == scanSkip {
		return nil
	}
	if t.isNull(r.d, unsafe.String(unsafe.SliceData(f.bytes()), f.hi-f.lo), f.null, f.quoted) {
		if t.notNull {
			return t.nullError()
		}
		t.b.AppendNull()
		return nil
	}
	if t.guessed && t.kind < scanDates && f.hi-f.lo > 1 {
		if err := t.lossy(f.bytes()); err != nil {
			return err
		}
	}
	var v int64
	q := f.lo
	switch t.kind {
	case scanInts:
		v, q = scanInt(f.src, f.lo)
	case scanDecimals:
		v, q = scanDecimal(f.src, f.lo, t.scale)
	case scanDates:
		v, q = scanDate(f.src, f.lo)
	case scanTimestamps:
		v, q = scanTimestamp(f.src, f.lo)
	case scanFloats:
		if v, q := scanFloat(f.src, f.lo); q == f.hi && q > f.lo {
			t.b.AppendFloat(v)
			return nil
		}
	case scanTexts:
		if s := f.bytes(); (t.t.Len == 0 || len(s) <= int(t.t.Len)) && utf8.Valid(s) {
			t.b.AppendBytes(s)
			return nil
		}
	}
	if q == f.hi && q > f.lo && v >= t.lo && v <= t.hi {
		t.b.AppendInt(v)
		return nil
	}
	return r.parse(t, f.bytes())
}

// nullError is the error of a NULL where there must be none.
func (t *target) nullError() error {
	return diag.Errorf(diag.NotNullViolation, diag.NoPos,
		"null value in column %q of relation %q violates not-null constraint", t.name, t.table)
}

// zeroLeads reports a number that begins with a zero and has more digits before its point. At least
// three bytes are there.
func zeroLeads(b []byte) bool {
	if b[0] == '-' || b[0] == '+' {
		b = b[1:]
	}
	return b[0] == '0' && isDigit(b[1])
}

// lossy is the error of a number that the type, which nobody asked for, would change: zeros that
// lead it, or digits of an integer that DOUBLE has no room for.
func (t *target) lossy(s []byte) error {
	if s = bytes.TrimSpace(s); len(s) < 2 {
		return nil
	}
	text := string(s)
	switch c := numberClass(text); {
	case c == looksCode && zeroLeads(append(s[:len(s):len(s)], 0)):
		return &types.Error{Code: "22P02", Msg: fmt.Sprintf("%s would lose the zeros of %q", t.t, text)}
	case t.kind == scanFloats && (c == looksLong || c == looksHuge || c == looksCode):
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || strconv.FormatFloat(f, 'f', 0, 64) != strings.TrimPrefix(text, "+") {
			return &types.Error{Code: "22003", Msg: fmt.Sprintf("%s would lose digits of %q", t.t, text)}
		}
	}
	return nil
}

// parse leaves a value to package types.
func (r *rowParser) parse(t *target, s []byte) error {
	// The text lives as long as the value is looked at; a Text value is copied by Append.
	v, err := r.value(t, unsafe.String(unsafe.SliceData(s), len(s)))
	if err != nil {
		return err
	}
	t.b.Append(v)
	return nil
}

// value reads a text as the column's type, in the format that was said.
func (r *rowParser) value(t *target, s string) (types.Value, error) {
	switch {
	case t.t.Kind == types.Date && r.said.ParseDate != nil:
		return r.said.ParseDate(s)
	case t.t.Kind == types.Timestamp && r.said.ParseTime != nil:
		return r.said.ParseTime(s)
	}
	return types.ParseIn(r.zone, t.t, s)
}

// fail names the place of an error: a row that begins at an offset of a block.
func (r *rowParser) fail(err error, b []byte, pc *piece, row int, t *target) error {
	if errors.Is(err, errUnterminated) {
		err = unterminated()
	}
	line := pc.lineAt(b, row, r.d.nl)
	if e := (*types.Error)(nil); errors.As(err, &e) {
		named := diag.Errorf(e.Code, diag.NoPos, "%s", e.Msg).WithDetail("%s", e.Detail)
		switch {
		case e.Code == diag.CharacterNotInRepertoire:
			err = named.WithHint("the file is not in UTF-8; the option ENCODING says what it is in: 'latin-1' or 'utf-16'")
		case t.guessed:
			err = named.WithHint("the type %s was guessed from the first rows of the file; read_csv('…', sample_size => -1) looks at all, "+
				"and read_csv('…', all_varchar => true) leaves them as they are", t.t)
		case line == 1 && !r.d.header:
			err = named.WithHint("if the first line has the names of the columns, say HEADER")
		}
	}
	if t == nil {
		return located(err, "file %s, line %d", pc.file.path, line)
	}
	return located(err, "file %s, line %d, column %q", pc.file.path, line, t.name)
}
