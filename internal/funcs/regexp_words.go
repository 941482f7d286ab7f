package funcs

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// The bounds of words, \y \Y \m and \M, are between letters, digits and _ of all scripts and anything else. Go's \b and \B know the letters of ASCII, and
// of \m and \M nothing: patterns that have such bounds are run here.

// wordBegin and wordEnd stand for \m and \M in a pattern for Go: as characters that no text has, twice, so that they become no part of a class.
const (
	wordBegin = 0xd800
	wordEnd   = 0xd801
	noChar    = 0xdfff // what is written as any such character, which matches nothing
)

func isWordChar(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) }

// around are the characters before an offset and behind it, -1 where there are none.
func around(s string, at int) (before, behind rune) {
	before, behind = -1, -1
	if at > 0 {
		before, _ = utf8.DecodeLastRuneInString(s[:at])
	}
	if at < len(s) {
		behind, _ = utf8.DecodeRuneInString(s[at:])
	}
	return before, behind
}

// isBound reports an instruction that stands for \m or \M, and whether that is so at an offset.
func isBound(s string, at int, in *syntax.Inst) (bound, so bool) {
	if len(in.Rune) != 1 || in.Rune[0] != wordBegin && in.Rune[0] != wordEnd {
		return false, false
	}
	before, behind := around(s, at)
	return true, isWordChar(before) != isWordChar(behind) && isWordChar(behind) == (in.Rune[0] == wordBegin)
}

// holds reports that what an instruction asks for of the characters around an offset is so.
func holds(s string, at int, in *syntax.Inst) bool {
	before, behind := around(s, at)
	op := syntax.EmptyOpContext(before, behind) &^ (syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary)
	if isWordChar(before) != isWordChar(behind) {
		op |= syntax.EmptyWordBoundary
	} else {
		op |= syntax.EmptyNoWordBoundary
	}
	return syntax.EmptyOp(in.Arg)&^op == 0
}
