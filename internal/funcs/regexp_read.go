package funcs

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// PostgreSQL's advanced regular expressions are read here and written for Go's package regexp, which takes time in
// proportion to the text whatever the pattern. What that cannot do (back references, looking around) is refused.

// regexFlags are the letters of a flags argument, less g.
type regexFlags struct {
	fold    bool // i
	lines   bool // ^ and $ are at lines, too: n, m, w
	dotLine bool // a dot does not take a newline: n, m, p
	expand  bool // x
	literal bool // q
}

// readFlags reads flags; global is whether g is among them, which only some functions allow.
func readFlags(s string, allowGlobal bool) (f regexFlags, global bool, err error) {
	for _, c := range s {
		switch c {
		case 'g':
			if !allowGlobal {
				return f, false, errorf(diag.InvalidParameter, "this function does not take the option \"g\" (global)")
			}
			global = true
		case 'i':
			f.fold = true
		case 'c':
			f.fold = false
		case 'n', 'm':
			f.lines, f.dotLine = true, true
		case 'p':
			f.lines, f.dotLine = false, true
		case 'w':
			f.lines, f.dotLine = true, false
		case 's':
			f.lines, f.dotLine = false, false
		case 'x':
			f.expand = true
		case 't':
			f.expand = false
		case 'q':
			f.literal = true
		case 'b', 'e':
			// Basic and extended ones are read as advanced ones: a superset of the extended ones.
			if c == 'b' {
				return f, false, errorf(diag.FeatureNotSupported, "basic regular expressions are not supported")
			}
		default:
			return f, false, errorf(diag.InvalidParameter, "invalid regular expression option: %q", string(c))
		}
	}
	return f, global, nil
}

// compiled remembers patterns: those of a query are few, and its rows many.
var compiled = struct {
	sync.RWMutex
	m map[regexKey]matcher
}{m: map[regexKey]matcher{}}

type regexKey struct{ pattern, flags string }

// mostCompiled bounds what is remembered.
const mostCompiled = 512

// compile reads a pattern. A g among the flags is ignored where it is allowed.
func compile(pattern, flags string, allowGlobal bool) (matcher, error) {
	key := regexKey{pattern, flags}
	compiled.RLock()
	re := compiled.m[key]
	compiled.RUnlock()
	if re != nil && (allowGlobal || !strings.Contains(flags, "g")) {
		return re, nil
	}
	f, _, err := readFlags(flags, allowGlobal)
	if err != nil {
		return nil, err
	}
	if re, err = compileWith(pattern, f); err != nil {
		return nil, err
	}
	// The key outlives the row that it came from: a text may lie in memory that goes with the query.
	key = regexKey{strings.Clone(pattern), strings.Clone(flags)}
	compiled.Lock()
	if len(compiled.m) >= mostCompiled {
		clear(compiled.m)
	}
	compiled.m[key] = re
	compiled.Unlock()
	return re, nil
}

func compileWith(pattern string, f regexFlags) (matcher, error) {
	r := regexReader{s: pattern, f: f}
	source, err := r.source()
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, errorf(diag.InvalidRegularExpression, "invalid regular expression: %s", reason(err))
	}
	if r.lazy || r.words {
		return newOwn(re, r.lazy && r.prefers.of() == shortest, r.words)
	}
	re.Longest()
	return re, nil
}

// source is the pattern in Go's syntax.
func (r *regexReader) source() (string, error) {
	source, err := r.read()
	if err != nil {
		return "", err
	}
	prefix := "(?"
	if r.f.lines {
		prefix += "m"
	}
	if !r.f.dotLine {
		prefix += "s"
	}
	if prefix != "(?" {
		source = prefix + ")" + source
	}
	return source, nil
}

// reason is what regexp says about an error, without the pattern as it was written for it.
func reason(err error) string {
	s := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	s, _, _ = strings.Cut(s, ": `")
	return s
}

// regexReader writes a pattern for Go while it reads it.
type regexReader struct {
	s    string
	i    int
	f    regexFlags
	lazy bool // has quantifiers that prefer the shortest match
	// words: has bounds of words.
	words bool
	b     strings.Builder

	prefers preference   // of what was read at this depth
	outside []preference // of what is around it
}

// A length is what a part of a pattern prefers to match, if it can choose.
type length uint8

const (
	indifferent length = iota
	longest
	shortest
)

// preference is what PostgreSQL says of a pattern, or of one in parentheses: of several branches it is the longest match, of one that
// which its first part prefers that has a preference.
type preference struct {
	first    length // of the branch, but for its last part
	last     length // of that
	branches bool   // there are several
}

func (p *preference) of() length {
	if p.branches {
		return longest
	}
	p.part(indifferent)
	return p.first
}

// part notes that another part of the branch begins, which can be counted.
func (p *preference) part(prefers length) {
	if p.first == indifferent {
		p.first = p.last
	}
	p.last = prefers
}

func bad(format string, args ...any) error {
	return errorf(diag.InvalidRegularExpression, "invalid regular expression: "+format, args...)
}

func cannot(what string) error {
	return diag.Errorf(diag.FeatureNotSupported, diag.NoPos, "%s in regular expressions is not supported", what)
}

func (r *regexReader) read() (string, error) {
	switch {
	case strings.HasPrefix(r.s, "***="):
		return r.chars(r.s[4:]), nil
	case strings.HasPrefix(r.s, "***:"):
		r.i = 4
	case strings.HasPrefix(r.s, "***"):
		return "", bad("quantifier operand invalid")
	}
	if r.f.literal {
		return r.chars(r.s), nil
	}
	if err := r.embedded(); err != nil {
		return "", err
	}
	depth := 0
	operand := false // something stands before, which a quantifier can count
	for r.i < len(r.s) {
		c := r.s[r.i]
		switch {
		case c == '\\':
			counts, err := r.escape(false)
			if err != nil {
				return "", err
			}
			r.prefers.part(indifferent)
			operand = counts
			continue
		case c == '[':
			if err := r.bracket(); err != nil {
				return "", err
			}
			r.prefers.part(indifferent)
			operand = true
			continue
		case c == '(':
			if err := r.open(); err != nil {
				return "", err
			}
			r.outside = append(r.outside, r.prefers)
			r.prefers = preference{}
			depth++
			operand = false
			continue
		case c == ')':
			if depth == 0 {
				return "", bad("parentheses () not balanced")
			}
			depth--
			inner := r.prefers.of()
			r.prefers = r.outside[depth]
			r.outside = r.outside[:depth]
			r.prefers.part(inner)
			operand = true
		case c == '*' || c == '+' || c == '?' || c == '{' && r.i+1 < len(r.s) && r.s[r.i+1] >= '0' && r.s[r.i+1] <= '9':
			if !operand {
				return "", bad("quantifier operand invalid")
			}
			if err := r.quantifier(); err != nil {
				return "", err
			}
			operand = false // nothing may be counted twice
			continue
		case c == '{':
			r.b.WriteString(`\{`)
			r.i++
			r.prefers.part(indifferent)
			operand = true
			continue
		case c == '|':
			r.prefers.branches = true
			operand = false
		case c == '^':
			operand = false
		case c == '$':
			operand = false
			if !r.f.lines { // at the very end
				r.b.WriteString(`\z`)
				r.i++
				continue
			}
		case r.f.expand && (c == ' ' || c >= '\t' && c <= '\r'):
			r.i++
			continue
		case r.f.expand && c == '#':
			for r.i < len(r.s) && r.s[r.i] != '\n' {
				r.i++
			}
			continue
		case c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z':
			c, n := utf8.DecodeRuneInString(r.s[r.i:])
			r.char(c)
			r.i += n
			r.prefers.part(indifferent)
			operand = true
			continue
		default:
			r.prefers.part(indifferent)
			operand = true
		}
		r.b.WriteByte(c)
		r.i++
	}
	if depth > 0 {
		return "", bad("parentheses () not balanced")
	}
	return r.b.String(), nil
}

// embedded reads options at the start: (?i).
func (r *regexReader) embedded() error {
	rest := r.s[r.i:]
	if !strings.HasPrefix(rest, "(?") || len(rest) < 3 || !(rest[2] >= 'a' && rest[2] <= 'z') {
		return nil
	}
	end := strings.IndexByte(rest, ')')
	if end < 0 {
		return bad("parentheses () not balanced")
	}
	for _, c := range rest[2:end] {
		f, _, err := readFlags(string(c), false)
		if err != nil || c == 'g' {
			return bad("invalid embedded option")
		}
		switch c {
		case 'i', 'c':
			r.f.fold = f.fold
		case 'x', 't':
			r.f.expand = f.expand
		case 'q':
			return cannot("the embedded option q")
		case 'e':
		default:
			r.f.lines, r.f.dotLine = f.lines, f.dotLine
		}
	}
	r.i += end + 1
	return nil
}

// open reads ( and (?: and says what is missing.
func (r *regexReader) open() error {
	rest := r.s[r.i:]
	switch {
	case strings.HasPrefix(rest, "(?:"):
		r.b.WriteString("(?:")
		r.i += 3
	case strings.HasPrefix(rest, "(?="), strings.HasPrefix(rest, "(?!"), strings.HasPrefix(rest, "(?<="), strings.HasPrefix(rest, "(?<!"):
		return cannot("looking around")
	case strings.HasPrefix(rest, "(?#"):
		return cannot("a comment")
	case strings.HasPrefix(rest, "(?"):
		return bad("quantifier operand invalid")
	default:
		r.b.WriteByte('(')
		r.i++
	}
	return nil
}

// mostCounted is PostgreSQL's bound of {m,n}.
const mostCounted = 255

func (r *regexReader) quantifier() error {
	start, fixed := r.i, false
	if r.s[r.i] == '{' {
		end := strings.IndexByte(r.s[r.i:], '}')
		if end < 0 {
			return bad("braces {} not balanced")
		}
		lo, hi, pair := strings.Cut(r.s[r.i+1:r.i+end], ",")
		m, err := strconv.Atoi(lo)
		n := m
		if pair && hi != "" && err == nil {
			n, err = strconv.Atoi(hi)
		}
		if err != nil || m > mostCounted || n > mostCounted || m > n {
			return bad("invalid repetition count(s)")
		}
		fixed = !pair
		r.i += end + 1
	} else {
		r.i++
	}
	r.b.WriteString(r.s[start:r.i])
	prefers := longest
	if r.i < len(r.s) && r.s[r.i] == '?' {
		r.lazy, prefers = true, shortest
		r.b.WriteByte('?')
		r.i++
	}
	if !fixed { // else there is nothing to choose
		r.prefers.last = prefers
	}
	return nil
}

// Classes of characters that know more letters than ASCII's, as they stand inside of brackets.
const (
	wordClass  = `\p{L}\p{N}_`
	digitClass = `\p{Nd}`
	spaceClass = `\s\v\x{85}\p{Z}`
)

var posixClasses = map[string]string{
	"alpha": `\p{L}`, "digit": digitClass, "alnum": `\p{L}\p{N}`, "upper": `\p{Lu}`, "lower": `\p{Ll}`, "space": spaceClass,
	"blank": ` \t`, "punct": `!-/:-@\[-` + "`" + `{-~`, "cntrl": `\x00-\x1f\x7f`, "xdigit": `0-9A-Fa-f`, "print": `\x20-\x7e\p{L}\p{N}\p{P}\p{S}`,
	"graph": `\x21-\x7e\p{L}\p{N}\p{P}\p{S}`, "word": wordClass,
}

// escape reads a backslash and what follows; counts is whether that is something to count.
func (r *regexReader) escape(inside bool) (counts bool, err error) {
	r.i++
	if r.i >= len(r.s) {
		return false, bad("invalid escape \\ sequence")
	}
	c, n := utf8.DecodeRuneInString(r.s[r.i:])
	r.i += n
	class := func(in, out string) (bool, error) {
		if inside {
			r.b.WriteString(in)
		} else {
			r.b.WriteString(out)
		}
		return true, nil
	}
	char := func(c rune) (bool, error) {
		if inside { // whose letters are folded together
			r.escaped(c)
		} else {
			r.char(c)
		}
		return true, nil
	}
	switch c {
	case 'd':
		return class(digitClass, "["+digitClass+"]")
	case 'w':
		return class(wordClass, "["+wordClass+"]")
	case 's':
		return class(spaceClass, "["+spaceClass+"]")
	case 'D', 'W', 'S':
		if inside {
			return false, bad("invalid escape \\ sequence")
		}
		return class("", "[^"+map[rune]string{'D': digitClass, 'W': wordClass, 'S': spaceClass}[c]+"]")
	case 'a':
		return char(7)
	case 'b':
		return char(8)
	case 'B':
		return char('\\')
	case 'e':
		return char(27)
	case 'f':
		return char(12)
	case 'n':
		return char('\n')
	case 'r':
		return char('\r')
	case 't':
		return char('\t')
	case 'v':
		return char(11)
	case 'u', 'U', 'x':
		digits := map[rune]int{'u': 4, 'U': 8, 'x': 8}[c]
		end := r.i
		for end < len(r.s) && end < r.i+digits && isHex(r.s[end]) {
			end++
		}
		if end == r.i || c != 'x' && end < r.i+digits {
			return false, bad("invalid escape \\ sequence")
		}
		x, err := strconv.ParseInt(r.s[r.i:end], 16, 64)
		if err != nil || x > utf8.MaxRune {
			return false, bad("invalid escape \\ sequence")
		}
		r.i = end
		return char(rune(x))
	case '0':
		return char(0)
	}
	if inside {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '1' && c <= '9' {
			return false, bad("invalid escape \\ sequence")
		}
		return char(c)
	}
	switch {
	case c == 'A':
		r.b.WriteString(`\A`)
	case c == 'Z':
		r.b.WriteString(`\z`)
	case c == 'y':
		r.boundary(`\b`)
	case c == 'Y':
		r.boundary(`\B`)
	case c == 'm':
		r.boundary(`\x{d800}\x{d800}`) // wordBegin
	case c == 'M':
		r.boundary(`\x{d801}\x{d801}`) // wordEnd
	case c >= '1' && c <= '9':
		return false, cannot("a back reference")
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return false, bad("invalid escape \\ sequence")
	default:
		return char(c)
	}
	return false, nil
}

// boundary writes a bound of words.
func (r *regexReader) boundary(s string) {
	r.b.WriteString(s)
	r.words = true
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// bracket reads [...].
func (r *regexReader) bracket() error {
	unbalanced := bad("brackets [] not balanced")
	rest := r.s[r.i:]
	for written, bound := range map[string]string{"[[:<:]]": `\x{d800}\x{d800}`, "[[:>:]]": `\x{d801}\x{d801}`} {
		if strings.HasPrefix(rest, written) {
			r.i += len(written)
			r.boundary(bound)
			return nil
		}
	}
	r.b.WriteByte('[')
	r.i++
	if r.i < len(r.s) && r.s[r.i] == '^' {
		r.b.WriteByte('^')
		if r.f.dotLine { // a class that excludes does not take a newline either
			r.b.WriteString(`\n`)
		}
		r.i++
	}
	begin := r.b.Len()
	for first := true; ; first = false {
		if r.i >= len(r.s) {
			return unbalanced
		}
		c := r.s[r.i]
		rest := r.s[r.i:]
		switch {
		case c == ']' && !first:
			if r.f.fold {
				written := r.b.String()
				inside, err := foldClass(written[begin:])
				if err != nil {
					return err
				}
				r.b.Reset()
				r.b.WriteString(written[:begin] + inside)
			}
			r.b.WriteByte(']')
			r.i++
			return nil
		case strings.HasPrefix(rest, "[:"):
			end := strings.Index(rest, ":]")
			if end < 0 {
				return unbalanced
			}
			name := rest[2:end]
			if r.f.fold && (name == "upper" || name == "lower") {
				name = "alpha" // also of letters without case, as in PostgreSQL
			}
			class, ok := posixClasses[name]
			if !ok {
				return bad("invalid character class")
			}
			r.b.WriteString(class)
			r.i += end + 2
		case strings.HasPrefix(rest, "[.") || strings.HasPrefix(rest, "[="):
			return cannot("a collating element")
		case c == '\\':
			if _, err := r.escape(true); err != nil {
				return err
			}
		case c == '-' && r.i+1 < len(r.s) && r.s[r.i+1] != ']' && !first:
			r.b.WriteByte('-')
			r.i++
		default:
			c, n := utf8.DecodeRuneInString(rest)
			r.escaped(c)
			r.i += n
		}
	}
}
