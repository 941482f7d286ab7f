package parse

import "github.com/kelpiedb/kelpie/internal/sql/ast"

// create reads CREATE [OR REPLACE] [TEMP] TABLE | VIEW.
func (p *parser) create() ast.Statement {
	pos := p.expect(kCreate)
	replace := false
	if p.accept(kOr) {
		p.expectWord("replace")
		replace = true
	}
	temp := p.acceptWord("temp") || p.acceptWord("temporary")
	if !temp {
		p.acceptWord("unlogged")
	}
	switch {
	case p.accept(kTable):
		return p.createTable(&ast.CreateTable{Pos: pos, OrReplace: replace, Temp: temp})
	case p.acceptWord("view"):
		return p.createView(&ast.CreateView{Pos: pos, OrReplace: replace, Temp: temp})
	}
	p.refuseKnown("CREATE ", knownObjects)
	p.unexpectedHint("CREATE TABLE and CREATE VIEW are what can be created")
	return nil
}

func (p *parser) ifNotExists() bool {
	if !p.isWord("if") || p.peek(1) != kNot {
		return false
	}
	p.next()
	p.next()
	p.expect(kExists)
	return true
}

func (p *parser) createView(s *ast.CreateView) ast.Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.qualified()
	s.Columns = p.optNameList()
	p.expect(kAs)
	start := p.pos()
	s.Query = p.query()
	s.QueryText = p.lex.text[start:p.lastEnd()]
	return s
}

func (p *parser) createTable(s *ast.CreateTable) ast.Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.qualified()
	if p.kind() == tLParen {
		// (a, b) AS query has names only; (a int) has columns.
		if k := p.peek(2); p.peek(1).isName() && (k == tComma || k == tRParen) {
			s.AsColumns = p.nameList()
			if p.kind() != kAs {
				p.unexpectedHint("columns need a type, or AS with a query")
			}
		} else {
			p.tableElements(s)
			return s
		}
	}
	p.expect(kAs)
	s.As = p.query()
	if p.kind() == kWith && (p.at(1).is("data") || p.at(1).is("no") && p.at(2).is("data")) {
		p.next()
		s.NoData = p.acceptWord("no")
		p.expectWord("data")
	}
	return s
}

// tableElements reads the columns and constraints of CREATE TABLE.
func (p *parser) tableElements(s *ast.CreateTable) {
	p.expect(tLParen)
	for {
		switch p.kind() {
		case kConstraint, kPrimary, kUnique, kForeign, kCheck:
			s.Constraints = append(s.Constraints, p.tableConstraint())
		default:
			s.Columns = append(s.Columns, p.columnDef())
		}
		if !p.more() {
			break
		}
	}
	p.expect(tRParen)
}

func (p *parser) columnDef() ast.ColumnDef {
	c := ast.ColumnDef{Pos: p.pos(), Name: p.name()}
	c.Type = p.typeName()
	for {
		if p.accept(kConstraint) {
			p.name() // a column constraint's name is read and forgotten
		}
		switch p.kind() {
		case kNot:
			p.next()
			p.expect(kNull)
			c.NotNull = true
		case kNull:
			p.next()
		case kPrimary:
			p.next()
			p.expectWord("key")
			c.PrimaryKey, c.NotNull = true, true
		case kUnique:
			p.next()
			c.Unique = true
		case kDefault:
			p.next()
			c.Default = p.exprPrec(precCompare) // stops before NOT NULL
		case kCheck:
			p.next()
			c.Check = p.parenExpr()
		case kReferences:
			c.References = p.references()
		case kCollate:
			p.next()
			p.qualified()
		default:
			return c
		}
	}
}

func (p *parser) parenExpr() ast.Expr {
	p.expect(tLParen)
	e := p.expr()
	p.expect(tRParen)
	return e
}

func (p *parser) tableConstraint() ast.Constraint {
	c := ast.Constraint{Pos: p.pos()}
	if p.accept(kConstraint) {
		c.Name = p.name()
	}
	switch {
	case p.accept(kPrimary):
		p.expectWord("key")
		c.Kind, c.Columns = ast.PrimaryKey, p.nameList()
	case p.accept(kUnique):
		c.Kind, c.Columns = ast.Unique, p.nameList()
	case p.accept(kForeign):
		p.expectWord("key")
		c.Kind, c.Columns = ast.ForeignKey, p.nameList()
		c.References = p.references()
	case p.accept(kCheck):
		c.Kind, c.Check = ast.Check, p.parenExpr()
	default:
		p.unexpected()
	}
	return c
}

// references reads REFERENCES t [(columns)] and skips what to do on changes.
func (p *parser) references() *ast.References {
	p.expect(kReferences)
	r := &ast.References{Table: p.qualified(), Columns: p.optNameList()}
	for {
		switch {
		case p.kind() == kOn && (p.at(1).is("delete") || p.at(1).is("update")):
			p.i += 2
			switch {
			case p.acceptWords("no", "action"), p.acceptWord("cascade"), p.acceptWord("restrict"):
			case p.acceptWord("set"):
				if !p.accept(kNull) {
					p.expect(kDefault)
				}
			default:
				p.unexpected()
			}
		case p.isWord("match"):
			p.next()
			p.label()
		case p.accept(kDeferrable):
		case p.kind() == kNot && p.peek(1) == kDeferrable:
			p.i += 2
		default:
			return r
		}
	}
}

func (p *parser) drop() ast.Statement {
	s := &ast.Drop{Pos: p.pos()}
	p.next()
	switch {
	case p.accept(kTable):
	case p.acceptWord("view"):
		s.Kind = ast.DropView
	default:
		p.refuseKnown("DROP ", knownObjects)
		p.unexpectedHint("DROP TABLE and DROP VIEW are what can be dropped")
	}
	if p.isWord("if") && p.peek(1) == kExists {
		p.i += 2
		s.IfExists = true
	}
	s.Names = p.names()
	if p.acceptWord("cascade") {
		s.Cascade = true
	} else {
		p.acceptWord("restrict")
	}
	return s
}
