package session

import (
	"fmt"
	"testing"
)

// sortRows has keys of every form, with NULLs, extremes and many that are equal.
const sortRows = `create table r as select g as id,
	case when g % 7 = 0 then null else (g * 7919) % 100 end as small,
	case when g % 5 = 0 then null when g % 11 = 0 then -9223372036854775807 when g % 13 = 0 then 9223372036854775807 else (g::bigint * 104729) % 100003 * 1000000007 end as big,
	case when g % 9 = 0 then null when g % 8 = 0 then 'NaN'::double when g % 17 = 0 then '-0'::double when g % 19 = 0 then 0.0::double
		when g % 23 = 0 then '-infinity'::double when g % 29 = 0 then 'infinity'::double else ((g * 31) % 1000 - 500) / 7.0::double end as f,
	case when g % 6 = 0 then null else (((g * 37) % 1000 - 500)::decimal(38,0) * 100000000000000000000000::decimal(38,0)) end as wide,
	case when g % 4 = 0 then null else 'word '||((g * 13) % 20) end as dict,
	case when g % 10 = 0 then null when g % 3 = 0 then '' else 'straße '||((g * 17) % 300)||substring('a rather long text that is cut', 1, (g % 31)::int)||g end as txt,
	date '1990-01-01' + ((g * 97) % 3000)::int as d,
	g % 2 = 0 as flag
	from generate_series(1, 1200) s(g)`

var sortOrders = []string{
	"id", "id desc", "small, id", "small desc nulls last, id", "small nulls first, id desc", "big, id", "big desc, id", "big nulls first, id",
	"f, id", "f desc, id", "f nulls first, id", "f desc nulls last, id", "wide, id", "wide desc nulls last, id", "dict, id", "dict desc, id",
	"dict desc nulls last, small, id", "txt, id", "txt desc, id", "txt nulls first, id desc", "txt desc nulls last, d, id", "d desc, id", "flag, small, d, id",
	"dict, txt, f, wide, big, id", "small, txt desc, dict, id",
}

// TestGPUSort: the device orders rows as the CPU does, whatever the keys, and brings back those that are wanted.
func TestGPUSort(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, sortRows)
	dev, store := limited(t, 3, 0)
	store.SortLeast = 2
	s.DB.Accelerate(store)
	limits := []string{"", " limit 10", " limit 100 offset 37", " limit 1 offset 1198", " limit 800", " limit 0", " offset 1190", " limit 9223372036854775807 offset 3"}
	for i, order := range sortOrders {
		for j, limit := range limits {
			if testing.Short() && (i+j)%len(limits) != 0 {
				continue
			}
			for _, form := range []string{"select * from r order by %s%s", "select count(*), sum(id) from (select * from r order by %s%s) x"} {
				sql := fmt.Sprintf(form, order, limit)
				s.Configure(func(x *Settings) { x.Device = "cpu" })
				want := rowsOf(t, s, sql)
				s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true })
				before := dev.Counts().Launches
				if got := rowsOf(t, s, sql); got != want {
					t.Errorf("%s:\n%.600s\nwant\n%.600s", sql, got, want)
				}
				if n := dev.Counts().Launches - before; form[7] == '*' && (n < 2 && limit != " limit 0" || n > 5) { // no rows need no order
					t.Errorf("%s: %d launches: the device has not sorted, or by too many", sql, n)
				}
			}
		}
	}
}

// TestGPUTopN: of many rows, the first few come back.
func TestGPUTopN(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select g a, (g * 7919) % 20011 b, 'text '||(g::bigint * 104729) % 20011 s from generate_series(1, 20000) x(g)")
	dev, store := limited(t, 3, 0)
	s.DB.Accelerate(store)
	s.Configure(func(x *Settings) { x.Device = "gpu" })
	for _, sql := range []string{"select * from t order by b limit 10", "select * from t order by b desc, a limit 10 offset 20",
		"select * from t order by s limit 10", "select a, s from t limit 10", "select b, count(*) from t group by b order by 2 desc, 1 limit 5",
		"select b % 2, a from t order by 1, 2 limit 5"} {
		overBus(t, s, dev, sql, sql)
	}
}

// TestGPUKeepsOrder: rows that were sorted stay in order through what is computed of them then, by the device and by Go.
func TestGPUKeepsOrder(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select g a, (g * 7919) % 20011 b, 'text '||(g::bigint * 104729) % 20011 s from generate_series(1, 20000) x(g)")
	for seed := range uint64(3) {
		for _, sql := range []string{
			"select b % 5000 k, avg(a) from t group by 1 order by sum(b) desc, 1 limit 300",
			"select a + b, k from (select a, b, s k from t order by b, a limit 1000) x",
			"select a, replace(s, 'text', 'x') || a from (select a, s from t order by b desc limit 500) x",
			"select upper(k) || '!' from (select replace(s, 'ext', a::text) k from t order by b limit 300) x where length(k) > 3",
		} {
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := rowsOf(t, s, sql)
			accelerate(t, s, 7+seed, nil)
			if got := rowsOf(t, s, sql); got != want {
				t.Errorf("seed %d, %s:\n%.400s\nwant\n%.400s", seed, sql, got, want)
			}
		}
	}
}
