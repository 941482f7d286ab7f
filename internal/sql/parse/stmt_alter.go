package parse

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// alter reads ALTER TABLE, VIEW, SEQUENCE and TYPE.
func (p *parser) alter() ast.Statement {
	s := &ast.AlterTable{Pos: p.pos()}
	p.next()
	switch {
	case p.accept(kTable):
	case p.acceptWord("view"):
		s.View = true
	case p.acceptWord("sequence"):
		return p.sequence(&ast.Sequence{Pos: s.Pos, Alter: true})
	case p.acceptWord("type"):
		return p.alterType(s.Pos)
	default:
		p.refuseKnown("ALTER ", alterable)
		p.unexpectedHint("ALTER TABLE, VIEW, SEQUENCE and TYPE are what there is")
	}
	s.IfExists = p.ifExists()
	p.accept(kOnly)
	s.Name = p.qualified()
	p.accept(tStar)
	for {
		s.Actions = append(s.Actions, p.alterAction(s.View))
		if !p.accept(tComma) {
			return s
		}
	}
}

// alterable is what else PostgreSQL and DuckDB alter.
var alterable = wordSet(`aggregate collation conversion database default domain event extension foreign function group index language large
	materialized operator policy procedure publication role routine rule schema server statistics subscription system tablespace text
	trigger type user`)

func (p *parser) ifExists() bool {
	if !p.isWord("if") || p.peek(1) != kExists {
		return false
	}
	p.i += 2
	return true
}

// alterAction reads one change of a table.
func (p *parser) alterAction(view bool) (a ast.AlterAction) {
	a.Pos = p.pos()
	switch {
	case p.acceptWord("rename"):
		switch {
		case p.accept(kTo):
			a.Kind, a.To = ast.RenameTable, p.name()
			return a
		case p.accept(kConstraint):
			a.Kind = ast.RenameConstraint
		default:
			p.acceptReserved("column")
			a.Kind = ast.RenameColumn
		}
		a.Name = p.name()
		p.expect(kTo)
		a.To = p.name()
	case p.isWord("set") && p.at(1).is("schema"):
		p.i += 2
		a.Kind, a.To = ast.SetSchema, p.name()
	case view:
		p.unexpectedHint("a view can be renamed; to change its query use CREATE OR REPLACE VIEW")
	case p.acceptWord("add"):
		p.alterAdd(&a)
	case p.acceptWord("drop"):
		a.Kind = ast.DropColumn
		if p.accept(kConstraint) {
			a.Kind = ast.DropConstraint
		} else {
			p.acceptReserved("column")
		}
		a.Exists = p.ifExists()
		a.Name = p.name()
		a.Cascade = p.cascade()
	case p.acceptWord("alter"):
		p.acceptReserved("column")
		a.Name = p.name()
		p.alterColumn(&a)
	default:
		p.refuseKnown("ALTER TABLE … ", wordSet("attach cluster detach disable enable force inherit no of owner replica reset set validate"))
		p.unexpected()
	}
	return a
}

// alterAdd reads what follows ADD.
func (p *parser) alterAdd(a *ast.AlterAction) {
	switch p.kind() {
	case kConstraint, kPrimary, kUnique, kForeign, kCheck:
		a.Kind, a.Constraint = ast.AddConstraint, p.tableConstraint()
		if p.kind() == kNot && p.at(1).is("valid") {
			panic(diag.Unsupported(p.pos(), "NOT VALID").WithHint("constraints hold for all rows"))
		}
		return
	}
	p.acceptReserved("column")
	a.Exists = p.ifNotExists()
	a.Column = p.columnDef()
	a.Name = a.Column.Name
}

// alterColumn reads what follows ALTER COLUMN name.
func (p *parser) alterColumn(a *ast.AlterAction) {
	switch {
	case p.acceptWord("type"), p.acceptWords("set", "data", "type"):
		a.Kind, a.Type = ast.AlterType, p.typeName()
		if p.accept(kCollate) {
			p.qualified()
		}
		if p.accept(kUsing) {
			a.X = p.expr()
		}
	case p.isWord("set") && p.peek(1) == kDefault:
		p.i += 2
		a.Kind, a.X = ast.SetDefaultValue, p.expr()
	case p.isWord("drop") && p.peek(1) == kDefault:
		p.i += 2
		a.Kind = ast.SetDefaultValue
	case p.isWord("set") && p.peek(1) == kNot:
		p.i += 2
		p.expect(kNull)
		a.Kind = ast.SetNotNull
	case p.isWord("drop") && p.peek(1) == kNot:
		p.i += 2
		p.expect(kNull)
		a.Kind = ast.DropNotNull
	case p.acceptWords("drop", "expression"):
		a.Kind, a.Exists = ast.DropExpression, p.ifExists()
	default:
		p.refuseKnown("ALTER COLUMN … ", wordSet("add drop reset restart set"))
		p.unexpected()
	}
}

func (p *parser) createSchema(pos int) ast.Statement {
	s := &ast.CreateSchema{Pos: pos, IfNotExists: p.ifNotExists()}
	if p.isWord("authorization") || p.kind() == kwOtherTypeFunc {
		panic(diag.Unsupported(p.pos(), "CREATE SCHEMA AUTHORIZATION"))
	}
	s.Name = p.name()
	if p.kind() != tSemi && p.kind() != tEOF {
		panic(diag.Unsupported(p.pos(), "CREATE SCHEMA with elements").WithHint("create them by statements of their own"))
	}
	return s
}

// createIndex reads CREATE [UNIQUE] INDEX [CONCURRENTLY] [[IF NOT EXISTS] name] ON t [USING method] (columns).
func (p *parser) createIndex(pos int) ast.Statement {
	s := &ast.CreateIndex{Pos: pos, Unique: p.accept(kUnique)}
	p.expectWord("index")
	if p.text() == "concurrently" && p.kind() != tQuoted {
		p.next()
	}
	s.IfNotExists = p.ifNotExists()
	if p.kind() != kOn {
		s.Name = p.name()
	}
	p.expect(kOn)
	p.accept(kOnly)
	s.Table = p.qualified()
	if p.accept(kUsing) {
		p.name()
	}
	p.expect(tLParen)
	for {
		s.Columns = append(s.Columns, p.indexColumn())
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	if s.Unique && p.kind() == kWhere {
		panic(diag.Unsupported(p.pos(), "a partial unique index"))
	}
	if p.acceptWord("include") {
		p.nameList()
	}
	if p.accept(kWhere) {
		p.expr()
	}
	return s
}

// indexColumn reads a column of an index and how it is ordered; an expression has no name.
func (p *parser) indexColumn() (id ast.Ident) {
	id.Pos = p.pos()
	if k := p.peek(1); p.kind().isName() && (k == tComma || k == tRParen || k == tIdent || k == kAsc || k == kDesc) {
		id = p.name()
	} else {
		p.exprPrec(precCompare)
	}
	if p.kind() == tIdent && !p.isWord("nulls") {
		p.qualified() // an operator class
	}
	if !p.accept(kAsc) {
		p.accept(kDesc)
	}
	if p.acceptWord("nulls") {
		if !p.acceptWord("first") {
			p.expectWord("last")
		}
	}
	return id
}

// sequence reads CREATE and ALTER SEQUENCE.
func (p *parser) sequence(s *ast.Sequence) ast.Statement {
	if s.Alter {
		s.IfNotExists = p.ifExists()
	} else {
		s.IfNotExists = p.ifNotExists()
	}
	s.Name = p.qualified()
	if p.accept(kAs) {
		p.typeName()
	}
	s.Options = p.sequenceOptions()
	return s
}

// sequenceOptions reads INCREMENT BY 2 START WITH 10 NO CYCLE ...
func (p *parser) sequenceOptions() (list []ast.Option) {
	for {
		o := ast.Option{Pos: p.pos(), Name: p.text()}
		no := p.acceptWord("no")
		if no {
			o.Name = p.text()
		}
		switch {
		case p.acceptWord("cycle"):
			o.Value = &ast.Literal{Pos: o.Pos, Kind: ast.LitBool, Text: map[bool]string{true: "false", false: "true"}[no]}
		case no:
			if !p.acceptWord("minvalue") {
				p.expectWord("maxvalue")
			}
		case p.acceptWord("increment"):
			p.acceptWord("by")
			o.Value = p.exprPrec(precCompare)
		case p.acceptWord("minvalue"), p.acceptWord("maxvalue"), p.acceptWord("cache"):
			o.Value = p.exprPrec(precCompare)
		case p.acceptWord("start"):
			p.accept(kWith)
			o.Value = p.exprPrec(precCompare)
		case p.acceptWord("restart"):
			if p.accept(kWith) || p.kind() == tInt || p.kind() == tMinus {
				o.Value = p.exprPrec(precCompare)
			}
		case p.acceptWords("owned", "by"):
			p.qualified()
			continue
		default:
			return list
		}
		list = append(list, o)
	}
}

// analyze reads ANALYZE and VACUUM.
func (p *parser) analyze() ast.Statement {
	s := &ast.Analyze{Pos: p.pos(), Vacuum: p.isWord("vacuum")}
	p.next()
	if p.kind() == tLParen {
		p.options()
	}
	for p.accept(kFull) || p.text() == "freeze" || p.accept(kVerbose) || p.accept(kAnalyze) {
		if p.text() == "freeze" {
			p.next()
		}
	}
	if p.kind() == tSemi || p.kind() == tEOF {
		return s
	}
	for {
		s.Tables = append(s.Tables, p.qualified())
		p.optNameList()
		if !p.accept(tComma) {
			return s
		}
	}
}

// pragma reads DuckDB's PRAGMA.
func (p *parser) pragma() ast.Statement {
	s := &ast.Pragma{Pos: p.pos()}
	p.next()
	s.Name = p.name().Name
	switch {
	case p.accept(tEq):
		s.Set = true
		s.Args = []ast.Expr{p.settingValue()}
	case p.accept(tLParen):
		if p.kind() != tRParen {
			s.Args = p.exprList()
		}
		p.expect(tRParen)
	}
	return s
}

// createMacro reads CREATE MACRO and CREATE FUNCTION.
func (p *parser) createMacro(s *ast.CreateMacro) ast.Statement {
	s.Function = p.isWord("function")
	p.next()
	s.IfNotExists = p.ifNotExists()
	s.Name = p.qualified()
	p.expect(tLParen)
	for p.kind() != tRParen {
		s.Params = append(s.Params, p.macroParam())
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	if p.isWord("returns") {
		p.functionBody(s)
		return s
	}
	p.expect(kAs)
	start := p.pos()
	if p.accept(kTable) {
		start = p.pos()
		s.Query = p.query()
	} else if s.X = p.expr(); p.kind() == tComma {
		panic(diag.Unsupported(p.pos(), "a macro with several definitions"))
	}
	s.Text = p.lex.text[start:p.lastEnd()]
	return s
}

// macroParam reads name [type] [:= default].
func (p *parser) macroParam() (m ast.MacroParam) {
	m.Name = p.name()
	if k := p.kind(); k != tComma && k != tRParen && k != tAssign && k != kDefault && k != tEq {
		t := p.typeName()
		m.Type = &t
	}
	if p.accept(tAssign) || p.accept(kDefault) || p.accept(tEq) {
		m.Default = p.expr()
	}
	return m
}

// functionBody reads RETURNS type | TABLE (…) … AS 'body' or RETURN expression, in PostgreSQL's words.
func (p *parser) functionBody(s *ast.CreateMacro) {
	pos := p.pos()
	p.expectWord("returns")
	table := false
	switch {
	case p.accept(kTable):
		table = true
		p.expect(tLParen)
		for p.kind() != tRParen && p.kind() != tEOF { // the query's own names and types count
			p.next()
		}
		p.expect(tRParen)
	case p.acceptWord("setof"):
		panic(diag.Unsupported(pos, "RETURNS SETOF").WithHint("use RETURNS TABLE (…)"))
	default:
		t := p.typeName()
		s.Result = &t
	}
	body, bodyPos := "", 0
	for {
		switch {
		case p.acceptWord("language"):
			if lang := p.text(); lang != "sql" {
				panic(diag.Unsupported(p.pos(), "LANGUAGE %s", lang).WithHint("functions are written in SQL"))
			}
			p.next()
		case p.acceptWord("immutable"), p.acceptWord("stable"), p.acceptWord("volatile"), p.acceptWords("parallel", "safe"):
		case p.acceptWord("strict"):
			panic(diag.Unsupported(pos, "a STRICT function"))
		case p.kind() == kAs && p.peek(1) == tString:
			p.next()
			body, bodyPos = p.text(), p.pos()
			p.next()
		case p.acceptWord("return"):
			start := p.pos()
			s.X = p.expr()
			s.Text = p.lex.text[start:p.lastEnd()]
		default:
			p.functionText(s, table, body, bodyPos, pos)
			return
		}
	}
}

// functionText parses the body of a function that was given as a text.
func (p *parser) functionText(s *ast.CreateMacro, table bool, body string, bodyPos, pos int) {
	if s.X != nil {
		return
	}
	if body == "" {
		p.unexpectedHint("a function needs a body: AS $$ SELECT … $$")
	}
	script, err := Parse(body)
	if err != nil {
		panic(diag.Shift(err, bodyPos+1))
	}
	q, ok := ast.Statement(nil), false
	if len(script) == 1 {
		q = script[0].Stmt
	}
	if s.Query, ok = q.(*ast.Query); !ok {
		panic(diag.Unsupported(bodyPos, "a function that is not one query"))
	}
	s.Text = script[0].Text
	if !table { // of a scalar function the query is a subquery
		s.X, s.Query, s.Text = &ast.Subquery{Pos: pos, Query: s.Query}, nil, "("+s.Text+")"
	}
}
