package session

import "testing"

// TestWindowBlocks: a partition that all threads share, behind small ones in the same block.
func TestWindowBlocks(t *testing.T) {
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Threads = 4 })
	got := rowsOf(t, s, `select p, count(*), min(n), max(n), sum(n) from (
		select p, row_number() over (partition by p order by g) n from (
			select g, case when g <= 3 then 0 when g <= 100 then 1 else 2 end p from generate_series(1, 200000) y(g)) x) z group by p order by p`)
	if want := "0|3|1|3|6\n1|97|1|97|4753\n2|199900|1|199900|19980104950\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
