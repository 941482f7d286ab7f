package parse

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// Words that PostgreSQL or DuckDB know, and we do not yet. Whoever writes them made no mistake of syntax.

// knownStatements begin statements.
var knownStatements = wordSet(`attach checkpoint close cluster comment declare detach discard do export fetch force grant import
	install kill listen load lock move notify reassign refresh reindex replace revoke unlisten use`)

// knownObjects follow CREATE and DROP.
var knownObjects = wordSet(`aggregate cast collation conversion database domain event extension foreign global group language
	local materialized operator owned persistent policy procedure publication recursive role routine rule secret server
	statistics subscription tablespace text transform trigger type unique user`)

// pairs say little without the word that follows.
var pairs = wordSet("event force foreign global import local materialized owned recursive refresh unique")

// insteadOf says what to do without what a word stands for.
var insteadOf = func() map[string]string {
	hints := map[string]string{}
	for words, hint := range map[string]string{
		"attach detach use":             "there is one database, in memory: schemas (SET search_path = …) keep tables apart, and FROM 'x.parquet' reads files",
		"database":                      "there is one database, in memory: CREATE SCHEMA keeps tables apart",
		"checkpoint":                    "tables are in memory: nothing waits to be written",
		"cluster reindex":               "scans need no indexes and no order: nothing has to be done",
		"tablespace using":              "tables are in memory: there is no place to choose",
		"close declare fetch move":      "a result is read as a stream: run the query itself, with LIMIT and OFFSET for a part of it",
		"discard":                       "RESET ALL and DEALLOCATE ALL are what there is",
		"do language procedure routine": "there is no procedural language: statements are run one by one, and CREATE FUNCTION … LANGUAGE sql makes functions",
		"aggregate cast operator":       "CREATE MACRO and CREATE FUNCTION … LANGUAGE sql make functions",
		"conversion transform text":     "texts are UTF-8, and there is no search in texts but by patterns",
		"collation":                     "texts compare byte by byte, as with COLLATE \"C\"",
		"domain":                        "write the type, and a CHECK constraint where the column is",
		"export":                        "COPY t TO 't.parquet' writes a table",
		"import":                        "CREATE TABLE t AS FROM 't.parquet' reads a table",
		"force":                         "leave it out: tables are in memory, and nothing has to be installed",
		"extension install load":        "nothing has to be installed: what there is, is built in",
		"grant revoke owner role user":  "there are no users: whoever has the session may do everything",
		"group policy reassign owned":   "there are no users: whoever has the session may do everything",
		"default secret":                "there are no users, and no secrets that would let one in elsewhere",
		"kill":                          "Ctrl-C or the context of the call cancels a statement; SET statement_timeout bounds it",
		"listen notify unlisten":        "there are no messages between sessions",
		"lock":                          "a transaction sees a snapshot, and gets 40001 if another has changed the same rows",
		"materialized refresh":          "CREATE OR REPLACE TABLE … AS makes such a table anew",
		"replace":                       "INSERT OR REPLACE INTO is what DuckDB and we have",
		"recursive":                     "CREATE VIEW … AS WITH RECURSIVE … is the same",
		"rule trigger event":            "nothing runs by itself when rows change",
		"foreign server":                "FROM 'x.parquet', 'x.csv' and 'x.json' read files",
		"publication subscription":      "there are no replicas",
		"statistics":                    "statistics are kept by themselves; ANALYZE t brings them up to date",
		"system":                        "SET changes settings of a session, flags of the program those of all",
		"global local persistent":       "leave the word out",
		"set reset":                     "there are no parameters of storage",
		"enable disable validate":       "leave it out: constraints always hold, and there are no triggers and policies",
		"inherit no of":                 "write the columns of the other table, too",
		"replica":                       "there are no replicas",
	} {
		for _, w := range strings.Fields(words) {
			hints[w] = hint
		}
	}
	return hints
}()

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// refuseKnown leaves if such a word stands here.
func (p *parser) refuseKnown(before string, words map[string]bool) {
	t := p.tok()
	if word := strings.ToLower(p.source(t)); words[word] && t.kind != tString && !strings.HasPrefix(p.source(t), `"`) {
		what := before + word
		if next := p.at(1); pairs[word] && (next.kind.isName() || next.kind > kwFirst) {
			what += " " + p.source(next)
		}
		panic(diag.Unsupported(int(t.pos), "%s", strings.ToUpper(what)).WithHint("%s", insteadOf[word]))
	}
}

// refuse leaves at some words in a row, if they stand here.
func (p *parser) refuse(hint string, words ...string) { p.refuseAfter("", hint, words...) }

// refuseAfter is refuse where something before says more.
func (p *parser) refuseAfter(before, hint string, words ...string) {
	for i, w := range words {
		if !strings.EqualFold(p.source(p.at(i)), w) {
			return
		}
	}
	panic(diag.Unsupported(p.pos(), "%s%s", before, strings.ToUpper(strings.Join(words, " "))).WithHint("%s", hint))
}
