package file

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/types"
)

// class is what a value in a text file looks like.
type class uint8

const (
	looksText class = iota
	looksBool
	looksInt
	looksFloat
	looksDate
	looksTimestamp
)

// classOf looks at a value.
func classOf(s string) class {
	t := strings.Trim(s, " ")
	if t == "" {
		return looksText
	}
	switch c := t[0]; {
	case isDigit(c):
		switch {
		case dateShape(t):
			if parses(types.TDate, t) {
				return looksDate
			}
			return looksText
		case len(t) >= 16 && dateShape(t[:10]):
			// A time zone would be lost: such values stay texts, as they are.
			if (t[10] == ' ' || t[10] == 'T') && strings.IndexAny(t[11:], "+-") < 0 && parses(types.TTimestamp, t) {
				return looksTimestamp
			}
			return looksText
		}
		return numberClass(t)
	case c == '-' || c == '+' || c == '.':
		return numberClass(t)
	case t == "t" || t == "f" || strings.EqualFold(t, "true") || strings.EqualFold(t, "false"):
		return looksBool
	case (c|0x20 == 'n' || c|0x20 == 'i') && parses(types.TFloat64, t): // NaN, Infinity
		return looksFloat
	}
	return looksText
}

// numberClass is the class of what begins as a number.
func numberClass(s string) class {
	digits := s
	if s[0] == '-' || s[0] == '+' {
		digits = s[1:]
	}
	n, points := 0, 0
	for i := range len(digits) {
		switch {
		case isDigit(digits[i]):
			n++
		case digits[i] == '.':
			points++
		}
	}
	switch usual := n > 0 && n < 19 && n+points == len(digits); { // no need to try
	case usual && points == 0:
		return looksInt
	case usual && points == 1:
		return looksFloat
	case points == 0 && parses(types.TInt64, s):
		return looksInt
	case parses(types.TFloat64, s):
		return looksFloat
	}
	return looksText
}

func parses(t types.Type, s string) bool {
	_, err := types.ParseValue(t, s)
	return err == nil
}

// dateShape is YYYY-MM-DD or YYYY/MM/DD.
func dateShape(s string) bool {
	if len(s) != 10 || s[4] != s[7] || s[4] != '-' && s[4] != '/' {
		return false
	}
	for i := range len(s) {
		if i != 4 && i != 7 && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// guess is which classes a column's values have.
type guess [looksTimestamp + 1]bool

// see takes a value into account.
func (g *guess) see(f *sniffed) {
	if g[looksText] || f.null || f.text == "" && !f.quoted {
		return
	}
	g[classOf(f.text)] = true
}

// best is the narrowest type for all values; VARCHAR if there are none.
func (g *guess) best() types.Type {
	number, day := g[looksInt] || g[looksFloat], g[looksDate] || g[looksTimestamp]
	switch {
	case g[looksText]:
	case g[looksBool] && !number && !day:
		return types.TBool
	case g[looksFloat] && !g[looksBool] && !day:
		return types.TFloat64
	case number && !g[looksBool] && !day:
		return types.TInt64
	case g[looksTimestamp] && !g[looksBool] && !number:
		return types.TTimestamp
	case day && !g[looksBool] && !number:
		return types.TDate
	}
	return types.TText
}
