package funcs

import (
	"strings"
	"unicode/utf8"
)

// The one reading of LIKE patterns: plans know only those in which the backslash escapes, % is any text and _
// any character.

// Backslashed rewrites a pattern so that its escape character is the backslash, whatever it was. An empty escape is
// none. ok is false if the pattern ends with an escape.
func Backslashed(pattern, escape string) (string, bool) {
	if !strings.Contains(pattern, escape) && !strings.Contains(pattern, `\`) {
		return pattern, true
	}
	var out strings.Builder
	for i := 0; i < len(pattern); {
		_, n := utf8.DecodeRuneInString(pattern[i:])
		ch := pattern[i : i+n]
		i += n
		if escape != "" && ch == escape {
			if i == len(pattern) {
				return "", false
			}
			_, n := utf8.DecodeRuneInString(pattern[i:])
			ch = pattern[i : i+n]
			i += n
			if ch == "%" || ch == "_" || ch == `\` {
				out.WriteByte('\\')
			}
		} else if ch == `\` {
			out.WriteByte('\\')
		}
		out.WriteString(ch)
	}
	return out.String(), true
}

// CompletePattern reports that the last backslash has a character to escape.
func CompletePattern(p string) bool {
	return EachLike(p, func(LikeToken, byte) {})
}

// LikeToken is a part of a pattern: any text, any character, or a byte that stands for itself.
type LikeToken uint8

const (
	LikeAny LikeToken = iota
	LikeOne
	LikeByte
)

// EachLike calls f for the parts of a pattern one after the other. It reports that the last backslash has a character to
// escape.
func EachLike(pattern string, f func(t LikeToken, c byte)) (complete bool) {
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '%':
			f(LikeAny, c)
		case '_':
			f(LikeOne, c)
		case '\\':
			if i++; i == len(pattern) {
				return false
			}
			f(LikeByte, pattern[i])
		default:
			f(LikeByte, c)
		}
	}
	return true
}

// Like reports whether s matches a LIKE pattern: % is any text, _ any character, a
// backslash takes the next character as it is, and there must be one.
func Like(s, pattern string) bool {
	// The usual two-pointer match: on failure go back to the last % and let it take one more
	// character.
	back, backS := -1, 0
	i, j := 0, 0
	for i < len(s) {
		if j < len(pattern) {
			switch c := pattern[j]; {
			case c == '%':
				back, backS = j+1, i
				j++
				continue
			case c == '_':
				_, n := utf8.DecodeRuneInString(s[i:])
				i += n
				j++
				continue
			default:
				k := j
				if c == '\\' {
					k++
				}
				if pattern[k] == s[i] {
					i++
					j = k + 1
					continue
				}
			}
		}
		if back < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[backS:])
		backS += n
		i, j = backS, back
	}
	for j < len(pattern) && pattern[j] == '%' {
		j++
	}
	return j == len(pattern)
}
