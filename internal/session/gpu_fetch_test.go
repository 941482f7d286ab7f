package session

import (
	"testing"
)

// TestGPUFetch: results that come through many small blocks are those of the CPU, with rows by their numbers alone, with numbers beside other columns, with
// texts and without.
func TestGPUFetch(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t (a bigint, b text, c integer, d date, e double)")
	for range 3 { // segments of different sizes
		mustRun(t, s, "insert into t select (select count(*) from t) + g, 'text '||g % 77||repeat('ü', (g % 9)::int), case when g % 5 > 0 then g % 3 end, date '2020-01-01' + g::int, g / 4.0 from generate_series(1, 1500 + (select count(*) from t)) x(g)")
	}
	for _, block := range []int{64, 1000, 8 << 10, 1 << 20} {
		_, store := limited(t, 3, 0)
		store.Block = block
		s.DB.Accelerate(store)
		for _, sql := range []string{"select * from t where c = 1", "select * from t where a > 0", "select * from t where a = 4711", "select * from t where a < 0", "select *, a + 1 from t where c is null",
			"select b || 'x', a from t where c > 0", "select b, e from t order by b, a", "select a, e * 2 from t", "select x.*, y.a + x.a from t x join t y on x.a = y.a + 1500"} {
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := sortedLines(rowsOf(t, s, sql))
			s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true })
			if got := sortedLines(rowsOf(t, s, sql)); got != want {
				t.Errorf("blocks of %d: %s:\n%.600s\nwant\n%.600s", block, sql, got, want)
			}
		}
	}
}
