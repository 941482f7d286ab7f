package parse

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// createType reads CREATE TYPE name AS ENUM ('a', 'b'), or of a query.
func (p *parser) createType(pos int) ast.Statement {
	s := &ast.CreateType{Pos: pos, IfNotExists: p.ifNotExists()}
	s.Name = p.qualified()
	p.expect(kAs)
	if !p.acceptWord("enum") {
		panic(diag.Unsupported(p.pos(), "CREATE TYPE that is not AS ENUM").WithHint("STRUCT(a INTEGER) and other types can be written where they are used"))
	}
	p.expect(tLParen)
	if p.kind().startsQuery() {
		s.Query = p.query()
		p.expect(tRParen)
		return s
	}
	for i := 0; p.kind() != tRParen; i++ {
		p.link(i)
		s.Labels = append(s.Labels, p.labelText())
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return s
}

// labelText reads a label of an enum.
func (p *parser) labelText() ast.Ident {
	l := ast.Ident{Name: p.text(), Pos: p.pos()}
	p.expect(tString)
	return l
}

// alterType reads ALTER TYPE name ADD VALUE …, RENAME VALUE … and RENAME TO ….
func (p *parser) alterType(pos int) ast.Statement {
	s := &ast.AlterEnum{Pos: pos, Name: p.qualified()}
	switch {
	case p.isWord("add") && p.at(1).is("value"):
		p.i += 2
		s.Kind, s.Exists = ast.AddLabel, p.ifNotExists()
		s.Label = p.labelText()
		switch {
		case p.acceptWord("before"):
			s.Before = true
			s.Beside = p.labelText()
		case p.acceptWord("after"):
			s.Beside = p.labelText()
		default:
			s.Beside.Pos = -1
		}
	case p.isWord("rename") && p.at(1).is("value"):
		p.i += 2
		s.Kind, s.Label = ast.RenameLabel, p.labelText()
		p.expect(kTo)
		s.To = p.labelText()
	case p.isWord("rename") && p.peek(1) == kTo:
		p.i += 2
		s.Kind, s.To = ast.RenameEnum, p.name()
	default:
		p.refuseKnown("ALTER TYPE … ", wordSet("add alter drop owner rename set"))
		p.unexpectedHint("ADD VALUE, RENAME VALUE and RENAME TO are what there is")
	}
	return s
}
