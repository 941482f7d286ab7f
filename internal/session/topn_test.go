package session

import (
	"strings"
	"testing"
)

// TestTopN: a limit gives the first rows of the full sort, ties in the order of the table,
// for any thread count and morsel size, also with an offset and limits beyond the end.
func TestTopN(t *testing.T) {
	s := load(t, "tpch", "0.01")
	full := func(q string) string { return rowsOf(t, s, q) }
	s.Configure(func(x *Settings) { x.Threads = 1 })
	for _, order := range thin([]string{"l_quantity, l_orderkey desc", "l_shipmode desc, l_tax", "l_comment", "l_discount desc"}) {
		q := "select l_orderkey, l_linenumber, l_quantity from lineitem order by " + order
		all := full(q)
		lines := splitLines(all)
		for _, threads := range []int{1, 2, 5} {
			for _, morsel := range []int{0, 100, 5000} {
				s.Configure(func(x *Settings) { x.Threads, x.MorselRows = threads, morsel })
				if got := full(q + " limit 25 offset 10"); got != joinLines(lines[10:35]) {
					t.Errorf("%s, %d threads, morsels of %d: got\n%s\nwant\n%s", order, threads, morsel, got, joinLines(lines[10:35]))
				}
			}
		}
		if got := full(q + " limit 9223372036854775807 offset 60100"); got != joinLines(lines[60100:]) {
			t.Errorf("%s: a limit beyond the end gives %d lines", order, len(splitLines(got)))
		}
	}
}

func splitLines(s string) []string { return strings.SplitAfter(s, "\n") }
func joinLines(ls []string) string { return strings.Join(ls, "") }
