package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestEmptyPipelines: what cannot have a row is not run, and what has rows without a match is. run
// is the rows that sources of pipelines deliver in all: of the 3000 of a, none where an empty side decides.
func TestEmptyPipelines(t *testing.T) {
	for _, device := range []string{"cpu", "simt"} {
		for _, threads := range []int{1, 2} {
			s := New(NewDB())
			s.Configure(func(x *Settings) { x.Device, x.Threads, x.Check = device, threads, true })
			ask := func(sql string) string { t.Helper(); return rowsOf(t, s, sql) }
			ask("create table a as select cast(g as int) x, cast(g % 7 as int) y from generate_series(1, 3000) s(g)")
			ask("create table e(x int, y int)")
			ask("set semijoin_filters = off") // they would drop the rows as well, at the scan
			for _, c := range []struct {
				q    string
				rows string
				run  bool // a is read
			}{
				{"select count(*) from a join e on e.x = a.x", "0", false},
				{"select count(*) from a join e on e.x < a.x", "0", false},
				{"select count(*) from a join a b on a.x < b.x join e on e.x = b.y", "0", false},
				{"select count(*) from a join (select y from a group by y having count(*) > 100000) b on b.y = a.y join a c on c.x = a.y", "0", true},
				{"select count(*) from a where exists (select 1 from e where e.y > a.y)", "0", false},
				{"select x from a where x in (select x from e) group by x", "", false},
				{"select count(*) from (select 1 from a limit 0) q", "0", false},
				{"select count(*) from a left join e on e.x = a.x", "3000", true},
				{"select count(*) from a full join e on e.x = a.x", "3000", true},
				{"select count(*) from e right join a on e.x < a.x", "3000", true},
				{"select count(*) from a where x not in (select x from e)", "3000", true},
				{"select count(*) from a where not exists (select 1 from e where e.x = a.x)", "3000", true},
				{"select count(*) from (select x from a union all select x from e) q", "3000", true},
				{"select case when count(*) < 0 then (select sum(10 / (y - y)) from a) else 7 end from e", "7", false},
				{"select case when max(x) > 0 then (select count(10 / (y + 1)) from a) else 7 end from a", "3000", true},
			} {
				name := fmt.Sprintf("%s, %d threads: %s", device, threads, c.q)
				if got := strings.TrimSpace(ask(c.q)); got != c.rows {
					t.Errorf("%s: %q, want %q", name, got, c.rows)
				}
				res, err := s.Query(context.Background(), c.q)
				if err != nil {
					t.Fatal(err)
				}
				var in int64
				idle := 0
				for _, p := range res.Stats.Pipelines {
					if p.Idle {
						idle++
						if p.RowsIn > 0 || p.Morsels > 0 {
							t.Errorf("%s: pipe%d is idle and read %d rows in %d morsels", name, p.ID, p.RowsIn, p.Morsels)
						}
					}
					if p.RowsIn >= 3000 {
						in += p.RowsIn
					}
				}
				res.Close()
				if (in > 0) != c.run || !c.run && idle == 0 {
					t.Errorf("%s: read %d rows of a, %d pipelines idle; want it read: %v", name, in, idle, c.run)
				}
			}
		}
	}
}
