package render

import (
	"bufio"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// jsonPrinter prints an object per row: one per line, or all in an array. Numbers are bare and keep
// all their digits; what JSON has no word for (dates, intervals, NaN, Infinity) is a string.
type jsonPrinter struct {
	w     *bufio.Writer
	cols  []column
	array bool
	keys  [][]byte // {"name": and ,"name":
	any   bool     // a row was printed
	buf   []byte
	text  []byte
}

func (j *jsonPrinter) begin() {
	used := map[string]bool{}
	for i, c := range j.cols {
		key := []byte{','}
		if i == 0 {
			key[0] = '{'
		}
		j.keys = append(j.keys, append(appendString(key, []byte(unused(used, c.name))), ':'))
	}
	if j.array {
		j.w.WriteByte('[')
	}
}

// unused makes names unique: most readers keep only the last of several equal keys.
func unused(used map[string]bool, name string) string {
	try := name
	for i := 2; used[try]; i++ {
		try = fmt.Sprintf("%s_%d", name, i)
	}
	used[try] = true
	return try
}

func (j *jsonPrinter) batch(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		buf := j.buf[:0]
		switch {
		case !j.array:
		case j.any:
			buf = append(buf, ",\n"...)
		default:
			buf = append(buf, '\n')
		}
		j.any = true
		for k := range j.cols {
			buf = append(buf, j.keys[k]...)
			buf = j.value(buf, b.Column(k), i, j.cols[k].number)
		}
		buf = append(buf, '}')
		if !j.array {
			buf = append(buf, '\n')
		}
		j.w.Write(buf)
		j.buf = buf
	}
}

func (j *jsonPrinter) end(int64) {
	switch {
	case !j.array:
	case j.any:
		j.w.WriteString("\n]\n")
	default:
		j.w.WriteString("]\n")
	}
}

func (j *jsonPrinter) value(buf []byte, a arrow.Array, i int, number bool) []byte {
	if a.IsNull(i) {
		return append(buf, "null"...)
	}
	switch l := a.(type) {
	case *array.Map: // which is a List, too
		from, to := l.ValueOffsets(i)
		buf = append(buf, '{')
		for k := int(from); k < int(to); k++ {
			if k > int(from) {
				buf = append(buf, ',')
			}
			j.text = cell(j.text, l.Keys(), k)
			buf = append(appendString(buf, j.text), ':')
			buf = j.value(buf, l.Items(), k, isNumber(l.Items().DataType()))
		}
		return append(buf, '}')
	case *array.Struct:
		buf = append(buf, '{')
		for k, f := range l.DataType().(*arrow.StructType).Fields() {
			if k > 0 {
				buf = append(buf, ',')
			}
			buf = append(appendString(buf, []byte(f.Name)), ':')
			buf = j.value(buf, l.Field(k), i, isNumber(f.Type))
		}
		return append(buf, '}')
	case *array.List:
		from, to := l.ValueOffsets(i)
		buf = append(buf, '[')
		for k := int(from); k < int(to); k++ {
			if k > int(from) {
				buf = append(buf, ',')
			}
			buf = j.value(buf, l.ListValues(), k, isNumber(l.ListValues().DataType()))
		}
		return append(buf, ']')
	}
	j.text = cell(j.text, a, i)
	switch {
	case a.DataType().ID() == arrow.BOOL:
		return append(buf, j.text...)
	case number && finite(j.text):
		return append(buf, j.text...)
	}
	return appendString(buf, j.text)
}

// finite reports a number and not NaN, Infinity or -Infinity.
func finite(text []byte) bool {
	last := text[len(text)-1]
	return last >= '0' && last <= '9'
}

// appendString appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func appendString(buf, s []byte) []byte {
	const hex = "0123456789abcdef"
	buf = append(buf, '"')
	for len(s) > 0 {
		c := s[0]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(s)
			buf = utf8.AppendRune(buf, r)
			s = s[n:]
			continue
		}
		s = s[1:]
		switch {
		case c == '"' || c == '\\':
			buf = append(buf, '\\', c)
		case c == '\n':
			buf = append(buf, `\n`...)
		case c == '\r':
			buf = append(buf, `\r`...)
		case c == '\t':
			buf = append(buf, `\t`...)
		case c < ' ':
			buf = append(buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			buf = append(buf, c)
		}
	}
	return append(buf, '"')
}
