package session

import "testing"

// BenchmarkCompute runs functions that Go computes over the 60,000 rows of a small lineitem.
func BenchmarkCompute(b *testing.B) {
	s := load(b, "tpch", "0.01")
	for _, x := range []string{"lower(l_comment) = 'x'", "l_comment ilike '%fox%'", "power(l_quantity, 2) > 100", "cast(l_orderkey as text) = '17'",
		"lower(l_shipmode) = 'air'", "l_comment || l_shipmode = 'x'"} {
		b.Run(x, func(b *testing.B) {
			for range b.N {
				mustRun(b, s, "select count(*) from lineitem where "+x)
			}
		})
	}
}
