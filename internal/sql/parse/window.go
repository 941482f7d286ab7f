package parse

import "github.com/kelpiedb/kelpie/internal/sql/ast"

// windows reads the WINDOW clause: w AS (...), ...
func (p *parser) windows() []*ast.Window {
	var list []*ast.Window
	for {
		name := p.name()
		p.expect(kAs)
		w := p.windowDef()
		w.Name = name
		list = append(list, w)
		if !p.accept(tComma) {
			return list
		}
	}
}

// over reads what follows OVER: a name or a definition.
func (p *parser) over() *ast.Window {
	if p.kind() != tLParen {
		return &ast.Window{Pos: p.pos(), Ref: p.name(), Bare: true}
	}
	return p.windowDef()
}

func (p *parser) windowDef() *ast.Window {
	w := &ast.Window{Pos: p.expect(tLParen)}
	if p.kind().isName() && !p.windowClause() {
		w.Ref = p.take()
	}
	if p.isWord("partition") {
		p.next()
		p.expectWord("by")
		w.PartitionBy = p.exprList()
	}
	if p.kind() == kOrder {
		w.OrderBy = p.orderBy()
	}
	w.Frame = p.frame()
	p.expect(tRParen)
	return w
}

// windowClause: a word that begins a part of the definition and so is no base window.
func (p *parser) windowClause() bool {
	return p.isWord("partition") || p.isWord("rows") || p.isWord("range") || p.isWord("groups")
}

func (p *parser) frame() *ast.Frame {
	f := &ast.Frame{Pos: p.pos()}
	switch {
	case p.acceptWord("rows"):
		f.Unit = ast.FrameRows
	case p.acceptWord("range"):
		f.Unit = ast.FrameRange
	case p.acceptWord("groups"):
		f.Unit = ast.FrameGroups
	default:
		return nil
	}
	if p.accept(kBetween) {
		f.Start = p.bound()
		p.expect(kAnd)
		f.End = p.bound()
	} else {
		f.Start = p.bound()
		f.End = ast.Bound{Pos: f.Start.Pos, Kind: ast.CurrentRow}
	}
	if p.acceptWord("exclude") {
		f.Exclude = p.frameExclude()
	}
	return f
}

func (p *parser) bound() ast.Bound {
	b := ast.Bound{Pos: p.pos()}
	switch {
	case p.acceptWords("unbounded", "preceding"):
		b.Kind = ast.UnboundedPreceding
	case p.acceptWords("unbounded", "following"):
		b.Kind = ast.UnboundedFollowing
	case p.isWord("current") && p.peek(1) == kRow:
		p.next()
		p.next()
		b.Kind = ast.CurrentRow
	default:
		b.Offset = p.exprPrec(precAnd + 1) // the AND after it belongs to BETWEEN
		switch {
		case p.acceptWord("preceding"):
			b.Kind = ast.Preceding
		case p.acceptWord("following"):
			b.Kind = ast.Following
		default:
			p.unexpectedHint("a frame bound ends with PRECEDING or FOLLOWING")
		}
	}
	return b
}

func (p *parser) frameExclude() ast.FrameExclude {
	switch {
	case p.isWord("current") && p.peek(1) == kRow:
		p.next()
		p.next()
		return ast.ExcludeCurrentRow
	case p.accept(kGroup):
		return ast.ExcludeGroup
	case p.acceptWord("ties"):
		return ast.ExcludeTies
	case p.acceptWords("no", "others"):
		return ast.ExcludeNoOthers
	}
	p.unexpected()
	return 0
}
