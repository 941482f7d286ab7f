package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie"
)

// Words that begin statements or clauses but are not reserved, so that the parser's list of
// keywords does not have them.
const moreKeywords = `alter begin by call commit copy deallocate delete describe drop execute explain filter first
	following if ilike insert last materialized nulls over partition preceding prepare recursive replace reset
	rollback rollup cube sets rows set show tables temp temporary truncate unbounded update values view within`

// functions are the names of functions that are words, and what looks like one.
var functions = sync.OnceValue(func() []string {
	names := []string{"extract", "generate_series"}
	for _, f := range kelpie.Functions() {
		if strings.IndexFunc(f.Name, notWord) < 0 {
			names = append(names, f.Name)
		}
	}
	return names
})

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
	if start, words, ok := commandCandidates(text, pos); ok {
		return start, words
	}
	if quote := openQuote(before); quote >= 0 {
		return quote + 1, fileNames(before[quote+1:], closing(text[pos:], "'"))
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
	wantsTable := commandLine(before) >= 0 || slices.Contains(beforeTable, lastWord(before[:start]))
	var names []string
	for _, t := range tables {
		names = append(names, t.Qualified())
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
	for _, w := range slices.Concat(functions(), keywords) {
		if prefix == strings.ToUpper(prefix) && prefix != strings.ToLower(prefix) {
			w = strings.ToUpper(w)
		}
		names = append(names, w)
	}
	return start, matching(prefix, names)
}

// commandLine is where a command begins that the cursor is in, -1 if it is in none.
func commandLine(before string) int {
	i := strings.LastIndexByte(before, '\n') + 1
	i += len(before[i:]) - len(strings.TrimLeft(before[i:], " \t"))
	if i < len(before) && (before[i] == '\\' || before[i] == '.' && blank(before[:i])) {
		return i
	}
	return -1
}

// commandCandidates are the names of commands, and the arguments of those that have files.
func commandCandidates(text string, pos int) (start int, words []string, ok bool) {
	before := text[:pos]
	at := commandLine(before)
	if at < 0 {
		return 0, nil, false
	}
	name, arg, has := strings.Cut(before[at:], " ")
	if !has {
		var names []string
		for _, c := range shellCommands {
			names = append(names, c.name, c.dot)
		}
		return at, matching(name, names), true
	}
	arg = strings.TrimLeft(arg, " '")
	if word := strings.LastIndexByte(arg, ' '); word >= 0 && openQuote(before) < 0 {
		arg = arg[word+1:]
	}
	for _, c := range shellCommands {
		if c.file && (name == c.name || name == c.dot) && !(name == `\copy` && commandTable(before[at:])) {
			return pos - len(arg), fileNames(arg, ""), true
		}
	}
	return 0, nil, false
}

// commandTable reports that \copy has no file yet: a table comes first.
func commandTable(command string) bool { return len(strings.Fields(command+"x")) <= 2 }

// openQuote is where the string begins that the text ends in, -1 if it ends in none.
func openQuote(text string) int {
	for i := 0; i < len(text); {
		end, kind := token(text, i)
		if end < 0 {
			if kind == tokenString && text[i] == '\'' {
				return i
			}
			return -1
		}
		i = end
	}
	return -1
}

// closing is what must follow a completed file name.
func closing(after, quote string) string {
	if strings.HasPrefix(after, quote) {
		return ""
	}
	return quote
}

// fileNames are the files that a path may go on with. Folders end with a slash, others with what must follow them.
func fileNames(prefix, end string) []string {
	dir, base := filepath.Split(prefix)
	list, err := os.ReadDir(atHome(cmp.Or(dir, ".")))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range list {
		name := e.Name()
		if !strings.HasPrefix(name, base) || base == "" && name[0] == '.' {
			continue
		}
		if info, err := os.Stat(filepath.Join(atHome(dir), name)); err == nil && info.IsDir() {
			out = append(out, dir+name+"/")
		} else {
			out = append(out, dir+strings.ReplaceAll(name, "'", "''")+end)
		}
	}
	return out
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
		if w != "" && len(w) >= len(prefix) && strings.EqualFold(w[:len(prefix)], prefix) {
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
