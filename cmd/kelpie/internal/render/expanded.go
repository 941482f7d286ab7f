package render

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// expandedPrinter prints a line per value, for rows that are too wide for a table.
type expandedPrinter struct {
	w     *bufio.Writer
	cols  []column
	names []string // padded
	n     int64
	buf   []byte
	Options
}

func (e *expandedPrinter) begin() {
	most := 0
	for _, c := range e.cols {
		e.names = append(e.names, printable(oneLine(c.name)))
		most = max(most, width(e.names[len(e.names)-1]))
	}
	for i, n := range e.names {
		e.names[i] = n + strings.Repeat(" ", most-width(n))
	}
}

func (e *expandedPrinter) batch(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		e.n++
		head := fmt.Sprintf("-[ RECORD %d ]", e.n)
		fmt.Fprintf(e.w, "%s%s\n", head, strings.Repeat("-", max(40-len(head), 0)))
		for k, name := range e.names {
			e.buf = shown(e.buf, b.Column(k), i, e.Null)
			for line := range strings.SplitSeq(printable(string(e.buf)), "\n") {
				if e.Width > 0 {
					line = truncate(line, max(e.Width-width(name)-3, narrowest))
				}
				e.w.WriteString(strings.TrimRight(name+" | "+line, " ") + "\n")
				name = strings.Repeat(" ", width(name))
			}
		}
	}
}

func (e *expandedPrinter) end(rows int64) {
	if rows == 0 {
		e.w.WriteString("(0 rows)\n")
	}
	e.w.WriteString(moreRows(rows-e.n, e.Options))
	e.w.WriteByte('\n')
}
