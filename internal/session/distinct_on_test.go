package session

import (
	"strings"
	"testing"
)

// TestDistinctOn: the columns beside the keys come from one row, NULLs included.
func TestDistinctOn(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "create table t (k int, a int, b varchar)")
	rowsOf(t, s, "insert into t values (1, 5, null), (1, 2, 'b'), (1, null, 'c'), (2, null, null), (2, 7, 'd')")
	for _, threads := range []int{1, 3} {
		s.Configure(func(x *Settings) { x.Threads, x.MorselRows = threads, 1 })
		for _, line := range strings.Fields(rowsOf(t, s, "select distinct on (k) k, coalesce(a, -1), coalesce(b, '-') from t")) {
			switch line {
			case "1|5|-", "1|2|b", "1|-1|c", "2|-1|-", "2|7|d":
			default:
				t.Errorf("%d threads: a row that was never there: %s", threads, line)
			}
		}
	}
}
