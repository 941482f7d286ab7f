package parse

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// startsQuery: the words that a query without parentheses can begin with.
func (k kind) startsQuery() bool {
	return k == kSelect || k == kWith || k == kValues || k == kFrom || k == kTable
}

// queryAhead says whether a query begins here, possibly behind open parentheses.
func (p *parser) queryAhead() bool {
	n := 0
	for p.peek(n) == tLParen {
		n++
	}
	k := p.peek(n)
	return k.startsQuery() && (k != kValues || p.peek(n+1) == tLParen) || k == tIdent && p.shapeAhead(n)
}

// queryGoesOn says whether the current token continues a query after its body.
func (p *parser) queryGoesOn() bool {
	switch p.kind() {
	case kUnion, kIntersect, kExcept, kOrder, kLimit, kOffset, kFetch:
		return true
	}
	return false
}

// query reads a whole query with WITH, ORDER BY and LIMIT.
func (p *parser) query() *ast.Query {
	p.enter()
	pos := p.pos()
	var with *ast.With
	if p.kind() == kWith {
		with = p.with()
	}
	q := p.queryRest(with, p.bodyPrimary())
	q.Pos = pos
	p.leave()
	return q
}

func (p *parser) queryInParens() *ast.Query {
	p.expect(tLParen)
	q := p.query()
	p.expect(tRParen)
	return q
}

// queryRest reads what follows a query's first body: set operations, ORDER BY, LIMIT.
// A body that is a query already and gets nothing added is returned as it is.
func (p *parser) queryRest(with *ast.With, first ast.Body) *ast.Query {
	body := p.setOps(unwrap(first), 0)
	q := &ast.Query{Pos: first.Position(), With: with, Body: body}
	if p.kind() == kOrder {
		q.OrderBy = p.orderBy()
	}
	p.limit(q)
	if p.kind() == kFor && p.lockAhead() {
		panic(diag.Unsupported(p.pos(), "SELECT … FOR %s", strings.ToUpper(p.source(p.at(1)))).
			WithHint("rows are not locked: of two transactions that change a table, the second to commit gets 40001"))
	}
	if inner, ok := q.Body.(*ast.Query); ok && with == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
		return inner
	}
	return q
}

// lockAhead: FOR UPDATE, SHARE, NO KEY UPDATE or KEY SHARE.
func (p *parser) lockAhead() bool {
	next := p.at(1)
	return next.is("update") || next.is("share") || next.is("no") || next.is("key")
}

// unwrap drops a query around a body that adds nothing to it: (select 1).
func unwrap(b ast.Body) ast.Body {
	if q, ok := b.(*ast.Query); ok && q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
		return q.Body
	}
	return b
}

// setOps climbs: UNION and EXCEPT have strength 0, INTERSECT 1; all lean left.
func (p *parser) setOps(left ast.Body, min int) ast.Body {
	for n := 0; ; n++ {
		var kind ast.SetKind
		strength := 0
		switch p.kind() {
		case kUnion:
			kind = ast.Union
		case kExcept:
			kind = ast.Except
		case kIntersect:
			kind, strength = ast.Intersect, 1
		default:
			return left
		}
		if strength < min {
			return left
		}
		p.link(n)
		op := &ast.SetOp{Pos: p.pos(), Kind: kind, L: left}
		p.next()
		if p.accept(kAll) {
			op.All = true
		} else {
			p.accept(kDistinct)
		}
		if p.isWord("by") && p.at(1).is("name") {
			if kind != ast.Union {
				p.unexpectedHint("BY NAME is for UNION")
			}
			p.next()
			p.next()
			op.ByName = true
		}
		op.R = p.setOps(p.bodyPrimary(), strength+1)
		left = op
	}
}

// bodyPrimary reads SELECT, VALUES, TABLE t, FROM t or a query in parentheses.
func (p *parser) bodyPrimary() ast.Body {
	pos := p.pos()
	switch p.kind() {
	case kSelect, kFrom:
		return p.selectBody()
	case kValues:
		return p.values()
	case kTable:
		p.next()
		p.accept(kOnly)
		name := p.qualified()
		return &ast.Select{
			Pos:   pos,
			Items: []ast.SelectItem{{X: &ast.Star{Pos: pos}}},
			From:  []ast.TableExpr{&ast.TableRef{Pos: name.Pos(), Name: name}},
		}
	case tLParen:
		return unwrap(p.queryInParens())
	case tIdent:
		if p.shapeAhead(0) {
			return p.shape()
		}
	}
	p.unexpected()
	return nil
}

func (p *parser) with() *ast.With {
	w := &ast.With{Pos: p.expect(kWith)}
	mayChange := p.mayChange
	p.mayChange = false
	// RECURSIVE is unreserved: WITH recursive AS (...) names a CTE so.
	if p.isWord("recursive") && p.peek(1).isName() {
		p.next()
		w.Recursive = true
	}
	for {
		c := ast.CTE{Pos: p.pos(), Name: p.name(), Columns: p.optNameList()}
		p.expect(kAs)
		switch {
		case p.acceptWord("materialized"):
			c.Materialized = ast.MaterializeYes
		case p.kind() == kNot && p.at(1).is("materialized"):
			p.next()
			p.next()
			c.Materialized = ast.MaterializeNo
		}
		if c.Change = p.changeInParens(mayChange); c.Change == nil {
			c.Query = p.queryInParens()
		}
		switch {
		case p.isWord("search") && (p.at(1).is("depth") || p.at(1).is("breadth")):
			panic(diag.Unsupported(p.pos(), "SEARCH of a recursive query").WithHint("let the query add a list: path || id sorts by depth, a counter of rounds by breadth"))
		case p.isWord("cycle") && p.peek(1).isName():
			panic(diag.Unsupported(p.pos(), "CYCLE of a recursive query").WithHint("let the query add a list, path || id, and its recursive term test id <> ALL(path)"))
		}
		w.CTEs = append(w.CTEs, c)
		if !p.accept(tComma) {
			return w
		}
	}
}

func (p *parser) values() ast.Body {
	v := &ast.Values{Pos: p.expect(kValues)}
	width := 1
	for {
		pos := p.expect(tLParen)
		row := make([]ast.Expr, 0, width)
		for {
			row = append(row, p.exprOrDefault())
			if !p.more() {
				break
			}
		}
		p.expect(tRParen)
		if len(v.Rows) > 0 && len(row) != len(v.Rows[0]) {
			p.fail(pos, diag.SyntaxError, "VALUES lists must all be the same length")
		}
		v.Rows, width = append(v.Rows, row), len(row)
		if !p.more() {
			return v
		}
	}
}

// exprOrDefault reads an expression or DEFAULT. The binder refuses DEFAULT outside of
// INSERT and UPDATE: only it knows where the rows go.
func (p *parser) exprOrDefault() ast.Expr {
	if p.kind() == kDefault {
		return &ast.Default{Pos: p.expect(kDefault)}
	}
	return p.expr()
}

// selectBody reads SELECT ... or FROM ... [SELECT ...], up to but without ORDER BY.
func (p *parser) selectBody() ast.Body {
	s := &ast.Select{Pos: p.pos()}
	if p.accept(kFrom) {
		s.From = p.fromList()
		if p.accept(kSelect) {
			p.selectList(s)
		} else {
			s.Items = []ast.SelectItem{{X: &ast.Star{Pos: s.Pos}}}
		}
	} else {
		p.expect(kSelect)
		p.selectList(s)
		if p.accept(kFrom) {
			s.From = p.fromList()
		}
	}
	if p.accept(kWhere) {
		s.Where = p.expr()
	}
	if p.kind() == kGroup {
		p.groupBy(s)
	}
	if p.accept(kHaving) {
		s.Having = p.expr()
	}
	if p.accept(kWindow) {
		s.Windows = p.windows()
	}
	if p.acceptWord("qualify") {
		s.Qualify = p.expr()
	}
	if pos := p.pos(); p.kind() == kUsing && p.at(1).is("sample") {
		p.next()
		p.next()
		s.Sample = p.sample(pos)
	}
	return s
}

func (p *parser) selectList(s *ast.Select) {
	switch {
	case p.accept(kDistinct):
		if p.accept(kOn) {
			p.expect(tLParen)
			s.DistinctOn = p.exprList()
			p.expect(tRParen)
		} else {
			s.Distinct = true
		}
	case p.kind() == kAll:
		p.next()
	case p.listEnds():
		return // SELECT FROM t has rows without columns
	case p.isWord("top") && (p.peek(1) == tInt || p.peek(1) == tLParen && p.peek(2) == tInt && p.at(4).kind != tLParen && p.peek(3) == tRParen):
		panic(diag.Unsupported(p.pos(), "SELECT TOP").WithHint("LIMIT at the end of the query says how many rows there are"))
	}
	if p.kind() == kInto {
		p.refuseInto()
	}
	s.Items = p.selectItems()
	if p.kind() == kInto {
		p.refuseInto()
	}
}

func (p *parser) refuseInto() {
	panic(diag.Unsupported(p.pos(), "SELECT … INTO").WithHint("CREATE TABLE … AS SELECT … makes a table of a query"))
}

// more reports that a list goes on. A comma may follow its last entry, as DuckDB has it.
func (p *parser) more() bool {
	if !p.accept(tComma) {
		return false
	}
	return !p.listEnds()
}

// listEnds reports that what follows a select list, or another one, comes next.
func (p *parser) listEnds() bool {
	switch p.kind() {
	case kFrom, kWhere, kGroup, kHaving, kWindow, tRParen, tSemi, tEOF:
		return true
	}
	return p.queryGoesOn()
}

func (p *parser) selectItems() []ast.SelectItem {
	items := make([]ast.SelectItem, 0, 4)
	for {
		items = append(items, p.selectItem())
		if !p.more() {
			return items
		}
	}
}

func (p *parser) selectItem() ast.SelectItem {
	if n, ok := p.starAhead(); ok {
		return ast.SelectItem{X: p.star(n)}
	}
	it := ast.SelectItem{X: p.expr()}
	if p.accept(kAs) {
		it.Alias = p.label()
	} else if p.kind().isName() && !p.isWord("qualify") {
		it.Alias = p.take()
	}
	return it
}

// starAhead recognizes * and a.b.*; n is the number of names before the star.
func (p *parser) starAhead() (n int, ok bool) {
	if p.kind() == tStar {
		return 0, true
	}
	if !p.kind().isName() {
		return 0, false
	}
	for n = 1; p.peek(2*n-1) == tDot; n++ {
		if k := p.peek(2 * n); k == tStar {
			return n, true
		} else if !k.isLabel() {
			return 0, false
		}
	}
	return 0, false
}

func (p *parser) star(n int) ast.Expr {
	e := &ast.Star{Pos: p.pos()}
	for range n {
		e.Qualifier = append(e.Qualifier, p.take())
		p.next()
	}
	p.starOptions(e)
	return e
}

// starOptions reads * and what is said about it.
func (p *parser) starOptions(e *ast.Star) {
	p.expect(tStar)
	if p.isWord("exclude") && (p.peek(1) == tLParen || p.peek(1).isName()) {
		p.next()
		if p.kind() == tLParen {
			e.Exclude = p.nameList()
		} else {
			e.Exclude = []ast.Ident{p.name()}
		}
	}
	if p.isWord("replace") && p.peek(1) == tLParen {
		p.next()
		p.next()
		for {
			it := ast.SelectItem{X: p.expr()}
			p.accept(kAs)
			it.Alias = p.name()
			e.Replace = append(e.Replace, it)
			if !p.accept(tComma) {
				break
			}
		}
		p.expect(tRParen)
	}
	if p.isWord("rename") && p.peek(1) == tLParen {
		p.next()
		p.next()
		for {
			r := ast.Rename{Old: p.name()}
			p.accept(kAs)
			r.New = p.name()
			e.Rename = append(e.Rename, r)
			if !p.more() {
				break
			}
		}
		p.expect(tRParen)
	}
}

func (p *parser) groupBy(s *ast.Select) {
	p.expect(kGroup)
	p.expectWord("by")
	if p.accept(kAll) {
		s.GroupByAll = true
		return
	}
	s.GroupBy = p.groupItems()
}

func (p *parser) groupItems() []ast.GroupItem {
	list := make([]ast.GroupItem, 0, 4)
	for {
		list = append(list, p.groupItem())
		if !p.more() {
			return list
		}
	}
}

func (p *parser) groupItem() ast.GroupItem {
	p.enter()
	defer p.leave()
	g := ast.GroupItem{Pos: p.pos()}
	switch {
	case p.kind() == tLParen && p.peek(1) == tRParen:
		p.next()
		p.next()
		g.Kind = ast.GroupEmpty
	case p.kind() == kGrouping && p.at(1).is("sets") && p.peek(2) == tLParen:
		p.i += 3
		g.Kind = ast.GroupSets
		g.Sets = p.groupItems()
		p.expect(tRParen)
	case (p.isWord("rollup") || p.isWord("cube")) && p.peek(1) == tLParen:
		g.Kind = ast.GroupRollup
		if p.isWord("cube") {
			g.Kind = ast.GroupCube
		}
		p.i += 2
		g.Exprs = p.exprList()
		p.expect(tRParen)
	default:
		g.Exprs = []ast.Expr{p.expr()}
	}
	return g
}

// orderBy reads ORDER BY keys, or ORDER BY ALL.
func (p *parser) orderBy() []ast.OrderItem {
	p.expect(kOrder)
	p.expectWord("by")
	list := make([]ast.OrderItem, 0, 4)
	for {
		it := ast.OrderItem{Pos: p.pos()}
		if p.accept(kAll) {
			it.All = true
		} else {
			it.X = p.expr()
		}
		switch {
		case p.accept(kAsc):
		case p.accept(kDesc):
			it.Desc = true
		}
		switch {
		case p.acceptWords("nulls", "first"):
			it.Nulls = ast.NullsFirst
		case p.acceptWords("nulls", "last"):
			it.Nulls = ast.NullsLast
		}
		list = append(list, it)
		if !p.more() {
			return list
		}
	}
}

// limit reads LIMIT, OFFSET and FETCH, each at most once, in any order.
func (p *parser) limit(q *ast.Query) {
	limited := false
	for {
		switch p.kind() {
		case kLimit:
			if limited {
				p.unexpected()
			}
			limited = true
			p.next()
			switch {
			case p.percentAhead():
				q.Limit, q.LimitPercent = p.number(), true
				p.next()
			case !p.accept(kAll):
				q.Limit = p.expr()
			}
			if p.kind() == tComma {
				p.unexpectedHint("write LIMIT count OFFSET start")
			}
		case kOffset:
			if q.Offset != nil {
				p.unexpected()
			}
			p.next()
			q.Offset = p.expr()
			if p.kind() == kRow || p.isWord("rows") {
				p.next()
			}
		case kFetch:
			if limited {
				p.unexpected()
			}
			limited = true
			p.fetch(q)
		default:
			return
		}
	}
}

// percentAhead recognizes LIMIT 10%, where nothing follows that the remainder could be of.
func (p *parser) percentAhead() bool {
	if k := p.kind(); k != tInt && k != tDecimal || p.peek(1) != tPercent {
		return false
	}
	switch p.peek(2) {
	case tEOF, tSemi, tRParen, kOffset, kUnion, kIntersect, kExcept:
		return true
	}
	return false
}

// fetch reads FETCH FIRST [n] ROWS ONLY | WITH TIES.
func (p *parser) fetch(q *ast.Query) {
	pos := p.expect(kFetch)
	if !p.acceptWord("first") {
		p.expectWord("next")
	}
	if p.kind() == kRow || p.isWord("rows") {
		q.Limit = &ast.Literal{Pos: pos, Kind: ast.LitInt, Text: "1"}
	} else {
		q.Limit = p.prefix()
	}
	if !p.accept(kRow) {
		p.expectWord("rows")
	}
	if p.accept(kWith) {
		p.expectWord("ties")
		q.WithTies = true
		return
	}
	p.expect(kOnly)
}
