package gpu

import "testing"

// TestEvenParts: a block takes a part of its own, unless that has most of the rows, or several launches have written rows of it.
func TestEvenParts(t *testing.T) {
	for _, c := range []struct {
		name string
		p    writtenParts
		want bool
	}{
		{"nothing was written", writtenParts{}, false},
		{"no row", writtenParts{launches: 1}, true},
		{"few rows in one part", writtenParts{launches: 1, rows: fewRows, largest: fewRows}, true},
		{"one more", writtenParts{launches: 1, rows: fewRows + 1, largest: fewRows + 1}, false},
		{"even parts", writtenParts{launches: 1, rows: 600e6, largest: 491520}, true},
		{"a large one", writtenParts{launches: 1, rows: 600e6, largest: 20e6}, true},
		{"a larger one", writtenParts{launches: 1, rows: 600e6, largest: 20e6 + 1}, false},
		{"parts of two launches", writtenParts{launches: 2, rows: 600e6, largest: 491520}, false},
	} {
		if got := c.p.even(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
