package automaton

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// check compares all that a pattern's tables say of texts with Go's regexp. It reports that there is a table.
func check(t *testing.T, source string, texts ...string) bool {
	t.Helper()
	re, err := regexp.Compile(source)
	p := New(source)
	if err != nil || p == nil {
		return false
	}
	re.Longest()
	searched := p.Searched()
	search, again, longest := p.Search(), searched.Search(), p.Longest()
	like, isLike := p.Like()
	for _, text := range texts {
		want := re.MatchString(text)
		for _, s := range []*Table{search, again} {
			if s != nil && s.Match(text) != want {
				t.Fatalf("%q in %q: not %v", source, text, want)
			}
		}
		if again != nil && fromNeedle(searched, again, text) != want {
			t.Fatalf("%q in %q from its needle: not %v", source, text, want)
		}
		if isLike && likeMatches(like, text) != want {
			t.Fatalf("%q in %q: like %q is not %v", source, text, like, want)
		}
		if longest == nil {
			continue
		}
		found := re.FindStringSubmatchIndex(text)
		lo, hi := longest.Find(text, 0)
		if found == nil != (lo < 0) || found != nil && (found[0] != lo || found[1] != hi) {
			t.Fatalf("%q in %q: found %d to %d, want %v", source, text, lo, hi, found)
		}
		for g := 0; found != nil && g <= p.tree.MaxCap(); g++ {
			if before, behind, ok := p.Group(g); ok && (found[2*g] != lo+before || found[2*g+1] != hi-behind) {
				t.Fatalf("%q in %q: group %d is %d before the beginning and %d before the end of %v", source, text, g, before, behind, found)
			}
		}
	}
	if longest != nil && !longest.Empty() && (re.MatchString("") || p.matchesBetween()) {
		t.Fatalf("%q: matches nothing, but not Empty", source)
	}
	return search != nil
}

// matchesBetween reports that a part without bytes in the middle of a text matches.
func (p *Pattern) matchesBetween() bool {
	return regexp.MustCompile("x(?:" + p.tree.String() + ")x").MatchString("xx")
}

// fromNeedle searches as generated code does: from where a match can begin at the earliest.
func fromNeedle(p *Pattern, s *Table, text string) bool {
	needle, before := p.Needle()
	if needle == "" {
		return s.Match(text)
	}
	at := strings.Index(text, needle)
	if at < 0 {
		return false
	}
	if at = max(at-before, 0); before < 0 {
		at = 0
	}
	state := s.Middle
	for i := at; i < len(text) && state != 0 && state < s.Accepts; i++ {
		state = s.Step(state, text[i])
	}
	return state >= s.Ends
}

// likeMatches is LIKE, by regexp.
func likeMatches(like, text string) bool {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(like); {
		r, n := utf8.DecodeRuneInString(like[i:])
		i += n
		switch r {
		case '%':
			b.WriteString(".*")
			continue
		case '_':
			b.WriteString(".")
			continue
		case '\\':
			r, n = utf8.DecodeRuneInString(like[i:])
			i += n
		}
		b.WriteString(regexp.QuoteMeta(string(r)))
	}
	return regexp.MustCompile(b.String() + `\z`).MatchString(text)
}

// random writes a pattern.
func random(r *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "ab", "é", "日", "[ab]", "[^a]", ".", `\d`, `[\p{Greek}]`, "[a-fé-ü]", "%", "_", "k", "ſ", "", "^", "$", "(?i:k)", "(?i:éa)"}
	if depth == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	var b strings.Builder
	for range 1 + r.IntN(3) {
		x := random(r, depth-1)
		switch r.IntN(8) {
		case 0:
			x = "(" + x + "|" + random(r, depth-1) + ")"
		case 1:
			x = "(?:" + x + ")" + []string{"*", "+", "?", "{2}", "{1,3}"}[r.IntN(5)]
		case 2:
			x = "(" + x + ")"
		case 3:
			x = ".*" + x
		}
		b.WriteString(x)
	}
	return b.String()
}

// TestAgainstRegexp tries random patterns on random texts.
func TestAgainstRegexp(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 8))
	chars := []rune("aabbk%_é日ü1\nſKKz𝄞")
	n := 800
	if testing.Short() {
		n = 300
	}
	tables := 0
	for range n {
		source := random(r, r.IntN(3))
		if r.IntN(4) > 0 {
			source = "(?s)" + source
		}
		var texts []string
		for range 12 {
			text := make([]rune, r.IntN(9))
			for i := range text {
				text[i] = chars[r.IntN(len(chars))]
			}
			texts = append(texts, string(text))
		}
		if check(t, source, texts...) {
			tables++
		}
	}
	if tables < n*8/10 {
		t.Errorf("only %d of %d patterns have tables", tables, n)
	}
}

// TestTables asks for what queries use, and for what is refused.
func TestTables(t *testing.T) {
	for _, c := range []struct {
		source string
		states int // at most, of the search; 0: no table
		prompt bool
		needle string
		before int
		like   string
	}{
		{"item-[0-9]+5[?]", 12, false, "item-", 0, ""},
		{"(?s).*item-[0-9]+5[?].*", 12, false, "item-", 0, ""},
		{"(shop|help)/item-1", 20, true, "/item-1", 4, ""},
		{"[0-9]+", 3, true, "", 0, ""},
		{`[\p{L}\p{N}_]+x`, 400, false, "x", -1, ""},
		{`utm_source=([a-z]+)`, 15, true, "utm_source=", 0, ""},
		{"(?s)^k1.*", 5, true, "", 0, "k1%%"},
		{"(?s)a.b+c", 16, false, "a", 0, ""},
		{"(?s)a.%_c", 20, true, "%_c", 5, `%a_\%\_c%`},
		{`\bword\b`, 0, false, "word", 0, ""},
		{"(?m)^a$", 0, false, "a", 0, ""},
		{"(a|b)*a(a|b){12}", 0, false, "a", -1, ""},
		{"(?i)straße", 20, true, "", 0, ""},
		{"é{2,}x", 12, false, "é", 0, ""},
	} {
		p := New(c.source).Searched()
		s := p.Search()
		if s == nil != (c.states == 0) || s != nil && s.States() > c.states {
			t.Errorf("%s: %v", c.source, s)
		}
		if l := p.Longest(); s != nil && (l == nil || l.Prompt() != c.prompt) {
			t.Errorf("%s: prompt is not %v", c.source, c.prompt)
		}
		if needle, before := p.Needle(); needle != c.needle || before != c.before {
			t.Errorf("%s: needle %q after %d", c.source, needle, before)
		}
		if like, _ := New(c.source).Like(); like != c.like {
			t.Errorf("%s: like %q", c.source, like)
		}
	}
}

func FuzzAgainstRegexp(f *testing.F) {
	f.Add("(?s)a.*b|c+$", "xxayb")
	f.Add(`[^é]+(日|ü)?`, "éa日")
	f.Add("(?i)kſ", "KKs")
	f.Fuzz(func(t *testing.T, source, text string) {
		if len(source) < 40 && len(text) < 200 && utf8.ValidString(text) {
			check(t, source, text)
		}
	})
}
