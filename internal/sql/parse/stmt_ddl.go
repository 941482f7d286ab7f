package parse

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

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
	case p.isWord("sequence"):
		p.next()
		return p.sequence(&ast.Sequence{Pos: pos, OrReplace: replace, Temp: temp})
	case p.isWord("macro"), p.isWord("function"):
		return p.createMacro(&ast.CreateMacro{Pos: pos, OrReplace: replace, Temp: temp})
	case !replace && !temp && p.acceptWord("type"):
		return p.createType(pos)
	case !replace && !temp && p.acceptWord("schema"):
		return p.createSchema(pos)
	case !replace && !temp && (p.isWord("index") || p.kind() == kUnique && p.at(1).is("index")):
		return p.createIndex(pos)
	}
	p.refuseKnown("CREATE ", knownObjects)
	p.unexpectedHint("tables, views, indexes, schemas, sequences, types, macros and functions are what can be created")
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
	p.refuseStorage()
	if p.kind() == tLParen {
		// (a, b) AS query has names only; (a int) has columns.
		if k := p.peek(2); p.peek(1).isName() && (k == tComma || k == tRParen) {
			s.AsColumns = p.nameList()
			p.onCommit(s)
			if p.kind() != kAs {
				p.unexpectedHint("columns need a type, or AS with a query")
			}
		} else {
			p.tableElements(s)
			p.refuseStorage()
			p.onCommit(s)
			return s
		}
	}
	p.onCommit(s)
	p.expect(kAs)
	s.As = p.query()
	if p.kind() == kWith && (p.at(1).is("data") || p.at(1).is("no") && p.at(2).is("data")) {
		p.next()
		s.NoData = p.acceptWord("no")
		p.expectWord("data")
	}
	return s
}

// refuseStorage leaves where PostgreSQL says how a table is stored, or whose columns it has.
func (p *parser) refuseStorage() {
	refuse := func(hint string, words ...string) { p.refuseAfter("CREATE TABLE … ", hint, words...) }
	refuse("tables need no partitions: scans leave segments out by the values that they have", "partition")
	refuse("write the columns of the other table, too", "inherits")
	refuse(insteadOf["tablespace"], "tablespace")
	refuse(insteadOf["tablespace"], "using")
	refuse(insteadOf["reset"], "with")
}

// onCommit reads what becomes of a temporary table at the end of a transaction.
func (p *parser) onCommit(s *ast.CreateTable) {
	if p.kind() != kOn || !p.at(1).is("commit") {
		return
	}
	if !s.Temp {
		panic(diag.Errorf("42P16", p.pos(), "ON COMMIT can only be used on temporary tables"))
	}
	p.next()
	p.next()
	switch {
	case p.acceptWords("preserve", "rows"):
	case p.acceptWords("delete", "rows"):
		s.OnCommit = "delete"
	case p.acceptWord("drop"):
		s.OnCommit = "drop"
	default:
		p.unexpected()
	}
}

// tableElements reads the columns and constraints of CREATE TABLE.
func (p *parser) tableElements(s *ast.CreateTable) {
	p.expect(tLParen)
	for {
		switch p.kind() {
		case kConstraint, kPrimary, kUnique, kForeign, kCheck:
			s.Constraints = append(s.Constraints, p.tableConstraint())
		case kLike:
			s.Columns = append(s.Columns, p.likeTable())
		default:
			s.Columns = append(s.Columns, p.columnDef())
		}
		if !p.more() {
			break
		}
	}
	p.expect(tRParen)
}

// likeTable reads LIKE t [INCLUDING | EXCLUDING what …].
func (p *parser) likeTable() ast.ColumnDef {
	c := ast.ColumnDef{Pos: p.pos()}
	p.next()
	c.Like = p.qualified()
	all := []string{"defaults", "generated", "identity", "constraints", "indexes", "comments"}
	for p.isWord("including") || p.isWord("excluding") {
		including := p.isWord("including")
		p.next()
		word := p.text()
		what := []string{word}
		switch {
		case p.kind() == kAll:
			what = all
		case word == "storage" || word == "statistics" || word == "compression": // of which there is nothing to copy
			what = nil
		case !slices.Contains(all, word):
			p.unexpected()
		}
		p.next()
		for _, w := range what {
			c.Including = slices.DeleteFunc(c.Including, func(have string) bool { return have == w })
			if including {
				c.Including = append(c.Including, w)
			}
		}
	}
	return c
}

func (p *parser) columnDef() ast.ColumnDef {
	c := ast.ColumnDef{Pos: p.pos(), Name: p.name()}
	if p.kind() != kAs && !p.isWord("generated") { // of a generated column DuckDB needs no type
		c.Type = p.typeName()
	}
	for {
		pos := p.pos()
		var name ast.Ident
		if p.accept(kConstraint) {
			name = p.name()
		}
		keyed := func(kind ast.ConstraintKind) {
			c.Constraints = append(c.Constraints, ast.Constraint{Pos: pos, Name: name, Kind: kind, Columns: []ast.Ident{c.Name}})
		}
		switch {
		case p.kind() == kNot:
			p.next()
			p.expect(kNull)
			c.NotNull = true
		case p.kind() == kNull:
			p.next()
		case p.kind() == kPrimary:
			p.next()
			p.expectWord("key")
			c.NotNull = true
			if name.Empty() {
				c.PrimaryKey = true
			} else {
				keyed(ast.PrimaryKey)
			}
			p.constraintEnd()
		case p.kind() == kUnique:
			p.next()
			if name.Empty() {
				c.Unique = true
			} else {
				keyed(ast.Unique)
			}
			p.constraintEnd()
		case p.kind() == kDefault:
			p.next()
			c.Default = p.exprPrec(precCompare) // stops before NOT NULL
		case p.kind() == kCheck:
			p.next()
			keyed(ast.Check)
			c.Constraints[len(c.Constraints)-1].Check = p.parenExpr()
			p.constraintEnd()
		case p.kind() == kReferences:
			keyed(ast.ForeignKey)
			c.Constraints[len(c.Constraints)-1].References = p.references()
		case p.kind() == kCollate:
			p.next()
			p.qualified()
		case p.isWord("generated"), p.kind() == kAs:
			p.generated(&c)
		default:
			if !name.Empty() {
				p.unexpected()
			}
			return c
		}
	}
}

// generated reads GENERATED ALWAYS AS (x) STORED, GENERATED ALWAYS | BY DEFAULT AS IDENTITY, and DuckDB's AS (x).
func (p *parser) generated(c *ast.ColumnDef) {
	byDefault := false
	if p.acceptWord("generated") {
		if p.acceptWord("by") {
			p.expect(kDefault)
			byDefault = true
		} else {
			p.expectWord("always")
		}
	}
	p.expect(kAs)
	if p.kind() == tLParen {
		if byDefault {
			p.unexpectedHint("an expression is GENERATED ALWAYS")
		}
		c.Generated = p.parenExpr()
		if !p.acceptWord("stored") {
			p.acceptWord("virtual") // which makes no difference to who reads it
		}
		return
	}
	p.expectWord("identity")
	c.Identity = ast.IdentityAlways
	if byDefault {
		c.Identity = ast.IdentityByDefault
	}
	c.NotNull = true
	if p.accept(tLParen) {
		c.Sequence = p.sequenceOptions()
		p.expect(tRParen)
	}
}

// constraintEnd reads what may follow a constraint and says nothing new; what it cannot honor it refuses.
func (p *parser) constraintEnd() {
	for {
		switch {
		case p.isWord("match"):
			if !p.at(1).is("simple") {
				panic(diag.Unsupported(p.pos(), "MATCH FULL and MATCH PARTIAL"))
			}
			p.i += 2
		case p.kind() == kDeferrable || p.tok().text == "initially" && p.at(1).is("deferred"):
			panic(diag.Unsupported(p.pos(), "a constraint that is checked later").WithHint("constraints are checked at the end of each statement"))
		case p.kind() == kNot && p.peek(1) == kDeferrable:
			p.i += 2
		case p.tok().text == "initially" && p.at(1).is("immediate"):
			p.i += 2
		case p.isWord("no") && p.at(1).is("inherit"):
			p.i += 2
		default:
			return
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
		p.refuseKnown("", wordSet("exclude"))
		p.unexpected()
	}
	p.constraintEnd()
	return c
}

// references reads REFERENCES t [(columns)] and what to do on changes.
func (p *parser) references() *ast.References {
	p.expect(kReferences)
	r := &ast.References{Table: p.qualified(), Columns: p.optNameList()}
	for {
		p.constraintEnd()
		if p.kind() != kOn || !p.at(1).is("delete") && !p.at(1).is("update") {
			return r
		}
		to := &r.OnDelete
		if p.at(1).is("update") {
			to = &r.OnUpdate
		}
		p.i += 2
		switch {
		case p.acceptWords("no", "action"):
			*to = ast.NoAction
		case p.acceptWord("cascade"):
			*to = ast.Cascade
		case p.acceptWord("restrict"):
			*to = ast.Restrict
		case p.acceptWord("set"):
			*to = ast.SetNull
			if !p.accept(kNull) {
				p.expect(kDefault)
				*to = ast.SetDefault
			}
		default:
			p.unexpected()
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
	case p.acceptWord("index"):
		s.Kind = ast.DropIndex
	case p.acceptWord("schema"):
		s.Kind = ast.DropSchema
	case p.acceptWord("type"):
		s.Kind = ast.DropType
	case p.acceptWord("sequence"):
		s.Kind = ast.DropSequence
	case p.acceptWord("macro"), p.acceptWord("function"):
		s.Kind = ast.DropMacro
		p.accept(kTable)
	default:
		p.refuseKnown("DROP ", knownObjects)
		p.unexpectedHint("tables, views, indexes, schemas, sequences, types, macros and functions are what can be dropped")
	}
	if p.isWord("if") && p.peek(1) == kExists {
		p.i += 2
		s.IfExists = true
	}
	s.Names = p.names()
	if s.Kind == ast.DropMacro && p.accept(tLParen) { // the types of parameters say nothing: names are unique
		for p.kind() != tRParen && p.kind() != tEOF {
			p.next()
		}
		p.expect(tRParen)
	}
	s.Cascade = p.cascade()
	return s
}

// cascade reads CASCADE or RESTRICT.
func (p *parser) cascade() bool {
	if p.acceptWord("cascade") {
		return true
	}
	p.acceptWord("restrict")
	return false
}
