package parse

import "github.com/kelpiedb/kelpie/internal/sql/ast"

// settingName reads a setting: a name with dots, or one of the names that the
// standard spells in several words.
func (p *parser) settingName() string {
	switch {
	case p.kind() == kTime && p.at(1).is("zone"):
		p.i += 2
		return "timezone"
	case p.acceptWords("transaction", "isolation", "level"):
		return "transaction_isolation"
	case p.kind() == kSessionUser:
		p.unexpected()
	}
	name := p.label().Name
	for p.kind() == tDot {
		p.next()
		name += "." + p.label().Name
	}
	return name
}

func (p *parser) show() ast.Statement {
	pos := p.pos()
	p.next()
	p.refuse("PRAGMA show_tables and DESCRIBE t list tables and columns; a view's text is in pg_views", "create")
	for _, of := range []string{"columns", "fields", "index", "indexes", "keys"} {
		p.refuse("DESCRIBE t lists the columns of a table, and pg_indexes has the indexes", of, "from")
	}
	p.refuse("FROM information_schema.tables WHERE table_schema = … lists those of a schema", "tables", "from")
	for word, hint := range map[string]string{"databases": "there is one database; SELECT datname FROM pg_database names it", "schemas": "SELECT schema_name FROM information_schema.schemata lists them",
		"variables": "SHOW ALL lists the settings", "functions": "docs/functions.md lists them", "processlist": "there is no server", "extensions": "there are none: what there is, is built in"} {
		p.refuse(hint, word)
	}
	switch {
	case p.isWord("tables"):
		p.next()
		return &ast.ShowTables{Pos: pos}
	case p.kind() == kAll:
		p.next()
		if p.acceptWord("tables") {
			return &ast.ShowTables{Pos: pos}
		}
		return &ast.Show{Pos: pos, All: true}
	}
	return &ast.Show{Pos: pos, Name: p.settingName()}
}

func (p *parser) reset() ast.Statement {
	s := &ast.Reset{Pos: p.pos()}
	p.next()
	p.refuseNoSetting()
	if p.accept(kAll) {
		s.All = true
	} else {
		s.Name = p.settingName()
	}
	return s
}

func (p *parser) set() ast.Statement {
	s := &ast.Set{Pos: p.pos()}
	p.next()
	p.refuseNoSetting()
	// SESSION and LOCAL are scopes only if a name follows: SET session = 1 is odd but legal.
	if k := p.peek(1); k != tEq && k != kTo && k != tDot {
		if p.acceptWord("local") {
			s.Local = true
		} else if p.acceptWord("session") && p.acceptWord("characteristics") {
			p.expect(kAs)
			p.expectWord("transaction")
			return p.setTransaction(s.Pos, true)
		}
	}
	switch {
	case p.isWord("transaction") && p.peek(1) != tEq && p.peek(1) != kTo:
		p.next()
		return p.setTransaction(s.Pos, false)
	case p.isWord("schema") && (p.peek(1) == tString || p.peek(1) == tEq || p.peek(1) == kTo):
		p.next()
		if p.kind() != tString {
			p.next()
		}
		s.Name = "search_path"
	case p.isWord("names") && p.peek(1) == tString:
		p.next()
		s.Name = "client_encoding"
	case p.kind() == kTime && p.at(1).is("zone"):
		s.Name = p.settingName()
		if p.isWord("local") {
			p.next()
			s.Default = true
			return s
		}
	default:
		s.Name = p.settingName()
		if !p.accept(tEq) && !p.accept(kTo) {
			p.unexpectedHint("write SET name = value")
		}
	}
	if p.accept(kDefault) {
		s.Default = true
		return s
	}
	s.Values = append(s.Values, p.settingValue())
	for p.accept(tComma) {
		s.Values = append(s.Values, p.settingValue())
	}
	return s
}

// refuseNoSetting leaves where SET and RESET are for something that is no setting.
func (p *parser) refuseNoSetting() {
	if p.peek(1) == tEq || p.peek(1) == kTo || p.peek(1) == tDot {
		return
	}
	p.refuse("write the value, or bind it as $1", "variable")
	p.refuse("there are no users", "role")
	p.refuse("there are no users", "session", "authorization")
	p.refuse("constraints are checked at the end of each statement", "constraints")
	p.refuse("SET changes settings of a session, flags of the program those of all", "global")
}

func (p *parser) setTransaction(pos int, session bool) ast.Statement {
	s := &ast.Transaction{Pos: pos, Kind: ast.SetTransaction, Session: session}
	at := p.i
	p.txModes(s)
	if p.i == at {
		p.unexpected()
	}
	return s
}

// settingValue reads a constant: a string, a number with a sign, TRUE, FALSE, or a
// bare word, which counts as a string.
func (p *parser) settingValue() ast.Expr {
	pos := p.pos()
	switch k := p.kind(); {
	case k == tMinus, k == tPlus:
		op := p.text()
		p.next()
		if n := p.kind(); n != tInt && n != tDecimal && n != tFloat {
			p.unexpected()
		}
		return &ast.Unary{Pos: pos, Op: op, X: p.settingValue()}
	case k == tString:
		return p.literal(ast.LitString)
	case k == tInt:
		return p.literal(ast.LitInt)
	case k == tDecimal:
		return p.literal(ast.LitDecimal)
	case k == tFloat:
		return p.literal(ast.LitFloat)
	case k == kTrue, k == kFalse:
		return p.literal(ast.LitBool)
	case k == tParam:
		return p.param()
	case k == kInterval && p.peek(1) == tString:
		return p.interval()
	case k.isLabel():
		return p.literal(ast.LitString)
	}
	p.unexpected()
	return nil
}

// options reads (name [=] [value], ...), as in COPY and EXPLAIN.
func (p *parser) options() []ast.Option {
	var list []ast.Option
	p.expect(tLParen)
	for {
		o := ast.Option{Pos: p.pos(), Name: p.label().Name}
		p.accept(tEq)
		switch p.kind() {
		case tComma, tRParen:
		case tStar:
			o.Value = &ast.Star{Pos: p.expect(tStar)}
		case tLParen:
			row := &ast.Row{Pos: p.expect(tLParen)}
			row.Elems = append(row.Elems, p.settingValue())
			for p.accept(tComma) {
				row.Elems = append(row.Elems, p.settingValue())
			}
			p.expect(tRParen)
			o.Value = row
		default:
			o.Value = p.settingValue()
			if l, ok := o.Value.(*ast.Literal); ok && l.Kind == ast.LitString && p.kind() == tMinus && p.peek(1).isLabel() { // plan-json
				p.next()
				l.Text += "-" + p.label().Name
			}
		}
		list = append(list, o)
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return list
}
