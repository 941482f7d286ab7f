package kelpie

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
)

// tableSQL is the statement that makes a table like t.
func tableSQL(t *catalog.Table) string {
	var lines []string
	for _, c := range t.Columns {
		line := QuoteIdent(c.Name) + " " + c.Type.String()
		if c.NotNull {
			line += " NOT NULL"
		}
		if c.Default != "" {
			line += " DEFAULT " + c.Default
		}
		lines = append(lines, line)
	}
	for i, key := range t.Keys {
		word := "UNIQUE"
		if strings.HasSuffix(t.KeyName(i), "_pkey") {
			word = "PRIMARY KEY"
		}
		var names []string
		for _, c := range key {
			names = append(names, t.Columns[c].Name)
		}
		lines = append(lines, word+" ("+quotedNames(names)+")")
	}
	return "CREATE TABLE " + QuoteIdent(t.Name) + " (\n  " + strings.Join(lines, ",\n  ") + "\n)"
}

// viewSQL is the statement that makes the view v.
func viewSQL(v *catalog.View) string {
	columns := ""
	if v.Columns != nil {
		columns = " (" + quotedNames(v.Columns) + ")"
	}
	return "CREATE VIEW " + QuoteIdent(v.Name) + columns + " AS " + v.SQL
}

func quotedNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = QuoteIdent(n)
	}
	return strings.Join(quoted, ", ")
}
