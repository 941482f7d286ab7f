package render

import (
	"bufio"

	"github.com/apache/arrow-go/v18/arrow"
)

// tsvPrinter prints lines of fields between tabs, as PostgreSQL's COPY does: tabs, newlines and backslashes inside of values
// follow a backslash, and NULL is \N, so that every line is a row.
type tsvPrinter struct {
	w    *bufio.Writer
	cols []column
	bare bool
	buf  []byte
}

func (t *tsvPrinter) begin() {
	if t.bare {
		return
	}
	for i, c := range t.cols {
		t.field(i, []byte(c.name))
	}
	t.w.WriteByte('\n')
}

func (t *tsvPrinter) batch(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		for k := range t.cols {
			if a := b.Column(k); a.IsNull(i) {
				t.tab(k)
				t.w.WriteString(`\N`)
			} else {
				t.buf = cell(t.buf, a, i)
				t.field(k, t.buf)
			}
		}
		t.w.WriteByte('\n')
	}
}

func (t *tsvPrinter) end(int64) {}

func (t *tsvPrinter) tab(i int) {
	if i > 0 {
		t.w.WriteByte('\t')
	}
}

func (t *tsvPrinter) field(i int, s []byte) {
	t.tab(i)
	for _, c := range s {
		switch c {
		case '\t':
			t.w.WriteString(`\t`)
		case '\n':
			t.w.WriteString(`\n`)
		case '\r':
			t.w.WriteString(`\r`)
		case '\\':
			t.w.WriteString(`\\`)
		default:
			t.w.WriteByte(c)
		}
	}
}
