package parse

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

func (p *parser) insert(with *ast.With) ast.Statement {
	s := &ast.Insert{Pos: p.pos(), With: with}
	p.next()
	p.expect(kInto)
	s.Table = p.qualified()
	if p.accept(kAs) {
		s.Alias = p.name()
	}
	switch {
	case p.kind() == kDefault && p.peek(1) == kValues:
		p.next()
		p.next()
		s.DefaultValues = true
	default:
		// A parenthesis holds either the columns or the query.
		if p.kind() == tLParen && !p.queryAhead() {
			s.Columns = p.nameList()
		}
		if !p.queryAhead() {
			p.unexpected()
		}
		s.Query = p.query()
	}
	if p.kind() == kOn && p.at(1).is("conflict") {
		panic(diag.Unsupported(p.pos(), "INSERT … ON CONFLICT"))
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) returning() []ast.SelectItem {
	if !p.accept(kReturning) {
		return nil
	}
	return p.selectItems()
}

// target reads the table of UPDATE and DELETE and its alias; stop is the word that
// may follow and is therefore no alias.
func (p *parser) target(stop string) (ast.Name, ast.Ident) {
	p.accept(kOnly)
	name := p.qualified()
	p.accept(tStar)
	var alias ast.Ident
	if p.accept(kAs) || p.kind().isName() && !p.isWord(stop) {
		alias = p.name()
	}
	return name, alias
}

func (p *parser) update(with *ast.With) ast.Statement {
	s := &ast.Update{Pos: p.pos(), With: with}
	p.next()
	s.Table, s.Alias = p.target("set")
	p.expectWord("set")
	for {
		var a ast.Assignment
		if p.kind() == tLParen {
			a.Columns = p.nameList()
		} else {
			a.Columns = []ast.Ident{p.name()}
		}
		p.expect(tEq)
		a.X = p.exprOrDefault()
		s.Set = append(s.Set, a)
		if !p.accept(tComma) {
			break
		}
	}
	if p.accept(kFrom) {
		s.From = p.fromList()
	}
	if p.accept(kWhere) {
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) delete(with *ast.With) ast.Statement {
	s := &ast.Delete{Pos: p.pos(), With: with}
	p.next()
	p.expect(kFrom)
	s.Table, s.Alias = p.target("")
	if p.accept(kUsing) {
		s.Using = p.fromList()
	}
	if p.accept(kWhere) {
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) truncate() ast.Statement {
	s := &ast.Truncate{Pos: p.pos()}
	p.next()
	p.accept(kTable)
	p.accept(kOnly)
	s.Tables = p.names()
	if !p.acceptWords("restart", "identity") {
		p.acceptWords("continue", "identity")
	}
	if !p.acceptWord("cascade") {
		p.acceptWord("restrict")
	}
	return s
}

// copy reads COPY t [(columns)] FROM | TO file and COPY (query) TO file.
func (p *parser) copy() ast.Statement {
	s := &ast.Copy{Pos: p.pos()}
	p.next()
	if p.kind() == tLParen {
		s.Query = p.queryInParens()
	} else {
		s.Table = p.qualified()
		s.Columns = p.optNameList()
	}
	switch {
	case p.kind() == kFrom && s.Query == nil:
		p.next()
		s.From = true
	case p.kind() == kFrom:
		p.unexpectedHint("a query can only be copied TO a file")
	default:
		p.expect(kTo)
	}
	s.FilePos = p.pos()
	switch {
	case p.kind() == tString:
		s.File = p.text()
		p.next()
	case s.From && p.acceptWord("stdin"), !s.From && p.acceptWord("stdout"):
		s.Stdio = true
	default:
		p.unexpectedHint("the file name stands in single quotes")
	}
	p.accept(kWith)
	if p.kind() == tLParen {
		s.Options = p.options()
	} else {
		s.Options = p.oldCopyOptions()
	}
	return s
}

// oldCopyOptions reads the options as PostgreSQL wrote them before version 9, which
// scripts still do: CSV HEADER DELIMITER AS '|' NULL ”.
func (p *parser) oldCopyOptions() []ast.Option {
	var list []ast.Option
	for {
		p.accept(kUsing) // USING DELIMITERS '|'
		o := ast.Option{Pos: p.pos(), Name: p.text()}
		switch {
		case p.isWord("csv"), p.isWord("text"), p.isWord("parquet"), p.kind() == kwOtherTypeFunc && o.Name == "binary":
			o.Name, o.Value = "format", p.literal(ast.LitString)
		case p.isWord("header"):
			p.next()
		case p.isWord("delimiter"), p.isWord("delimiters"), p.isWord("quote"), p.isWord("escape"), p.isWord("encoding"),
			p.kind() == kNull:
			p.next()
			p.accept(kAs)
			if p.kind() != tString {
				p.unexpected()
			}
			if o.Name == "delimiters" {
				o.Name = "delimiter"
			}
			o.Value = p.literal(ast.LitString)
		default:
			return list
		}
		list = append(list, o)
	}
}
