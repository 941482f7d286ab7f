package parse

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// statement reads one statement, up to a semicolon or the end.
func (p *parser) statement() ast.Statement {
	p.enter()
	defer p.leave()
	switch p.kind() {
	case kSelect, kValues, kFrom, kTable, tLParen:
		return p.query()
	case kWith:
		return p.withStatement()
	case kCreate:
		return p.create()
	case kDesc:
		return p.describe()
	case kEnd:
		return p.transaction()
	case kAnalyze:
		return p.analyze()
	case tIdent:
	default:
		p.refuseKnown("", knownStatements)
		p.unexpected()
	}
	switch p.text() {
	case "insert":
		return p.insert(nil)
	case "update":
		if p.peek(2) == tSemi || p.peek(2) == tEOF {
			p.refuse(insteadOf["extension"], "update", "extensions")
		}
		return p.update(nil)
	case "delete":
		return p.delete(nil)
	case "merge":
		return p.merge(nil)
	case "truncate":
		return p.truncate()
	case "alter":
		return p.alter()
	case "comment":
		return p.comment()
	case "vacuum":
		return p.analyze()
	case "pragma":
		return p.pragma()
	case "drop":
		return p.drop()
	case "describe":
		return p.describe()
	case "show":
		return p.show()
	case "set":
		return p.set()
	case "reset":
		return p.reset()
	case "copy":
		p.refuse(insteadOf["attach"], "copy", "from", "database")
		return p.copy()
	case "explain":
		return p.explain()
	case "call":
		return p.callStatement()
	case "begin", "start", "commit", "rollback", "abort", "savepoint", "release":
		return p.transaction()
	case "prepare":
		if p.peek(2) == tString {
			p.refuse("COMMIT is all there is: a transaction has one database", "prepare", "transaction")
		}
		return p.prepare()
	case "execute":
		return p.execute()
	case "deallocate":
		return p.deallocate()
	}
	if p.shapeAhead(0) {
		return p.query()
	}
	p.refuseKnown("", knownStatements)
	p.unexpected()
	return nil
}

// withStatement reads a statement that begins with WITH.
func (p *parser) withStatement() ast.Statement {
	pos := p.pos()
	p.mayChange = true
	with := p.with()
	if slices.ContainsFunc(with.CTEs, func(c ast.CTE) bool { return c.Change != nil }) {
		return &ast.WithChanges{Pos: pos, With: with, Stmt: p.afterWith(nil)}
	}
	return p.afterWith(with)
}

// afterWith reads what WITH is for.
func (p *parser) afterWith(with *ast.With) ast.Statement {
	switch {
	case p.isWord("insert"):
		return p.insert(with)
	case p.isWord("update"):
		return p.update(with)
	case p.isWord("delete"):
		return p.delete(with)
	case p.isWord("merge"):
		return p.merge(with)
	}
	q := p.queryRest(with, p.bodyPrimary())
	if with != nil {
		q.Pos = with.Pos
	}
	return q
}

func (p *parser) describe() ast.Statement {
	s := &ast.Describe{Pos: p.pos()}
	p.next()
	switch {
	case p.kind() == tSemi, p.kind() == tEOF:
		return &ast.ShowTables{Pos: s.Pos}
	case p.kind() == kTable:
		p.next()
		s.Table = p.qualified()
	case p.queryAhead():
		s.Query = p.query()
	case p.kind() == tString:
		s.File = p.text()
		p.next()
	default:
		s.Table = p.qualified()
	}
	return s
}

// explain reads EXPLAIN with its flags in both of PostgreSQL's spellings.
func (p *parser) explain() ast.Statement {
	s := &ast.Explain{Pos: p.pos()}
	p.next()
	if p.accept(kAnalyze) {
		s.Analyze = true
	}
	if p.accept(kVerbose) {
		s.Verbose = true
	}
	if p.kind() == tLParen && !p.queryAhead() {
		for _, o := range p.options() {
			switch o.Name {
			case "analyze":
				s.Analyze = truthy(o)
			case "verbose":
				s.Verbose = truthy(o)
			default:
				s.Options = append(s.Options, o)
			}
		}
	}
	s.Stmt = p.statement()
	return s
}

// truthy reads an option as a flag: absent, true, on and 1 mean yes.
func truthy(o ast.Option) bool {
	lit, ok := o.Value.(*ast.Literal)
	if !ok {
		return true
	}
	switch lit.Text {
	case "false", "off", "no", "0":
		return false
	}
	return true
}

func (p *parser) callStatement() ast.Statement {
	s := &ast.Call{Pos: p.pos()}
	p.next()
	name := p.qualified()
	if p.kind() != tLParen {
		p.unexpectedHint("CALL takes a procedure with its arguments in parentheses")
	}
	s.Func = p.call(name)
	return s
}

// transaction reads BEGIN, COMMIT, ROLLBACK, the savepoint statements and synonyms.
func (p *parser) transaction() ast.Statement {
	s := &ast.Transaction{Pos: p.pos()}
	word := p.text()
	p.next()
	switch word {
	case "start":
		p.expectWord("transaction")
		p.txModes(s)
		return s
	case "begin":
		p.acceptWork()
		p.txModes(s)
		return s
	case "savepoint":
		s.Kind, s.Name = ast.Savepoint, p.name()
		return s
	case "release":
		p.acceptWord("savepoint")
		s.Kind, s.Name = ast.Release, p.name()
		return s
	case "commit", "end":
		s.Kind = ast.Commit
	default:
		s.Kind = ast.Rollback
	}
	p.acceptWork()
	if s.Kind == ast.Rollback && word == "rollback" && p.accept(kTo) {
		p.acceptWord("savepoint")
		s.Kind, s.Name = ast.RollbackTo, p.name()
		return s
	}
	if p.accept(kAnd) {
		s.Chain = !p.acceptWord("no")
		p.expectWord("chain")
	}
	return s
}

func (p *parser) acceptWork() {
	if !p.acceptWord("work") {
		p.acceptWord("transaction")
	}
}

// txModes reads ISOLATION LEVEL ..., READ ONLY | WRITE, [NOT] DEFERRABLE.
func (p *parser) txModes(s *ast.Transaction) {
	for {
		switch {
		case p.acceptWord("isolation"):
			p.expectWord("level")
			switch {
			case p.acceptWord("serializable"):
				s.Isolation = "serializable"
			case p.acceptWords("repeatable", "read"):
				s.Isolation = "repeatable read"
			case p.acceptWords("read", "committed"):
				s.Isolation = "read committed"
			case p.acceptWords("read", "uncommitted"):
				s.Isolation = "read uncommitted"
			default:
				p.unexpected()
			}
		case p.isWord("read") && p.peek(1) == kOnly:
			p.next()
			p.next()
			s.ReadOnly, s.ReadWrite = true, false
		case p.acceptWords("read", "write"):
			s.ReadOnly, s.ReadWrite = false, true
		case p.accept(kDeferrable):
		case p.kind() == kNot && p.peek(1) == kDeferrable:
			p.next()
			p.next()
		case p.kind() == tComma && p.peek(1) == tIdent:
			p.next()
		default:
			return
		}
	}
}

func (p *parser) prepare() ast.Statement {
	s := &ast.Prepare{Pos: p.pos()}
	p.next()
	s.Name = p.name()
	if p.accept(tLParen) {
		s.Types = append(s.Types, p.typeName())
		for p.accept(tComma) {
			s.Types = append(s.Types, p.typeName())
		}
		p.expect(tRParen)
	}
	p.expect(kAs)
	start := p.pos()
	s.Stmt = p.statement()
	s.Text = p.lex.text[start:p.lastEnd()]
	return s
}

func (p *parser) execute() ast.Statement {
	s := &ast.Execute{Pos: p.pos()}
	p.next()
	s.Name = p.name()
	if p.accept(tLParen) {
		if p.kind() != tRParen {
			s.Args = p.exprList()
		}
		p.expect(tRParen)
	}
	return s
}

func (p *parser) deallocate() ast.Statement {
	s := &ast.Deallocate{Pos: p.pos()}
	p.next()
	if p.isWord("prepare") && (p.peek(1).isName() || p.peek(1) == kAll) {
		p.next()
	}
	if p.accept(kAll) {
		s.All = true
	} else {
		s.Name = p.name()
	}
	return s
}
