package opt

import "unicode/utf8"

// likeMatch reports whether s matches a LIKE pattern: % is any text, _ any character, a
// backslash takes the next character as it is.
func likeMatch(s, pattern string) bool {
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
				if c == '\\' && j+1 < len(pattern) {
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

// likeLiteral takes a pattern apart: the text before the first wildcard, whether that is
// all of it, and the number of literal characters in total.
func likeLiteral(pattern string) (prefix string, whole bool, literals int) {
	var b []byte
	whole = true
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c == '%' || c == '_' {
			whole = false
			continue
		}
		if c == '\\' && i+1 < len(pattern) {
			i++
			c = pattern[i]
		}
		literals++
		if whole {
			b = append(b, c)
		}
	}
	return string(b), whole, literals
}
