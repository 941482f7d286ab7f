package render

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// lookahead is how many rows a table holds back to find the widths of its columns. Rows after
// these are printed as they come; a wider value then breaks the alignment of its line.
const lookahead = 10000

// narrowest is what a column is left with when a table is cut to fit a terminal.
const narrowest = 8

// tablePrinter prints as psql does.
type tablePrinter struct {
	w      *bufio.Writer
	cols   []column
	screen int

	widths []int
	held   [][]string
	begun  bool // the header is out
	buf    []byte
	line   strings.Builder
}

func (t *tablePrinter) begin() {
	t.widths = make([]int, len(t.cols))
	for i, c := range t.cols {
		t.widths[i] = width(printable(oneLine(c.name)))
	}
}

func (t *tablePrinter) batch(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		row := make([]string, len(t.cols))
		for k := range row {
			t.buf = cell(t.buf, b.Column(k), i)
			row[k] = printable(string(t.buf))
		}
		if t.begun {
			t.row(row)
			continue
		}
		for k, s := range row {
			t.widths[k] = max(t.widths[k], widest(s))
		}
		if t.held = append(t.held, row); len(t.held) == lookahead {
			t.release()
		}
	}
}

func (t *tablePrinter) end(rows int64) {
	if !t.begun {
		t.release()
	}
	plural := "s"
	if rows == 1 {
		plural = ""
	}
	fmt.Fprintf(t.w, "(%d row%s)\n\n", rows, plural)
}

// release prints the header and the rows that were held back.
func (t *tablePrinter) release() {
	t.fit()
	for i, c := range t.cols {
		name := truncate(printable(oneLine(c.name)), t.widths[i])
		room := t.widths[i] - width(name)
		t.cell(i, strings.Repeat(" ", room/2)+name+strings.Repeat(" ", room-room/2), ' ')
	}
	t.flush()
	for i, w := range t.widths {
		if i > 0 {
			t.line.WriteByte('+')
		}
		t.line.WriteString(strings.Repeat("-", w+2))
	}
	t.flush()
	for _, row := range t.held {
		t.row(row)
	}
	t.held, t.begun = nil, true
}

// fit narrows text columns, the widest first, until the table fits the terminal. Numbers are never
// cut: a part of a number is a wrong number.
func (t *tablePrinter) fit() {
	if t.screen == 0 {
		return
	}
	total := 3*len(t.widths) - 1
	for _, w := range t.widths {
		total += w
	}
	for total > t.screen {
		widest := -1
		for i, w := range t.widths {
			if !t.cols[i].number && w > narrowest && (widest < 0 || w > t.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return // it cannot fit; the terminal will wrap lines
		}
		t.widths[widest]--
		total--
	}
}

// row prints one row: as many lines as its tallest value has, with + where a value goes on.
func (t *tablePrinter) row(cells []string) {
	for more := true; more; {
		more = false
		for i, s := range cells {
			first, rest, goesOn := strings.Cut(s, "\n")
			cells[i] = rest
			if t.screen > 0 && !t.cols[i].number {
				first = truncate(first, t.widths[i])
			}
			pad := strings.Repeat(" ", max(t.widths[i]-width(first), 0))
			if t.cols[i].number {
				first = pad + first
			} else {
				first += pad
			}
			mark := byte(' ')
			if goesOn {
				mark, more = '+', true
			}
			t.cell(i, first, mark)
		}
		t.flush()
	}
}

// cell adds column i to the line: a bar, a blank, the text, and then a blank or +.
func (t *tablePrinter) cell(i int, text string, mark byte) {
	if i > 0 {
		t.line.WriteByte('|')
	}
	t.line.WriteByte(' ')
	t.line.WriteString(text)
	t.line.WriteByte(mark)
}

// flush ends the line, without the blanks at its end.
func (t *tablePrinter) flush() {
	t.w.WriteString(strings.TrimRight(t.line.String(), " "))
	t.w.WriteByte('\n')
	t.line.Reset()
}

// widest is the width of the widest line of s.
func widest(s string) int {
	if !strings.Contains(s, "\n") {
		return width(s)
	}
	w := 0
	for line := range strings.SplitSeq(s, "\n") {
		w = max(w, width(line))
	}
	return w
}

// oneLine is a column's name without newlines: a header of several lines is not worth it.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }
