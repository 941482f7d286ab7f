package session

import (
	"fmt"
	"strings"
	"testing"
)

// TestListsOfGroups: lists of groups that have slots are written row by row, others are not, such as those with a FILTER. They must be the
// same for every form of number, with and without NULL, keys that are NULL, several lists at once, and groups whose rows
// all are with one of several threads.
func TestListsOfGroups(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, `create table l as select i, case when i % 11 <> 0 then i * i % 89 end as k, case when i < 9000 then 1 else 5 end as half,
		(i % 30000)::smallint as i2, (i * 7919 - 100000)::int as i4, i * 1234567890123 as i8, -i as less, i % 3 = 0 as b, date '1999-12-31' + i::int as d,
		case when i % 5 <> 0 then (i / 7.0)::double precision - 1000 end as f, (i % 3 - 1) * -0.0::double precision as zero,
		case when i % 2 = 0 then i % 100 end as nulls, (i / 100.0)::decimal(12, 2) as m, timestamp '2020-01-01' + i * interval '1 minute' as ts,
		(i * 3)::decimal(38, 0) as wide, i::text as word from generate_series(1, 20000) as g(i)`)
	groups := map[string]string{"k": "46", "half": "2", "k, half": "92"}
	for _, threads := range []int{1, 2, 5} {
		s.Configure(func(x *Settings) { x.Threads = threads })
		for _, c := range []string{"i2", "i4", "i8", "less", "b", "d", "f", "zero", "nulls", "m", "ts", "wide", "word"} {
			for key, n := range groups {
				lists := func(filter string) string {
					return fmt.Sprintf("select %[1]s, array_agg(%[2]s) %[3]s as a, list(less) %[3]s as b from l group by %[1]s", key, c, filter)
				}
				plain, filtered := lists(""), lists("filter (where i > 0)")
				got := rowsOf(t, s, fmt.Sprintf("select (select count(*) from (%[1]s) x), (select sum(len(a) + len(b)) from (%[1]s) x), (select count(*) from (%[1]s except all %[2]s) x)", plain, filtered))
				if want := n + "|40000|0\n"; got != want {
					t.Errorf("%d threads, lists of %s by %s: %q, want %q", threads, c, key, got, want)
				}
			}
		}
	}
}

// TestRowsFoundInSlots: arg_min and arg_max of groups that have slots find the rows that they find where nothing has one: of equal ones the first, whoever
// looked at it.
func TestRowsFoundInSlots(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, `create table t as select i, case when i % 13 = 0 then null else i % 700 end g, 'text ' || i v,
		case when i % 11 = 0 or i % 700 = 5 then null else (i * 7) % 31 end k, ((i * 7) % 29 - 14)::bigint * 300000000000 big, ((i * 3) % 17)::decimal(9, 2) / 4 n, date '2020-01-01' + i % 19 d,
		case when i % 23 = 0 then 'nan'::float8 when i % 29 = 0 then '-infinity'::float8 when i % 2 = 0 then -0.0::float8 * (i % 3) else (i % 7 - 3) / 2.0::float8 end f
		from generate_series(1, 40000) s(i)`)
	list := `arg_max(v, k), arg_min(v, k), arg_max(i, big), arg_min(i, big) filter (where i % 3 = 0), arg_max(k, n::decimal(9, 2)), arg_min(v, d),
		arg_max(i, f), arg_min(i, f), arg_max(f, i) filter (where i < 0)`
	slots := "select g, " + list + " from t group by g order by g nulls first"
	// A text that is made has no slot.
	none := "select * exclude (key) from (select right('00' || g, 3) as key, any_value(g), " + list + " from t group by 1) as x order by key nulls first"
	s.Configure(func(x *Settings) { x.Threads = 1 })
	want := rowsOf(t, s, none)
	if strings.Count(want, "\n") < 700 {
		t.Fatalf("groups:\n%s", want)
	}
	all := rowsOf(t, s, "select "+list+" from t")
	for _, threads := range []int{1, 2, 5} {
		for _, morsel := range []int{1 << 16, 1000} {
			s.Configure(func(x *Settings) { x.Threads, x.MorselRows = threads, morsel })
			if got := rowsOf(t, s, slots); got != want {
				t.Errorf("%d threads, morsels of %d: not the rows of groups without slots", threads, morsel)
			}
			if got := rowsOf(t, s, "select "+list+" from t"); got != all {
				t.Errorf("%d threads, morsels of %d: %s, want %s", threads, morsel, got, all)
			}
		}
	}
	if got := rowsOf(t, s, "select g, arg_max(i, k), arg_min(i, k) from t where i < 0 group by g"); got != "" {
		t.Error("groups of no rows: ", got)
	}
}
