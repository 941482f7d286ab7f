package file

import (
	"bufio"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// jsonEncoder writes an object per row: one per line, or all in an array. Numbers are bare and keep all
// their digits; what JSON has no word for (dates, intervals, NaN, Infinity) is a string.
type jsonEncoder struct {
	w     *bufio.Writer
	cols  []catalog.ColumnDef
	keys  [][]byte // {"name": and ,"name":
	array bool
	any   bool // a row was written
	line  []byte
	text  []byte
}

func newJSONEncoder(w *bufio.Writer, cols []catalog.ColumnDef, opts Options) (*jsonEncoder, error) {
	e := &jsonEncoder{w: w, cols: cols, array: opts.Array}
	used := map[string]bool{}
	for i, c := range cols {
		if used[c.Name] {
			return nil, diag.Errorf(diag.DuplicateColumn, diag.NoPos, "column %q appears twice, which an object of JSON cannot have", c.Name).
				WithHint("give one of them another name with AS")
		}
		used[c.Name] = true
		key := []byte{','}
		if i == 0 {
			key[0] = '{'
		}
		e.keys = append(e.keys, append(appendJSON(key, []byte(c.Name)), ':'))
	}
	if e.array {
		return e, e.w.WriteByte('[')
	}
	return e, nil
}

func (e *jsonEncoder) write(rec arrow.RecordBatch) error {
	if int(rec.NumCols()) != len(e.cols) {
		return diag.Internalf("write json", "a batch of %d columns for %d", rec.NumCols(), len(e.cols))
	}
	cells := make([]func(dst []byte, row int) []byte, len(e.cols))
	for i := range cells {
		if cells[i] = e.cell(rec.Column(i)); cells[i] == nil {
			return diag.Unsupported(diag.NoPos, "column %q: writing %s as JSON", e.cols[i].Name, rec.Column(i).DataType())
		}
	}
	for row := range int(rec.NumRows()) {
		line := e.line[:0]
		switch {
		case !e.array:
		case e.any:
			line = append(line, ",\n"...)
		default:
			line = append(line, '\n')
		}
		e.any = true
		for i, cell := range cells {
			line = append(line, e.keys[i]...)
			if rec.Column(i).IsNull(row) {
				line = append(line, "null"...)
			} else {
				line = cell(line, row)
			}
		}
		line = append(line, '}')
		if !e.array {
			line = append(line, '\n')
		}
		e.line = line
		if _, err := e.w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (e *jsonEncoder) finish() error {
	if !e.array {
		return nil
	}
	end := "]\n"
	if e.any {
		end = "\n]\n"
	}
	_, err := e.w.WriteString(end)
	return err
}

// cell is how to write the values of a column.
func (e *jsonEncoder) cell(col arrow.Array) func([]byte, int) []byte {
	if s, ok := col.(*array.String); ok {
		return func(dst []byte, row int) []byte { return appendJSON(dst, stringBytes(s.Value(row))) }
	}
	switch c := col.(type) {
	case *array.Map: // which is a List, too
		return e.pairs(c)
	case *array.List:
		return e.list(c)
	case *array.Struct:
		return e.object(c)
	}
	plain := plainCell(col, false)
	if plain == nil {
		return nil
	}
	switch col.(type) {
	case *array.Boolean, *array.Int8, *array.Uint8, *array.Int16, *array.Uint16, *array.Int32, *array.Uint32, *array.Int64, *array.Uint64, *array.Decimal128:
		return plain
	}
	return func(dst []byte, row int) []byte {
		e.text = plain(e.text[:0], row)
		switch col.(type) {
		case *array.Float32, *array.Float64:
			if isDigit(e.text[len(e.text)-1]) { // neither NaN nor Infinity
				return append(dst, e.text...)
			}
		}
		return appendJSON(dst, e.text)
	}
}

// list is how to write lists.
func (e *jsonEncoder) list(c *array.List) func([]byte, int) []byte {
	elems := c.ListValues()
	elem := e.cell(elems)
	if elem == nil {
		return nil
	}
	return func(dst []byte, row int) []byte {
		dst = append(dst, '[')
		from, to := c.ValueOffsets(row)
		for k := int(from); k < int(to); k++ {
			if k > int(from) {
				dst = append(dst, ',')
			}
			if elems.IsNull(k) {
				dst = append(dst, "null"...)
			} else {
				dst = elem(dst, k)
			}
		}
		return append(dst, ']')
	}
}

// object is how to write structs.
func (e *jsonEncoder) object(c *array.Struct) func([]byte, int) []byte {
	fields := c.DataType().(*arrow.StructType).Fields()
	cells := make([]func([]byte, int) []byte, len(fields))
	for i := range fields {
		if cells[i] = e.cell(c.Field(i)); cells[i] == nil {
			return nil
		}
	}
	return func(dst []byte, row int) []byte {
		dst = append(dst, '{')
		for i, f := range fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSON(dst, stringBytes(f.Name)), ':')
			if c.Field(i).IsNull(row) {
				dst = append(dst, "null"...)
			} else {
				dst = cells[i](dst, row)
			}
		}
		return append(dst, '}')
	}
}

// pairs is how to write maps: keys are strings, whatever they are.
func (e *jsonEncoder) pairs(c *array.Map) func([]byte, int) []byte {
	keys, items := c.Keys(), c.Items()
	value := e.cell(items)
	if value == nil {
		return nil
	}
	return func(dst []byte, row int) []byte {
		dst = append(dst, '{')
		from, to := c.ValueOffsets(row)
		for k := int(from); k < int(to); k++ {
			if k > int(from) {
				dst = append(dst, ',')
			}
			key := ArrowValue(keys, k).AppendTextIn(nil, zoneIn(keys.DataType()))
			dst = append(appendJSON(dst, key), ':')
			if items.IsNull(k) {
				dst = append(dst, "null"...)
			} else {
				dst = value(dst, k)
			}
		}
		return append(dst, '}')
	}
}

// appendJSON appends a text as a string of JSON.
func appendJSON(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
