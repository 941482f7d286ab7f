package parse

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// fromList reads the comma list after FROM.
func (p *parser) fromList() []ast.TableExpr {
	list := make([]ast.TableExpr, 0, 4)
	for {
		list = append(list, p.table())
		if !p.more() {
			return list
		}
	}
}

// table reads one entry of FROM: a table and the joins to its right.
func (p *parser) table() ast.TableExpr {
	p.enter()
	t := p.joins(p.tableItem())
	p.leave()
	return t
}

// tableItem reads a table with what is done to it alone: PIVOT, UNPIVOT, TABLESAMPLE.
func (p *parser) tableItem() ast.TableExpr { return p.shaped(p.tablePrimary()) }

// joins extends left with all joins that follow.
func (p *parser) joins(left ast.TableExpr) ast.TableExpr {
	for n := 0; p.joinAhead(); n++ {
		p.link(n)
		left = p.join(left)
	}
	return left
}

func (p *parser) joinAhead() bool {
	switch p.kind() {
	case kJoin, kInner, kLeft, kRight, kFull, kCross, kNatural:
		return true
	case tIdent:
		if p.semiAhead() || p.asOfAhead() {
			return true
		}
		p.refuseForeignJoin()
	}
	return false
}

// asOfAhead: ASOF is a name unless a join follows.
func (p *parser) asOfAhead() bool {
	switch p.peek(1) {
	case kJoin, kInner, kLeft, kRight, kFull:
		return p.isWord("asof")
	}
	return false
}

// semiAhead: SEMI, ANTI and POSITIONAL are ordinary names unless JOIN follows.
func (p *parser) semiAhead() bool {
	return p.peek(1) == kJoin && (p.isWord("semi") || p.isWord("anti") || p.isWord("positional"))
}

func (p *parser) join(left ast.TableExpr) ast.TableExpr {
	j := &ast.Join{L: left, Natural: p.accept(kNatural)}
	if !j.Natural && p.asOfAhead() {
		p.next()
		j.AsOf = true
	}
	switch k := p.kind(); {
	case k == kInner:
		p.next()
	case k == kLeft, k == kRight, k == kFull:
		j.Kind = [...]ast.JoinKind{kLeft: ast.LeftJoin, kRight: ast.RightJoin, kFull: ast.FullJoin}[k]
		p.next()
		p.accept(kOuter)
	case k == kCross && !j.Natural:
		j.Kind = ast.CrossJoin
		p.next()
	case k == tIdent && p.semiAhead():
		switch {
		case p.isWord("anti"):
			j.Kind = ast.AntiJoin
		case p.isWord("positional"):
			j.Kind, j.ByPlace = ast.FullJoin, true
		default:
			j.Kind = ast.SemiJoin
		}
		p.next()
	}
	p.refuseForeignJoin() // LEFT SEMI JOIN
	j.Pos = p.expect(kJoin)
	j.R = p.tableItem()
	if j.Natural || j.Kind == ast.CrossJoin || j.ByPlace {
		return j
	}
	// a JOIN b JOIN c ON x ON y: the inner join is the right side of the outer one.
	if p.kind() != kOn && p.kind() != kUsing && p.joinAhead() {
		p.enter()
		j.R = p.joins(j.R)
		p.leave()
	}
	switch {
	case p.accept(kOn):
		j.On = p.expr()
	case p.accept(kUsing):
		j.Using = p.nameList()
	default:
		p.unexpectedHint("JOIN needs ON or USING (CROSS JOIN does not)")
	}
	return j
}

// tablePrimary reads a table, file, table function, subquery or parenthesized join.
func (p *parser) tablePrimary() ast.TableExpr {
	pos := p.pos()
	lateral := p.accept(kLateral)
	switch k := p.kind(); {
	case k == tLParen:
		return p.tableParen(pos, lateral)
	case k == kValues && p.peek(1) == tLParen:
		q := &ast.Query{Pos: pos, Body: p.values()}
		return &ast.SubqueryTable{Pos: pos, Query: q, Lateral: lateral, Alias: p.alias()}
	case k == tString && !lateral:
		t := &ast.FileRef{Pos: pos, Path: p.text()}
		p.next()
		t.Alias = p.alias()
		return t
	case k == kOnly && !lateral:
		p.next()
		k = p.kind()
		fallthrough
	case k.isName(), k > kwFirst && p.peek(1) == tLParen && classOf[k] == ast.TypeFunc:
		if !p.kind().isLabel() {
			p.unexpected()
		}
		if p.isWord("rows") && p.peek(1) == kFrom && p.peek(2) == tLParen {
			return p.rowsFrom(pos, lateral)
		}
		name := p.qualifiedFrom(p.take())
		if p.kind() == tLParen {
			return p.funcTable(pos, lateral, name)
		}
		if lateral {
			p.unexpectedHint("LATERAL is followed by a subquery or a function")
		}
		p.accept(tStar) // t * is the old way to say that children of t count, too
		return &ast.TableRef{Pos: name.Pos(), Name: name, Alias: p.alias()}
	}
	p.unexpected()
	return nil
}

// rowsFrom reads ROWS FROM (f(…), g(…)): lists of what the functions give, side by side.
func (p *parser) rowsFrom(pos int, lateral bool) ast.TableExpr {
	p.next()
	p.next()
	p.expect(tLParen)
	t := &ast.FuncTable{Pos: pos, Lateral: lateral, Call: &ast.Func{Pos: pos, Name: ast.Name{{Name: "unnest", Pos: pos}}}}
	for {
		f := p.call(p.qualified())
		if p.kind() == kAs {
			panic(diag.Unsupported(p.pos(), "a column definition list in ROWS FROM").WithHint("json_to_recordset(x) AS t(a INTEGER) stands in FROM by itself"))
		}
		if f.Name.Last() == "unnest" {
			for _, a := range f.Args {
				t.Call.Args, t.Names = append(t.Call.Args, a), append(t.Names, "unnest")
			}
		} else {
			rows := &ast.Select{Pos: f.Pos, Items: []ast.SelectItem{{X: &ast.Star{Pos: f.Pos}}}, From: []ast.TableExpr{&ast.FuncTable{Pos: f.Pos, Call: f}}}
			t.Call.Args = append(t.Call.Args, ast.Arg{X: &ast.ArrayQuery{Pos: f.Pos, Query: &ast.Query{Pos: f.Pos, Body: rows}}})
			t.Names = append(t.Names, f.Name.Last())
		}
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return p.funcTableRest(t)
}

func (p *parser) funcTable(pos int, lateral bool, called ast.Name) ast.TableExpr {
	return p.funcTableRest(&ast.FuncTable{Pos: pos, Lateral: lateral, Call: p.call(called)})
}

// funcTableRest reads what follows a function in FROM.
func (p *parser) funcTableRest(t *ast.FuncTable) ast.TableExpr {
	if p.kind() == kWith && p.at(1).is("ordinality") {
		p.next()
		p.next()
		t.Ordinality = true
	}
	name := 0 // where an alias would be
	if p.kind() == kAs {
		name = 1
	}
	switch {
	case name == 1 && p.peek(1) == tLParen && p.definesColumns(2):
		p.next()
		t.Defs = p.columnTypes()
	case p.at(name).kind.isName() && p.peek(name+1) == tLParen && p.definesColumns(name+2):
		p.accept(kAs)
		t.Alias = &ast.Alias{Name: p.name()}
		t.Defs = p.columnTypes()
	default:
		t.Alias = p.alias()
	}
	return t
}

// definesColumns reports that a name with a type is at token i, not one of a list of names.
func (p *parser) definesColumns(i int) bool {
	k := p.peek(i + 1)
	return p.at(i).kind.isName() && k != tComma && k != tRParen
}

// columnTypes reads (a integer, b text).
func (p *parser) columnTypes() []ast.ColumnDef {
	var out []ast.ColumnDef
	p.expect(tLParen)
	for {
		pos := p.pos()
		out = append(out, ast.ColumnDef{Pos: pos, Name: p.name(), Type: p.typeName()})
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return out
}

// tableParen reads (query) alias or (join) [alias]. As with expressions, only what
// follows an inner parenthesis tells the two apart.
func (p *parser) tableParen(pos int, lateral bool) ast.TableExpr {
	p.enter()
	defer p.leave()
	p.expect(tLParen)
	var q *ast.Query
	if p.queryAhead() && p.kind() != tLParen {
		q = p.query()
	} else if p.listingAhead() {
		q = &ast.Query{Pos: p.pos(), Body: p.listing()}
	} else {
		inner := p.table()
		sub, ok := inner.(*ast.SubqueryTable)
		switch {
		case ok && sub.Alias == nil && !sub.Lateral && (p.kind() == tRParen || p.queryGoesOn()):
			q = p.queryRest(nil, sub.Query)
		case lateral:
			p.unexpectedHint("LATERAL is followed by a subquery or a function")
		default:
			p.expect(tRParen)
			if j, ok := inner.(*ast.Join); ok && j.Alias == nil {
				j.Alias = p.alias()
			}
			return inner
		}
	}
	p.expect(tRParen)
	return &ast.SubqueryTable{Pos: pos, Query: q, Lateral: lateral, Alias: p.alias()}
}

// alias reads [AS] name [(columns)], or nil.
func (p *parser) alias() *ast.Alias {
	if !p.accept(kAs) {
		if !p.kind().isName() {
			return nil
		}
		if p.kind() == tIdent && (p.isWord("qualify") || p.semiAhead() || p.asOfAhead() || p.shapeFollows()) {
			return nil
		}
		p.refuseForeignJoin()
	}
	return &ast.Alias{Name: p.name(), Columns: p.optNameList()}
}

// foreignJoins are words that begin a join in other dialects, or in ours at another place.
var foreignJoins = map[string]string{
	"anti":          "write a ANTI JOIN b, or WHERE NOT EXISTS",
	"global":        "write the join without it",
	"paste":         "join by a column that numbers the rows",
	"positional":    "write a POSITIONAL JOIN b",
	"semi":          "write a SEMI JOIN b, or WHERE EXISTS",
	"splice":        "write a FULL JOIN",
	"straight_join": "write JOIN",
}

// refuseForeignJoin leaves if such a word stands where it would be taken for the alias of a table,
// and a join follows: it would be another one than was meant.
func (p *parser) refuseForeignJoin() {
	t := p.tok()
	hint := foreignJoins[t.text]
	if hint == "" || !t.is(t.text) {
		return
	}
	what := strings.ToUpper(t.text)
	switch p.peek(1) {
	case kJoin, kInner, kLeft, kRight, kFull, kCross, kNatural, kOuter:
		what += " JOIN"
	default:
		if t.text != "straight_join" {
			return
		}
	}
	panic(diag.Unsupported(int(t.pos), "%s", what).WithHint("%s; an alias of this name needs AS", hint))
}
