package main

import (
	"slices"
	"strings"

	"github.com/reeflective/readline"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// Words that begin statements or clauses but are not reserved, so that the parser's list of
// keywords does not have them.
const moreKeywords = `alter begin by call commit copy deallocate delete describe drop execute explain filter first
	following if ilike insert last materialized nulls over partition preceding prepare recursive replace reset
	rollback rollup cube sets rows set show tables temp temporary truncate unbounded update values view within`

// Functions that are offered; the engine knows more.
const functions = `abs avg ceil coalesce count current_date date_part date_trunc extract floor generate_series
	greatest least length lower max min nullif power round sqrt stddev strpos substring sum trim upper variance`

// keywords are all keywords in lower case, sorted.
var keywords = func() []string {
	words := strings.Fields(moreKeywords)
	ast.EachKeyword(func(w string, _ ast.WordClass) { words = append(words, w) })
	slices.Sort(words)
	return slices.Compact(words)
}()

// completions offers what can stand at the cursor: columns of t after "t.", else columns and tables,
// then functions and keywords. It does not parse: while a statement is typed it seldom can.
func (s *shell) completions(line []rune, cursor int) readline.Completions {
	before := string(line[:min(cursor, len(line))])
	if strings.HasPrefix(before, `\`) && !strings.Contains(before, " ") {
		c := readline.CompleteValues(shellCommands...)
		c.PREFIX = before
		return c
	}
	start := len(before)
	for start > 0 && wordByte(before[start-1]) {
		start--
	}
	prefix := before[start:]
	tables := s.db.Tables()
	if start > 0 && before[start-1] == '.' {
		return completion(prefix, memberColumns(tables, before[:start-1], string(line)), "column")
	}
	var names, columns []string
	for _, t := range tables {
		names = append(names, kelpie.QuoteIdent(t.Name))
		// Columns of tables that the statement names; of all tables as long as it names none.
		if mentions(string(line), t.Name) || !mentionsAny(string(line), tables) {
			for _, c := range t.Columns {
				columns = append(columns, kelpie.QuoteIdent(c.Name))
			}
		}
	}
	words := append(strings.Fields(functions), keywords...)
	if prefix != "" && prefix == strings.ToUpper(prefix) && prefix != strings.ToLower(prefix) {
		for i, w := range words {
			words[i] = strings.ToUpper(w)
		}
	}
	all := completion(prefix, columns, "column").Merge(completion(prefix, names, "table"))
	if prefix != "" { // a list of every keyword helps nobody
		all = all.Merge(completion(prefix, words, "keyword"))
	}
	all.PREFIX = prefix
	return all
}

// completion keeps the values that begin with the prefix, each once, under a heading.
func completion(prefix string, values []string, tag string) readline.Completions {
	var keep []string
	for _, v := range values {
		if len(v) >= len(prefix) && strings.EqualFold(v[:len(prefix)], prefix) {
			keep = append(keep, v)
		}
	}
	slices.Sort(keep)
	c := readline.CompleteValues(slices.Compact(keep)...).Tag(tag + "s")
	c.PREFIX = prefix
	return c
}

// memberColumns are the columns after "name.": of the table of that name, or of the one that has
// it as its alias, as in "lineitem l" or "lineitem as l".
func memberColumns(tables []kelpie.Table, before, line string) []string {
	start := len(before)
	for start > 0 && wordByte(before[start-1]) {
		start--
	}
	name := strings.ToLower(before[start:])
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r > 0x7f || !wordByte(byte(r)) })
	for i, w := range words {
		if w == name && i > 0 {
			table := words[i-1]
			if table == "as" && i > 1 {
				table = words[i-2]
			}
			if slices.ContainsFunc(tables, func(t kelpie.Table) bool { return strings.ToLower(t.Name) == table }) {
				name = table
				break
			}
		}
	}
	var out []string
	for _, t := range tables {
		if strings.ToLower(t.Name) == name {
			for _, c := range t.Columns {
				out = append(out, kelpie.QuoteIdent(c.Name))
			}
		}
	}
	return out
}

func mentions(line, name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(line, func(r rune) bool { return r <= 0x7f && !wordByte(byte(r)) }),
		func(w string) bool { return strings.EqualFold(w, name) })
}

func mentionsAny(line string, tables []kelpie.Table) bool {
	return slices.ContainsFunc(tables, func(t kelpie.Table) bool { return mentions(line, t.Name) })
}
