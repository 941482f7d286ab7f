package automaton

import (
	"regexp/syntax"
	"strings"
)

// Pattern is a regular expression and what is known of the texts that it matches.
type Pattern struct {
	tree *syntax.Regexp
	prog *syntax.Prog
}

// mostInstructions bounds patterns of which tables are made: larger ones hardly ever have small tables.
const mostInstructions = 1 << 10

// New reads a pattern in Go's syntax; nil: it is not one, or too large.
func New(source string) *Pattern {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	return newPattern(tree)
}

func newPattern(tree *syntax.Regexp) *Pattern {
	tree = tree.Simplify()
	prog, err := syntax.Compile(tree)
	if err != nil || len(prog.Inst) > mostInstructions {
		return nil
	}
	return &Pattern{tree, prog}
}

// Searched is the pattern for asking whether it is anywhere in a text: what it allows before and behind is left away.
func (p *Pattern) Searched() *Pattern {
	parts := flat(p.tree)
	n := len(parts)
	for len(parts) > 0 && isAny(parts[0]) {
		parts = parts[1:]
	}
	for len(parts) > 0 && isAny(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == n {
		return p
	}
	if q := newPattern(&syntax.Regexp{Op: syntax.OpConcat, Sub: parts}); q != nil {
		return q
	}
	return p
}

// Search is a table that finds out whether some part of a text matches.
func (p *Pattern) Search() *Table { return build(p.prog, true) }

// Longest is a table that finds the longest match from a place on.
func (p *Pattern) Longest() *Table { return build(p.prog, false) }

// flat is the parts of a pattern, one after the other, without the groups around them.
func flat(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpConcat:
		var out []*syntax.Regexp
		for _, s := range re.Sub {
			out = append(out, flat(s)...)
		}
		return out
	case syntax.OpCapture:
		return flat(re.Sub[0])
	case syntax.OpEmptyMatch:
		return nil
	}
	return []*syntax.Regexp{re}
}

// isAny reports .*
func isAny(re *syntax.Regexp) bool { return re.Op == syntax.OpStar && re.Sub[0].Op == syntax.OpAnyChar }

// literal is the text that a part stands for, if it is one.
func literal(re *syntax.Regexp) (string, bool) {
	if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 {
		return "", false
	}
	return string(re.Rune), true
}

// Like is the pattern of LIKE, with the backslash as escape, that matches the same texts, if there is one.
func (p *Pattern) Like() (pattern string, ok bool) {
	var b strings.Builder
	parts := flat(p.tree)
	anchored := len(parts) > 0 && parts[0].Op == syntax.OpBeginText
	if anchored {
		parts = parts[1:]
	} else {
		b.WriteByte('%')
	}
	ends := len(parts) > 0 && parts[len(parts)-1].Op == syntax.OpEndText
	if ends {
		parts = parts[:len(parts)-1]
	}
	for _, re := range parts {
		switch text, is := literal(re); {
		case is:
			for _, r := range text {
				if r == '%' || r == '_' || r == '\\' {
					b.WriteByte('\\')
				}
				b.WriteRune(r)
			}
		case re.Op == syntax.OpAnyChar:
			b.WriteByte('_')
		case isAny(re):
			b.WriteByte('%')
		case re.Op == syntax.OpPlus && re.Sub[0].Op == syntax.OpAnyChar:
			b.WriteString("_%")
		default:
			return "", false
		}
	}
	if !ends {
		b.WriteByte('%')
	}
	return b.String(), true
}

// Needle is the longest text that every match contains, and the most bytes that a match has before it; -1: any number. It is empty where
// there is none, or where the pattern asks whether it is at the beginning of the text.
func (p *Pattern) Needle() (text string, before int) {
	for i := range p.prog.Inst {
		if in := &p.prog.Inst[i]; in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&syntax.EmptyBeginText != 0 {
			return "", 0
		}
	}
	at := 0
	for _, re := range flat(p.tree) {
		if lit, ok := literal(re); ok && len(lit) > len(text) {
			text, before = lit, at
		}
		if n := width(re); n < 0 || at < 0 {
			at = -1
		} else {
			at += n
		}
	}
	return text, before
}

// width is the most bytes that a match has; -1: any number.
func width(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		n := 0
		for _, r := range re.Rune {
			one := &syntax.Inst{Op: syntax.InstRune, Rune: []rune{r}, Arg: uint32(re.Flags)}
			n += bytesOf(rangesOf(one))
		}
		return n
	case syntax.OpCharClass:
		return bytesOf(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4
	case syntax.OpCapture, syntax.OpQuest:
		return width(re.Sub[0])
	case syntax.OpConcat, syntax.OpAlternate:
		sum, most := 0, 0
		for _, s := range re.Sub {
			n := width(s)
			if n < 0 {
				return -1
			}
			sum, most = sum+n, max(most, n)
		}
		if re.Op == syntax.OpConcat {
			return sum
		}
		return most
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		if width(re.Sub[0]) == 0 {
			return 0
		}
		return -1
	}
	return 0
}

// Group is where a group lies in every match: bytes from its beginning, and to its end. ok: what is around it is always of the same length.
func (p *Pattern) Group(n int) (before, behind int, ok bool) {
	if n == 0 {
		return 0, 0, true
	}
	re := p.tree
	if re.Op == syntax.OpCapture && re.Cap == n {
		return 0, 0, true
	}
	if re.Op != syntax.OpConcat {
		return 0, 0, false
	}
	found := false
	for _, s := range re.Sub {
		if s.Op == syntax.OpCapture && s.Cap == n {
			if found { // one that is counted, as in (a|b){2}
				return 0, 0, false
			}
			found = true
			continue
		}
		k, fixed := fixedWidth(s)
		if !fixed {
			return 0, 0, false
		}
		if found {
			behind += k
		} else {
			before += k
		}
	}
	return before, behind, found
}

// fixedWidth is how many bytes every match has.
func fixedWidth(re *syntax.Regexp) (n int, ok bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText:
		return 0, true
	case syntax.OpCapture:
		return fixedWidth(re.Sub[0])
	case syntax.OpLiteral:
		if text, ok := literal(re); ok {
			return len(text), true
		}
	case syntax.OpCharClass:
		if len(re.Rune) > 0 && re.Rune[len(re.Rune)-1] < 0x80 {
			return 1, true
		}
	case syntax.OpConcat:
		for _, s := range re.Sub {
			k, fixed := fixedWidth(s)
			if !fixed {
				return 0, false
			}
			n += k
		}
		return n, true
	}
	return 0, false
}
