package parse

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// call reads the arguments and modifiers of a call of name.
func (p *parser) call(name ast.Name) *ast.Func {
	f := &ast.Func{Pos: name.Pos(), Name: name}
	p.expect(tLParen)
	switch {
	case p.kind() == tStar && p.peek(1) == tRParen:
		p.next()
		f.Star = true
	case p.kind() == tStar && len(name) == 1 && name[0].Name == "columns" && !name[0].Quoted:
		f.Star, f.StarOf = true, p.star(0).(*ast.Star)
	case p.kind() != tRParen:
		if p.accept(kDistinct) {
			f.Distinct = true
		} else if p.kind() == kAll {
			p.next()
		}
		p.args(f)
		if p.kind() == kOrder {
			f.OrderBy = p.orderBy()
		}
		p.nullTreatment(f)
	}
	p.expect(tRParen)
	p.callTail(f)
	return f
}

func (p *parser) args(f *ast.Func) {
	for {
		var a ast.Arg
		if p.accept(kVariadic) {
			f.Variadic = true
		}
		if k := p.peek(1); (k == tArrow || k == tAssign) && p.kind().isLabel() {
			a.Name = p.take()
			p.next()
		}
		switch {
		case p.lambdaAhead(f):
			a.X = p.lambda()
		case p.kind() == tStar && p.at(1).is("columns") && p.peek(2) == tLParen:
			p.next()
			id := p.take()
			columns := p.call(ast.Name{id})
			columns.Unpack = true
			a.X = columns
		case p.wholeRowAhead() && f.Name.Last() != "row" && f.Name.Last() != "columns": // of which ROW(t.*) and COLUMNS(t.*) have each column
			a.X = p.columnRef(ast.Name{p.take()})
			p.next()
			p.next()
		default:
			a.X = p.expr()
		}
		f.Args = append(f.Args, a)
		if f.Variadic || !p.accept(tComma) {
			return
		}
	}
}

// wholeRowAhead: t.* as an argument is the row as one value, as t is.
func (p *parser) wholeRowAhead() bool {
	return p.kind().isName() && p.peek(1) == tDot && p.peek(2) == tStar && (p.peek(3) == tComma || p.peek(3) == tRParen)
}

// lambda reads x -> body, (x, y) -> body or LAMBDA x, y: body.
func (p *parser) lambda() ast.Expr {
	l := &ast.Lambda{Pos: p.pos()}
	word := p.isWord("lambda") && p.peek(1).isName()
	inside := p.kind() == tLParen
	if word || inside {
		p.next()
	}
	for {
		l.Params = append(l.Params, p.take())
		if !word && !inside || !p.accept(tComma) {
			break
		}
	}
	switch {
	case word:
		p.expect(tColon)
	case inside:
		p.expect(tRParen)
		p.next()
	default:
		p.next()
	}
	l.Body = p.expr()
	return l
}

// lambdaFuncs are functions that take a lambda: those of lists, and COLUMNS.
var lambdaFuncs = wordSet(`list_transform array_transform list_apply array_apply apply list_filter array_filter filter list_reduce array_reduce reduce columns`)

// lambdaAhead: x -> …, (x, y) -> … or LAMBDA x: … as an argument of such a function.
func (p *parser) lambdaAhead(f *ast.Func) bool {
	if name := f.Name.Last(); !lambdaFuncs[name] || len(f.Args) == 0 && name != "columns" { // list_filter(j -> 'a', …) begins with JSON
		return false
	}
	arrow := func(i int) bool { return p.peek(i) == tOp && p.at(i).text == "->" }
	switch {
	case p.isWord("lambda") && p.peek(1).isName(), p.kind().isName() && arrow(1):
		return true
	case p.kind() == tLParen && p.peek(1).isName():
		i := 2
		for p.peek(i) == tComma && p.peek(i+1).isName() {
			i += 2
		}
		return p.peek(i) == tRParen && arrow(i+1)
	}
	return false
}

// nullTreatment reads IGNORE NULLS, which stands inside the parentheses in DuckDB and
// after them in the standard. RESPECT NULLS is the default.
func (p *parser) nullTreatment(f *ast.Func) {
	switch {
	case p.acceptWords("ignore", "nulls"):
		f.IgnoreNulls = true
	case p.acceptWords("respect", "nulls"):
	}
}

// callTail reads WITHIN GROUP, FILTER and OVER.
func (p *parser) callTail(f *ast.Func) {
	if p.kind() != tIdent {
		return // the usual case: an operator or a clause follows
	}
	if p.isWord("within") && p.peek(1) == kGroup {
		p.next()
		p.next()
		p.expect(tLParen)
		f.WithinGroup = p.orderBy()
		p.expect(tRParen)
	}
	if p.isWord("filter") && p.peek(1) == tLParen {
		p.next()
		p.next()
		p.accept(kWhere) // DuckDB leaves it out
		f.Filter = p.expr()
		p.expect(tRParen)
	}
	p.nullTreatment(f)
	if p.isWord("over") && (p.peek(1) == tLParen || p.peek(1).isName()) {
		p.next()
		f.Over = p.over()
	}
}

// bareFunc reads CURRENT_DATE and its like, some of which take a precision.
func (p *parser) bareFunc() ast.Expr {
	k := p.kind()
	name := ast.Name{p.take()}
	f := &ast.Func{Pos: name.Pos(), Name: name, Bare: true}
	switch k {
	case kCurrentTime, kCurrentTimestamp, kLocaltime, kLocaltimestamp:
		if p.kind() == tLParen {
			p.next()
			if p.kind() != tInt {
				p.unexpected()
			}
			f.Bare = false
			f.Args = []ast.Arg{{X: p.literal(ast.LitInt)}}
			p.expect(tRParen)
		}
	}
	return f
}

// standardCall reads the functions whose arguments SQL separates by words.
func (p *parser) standardCall() ast.Expr {
	k := p.kind()
	id := p.take()
	switch k {
	case kExtract:
		return p.extract(id.Pos)
	case kTrim:
		return p.trim(id)
	}
	f := &ast.Func{Pos: id.Pos, Name: ast.Name{id}}
	p.expect(tLParen)
	if k == kPosition {
		f.Args = append(f.Args, ast.Arg{X: p.exprPrec(precIn + 1)})
		if p.kind() != kIn {
			p.unexpectedHint("write position(part IN whole), or strpos(whole, part)")
		}
		p.next()
		f.Args = append(f.Args, ast.Arg{X: p.exprPrec(precIn + 1)})
		p.expect(tRParen)
		return f
	}
	if p.kind() != tRParen {
		p.args(f)
		if len(f.Args) == 1 && !f.Variadic {
			p.wordArgs(f, k)
		}
	}
	p.expect(tRParen)
	return f
}

// wordArgs reads what follows the first argument of SUBSTRING and OVERLAY.
func (p *parser) wordArgs(f *ast.Func, k kind) {
	arg := func() { f.Args = append(f.Args, ast.Arg{X: p.expr()}) }
	if k == kOverlay && p.kind() == kPlacing {
		p.next()
		arg()
		p.expect(kFrom)
		arg()
		if p.accept(kFor) {
			arg()
		}
		return
	}
	if k != kSubstring {
		return
	}
	switch {
	case p.accept(kFrom):
		arg()
		if p.accept(kFor) {
			arg()
		}
	case p.kind() == kFor:
		pos := p.pos()
		p.next()
		length := p.expr()
		if p.accept(kFrom) {
			arg()
		} else {
			f.Args = append(f.Args, ast.Arg{X: &ast.Literal{Pos: pos, Kind: ast.LitInt, Text: "1"}})
		}
		f.Args = append(f.Args, ast.Arg{X: length})
	case p.kind() == kSimilar:
		p.fail(p.pos(), diag.FeatureNotSupported, "SUBSTRING ... SIMILAR is not supported")
	}
}

// extract reads (field FROM x).
func (p *parser) extract(pos int) ast.Expr {
	e := &ast.Extract{Pos: pos}
	p.expect(tLParen)
	if p.kind() != tString && !p.kind().isLabel() {
		p.unexpected()
	}
	e.Field = foldASCII(p.text())
	p.next()
	p.expect(kFrom)
	e.X = p.expr()
	p.expect(tRParen)
	return e
}

// trim reads ([LEADING|TRAILING|BOTH] [chars] [FROM] x [, chars]) as a call of
// ltrim, rtrim or btrim, the names that PostgreSQL gives the column too.
func (p *parser) trim(id ast.Ident) ast.Expr {
	f := &ast.Func{Pos: id.Pos}
	p.expect(tLParen)
	id.Name = "btrim"
	switch {
	case p.accept(kLeading):
		id.Name = "ltrim"
	case p.accept(kTrailing):
		id.Name = "rtrim"
	default:
		p.accept(kBoth)
	}
	f.Name = ast.Name{id}
	switch {
	case p.accept(kFrom):
		p.args(f)
	default:
		p.args(f)
		if len(f.Args) == 1 && p.accept(kFrom) {
			chars := f.Args[0]
			f.Args = nil
			p.args(f)
			f.Args = append(f.Args, chars)
		}
	}
	p.expect(tRParen)
	return f
}
