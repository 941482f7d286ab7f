package render

import (
	"bufio"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// markdownPrinter prints a table of GitHub's Markdown.
type markdownPrinter struct {
	w    *bufio.Writer
	cols []column
	null string
	buf  []byte
}

func (m *markdownPrinter) begin() {
	for _, c := range m.cols {
		m.w.WriteString("| " + escapeMarkdown(c.name) + " ")
	}
	m.w.WriteString("|\n")
	for _, c := range m.cols {
		if c.number {
			m.w.WriteString("|---:")
		} else {
			m.w.WriteString("|---")
		}
	}
	m.w.WriteString("|\n")
}

func (m *markdownPrinter) batch(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		for k := range m.cols {
			m.buf = shown(m.buf, b.Column(k), i, m.null)
			m.w.WriteString("| " + escapeMarkdown(string(m.buf)) + " ")
		}
		m.w.WriteString("|\n")
	}
}

// end leaves the blank line that ends a table, so that the next one begins anew.
func (m *markdownPrinter) end(int64) { m.w.WriteByte('\n') }

// escapeMarkdown makes text stand for itself in a cell. An underscore inside of a word means nothing
// in Markdown and is left alone, so that column names stay readable.
func escapeMarkdown(s string) string {
	if !strings.ContainsAny(s, "|\\`*_<>[]&~\r\n") {
		return s
	}
	var b strings.Builder
	prev := ' '
	for i, r := range s {
		switch r {
		case '\n':
			b.WriteString("<br>")
			prev = r
			continue
		case '\r':
			continue
		case '_':
			next, _ := utf8.DecodeRuneInString(s[i+1:])
			if !word(prev) || !word(next) {
				b.WriteByte('\\')
			}
		case '|', '\\', '`', '*', '<', '>', '[', ']', '&', '~':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		prev = r
	}
	return b.String()
}

func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
