package parse

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// str reads a quoted string whose first content byte is at i, and any strings that
// continue it on later lines: 'a'<newline>'b' is 'ab'.
func (l *lexer) str(start, i int, escapes bool) {
	first, end, ok := l.segment(start, i, escapes)
	if !ok {
		return
	}
	l.pos = end
	value := first
	var b *strings.Builder
	for {
		next, ok := l.continued(end)
		if !ok {
			break
		}
		var part string
		if part, end, ok = l.segment(next, next+1, escapes); !ok {
			return
		}
		if b == nil {
			b = new(strings.Builder)
			b.WriteString(first)
		}
		b.WriteString(part)
		l.pos = end
	}
	if b != nil {
		value = b.String()
	}
	if strings.IndexByte(value, 0) >= 0 || escapes && !utf8.ValidString(value) {
		l.fail(start, diag.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8" in a string`)
		return
	}
	l.emit(tString, start, value)
}

// segment reads up to the closing quote and returns the value and the offset after
// the quote. start is where an error points.
func (l *lexer) segment(start, i int, escapes bool) (value string, end int, ok bool) {
	if escapes {
		return l.escaped(start, i)
	}
	begin, doubled := i, false
	for {
		j := strings.IndexByte(l.text[i:], '\'')
		if j < 0 {
			l.unterminated(start)
			return "", 0, false
		}
		i += j + 1
		if i >= len(l.text) || l.text[i] != '\'' {
			break
		}
		doubled = true
		i++
	}
	value = l.text[begin : i-1]
	if doubled {
		value = strings.ReplaceAll(value, "''", "'")
	}
	return value, i, true
}

func (l *lexer) unterminated(start int) {
	l.pos = len(l.text)
	l.fail(start, diag.SyntaxError, "unterminated quoted string at or near \"%s\"", clip(l.text[start:]))
}

// continued finds the quote of a string that continues one ending at i: only white
// space and line comments between, with at least one newline among them.
func (l *lexer) continued(i int) (int, bool) {
	newline := false
	for i < len(l.text) {
		switch c := l.text[i]; {
		case c == '\n' || c == '\r':
			newline = true
			i++
		case charClass[c] == cSpace:
			i++
		case newline && c == '\'':
			return i, true
		case c == '-' && strings.HasPrefix(l.text[i:], "--"):
			j := strings.IndexByte(l.text[i:], '\n')
			if j < 0 {
				return 0, false
			}
			i += j
		default:
			return 0, false
		}
	}
	return 0, false
}

// escaped reads the body of E'...'.
func (l *lexer) escaped(start, i int) (value string, end int, ok bool) {
	var b strings.Builder
	for i < len(l.text) {
		c := l.text[i]
		switch c {
		case '\'':
			if i+1 < len(l.text) && l.text[i+1] == '\'' {
				b.WriteByte('\'')
				i += 2
				continue
			}
			return b.String(), i + 1, true
		case '\\':
			if i+1 >= len(l.text) {
				l.unterminated(start)
				return "", 0, false
			}
			n, good := l.escape(&b, i+1)
			if !good {
				l.pos = i
				l.fail(i, diag.InvalidEscapeSequence, "invalid escape in a string")
				return "", 0, false
			}
			i = n
		default:
			b.WriteByte(c)
			i++
		}
	}
	l.unterminated(start)
	return "", 0, false
}

// escape decodes the escape whose letter is at i and returns the offset after it.
func (l *lexer) escape(b *strings.Builder, i int) (int, bool) {
	c := l.text[i]
	switch c {
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'u', 'U':
		n := 4
		if c == 'U' {
			n = 8
		}
		r, next := l.unicode(i+1, n)
		// A pair of surrogates is one character; a lone one is none.
		if r >= 0xd800 && r < 0xdc00 && strings.HasPrefix(l.text[next:], `\u`) {
			low, after := l.unicode(next+2, 4)
			if low < 0xdc00 || low > 0xdfff {
				return 0, false
			}
			r, next = 0x10000+(r-0xd800)<<10+(low-0xdc00), after
		}
		if r <= 0 || !utf8.ValidRune(r) {
			return 0, false
		}
		b.WriteRune(r)
		return next, true
	case 'x':
		j := i + 1
		for j < len(l.text) && j < i+3 && isHex(l.text[j]) {
			j++
		}
		if j == i+1 {
			b.WriteByte('x')
			return j, true
		}
		v, _ := strconv.ParseUint(l.text[i+1:j], 16, 8)
		b.WriteByte(byte(v))
		return j, true
	case '0', '1', '2', '3', '4', '5', '6', '7':
		j := i
		v := 0
		for j < len(l.text) && j < i+3 && l.text[j] >= '0' && l.text[j] <= '7' {
			v = v*8 + int(l.text[j]-'0')
			j++
		}
		b.WriteByte(byte(v))
		return j, true
	default:
		b.WriteByte(c)
	}
	return i + 1, true
}

// unicode reads n hexadecimal digits at i; the rune is -1 if they are not there.
func (l *lexer) unicode(i, n int) (rune, int) {
	if i+n > len(l.text) {
		return -1, i
	}
	v, err := strconv.ParseUint(l.text[i:i+n], 16, 31)
	if err != nil {
		return -1, i
	}
	return rune(v), i + n
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// dollar reads $1 or $tag$...$tag$.
func (l *lexer) dollar() {
	start, i := l.pos, l.pos+1
	if i < len(l.text) && charClass[l.text[i]] == cDigit {
		for i < len(l.text) && charClass[l.text[i]] == cDigit {
			i++
		}
		l.pos = i
		if l.junk(start) {
			l.err.Msg = strings.Replace(l.err.Msg, "numeric literal", "parameter", 1)
			return
		}
		l.emit(tParam, start, l.text[start+1:i])
		return
	}
	for i < len(l.text) && (charClass[l.text[i]] == cLetter || charClass[l.text[i]] == cDigit) {
		i++
	}
	if i >= len(l.text) || l.text[i] != '$' {
		l.fail(start, diag.SyntaxError, "syntax error at or near \"%s\"", "$")
		return
	}
	tag := l.text[start : i+1]
	j := strings.Index(l.text[i+1:], tag)
	if j < 0 {
		l.pos = len(l.text)
		l.fail(start, diag.SyntaxError, "unterminated dollar-quoted string at or near \"%s\"", clip(l.text[start:]))
		return
	}
	value := l.text[i+1 : i+1+j]
	l.pos = i + 1 + j + len(tag)
	if strings.IndexByte(value, 0) >= 0 {
		l.fail(start, diag.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8" in a string`)
		return
	}
	l.emit(tString, start, value)
}
