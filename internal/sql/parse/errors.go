package parse

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// unexpected leaves with the syntax error at the current token.
func (p *parser) unexpected() { p.unexpectedHint("") }

// unexpectedHint does so with a hint; without one it looks for a likely cause.
func (p *parser) unexpectedHint(hint string) {
	t := p.tok()
	if t.kind == tErr {
		panic(p.lex.err)
	}
	if hint == "" {
		hint = p.guess()
	}
	if t.kind == tEOF {
		panic(diag.Errorf(diag.SyntaxError, int(t.pos), "syntax error at end of input").WithHint(hint))
	}
	panic(diag.Errorf(diag.SyntaxError, int(t.pos), "syntax error at or near \"%s\"", clip(p.source(t))).WithHint(hint))
}

// source is the token as written.
func (p *parser) source(t *token) string { return p.lex.text[t.pos:t.end] }

// fail leaves with an error that is not about a single token.
func (p *parser) fail(pos int, code, format string, args ...any) {
	panic(diag.Errorf(code, pos, format, args...))
}

// statementWords begin statements; clauseWords continue them.
var (
	statementWords = strings.Fields(`SELECT WITH FROM VALUES INSERT UPDATE DELETE CREATE DROP DESCRIBE SHOW SET RESET
		COPY EXPLAIN CALL BEGIN START COMMIT ROLLBACK ABORT PREPARE EXECUTE DEALLOCATE TRUNCATE TABLE`)
	clauseWords = strings.Fields(`SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET UNION INTERSECT EXCEPT
		JOIN LEFT RIGHT INNER OUTER CROSS USING VALUES WINDOW QUALIFY DISTINCT BETWEEN LIKE`)
)

// guess looks for the cause of a syntax error at the current token. It may be slow:
// it runs once, on the way out.
func (p *parser) guess() string {
	t := p.tok()
	if p.i == 0 || p.lex.toks[p.i-1].kind == tSemi {
		if t.kind == tIdent {
			if w := diag.Suggest(t.text, statementWords); w != "" && !strings.EqualFold(w, t.text) {
				return "did you mean " + w + "?"
			}
		}
		return ""
	}
	prev := &p.lex.toks[p.i-1]
	if prev.kind == tComma && (t.kind == kFrom || t.kind == tRParen || t.kind == kWhere) {
		return "remove the comma before it"
	}
	// A misspelled clause word has usually been taken for an alias, so that the
	// error shows at the word after it: select a form t.
	for _, c := range []*token{t, prev} {
		if c.kind != tIdent || len(c.text) < 3 {
			continue
		}
		if w := diag.Suggest(c.text, clauseWords); w != "" && !strings.EqualFold(w, c.text) && near(c.text, w) {
			return "did you mean " + w + " instead of \"" + p.source(c) + "\"?"
		}
	}
	if open := p.unclosed(); open >= 0 && (t.kind == tEOF || t.kind == tSemi) {
		line, col := diag.LineCol(p.lex.text, open)
		return "the parenthesis opened at line " + itoa(line) + ", column " + itoa(col) + " is not closed"
	}
	if t.kind > kwFirst && classOf[t.kind] >= ast.TypeFunc {
		return `"` + t.text + `" is a reserved word; as a name it needs double quotes`
	}
	return ""
}

// near keeps the hints honest: same length give or take one, same letters but two.
func near(a, b string) bool {
	d := len(a) - len(b)
	return d >= -1 && d <= 1 && strings.EqualFold(a[:1], b[:1])
}

// unclosed finds the last parenthesis that is open at the current token, or -1.
func (p *parser) unclosed() int {
	var open []int
	for i := range p.i {
		switch t := &p.lex.toks[i]; t.kind {
		case tLParen:
			open = append(open, int(t.pos))
		case tRParen:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}
