package parse

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// commentKinds are what has comments, by the words that name it.
var commentKinds = map[string]string{"table": "table", "view": "view", "column": "column", "sequence": "sequence", "schema": "schema",
	"function": "function", "macro": "function", "routine": "function", "type": "type", "index": "index", "constraint": "constraint"}

// comment reads COMMENT ON.
func (p *parser) comment() ast.Statement {
	s := &ast.Comment{Pos: p.pos()}
	p.next()
	p.expect(kOn)
	word := p.text()
	if s.Kind = commentKinds[word]; s.Kind == "" {
		if !p.kind().isLabel() {
			p.unexpected()
		}
		panic(diag.Unsupported(p.pos(), "COMMENT ON %s", word).
			WithHint("tables, views, columns, sequences, schemas, functions, types, indexes and constraints have comments"))
	}
	p.next()
	if word == "macro" && p.kind() == kTable { // a macro that stands in FROM
		p.next()
	}
	s.Name = p.qualified()
	switch {
	case s.Kind == "function" && p.kind() == tLParen: // the types of its parameters: names are enough here
		for depth := 0; ; {
			switch p.kind() {
			case tLParen:
				depth++
			case tRParen:
				depth--
			case tSemi, tEOF:
				p.unexpected()
			}
			p.next()
			if depth == 0 {
				break
			}
		}
	case s.Kind == "constraint":
		p.expect(kOn)
		s.On = p.qualified()
	}
	p.expect(kIs)
	if p.accept(kNull) {
		return s
	}
	if p.kind() != tString {
		p.unexpected()
	}
	text := p.text()
	s.Text = &text
	p.next()
	return s
}
