package funcs

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/automaton"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// patternRows are functions and operators of patterns.
var patternRows = []Row{
	fn("glob", "tt", tBool, "'a.csv' glob '*.csv' → true", func(a []types.Value, _ types.Type) (types.Value, error) {
		return boolean(matchGlob(a[0].S, a[1].S))
	}),
	fn("like escape", "ttt", tBool, "'a%c' like 'a$%c' escape '$' → true", likeEscape(false), fails),
	fn("ilike escape", "ttt", tBool, "'A%c' ilike 'a$%C' escape '$' → true", likeEscape(true), fails),
	fn("like_escape", "ttt", tBool, "like_escape('a%c', 'a$%c', '$') → true", likeEscape(false), fails),
	fn("ilike_escape", "ttt", tBool, "ilike_escape('A%c', 'a$%C', '$') → true", likeEscape(true), fails),
	fn("not_like_escape", "ttt", tBool, "not_like_escape('a%c', 'a$%c', '$') → false", negated(likeEscape(false)), fails),
	fn("not_ilike_escape", "ttt", tBool, "not_ilike_escape('A%c', 'a$%C', '$') → false", negated(likeEscape(true)), fails),
	fn("regexp_count", "tt?it", tInt, "regexp_count('ABCABCAXYaxy', 'A.', 1, 'i') → 4", regexpCount, fails, matching(countUse)),
	fn("regexp_escape", "t", tText, `regexp_escape('a.b') → a\.b`, func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(escapeRegexp(a[0].S))
	}),
	fn("regexp_extract", "tt?e", tText, "regexp_extract('hello_world', '([a-z ]+)_?', 1) → hello", regexpExtract, fails, matching(extractUse)),
	fn("regexp_full_match", "tt?t", tBool, "regexp_full_match('anabanana', '(an)*') → false", func(a []types.Value, _ types.Type) (types.Value, error) {
		re, err := compile("^(?:"+a[1].S+")$", flagsAt(a, 2), false)
		if err != nil {
			return types.Value{}, err
		}
		return boolean(re.MatchString(a[0].S))
	}, fails, matching(func(rest []types.Value) *automaton.Use {
		return testUse("^(?:"+rest[0].S+")$", flagsAt(rest, 1), false)
	})),
	fn("regexp_instr", "tt?iiiti", tInt, "regexp_instr('number of your street, town zip, FR', '[^,]+', 1, 2) → 23", regexpInstr, fails),
	fn("regexp_like", "tt?t", tBool, "regexp_like('Hello World', 'world$', 'i') → true", func(a []types.Value, _ types.Type) (types.Value, error) {
		re, err := compile(a[1].S, flagsAt(a, 2), false)
		if err != nil {
			return types.Value{}, err
		}
		return boolean(re.MatchString(a[0].S))
	}, fails, matching(func(rest []types.Value) *automaton.Use { return testUse(rest[0].S, flagsAt(rest, 1), false) })),
	fn("regexp_replace", "ttt?t", tText, `regexp_replace('Thomas', '(.)[mN]a.', '\1M') → ThoM`, regexpReplace, size(replacedSize), matching(replaceUse)),
	fn("regexp_replace", "ttti?it", tText, "regexp_replace('Thomas', '.', 'X', 3, 2) → ThoXas", regexpReplaceNth, size(replacedSize)),
	fn("regexp_substr", "tt?iiti", tText, "regexp_substr('ABCDEF', 'c(.)(..)', 1, 1, 'i', 2) → EF", regexpSubstr, fails, nullOut, matching(substrUse)),
	fn("similar to", "tt?t", tBool, "'abc' similar to '(b|a)%' → true", similarTo, fails, matching(similarUse)),
	op("like", "tt", tBool, plan.Like, "'abc' like 'a%' → true"),
	op("^@", "tt", tBool, plan.StartsWith, "'alphabet' ^@ 'alph' → true"),
	fn("~", "tt", tBool, "'thomas' ~ 't.*ma' → true", matches("", false), fails, matching(matchesUse("", false))),
	fn("!~", "tt", tBool, "'thomas' !~ 't.*max' → true", matches("", true), fails, matching(matchesUse("", true))),
	fn("~*", "tt", tBool, "'thomas' ~* 'T.*ma' → true", matches("i", false), fails, matching(matchesUse("i", false))),
	fn("!~*", "tt", tBool, "'thomas' !~* 'T.*max' → true", matches("i", true), fails, matching(matchesUse("i", true))),
}

// matches is a regular expression as a test.
func matches(flags string, not bool) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		re, err := compile(a[1].S, flags, false)
		if err != nil {
			return types.Value{}, err
		}
		return boolean(re.MatchString(a[0].S) != not)
	}
}

func flagsAt(a []types.Value, i int) string {
	if i < len(a) {
		return a[i].S
	}
	return ""
}

// negated is a test the other way round.
func negated(test Eval) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		v, err := test(a, t)
		v.I = 1 - v.I
		return v, err
	}
}

// likeEscape is LIKE with an escape character that only the rows know.
func likeEscape(fold bool) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		s, p := a[0].S, a[1].S
		if len([]rune(a[2].S)) > 1 {
			return fail(diag.InvalidEscapeSequence, "invalid escape string")
		}
		pattern, ok := Backslashed(p, a[2].S)
		if !ok {
			return fail(diag.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
		}
		if fold {
			s, pattern = strings.ToLower(s), strings.ToLower(pattern)
		}
		return boolean(Like(s, pattern))
	}
}

// escapeRegexp puts a backslash before everything that is neither a letter nor a digit.
func escapeRegexp(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// matchGlob is GLOB: * is any text, ? any character, [a-z] one of some; all of the text has to match.
func matchGlob(s, pattern string) bool {
	str, pat := []rune(s), []rune(pattern)
	back, backS := -1, 0
	i, j := 0, 0
	for i < len(str) {
		if j < len(pat) {
			if pat[j] == '*' {
				back, backS = j+1, i
				j++
				continue
			}
			if next, ok := globOne(pat, j, str[i]); ok {
				i, j = i+1, next
				continue
			}
		}
		if back < 0 {
			return false
		}
		backS++
		i, j = backS, back
	}
	for j < len(pat) && pat[j] == '*' {
		j++
	}
	return j == len(pat)
}

// globOne matches a character against what stands at j, and gives the place behind that.
func globOne(pat []rune, j int, r rune) (next int, ok bool) {
	switch pat[j] {
	case '?':
		return j + 1, true
	case '\\':
		return j + 2, j+1 < len(pat) && pat[j+1] == r
	case '[':
		k := j + 1
		not := k < len(pat) && (pat[k] == '!' || pat[k] == '^')
		if not {
			k++
		}
		found := false
		for first := true; k < len(pat) && (pat[k] != ']' || first); first = false {
			lo, hi := pat[k], pat[k]
			if k+2 < len(pat) && pat[k+1] == '-' && pat[k+2] != ']' {
				hi = pat[k+2]
				k += 2
			}
			k++
			found = found || r >= lo && r <= hi
		}
		return k + 1, k < len(pat) && found != not
	}
	return j + 1, pat[j] == r
}
