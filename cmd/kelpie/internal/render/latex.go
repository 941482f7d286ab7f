package render

import (
	"bufio"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// latexPrinter prints a tabular of LaTeX.
type latexPrinter struct {
	w    *bufio.Writer
	cols []column
	null string
	buf  []byte
}

func (l *latexPrinter) begin() {
	l.w.WriteString(`\begin{tabular}{`)
	for _, c := range l.cols {
		if c.number {
			l.w.WriteByte('r')
		} else {
			l.w.WriteByte('l')
		}
	}
	l.w.WriteString("}\n\\hline\n")
	for i, c := range l.cols {
		l.cell(i, `\textbf{`+escapeLatex(c.name)+`}`)
	}
	l.w.WriteString(" \\\\\n\\hline\n")
}

func (l *latexPrinter) batch(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		for k := range l.cols {
			l.buf = shown(l.buf, b.Column(k), i, l.null)
			l.cell(k, escapeLatex(string(l.buf)))
		}
		l.w.WriteString(" \\\\\n")
	}
}

func (l *latexPrinter) end(int64) { l.w.WriteString("\\hline\n\\end{tabular}\n") }

func (l *latexPrinter) cell(i int, text string) {
	if i > 0 {
		l.w.WriteString(" & ")
	}
	l.w.WriteString(text)
}

// escapeLatex makes text stand for itself.
var escapeLatex = strings.NewReplacer(`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`, `{`, `\{`, `}`, `\}`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `\textless{}`, `>`, `\textgreater{}`, `|`, `\textbar{}`, "\n", " ").Replace
