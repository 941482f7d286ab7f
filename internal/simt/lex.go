package simt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseError is a fault of the PTX text.
type ParseError struct {
	Line int // 1-based
	Msg  string
}

func (e *ParseError) Error() string { return fmt.Sprintf("ptx line %d: %s", e.Line, e.Msg) }

type tokKind uint8

const (
	tEOF     tokKind = iota
	tIdent           // name, %register, or mnemonic with its dotted suffixes
	tDir             // .directive or .type
	tInt             // val
	tFloat           // val holds the bits of a float64
	tFloat32         // val holds the bits of a float32 (0f…)
	tString          //
	tPunct           // one character
)

type token struct {
	kind tokKind
	text string
	val  uint64
	line int
}

func (t token) String() string {
	if t.kind == tEOF {
		return "end of text"
	}
	return strconv.Quote(t.text)
}

// lexer cuts the text into tokens. It never fails twice: after an error it
// reports the end of the text.
type lexer struct {
	src  string
	pos  int
	line int
	err  *ParseError
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '%'
}
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (x *lexer) fail(format string, args ...any) token {
	if x.err == nil {
		x.err = &ParseError{x.line, fmt.Sprintf(format, args...)}
	}
	x.pos = len(x.src)
	return token{kind: tEOF, line: x.line}
}

// space skips blanks and comments; false if a comment has no end.
func (x *lexer) space() bool {
	for x.pos < len(x.src) {
		c := x.src[x.pos]
		rest := x.src[x.pos:]
		switch {
		case c == '\n':
			x.line++
			x.pos++
		case c == ' ' || c == '\t' || c == '\r':
			x.pos++
		case strings.HasPrefix(rest, "//"):
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				x.pos += n
			} else {
				x.pos = len(x.src)
			}
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return false
			}
			x.line += strings.Count(rest[:n+4], "\n")
			x.pos += n + 4
		default:
			return true
		}
	}
	return true
}

func (x *lexer) next() token {
	if !x.space() {
		return x.fail("comment without end")
	}
	if x.pos >= len(x.src) {
		return token{kind: tEOF, line: x.line}
	}
	start := x.pos
	c := x.src[x.pos]
	switch {
	case isLetter(c):
		x.word()
		// Suffixes belong to the name: add.s64, %tid.x.
		for x.pos+1 < len(x.src) && x.src[x.pos] == '.' && isLetter(x.src[x.pos+1]) {
			x.pos++
			x.word()
			if strings.HasPrefix(x.src[x.pos:], "::") { // .L1::no_allocate
				x.pos += 2
				x.word()
			}
		}
		return token{tIdent, x.src[start:x.pos], 0, x.line}
	case c == '.' && x.pos+1 < len(x.src) && isLetter(x.src[x.pos+1]):
		x.pos++
		x.word()
		return token{tDir, x.src[start:x.pos], 0, x.line}
	case isDigit(c):
		return x.number()
	case c == '"':
		n := strings.IndexAny(x.src[x.pos+1:], "\"\n")
		if n < 0 || x.src[x.pos+1+n] != '"' {
			return x.fail("string without end")
		}
		x.pos += n + 2
		return token{tString, x.src[start+1 : x.pos-1], 0, x.line}
	case strings.IndexByte("{}[](),;:+-|@!<>=", c) >= 0:
		x.pos++
		return token{tPunct, x.src[start:x.pos], 0, x.line}
	}
	return x.fail("unexpected character %q", c)
}

func (x *lexer) word() {
	for x.pos < len(x.src) && (isLetter(x.src[x.pos]) || isDigit(x.src[x.pos])) {
		x.pos++
	}
}

// number reads 12, 0x1f, 017, 0b11, each with an optional U; 0f and 0d with the
// bits of a float in hexadecimal; and decimal floats.
func (x *lexer) number() token {
	start := x.pos
	x.word()
	text := x.src[start:x.pos]
	if len(text) > 1 && text[0] == '0' {
		switch text[1] {
		case 'f', 'F':
			return x.floatBits(text, 8, tFloat32)
		case 'd', 'D':
			return x.floatBits(text, 16, tFloat)
		}
	}
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	if !hex && (x.pos < len(x.src) && x.src[x.pos] == '.' || strings.ContainsAny(text, "eE")) {
		return x.decimalFloat(start)
	}
	v, err := strconv.ParseUint(strings.TrimSuffix(text, "U"), 0, 64)
	if err != nil || strings.Contains(text, "_") {
		return x.fail("%q is not a number", text)
	}
	return token{tInt, text, v, x.line}
}

func (x *lexer) floatBits(text string, digits int, kind tokKind) token {
	v, err := strconv.ParseUint(text[2:], 16, 64)
	if err != nil || len(text) != 2+digits {
		return x.fail("%q is not a float: %d hexadecimal digits must follow %q", text, digits, text[:2])
	}
	return token{kind, text, v, x.line}
}

func (x *lexer) decimalFloat(start int) token {
	x.pos = start
	digits := func() {
		for x.pos < len(x.src) && isDigit(x.src[x.pos]) {
			x.pos++
		}
	}
	digits()
	if x.pos < len(x.src) && x.src[x.pos] == '.' {
		x.pos++
		digits()
	}
	if x.pos < len(x.src) && (x.src[x.pos] == 'e' || x.src[x.pos] == 'E') {
		x.pos++
		if x.pos < len(x.src) && (x.src[x.pos] == '+' || x.src[x.pos] == '-') {
			x.pos++
		}
		digits()
	}
	text := x.src[start:x.pos]
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return x.fail("%q is not a number", text)
	}
	return token{tFloat, text, math.Float64bits(v), x.line}
}
