package main

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie"
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
	words := append(strings.Fields(moreKeywords), kelpie.Keywords()...)
	slices.Sort(words)
	return slices.Compact(words)
}()

// candidates are the words that can stand at the cursor: columns of t after "t.", else columns, tables,
// functions and keywords. It does not parse: a statement that is being typed seldom can be.
func (s *shell) candidates(text string, pos int) (start int, words []string) {
	before := text[:pos]
	if strings.HasPrefix(before, `\`) && !strings.Contains(before, " ") {
		return 0, matching(before, shellCommands)
	}
	start = len(before)
	for start > 0 && wordByte(before[start-1]) {
		start--
	}
	prefix := before[start:]
	tables := s.session.Tables()
	if start > 0 && before[start-1] == '.' {
		return start, matching(prefix, memberColumns(tables, before[:start-1], text))
	}
	wantsTable := strings.HasPrefix(before, `\`) || slices.Contains(beforeTable, lastWord(before[:start]))
	var names []string
	for _, t := range tables {
		names = append(names, kelpie.QuoteIdent(t.Name))
		if wantsTable {
			continue
		}
		// Columns of tables that the statement names; of all tables as long as it names none.
		if mentions(text, t.Name) || !mentionsAny(text, tables) {
			for _, c := range t.Columns {
				names = append(names, kelpie.QuoteIdent(c.Name))
			}
		}
	}
	if wantsTable || prefix == "" { // a list of every keyword helps nobody
		return start, matching(prefix, names)
	}
	for _, w := range append(strings.Fields(functions), keywords...) {
		if prefix == strings.ToUpper(prefix) && prefix != strings.ToLower(prefix) {
			w = strings.ToUpper(w)
		}
		names = append(names, w)
	}
	return start, matching(prefix, names)
}

// beforeTable are the words after which a table must follow.
var beforeTable = []string{"from", "join", "into", "update", "describe", "truncate"}

// lastWord is the last word of a text, in lower case.
func lastWord(text string) string {
	words := strings.FieldsFunc(text, notWord)
	if len(words) == 0 {
		return ""
	}
	return strings.ToLower(words[len(words)-1])
}

func notWord(r rune) bool { return r < 0x80 && !wordByte(byte(r)) }

// matching keeps the words that begin with the prefix, in any case, each once.
func matching(prefix string, words []string) []string {
	var keep []string
	for _, w := range words {
		if len(w) >= len(prefix) && strings.EqualFold(w[:len(prefix)], prefix) {
			keep = append(keep, w)
		}
	}
	slices.Sort(keep)
	return slices.Compact(keep)
}

// memberColumns are the columns after "name.": of the table of that name, or of the one that has
// it as its alias, as in "lineitem l" or "lineitem as l".
func memberColumns(tables []kelpie.Table, before, line string) []string {
	start := len(before)
	for start > 0 && wordByte(before[start-1]) {
		start--
	}
	name := strings.ToLower(before[start:])
	words := strings.FieldsFunc(strings.ToLower(line), notWord)
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
	return slices.ContainsFunc(strings.FieldsFunc(line, notWord), func(w string) bool { return strings.EqualFold(w, name) })
}

func mentionsAny(line string, tables []kelpie.Table) bool {
	return slices.ContainsFunc(tables, func(t kelpie.Table) bool { return mentions(line, t.Name) })
}
