package render

import (
	"bufio"
	"fmt"
	"html"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// htmlPrinter prints a table of HTML.
type htmlPrinter struct {
	w    *bufio.Writer
	cols []column
	null string
	buf  []byte
}

func (h *htmlPrinter) begin() {
	h.w.WriteString("<table>\n<thead>\n<tr>")
	for _, c := range h.cols {
		h.w.WriteString("<th>" + html.EscapeString(c.name) + "</th>")
	}
	h.w.WriteString("</tr>\n</thead>\n<tbody>\n")
}

func (h *htmlPrinter) batch(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		h.w.WriteString("<tr>")
		for k, c := range h.cols {
			tag := "<td>"
			if c.number {
				tag = `<td style="text-align: right">`
			}
			h.buf = shown(h.buf, b.Column(k), i, h.null)
			text := strings.ReplaceAll(html.EscapeString(string(h.buf)), "\n", "<br>")
			fmt.Fprintf(h.w, "%s%s</td>", tag, text)
		}
		h.w.WriteString("</tr>\n")
	}
}

func (h *htmlPrinter) end(int64) { h.w.WriteString("</tbody>\n</table>\n") }
