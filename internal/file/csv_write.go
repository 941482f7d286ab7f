package file

import (
	"bufio"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// csvEncoder writes CSV or the text format.
type csvEncoder struct {
	w       *bufio.Writer
	d       dialect
	cols    []catalog.ColumnDef
	line    []byte
	special [256]bool // bytes that need quotes
	// easy: what numbers, dates and the like are written with never needs quotes.
	easy  bool
	force []bool // columns that are in quotes; nil: none is for being that column
}

func newCSVEncoder(w *bufio.Writer, format Format, cols []catalog.ColumnDef, opts Options) (*csvEncoder, error) {
	e := &csvEncoder{w: w, d: opts.newDialect(format), cols: cols, force: opts.ForceQuote}
	e.d.defaultDelimiter()
	if strings.IndexByte(e.d.null, e.d.delim) >= 0 {
		return nil, diag.Errorf(diag.InvalidParameter, diag.NoPos, "COPY delimiter character must not appear in the NULL specification")
	}
	if e.d.hasQuote && strings.IndexByte(e.d.null, e.d.quote) >= 0 {
		return nil, diag.Errorf(diag.InvalidParameter, diag.NoPos, "COPY quote character must not appear in the NULL specification")
	}
	e.easy = strings.IndexByte(",|;\t", e.d.delim) >= 0 && (e.d.text || strings.IndexByte(`"'`, e.d.quote) >= 0) &&
		(e.d.null == "" || e.d.null[0] == '\\')
	for _, c := range []byte{e.d.delim, e.d.quote, '\n', '\r'} {
		e.special[c] = true
	}
	if opts.HasHeader && !opts.Header || e.d.text && !opts.HasHeader {
		return e, nil
	}
	for i, c := range cols {
		if i > 0 {
			e.line = append(e.line, e.d.delim)
		}
		e.line = e.text(e.line, []byte(c.Name))
	}
	return e, e.endLine()
}

func (e *csvEncoder) endLine() error {
	e.line = append(e.line, '\n')
	_, err := e.w.Write(e.line)
	e.line = e.line[:0]
	return err
}

func (e *csvEncoder) finish() error { return nil }

func (e *csvEncoder) write(rec arrow.RecordBatch) error {
	if int(rec.NumCols()) != len(e.cols) {
		return diag.Internalf("write csv", "a batch of %d columns for %d", rec.NumCols(), len(e.cols))
	}
	cells := make([]func(dst []byte, row int) []byte, len(e.cols))
	nulls := make([]bool, len(e.cols))
	for i := range cells {
		nulls[i] = rec.Column(i).NullN() > 0
		cells[i] = e.cell(rec.Column(i))
		if e.force != nil && e.force[i] {
			cells[i] = e.quotedCell(rec.Column(i))
		}
		if cells[i] == nil {
			return diag.Unsupported(diag.NoPos, "column %q: writing %s as CSV", e.cols[i].Name, rec.Column(i).DataType())
		}
	}
	for row := range int(rec.NumRows()) {
		for i, cell := range cells {
			if i > 0 {
				e.line = append(e.line, e.d.delim)
			}
			if nulls[i] && rec.Column(i).IsNull(row) {
				e.line = append(e.line, e.d.null...)
				continue
			}
			e.line = cell(e.line, row)
		}
		if err := e.endLine(); err != nil {
			return err
		}
	}
	return nil
}

// cell is how to write the values of a column.
func (e *csvEncoder) cell(col arrow.Array) func([]byte, int) []byte {
	if s, ok := col.(*array.String); ok {
		return func(dst []byte, row int) []byte { return e.text(dst, stringBytes(s.Value(row))) }
	}
	plain := plainCell(col, e.d.text)
	if _, nested := col.DataType().(arrow.NestedType); plain == nil || e.easy && !nested {
		return plain
	}
	var buf []byte
	return func(dst []byte, row int) []byte {
		buf = plain(buf[:0], row)
		return e.text(dst, buf)
	}
}

// quotedCell is how to write the values of a column that are always in quotes.
func (e *csvEncoder) quotedCell(col arrow.Array) func([]byte, int) []byte {
	if s, ok := col.(*array.String); ok {
		return func(dst []byte, row int) []byte { return e.quoted(dst, stringBytes(s.Value(row))) }
	}
	plain := plainCell(col, false)
	if plain == nil {
		return nil
	}
	return func(dst []byte, row int) []byte { return e.quoted(dst, plain(nil, row)) }
}

// plainCell is how to write values that are not texts, as PostgreSQL does; booleans in CSV
// are true and false, which more programs understand than t and f.
func plainCell(col arrow.Array, text bool) func([]byte, int) []byte {
	switch c := col.(type) {
	case *array.Boolean:
		return func(dst []byte, row int) []byte {
			switch v := c.Value(row); {
			case text && v:
				return append(dst, 't')
			case text:
				return append(dst, 'f')
			default:
				return strconv.AppendBool(dst, v)
			}
		}
	case *array.Int8:
		return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, int64(c.Value(row)), 10) }
	case *array.Uint8:
		return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, int64(c.Value(row)), 10) }
	case *array.Uint16:
		return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, int64(c.Value(row)), 10) }
	case *array.Uint32:
		return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, int64(c.Value(row)), 10) }
	case *array.Uint64:
		return func(dst []byte, row int) []byte { return strconv.AppendUint(dst, c.Value(row), 10) }
	case *array.Int16:
		return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, int64(c.Value(row)), 10) }
	case *array.Int32:
		return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, int64(c.Value(row)), 10) }
	case *array.Int64:
		return func(dst []byte, row int) []byte { return strconv.AppendInt(dst, c.Value(row), 10) }
	case *array.Float32:
		return func(dst []byte, row int) []byte { return types.AppendFloat(dst, float64(c.Value(row)), 32) }
	case *array.Float64:
		return func(dst []byte, row int) []byte { return types.AppendFloat(dst, c.Value(row), 64) }
	case *array.Decimal128:
		scale := int(c.DataType().(*arrow.Decimal128Type).Scale)
		return func(dst []byte, row int) []byte {
			v := c.Value(row)
			return types.AppendDecimal(dst, types.Int128{Lo: v.LowBits(), Hi: v.HighBits()}, scale)
		}
	case *array.Date32:
		return func(dst []byte, row int) []byte { return types.AppendDate(dst, int64(c.Value(row))) }
	case *array.Timestamp:
		if c.DataType().(*arrow.TimestampType).Unit != arrow.Microsecond {
			return nil
		}
		if z := ZoneOf(c); z != nil {
			return func(dst []byte, row int) []byte { return types.AppendTimestampTZ(dst, int64(c.Value(row)), z) }
		}
		return func(dst []byte, row int) []byte { return types.AppendTimestamp(dst, int64(c.Value(row))) }
	case *array.Time64:
		if c.DataType().(*arrow.Time64Type).Unit != arrow.Microsecond {
			return nil
		}
		return func(dst []byte, row int) []byte { return types.AppendTime(dst, int64(c.Value(row))) }
	case *array.Binary:
		return func(dst []byte, row int) []byte { return types.AppendBytes(dst, string(c.Value(row))) }
	case *array.List, *array.Struct, *array.Map:
		return func(dst []byte, row int) []byte { return AppendNestedText(dst, col, row) }
	case *array.MonthDayNanoInterval:
		return func(dst []byte, row int) []byte {
			v := c.Value(row)
			return types.AppendInterval(dst, v.Months, v.Days, v.Nanoseconds/1000)
		}
	case *array.Null:
		return func(dst []byte, row int) []byte { return dst }
	}
	return nil
}

// ZoneOf is the zone in which a column of timestamps is shown; nil if they have none.
func ZoneOf(c *array.Timestamp) *types.Zone {
	return zoneNamed(c.DataType().(*arrow.TimestampType).TimeZone)
}

func zoneNamed(name string) *types.Zone {
	if name == "" {
		return nil
	}
	z, err := types.SessionZone(name)
	if err != nil { // not one of ours
		return types.UTC
	}
	return z
}

// text appends a text, in quotes or with escapes where it needs them.
func (e *csvEncoder) text(dst, s []byte) []byte {
	d := &e.d
	if d.text {
		return e.escape(dst, s)
	}
	plain := string(s) != d.null
	for _, c := range s {
		if e.special[c] {
			plain = false
			break
		}
	}
	if plain {
		return append(dst, s...)
	}
	return e.quoted(dst, s)
}

// quoted appends a text in quotes.
func (e *csvEncoder) quoted(dst, s []byte) []byte {
	d := &e.d
	dst = append(dst, d.quote)
	for _, c := range s {
		if c == d.quote || c == d.escape {
			dst = append(dst, d.escape)
		}
		dst = append(dst, c)
	}
	return append(dst, d.quote)
}

// escape appends a text of the text format.
func (e *csvEncoder) escape(dst, s []byte) []byte {
	for _, c := range s {
		switch {
		case c >= '\b' && c <= '\r':
			dst = append(dst, '\\', "btnvfr"[c-'\b'])
		case c == '\\' || c == e.d.delim:
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
