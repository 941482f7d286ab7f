package render

import (
	"bufio"
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
)

// csvPrinter prints RFC 4180: a header, commas, quotes only where they are needed. NULL is an
// empty field and an empty text is "", so that both can be told apart.
type csvPrinter struct {
	w    *bufio.Writer
	cols []column
	bare bool
	buf  []byte
}

func (c *csvPrinter) begin() {
	if c.bare {
		return
	}
	for i, col := range c.cols {
		c.comma(i)
		c.field([]byte(col.name))
	}
	c.w.WriteByte('\n')
}

func (c *csvPrinter) batch(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		for k := range c.cols {
			c.comma(k)
			if a := b.Column(k); !a.IsNull(i) {
				c.buf = cell(c.buf, a, i)
				c.field(c.buf)
			}
		}
		c.w.WriteByte('\n')
	}
}

func (c *csvPrinter) end(int64) {}

func (c *csvPrinter) comma(i int) {
	if i > 0 {
		c.w.WriteByte(',')
	}
}

func (c *csvPrinter) field(s []byte) {
	if len(s) > 0 && !bytes.ContainsAny(s, "\",\r\n") {
		c.w.Write(s)
		return
	}
	c.w.WriteByte('"')
	for {
		head, tail, found := bytes.Cut(s, []byte{'"'})
		c.w.Write(head)
		if !found {
			break
		}
		c.w.WriteString(`""`)
		s = tail
	}
	c.w.WriteByte('"')
}
