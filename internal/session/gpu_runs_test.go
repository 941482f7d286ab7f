package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
)

// TestGPURuns: groups of a sorted column are those of the CPU, however long their runs are and wherever warps cut them: with one row each, with all
// rows of the table, with runs over many warps beside such of one row, filters that leave nothing of some, joins, and too little room at first.
func TestGPURuns(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, `create table t as select g, (g * 10007)::bigint each, -5000000000 + g / 7 * 100003 as sevens, (g / 300) * 1000000 as hundreds,
		case when g < 100 then g * 20000 when g < 1300 then 3000000 else g * 20000 end as skewed, (case when g < 777 then -9223372036854775807 else 9223372036854775807 end)::bigint ends,
		timestamp '2020-01-01' + (g / 3) * interval '1 hour' as ts, (g / 5 * 0.37)::decimal(12,2) as price,
		case when g % 4 = 0 then null else g % 100 - 50 end v, null::int none, g * 0.5::double f, g % 11 = 0 b, case when g % 2 = 0 then 9223372036854775806 else -9223372036854775806 end huge
		from generate_series(0, 1499) x(g)`)
	mustRun(t, s, "create table few as select * from t limit 1")
	mustRun(t, s, "create table empty as select * from t limit 0")
	mustRun(t, s, "create table d as select g * 3 as id, g % 5 as grade from generate_series(0, 400) x(g)")
	keys := []string{"each", "sevens", "hundreds", "skewed", "ends", "ts", "price"}
	aggs := []string{"count(*), sum(v)", "min(v), max(v), count(v)", "sum(none), min(none), count(none)", "sum(f), min(f), max(f)", "bool_and(b), bool_or(b)", "avg(v), count(*) filter (where v > 0)", "sum(huge::decimal(38,0)), sum(g)", "min(b), sum(v) filter (where b)"}
	froms := []string{"%s", "%s where v > 10", "%s where g %% 400 > 300 or g < 64", "%s join d on g = id", "%s where not exists (select from d where id = g)", "%s left join d on g = id", "%s where g < 0"}
	shapes := []struct{ grid, block int }{{0, 0}, {1, 32}, {3, 64}, {2, 1024}, {40, 32}}
	onCPU, asked := map[string]int{}, 0
	for i, a := range aggs {
		for j, k := range keys {
			for f, from := range froms {
				if n := i + 3*j + 5*f; testing.Short() && n%7 != 0 || n%2 != 0 {
					continue
				}
				table := []string{"t", "t", "t", "few", "empty"}[(i+j+f)%5]
				sql := fmt.Sprintf("select %s, %s from "+from+" group by %s order by %s", k, a, table, k, k)
				s.Configure(func(x *Settings) { x.Device = "cpu" })
				want := answerText(s, sql, nil)
				sh := shapes[(i+j+f)%len(shapes)]
				accelerate(t, s, uint64(i), func(st *gpu.Store, x *Settings) {
					x.Grid, x.Block = sh.grid, sh.block
					if (i+f)%2 == 0 {
						st.Room, st.Takes = 10, 33
					}
				})
				asked++
				if got := answerText(s, sql, onCPU); got != want {
					t.Errorf("%s\ngot  %.300s\nwant %.300s", sql, got, want)
				}
			}
		}
	}
	for why, n := range onCPU {
		t.Errorf("%d of %d ran on the CPU: %s", n, asked, why)
	}
}

// TestGPURunsWhere: EXPLAIN tells where runs are taken for groups, and where they cannot be.
func TestGPURunsWhere(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, `create table t as select g * 10007 k, g v, (g * 7919) % 5003 * 1000 r, case when g = 77 then null else g * 1000 end n, g::double f, g || '' s from generate_series(0, 4999) x(g)`)
	mustRun(t, s, "create table d as select g * 3 as id, g as what from generate_series(0, 400) x(g)")
	mustRun(t, s, "create table m as select g % 100 as id, g as what from generate_series(0, 400) x(g)")
	for _, c := range []struct {
		sql  string
		runs bool
	}{
		{"select k, sum(v) from t group by k", true},
		{"select k, sum(v) from t where v % 3 = 0 group by k", true},
		{"select k, sum(what) from t left join d on v = id group by k", true},
		{"select k, sum(what) from t join d on v = id group by k", false}, // few rows pass: a front takes them out of their order
		{"select k, sum(what) from t join m on v = id group by k", false}, // matches are any lane's
		{"select r, sum(v) from t group by r", false},
		{"select n, sum(v) from t group by n", false},
		{"select f, sum(v) from t group by f", false},
		{"select k, r, sum(v) from t group by k, r", false},
		{"select k + 1, sum(v) from t group by k + 1", false},
		{"select k, min(s) from t group by k", false},
		{"select k, sum(v) from (select k, v from t union all select k, v from t) u group by k", false},
	} {
		for _, on := range []bool{true, false} {
			accelerate(t, s, 1, func(_ *gpu.Store, x *Settings) { x.Off.SortedRuns = !on })
			text := explainText(t, s, "EXPLAIN (pipelines) "+c.sql)
			if got := strings.Contains(text, "groups in runs of sorted rows"); got != (c.runs && on) {
				t.Errorf("%s, %v: EXPLAIN says\n%s", c.sql, on, text)
			}
		}
	}
}
