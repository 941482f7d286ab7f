package session

import (
	"context"
	"strings"
	"testing"
)

// TestDeviationsOfThreads: each thread has sums of its own rows, of all groups or of some, and what is joined of them is
// what exact sums say.
func TestDeviationsOfThreads(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, `create table t as select i, case when i <= 3 then 9 when i > 39000 then 8 when i % 7 = 0 then null else i % 7 end g,
		case when i % 11 = 0 or i > 39900 then null else 1000000000 + i % 3 end as n from generate_series(1, 40000) s(i)`)
	exact := `select g, round(var_pop(n) * 1000000), round(stddev(n) filter (where i % 2 = 0) * 1000000), count(n),
		3000000, round(var_pop(n) * 9000000) from t group by g order by g`
	doubles := `select g, round(var_pop(n::double precision) * 1000000), round(stddev(n * 1.0::double precision)
		filter (where i % 2 = 0) * 1000000), count(n), round(regr_slope(3 * n::bigint, n) * 1000000),
		round(regr_syy(3 * n::bigint, n) / count(n) * 1000000) from t group by g order by g`
	want := rowsOf(t, s, exact)
	if strings.Count(want, "\n") != 9 {
		t.Fatalf("groups:\n%s", want)
	}
	for _, threads := range []int{1, 2, 5} {
		s.Configure(func(x *Settings) { x.Threads = threads })
		if got := rowsOf(t, s, doubles); got != want {
			t.Errorf("%d threads:\n%swant\n%s", threads, got, want)
		}
		got := rowsOf(t, s, `select count(*), round(var_samp(n + 0.0::double precision) * 1000000), var_pop(case when i = 30000 then 'infinity'::double precision else n end),
			corr(n, case when i = 12 then 'nan'::double precision else i end), var_pop(n + 0.0::double precision) filter (where i = 17), var_samp(n + 0.0::double precision) filter (where i < 0) from t`)
		if want := rowsOf(t, s, "select count(*), round(var_samp(n) * 1000000), 'NaN', 'NaN', 0, null from t"); got != want {
			t.Errorf("%d threads: %s, want %s", threads, got, want)
		}
		// What no part has alone.
		if _, err := s.Query(context.Background(), "select var_pop(case when i in (7, 39999) then 1.7e308 else 0 end) from t"); err == nil || !strings.Contains(err.Error(), "22003") && !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%d threads: a sum that is too large: %v", threads, err)
		}
	}
}
