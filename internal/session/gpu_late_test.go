package session

import (
	"fmt"
	"strings"
	"testing"
)

// TestGPULate: columns that only pass through come from the table, by numbers of rows: over segments of any size, in chunks, below
// joins that repeat rows, with limits and orders, and from tables that were changed.
func TestGPULate(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, `create table t as select g a, case when g % 7 = 0 then null else 'a text that is rather long '||g % 1000 end s, g * 0.25::double precision f, g % 10 k,
		(g * 31) % 4096 h, case when g % 5 = 0 then null else date '2020-01-01' + (g % 900)::int end d from generate_series(1, 70000) x(g)`)
	mustRun(t, s, "insert into t select -g, 'more', g, g % 10, 1, null from generate_series(1, 5) x(g)")
	mustRun(t, s, "delete from t where a between 100 and 250")
	mustRun(t, s, "create table e as select * from t where false")
	mustRun(t, s, "create table u as select g % 10 k, g v from generate_series(1, 25) x(g)")
	for _, limit := range []int64{0, 400_000} { // resident, and streamed
		_, store := limited(t, 5, limit)
		s.DB.Accelerate(store)
		for _, c := range []struct {
			sql  string
			late int // 0: rows change hands at a join
		}{
			{"select * from t where h < 40", 6},
			{"select a, s, f, d, k * 2 from t where h = 17 or k = 3 and a > 69000", 4},
			{"select a, s, f, h, d, v from t join u on t.k = u.k where a < 20", 0},
			{"select a, s, f, h, d from t left join u on t.k = u.k and v > 20 where a between 60000 and 60040", 0},
			{"select a, s, f, d from t where k = 4 order by h desc, a limit 7", 3},
			{"select a, s, f, d from t where a > 65530 and a < 65540", 4},
			{"select s, s, f, d from t where a < 0", 3},
			{"select * from e where h < 40", 6},
			{"select a, s from t where a = 65536", 2},
			{"select a, k from t where a = 65537", 0},
		} {
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := sortedLines(rowsOf(t, s, c.sql))
			s.Configure(func(x *Settings) { x.Device = "gpu" })
			if got := sortedLines(rowsOf(t, s, c.sql)); got != want {
				t.Errorf("%d: %s:\n%.600s\nwant\n%.600s", limit, c.sql, got, want)
			}
			how := rowsOf(t, s, "explain analyze "+c.sql)
			if says := strings.Contains(how, fmt.Sprintf("%d late column", c.late)); says != (c.late > 0) {
				t.Errorf("%s: want %d late columns\n%s", c.sql, c.late, how)
			}
		}
	}
}
