package file

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// An object of a JSON file is read without a tree: its keys and values are handed out one after the
// other, as they stand in the text. The grammar is that of RFC 8259, and nothing beyond it.

// jsonKind is what a value is.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonNumber
	jsonString
	jsonNested // an object or an array
)

// String is what the kind is called in messages.
func (k jsonKind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a nested value"}[k]
}

// jsonValue is a value of an object. Its text is good until the next one is read.
type jsonValue struct {
	kind jsonKind
	text []byte // a string without quotes and escapes; other values as they stand in the file
}

// deepestJSON bounds nesting.
const deepestJSON = 512

// jsonParser reads the text of one object.
type jsonParser struct {
	b     []byte
	p     int
	key   []byte // unescaped, if it had to be
	value []byte
}

// jsonError is a mistake in the text, at a place of it.
type jsonError struct {
	at  int
	msg string
}

func (e *jsonError) Error() string { return e.msg }

func (j *jsonParser) fail(format string, args ...any) error {
	return &jsonError{j.p, fmt.Sprintf(format, args...)}
}

// unexpected is the error for what stands at p.
func (j *jsonParser) unexpected(wanted string) error {
	if j.p >= len(j.b) {
		return j.fail("%s is missing", wanted)
	}
	r, _ := utf8.DecodeRune(j.b[j.p:])
	return j.fail("there is %q where %s should be", r, wanted)
}

func (j *jsonParser) space() {
	for j.p < len(j.b) && isJSONSpace(j.b[j.p]) {
		j.p++
	}
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// accept takes a byte if it is the next that is no space.
func (j *jsonParser) accept(c byte) bool {
	j.space()
	if j.p < len(j.b) && j.b[j.p] == c {
		j.p++
		return true
	}
	return false
}

// object reads b, which is an object and nothing else, and calls see for every member.
func (j *jsonParser) object(b []byte, see func(key []byte, v jsonValue) error) error {
	j.b, j.p = b, 0
	if !j.accept('{') {
		return j.unexpected("an object")
	}
	if j.accept('}') {
		return j.end()
	}
	for {
		j.space()
		key, scratch, err := j.string(j.key[:0], "a key")
		j.key = scratch
		if err != nil {
			return err
		}
		if !j.accept(':') {
			return j.unexpected("a colon")
		}
		at := j.p
		v, err := j.next()
		if err != nil {
			return err
		}
		if err := see(key, v); err != nil {
			if _, ok := err.(*jsonError); !ok {
				j.p = at
			}
			return err
		}
		if j.accept('}') {
			return j.end()
		}
		if !j.accept(',') {
			return j.unexpected("a comma or the end of the object")
		}
	}
}

// end reports what follows the object.
func (j *jsonParser) end() error {
	if j.space(); j.p < len(j.b) {
		return j.unexpected("the end of the object")
	}
	return nil
}

// next reads a value.
func (j *jsonParser) next() (v jsonValue, err error) {
	j.space()
	if j.p < len(j.b) && j.b[j.p] == '"' {
		v.kind = jsonString
		v.text, j.value, err = j.string(j.value[:0], "")
		return v, err
	}
	from := j.p
	v.kind, err = j.skip(0)
	v.text = j.b[from:j.p]
	return v, err
}

// skip reads a value of any kind and checks it.
func (j *jsonParser) skip(depth int) (kind jsonKind, err error) {
	j.space()
	if j.p >= len(j.b) {
		return 0, j.unexpected("a value")
	}
	switch c := j.b[j.p]; {
	case c == '"':
		_, j.value, err = j.string(j.value[:0], "")
		return jsonString, err
	case c == '-' || isDigit(c):
		return jsonNumber, j.number()
	case c == '{' || c == '[':
		if depth == deepestJSON {
			return 0, j.fail("values are nested more than %d deep", deepestJSON)
		}
		return jsonNested, j.nested(c, depth)
	case c == 't':
		return jsonBool, j.word("true")
	case c == 'f':
		return jsonBool, j.word("false")
	case c == 'n':
		return jsonNull, j.word("null")
	}
	return 0, j.unexpected("a value")
}

func (j *jsonParser) word(w string) error {
	if len(j.b)-j.p < len(w) || string(j.b[j.p:j.p+len(w)]) != w {
		return j.unexpected("a value")
	}
	j.p += len(w)
	return nil
}

// number checks a number.
func (j *jsonParser) number() error {
	digits := func() error {
		from := j.p
		for j.p < len(j.b) && isDigit(j.b[j.p]) {
			j.p++
		}
		if j.p == from {
			return j.unexpected("a digit")
		}
		return nil
	}
	if j.b[j.p] == '-' {
		j.p++
	}
	if j.p < len(j.b) && j.b[j.p] == '0' {
		if j.p++; j.p < len(j.b) && isDigit(j.b[j.p]) {
			return j.fail("a number begins with 0")
		}
	} else if err := digits(); err != nil {
		return err
	}
	if j.p < len(j.b) && j.b[j.p] == '.' {
		j.p++
		if err := digits(); err != nil {
			return err
		}
	}
	if j.p < len(j.b) && j.b[j.p]|0x20 == 'e' {
		if j.p++; j.p < len(j.b) && (j.b[j.p] == '+' || j.b[j.p] == '-') {
			j.p++
		}
		return digits()
	}
	return nil
}

// nested checks an object or array.
func (j *jsonParser) nested(open byte, depth int) error {
	j.p++
	end := open + 2 // '}' and ']' are two behind '{' and '['
	if j.accept(end) {
		return nil
	}
	for {
		if open == '{' {
			j.space()
			var err error
			if _, j.value, err = j.string(j.value[:0], "a key"); err != nil {
				return err
			}
			if !j.accept(':') {
				return j.unexpected("a colon")
			}
		}
		if _, err := j.skip(depth + 1); err != nil {
			return err
		}
		if j.accept(end) {
			return nil
		}
		if !j.accept(',') {
			return j.unexpected("a comma")
		}
	}
}

// string reads a string; one with escapes is put together in scratch, which is returned as well.
func (j *jsonParser) string(scratch []byte, wanted string) (s, buf []byte, err error) {
	if j.p >= len(j.b) || j.b[j.p] != '"' {
		return nil, scratch, j.unexpected(wanted)
	}
	j.p++
	from := j.p
	plain := true
	for j.p < len(j.b) {
		switch c := j.b[j.p]; {
		case c == '"':
			s = j.b[from:j.p]
			j.p++
			if !plain {
				scratch = append(scratch, s...)
				s = scratch
			}
			if !utf8.Valid(s) {
				return nil, scratch, diag.Errorf(diag.CharacterNotInRepertoire, diag.NoPos, `invalid byte sequence for encoding "UTF8"`)
			}
			return s, scratch, nil
		case c == '\\':
			plain = false
			scratch = append(scratch, j.b[from:j.p]...)
			if scratch, err = j.escape(scratch); err != nil {
				return nil, scratch, err
			}
			from = j.p
		case c < ' ':
			return nil, scratch, j.fail("a string has a character %#x that must be escaped", c)
		default:
			j.p++
		}
	}
	return nil, scratch, j.fail("a string does not end")
}

// escape appends what an escape stands for.
func (j *jsonParser) escape(dst []byte) ([]byte, error) {
	if j.p+1 >= len(j.b) {
		return dst, j.fail("a string does not end")
	}
	c := j.b[j.p+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r, ok := j.hex(j.p)
		if !ok {
			return dst, j.fail("an escape \\u needs four hexadecimal digits")
		}
		n := 6
		if utf16.IsSurrogate(r) { // half of a character beyond 16 bits: the other half must follow
			low, ok := j.hex(j.p + 6)
			if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
				return dst, j.fail("an escape \\u is half of a pair whose other half is missing")
			}
			n = 12
		}
		j.p += n
		return utf8.AppendRune(dst, r), nil
	default:
		return dst, j.fail("there is no escape \\%c", c)
	}
	j.p += 2
	return append(dst, c), nil
}

// hex reads \uXXXX.
func (j *jsonParser) hex(at int) (r rune, ok bool) {
	if at+6 > len(j.b) || j.b[at] != '\\' || j.b[at+1] != 'u' {
		return 0, false
	}
	for _, c := range j.b[at+2 : at+6] {
		switch {
		case isDigit(c):
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
