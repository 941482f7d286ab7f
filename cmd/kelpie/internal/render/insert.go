package render

import (
	"bufio"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/kelpiedb/kelpie"
)

// insertPrinter prints an INSERT statement per row.
type insertPrinter struct {
	w     *bufio.Writer
	cols  []column
	table string
	head  string
	buf   []byte
}

func (p *insertPrinter) begin() {
	table := p.table
	if table == "" {
		table = "t"
	}
	names := make([]string, len(p.cols))
	for i, c := range p.cols {
		names[i] = kelpie.QuoteIdent(c.name)
	}
	p.head = "INSERT INTO " + kelpie.QuoteIdent(table) + " (" + strings.Join(names, ", ") + ") VALUES ("
}

func (p *insertPrinter) batch(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		p.w.WriteString(p.head)
		for k, c := range p.cols {
			if k > 0 {
				p.w.WriteString(", ")
			}
			p.w.WriteString(p.value(b.Column(k), i, c))
		}
		p.w.WriteString(");\n")
	}
}

func (p *insertPrinter) end(int64) {}

// value is a literal of the value's type.
func (p *insertPrinter) value(a arrow.Array, i int, c column) string {
	if a.IsNull(i) {
		return "NULL"
	}
	p.buf = cell(p.buf, a, i)
	switch {
	case a.DataType().ID() == arrow.BOOL, c.number && finite(p.buf):
		return string(p.buf)
	case c.text:
		return kelpie.QuoteString(string(p.buf))
	}
	return "CAST(" + kelpie.QuoteString(string(p.buf)) + " AS " + c.sql + ")"
}
