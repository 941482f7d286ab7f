package parse

import (
	"sync"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// Limits that keep any input from exhausting the stack, here and in later stages
// that recurse over the tree.
const (
	maxText  = 1 << 30 // bytes; token offsets are 32 bits
	maxDepth = 1000    // nesting of parentheses, subqueries, CASE, ...

	// A chain such as a||b||c||... makes a deep tree without nesting. The first
	// freeChain links of each chain are free; all further links of a statement
	// together may be maxChain.
	freeChain = 16
	maxChain  = 20000
)

// Parse reads a script: statements separated by semicolons, any of them empty. Every
// statement has its span; the first error ends the parse and no statement is returned.
func Parse(text string) (script []ast.Parsed, err error) { return ParseUntil(nil, text) }

// ParseUntil is Parse that gives up when done is closed.
func ParseUntil(done <-chan struct{}, text string) (script []ast.Parsed, err error) {
	defer diag.Recover("parse", &err)
	p, err := newParserUntil(done, text)
	if err != nil {
		return nil, err
	}
	defer p.release()
	var list []ast.Parsed // not script: a panic must leave that nil
	for {
		for p.accept(tSemi) {
		}
		if p.kind() == tEOF {
			return list, nil
		}
		p.params, p.marks, p.chain = 0, 0, 0
		start := p.pos()
		stmt := p.statement()
		if k := p.kind(); k != tSemi && k != tEOF {
			p.unexpected()
		}
		end := p.lastEnd()
		list = append(list, ast.Parsed{
			Stmt: stmt, Text: text[start:end], Pos: start, End: end, Params: max(p.params, p.marks),
		})
	}
}

// ParseExpr reads a single expression.
func ParseExpr(text string) (e ast.Expr, err error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	defer p.release()
	defer diag.Recover("parse", &err)
	x := p.expr()
	p.expect(tEOF)
	return x, nil
}

// ParseType reads a single type name, as stored in a catalog or given to a function.
func ParseType(text string) (t ast.TypeName, err error) {
	p, err := newParser(text)
	if err != nil {
		return ast.TypeName{}, err
	}
	defer p.release()
	defer diag.Recover("parse", &err)
	x := p.typeName()
	p.expect(tEOF)
	return x, nil
}

// parser is a cursor over the tokens. Its methods leave by panic with a *diag.Error.
type parser struct {
	lex    lexer
	i      int // current token
	depth  int
	chain  int
	params int // highest $n
	marks  int // number of ?

	mayChange bool // the WITH that comes is that of a statement: its queries may change rows

	// Names are the bulk of a tree; they are cut from blocks.
	idents []ast.Ident
	refs   []ast.ColumnRef
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

func newParser(text string) (*parser, error) { return newParserUntil(nil, text) }

func newParserUntil(done <-chan struct{}, text string) (*parser, error) {
	if len(text) > maxText {
		return nil, diag.Errorf(diag.ProgramLimitExceeded, diag.NoPos, "query text is longer than %d bytes", maxText)
	}
	if !utf8.ValidString(text) {
		return nil, diag.Errorf(diag.CharacterNotInRepertoire, firstInvalid(text), `invalid byte sequence for encoding "UTF8" in the query text`)
	}
	p := parsers.Get().(*parser)
	p.lex.text = text
	p.lex.patience.Done = done
	p.lex.run()
	return p, nil
}

func firstInvalid(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return 0
}

// release keeps the token slice for the next query, but not the query's text.
func (p *parser) release() {
	toks := p.lex.toks
	if cap(toks) > 1<<14 {
		toks = nil
	}
	clear(toks)
	*p = parser{lex: lexer{toks: toks[:0]}}
	parsers.Put(p)
}

// The cursor. The last token is tEOF or tErr, and next never moves past it.

func (p *parser) tok() *token  { return &p.lex.toks[p.i] }
func (p *parser) kind() kind   { return p.lex.toks[p.i].kind }
func (p *parser) pos() int     { return int(p.lex.toks[p.i].pos) }
func (p *parser) text() string { return p.lex.toks[p.i].text }

func (p *parser) next() {
	if p.i < len(p.lex.toks)-1 {
		p.i++
	}
}

// peek is the kind of the token n places ahead.
func (p *parser) peek(n int) kind { return p.at(n).kind }

func (p *parser) at(n int) *token {
	return &p.lex.toks[min(p.i+n, len(p.lex.toks)-1)]
}

// lastEnd is the offset after the last consumed token.
func (p *parser) lastEnd() int {
	if p.i == 0 {
		return 0
	}
	return int(p.lex.toks[p.i-1].end)
}

func (p *parser) accept(k kind) bool {
	if p.kind() != k {
		return false
	}
	p.next()
	return true
}

// expect consumes a token of kind k and returns its position.
func (p *parser) expect(k kind) int {
	if p.kind() != k {
		p.unexpected()
	}
	pos := p.pos()
	p.next()
	return pos
}

// Unreserved words are compared by text.

func (t *token) is(word string) bool { return t.kind == tIdent && t.text == word }

func (p *parser) isWord(word string) bool { return p.tok().is(word) }

func (p *parser) acceptWord(word string) bool {
	if !p.tok().is(word) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expectWord(word string) {
	if !p.acceptWord(word) {
		p.unexpected()
	}
}

// acceptReserved consumes a reserved word that has no kind of its own.
func (p *parser) acceptReserved(word string) bool {
	if p.kind() != kwOtherReserved || p.text() != word {
		return false
	}
	p.next()
	return true
}

// acceptWords consumes a run of unreserved words if all of them are there.
func (p *parser) acceptWords(words ...string) bool {
	for i, w := range words {
		if !p.at(i).is(w) {
			return false
		}
	}
	for range words {
		p.next()
	}
	return true
}

// enter and leave bracket everything that recurses.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		panic(diag.Errorf(diag.StatementTooComplex, p.pos(), "the statement is nested more than %d levels deep", maxDepth))
	}
}

func (p *parser) leave() { p.depth-- }

// link counts the nth link of a chain.
func (p *parser) link(n int) {
	if n <= freeChain {
		return
	}
	if p.chain++; p.chain > maxChain {
		panic(diag.Errorf(diag.StatementTooComplex, p.pos(), "the statement chains more than %d operators", maxChain).
			WithHint("use IN (...), concat(...), VALUES or a table instead of a very long chain"))
	}
}

// Names.

// name reads a column, table or other object's name.
func (p *parser) name() ast.Ident {
	if !p.kind().isName() {
		p.unexpected()
	}
	return p.take()
}

// label reads a name where any word may stand: after AS, after a dot.
func (p *parser) label() ast.Ident {
	if !p.kind().isLabel() {
		p.unexpected()
	}
	return p.take()
}

func (p *parser) take() ast.Ident {
	t := p.tok()
	id := ast.Ident{Name: t.text, Pos: int(t.pos), Quoted: t.kind == tQuoted}
	p.next()
	return id
}

// qualified reads name[.label]...; the slice is cut from a block.
func (p *parser) qualified() ast.Name { return p.qualifiedFrom(p.name()) }

func (p *parser) qualifiedFrom(first ast.Ident) ast.Name {
	n := 1
	for p.peek(2*(n-1)) == tDot && p.peek(2*n-1).isLabel() {
		n++
	}
	if len(p.idents)+n > cap(p.idents) {
		p.idents = make([]ast.Ident, 0, max(n, blockSize))
	}
	at := len(p.idents)
	p.idents = append(p.idents, first)
	for range n - 1 {
		p.next()
		p.idents = append(p.idents, p.take())
	}
	return ast.Name(p.idents[at : at+n : at+n])
}

const blockSize = 32

func (p *parser) columnRef(name ast.Name) *ast.ColumnRef {
	if len(p.refs) == cap(p.refs) {
		p.refs = make([]ast.ColumnRef, 0, blockSize)
	}
	p.refs = append(p.refs, ast.ColumnRef{Pos: name.Pos(), Name: name})
	return &p.refs[len(p.refs)-1]
}

// nameList reads (a, b, ...).
func (p *parser) nameList() []ast.Ident {
	p.expect(tLParen)
	list := []ast.Ident{p.name()}
	for p.accept(tComma) {
		list = append(list, p.name())
	}
	p.expect(tRParen)
	return list
}

// optNameList reads (a, b, ...) if a parenthesis is there.
func (p *parser) optNameList() []ast.Ident {
	if p.kind() != tLParen {
		return nil
	}
	return p.nameList()
}

// names reads a comma list of qualified names.
func (p *parser) names() []ast.Name {
	list := []ast.Name{p.qualified()}
	for p.accept(tComma) {
		list = append(list, p.qualified())
	}
	return list
}
