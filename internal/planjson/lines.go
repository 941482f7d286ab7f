package planjson

import "strings"

// wide is how many characters a line may have that holds a whole value.
const wide = 130

// inLines breaks a compact JSON text into lines: what fits on one stays on one.
func inLines(text string) string {
	p := linePrinter{in: text}
	p.value(0)
	return p.out.String()
}

type linePrinter struct {
	in  string
	out strings.Builder
}

// value takes one value from the input.
func (p *linePrinter) value(indent int) {
	end := valueEnd(p.in)
	if c := p.in[0]; c != '{' && c != '[' || end+indent <= wide {
		p.out.WriteString(spaced(p.in[:end]))
		p.in = p.in[end:]
		return
	}
	close := p.in[0] + 2 // } and ] are two after { and [
	for p.in[0] != close {
		p.out.WriteByte(p.in[0]) // the bracket, or a comma
		p.in = p.in[1:]
		p.out.WriteString("\n" + strings.Repeat(" ", indent+1))
		if close == '}' {
			key := valueEnd(p.in)
			p.out.WriteString(p.in[:key] + ": ")
			p.in = p.in[key+1:]
		}
		p.value(indent + 1)
	}
	p.out.WriteString("\n" + strings.Repeat(" ", indent) + string(close))
	p.in = p.in[1:]
}

// valueEnd is how long the value is that a compact JSON text begins with.
func valueEnd(s string) int {
	depth, inText := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inText:
			if c == '\\' {
				i++
			} else if inText = c != '"'; !inText && depth == 0 {
				return i + 1
			}
		case c == '"':
			inText = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + 1 + depth // one that closes what is around a number is not its
			}
		case c == ',' && depth == 0:
			return i
		}
	}
	return len(s)
}

// spaced puts blanks after the commas and colons of a compact JSON text.
func spaced(s string) string {
	var b strings.Builder
	inText := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		b.WriteByte(c)
		switch {
		case inText && c == '\\':
			i++
			b.WriteByte(s[i])
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}
