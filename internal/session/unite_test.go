package session

import "testing"

// TestUnited: sinks that several pipelines fill hold what each of them brings: other dictionaries, only
// NULLs, wider numbers.
func TestUnited(t *testing.T) {
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Check = true })
	for _, q := range []string{
		"create table a (k int, x text, n decimal(10,2), f double)",
		"create table b (k int, x text, n decimal(30,2), f double)",
		"insert into a values (1, 'one', 1.50, 1.5), (2, 'two', 2.50, null), (3, 'one', null, 2.5)",
		"insert into b values (2, 'zwei', 10000000000000000000000.25, 0.5), (4, 'one', -3, 1), (5, null, null, null)",
	} {
		mustRun(t, s, q)
	}
	for _, c := range []struct{ q, want string }{
		{"select x, count(*), sum(n) from (select x, n from a union all select x, n from b) t group by x order by x",
			"one|3|-1.50\ntwo|1|2.50\nzwei|1|10000000000000000000000.25\nNULL|1|NULL\n"},
		{"select x, count(*) from (select x from a union all select null) t group by x order by x", "one|2\ntwo|1\nNULL|1\n"},
		{"select x, f from (select null x, f from a union all select x, f from a) t order by x desc nulls last, f", "two|NULL\none|1.5\none|2.5\nNULL|1.5\nNULL|2.5\nNULL|NULL\n"},
		{"select a.k, b.k, a.x, b.x from a full join b on a.k = b.k order by 1, 2", "1|NULL|one|NULL\n2|2|two|zwei\n3|NULL|one|NULL\nNULL|4|NULL|one\nNULL|5|NULL|NULL\n"},
		{"select c.k, count(*), sum(c.v), max(c.y) from (select b.k, a.k v, a.x y from b left join a on a.k = b.k) c group by c.k order by 1",
			"2|1|2|two\n4|1|NULL|NULL\n5|1|NULL|NULL\n"},
		{"select count(*) from a join (select k, x from a union all select k, x from b) t on a.k = t.k and a.x = t.x", "3\n"},
		{"select sum(v) from (select 9223372036854775807 v union all select -5) t", "9223372036854775802\n"},
		{"select k, n from (select k, n from a union all select k, n from b) t order by n desc nulls last, k limit 2", "2|10000000000000000000000.25\n2|2.50\n"},
		{"select x from a intersect select x from b", "one\n"},
		{"select x from b except select x from a order by x nulls first", "NULL\nzwei\n"},
	} {
		for _, off := range []bool{false, true} {
			s.Configure(func(x *Settings) { x.Off.SharedSinks = off })
			if got := rowsOf(t, s, c.q); got != c.want {
				t.Errorf("%s:\n%s want:\n%s", c.q, got, c.want)
			}
		}
	}
}
