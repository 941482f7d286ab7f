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
			for _, q := range thin([]string{
				"select count(*), sum(v), sum(a), min(w) from probe join build on a = k",
				"select count(*), sum(v), sum(a), min(w) from probe join build on a = k where c = 3",
				"select count(*), sum(v), sum(a) from probe left join build on b = k where c < 2",
				"select count(*), sum(b) from probe where c < 5 and exists (select 1 from build where k = a and v > 5)",
			}) {
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

// TestMatchedKeys: what a join has found has the row's own keys, for groups, further joins and results; keys of rows without a match are no
// reason to look beyond a table.
func TestMatchedKeys(t *testing.T) {
	s := New(NewDB())
	ask := func(sql string) string { t.Helper(); return rowsOf(t, s, sql) }
	ask("set disabled_optimizers = 'joinorder'")
	ask(`create table few as select cast(k as int) as k, k % 7 as v from generate_series(1, 1200000) as g(k);
		create table spread as select cast(k as bigint) * 1000003 as k, k % 7 as v, k % 3 as w from generate_series(1, 50000) as g(k);
		create table many as select cast(i * 7919 % 650000 + 1 as int) as inside, cast(i * 7919 % 1500000 - 1000 as int) as beyond,
			case when i % 5 > 0 then i * 104729 % 700000 end as maybe, i * 31 % 60000 * 1000003 as far, i % 10 as c
		from (select cast(i as bigint) as i from generate_series(1, 400000) as g(i)) q`)
	for _, q := range thin([]string{
		"select count(*), sum(n), sum(k * n), max(s) from (select few.k, count(*) as n, sum(c) as s from many join few on inside = few.k group by few.k) q",
		"select count(*), sum(n), sum(k * n), max(s) from (select few.k, count(*) as n, sum(c) as s from many join few on beyond = few.k where c < 8 group by few.k) q",
		"select count(*), sum(n), sum(k * n) from (select few.k, count(c) as n from few left join many on few.k = inside group by few.k) q",
		"select count(*), sum(n), sum(k * n) from (select few.k, count(c) as n from few left join many on few.k = maybe and c > 2 group by few.k) q",
		"select count(*), sum(few.k), sum(other.v) from many join few on maybe = few.k join few as other on other.k = few.k",
		"select count(*), sum(spread.k % 1000), count(distinct spread.k) from many join spread on far = spread.k where v < 5",
		"select count(*), sum(spread.k % 1000), sum(few.k) from many join spread on far = spread.k and c % 3 = w join few on few.k = inside",
		"select few.k, spread.k, c from many join few on few.k = inside join spread on spread.k = far where few.k < 40 order by 1, 2, 3",
	}) {
		ask("set matched_keys = off; set prefetch = off; set threads = 1")
		want := ask(q)
		for _, set := range []string{"set matched_keys = on", "set prefetch = on", "set threads = 2", "set simd = off; set check = on"} {
			ask(set)
			if got := ask(q); got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", set, q, got, want)
			}
		}
		ask("set simd = auto; set check = off")
	}
	ask("set semijoin_filters = off")
	q := "explain (ir) select count(*), sum(n) from (select few.k, count(c) as n from many join few on few.k = %s group by few.k) q"
	for _, c := range []struct {
		col   string
		ahead int
	}{{"inside", 2}, {"beyond", 1}} { // of the table, and of the groups
		if got := strings.Count(ask(strings.Replace(q, "%s", c.col, 1)), "; fetch ahead"); got != c.ahead {
			t.Errorf("%s: %d places are fetched ahead, want %d", c.col, got, c.ahead)
		}
	}
}
