package funcs

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

func concatWS(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null {
		return null(t)
	}
	var out []byte
	first := true
	for _, v := range a[1:] {
		if v.Null {
			continue
		}
		if !first {
			out = append(out, a[0].S...)
		}
		first = false
		out = append(out, written(v)...)
	}
	return text(string(out))
}

// initcap makes the first character of each word a capital and all others small. A word is letters and digits.
func initcap(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	inside := false
	for _, r := range s {
		if inside {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteRune(unicode.ToUpper(r))
		}
		inside = unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return b.String()
}

// pad is lpad and rpad: a text of exactly n characters.
func pad(left bool) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		s, fill := a[0].S, " "
		if len(a) > 2 {
			fill = a[2].S
		}
		n := int(max(a[1].I, 0))
		have := utf8.RuneCountInString(s)
		if have >= n {
			return text(firstChars(s, n))
		}
		if fill == "" {
			return text(s)
		}
		more := n - have
		wide := utf8.RuneCountInString(fill)
		var b strings.Builder
		b.Grow(len(s) + (more/wide+1)*len(fill))
		if !left {
			b.WriteString(s)
		}
		for ; more >= wide; more -= wide {
			b.WriteString(fill)
		}
		b.WriteString(firstChars(fill, more))
		if left {
			b.WriteString(s)
		}
		return text(b.String())
	}
}

// padSize is four bytes for each character, as PostgreSQL reckons.
func padSize(a []types.Value) int64 {
	if len(a) > 2 && a[2].S == "" { // nothing to pad with
		return int64(len(a[0].S))
	}
	return times(4, a[1].I)
}

// firstChars is the first n characters of s.
func firstChars(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// skipChars is s without its first n characters.
func skipChars(s string, n int) string { return s[len(firstChars(s, n)):] }

// overlay replaces a[3] characters of a[0], from character a[2] on, by a[1].
func overlay(a []types.Value, _ types.Type) (types.Value, error) {
	s, by, from := a[0].S, a[1].S, a[2].I
	count := int64(utf8.RuneCountInString(by))
	if len(a) > 3 {
		count = a[3].I
	}
	if from <= 0 {
		return fail(diag.SubstringError, "negative substring length not allowed")
	}
	next := from + count
	if next > math.MaxInt32 {
		return fail(diag.NumericOutOfRange, "integer out of range")
	}
	return text(firstChars(s, clampInt(from-1)) + by + skipChars(s, clampInt(max(next-1, 0))))
}

func clampInt(n int64) int { return int(min(n, 1<<40)) }

// quoteIdent writes a name so that SQL reads it as it is.
func quoteIdent(s string) string {
	plain := s != ""
	for i := range len(s) {
		c := s[i]
		plain = plain && (c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9')
	}
	if plain && ast.Class(s) == ast.Unreserved {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// quoteLiteral writes a text so that SQL reads it as it is, whatever a backslash means there.
func quoteLiteral(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

func reverse(s string) string {
	out := make([]byte, len(s))
	at := len(s)
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		at -= n
		copy(out[at:], s[i:i+n])
		i += n
	}
	return string(out)
}

// splitPart is the n-th of the parts between separators, counted from the end if n is negative.
func splitPart(a []types.Value, _ types.Type) (types.Value, error) {
	s, sep, n := a[0].S, a[1].S, a[2].I
	switch {
	case n == 0:
		return fail(diag.InvalidParameter, "field position must not be zero")
	case s == "":
		return text("")
	case sep == "":
		if n == 1 || n == -1 {
			return text(s)
		}
		return text("")
	}
	for ; n > 1; n-- {
		i := strings.Index(s, sep)
		if i < 0 {
			return text("")
		}
		s = s[i+len(sep):]
	}
	if n == 1 {
		s, _, _ = strings.Cut(s, sep)
		return text(s)
	}
	// Separators are found from the front, also when parts are counted from the end: they may overlap.
	parts := strings.Split(s, sep)
	if n = int64(len(parts)) + n; n < 0 {
		return text("")
	}
	return text(parts[n])
}

// toHex writes an integer by its bits.
func toHex(a []types.Value, _ types.Type) (types.Value, error) {
	x := uint64(a[0].I)
	if a[0].Type.Kind != types.Int64 {
		x = uint64(uint32(x))
	}
	return text(strconv.FormatUint(x, 16))
}

// translate replaces each character that is in from by the one at its place in to, or drops it.
func translate(s, from, to string) string {
	if from == "" {
		return s
	}
	set, by := []rune(from), []rune(to)
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		at := -1
		for i, f := range set {
			if f == r {
				at = i
				break
			}
		}
		switch {
		case at < 0:
			b.WriteRune(r)
		case at < len(by):
			b.WriteRune(by[at])
		}
	}
	return b.String()
}

// unistr reads \XXXX, \+XXXXXX, \uXXXX, \UXXXXXXXX and \\.
func unistr(a []types.Value, _ types.Type) (types.Value, error) {
	s := a[0].S
	var b strings.Builder
	high := rune(0) // the first half of a surrogate pair
	for s != "" {
		if s[0] != '\\' {
			r, n := utf8.DecodeRuneInString(s)
			if high != 0 {
				return fail(diag.SyntaxError, "invalid Unicode surrogate pair")
			}
			b.WriteRune(r)
			s = s[n:]
			continue
		}
		if strings.HasPrefix(s, `\\`) && high == 0 {
			b.WriteByte('\\')
			s = s[2:]
			continue
		}
		skip, digits := 1, 4
		if len(s) > 1 {
			switch s[1] {
			case '+':
				skip, digits = 2, 6
			case 'u':
				skip, digits = 2, 4
			case 'U':
				skip, digits = 2, 8
			}
		}
		if len(s) < skip+digits {
			return fail(diag.SyntaxError, "invalid Unicode escape")
		}
		x, err := strconv.ParseUint(s[skip:skip+digits], 16, 32)
		if err != nil {
			return fail(diag.SyntaxError, "invalid Unicode escape")
		}
		s = s[skip+digits:]
		r := rune(x)
		switch {
		case high != 0:
			if x < 0xdc00 || x > 0xdfff {
				return fail(diag.SyntaxError, "invalid Unicode surrogate pair")
			}
			b.WriteRune((high-0xd800)<<10 + (r - 0xdc00) + 0x10000)
			high = 0
		case x >= 0xd800 && x < 0xdc00:
			high = r
		case x == 0 || x > utf8.MaxRune:
			return fail(diag.InvalidParameter, "invalid Unicode code point: %04X", x)
		case x >= 0xdc00 && x <= 0xdfff:
			return fail(diag.SyntaxError, "invalid Unicode surrogate pair")
		default:
			b.WriteRune(r)
		}
	}
	if high != 0 {
		return fail(diag.SyntaxError, "invalid Unicode surrogate pair")
	}
	return text(b.String())
}

// bar draws how far x is from least to most, in eighths of a character.
func bar(a []types.Value, _ types.Type) (types.Value, error) {
	x, least, most, width := a[0].F, a[1].F, a[2].F, 80.0
	if len(a) > 3 {
		width = a[3].F
	}
	if !(width >= 1 && width <= 1000) {
		return fail(diag.InvalidParameter, "the width of a bar must be between 1 and 1000")
	}
	if !(most-least > 0) {
		return fail(diag.InvalidParameter, "the end of a bar must be greater than its start")
	}
	part := min(max((x-least)/(most-least), 0), 1)
	if part != part {
		return fail(diag.InvalidParameter, "a bar of NaN")
	}
	eighths := int(part * width * 8)
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string(rune(0x2590 - rest))
	}
	return text(out)
}
