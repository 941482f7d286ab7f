package funcs

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// regexpListRows are functions of patterns that give lists, and rows of them.
var regexpListRows = []Row{
	fn("regexp_match", "tt?t", tTexts, "regexp_match('foobarbequebaz', '(bar)(beque)') → {bar,beque}", regexpMatch, fails, nullOut),
	fn("regexp_split_to_array", "tt?t", tTexts, `regexp_split_to_array('hello world', '\s+') → {hello,world}`, regexpSplit("regexp_split_to_array"), fails),
	fn("regexp_extract_all", "tt?e", tTexts, "regexp_extract_all('a1b22', '[0-9]+') → {1,22}", regexpExtractAll, fails),
	made("regexp_matches", "tt?t", ""),
	made("regexp_split_to_table", "tt?t", ""),
	made("string_to_table", "tt?t", ""),
}

// RowLists are functions of several rows, and the lists whose elements these are.
var RowLists = map[string]struct {
	Fn   *plan.Function
	List types.Type
}{
	"regexp_matches":        {internalFn("regexp_matches", regexpMatches), types.TList(tTexts)},
	"regexp_split_to_table": {internalFn("regexp_split_to_table", regexpSplit("regexp_split_to_table")), tTexts},
	"generate_subscripts":   {internalFn("generate_subscripts", subscripts), types.TList(types.TInt32)},
	"jsonb_path_query":      {JSONPathQuery, types.TList(types.TJSONB)},
	"string_to_table":       {&plan.Function{Name: "string_to_table", NullOut: true, Eval: stringToArray}, tTexts},
}

// compileOnce is compile for functions that have no use for the flag g.
func compileOnce(name, pattern, flags string) (matcher, error) {
	if strings.Contains(flags, "g") {
		return nil, diag.Errorf(diag.InvalidParameter, diag.NoPos, "%s() does not support the \"global\" option", name)
	}
	return compile(pattern, flags, false)
}

// groupsOf is what the groups of a match are, or the match if the pattern has none.
func groupsOf(s string, m []int) types.Value {
	if len(m) > 2 {
		m = m[2:]
	}
	elems := make([]types.Value, len(m)/2)
	for i := range elems {
		if elems[i] = types.NullOf(types.TText); m[2*i] >= 0 {
			elems[i] = types.TextValue(s[m[2*i]:m[2*i+1]])
		}
	}
	return types.ListValue(types.TText, elems)
}

func regexpMatch(a []types.Value, t types.Type) (types.Value, error) {
	re, err := compileOnce("regexp_match", a[1].S, flagsAt(a, 2))
	if err != nil {
		return types.Value{}, err
	}
	m := re.FindStringSubmatchIndex(a[0].S)
	if m == nil {
		return null(t)
	}
	return groupsOf(a[0].S, m), nil
}

// regexpMatches is the list of what regexp_matches has rows of: the first match, or all with the flag g.
func regexpMatches(a []types.Value, t types.Type) (types.Value, error) {
	flags := flagsAt(a, 2)
	re, err := compile(a[1].S, flags, true)
	if err != nil {
		return types.Value{}, err
	}
	n := int64(1)
	if strings.Contains(flags, "g") {
		n = 0
	}
	var rows []types.Value
	for _, m := range matchesFrom(re, a[0].S, 1, n) {
		rows = append(rows, groupsOf(a[0].S, m))
	}
	return types.ListValue(t.Elem(), rows), nil
}

// regexpSplit cuts a text at the matches. Empty ones at its ends, or right behind another, do not count.
func regexpSplit(name string) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		re, err := compileOnce(name, a[1].S, flagsAt(a, 2))
		if err != nil {
			return types.Value{}, err
		}
		s := a[0].S
		var parts []string
		from, last := 0, 0
		for _, m := range allMatches(re, s) {
			if m[0] < len(s) && m[1] > last {
				parts = append(parts, s[from:m[0]])
				from = m[1]
			}
			last = m[1]
		}
		return textList(append(parts, s[from:]))
	}
}

// regexpExtractAll is DuckDB's: all matches, or a group of each.
func regexpExtractAll(a []types.Value, _ types.Type) (types.Value, error) {
	re, group, err := groupOf(a)
	if err != nil {
		return types.Value{}, err
	}
	parts := []string{}
	for _, m := range allMatches(re, a[0].S) {
		part := ""
		if m[2*group] >= 0 {
			part = a[0].S[m[2*group]:m[2*group+1]]
		}
		parts = append(parts, part)
	}
	return textList(parts)
}
