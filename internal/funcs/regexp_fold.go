package funcs

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Where case does not count, a character of a pattern stands for its capital and its small letter, too, and for nothing else: s is not ſ, although the
// capital of ſ is S. Go's (?i) takes all for the same that Unicode folds into one, so that such patterns are written as classes.

// char writes a character that stands for itself.
func (r *regexReader) char(c rune) {
	if lower, upper := unicode.ToLower(c), unicode.ToUpper(c); r.f.fold && lower != upper {
		r.b.WriteByte('[')
		for _, x := range slices.Compact([]rune{c, lower, upper}) {
			r.escaped(x)
		}
		r.b.WriteByte(']')
		return
	}
	r.escaped(c)
}

// escaped writes a character so that it means nothing else.
func (r *regexReader) escaped(c rune) {
	if c >= 0xd800 && c < 0xe000 {
		c = noChar
	}
	if c < 0x80 && !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z') {
		r.b.WriteString(`\x{` + strconv.FormatInt(int64(c), 16) + "}")
		return
	}
	r.b.WriteRune(c)
}

// chars writes a text that stands for itself.
func (r *regexReader) chars(s string) string {
	for _, c := range s {
		r.char(c)
	}
	return r.b.String()
}

// foldClass is what stands between the brackets of a class, with the other letters that its characters stand for.
func foldClass(inside string) (string, error) {
	tree, err := syntax.Parse("["+inside+"]", syntax.Perl)
	if err != nil {
		return "", bad("%s", reason(err))
	}
	set := tree.Rune
	switch tree.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return inside, nil
	case syntax.OpLiteral:
		if set = []rune{set[0], set[0]}; tree.Flags&syntax.FoldCase != 0 { // a class of both letters
			set = append(set, unicode.SimpleFold(set[0]), unicode.SimpleFold(set[0]))
		}
	}
	var b strings.Builder
	b.WriteString(inside)
	for i := 0; i < len(set); i += 2 {
		for c := set[i]; c <= set[i+1]; c++ {
			for _, x := range []rune{unicode.ToLower(c), unicode.ToUpper(c)} {
				if x != c {
					b.WriteString(`\x{` + strconv.FormatInt(int64(x), 16) + "}")
				}
			}
		}
	}
	return b.String(), nil
}
