package parse

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// Words that PostgreSQL or DuckDB know, and we do not yet. Whoever writes them made no mistake of syntax.

// knownStatements begin statements.
var knownStatements = wordSet(`attach checkpoint close cluster comment declare detach discard do export fetch grant import
	install listen load lock move notify reassign refresh reindex revoke unlisten use`)

// knownObjects follow CREATE and DROP.
var knownObjects = wordSet(`aggregate cast collation conversion database domain event extension foreign global group language
	local materialized operator owned persistent policy procedure publication recursive role routine rule secret server
	statistics subscription tablespace text transform trigger type unique user`)

// pairs say little without the word that follows.
var pairs = wordSet("event foreign global import local materialized owned recursive refresh unique")

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
		panic(diag.Unsupported(int(t.pos), "%s", strings.ToUpper(what)))
	}
}
