package funcs

import (
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// Go tries the ways to match in the order that quantifiers ask for and takes the first. In PostgreSQL a pattern as a whole
// prefers the longest match or the shortest: that of 'y*?[0-9]{1,3}' ends with the first digit, since what
// is quantified first is not greedy. Where no quantifier is lazy, Go's Longest does the same. Where one is, the
// automaton that Go made of the pattern is run here: a match begins as early as possible, ends as the pattern as a
// whole prefers, and its groups are what the quantifiers prefer among the ways to end there.

// matcher is a pattern that can be searched for: a *regexp.Regexp or an *ownRegexp.
type matcher interface {
	MatchString(s string) bool
	NumSubexp() int
	String() string
	FindStringSubmatchIndex(s string) []int
	FindAllStringSubmatchIndex(s string, n int) [][]int
}

// ownRegexp is a pattern with lazy quantifiers or with bounds of words.
type ownRegexp struct {
	*regexp.Regexp
	prog     *syntax.Prog
	shortest bool
	words    bool // has bounds of words, about which Go knows less
}

// newOwn is the pattern in Go's syntax; shortest is what it prefers.
func newOwn(re *regexp.Regexp, shortest, words bool) (*ownRegexp, error) {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	return &ownRegexp{re, prog, shortest, words}, err
}

func (l *ownRegexp) MatchString(s string) bool {
	if l.words {
		return l.find(s, 0) != nil
	}
	return l.Regexp.MatchString(s)
}

func (l *ownRegexp) FindStringSubmatchIndex(s string) []int {
	if !l.words && !l.MatchString(s) {
		return nil
	}
	return l.find(s, 0)
}

// FindAllStringSubmatchIndex finds all matches, as Go does: none overlap, and none is empty right behind another.
func (l *ownRegexp) FindAllStringSubmatchIndex(s string, _ int) (all [][]int) {
	if !l.words && !l.MatchString(s) {
		return nil
	}
	behind := -1 // the end of the last match
	for from := 0; from <= len(s); {
		m := l.find(s, from)
		if m == nil {
			break
		}
		if m[1] > m[0] || m[0] != behind {
			all = append(all, m)
		}
		if behind, from = m[1], m[1]; m[1] == m[0] {
			_, n := utf8.DecodeRuneInString(s[m[1]:])
			from += max(n, 1)
		}
	}
	return all
}

// find is the first match from an offset on.
func (l *ownRegexp) find(s string, from int) []int {
	states := newStates(len(l.prog.Inst))
	for lo := from; lo <= len(s); {
		if hi := l.end(s, lo, states); hi >= 0 {
			return l.groups(s, lo, hi)
		}
		_, n := utf8.DecodeRuneInString(s[lo:])
		lo += max(n, 1)
	}
	return nil
}

// states are two sets of instructions: those that may be next, and those after one more character.
type states struct {
	now, then []uint32
	seen      []int // by instruction: the step in which it was added last
	step      int
}

func newStates(n int) *states { return &states{seen: make([]int, n)} }

// end is where the match ends that begins at lo; -1: none does.
func (l *ownRegexp) end(s string, lo int, st *states) int {
	st.now = st.now[:0]
	st.step++
	matched := l.add(s, lo, uint32(l.prog.Start), &st.now, st)
	found := -1
	for at := lo; ; {
		if matched {
			if found = at; l.shortest {
				break
			}
		}
		if len(st.now) == 0 || at == len(s) {
			break
		}
		c, n := utf8.DecodeRuneInString(s[at:])
		at += n
		st.then = st.then[:0]
		st.step++
		matched = false
		for _, pc := range st.now {
			if in := &l.prog.Inst[pc]; in.MatchRune(c) {
				matched = l.add(s, at, in.Out, &st.then, st) || matched
			}
		}
		st.now, st.then = st.then, st.now
	}
	return found
}

// add adds the instructions for characters that can be reached at an offset, and reports whether the end is.
func (l *ownRegexp) add(s string, at int, pc uint32, to *[]uint32, st *states) (matched bool) {
	if st.seen[pc] == st.step {
		return false
	}
	st.seen[pc] = st.step
	switch in := &l.prog.Inst[pc]; in.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstAlt, syntax.InstAltMatch:
		left := l.add(s, at, in.Out, to, st)
		return l.add(s, at, in.Arg, to, st) || left
	case syntax.InstCapture, syntax.InstNop:
		return l.add(s, at, in.Out, to, st)
	case syntax.InstEmptyWidth:
		return holds(s, at, in) && l.add(s, at, in.Out, to, st)
	case syntax.InstFail:
	default:
		if bound, so := isBound(s, at, in); bound {
			return so && l.add(s, at, in.Out, to, st)
		}
		*to = append(*to, pc)
	}
	return false
}

// groups are the bounds of the match and of its groups: of the first way from lo to hi, in the order in which quantifiers
// prefer them.
func (l *ownRegexp) groups(s string, lo, hi int) []int {
	out := make([]int, 2*(l.NumSubexp()+1))
	for i := range out {
		out[i] = -1
	}
	if out[0], out[1] = lo, hi; len(out) == 2 {
		return out
	}
	type place struct {
		pc uint32
		at int
	}
	tried := map[place]bool{} // in vain, or being tried
	// What is left to try, the next last; or, if undo is set, a group's bound to take back.
	type task struct {
		place
		undo     bool
		cap, was int
	}
	todo := []task{{place: place{uint32(l.prog.Start), lo}}}
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if t.undo {
			out[t.cap] = t.was
			continue
		}
		if tried[t.place] {
			continue
		}
		tried[t.place] = true
		in := &l.prog.Inst[t.pc]
		next := task{place: place{in.Out, t.at}}
		switch in.Op {
		case syntax.InstMatch:
			if t.at == hi {
				return out
			}
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, task{place: place{in.Arg, t.at}}, next)
		case syntax.InstCapture:
			if k := int(in.Arg); k > 1 && k < len(out) {
				todo = append(todo, task{undo: true, cap: k, was: out[k]})
				out[k] = t.at
			}
			todo = append(todo, next)
		case syntax.InstNop:
			todo = append(todo, next)
		case syntax.InstEmptyWidth:
			if holds(s, t.at, in) {
				todo = append(todo, next)
			}
		case syntax.InstFail:
		default:
			if bound, so := isBound(s, t.at, in); so {
				todo = append(todo, next)
			} else if !bound && t.at < hi {
				if c, n := utf8.DecodeRuneInString(s[t.at:]); in.MatchRune(c) {
					next.at += n
					todo = append(todo, next)
				}
			}
		}
	}
	return out
}
