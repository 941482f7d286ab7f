package session

import (
	"strings"
	"testing"
)

// TestManyGroups: groups that several threads find are the same as those of one, whatever they are kept by.
func TestManyGroups(t *testing.T) {
	s := New(NewDB())
	ask := func(sql string) string { t.Helper(); return rowsOf(t, s, sql) }
	ask("set check = on; set thread_trial = off")
	ask(`create table many as select cast(i * 7919 % 30011 as int) as a, case when i % 7 > 0 then cast(i % 5 as int) end as b, i % 10 as c,
			'text ' || cast(i * 104729 % 20011 as text) as t, cast(i % 23 as double precision) / 4 as d, i * 1000003 % 40009 * 1099511628211 as big,
			case when i % 11 > 0 then cast(i % 1009 as int) - 500 end as e, i % 3 * 1000000007 - 1 as w
		from (select cast(i as bigint) as i from generate_series(1, 120000) as g(i)) q`)
	for _, q := range []string{
		"select count(*), sum(s), sum(a * n), sum(b * n), max(n) from (select a, b, sum(c) as s, count(*) as n from many group by a, b) q",
		"select count(*), sum(n * c), sum(a), sum(b) from (select a, b, c, count(*) as n from many group by a, b, c) q",
		"select count(*), sum(s), min(t), max(u), sum(length(t) * n) from (select t, max(t || 'x') as u, sum(c) as s, count(*) as n from many group by t) q",
		"select count(*), sum(s), sum(big % 1000 * n), min(lo) from (select big, min(d) as lo, sum(c) as s, count(*) as n from many group by big) q",
		"select count(*), sum(a), sum(b) from (select distinct a, b from many where c < 9) q",
		"select count(*), sum(n * c), sum(b), count(b), sum(e), count(e) from (select b, c, e, count(*) as n from many group by b, c, e) q", // a directory
		"select count(*), sum(n), sum(a), sum(b), count(b), min(w) from (select a, b, e, w, count(*) as n from many group by a, b, e, w) q",
		"select count(*), sum(n), sum(twice - a), sum(length(t)) from (select a, any_value(a * 2) as twice, any_value(cast(a as text)) as t, count(*) as n from many group by a) q",
		"select a, b, count(*), sum(d) from many group by a, b order by 3 desc, a, b limit 50",
	} {
		ask("set threads = 1")
		want := ask(q)
		for _, set := range []string{"set threads = 2", "set threads = 3; set morsel_rows = 1000", "set group_parts = off", "set packed_keys = off", "set threads = 1"} {
			ask(set)
			if got := ask(q); got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", set, q, got, want)
			}
		}
		ask("set group_parts = on; set packed_keys = on; set morsel_rows = 0")
	}
}

// TestGroupsOfVariants: segments of different shapes have code of their own, whose contexts differ in size; groups go on from one
// to the next. Without check, which would spoil the memory of a context that is no more and so hide its use.
func TestGroupsOfVariants(t *testing.T) {
	s := New(NewDB())
	ask := func(sql string) string { t.Helper(); return rowsOf(t, s, sql) }
	ask(`create table v as select case when i = 5 then null else i * 1000003 end as k, cast(i % 100 as int) as v
		from (select cast(i as bigint) as i from generate_series(0, 799999) as g(i)) q`)
	for _, threads := range []string{"1", "2", "3"} {
		ask("set threads = " + threads)
		if got := ask("select count(*), sum(n), sum(k % 1000), count(k) from (select k, count(*) as n from v where v < 50 group by k) q"); got != "400000|400000|196599985|399999\n" {
			t.Errorf("%s threads: %s", threads, got)
		}
	}
}

// TestSparseDirectory: a directory by key is far larger than the groups that threads find, and most groups are found by several threads.
func TestSparseDirectory(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "CREATE TABLE n AS SELECT g % 30000 AS k, g AS a, CASE WHEN g % 30000 % 100 = 3 THEN 1000000 ELSE 0 END AS b FROM generate_series(1, 60000) x(g)")
	query := "SELECT k, count(*) AS c, sum(a) AS s FROM n WHERE a < b GROUP BY k"
	for _, threads := range []int{1, 2, 7} {
		s.Configure(func(x *Settings) { x.Threads, x.MorselRows, x.Off.ThreadTrial = threads, 1000, true })
		if text := explainText(t, s, "EXPLAIN (analyze, pipelines, timing off) "+query); !strings.Contains(text, "dense directory, 300 groups") {
			t.Fatalf("this is for groups in a directory by key:\n%s", text)
		}
		if got := rowsOf(t, s, "SELECT count(*), sum(c), sum(s), min(c), max(c), min(k), max(k) FROM ("+query+") t"); got != "300|600|17971800|2|2|3|29903\n" {
			t.Errorf("%d threads: %s", threads, got)
		}
	}
}
