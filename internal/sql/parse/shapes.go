package parse

import (
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// shapeAhead says whether PIVOT, UNPIVOT or SUMMARIZE of something begins n tokens ahead. The words are names as well.
func (p *parser) shapeAhead(n int) bool {
	switch t := p.at(n); {
	case t.kind != tIdent:
		return false
	case t.text == "summarize":
		if k := p.peek(n + 1); k.startsQuery() {
			return true
		}
	case t.text != "pivot" && t.text != "unpivot" && t.text != "pivot_wider" && t.text != "pivot_longer":
		return false
	}
	switch k := p.peek(n + 1); {
	case k == tString, k.isName():
		return true
	case k == tLParen: // a query or joins in parentheses, and not the call of a function of this name
		for n++; p.peek(n+1) == tLParen; n++ {
		}
		return p.peek(n+1).startsQuery() || p.shapeAhead(n+1)
	}
	return false
}

// shape reads PIVOT, UNPIVOT or SUMMARIZE.
func (p *parser) shape() ast.Body {
	p.enter()
	defer p.leave()
	pos, word := p.pos(), p.text()
	p.next()
	switch word {
	case "summarize":
		return p.summarize(pos)
	case "unpivot", "pivot_longer":
		u := &ast.Unpivot{Pos: pos}
		if p.acceptWords("include", "nulls") {
			u.IncludeNulls = true
		} else {
			p.acceptWords("exclude", "nulls")
		}
		u.Source = p.tablePrimary()
		p.expect(kOn)
		p.unpivotOn(u)
		p.unpivotInto(u)
		return u
	}
	v := &ast.Pivot{Pos: pos, Source: p.tablePrimary()}
	if p.accept(kOn) {
		for {
			v.On = append(v.On, p.pivotOn())
			if !p.more() {
				break
			}
		}
	}
	if p.accept(kUsing) {
		v.Using = p.selectItems()
	}
	p.pivotGroups(v)
	if len(v.On) == 0 {
		p.unexpectedHint("PIVOT needs ON, and the columns whose values become columns")
	}
	return v
}

// summarize reads a query, a table or a file.
func (p *parser) summarize(pos int) ast.Body {
	s := &ast.Summarize{Pos: pos}
	if p.queryAhead() {
		s.Query = p.query()
		return s
	}
	s.Query = p.wholeTable()
	return s
}

// wholeTable reads a table or a file, as the query of all of it.
func (p *parser) wholeTable() *ast.Query {
	from := p.pos()
	return &ast.Query{Pos: from, Body: &ast.Select{
		Pos: from, Items: []ast.SelectItem{{X: &ast.Star{Pos: from}}}, From: []ast.TableExpr{p.tablePrimary()}}}
}

// listingAhead says whether DESCRIBE or SHOW of something, and not a table of that name, begins in the parentheses of FROM.
func (p *parser) listingAhead() bool {
	if p.kind() == kDesc {
		return true
	}
	if !p.isWord("describe") && !p.isWord("show") {
		return false
	}
	n := 1
	for p.peek(n) == tLParen {
		n++
	}
	switch k := p.peek(n); {
	case k.startsQuery(), k == tString, k == kAll:
		return true
	case n > 1 || !k.isName():
		return p.shapeAhead(n)
	}
	for n++; p.peek(n) == tDot; n += 2 {
	}
	return p.peek(n) == tRParen || p.shapeAhead(1)
}

// listing reads DESCRIBE or SHOW in FROM: columns of a relation, or the names of tables.
func (p *parser) listing() ast.Body {
	pos, show := p.pos(), p.isWord("show")
	p.next()
	switch {
	case show && (p.isWord("tables") || p.kind() == kAll):
		if p.accept(kAll) && !p.isWord("tables") {
			p.unexpectedHint("FROM pg_settings lists the settings")
		}
		p.next()
		return &ast.ShowTables{Pos: pos}
	case p.queryAhead():
		return &ast.Describe{Pos: pos, Query: p.query()}
	}
	return &ast.Describe{Pos: pos, Query: p.wholeTable()}
}

// pivotOn reads x [IN (value [AS name], …)].
func (p *parser) pivotOn() ast.PivotOn {
	on := ast.PivotOn{X: p.exprPrec(precIn + 1)}
	if p.accept(kIn) {
		p.expect(tLParen)
		on.Values = p.selectItems()
		p.expect(tRParen)
	}
	return on
}

func (p *parser) pivotGroups(v *ast.Pivot) {
	if !p.accept(kGroup) {
		return
	}
	p.expectWord("by")
	v.Grouped = true
	for {
		v.GroupBy = append(v.GroupBy, p.expr())
		if !p.more() {
			return
		}
	}
}

func (p *parser) unpivotOn(u *ast.Unpivot) {
	for {
		var on ast.UnpivotOn
		if n, ok := p.starAhead(); ok {
			on.Exprs = []ast.Expr{p.star(n)}
		} else if x := p.expr(); true {
			on.Exprs = []ast.Expr{x}
			if row, ok := x.(*ast.Row); ok {
				on.Exprs = row.Elems
			}
		}
		if p.accept(kAs) || p.kind().isName() && !p.isWord("into") {
			on.Alias = p.label()
		}
		u.On = append(u.On, on)
		if !p.more() {
			return
		}
	}
}

// unpivotInto reads INTO NAME n VALUE v, …; both have names without it.
func (p *parser) unpivotInto(u *ast.Unpivot) {
	u.Name = ast.Ident{Name: "name", Pos: u.Pos}
	u.Values = []ast.Ident{{Name: "value", Pos: u.Pos}}
	if !p.accept(kInto) {
		return
	}
	if p.acceptWords("include", "nulls") {
		u.IncludeNulls = true
	}
	p.expectWord("name")
	u.Name = p.name()
	if !p.acceptWord("value") {
		p.expectWord("values")
	}
	u.Values = []ast.Ident{p.name()}
	for p.accept(tComma) {
		u.Values = append(u.Values, p.name())
	}
}

// shaped reads what follows an entry of FROM: PIVOT (…), UNPIVOT (…) and TABLESAMPLE.
func (p *parser) shaped(t ast.TableExpr) ast.TableExpr {
	for {
		pos := p.pos()
		switch {
		case p.isWord("pivot") && p.peek(1) == tLParen:
			p.next()
			t = p.derivedShape(pos, p.pivotTable(pos, t))
		case p.unpivotAhead():
			p.next()
			t = p.derivedShape(pos, p.unpivotTable(pos, t))
		case p.kind() == kwOtherTypeFunc && p.text() == "tablesample":
			p.next()
			t = &ast.SampleTable{Pos: pos, Table: t, Sample: p.sample(pos)}
		default:
			return t
		}
	}
}

// unpivotAhead: UNPIVOT is a name unless a parenthesis follows, or what is to become of NULLs.
func (p *parser) unpivotAhead() bool {
	if !p.isWord("unpivot") {
		return false
	}
	next := p.at(1)
	return next.kind == tLParen || (next.is("include") || next.is("exclude")) && p.at(2).is("nulls")
}

// shapeFollows: a word that would be an alias begins PIVOT (…) or UNPIVOT (…).
func (p *parser) shapeFollows() bool {
	return p.isWord("pivot") && p.peek(1) == tLParen || p.unpivotAhead()
}

func (p *parser) derivedShape(pos int, b ast.Body) ast.TableExpr {
	return &ast.SubqueryTable{Pos: pos, Query: &ast.Query{Pos: pos, Body: b}, Alias: p.alias()}
}

// pivotTable reads (aggregates FOR x IN (…) y IN (…) GROUP BY …).
func (p *parser) pivotTable(pos int, t ast.TableExpr) ast.Body {
	v := &ast.Pivot{Pos: pos, Source: t}
	p.expect(tLParen)
	v.Using = p.selectItems()
	p.expect(kFor)
	for p.kind() != tRParen && p.kind() != kGroup {
		on := p.pivotOn()
		if on.Values == nil {
			p.unexpectedHint("in FROM, PIVOT needs the values that become columns: FOR x IN (1, 2)")
		}
		v.On = append(v.On, on)
	}
	p.pivotGroups(v)
	p.expect(tRParen)
	return v
}

// unpivotTable reads [INCLUDE NULLS] (value FOR name IN (a, b AS c)), or several values: ((v, w) FOR name IN ((a, b), (c, d))).
func (p *parser) unpivotTable(pos int, t ast.TableExpr) ast.Body {
	u := &ast.Unpivot{Pos: pos, Source: t}
	if p.acceptWords("include", "nulls") {
		u.IncludeNulls = true
	} else {
		p.acceptWords("exclude", "nulls")
	}
	p.expect(tLParen)
	if p.kind() == tLParen {
		u.Values = p.nameList()
	} else {
		u.Values = []ast.Ident{p.name()}
	}
	p.expect(kFor)
	u.Name = p.name()
	p.expect(kIn)
	p.expect(tLParen)
	p.unpivotOn(u)
	p.expect(tRParen)
	p.expect(tRParen)
	return u
}

// sample reads what follows TABLESAMPLE or USING SAMPLE: method (amount), or amount [(method [, seed])], and REPEATABLE (seed).
func (p *parser) sample(pos int) *ast.Sample {
	s := &ast.Sample{Pos: pos}
	if p.kind().isName() && p.peek(1) == tLParen {
		s.Method = p.text()
		p.next()
		p.next()
		p.amount(s, s.Method == "bernoulli" || s.Method == "system")
		p.expect(tRParen)
	} else {
		p.amount(s, false)
		if p.accept(tLParen) {
			s.Method = p.name().Name
			if p.accept(tComma) {
				s.Seed = p.expr()
			}
			p.expect(tRParen)
		}
	}
	if p.isWord("repeatable") && p.peek(1) == tLParen {
		p.next()
		p.next()
		s.Seed = p.expr()
		p.expect(tRParen)
	}
	return s
}

// amount reads n, n ROWS, n PERCENT or n%.
func (p *parser) amount(s *ast.Sample, percent bool) {
	if k := p.kind(); (k == tInt || k == tDecimal) && p.peek(1) == tPercent {
		s.Amount, s.Percent = p.number(), true
		p.next()
		return
	}
	s.Amount = p.expr()
	switch {
	case p.acceptWord("percent"):
		s.Percent = true
	case p.acceptWord("rows"):
	default:
		s.Percent = percent
	}
}

// number reads a literal without what may follow an operand.
func (p *parser) number() ast.Expr {
	if p.kind() == tInt {
		return p.literal(ast.LitInt)
	}
	return p.literal(ast.LitDecimal)
}
