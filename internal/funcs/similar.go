package funcs

import (
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// similarTo is SIMILAR TO, with an ESCAPE or without one.
func similarTo(a []types.Value, _ types.Type) (types.Value, error) {
	escape := `\`
	if len(a) > 2 {
		escape = a[2].S
	}
	p, err := similarPattern(a[1].S, escape)
	if err != nil {
		return types.Value{}, err
	}
	re, err := compile(p, "", false)
	if err != nil {
		return types.Value{}, err
	}
	return boolean(re.MatchString(a[0].S))
}

// similarPattern writes a pattern of SIMILAR TO as a regular expression. Two escaped quotes cut it into three parts, of which
// substring gives the one in the middle.
func similarPattern(p, escape string) (string, error) {
	if utf8.RuneCountInString(escape) > 1 {
		return "", errorf(diag.InvalidEscapeSequence, "invalid escape string")
	}
	var b strings.Builder
	b.WriteString("^(?:")
	quotes := 0
	parts := escape != "" && strings.Count(p, escape+`"`) >= 2
	inside, first := false, false
	for i := 0; i < len(p); {
		_, n := utf8.DecodeRuneInString(p[i:])
		ch := p[i : i+n]
		i += n
		switch {
		case escape != "" && ch == escape:
			if i == len(p) {
				continue
			}
			_, n := utf8.DecodeRuneInString(p[i:])
			next := p[i : i+n]
			i += n
			if next == `"` && !inside {
				switch quotes++; quotes {
				case 1:
					b.WriteString("){1,1}?(")
				case 2:
					b.WriteString("){1,1}(?:")
				default:
					return "", errorf(diag.InvalidParameter, "SQL regular expression may not contain more than two escape-double-quote separators")
				}
				continue
			}
			if len(next) > 1 {
				b.WriteString(next)
			} else {
				b.WriteString(`\` + next) // \w and the like keep their meaning
			}
		case inside:
			if ch == `\` {
				b.WriteString(`\\`)
			} else {
				b.WriteString(ch)
			}
			if ch == "]" && !first {
				inside = false
			}
			first = first && ch == "^"
		case ch == "[":
			b.WriteString(ch)
			inside, first = true, true
		case ch == "%":
			b.WriteString(".*")
			if parts && quotes == 0 { // what is before the middle takes as little as it can
				b.WriteByte('?')
			}
		case ch == "_":
			b.WriteByte('.')
		case ch == "(":
			b.WriteString("(?:")
		case ch == `\` || ch == "." || ch == "^" || ch == "$":
			b.WriteString(`\` + ch)
		default:
			b.WriteString(ch)
		}
	}
	b.WriteString(")$")
	return b.String(), nil
}
