package parse

import (
	"strconv"

	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// primary reads an operand with its casts and subscripts.
func (p *parser) primary() ast.Expr {
	pos := p.pos()
	switch k := p.kind(); k {
	case tIdent, tQuoted:
		return p.named()
	case tString:
		return p.postfix(p.literal(ast.LitString))
	case tInt:
		return p.postfix(p.literal(ast.LitInt))
	case tDecimal:
		return p.postfix(p.literal(ast.LitDecimal))
	case tFloat:
		return p.postfix(p.literal(ast.LitFloat))
	case kTrue, kFalse:
		return p.postfix(p.literal(ast.LitBool))
	case kNull:
		p.next()
		return p.postfix(&ast.Literal{Pos: pos, Kind: ast.LitNull})
	case tParam:
		return p.postfix(p.param())
	case tLParen:
		return p.postfix(p.paren())
	case kCase:
		return p.postfix(p.caseExpr())
	case kCast:
		p.next()
		return p.postfix(p.castArgs(pos, false))
	case kArray:
		p.next()
		if p.kind() == tLParen {
			return p.postfix(&ast.ArrayQuery{Pos: pos, Query: p.queryInParens()})
		}
		return p.postfix(p.array(pos))
	case tLBracket:
		return p.postfix(p.array(pos))
	case tLBrace:
		return p.postfix(p.structure(pos))
	case kCurrentDate, kCurrentTime, kCurrentTimestamp, kLocaltime, kLocaltimestamp,
		kCurrentUser, kCurrentRole, kCurrentCatalog, kSessionUser, kUser:
		return p.postfix(p.bareFunc())
	case kExists:
		if p.peek(1) == tLParen {
			p.next()
			return p.postfix(&ast.Exists{Pos: pos, Query: p.queryInParens()})
		}
	case kRow:
		if p.peek(1) == tLParen {
			p.next()
			return p.postfix(p.row(pos))
		}
	case kInterval:
		if e := p.interval(); e != nil {
			return p.postfix(e)
		}
	case kTime, kTimestamp, kChar, kCharacter, kNchar, kNational, kBit:
		if e := p.standardTyped(); e != nil {
			return p.postfix(e)
		}
	case kExtract, kSubstring, kPosition, kTrim, kOverlay:
		if p.peek(1) == tLParen {
			return p.postfix(p.standardCall())
		}
	case kCurrentSchema:
		if p.peek(1) != tLParen {
			return p.postfix(p.bareFunc())
		}
	}
	switch k := p.kind(); {
	case k.isName():
		return p.named()
	case k > kwFirst && classOf[k] == ast.TypeFunc && (p.peek(1) == tLParen || p.peek(1) == tString):
		return p.named()
	}
	p.unexpected()
	return nil
}

func (p *parser) literal(kind ast.LitKind) *ast.Literal {
	t := p.tok()
	e := &ast.Literal{Pos: int(t.pos), Kind: kind, Text: t.text}
	p.next()
	return e
}

// named reads what begins with a name: a column, a call, or type 'string'.
func (p *parser) named() ast.Expr {
	switch next := p.peek(1); {
	case next == tLParen && p.isWord("try_cast"):
		pos := p.pos()
		p.next()
		return p.postfix(p.castArgs(pos, true))
	case next == kPrecision && p.isWord("double") && p.peek(2) == tString:
		return p.postfix(p.typedLiteral(p.typeName()))
	}
	if p.isWord("map") && p.peek(1) == tLBrace {
		return p.postfix(p.mapLiteral())
	}
	name := p.qualifiedFrom(p.take())
	switch p.kind() {
	case tLParen:
		call := p.call(name)
		if p.kind() == tString {
			if t, ok := typeOfCall(call); ok {
				return p.postfix(p.typedLiteral(t))
			}
		}
		return p.postfix(call)
	case tString:
		if len(name) <= 2 {
			t := ast.TypeName{Pos: name.Pos(), Name: unifyType(name.Last())}
			if len(name) == 2 {
				t.Schema = name[0].Name
			}
			return p.postfix(p.typedLiteral(t))
		}
	case tCast, tLBracket:
		return p.postfix(p.columnRef(name))
	case tDot:
		if p.peek(1) == tStar {
			p.next()
			p.unexpectedHint("t.* may only stand in a select list: the row as one value is t")
		}
		p.next()
		p.unexpected()
	}
	return p.columnRef(name)
}

func (p *parser) typedLiteral(t ast.TypeName) ast.Expr {
	e := &ast.TypedLiteral{Pos: t.Pos, Type: t, Text: p.text()}
	p.expect(tString)
	return e
}

// typeOfCall reads a call back as a type with modifiers: numeric(4,2) '1.5'.
func typeOfCall(f *ast.Func) (ast.TypeName, bool) {
	if len(f.Name) > 1 || f.Star || f.Distinct || f.Variadic || f.OrderBy != nil || f.Over != nil || f.Filter != nil ||
		f.WithinGroup != nil || f.IgnoreNulls || len(f.Args) == 0 {
		return ast.TypeName{}, false
	}
	t := ast.TypeName{Pos: f.Pos, Name: unifyType(f.Name.Last())}
	for _, a := range f.Args {
		lit, ok := a.X.(*ast.Literal)
		if !ok || lit.Kind != ast.LitInt || !a.Name.Empty() {
			return ast.TypeName{}, false
		}
		m, err := strconv.ParseInt(lit.Text, 10, 32)
		if err != nil {
			return ast.TypeName{}, false
		}
		t.Mods = append(t.Mods, m)
	}
	return t, true
}

// standardTyped reads a literal of a type whose name may have several words, such as
// timestamp with time zone '...'; nil if the word here is a column or function.
func (p *parser) standardTyped() ast.Expr {
	n := 1
	if p.kind() == kNational {
		n++
	}
	if p.peek(n) == tLParen && p.peek(n+1) == tInt && p.peek(n+2) == tRParen {
		n += 3
	}
	switch next := p.at(n); {
	case next.kind == tString, next.is("varying"):
	case (next.kind == kWith || next.is("without")) && p.peek(n+1) == kTime && p.at(n+2).is("zone"):
	default:
		return nil
	}
	return p.typedLiteral(p.typeName())
}

// interval reads an interval literal, or nil if INTERVAL is a name here.
func (p *parser) interval() ast.Expr {
	e := &ast.Interval{Pos: p.pos(), Precision: -1}
	switch p.peek(1) {
	case tString:
		p.next()
		e.Text = p.text()
		p.next()
		e.Unit, e.Precision = p.intervalUnit()
	case tInt, tDecimal, tFloat, tParam:
		p.next()
		if p.kind() == tParam {
			e.X = p.param()
		} else {
			e.X = p.literal([...]ast.LitKind{tInt: ast.LitInt, tDecimal: ast.LitDecimal, tFloat: ast.LitFloat}[p.kind()])
		}
		p.requireUnit(e)
	case tLParen:
		if p.peek(2) == tInt && p.peek(3) == tRParen && p.peek(4) == tString {
			p.next()
			e.Precision = p.smallInt()
			e.Text = p.text()
			p.expect(tString)
			return e
		}
		p.next()
		p.expect(tLParen)
		e.X = p.expr()
		p.expect(tRParen)
		p.requireUnit(e)
	default:
		return nil
	}
	return e
}

func (p *parser) requireUnit(e *ast.Interval) {
	e.Unit, e.Precision = p.intervalUnit()
	if e.Unit == "" {
		p.unexpectedHint("a unit must follow: interval 3 month, or interval '3 months'")
	}
}

// smallInt reads (n).
func (p *parser) smallInt() int {
	p.expect(tLParen)
	n, err := strconv.ParseUint(p.text(), 10, 16)
	if p.kind() != tInt || err != nil {
		p.unexpected()
	}
	p.next()
	p.expect(tRParen)
	return int(n)
}

// units maps the spellings of interval units to the singular.
var units = map[string]string{
	"year": "year", "years": "year", "quarter": "quarter", "quarters": "quarter", "month": "month", "months": "month",
	"week": "week", "weeks": "week", "day": "day", "days": "day", "hour": "hour", "hours": "hour",
	"minute": "minute", "minutes": "minute", "second": "second", "seconds": "second",
	"millisecond": "millisecond", "milliseconds": "millisecond", "microsecond": "microsecond",
	"microseconds": "microsecond", "decade": "decade", "decades": "decade", "century": "century",
	"centuries": "century", "millennium": "millennium", "millennia": "millennium",
}

// intervalUnit reads YEAR, YEAR TO MONTH, SECOND(3), ... if one is there.
func (p *parser) intervalUnit() (unit string, precision int) {
	precision = -1
	if p.kind() != tIdent {
		return "", precision
	}
	unit = units[p.text()]
	if unit == "" {
		return "", precision
	}
	p.next()
	last := unit
	if p.kind() == kTo {
		p.next()
		last = units[p.text()]
		if p.kind() != tIdent || last == "" {
			p.unexpected()
		}
		unit += " to " + last
		p.next()
	}
	if last == "second" && p.kind() == tLParen {
		precision = p.smallInt()
	}
	return unit, precision
}

func (p *parser) caseExpr() ast.Expr {
	e := &ast.Case{Pos: p.expect(kCase)}
	if p.kind() != kWhen {
		e.Operand = p.expr()
	}
	for p.accept(kWhen) {
		w := ast.When{Cond: p.expr()}
		p.expect(kThen)
		w.Then = p.expr()
		e.Whens = append(e.Whens, w)
	}
	if len(e.Whens) == 0 {
		p.unexpectedHint("CASE needs at least one WHEN ... THEN ...")
	}
	if p.accept(kElse) {
		e.Else = p.expr()
	}
	if p.kind() != kEnd {
		p.unexpectedHint("CASE ends with END")
	}
	p.next()
	return e
}

// castArgs reads (x AS type).
func (p *parser) castArgs(pos int, try bool) ast.Expr {
	p.expect(tLParen)
	e := &ast.Cast{Pos: pos, Try: try, X: p.expr()}
	p.expect(kAs)
	e.Type = p.typeName()
	p.expect(tRParen)
	return e
}

// array reads [a, b], also after ARRAY. Inner arrays may leave the word out.
func (p *parser) array(pos int) ast.Expr {
	e := &ast.Array{Pos: pos}
	p.expect(tLBracket)
	if p.kind() != tRBracket {
		e.Elems = p.exprList()
	}
	if p.kind() == kFor && len(e.Elems) == 1 {
		return p.comprehension(e)
	}
	p.expect(tRBracket)
	return e
}

// comprehension reads the rest of [x + 1 for x in list if x > 0]: it is list_transform of list_filter.
func (p *parser) comprehension(e *ast.Array) ast.Expr {
	p.expect(kFor)
	var params []ast.Ident
	for {
		if !p.kind().isName() {
			p.unexpected()
		}
		params = append(params, p.take())
		if !p.accept(tComma) {
			break
		}
	}
	call := func(name string, list, body ast.Expr) ast.Expr {
		l := &ast.Lambda{Pos: body.Position(), Params: params, Body: body}
		return &ast.Func{Pos: e.Pos, Name: ast.Name{{Name: name, Pos: e.Pos}}, Args: []ast.Arg{{X: list}, {X: l}}}
	}
	p.expect(kIn)
	list := p.expr()
	if p.acceptWord("if") {
		list = call("list_filter", list, p.expr())
	}
	p.expect(tRBracket)
	return call("list_transform", list, e.Elems[0])
}

// structure reads {'key': value, …}.
func (p *parser) structure(pos int) ast.Expr {
	e := &ast.Struct{Pos: pos}
	p.expect(tLBrace)
	for p.kind() != tRBrace {
		key := ast.Ident{Name: p.text(), Pos: p.pos(), Quoted: true}
		if p.kind() != tString && !p.kind().isLabel() {
			p.unexpected()
		}
		p.next()
		p.expect(tColon)
		e.Keys, e.Values = append(e.Keys, key), append(e.Values, p.expr())
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRBrace)
	return e
}

// mapLiteral reads MAP {key: value, …}, which is map([key, …], [value, …]).
func (p *parser) mapLiteral() ast.Expr {
	id := p.take()
	keys, values := &ast.Array{Pos: p.pos()}, &ast.Array{Pos: p.pos()}
	p.expect(tLBrace)
	for p.kind() != tRBrace {
		keys.Elems = append(keys.Elems, p.expr())
		p.expect(tColon)
		values.Elems = append(values.Elems, p.expr())
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRBrace)
	f := &ast.Func{Pos: id.Pos, Name: ast.Name{id}}
	if len(keys.Elems) > 0 {
		f.Args = []ast.Arg{{X: keys}, {X: values}}
	}
	return f
}

// row reads the list of ROW(...), which may be empty.
func (p *parser) row(pos int) ast.Expr {
	e := &ast.Row{Pos: pos}
	p.expect(tLParen)
	if p.kind() != tRParen {
		e.Elems = p.exprList()
	}
	p.expect(tRParen)
	return e
}
