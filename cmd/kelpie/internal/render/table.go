package render

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// lookahead is how many rows a table holds back to find the widths of its columns. Rows after
// these are printed as they come; a wider value then breaks the alignment of its line.
const lookahead = 10000

// narrowest is what a column is left with when a table is cut to fit a terminal.
const narrowest = 8

// tablePrinter prints as psql does, or in a box.
type tablePrinter struct {
	w     *bufio.Writer
	cols  []column
	lines *tableLines
	Options

	widths []int // -1: the column is left out
	held   [][]string
	begun  bool // the header is out
	count  int64
	buf    []byte
	line   strings.Builder
}

// tableLines are what tables are drawn with.
type tableLines struct {
	top, rule, bottom [4]string // left, line, crossing, right; nothing if the line is empty
	left, bar, right  string
}

var (
	psqlLines = tableLines{rule: [4]string{"", "-", "+", ""}, bar: "|"}
	boxLines  = tableLines{[4]string{"┌", "─", "┬", "┐"}, [4]string{"├", "─", "┼", "┤"}, [4]string{"└", "─", "┴", "┘"}, "│", "│", "│"}
)

func (t *tablePrinter) begin() {
	t.widths = make([]int, len(t.cols))
	for i, c := range t.cols {
		t.widths[i] = width(printable(oneLine(c.name)))
	}
}

func (t *tablePrinter) batch(b arrow.RecordBatch) {
	t.count += b.NumRows()
	for i := range int(b.NumRows()) {
		row := make([]string, len(t.cols))
		for k := range row {
			t.buf = shown(t.buf, b.Column(k), i, t.Null)
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
	t.drawn(&t.lines.bottom)
	if t.Bare {
		return
	}
	t.w.WriteString(moreRows(rows-t.count, t.Options))
	out := 0
	for _, w := range t.widths {
		if w < 0 {
			out++
		}
	}
	if out > 0 {
		fmt.Fprintf(t.w, "(%d row%s, %d columns, %d shown)\n\n", rows, plural(rows), len(t.cols), len(t.cols)-out)
		return
	}
	fmt.Fprintf(t.w, "(%d row%s)\n\n", rows, plural(rows))
}

func plural(n int64) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// moreRows is the line that tells of rows that were not shown.
func moreRows(n int64, o Options) string {
	if n <= 0 {
		return ""
	}
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return fmt.Sprintf("… %s more row%s%s\n", digits, plural(n), o.More)
}

// release prints the header and the rows that were held back.
func (t *tablePrinter) release() {
	t.fit()
	t.drawn(&t.lines.top)
	if !t.Bare {
		names := make([]string, len(t.cols))
		for i, c := range t.cols {
			if t.widths[i] >= 0 {
				names[i] = truncate(printable(oneLine(c.name)), t.widths[i])
				names[i] = strings.Repeat(" ", (t.widths[i]-width(names[i]))/2) + names[i]
			}
		}
		t.cells(func(i int) (string, byte) {
			return names[i] + strings.Repeat(" ", t.widths[i]-width(names[i])), ' '
		})
		t.drawn(&t.lines.rule)
	}
	for _, row := range t.held {
		t.row(row)
	}
	t.held, t.begun = nil, true
}

// drawn prints a line between rows.
func (t *tablePrinter) drawn(l *[4]string) {
	if l[1] == "" {
		return
	}
	first := true
	t.line.WriteString(l[0])
	t.each(func(_, w int) {
		if !first {
			t.line.WriteString(l[2])
		}
		first = false
		t.line.WriteString(strings.Repeat(l[1], w+2))
	})
	t.line.WriteString(l[3])
	t.flush()
}

// each visits the columns that are shown, with their widths; -1 stands for those that are left out in between.
func (t *tablePrinter) each(f func(i, width int)) {
	gap := false
	for i, w := range t.widths {
		if w < 0 && !gap {
			f(-1, 1)
		} else if w >= 0 {
			f(i, w)
		}
		gap = w < 0
	}
}

// fit narrows texts, the widest first, until the table fits the terminal. Numbers and dates are never
// cut: a part of a number is a wrong number. Where that would not be enough, columns in the middle are left out.
func (t *tablePrinter) fit() {
	if t.Width == 0 {
		return
	}
	natural := slices.Clone(t.widths)
	for i, w := range natural {
		if t.cols[i].text {
			t.widths[i] = min(w, narrowest)
		}
	}
	for _, i := range fromMiddle(len(t.widths)) {
		if t.total() <= t.Width {
			break
		}
		t.widths[i] = -1
	}
	// What is shown may take what is left.
	for i, w := range natural {
		if t.widths[i] >= 0 {
			t.widths[i] = w
		}
	}
	for t.total() > t.Width {
		widest := -1
		for i, w := range t.widths {
			if t.cols[i].text && w > narrowest && (widest < 0 || w > t.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		t.widths[widest]--
	}
}

// fromMiddle is the order in which columns are left out: from the middle outwards, the last one last, and the first one,
// which tells what a row is about, never: the terminal will have to wrap its lines.
func fromMiddle(columns int) []int {
	var out []int
	for lo, hi := (columns-1)/2, (columns-1)/2+1; lo > 0 || hi < columns-1; lo, hi = lo-1, hi+1 {
		if lo > 0 && lo < columns-1 {
			out = append(out, lo)
		}
		if hi < columns-1 {
			out = append(out, hi)
		}
	}
	if columns > 1 {
		out = append(out, columns-1)
	}
	return out
}

// total is how wide the table is.
func (t *tablePrinter) total() int {
	n := -width(t.lines.bar) + width(t.lines.left) + width(t.lines.right)
	t.each(func(_, w int) { n += w + 2 + width(t.lines.bar) })
	return n
}

// row prints one row: as many lines as its tallest value has, with + where a value goes on.
func (t *tablePrinter) row(cells []string) {
	for more := true; more; {
		more = false
		t.cells(func(i int) (string, byte) {
			first, rest, goesOn := strings.Cut(cells[i], "\n")
			cells[i] = rest
			if t.Width > 0 && t.cols[i].text {
				first = truncate(first, t.widths[i])
			}
			pad := strings.Repeat(" ", max(t.widths[i]-width(first), 0))
			if t.cols[i].number {
				first = pad + first
			} else {
				first += pad
			}
			if goesOn {
				more = true
				return first, '+'
			}
			return first, ' '
		})
	}
}

// cells prints a line of cells: a bar, a blank, the text, and then a blank or +.
func (t *tablePrinter) cells(text func(i int) (string, byte)) {
	bar := t.lines.left
	t.each(func(i, _ int) {
		s, mark := "…", byte(' ')
		if i >= 0 {
			s, mark = text(i)
		}
		t.line.WriteString(bar + " " + s)
		t.line.WriteByte(mark)
		bar = t.lines.bar
	})
	t.line.WriteString(t.lines.right)
	t.flush()
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
