package eval

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/types"
)

// substring is substring(text from a[1] for a[2]): characters are counted from 1, and those
// before the first count too.
func substring(a []types.Value) (types.Value, error) {
	end := int64(math.MaxInt64)
	if len(a) > 2 {
		n := a[2].I
		if n < 0 {
			return types.Value{}, fail(diag.SubstringError, "negative substring length not allowed")
		}
		if end = a[1].I + n; a[1].I > 0 && end < 0 {
			end = math.MaxInt64
		}
	}
	return types.TextValue(between(a[0].S, a[1].I, end)), nil
}

// between is the part of s from the 1-based character from up to but without character to.
func between(s string, from, to int64) string {
	start, n := len(s), int64(1)
	for i := range s {
		if n == max(from, 1) {
			start = i
		}
		if n >= to {
			return s[min(start, i):i]
		}
		n++
	}
	return s[start:]
}

// left is the first n characters, or all but the last -n.
func left(s string, n int64) string {
	if n < 0 {
		n = max(int64(utf8.RuneCountInString(s))+n, 0)
	}
	return s[:offset(s, n)]
}

// right is the last n characters, or all but the first -n.
func right(s string, n int64) string {
	skip := int64(utf8.RuneCountInString(s)) - n
	if n < 0 {
		skip = -n
		if skip < 0 { // the least integer
			skip = math.MaxInt64
		}
	}
	return s[offset(s, skip):]
}

// offset is where character n (from 0) begins; the end if there are fewer.
func offset(s string, n int64) int {
	if n <= 0 {
		return 0
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// position is where sub first occurs in s, in characters from 1; 0 if it does not.
func position(s, sub string) int64 {
	i := strings.Index(s, sub)
	if i < 0 {
		return 0
	}
	return int64(utf8.RuneCountInString(s[:i])) + 1
}

func concat(a []types.Value) string {
	var b strings.Builder
	n := 0
	for i := range a {
		n += len(a[i].S)
	}
	b.Grow(n)
	for i := range a {
		b.WriteString(a[i].S)
	}
	return b.String()
}

func like(s, pattern string) (types.Value, error) {
	if !funcs.CompletePattern(pattern) {
		return types.Value{}, fail(diag.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
	}
	return types.BoolValue(funcs.Like(s, pattern)), nil
}
