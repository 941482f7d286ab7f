package funcs

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// PostgreSQL's paths of JSONB (SQL/JSON): a language of accessors, filters, predicates and arithmetic. This file reads them, jsonpath_run.go follows them.

// jsonPathTree is a path that was read.
type jsonPathTree struct {
	strict bool
	root   *pathNode
}

// pathNode is an expression or predicate.
type pathNode struct {
	// op is one of: $ the value, @ the value that a filter looks at, v a variable, c a constant, l last; steps, where kids[0] is what they begin at;
	// the operators of arithmetic and comparison; && || ! exists, is unknown, starts with, like_regex; u- and u+.
	op    string
	kids  []*pathNode
	lit   types.JSONValue // of c
	name  string          // of v, and the pattern of like_regex
	flags string          // of like_regex
	steps []pathStep
}

// pathStep is an accessor, a method or a filter.
type pathStep struct {
	kind     byte // k a key, * all fields, d all depths, e all elements, i subscripts, m a method, ? a filter
	name     string
	from, to int // of depths; -1 is the last
	subs     [][2]*pathNode
	filter   *pathNode
}

// isPredicate reports what is true or false.
func (n *pathNode) isPredicate() bool {
	switch n.op {
	case "==", "!=", "<", "<=", ">", ">=", "&&", "||", "!", "exists", "is unknown", "starts with", "like_regex":
		return true
	}
	return false
}

// pathReader reads a path.
type pathReader struct {
	text   string
	at     int
	filter int // how many filters are around
	subs   int // how many subscripts
}

// readJSONPath reads a path. Errors are panics inside, of type *diag.Error.
func readJSONPath(text string) (tree *jsonPathTree, err error) {
	defer func() {
		if r := recover(); r != nil {
			failed, ok := r.(*diag.Error)
			if !ok {
				panic(r)
			}
			err = failed
		}
	}()
	p := &pathReader{text: text}
	tree = &jsonPathTree{}
	if strings.TrimSpace(text) == "" {
		return nil, errorf(diag.InvalidTextRepresentation, "invalid input syntax for type jsonpath: %q", text)
	}
	if p.word("strict") {
		tree.strict = true
	} else {
		p.word("lax")
	}
	tree.root = p.or()
	if p.blanks(); p.at < len(text) {
		p.unexpected()
	}
	return tree, nil
}

func (p *pathReader) unexpected() {
	if p.blanks(); p.at >= len(p.text) {
		panic(diag.Errorf(diag.SyntaxError, diag.NoPos, "syntax error at end of jsonpath input"))
	}
	_, n := utf8.DecodeRuneInString(p.text[p.at:])
	panic(diag.Errorf(diag.SyntaxError, diag.NoPos, "syntax error at or near %q of jsonpath input", p.text[p.at:p.at+n]))
}

func (p *pathReader) unsupported(what string) {
	panic(diag.Unsupported(diag.NoPos, "%s in a path of JSONB", what))
}

func (p *pathReader) blanks() {
	for p.at < len(p.text) {
		switch {
		case strings.IndexByte(" \t\r\n\f", p.text[p.at]) >= 0:
			p.at++
		case strings.HasPrefix(p.text[p.at:], "/*"):
			end := strings.Index(p.text[p.at+2:], "*/")
			if end < 0 {
				panic(diag.Errorf(diag.SyntaxError, diag.NoPos, "unexpected end of comment in jsonpath input"))
			}
			p.at += end + 4
		default:
			return
		}
	}
}

// sign takes a sign if it is next.
func (p *pathReader) sign(s string) bool {
	if p.blanks(); !strings.HasPrefix(p.text[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *pathReader) expect(s string) {
	if !p.sign(s) {
		p.unexpected()
	}
}

func isPathLetter(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '$'
}

// peekWord is the word that is next, "" where there is none.
func (p *pathReader) peekWord() string {
	p.blanks()
	end := p.at
	for end < len(p.text) && isPathLetter(p.text[end]) {
		end++
	}
	return p.text[p.at:end]
}

// word takes a word if it is next, in any case.
func (p *pathReader) word(w string) bool {
	if !strings.EqualFold(p.peekWord(), w) {
		return false
	}
	p.at += len(w)
	return true
}

func (p *pathReader) or() *pathNode {
	n := p.and()
	for p.sign("||") {
		n = p.logic("||", n, p.and())
	}
	return n
}

func (p *pathReader) and() *pathNode {
	n := p.comparison()
	for p.sign("&&") {
		n = p.logic("&&", n, p.comparison())
	}
	return n
}

// logic joins predicates.
func (p *pathReader) logic(op string, kids ...*pathNode) *pathNode {
	for _, k := range kids {
		if !k.isPredicate() {
			p.unexpected()
		}
	}
	return &pathNode{op: op, kids: kids}
}

func (p *pathReader) comparison() *pathNode {
	if p.blanks(); strings.HasPrefix(p.text[p.at:], "!") && !strings.HasPrefix(p.text[p.at:], "!=") {
		p.at++
		switch {
		case p.word("exists"):
			return p.logic("!", p.exists())
		default:
			p.expect("(")
			n := p.or()
			p.expect(")")
			return p.logic("!", n)
		}
	}
	if p.word("exists") {
		return p.exists()
	}
	n := p.sum()
	for _, o := range []struct{ text, op string }{{"==", "=="}, {"!=", "!="}, {"<>", "!="}, {"<=", "<="}, {">=", ">="}, {"<", "<"}, {">", ">"}} {
		if p.sign(o.text) {
			return &pathNode{op: o.op, kids: []*pathNode{n, p.sum()}}
		}
	}
	switch {
	case p.word("starts"):
		if !p.word("with") {
			p.unexpected()
		}
		return &pathNode{op: "starts with", kids: []*pathNode{n, p.primary()}}
	case p.word("like_regex"):
		return p.likeRegex(n)
	case p.word("is"):
		if !p.word("unknown") || !n.isPredicate() {
			p.unexpected()
		}
		return &pathNode{op: "is unknown", kids: []*pathNode{n}}
	}
	return n
}

func (p *pathReader) exists() *pathNode {
	p.expect("(")
	n := p.sum()
	p.expect(")")
	return &pathNode{op: "exists", kids: []*pathNode{n}}
}

func (p *pathReader) likeRegex(x *pathNode) *pathNode {
	p.blanks()
	n := &pathNode{op: "like_regex", kids: []*pathNode{x}, name: p.quoted()}
	fold, dots, lines := "", false, false
	if p.word("flag") {
		p.blanks()
		for _, f := range p.quoted() {
			switch f {
			case 'i':
				fold = "i"
			case 'q':
				n.name = "***=" + strings.TrimPrefix(n.name, "***=")
			case 's':
				dots = true
			case 'm':
				lines = true
			case 'x':
				p.unsupported("the flag x of like_regex")
			default:
				panic(diag.Errorf(diag.SyntaxError, diag.NoPos, "invalid input syntax for type jsonpath: unrecognized flag character %q in LIKE_REGEX predicate", string(f)))
			}
		}
	}
	// XQuery's dot stops at the end of a line unless it is told not to, and PostgreSQL's flags say that the other way round.
	n.flags = fold + map[[2]bool]string{{false, false}: "p", {true, false}: "s", {false, true}: "n", {true, true}: "w"}[[2]bool{dots, lines}]
	if _, err := pathPattern(n); err != nil {
		panic(err)
	}
	return n
}

// operator takes a sign of arithmetic, which cannot follow a predicate.
func (p *pathReader) operator(s string, left *pathNode) bool {
	if p.blanks(); left.isPredicate() && strings.HasPrefix(p.text[p.at:], s) {
		p.unexpected()
	}
	return p.sign(s)
}

func (p *pathReader) sum() *pathNode {
	n := p.product()
	for {
		switch {
		case p.operator("+", n):
			n = &pathNode{op: "+", kids: []*pathNode{n, p.product()}}
		case p.operator("-", n):
			n = &pathNode{op: "-", kids: []*pathNode{n, p.product()}}
		default:
			return n
		}
	}
}

func (p *pathReader) product() *pathNode {
	n := p.signed()
	for {
		switch {
		case p.operator("*", n):
			n = &pathNode{op: "*", kids: []*pathNode{n, p.signed()}}
		case p.operator("/", n):
			n = &pathNode{op: "/", kids: []*pathNode{n, p.signed()}}
		case p.operator("%", n):
			n = &pathNode{op: "%", kids: []*pathNode{n, p.signed()}}
		default:
			return n
		}
	}
}

func (p *pathReader) signed() *pathNode {
	switch {
	case p.sign("-"):
		return &pathNode{op: "u-", kids: []*pathNode{p.signed()}}
	case p.sign("+"):
		return &pathNode{op: "u+", kids: []*pathNode{p.signed()}}
	}
	return p.accessed(p.primary())
}

func (p *pathReader) primary() *pathNode {
	p.blanks()
	if p.at >= len(p.text) {
		p.unexpected()
	}
	constant := func(kind byte, raw string) *pathNode {
		return &pathNode{op: "c", lit: types.JSONValue{Kind: kind, Raw: raw}}
	}
	switch c := p.text[p.at]; {
	case c == '(':
		p.at++
		n := p.or()
		p.expect(")")
		return n
	case c == '@':
		if p.at++; p.filter == 0 {
			panic(diag.Errorf(diag.SyntaxError, diag.NoPos, "@ is not allowed in root expressions"))
		}
		return &pathNode{op: "@"}
	case c == '$':
		p.at++
		if p.at < len(p.text) && p.text[p.at] == '"' {
			return &pathNode{op: "v", name: p.quoted()}
		}
		end := p.at
		for end < len(p.text) && isPathLetter(p.text[end]) {
			end++
		}
		name := p.text[p.at:end]
		if p.at = end; name != "" {
			return &pathNode{op: "v", name: name}
		}
		return &pathNode{op: "$"}
	case c == '"':
		return constant('"', string(types.AppendJSONString(nil, p.quoted())))
	case c >= '0' && c <= '9' || c == '.':
		return constant('0', p.number())
	}
	switch w := p.peekWord(); w {
	case "true", "false":
		p.at += len(w)
		return constant('t', w)
	case "null":
		p.at += len(w)
		return constant('n', w)
	case "last":
		if p.at += len(w); p.subs == 0 {
			panic(diag.Errorf(diag.SyntaxError, diag.NoPos, "LAST is allowed only in array subscripts"))
		}
		return &pathNode{op: "l"}
	}
	p.unexpected()
	return nil
}

// number reads a number, as JSON writes it.
func (p *pathReader) number() string {
	end := p.at
	for end < len(p.text) {
		c := p.text[end]
		if (c == '+' || c == '-') && (p.text[end-1]|0x20) == 'e' || c == '.' || isPathLetter(c) {
			end++
			continue
		}
		break
	}
	word := p.text[p.at:end]
	x, scale, fit, ok := types.ParseDecimal(word)
	if !ok || !fit {
		panic(diag.Errorf(diag.SyntaxError, diag.NoPos, "trailing junk after numeric literal at or near %q of jsonpath input", word))
	}
	p.at = end
	return types.DecimalValue(types.TDecimal(types.MaxPrecision, scale), x).String()
}

// quoted reads a string in quotes.
func (p *pathReader) quoted() string {
	if p.at >= len(p.text) || p.text[p.at] != '"' {
		p.unexpected()
	}
	end := p.at + 1
	for end < len(p.text) && p.text[end] != '"' {
		if p.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.text) {
		panic(diag.Errorf(diag.SyntaxError, diag.NoPos, "unexpected end of quoted string in jsonpath input"))
	}
	raw := p.text[p.at : end+1]
	v, err := types.ParseJSON(raw)
	if err != nil {
		p.unsupported("the escapes of " + raw)
	}
	p.at = end + 1
	return v.Text()
}

// accessed reads the steps behind an expression.
func (p *pathReader) accessed(base *pathNode) *pathNode {
	n := &pathNode{op: "steps", kids: []*pathNode{base}}
	for {
		p.blanks()
		rest := p.text[p.at:]
		switch {
		case strings.HasPrefix(rest, ".**"):
			p.at += 3
			n.steps = append(n.steps, p.depths())
		case strings.HasPrefix(rest, "."):
			p.at++
			n.steps = append(n.steps, p.member())
		case strings.HasPrefix(rest, "["):
			p.at++
			n.steps = append(n.steps, p.subscripts())
		case strings.HasPrefix(rest, "?"):
			p.at++
			p.expect("(")
			p.filter++
			f := p.or()
			p.filter--
			if p.expect(")"); !f.isPredicate() {
				p.unexpected()
			}
			n.steps = append(n.steps, pathStep{kind: '?', filter: f})
		case len(n.steps) == 0:
			return base
		default:
			return n
		}
	}
}

// depths reads {1 to last} behind .**, which may be left out.
func (p *pathReader) depths() pathStep {
	s := pathStep{kind: 'd', from: 0, to: -1}
	if !p.sign("{") {
		return s
	}
	level := func() int {
		if p.word("last") {
			return -1
		}
		w := p.peekWord()
		k, err := strconv.Atoi(w)
		if err != nil {
			p.unexpected()
		}
		p.at += len(w)
		return k
	}
	s.from = level()
	if s.to = s.from; p.word("to") {
		s.to = level()
	}
	p.expect("}")
	return s
}

func (p *pathReader) member() pathStep {
	if p.sign("*") {
		return pathStep{kind: '*'}
	}
	if p.at < len(p.text) && p.text[p.at] == '"' {
		return pathStep{kind: 'k', name: p.quoted()}
	}
	w := p.peekWord()
	if w == "" || w[0] >= '0' && w[0] <= '9' {
		p.unexpected()
	}
	if p.at += len(w); !p.sign("(") {
		return pathStep{kind: 'k', name: w}
	}
	switch w {
	case "type", "size", "double", "ceiling", "floor", "abs":
	case "datetime", "keyvalue":
		p.unsupported("the method " + w + "()")
	default:
		p.at--
		p.unexpected()
	}
	p.expect(")")
	return pathStep{kind: 'm', name: w}
}

func (p *pathReader) subscripts() pathStep {
	if p.sign("*") {
		p.expect("]")
		return pathStep{kind: 'e'}
	}
	s := pathStep{kind: 'i'}
	p.subs++
	for {
		from := p.sum()
		to := from
		if p.word("to") {
			to = p.sum()
		}
		s.subs = append(s.subs, [2]*pathNode{from, to})
		if !p.sign(",") {
			break
		}
	}
	p.subs--
	p.expect("]")
	return s
}
