package file

import (
	"math"
	"strings"

	"github.com/kelpiedb/kelpie/internal/types"
)

// class is what a value in a text file looks like.
type class uint8

const (
	looksText class = iota
	looksCode       // digits that are no number: what leads them, or how many there are, would be lost
	looksBool
	looksInt
	looksLong // an integer that DOUBLE would round
	looksHuge // an integer that DECIMAL(38) holds, but not BIGINT
	looksFloat
	looksInfinite // a number, or among dates and timestamps one of them
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
	case strings.EqualFold(strings.TrimPrefix(t, "-"), "infinity"):
		return looksInfinite
	case c == '-' || c == '+' || c == '.':
		return numberClass(t)
	case t == "t" || t == "f" || strings.EqualFold(t, "true") || strings.EqualFold(t, "false"):
		return looksBool
	case (c|0x20 == 'n' || c|0x20 == 'i') && parses(types.TFloat64, t): // NaN, Infinity
		return looksFloat
	}
	return looksText
}

// exactInts is how many digits an integer may have for DOUBLE to hold it whatever they are.
const exactInts = 15

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
	switch plain := n > 0 && n+points == len(digits); {
	case n > 1 && digits[0] == '0' && isDigit(digits[1]):
		if plain && points <= 1 {
			return looksCode
		}
	case plain && points == 0:
		return intClass(s, n)
	case plain && points == 1 && n < 19: // no need to try
		return looksFloat
	case parses(types.TFloat64, s):
		return looksFloat
	}
	return looksText
}

// intClass is the class of an integer of n digits.
func intClass(s string, n int) class {
	switch {
	case n <= exactInts:
		return looksInt
	case n <= 19 && parses(types.TInt64, s):
		if v, _ := types.ParseValue(types.TInt64, s); int64(float64(v.I)) == v.I && v.I != math.MaxInt64 {
			return looksInt
		}
		return looksLong
	case n <= types.MaxPrecision:
		return looksHuge
	}
	return looksCode
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
func (g *guess) see(f *sniffed) { g.seeAs(f, classOf) }

func (g *guess) seeAs(f *sniffed, classOf func(string) class) {
	if g[looksText] || f.null || f.text == "" && !f.quoted {
		return
	}
	g[classOf(f.text)] = true
}

// best is the narrowest type that holds all values as they are; VARCHAR if there are none.
func (g *guess) best() types.Type {
	whole := g[looksInt] || g[looksLong] || g[looksHuge]
	day := g[looksDate] || g[looksTimestamp]
	float := g[looksFloat] || g[looksInfinite] && !day
	number := whole || float
	kinds := 0
	for _, is := range []bool{g[looksText] || g[looksCode], g[looksBool], number, day} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
	case g[looksBool]:
		return types.TBool
	case float && !g[looksLong] && !g[looksHuge]:
		return types.TFloat64
	case g[looksHuge] && !float:
		return hugeInt
	case whole && !float:
		return types.TInt64
	case g[looksTimestamp]:
		return types.TTimestamp
	case day:
		return types.TDate
	}
	return types.TText
}

// isNumber reports a class of digits.
func isNumber(c class) bool {
	switch c {
	case looksCode, looksInt, looksLong, looksHuge, looksFloat, looksInfinite:
		return true
	}
	return false
}

// digits reports a column of nothing but digits.
func (g *guess) digits() bool {
	any := false
	for c, seen := range g {
		if seen && !isNumber(class(c)) {
			return false
		}
		any = any || seen
	}
	return any
}

// hugeInt is the type of integers that need more than 64 bits.
var hugeInt = types.Type{Kind: types.Decimal, Prec: types.MaxPrecision}
