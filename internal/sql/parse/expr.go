package parse

import (
	"strconv"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// PostgreSQL's precedences, weakest first. Package ast prints by the same ladder.
const (
	precLowest = iota
	precOr
	precAnd
	precNot
	precIs      // IS, ISNULL, NOTNULL
	precCompare // = <> < <= > >=, which do not chain
	precIn      // BETWEEN IN LIKE ILIKE SIMILAR, which do not chain
	precOther   // all other operators
	precAdd
	precMul
	precPower
	precZone // AT TIME ZONE
	precCollate
	precUnary
)

// infixPrec gives the kinds that can follow an operand; 0 for all others. tIdent (AT,
// OPERATOR) and NOT (NOT IN) need a second look, see infix.
var infixPrec = [numKinds]uint8{
	kOr: precOr, kAnd: precAnd,
	kIs: precIs, kIsnull: precIs, kNotnull: precIs,
	tEq: precCompare, tNe: precCompare, tLt: precCompare, tLe: precCompare, tGt: precCompare, tGe: precCompare,
	kBetween: precIn, kIn: precIn, kLike: precIn, kIlike: precIn, kSimilar: precIn,
	tOp:   precOther,
	tPlus: precAdd, tMinus: precAdd,
	tStar: precMul, tSlash: precMul, tPercent: precMul,
	tCaret:   precPower,
	kCollate: precCollate,
}

// expr reads any expression.
func (p *parser) expr() ast.Expr { return p.exprPrec(precLowest) }

// exprPrec reads an expression whose operators bind at least as tight as min.
func (p *parser) exprPrec(min int) ast.Expr {
	p.enter()
	p.lex.patience.Tick()
	e := p.infix(p.prefix(), min)
	p.leave()
	return e
}

func (p *parser) exprList() []ast.Expr {
	list := []ast.Expr{p.expr()}
	for p.accept(tComma) {
		list = append(list, p.expr())
	}
	return list
}

// prefix reads prefix operators and their operand, or a primary.
func (p *parser) prefix() ast.Expr {
	pos := p.pos()
	switch p.kind() {
	case kNot:
		p.next()
		return &ast.Not{Pos: pos, X: p.exprPrec(precNot)}
	case tMinus, tPlus:
		op := p.text()
		p.next()
		return &ast.Unary{Pos: pos, Op: op, X: p.exprPrec(precUnary)}
	case tOp:
		op := p.text()
		p.next()
		return &ast.Unary{Pos: pos, Op: op, X: p.exprPrec(precOther + 1)}
	}
	return p.primary()
}

// infix extends left with all operators that bind at least as tight as min.
func (p *parser) infix(left ast.Expr, min int) ast.Expr {
	unchained := 0 // the level that must not follow itself
	for n := 0; ; n++ {
		k := p.kind()
		prec := int(infixPrec[k])
		negated := false
		if prec == 0 {
			switch k {
			case kNot:
				if next := p.peek(1); infixPrec[next] == precIn {
					prec, negated = precIn, true
				}
			case tIdent:
				prec = p.wordOperator()
			case tParam: // behind an operand, ? is an operator of JSONB
				if p.text() == "" {
					prec = precOther
				}
			case kwOtherTypeFunc:
				if _, row := left.(*ast.Row); row && p.text() == "overlaps" {
					prec = precIn
				}
			}
			if prec == 0 {
				return left
			}
		}
		if prec < min {
			return left
		}
		if prec == unchained {
			p.unexpectedHint("comparisons do not chain: combine them with AND, or use parentheses")
		}
		unchained = 0
		switch prec {
		case precOr, precAnd:
			left = p.logical(left, prec)
			continue
		case precCompare, precIn:
			unchained = prec
		}
		p.link(n)
		pos := p.pos()
		if negated {
			p.next()
			k = p.kind()
		}
		switch prec {
		case precIs:
			left = p.is(left)
		case precIn:
			if k == kwOtherTypeFunc {
				left = p.overlaps(left.(*ast.Row), pos)
			} else {
				left = p.in(left, pos, k, negated)
			}
		case precZone:
			left = p.zone(left)
		case precCollate:
			p.next()
			left = &ast.Collate{Pos: pos, X: left, Name: p.qualified()}
		default:
			left = p.binary(left, prec)
		}
	}
}

// overlaps reads (a, b) OVERLAPS (c, d), which is the function overlaps(a, b, c, d).
func (p *parser) overlaps(left *ast.Row, pos int) ast.Expr {
	p.next()
	at := p.pos()
	right, ok := p.exprPrec(precIn + 1).(*ast.Row)
	if !ok || len(right.Elems) != 2 {
		panic(diag.Errorf(diag.SyntaxError, at, "wrong number of parameters on right side of OVERLAPS expression"))
	}
	if len(left.Elems) != 2 {
		panic(diag.Errorf(diag.SyntaxError, left.Pos, "wrong number of parameters on left side of OVERLAPS expression"))
	}
	f := &ast.Func{Pos: pos, Name: ast.Name{{Name: "overlaps", Pos: pos}}}
	for _, x := range append(left.Elems[:2:2], right.Elems...) {
		f.Args = append(f.Args, ast.Arg{X: x})
	}
	return f
}

// wordOperator recognizes the operators that are unreserved words.
func (p *parser) wordOperator() int {
	switch p.text() {
	case "at":
		if next := p.at(1); next.kind == kTime && p.at(2).is("zone") || next.is("local") {
			return precZone
		}
	case "operator":
		if p.peek(1) == tLParen {
			return precOther
		}
	case "glob": // a name, unless a pattern follows
		if k := p.peek(1); k == tString || k == tParam || k == tIdent || k == tLParen {
			return precIn
		}
	}
	return 0
}

func (p *parser) logical(left ast.Expr, prec int) ast.Expr {
	op := ast.And
	if prec == precOr {
		op = ast.Or
	}
	pos := p.pos()
	p.next()
	right := p.exprPrec(prec + 1)
	if l, ok := left.(*ast.Logical); ok && l.Op == op {
		l.Args = append(l.Args, right)
		return l
	}
	args := make([]ast.Expr, 2, 4)
	args[0], args[1] = left, right
	return &ast.Logical{Pos: pos, Op: op, Args: args}
}

// binary reads operator and right operand, or ANY/ALL and what it ranges over.
func (p *parser) binary(left ast.Expr, prec int) ast.Expr {
	pos, op := p.pos(), p.text()
	switch p.kind() {
	case tIdent:
		op = p.qualifiedOperator()
	case tParam, tOp:
		op = p.operator()
	default:
		p.next()
	}
	if k := p.kind(); (k == kAny || k == kSome || k == kAll) && p.peek(1) == tLParen {
		return p.quantified(left, pos, op)
	}
	return &ast.Binary{Pos: pos, Op: op, L: left, R: p.exprPrec(prec + 1)}
}

// operator reads an operator that may have a ? in it, which is a token of its own: ?, ?|, ?& and @?.
func (p *parser) operator() string {
	t := p.tok()
	op := t.text
	if t.kind == tParam {
		op = "?"
	}
	p.next()
	next := p.tok()
	if next.pos != t.end {
		return op
	}
	switch {
	case op == "?" && next.kind == tOp && (next.text == "|" || next.text == "&"):
		op += next.text
		p.next()
	case op == "@" && next.kind == tParam && next.text == "":
		op = "@?"
		p.next()
	}
	return op
}

// qualifiedOperator reads OPERATOR(pg_catalog.~), which psql sends. The schema is
// dropped: operators are not in schemas here.
func (p *parser) qualifiedOperator() string {
	p.next()
	p.expect(tLParen)
	for p.kind().isName() {
		p.next()
		p.expect(tDot)
	}
	op := p.text()
	if k := p.kind(); k != tOp && (k < tPlus || k > tGe) {
		p.unexpected()
	}
	p.next()
	p.expect(tRParen)
	return op
}

func (p *parser) quantified(left ast.Expr, pos int, op string) ast.Expr {
	e := &ast.Quantified{Pos: pos, X: left, Op: op, All: p.kind() == kAll}
	p.next()
	inner := p.pos()
	list, q := p.parenItems()
	switch {
	case q != nil:
		e.Query = q
	case len(list) == 1:
		e.Array = list[0]
	default:
		p.fail(inner, diag.SyntaxError, "ANY and ALL take a subquery or one array")
	}
	return e
}

// is reads IS [NOT] ..., ISNULL, NOTNULL.
func (p *parser) is(left ast.Expr) ast.Expr {
	pos, k := p.pos(), p.kind()
	p.next()
	if k != kIs {
		return &ast.IsNull{Pos: pos, X: left, Not: k == kNotnull}
	}
	not := p.accept(kNot)
	switch {
	case p.accept(kNull):
		return &ast.IsNull{Pos: pos, X: left, Not: not}
	case p.accept(kTrue):
		return &ast.IsBool{Pos: pos, X: left, Value: ast.True, Not: not}
	case p.accept(kFalse):
		return &ast.IsBool{Pos: pos, X: left, Value: ast.False, Not: not}
	case p.acceptWord("unknown"):
		return &ast.IsBool{Pos: pos, X: left, Value: ast.Unknown, Not: not}
	case p.accept(kDistinct):
		p.expect(kFrom)
		return &ast.IsDistinct{Pos: pos, L: left, R: p.exprPrec(precIs + 1), Not: not}
	}
	p.unexpectedHint("IS is followed by [NOT] NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")
	return nil
}

// in reads the operators of level precIn; the cursor is on the word k itself.
func (p *parser) in(left ast.Expr, pos int, k kind, not bool) ast.Expr {
	p.next()
	switch k {
	case kBetween:
		e := &ast.Between{Pos: pos, X: left, Not: not}
		e.Symmetric = p.accept(kSymmetric)
		e.Lo = p.exprPrec(precIn + 1)
		p.expect(kAnd)
		e.Hi = p.exprPrec(precIn + 1)
		return e
	case kIn:
		if p.kind() != tLParen { // DuckDB's: among the elements of a list
			if k := p.kind(); k != tLBracket && k != tIdent && k != kArray {
				p.unexpected()
			}
			among := &ast.Quantified{Pos: pos, X: left, Op: "=", Array: p.exprPrec(precIn + 1)}
			if not {
				return &ast.Not{Pos: pos, X: among}
			}
			return among
		}
		list, q := p.parenItems()
		if q != nil {
			return &ast.InQuery{Pos: pos, X: left, Query: q, Not: not}
		}
		return &ast.InList{Pos: pos, X: left, List: list, Not: not}
	case tIdent: // GLOB, which DuckDB also writes as an operator
		return &ast.Binary{Pos: pos, Op: "~~~", L: left, R: p.exprPrec(precIn + 1)}
	}
	e := &ast.Like{Pos: pos, X: left, Not: not}
	switch k {
	case kIlike:
		e.Kind = ast.ILike
	case kSimilar:
		p.expect(kTo)
		e.Kind = ast.SimilarTo
	}
	if next := p.kind(); k != kSimilar && (next == kAny || next == kSome || next == kAll) && p.peek(1) == tLParen {
		op := e.Kind.String()
		if not {
			op = "not " + op
		}
		return p.quantified(left, pos, op)
	}
	e.Pattern = p.exprPrec(precIn + 1)
	if p.acceptWord("escape") {
		e.Escape = p.exprPrec(precIn + 1)
	}
	return e
}

// zone reads AT TIME ZONE x or AT LOCAL.
func (p *parser) zone(left ast.Expr) ast.Expr {
	e := &ast.AtTimeZone{Pos: p.pos(), X: left}
	p.next()
	if p.acceptWord("local") {
		return e
	}
	p.next() // TIME
	p.next() // ZONE
	e.Zone = p.exprPrec(precZone + 1)
	return e
}

// postfix extends a primary with casts, subscripts and fields.
func (p *parser) postfix(e ast.Expr) ast.Expr {
	for n := 0; ; n++ {
		pos := p.pos()
		switch p.kind() {
		case tCast:
			p.next()
			e = &ast.Cast{Pos: pos, X: e, Type: p.typeName()}
		case tLBracket:
			e = p.subscript(e)
		case tDot:
			p.next()
			if p.kind() == tStar {
				star := &ast.Star{Pos: pos, Of: e}
				p.starOptions(star)
				return star
			}
			e = &ast.Field{Pos: pos, X: e, Name: p.label()}
		default:
			return e
		}
		p.link(n)
	}
}

func (p *parser) subscript(x ast.Expr) ast.Expr {
	e := &ast.Subscript{Pos: p.expect(tLBracket), X: x}
	if p.kind() != tColon {
		e.Index = p.expr()
	}
	if p.accept(tColon) {
		e.Slice = true
		if p.kind() != tRBracket {
			e.Upper = p.expr()
		}
	}
	p.expect(tRBracket)
	return e
}

// parenItems reads (query) or (a, b, ...). A query may hide behind more parentheses
// than one, and only what follows them tells ((select 1) union select 2) from
// ((select 1) + 1): so the inner parentheses are read as an expression first, and
// continued as a query if a query goes on there.
func (p *parser) parenItems() ([]ast.Expr, *ast.Query) {
	p.expect(tLParen)
	if !p.queryAhead() {
		list := []ast.Expr{p.expr()}
		for p.more() {
			list = append(list, p.expr())
		}
		p.expect(tRParen)
		return list, nil
	}
	if p.kind() != tLParen {
		q := p.query()
		p.expect(tRParen)
		return nil, q
	}
	first := p.expr()
	if sub, ok := first.(*ast.Subquery); ok && (p.kind() == tRParen || p.queryGoesOn()) {
		q := p.queryRest(nil, sub.Query)
		p.expect(tRParen)
		return nil, q
	}
	list := []ast.Expr{first}
	for p.accept(tComma) {
		list = append(list, p.expr())
	}
	p.expect(tRParen)
	return list, nil
}

// paren reads a parenthesized expression, row or scalar subquery.
func (p *parser) paren() ast.Expr {
	pos := p.pos()
	list, q := p.parenItems()
	if q != nil {
		return &ast.Subquery{Pos: pos, Query: q}
	}
	if len(list) == 1 {
		return list[0]
	}
	return &ast.Row{Pos: pos, Elems: list}
}

// param reads $n or ?.
func (p *parser) param() ast.Expr {
	t := p.tok()
	pos := int(t.pos)
	if t.text == "" {
		p.next()
		p.marks++
		return &ast.Param{Pos: pos, Index: p.marks}
	}
	n, err := strconv.ParseUint(t.text, 10, 16)
	if err != nil || n == 0 {
		p.fail(pos, diag.UndefinedParameter, "there is no parameter $%s", clip(t.text))
	}
	p.next()
	p.params = max(p.params, int(n))
	return &ast.Param{Pos: pos, Index: int(n)}
}

func itoa(n int) string { return strconv.Itoa(n) }
