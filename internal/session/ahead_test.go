package session

import (
	"strings"
	"testing"
)

// TestAhead: fetching ahead from large tables of every kind changes no row, also for keys that are in none.
func TestAhead(t *testing.T) {
	s := New(NewDB())
	ask := func(sql string) string { t.Helper(); return rowsOf(t, s, sql) }
	ask("set check = on; set semijoin_filters = off; set disabled_optimizers = 'joinorder'")
	ask(`create table probe as select cast(i * 7919 % 1000003 - 1000 as int) as a, cast(i * 104729 % 700001 - 500 as int) as b, i % 10 as c
		from (select cast(i as bigint) as i from generate_series(1, 100000) as g(i)) q`)
	kinds := map[string]string{
		"direct":        "select cast(i as int) as k, i as v, i * 2 as w from generate_series(1, 900000) as g(i)",
		"open":          "select cast(i as bigint) * 1000003 % 1000000007 as k, i as v, i * 2 as w from generate_series(1, 700000) as g(i)",
		"dense buckets": "select cast(i / 2 as int) as k, i as v, i * 2 as w from generate_series(1, 1100000) as g(i)",
		"buckets":       "select cast(i / 2 as bigint) * 100003 % 1000000007 as k, i as v, i * 2 as w from generate_series(1, 600000) as g(i)",
	}
	for kind, sql := range kinds {
		t.Run(kind, func(t *testing.T) {
			ask("drop table if exists build; create table build as " + sql)
			for _, q := range []string{
				"select count(*), sum(v), sum(a), min(w) from probe join build on a = k",
				"select count(*), sum(v), sum(a), min(w) from probe join build on a = k where c = 3",
				"select count(*), sum(v), sum(a) from probe left join build on b = k where c < 2",
				"select count(*), sum(b) from probe where c < 5 and exists (select 1 from build where k = a and v > 5)",
			} {
				ask("set prefetch = on")
				if plan := ask("explain (ir) " + q); !strings.Contains(plan, "fetch ahead") && !strings.Contains(q, "exists") {
					t.Errorf("nothing is fetched ahead: %s", q)
				}
				got := ask(q)
				ask("set prefetch = off")
				if want := ask(q); got != want {
					t.Errorf("%s\ngot  %s\nwant %s", q, got, want)
				}
			}
		})
	}
	ask(`create table pairs as select cast(i * 7919 % 1000003 as int) as a, cast(i % 611953 as int) as b, i % 10 as c
		from (select cast(i as bigint) as i from generate_series(1, 400000) as g(i)) q`)
	for _, q := range []string{
		"select count(*), sum(s), max(n) from (select a, b, sum(c) as s, count(*) as n from pairs group by a, b) q",
		"select count(*), sum(s), max(n) from (select a, b, sum(c) as s, count(*) as n from pairs where c < 7 group by a, b) q",
		"select count(*), sum(s), max(n) from (select a, sum(c) as s, count(*) as n from pairs group by a) q",
	} {
		ask("set prefetch = on")
		if plan := ask("explain (ir) " + q); !strings.Contains(plan, "fetch ahead") {
			t.Errorf("nothing is fetched ahead: %s", q)
		}
		got := ask(q)
		ask("set prefetch = off")
		if want := ask(q); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", q, got, want)
		}
	}
}
