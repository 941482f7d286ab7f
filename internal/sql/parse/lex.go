package parse

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// lexer cuts text into tokens. It stops at the first lexical error, with a tErr
// token in its place: a syntax error further left is then still reported first.
type lexer struct {
	text string
	pos  int
	toks []token
	err  *diag.Error

	patience diag.Patience // the parser's, too
}

// run appends all tokens of text; the last one is tEOF or tErr.
func (l *lexer) run() {
	for {
		l.patience.Tick()
		l.space()
		start := l.pos
		if l.err != nil {
			l.emit(tErr, start, "")
			return
		}
		if start >= len(l.text) {
			l.emit(tEOF, start, "")
			return
		}
		c := l.text[start]
		switch class := charClass[c]; class {
		case cLetter:
			l.word()
		case cDigit:
			l.number()
		case cPunct:
			l.punct(c)
		case cOperator:
			l.operator()
		case cQuote:
			l.str(start, start+1, false)
		case cDQuote:
			l.quoted()
		case cDollar:
			l.dollar()
		default:
			l.fail(start, diag.SyntaxError, "syntax error at or near \"%s\"", l.text[start:start+1])
		}
		if l.err != nil {
			l.emit(tErr, start, "")
			return
		}
	}
}

func (l *lexer) emit(k kind, start int, text string) {
	l.toks = append(l.toks, token{text: text, pos: int32(start), end: int32(l.pos), kind: k})
}

func (l *lexer) fail(pos int, code, format string, args ...any) {
	if l.err == nil {
		l.err = diag.Errorf(code, pos, format, args...)
	}
}

// Character classes of the first byte of a token.
const (
	cBad = iota
	cSpace
	cLetter
	cDigit
	cPunct
	cOperator
	cQuote
	cDQuote
	cDollar
)

var charClass = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= 0x80:
			t[c] = cLetter
		case c >= '0' && c <= '9':
			t[c] = cDigit
		}
	}
	set := func(chars string, class uint8) {
		for _, c := range []byte(chars) {
			t[c] = class
		}
	}
	set(" \t\n\r\f\v", cSpace)
	set("()[]{},;.:?", cPunct)
	set("+-*/<>=~!@#%^&|`", cOperator)
	set("'", cQuote)
	set(`"`, cDQuote)
	set("$", cDollar)
	return t
}()

// space skips white space and comments.
func (l *lexer) space() {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case charClass[c] == cSpace:
			l.pos++
		case c == '-' && strings.HasPrefix(l.text[l.pos:], "--"):
			l.lineComment()
		case c == '/' && strings.HasPrefix(l.text[l.pos:], "/*"):
			if !l.blockComment() {
				return
			}
		case c == 0xef && strings.HasPrefix(l.text[l.pos:], "\ufeff"): // byte order mark
			l.pos += len("\ufeff")
		default:
			return
		}
	}
}

func (l *lexer) lineComment() {
	if i := strings.IndexByte(l.text[l.pos:], '\n'); i >= 0 {
		l.pos += i + 1
	} else {
		l.pos = len(l.text)
	}
}

// blockComment skips a comment, which may nest as in PostgreSQL.
func (l *lexer) blockComment() bool {
	start, depth := l.pos, 0
	for i := l.pos; i+1 < len(l.text); {
		switch {
		case l.text[i] == '/' && l.text[i+1] == '*':
			depth++
			i += 2
		case l.text[i] == '*' && l.text[i+1] == '/':
			depth--
			i += 2
			if depth == 0 {
				l.pos = i
				return true
			}
		default:
			i++
		}
	}
	l.pos = len(l.text)
	l.fail(start, diag.SyntaxError, "unterminated /* comment")
	return false
}

// word reads an identifier or keyword, or a string with a prefix: E'..', N'..'.
func (l *lexer) word() {
	start, i, upper := l.pos, l.pos, false
	for i < len(l.text) {
		c := l.text[i]
		if class := charClass[c]; class != cLetter && class != cDigit && c != '$' {
			break
		}
		upper = upper || c >= 'A' && c <= 'Z'
		i++
	}
	n := i - start
	if n == 1 && i < len(l.text) && l.prefixed(start, i) {
		return
	}
	l.pos = i
	src := l.text[start:i]
	if n <= maxKeyword {
		// Fold into a buffer: a map lookup by string(bytes) does not allocate.
		var buf [maxKeyword]byte
		for j := range n {
			c := src[j]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			buf[j] = c
		}
		if w, ok := words[string(buf[:n])]; ok {
			l.emit(w.kind, start, w.text)
			return
		}
		if upper {
			src = string(buf[:n])
		}
	} else if upper {
		src = foldASCII(src)
	}
	l.emit(tIdent, start, src)
}

// foldASCII lowers A to Z only: PostgreSQL does not fold other letters in UTF-8.
func foldASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// prefixed reads a string whose one-letter prefix ends at i, if there is one.
func (l *lexer) prefixed(start, i int) bool {
	next := l.text[i]
	switch l.text[start] | 0x20 {
	case 'e':
		if next == '\'' {
			l.str(start, i+1, true)
			return true
		}
	case 'n':
		if next == '\'' {
			l.str(start, i+1, false)
			return true
		}
	case 'b', 'x':
		if next == '\'' {
			l.pos = i
			l.fail(start, diag.FeatureNotSupported, "bit string literals are not supported")
			return true
		}
	case 'u':
		if next == '&' && i+1 < len(l.text) && (l.text[i+1] == '\'' || l.text[i+1] == '"') {
			l.pos = i
			l.fail(start, diag.FeatureNotSupported, "U& strings are not supported")
			if l.err != nil {
				l.err.Hint = `write the character itself, or E'\u00e4'`
			}
			return true
		}
	}
	return false
}

// quoted reads "identifier".
func (l *lexer) quoted() {
	start, i, doubled := l.pos, l.pos+1, false
	for {
		j := strings.IndexByte(l.text[i:], '"')
		if j < 0 {
			l.pos = len(l.text)
			l.fail(start, diag.SyntaxError, "unterminated quoted identifier")
			return
		}
		i += j + 1
		if i >= len(l.text) || l.text[i] != '"' {
			break
		}
		doubled = true
		i++
	}
	name := l.text[start+1 : i-1]
	l.pos = i
	if name == "" {
		l.fail(start, diag.SyntaxError, "zero-length delimited identifier")
		return
	}
	if doubled {
		name = strings.ReplaceAll(name, `""`, `"`)
	}
	l.emit(tQuoted, start, name)
}

func (l *lexer) punct(c byte) {
	start := l.pos
	k := tComma
	l.pos++
	next := byte(0)
	if l.pos < len(l.text) {
		next = l.text[l.pos]
	}
	switch c {
	case '(':
		k = tLParen
	case ')':
		k = tRParen
	case '[':
		k = tLBracket
	case ']':
		k = tRBracket
	case '{':
		k = tLBrace
	case '}':
		k = tRBrace
	case ';':
		k = tSemi
	case '?':
		k = tParam
	case '.':
		if charClass[next] == cDigit {
			l.pos--
			l.number()
			return
		}
		k = tDot
	case ':':
		switch next {
		case ':':
			k = tCast
			l.pos++
		case '=':
			k = tAssign
			l.pos++
		default:
			k = tColon
		}
	}
	l.emit(k, start, "")
}

// operator reads the longest run of operator characters, less what begins a comment
// and less trailing signs, so that a=-1 and a!=-1 read as people mean them.
func (l *lexer) operator() {
	start, i := l.pos, l.pos
	for i < len(l.text) && charClass[l.text[i]] == cOperator {
		if i+1 < len(l.text) {
			if two := l.text[i : i+2]; two == "--" || two == "/*" {
				break
			}
		}
		i++
	}
	for i-start > 1 && (l.text[i-1] == '-' || l.text[i-1] == '+') && l.text[start:i] != "#-" {
		i--
	}
	l.pos = i
	op := l.text[start:i]
	k := tOp
	switch op {
	case "+":
		k = tPlus
	case "-":
		k = tMinus
	case "*":
		k = tStar
	case "/":
		k = tSlash
	case "%":
		k = tPercent
	case "^":
		k = tCaret
	case "=", "==":
		k, op = tEq, "="
	case "<>", "!=":
		k, op = tNe, "<>"
	case "<":
		k = tLt
	case "<=":
		k = tLe
	case ">":
		k = tGt
	case ">=":
		k = tGe
	case "=>":
		k = tArrow
	}
	l.emit(k, start, op)
}

// number reads an integer, decimal or float, with 0x, 0o, 0b and 1_000 as in
// PostgreSQL 16.
func (l *lexer) number() {
	start, i := l.pos, l.pos
	if l.text[i] == '0' && i+1 < len(l.text) {
		base := 0
		switch l.text[i+1] | 0x20 {
		case 'x':
			base = 16
		case 'o':
			base = 8
		case 'b':
			base = 2
		}
		if base > 0 {
			l.radix(base)
			return
		}
	}
	i = l.digits(i)
	k := tInt
	// Not a decimal point: 1..2 is no number, and t[1..2] must fail at the dots.
	if i < len(l.text) && l.text[i] == '.' && !strings.HasPrefix(l.text[i:], "..") {
		k = tDecimal
		i = l.digits(i + 1)
	}
	if i < len(l.text) && l.text[i]|0x20 == 'e' {
		j := i + 1
		if j < len(l.text) && (l.text[j] == '+' || l.text[j] == '-') {
			j++
		}
		if j < len(l.text) && charClass[l.text[j]] == cDigit {
			k = tFloat
			i = l.digits(j)
		}
	}
	l.pos = i
	if l.junk(start) {
		return
	}
	src := l.text[start:i]
	if strings.IndexByte(src, '_') >= 0 {
		src = strings.ReplaceAll(src, "_", "")
	}
	l.emit(k, start, src)
}

// digits skips digits with single underscores between them.
func (l *lexer) digits(i int) int {
	for i < len(l.text) {
		c := l.text[i]
		if c >= '0' && c <= '9' {
			i++
			continue
		}
		if c == '_' && charClass[l.text[i-1]] == cDigit && i+1 < len(l.text) && charClass[l.text[i+1]] == cDigit {
			i++
			continue
		}
		break
	}
	return i
}

// maxRadix bounds the quadratic cost of converting an absurdly long 0x literal.
const maxRadix = 1024

func (l *lexer) radix(base int) {
	start, i := l.pos, l.pos+2
	for i < len(l.text) && (charClass[l.text[i]] == cLetter || charClass[l.text[i]] == cDigit) {
		i++
	}
	l.pos = i
	digits := strings.ReplaceAll(l.text[start+2:i], "_", "")
	v, ok := new(big.Int), false
	if len(digits) <= maxRadix {
		v, ok = v.SetString(digits, base)
	}
	if !ok {
		l.fail(start, diag.SyntaxError, "invalid integer literal \"%s\"", clip(l.text[start:i]))
		return
	}
	l.emit(tInt, start, v.String())
}

// junk refuses letters directly after a number: 123abc is a slip, not 123 AS abc.
func (l *lexer) junk(start int) bool {
	if l.pos >= len(l.text) || charClass[l.text[l.pos]] != cLetter {
		return false
	}
	end := l.pos
	for end < len(l.text) && (charClass[l.text[end]] == cLetter || charClass[l.text[end]] == cDigit) {
		end++
	}
	l.fail(start, diag.SyntaxError, "trailing junk after numeric literal at or near \"%s\"", clip(l.text[start:end]))
	return true
}

// clip shortens text that goes into a message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
