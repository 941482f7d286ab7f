package funcs

import (
	"fmt"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/automaton"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// What functions of regular expressions do when all but the text is a constant, as automata: see plan.Function.

// matching gives a function its automata, which are remembered: they are asked for several times in a query, and take a while to make.
func matching(use func(rest []types.Value) *automaton.Use) option {
	return func(f *plan.Function) {
		var mu sync.Mutex
		known := map[string]*automaton.Use{}
		f.Matching = func(rest []types.Value) *automaton.Use {
			var key strings.Builder
			for _, v := range rest {
				fmt.Fprintf(&key, "%d,%d,%s", v.I, len(v.S), v.S)
			}
			mu.Lock()
			u, ok := known[key.String()]
			mu.Unlock()
			if !ok { // others do not wait for it
				u = use(rest)
				mu.Lock()
				defer mu.Unlock()
				if len(known) >= mostCompiled {
					clear(known)
				}
				known[key.String()] = u
			}
			return u
		}
	}
}

// goPattern is a pattern in Go's syntax; ok is false if it is wrong, which Go says when rows come, or, where matches and not only tests of them are
// asked for, lazy.
func goPattern(pattern, flags string, allowGlobal, allowLazy bool) (source string, ok bool) {
	f, _, err := readFlags(flags, allowGlobal)
	if err != nil {
		return "", false
	}
	r := regexReader{s: pattern, f: f}
	source, err = r.source()
	return source, err == nil && !r.words && (allowLazy || !r.lazy)
}

// testUse is whether a text matches.
func testUse(pattern, flags string, not bool) *automaton.Use {
	if source, ok := goPattern(pattern, flags, false, true); ok {
		return automaton.Test(source, not)
	}
	return nil
}

func matchesUse(flags string, not bool) func(rest []types.Value) *automaton.Use {
	return func(rest []types.Value) *automaton.Use { return testUse(rest[0].S, flags, not) }
}

func similarUse(rest []types.Value) *automaton.Use {
	escape := `\`
	if len(rest) > 1 {
		escape = rest[1].S
	}
	p, err := similarPattern(rest[0].S, escape)
	if err != nil {
		return nil
	}
	return testUse(p, "", false)
}

// extractUse is that of regexp_extract(text, pattern [, group]).
func extractUse(rest []types.Value) *automaton.Use {
	source, ok := goPattern(rest[0].S, "", false, false)
	if !ok {
		return nil
	}
	return automaton.Take(source, int(at(rest, 1, 0)), false) // nil for a group that there is not
}

// substrUse is that of regexp_substr(text, pattern).
func substrUse(rest []types.Value) *automaton.Use {
	source, ok := goPattern(rest[0].S, "", false, false)
	if !ok || len(rest) > 1 {
		return nil
	}
	return automaton.Take(source, 0, true)
}

// countUse is that of regexp_count(text, pattern).
func countUse(rest []types.Value) *automaton.Use {
	source, ok := goPattern(rest[0].S, "", false, false)
	if !ok || len(rest) > 1 {
		return nil
	}
	return automaton.Count(source)
}

// substringUse is that of substring(text from pattern).
func substringUse(rest []types.Value) *automaton.Use {
	source, ok := goPattern(rest[0].S, "", false, false)
	if !ok || len(rest) > 1 {
		return nil
	}
	return automaton.Take(source, min(automaton.Groups(source), 1), true)
}

// replaceUse is that of regexp_replace(text, pattern, by [, flags]), unless what replaces has parts of the match.
func replaceUse(rest []types.Value) *automaton.Use {
	flags := flagsAt(rest, 2)
	source, ok := goPattern(rest[0].S, flags, true, false)
	if !ok || strings.Contains(rest[1].S, `\`) || len(rest[1].S) > mostInserted {
		return nil
	}
	return automaton.Replace(source, rest[1].S, strings.Contains(flags, "g"))
}

// mostInserted bounds a replacement, of which generated code takes room for one at each byte.
const mostInserted = 64
