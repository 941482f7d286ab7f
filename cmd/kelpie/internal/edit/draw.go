package edit

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// screen is where the cursor was left: so many rows below the row of the prompt.
type screen struct{ row int }

// tab is how wide a tab is drawn.
const tab = 4

// frame is a text laid out in rows of the terminal.
type frame struct {
	rows     []string // with colors
	row, col int      // of the cursor
}

// layout cuts a text into rows of at most width columns, each line after its prompt.
func layout(text string, pos, width int, prompt, more string, styles []uint8) frame {
	var f frame
	var line strings.Builder
	col := 0
	style := uint8(0)
	set := func(s uint8) {
		if s != style {
			fmt.Fprintf(&line, "\x1b[%dm", s) // 0 is plain
			style = s
		}
	}
	put := func(s string, w int) {
		if col+w > width {
			before := style
			set(0)
			f.rows = append(f.rows, line.String())
			line.Reset()
			col = 0
			set(before)
		}
		line.WriteString(s)
		col += w
	}
	begin := func(prompt string) {
		line.WriteString(prompt)
		col = uniseg.StringWidth(prompt)
	}
	begin(prompt)
	for i, rest := 0, text; ; {
		if i == pos {
			f.row, f.col = len(f.rows), col
			if col == width { // the cursor stands where the next character will be
				f.row, f.col = f.row+1, 0
			}
		}
		if rest == "" {
			break
		}
		cluster, after, w, _ := uniseg.FirstGraphemeClusterInString(rest, -1)
		if styles != nil && i < len(styles) {
			set(styles[i])
		}
		switch {
		case cluster == "\n" || cluster == "\r\n":
			set(0)
			f.rows = append(f.rows, line.String())
			line.Reset()
			begin(more)
		case cluster == "\t":
			put(strings.Repeat(" ", tab), tab)
		case w == 0 && cluster[0] < ' ':
			put("?", 1)
		default:
			put(cluster, w)
		}
		i += len(cluster)
		rest = after
	}
	set(0)
	f.rows = append(f.rows, line.String())
	if f.row == len(f.rows) { // the cursor is on a row of its own
		f.rows = append(f.rows, "")
	}
	return f
}

// draw puts the text on the screen, with the lines under it.
func (e *Editor) draw() { e.drawAs(e.Prompt, e.text, e.pos) }

func (e *Editor) drawAs(prompt, text string, pos int) {
	width, height := e.size()
	f := e.layout(prompt, text, pos, width)
	// A text taller than the terminal is seen through a window around the cursor.
	top := 0
	if len(f.rows) > height {
		top = min(max(f.row-height/2, 0), len(f.rows)-height)
		f.rows = f.rows[top : top+height]
		f.row -= top
	}
	f.rows = append(f.rows, columnsOf(e.below, width, min(height-len(f.rows), height/2))...)
	var b strings.Builder
	e.home(&b)
	b.WriteString(strings.Join(f.rows, "\r\n"))
	if up := len(f.rows) - 1 - f.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if f.col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", f.col)
	}
	e.screen.row = f.row
	io.WriteString(e.out, b.String())
}

func (e *Editor) layout(prompt, text string, pos, width int) frame {
	var styles []uint8
	if e.Styles != nil {
		styles = e.Styles(text)
	}
	return layout(text, pos, width, prompt, e.More, styles)
}

// home goes to where the prompt began and clears the screen from there.
func (e *Editor) home(b *strings.Builder) {
	b.WriteByte('\r')
	if e.screen.row > 0 {
		fmt.Fprintf(b, "\x1b[%dA", e.screen.row)
	}
	b.WriteString("\x1b[J")
}

// leave draws the text for the last time, all of it, and goes to the line after it.
func (e *Editor) leave(mark string) {
	width, _ := e.size()
	f := e.layout(e.Prompt, e.text, len(e.text), width)
	var b strings.Builder
	e.home(&b)
	b.WriteString(strings.Join(f.rows, "\r\n") + mark + "\r\n")
	e.screen = screen{}
	io.WriteString(e.out, b.String())
}

// columnsOf arranges words in columns, in at most height rows.
func columnsOf(words []string, width, height int) []string {
	if len(words) == 0 || height < 1 {
		return nil
	}
	cell := 0
	for _, w := range words {
		cell = max(cell, uniseg.StringWidth(w)+2)
	}
	perRow := max(width/cell, 1)
	need := (len(words) + perRow - 1) / perRow
	left := ""
	if need > height {
		need = height
		shown := max((need-1)*perRow, 0)
		left = fmt.Sprintf("… %d more", len(words)-shown)
		words = words[:shown]
	}
	var rows []string
	for len(words) > 0 {
		n := min(perRow, len(words))
		var b strings.Builder
		for _, w := range words[:n] {
			b.WriteString(w + strings.Repeat(" ", cell-uniseg.StringWidth(w)))
		}
		rows = append(rows, strings.TrimRight(b.String(), " "))
		words = words[n:]
	}
	if left != "" {
		rows = append(rows, left)
	}
	return rows
}
