package phys

import (
	"cmp"
	"fmt"
	"slices"
)

// Test is a test of a scan that its front can make for many rows at a time.
type Test struct {
	Share float64 // of rows that pass
	Cost  float64 // for each of them, in any unit
	Looks bool    // looks values up in memory, row by row
	Width int     // GPU: bytes of the column's codes
}

// Front is how a scan takes its rows: it tests many at a time, without any branch on what they hold, and the body works on those that
// pass.
type Front struct {
	Rows  int     // that are tested at a time; 0: there is no front, the body takes row by row
	Share float64 // of rows that pass
	// Tests are the numbers of those that the front makes, in order, Left of those that are left to the body.
	Tests, Left []int
}

func (f Front) String() string {
	if f.Rows == 0 {
		return "row by row"
	}
	return fmt.Sprintf("%d rows at a time by %s, %s pass", f.Rows, plural(len(f.Tests), "test"), percent(f.Share))
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// percent is a share as exact as an estimate is.
func percent(share float64) string {
	if p := 100 * share; p >= 1 || p == 0 {
		return fmt.Sprintf("%.0f%%", p)
	}
	return "<1%"
}

const (
	// vectorRows are tested by the operations on one mask.
	vectorRows = 64
	// fewestRows is the size of tables for which a vector front's code is worth the time to make it.
	fewestRows = 512
	// worthVector is the share of passing rows up to which a vector front pays: branches that nearly always go one way cost less
	// than a list.
	worthVector = 0.9
	// fewLooked is the share of passing rows from which on the body looks rows up in memory sooner than a vector front, which does so for
	// all of a mask.
	fewLooked = 0.08
)

// MayVector reports a table that is large enough for a vector front.
func MayVector(rows int64) bool { return rows >= fewestRows }

// ChooseVectorFront decides which tests vector instructions make, for a table that is large enough. gather: looking values up pays.
func ChooseVectorFront(tests []Test, gather bool) Front {
	f := Front{Rows: vectorRows, Share: 1}
	// What drops most for its price comes first.
	f.choose(tests, func(a, b *Test) int { return cmp.Compare((1-b.Share)/b.Cost, (1-a.Share)/a.Cost) }, func(t *Test) bool {
		return !t.Looks || gather && f.Share >= fewLooked
	})
	if len(f.Tests) == 0 || f.Share > worthVector {
		return Front{}
	}
	return f
}

const (
	// laneRows are tested by a lane, half as many where a column has codes of 4 bytes: a load has 16 at most.
	laneRows = 8
	// worthLane is the share of rows that may pass the front of lanes: if most do, the loop over those costs more than the front
	// saves, since the lanes of a warp read the other columns from places far from each other.
	worthLane = 0.4
	// WorthReading is the share of rows past a front that must come to the end if columns of all of them are read at once.
	WorthReading = 0.5
	// fewLeft is the share of rows below which looking each of them up costs less than to look up all of a lane's.
	fewLeft = 0.15
)

// ChooseLaneFront decides which tests the lanes of a GPU make by wide loads, and of how many rows.
func ChooseLaneFront(tests []Test) Front {
	f := Front{Rows: laneRows, Share: 1}
	f.choose(tests, func(a, b *Test) int {
		if a.Looks && b.Looks {
			return cmp.Compare(a.Cost/max(1-a.Share, 0.01), b.Cost/max(1-b.Share, 0.01))
		}
		return cmp.Compare(number(a.Looks), number(b.Looks))
	}, func(t *Test) bool { return !t.Looks || f.Share >= fewLeft })
	if f.Share > worthLane {
		return Front{}
	}
	for _, i := range f.Tests {
		if tests[i].Width == 4 {
			f.Rows = laneRows / 2
		}
	}
	return f
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// choose takes tests in an order, as long as they are worth it after those before.
func (f *Front) choose(tests []Test, order func(a, b *Test) int, worth func(*Test) bool) {
	all := make([]int, len(tests))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(i, j int) int { return order(&tests[i], &tests[j]) })
	for _, i := range all {
		if t := &tests[i]; worth(t) {
			f.Share *= t.Share
			f.Tests = append(f.Tests, i)
		} else {
			f.Left = append(f.Left, i)
		}
	}
}
