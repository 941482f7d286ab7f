package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// File is a parsed file.
type File struct {
	Name    string // without folder and extension
	Records []*Record
	tail    []string // comments behind the last record
}

// Record is a statement and what it must give.
type Record struct {
	Line    int      // of the statement
	SQL     string   // the statement
	Query   bool     // rows are compared
	Code    string   // the SQLSTATE of the error that it must give, "" for none
	RowSort bool     // rows may come in any order
	Rounded bool     // decimals agree with PostgreSQL's at the lesser scale
	NoPG    string   // why PostgreSQL is not asked
	Planned string   // why it is not run without the optimizer
	Rows    []string // each with its cells written and joined by |
	head    []string // the lines before the rows, comments included
}

// Read parses a file.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), string(text))
}

// Parse parses the text of a file.
func Parse(name, text string) (*File, error) {
	f := &File{Name: name}
	lines := strings.Split(text, "\n")
	r := &Record{}
	i := 0
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s.test:%d: %s", name, i+1, fmt.Sprintf(format, args...))
	}
	for i < len(lines) {
		line := lines[i]
		switch word, rest, _ := strings.Cut(line, " "); {
		case line == "" || strings.HasPrefix(line, "#"):
			r.head = append(r.head, line)
			i++
			continue
		case word == "nopg" || word == "planned":
			if strings.TrimSpace(rest) == "" {
				return nil, fail("%s without a reason", word)
			}
			if word == "nopg" {
				r.NoPG = rest
			} else {
				r.Planned = rest
			}
			r.head = append(r.head, line)
			i++
			continue
		}
		if err := r.header(line); err != nil {
			return nil, fail("%v", err)
		}
		r.head = append(r.head, line)
		r.Line = i + 2
		var sql []string
		for i++; i < len(lines) && lines[i] != "" && lines[i] != "----"; i++ {
			sql = append(sql, lines[i])
		}
		r.head = append(r.head, sql...)
		if r.SQL = strings.Join(sql, "\n"); strings.TrimSpace(r.SQL) == "" {
			return nil, fail("no statement")
		}
		if i < len(lines) && lines[i] == "----" {
			if !r.Query {
				return nil, fail("rows of a record that is no query")
			}
			for i++; i < len(lines) && lines[i] != ""; i++ {
				r.Rows = append(r.Rows, lines[i])
			}
		}
		f.Records = append(f.Records, r)
		r = &Record{}
	}
	f.tail = r.head
	return f, nil
}

// header reads the first line of a record.
func (r *Record) header(line string) error {
	line, _, _ = strings.Cut(line, " #")
	words := strings.Fields(line)
	switch {
	case len(words) == 2 && words[0] == "statement" && words[1] == "ok":
		return nil
	case len(words) == 3 && words[0] == "statement" && words[1] == "error" && len(words[2]) == 5:
		r.Code = words[2]
		return nil
	case len(words) > 0 && words[0] == "query":
		r.Query = true
		for _, w := range words[1:] {
			switch w {
			case "rowsort":
				r.RowSort = true
			case "rounded":
				r.Rounded = true
			default:
				return fmt.Errorf("query has no option %q", w)
			}
		}
		return nil
	}
	return fmt.Errorf("a record begins with statement ok, statement error CODE or query, not with %q", line)
}

// String is the file's text, with the rows that its records have now.
func (f *File) String() string {
	var b strings.Builder
	line := func(s string) { b.WriteString(s); b.WriteByte('\n') }
	for _, r := range f.Records {
		for _, h := range r.head {
			line(h)
		}
		if r.Query {
			line("----")
			for _, row := range r.Rows {
				line(row)
			}
		}
	}
	for _, h := range f.tail {
		line(h)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
