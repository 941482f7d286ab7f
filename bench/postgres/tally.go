package postgres

import (
	"fmt"
	"slices"
	"strings"
)

// Tally counts what became of queries made at random.
type Tally struct {
	same, failed int            // compared: rows that agree, and errors that do
	differ       int            // whatever must not be
	skipped      map[string]int // not compared, and why not
	notes        map[string]int // how queries fail
}

// Same counts a query with the same rows, Failed one that fails alike, and Differs one that a person has to look at.
func (t *Tally) Same()    { t.same++ }
func (t *Tally) Failed()  { t.failed++ }
func (t *Tally) Differs() { t.differ++ }

// Count counts a query by what a comparison says of it; wrong is what a person has to look at.
func (t *Tally) Count(verdict string, wrong bool) {
	switch {
	case wrong:
		t.Differs()
	case strings.HasPrefix(verdict, "same"):
		t.Same()
	case strings.HasPrefix(verdict, "both fail"):
		t.Failed()
		t.Note(verdict)
	default:
		t.Skip(verdict)
	}
}

// Skip counts a query that could not be compared.
func (t *Tally) Skip(why string) {
	if t.skipped == nil {
		t.skipped = map[string]int{}
	}
	t.skipped[why]++
}

// Note counts how queries that fail alike do.
func (t *Tally) Note(how string) {
	if t.notes == nil {
		t.notes = map[string]int{}
	}
	t.notes[how]++
}

// Compared is how many had the same rows.
func (t *Tally) Compared() int { return t.same }

// String is one line for people and scripts, and the reasons below it.
func (t *Tally) String() string {
	skipped := 0
	var why []string
	for reason, n := range t.skipped {
		skipped += n
		why = append(why, fmt.Sprintf("%6d %s", n, reason))
	}
	for how, n := range t.notes {
		why = append(why, fmt.Sprintf("%6d %s", n, how))
	}
	slices.Sort(why)
	slices.Reverse(why)
	return fmt.Sprintf("%d queries: %d have the same rows, %d fail alike, %d differ, %d were not compared\n%s",
		t.same+t.failed+t.differ+skipped, t.same, t.failed, t.differ, skipped, strings.Join(why, "\n"))
}
