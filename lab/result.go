package lab

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/plot"
)

// Result is what an experiment found.
type Result struct {
	Figure   string   `json:"figure"`
	Paper    string   `json:"paper"`
	Title    string   `json:"title"`
	Device   string   `json:"device"`
	On       string   `json:"on"` // the processor's name
	Scale    float64  `json:"scale"`
	Workload string   `json:"workload"`
	Cost     string   `json:"cost"` // what the numbers are
	Table    Table    `json:"table"`
	Claim    string   `json:"claim"` // the paper's
	Ours     string   `json:"ours"`  // computed from the table
	Notes    []string `json:"notes,omitempty"`
	Picture  string   `json:"-"` // SVG
}

// Table has a name and numbers in each row.
type Table struct {
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is a line of a table. NaN is a number that is missing.
type Row struct {
	Name   string
	Values []float64
}

// MarshalJSON writes a row as a list; what is missing is null.
func (r Row) MarshalJSON() ([]byte, error) {
	list := []any{r.Name}
	for _, v := range r.Values {
		if v != v {
			list = append(list, nil)
			continue
		}
		list = append(list, v)
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Row) UnmarshalJSON(text []byte) error {
	var list []any
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for i, x := range list {
		switch x := x.(type) {
		case string:
			r.Name = x
		case float64:
			r.Values = append(r.Values, x)
		case nil:
			if i > 0 {
				r.Values = append(r.Values, plot.None)
			}
		}
	}
	return nil
}

// add appends a row.
func (t *Table) add(name string, values ...float64) { t.Rows = append(t.Rows, Row{name, values}) }

// column is a column of numbers, the first is 0.
func (t *Table) column(k int) []float64 {
	var out []float64
	for _, r := range t.Rows {
		out = append(out, r.Values[k])
	}
	return out
}

// labels are the names of the rows.
func (t *Table) labels() []string {
	var out []string
	for _, r := range t.Rows {
		out = append(out, r.Name)
	}
	return out
}

// text is the table in columns.
func (t *Table) text() string {
	lines := [][]string{t.Columns}
	for _, r := range t.Rows {
		line := []string{r.Name}
		for _, v := range r.Values {
			if v != v {
				line = append(line, "-")
				continue
			}
			line = append(line, plot.Number(v))
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(t.Columns))
	for _, l := range lines {
		for i, s := range l {
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		line := ""
		for i, s := range l {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s))
			if i == 0 {
				line += s + pad
			} else {
				line += "  " + pad + s
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Text is the result for a person.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s)\n%s; %s, scale %g\n%s: %s\n\n", r.Figure, r.Title, r.Paper, r.Workload, r.On, r.Scale, "numbers", r.Cost)
	b.WriteString(r.Table.text())
	fmt.Fprintf(&b, "\npaper: %s\nhere:  %s\n", r.Claim, r.Ours)
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note:  %s\n", n)
	}
	return b.String()
}

// chart is a chart of columns of the table, over its rows.
func (r *Result) chart(y string, columns ...int) *plot.Chart {
	c := &plot.Chart{Title: r.Paper + ": " + r.Title, Note: r.Workload + "; " + r.On, Y: y, X: r.Table.Columns[0], Labels: r.Table.labels()}
	for _, k := range columns {
		c.Series = append(c.Series, plot.Series{Name: r.Table.Columns[k+1], Values: r.Table.column(k)})
	}
	return c
}
