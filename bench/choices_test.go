package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// choices are the random decisions behind a statement. They are kept, with the parts of the statement that they
// decide, so that a statement that fails can be written again with parts made plain (see reduce).
type choices struct {
	rand  *rand.Rand // nil: decisions are those of in, and plain ones behind its end
	in    []int
	at    int
	edit  edit
	plain int   // how many parts that are made plain are open
	out   []int // what was decided
	spans []span
}

// span is a part of a statement: the decisions from out[start] to out[end-1].
type span struct {
	label      string
	start, end int
}

// edit changes how a part is written: by the decisions of a part within it, or plainly.
type edit struct {
	of   span
	by   span
	done bool
}

func newChoices(seed uint64) *choices { return &choices{rand: rand.New(rand.NewPCG(seed, 11))} }

// IntN is a decision between n alternatives, of which the last is the plain one throughout the generator.
func (c *choices) IntN(n int) int {
	v := n - 1
	switch {
	case c.rand != nil:
		v = c.rand.IntN(n)
	case c.plain == 0 && c.at < len(c.in):
		v = min(c.in[c.at], n-1)
		c.at++
	}
	c.out = append(c.out, v)
	return v
}

func (c *choices) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, c.IntN(i+1))
	}
}

// part begins a part of the statement; the function that it gives ends it.
func (c *choices) part(label string) func() {
	k := len(c.spans)
	c.spans = append(c.spans, span{label, len(c.out), -1})
	edited := !c.edit.done && c.edit.of.label == label && c.at == c.edit.of.start && c.plain == 0
	if edited {
		c.edit.done = true
		if c.edit.by.label == "" {
			c.plain++
		} else {
			c.at = c.edit.by.start
		}
	}
	return func() {
		c.spans[k].end = len(c.out)
		if edited {
			if c.edit.by.label == "" {
				c.plain--
			}
			c.at = c.edit.of.end
		}
	}
}

// reduce looks for a shorter statement that still fails: parts become plain, or what a part of the same sort within
// them is, and single decisions become plain, for as long as that helps and patience lasts.
func reduce(tape []int, write func(*choices) string, fails func(sql string) bool, patience time.Duration) string {
	c := &choices{in: tape}
	best := write(c)
	seen := map[string]bool{best: true}
	end := time.Now().Add(patience)
	try := func(d *choices) bool {
		sql := write(d)
		if len(sql) >= len(best) || seen[sql] || time.Now().After(end) {
			return false
		}
		seen[sql] = true
		if !fails(sql) {
			return false
		}
		c, best = d, sql
		return true
	}
	parts := func() bool {
		spans := slices.Clone(c.spans)
		slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(b.end-b.start, a.end-a.start) })
		for _, s := range spans {
			if try(&choices{in: c.out, edit: edit{of: s}}) {
				return true
			}
			for _, by := range spans {
				if by.label == s.label && by.start > s.start && by.end <= s.end && try(&choices{in: c.out, edit: edit{of: s, by: by}}) {
					return true
				}
			}
		}
		return false
	}
	single := func() bool {
		for i := range c.out {
			for _, v := range []int{1 << 30, 0} {
				in := slices.Clone(c.out)
				in[i] = v
				if try(&choices{in: in}) || try(&choices{in: slices.Delete(in, i, i+1)}) {
					return true
				}
			}
		}
		return false
	}
	for time.Now().Before(end) && (parts() || single()) {
	}
	return best
}
