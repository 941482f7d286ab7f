package trial

import (
	"fmt"
	"os"
	"strings"

	"github.com/kelpiedb/kelpie/internal/corpus"
)

// Line is a call of the table of functions and its answer.
type Line struct {
	// Source is pg where PostgreSQL gives the same answer, nopg where it has no such function, and own where it answers otherwise, for
	// a reason.
	Source string
	Call   string
	Answer string // its rows as a corpus has them, or error and SQLSTATE
	Reason string
}

const (
	noRows = "(no rows)"
	nextTo = " ¦ " // between rows
)

// SQL is the query of a line.
func (l *Line) SQL() string { return "select " + l.Call }

// Record is the line as a record of a corpus.
func (l *Line) Record() *corpus.Record {
	r := &corpus.Record{SQL: l.SQL(), Query: true}
	if code, failed := strings.CutPrefix(l.Answer, "error "); failed {
		r.Code, r.Query = code, false
	} else if l.Answer != noRows {
		r.Rows = strings.Split(l.Answer, nextTo)
	}
	return r
}

// Answer is what Line.Answer says of rows, or of the SQLSTATE of an error.
func Answer(rows [][]corpus.Cell, code string) string {
	switch {
	case code != "":
		return "error " + code
	case len(rows) == 0:
		return noRows
	}
	var texts []string
	for _, r := range rows {
		texts = append(texts, corpus.RowText(r))
	}
	return strings.Join(texts, nextTo)
}

// Table is the table of functions: sections of lines, by signature, in order.
type Table struct {
	Sections []Section
}

// Section are the calls of one row of the registry.
type Section struct {
	Signature string
	Lines     []Line
}

// Read reads a table.
func Read(path string) (*Table, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &Table{}
	for n, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			t.Sections = append(t.Sections, Section{Signature: name})
			continue
		}
		if line == "" {
			continue
		}
		source, rest, _ := strings.Cut(line, " ")
		call, answer, ok := strings.Cut(strings.TrimLeft(rest, " "), " → ")
		if !ok || len(t.Sections) == 0 {
			return nil, fmt.Errorf("%s:%d: %q is no call with its answer", path, n+1, line)
		}
		answer, reason, _ := strings.Cut(answer, "  -- ")
		s := &t.Sections[len(t.Sections)-1]
		s.Lines = append(s.Lines, Line{source, call, answer, reason})
	}
	return t, nil
}

// Write writes a table.
func (t *Table) Write(path string) error {
	var b strings.Builder
	for _, s := range t.Sections {
		fmt.Fprintf(&b, "# %s\n", s.Signature)
		for _, l := range s.Lines {
			fmt.Fprintf(&b, "%-4s %s → %s", l.Source, l.Call, l.Answer)
			if l.Reason != "" {
				b.WriteString("  -- " + l.Reason)
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
