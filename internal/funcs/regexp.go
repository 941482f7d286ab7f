package funcs

import (
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// at is argument i, or what it is if it was left out.
func at(a []types.Value, i int, otherwise int64) int64 {
	if i < len(a) {
		return a[i].I
	}
	return otherwise
}

// positive refuses an argument that counts from 1, or from 0.
func positive(n, least int64, name string) error {
	if n < least {
		return errorf(diag.InvalidParameter, "invalid value for parameter %q: %d", name, n)
	}
	return nil
}

// matchesFrom gives the matches that begin at character start or after it, up to the n-th: pairs of offsets in s.
func matchesFrom(re matcher, s string, start, n int64) [][]int {
	from := len(firstChars(s, clampInt(start-1)))
	if start > 1 && int64(utf8.RuneCountInString(s)) < start-1 {
		return nil
	}
	var out [][]int
	for _, m := range allMatches(re, s) {
		if m[0] < from {
			if m[1] <= from {
				continue
			}
			// What began before the start hides what begins after it: search again from there.
			return shifted(re, s, from, n)
		}
		if out = append(out, m); n > 0 && int64(len(out)) == n {
			break
		}
	}
	return out
}

// allMatches are the matches one after the other. PostgreSQL takes an empty one right behind another, too, which Go leaves out:
// they are put in, unless the pattern looks at what is before it.
func allMatches(re matcher, s string) [][]int {
	found := re.FindAllStringSubmatchIndex(s, -1)
	if source := re.String(); !re.MatchString("") || strings.Contains(source, "^") || strings.Contains(source, `\b`) || strings.Contains(source, `\x{d80`) || strings.Contains(source, `\A`) {
		return found
	}
	var out [][]int
	for i, m := range found {
		out = append(out, m)
		if m[1] == m[0] || i+1 < len(found) && found[i+1][0] == m[1] {
			continue
		}
		if e := re.FindStringSubmatchIndex(s[m[1]:]); e != nil && e[0] == 0 && e[1] == 0 {
			for k := range e {
				if e[k] >= 0 {
					e[k] += m[1]
				}
			}
			out = append(out, e)
		}
	}
	return out
}

// shifted searches the part of the text from an offset on.
func shifted(re matcher, s string, from int, n int64) [][]int {
	var out [][]int
	for _, m := range allMatches(re, s[from:]) {
		for i := range m {
			if m[i] >= 0 {
				m[i] += from
			}
		}
		if out = append(out, m); n > 0 && int64(len(out)) == n {
			break
		}
	}
	return out
}

func regexpCount(a []types.Value, t types.Type) (types.Value, error) {
	start := at(a, 2, 1)
	if err := positive(start, 1, "start"); err != nil {
		return types.Value{}, err
	}
	re, err := compile(a[1].S, flagsAt(a, 3), false)
	if err != nil {
		return types.Value{}, err
	}
	return number(t, int64(len(matchesFrom(re, a[0].S, start, 0))))
}

// regexpInstr is where the n-th match begins, or where it ends.
func regexpInstr(a []types.Value, t types.Type) (types.Value, error) {
	start, n, end, group := at(a, 2, 1), at(a, 3, 1), at(a, 4, 0), at(a, 6, 0)
	for _, err := range []error{positive(start, 1, "start"), positive(n, 1, "n"), positive(group, 0, "subexpr")} {
		if err != nil {
			return types.Value{}, err
		}
	}
	if end != 0 && end != 1 {
		return fail(diag.InvalidParameter, "invalid value for parameter %q: %d", "endoption", end)
	}
	re, err := compile(a[1].S, flagsAt(a, 5), false)
	if err != nil {
		return types.Value{}, err
	}
	found := matchesFrom(re, a[0].S, start, n)
	if re.NumSubexp() == 0 && group == 1 {
		group = 0 // the whole is the first part of a pattern without any
	}
	if int64(len(found)) < n || group > int64(re.NumSubexp()) {
		return number(t, 0)
	}
	i := found[n-1][2*group+end]
	if i < 0 {
		return number(t, 0)
	}
	return number(t, int64(utf8.RuneCountInString(a[0].S[:i]))+1)
}

// regexpSubstr is the n-th match, or a part of it.
func regexpSubstr(a []types.Value, t types.Type) (types.Value, error) {
	start, n, group := at(a, 2, 1), at(a, 3, 1), at(a, 5, 0)
	for _, err := range []error{positive(start, 1, "start"), positive(n, 1, "n"), positive(group, 0, "subexpr")} {
		if err != nil {
			return types.Value{}, err
		}
	}
	re, err := compile(a[1].S, flagsAt(a, 4), false)
	if err != nil {
		return types.Value{}, err
	}
	found := matchesFrom(re, a[0].S, start, n)
	if re.NumSubexp() == 0 && group == 1 {
		group = 0
	}
	if int64(len(found)) < n || group > int64(re.NumSubexp()) {
		return null(t)
	}
	m := found[n-1]
	if m[2*group] < 0 {
		return null(t)
	}
	return text(a[0].S[m[2*group]:m[2*group+1]])
}

// groupOf is the pattern and the group of it that DuckDB's functions are asked for; 0 is all of it.
func groupOf(a []types.Value) (matcher, int64, error) {
	re, err := compile(a[1].S, "", false)
	if err != nil {
		return re, 0, err
	}
	group := at(a, 2, 0)
	if group < 0 || group > int64(re.NumSubexp()) {
		_, err = fail(diag.InvalidParameter, "the pattern has no group %d", group)
	}
	return re, group, err
}

// regexpExtract is DuckDB's: the first match or a group of it, and nothing as an empty text.
func regexpExtract(a []types.Value, _ types.Type) (types.Value, error) {
	re, group, err := groupOf(a)
	if err != nil {
		return types.Value{}, err
	}
	m := re.FindStringSubmatchIndex(a[0].S)
	if m == nil || m[2*group] < 0 {
		return text("")
	}
	return text(a[0].S[m[2*group]:m[2*group+1]])
}

// substringPattern is substring(text from pattern): the first group if there is one. With an escape character, it is
// substring(text from pattern for escape), of SIMILAR TO.
func substringPattern(a []types.Value, t types.Type) (types.Value, error) {
	pattern := a[1].S
	if len(a) > 2 {
		var err error
		if pattern, err = similarPattern(pattern, a[2].S); err != nil {
			return types.Value{}, err
		}
	}
	re, err := compile(pattern, "", false)
	if err != nil {
		return types.Value{}, err
	}
	m := re.FindStringSubmatchIndex(a[0].S)
	if m == nil {
		return null(t)
	}
	g := min(re.NumSubexp(), 1)
	if m[2*g] < 0 {
		return null(t)
	}
	return text(a[0].S[m[2*g]:m[2*g+1]])
}

// regexpReplace is regexp_replace(text, pattern, by [, flags]).
func regexpReplace(a []types.Value, _ types.Type) (types.Value, error) {
	flags := flagsAt(a, 3)
	if flags != "" && flags[0] >= '0' && flags[0] <= '9' {
		return fail(diag.InvalidParameter, "invalid regular expression option: %q", flags[:1])
	}
	re, err := compile(a[1].S, flags, true)
	if err != nil {
		return types.Value{}, err
	}
	n := int64(1)
	if strings.Contains(flags, "g") {
		n = 0
	}
	return text(replaceMatches(re, a[0].S, a[2].S, 1, n))
}

// regexpReplaceNth is regexp_replace(text, pattern, by, start [, n [, flags]]); n is 0 for all.
func regexpReplaceNth(a []types.Value, _ types.Type) (types.Value, error) {
	start, n := a[3].I, at(a, 4, 1)
	for _, err := range []error{positive(start, 1, "start"), positive(n, 0, "n")} {
		if err != nil {
			return types.Value{}, err
		}
	}
	flags := flagsAt(a, 5)
	re, err := compile(a[1].S, flags, true)
	if err != nil {
		return types.Value{}, err
	}
	if len(a) < 5 && strings.Contains(flags, "g") {
		n = 0
	}
	return text(replaceMatches(re, a[0].S, a[2].S, start, n))
}

// replaceMatches replaces the n-th match, all for 0.
func replaceMatches(re matcher, s, by string, start, n int64) string {
	found := matchesFrom(re, s, start, n)
	if n > 0 {
		if int64(len(found)) < n {
			return s
		}
		found = found[n-1:]
	}
	if len(found) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for _, m := range found {
		b.WriteString(s[done:m[0]])
		expand(&b, by, s, m)
		done = m[1]
	}
	b.WriteString(s[done:])
	return b.String()
}

// expand writes a replacement: \1 to \9 are groups, \& is all of the match, \\ a backslash.
func expand(b *strings.Builder, by, s string, m []int) {
	for i := 0; i < len(by); i++ {
		c := by[i]
		if c != '\\' || i+1 == len(by) {
			b.WriteByte(c)
			continue
		}
		i++
		group := -1
		switch c = by[i]; {
		case c == '&':
			group = 0
		case c >= '1' && c <= '9':
			group = int(c - '0')
		case c == '\\':
			b.WriteByte(c)
			continue
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
			continue
		}
		if 2*group < len(m) && m[2*group] >= 0 {
			b.WriteString(s[m[2*group]:m[2*group+1]])
		}
	}
}

// replacedSize bounds what a replacement makes: one at each byte and at the end, each with all of its groups, which
// do not overlap from match to match.
func replacedSize(a []types.Value) int64 {
	n, by := int64(len(a[0].S)), int64(len(a[2].S))
	groups := int64(strings.Count(a[2].S, `\`))
	return n + times(n+1, by) + times(n, groups)
}
