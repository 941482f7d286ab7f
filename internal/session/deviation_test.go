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

// TestSpreadsAsFolds: what generated code keeps up to date row by row is what Go makes of the rows in their order, to the last bit, which an ORDER BY
// inside of the aggregate has it do.
func TestSpreadsAsFolds(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, `create table t as select i, case when i % 13 = 0 then null else i % 5 end g, 'key ' || i % 301 k,
		case when i % 11 = 0 then null else sin(i) * 1e6 + 1e9 end x, case when i % 17 = 0 then null else cos(i) / i end y,
		case when i % 5 = 3 and i > 9000 then 'infinity'::float8 when i % 301 = 7 then 'nan'::float8 when i % 301 = 8 then -'infinity'::float8 else i end z,
		case when i = 77 then i end one from generate_series(1, 10000) s(i)`)
	if got := rowsOf(t, s, "explain (pipelines) select g, stddev(x), corr(x, y), avg(x) from t group by g"); strings.Contains(got, "in Go") || !strings.Contains(got, "spread(") {
		t.Errorf("left to Go:\n%s", got)
	}
	numbers := []string{"stddev(A)", "stddev_pop(A)", "variance(A)", "var_pop(A)", "sem(A)"}
	pairs := []string{"corr(A)", "covar_pop(A)", "covar_samp(A)", "regr_intercept(A)", "regr_r2(A)", "regr_slope(A)", "regr_sxx(A)", "regr_sxy(A)", "regr_syy(A)"}
	var code, folds []string
	add := func(aggs []string, args ...string) {
		for _, arg := range args {
			for i, a := range aggs {
				filter := []string{"", " filter (where i % 3 = 1)", " filter (where i < 0)"}[(i+len(code))%3]
				code = append(code, strings.Replace(a, "A", arg, 1)+filter)
				folds = append(folds, strings.Replace(a, "A", arg+" order by i", 1)+filter)
			}
		}
	}
	add(numbers, "x", "y", "z", "one::float8", "1/(i+0.5::float8)")
	add(pairs, "x, y", "y, x", "x, x", "y, z", "z, one", "i, 5::float8", "0::float8, i")
	for _, from := range []string{"t group by g order by g", "t group by k order by k", "t group by rollup (g, i % 2) order by g, i % 2", "t", "t where i < 0", "t where i = 5 group by i"} {
		key := "1"
		switch {
		case strings.Contains(from, "by k"):
			key = "k"
		case strings.Contains(from, "by g"), strings.Contains(from, "rollup"):
			key = "g"
		}
		for _, morsel := range []int{1 << 16, 7} {
			s.Configure(func(x *Settings) { x.Threads, x.MorselRows = 1, morsel })
			for lo := 0; lo < len(code); lo += 8 {
				hi := min(lo+8, len(code))
				rows := func(list []string) string {
					return rowsOf(t, s, "select "+key+", "+strings.Join(list[lo:hi], ", ")+", count(*), count(x), sum(i) from "+from)
				}
				if got, want := rows(code), rows(folds); got != want {
					t.Fatalf("%v from %s, morsels of %d rows:\n%swant\n%s", code[lo:hi], from, morsel, got, want)
				}
			}
		}
	}
	// Beside what Go computes, and what is distinct.
	for _, q := range []string{
		"select g, stddev(x A), string_agg(k, ',' order by i) filter (where i < 50), median(i), count(*) from t group by g order by g",
		"select g, stddev(x A), count(distinct k), corr(x, y A) from t group by g order by g",
		"select stddev(distinct i % 7 + 0.5::float8), var_pop(i + 0.5::float8 A) from t",
		"select g from t group by g having stddev(y A) > 0.01 order by g",
		"select (select corr(x, y A) from t u where u.g = v.g) from (values (1), (2), (null)) v(g)",
		"select stddev(1 / i::float8 A) filter (where i > 0) from (select i - 1 as i from t) u",
	} {
		got, want := rowsOf(t, s, strings.ReplaceAll(q, " A)", ")")), rowsOf(t, s, strings.ReplaceAll(q, " A)", " order by i)"))
		if strings.Contains(q, "u.g") {
			want = rowsOf(t, s, strings.ReplaceAll(q, " A)", " order by u.i)"))
		}
		if got != want {
			t.Errorf("%s:\n%swant\n%s", q, got, want)
		}
	}
	for _, q := range []string{"select stddev(x) from (values (1e200::float8), (-1e200)) v(x)", "select corr(x, x) from (values (1.7e308::float8), (1.7e308)) v(x)"} {
		if _, err := s.Query(context.Background(), q); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%s: %v", q, err)
		}
	}
}
