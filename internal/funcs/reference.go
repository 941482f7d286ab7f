package funcs

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// Reference writes docs/functions.md. compiled says which operations there is machine code for; aggregates are
// those that the binder knows, by name, with what each computes; so are windows, which need OVER.
func Reference(compiled func(plan.Op) bool, aggregates, windows []Aggregate) string {
	var b strings.Builder
	names := map[string]bool{}
	for i := range Rows {
		names[Rows[i].Name] = true
	}
	for _, a := range aggregates {
		names[a.Name] = true
	}
	for _, w := range windows {
		names[w.Name] = true
	}
	fmt.Fprintf(&b, `# Functions and operators

%d names. This page is written from the registry (internal/funcs) by a test; the examples are run by another. Answers are
PostgreSQL's where it has the function, DuckDB's otherwise. An argument that is NULL makes the result NULL, unless
"NULL" says that the function looks at it.

*Runs as* is where a function is computed. Machine code is part of the query's own; "Go" are values that Go computes,
a block of rows at a time, where the pipeline is cut for it, on GPUs, too: EXPLAIN shows that as Compute. "expands" is made
of other operations.
`, len(names))
	for _, g := range Groups {
		fmt.Fprintf(&b, "\n## %s\n\n| function | result | runs as | example |\n|---|---|---|---|\n", g)
		for i := range Rows {
			if r := &Rows[i]; r.Group == g && (r.Example != "" || i == index[r.Name]) {
				runs := "expands"
				switch {
				case r.Fn != nil && !r.Fn.Strict:
					runs = "Go, NULL"
				case r.Fn != nil, r.Op != plan.OpNone && !compiled(r.Op):
					runs = "Go"
				case r.Op != plan.OpNone:
					runs = "machine code"
				}
				expr, value, ok := strings.Cut(r.Example, " → ")
				example := ""
				if ok {
					example = fmt.Sprintf("`%s` → `%s`", expr, value)
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", escaped(r.Signature()), r.ResultName(), runs, escaped(example))
			}
		}
	}
	b.WriteString("\n## Aggregates\n\n| aggregate | computes |\n|---|---|\n")
	for _, a := range aggregates {
		fmt.Fprintf(&b, "| `%s(%s)` | %s |\n", a.Name, a.Args, a.Doc)
	}
	b.WriteString(`
## Window functions

All aggregates, and these, are computed with OVER (PARTITION BY … ORDER BY … frame), in Go, over rows that were sorted:
EXPLAIN shows that as Window. The frame is ROWS, RANGE or GROUPS BETWEEN … AND … with EXCLUDE. lag, lead, first_value,
last_value and nth_value take IGNORE NULLS.

| function | computes |
|---|---|
`)
	for _, w := range windows {
		fmt.Fprintf(&b, "| `%s(%s)` | %s |\n", w.Name, escaped(w.Args), w.Doc)
	}
	return b.String()
}

// Aggregate is an aggregate of the reference.
type Aggregate struct{ Name, Args, Doc string }

// escaped is a text for a cell of a table.
func escaped(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// Signature is the row as a call: "lpad(text, bigint [, text])", or an operator between its operands.
func (r *Row) Signature() string {
	letters, least, more := r.Params()
	var types []string
	for i := range len(letters) {
		types = append(types, Letters[letters[i]])
	}
	if r.Operator() {
		if len(types) == 1 {
			return r.Name + " " + types[0]
		}
		return types[0] + " " + r.Name + " " + types[1]
	}
	if r.bare() {
		return r.Name
	}
	var b strings.Builder
	b.WriteString(r.Name + "(")
	for i, t := range types {
		switch {
		case i == least && i > 0:
			b.WriteString(" [, ")
		case i == least:
			b.WriteString("[")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(t)
	}
	if least < len(types) {
		b.WriteString("]")
	}
	if more {
		b.WriteString(", …")
	}
	b.WriteString(")")
	return b.String()
}

// Operator reports what is written between its operands.
func (r *Row) Operator() bool {
	c := r.Name[0]
	return (c < 'a' || c > 'z') || strings.Contains(r.Name, " ") || r.Name == "like"
}

// bare reports the functions of the standard that are written without parentheses.
func (r *Row) bare() bool {
	return r.Group == System && (strings.HasPrefix(r.Name, "current_") && r.Name != "current_database" || strings.HasPrefix(r.Name, "local") ||
		r.Name == "session_user" || r.Name == "user")
}

func (r *Row) ResultName() string {
	if r.Result != tSame {
		return r.Result.SQLName()
	}
	if r.Fn != nil {
		return "as its arguments"
	}
	return ""
}
