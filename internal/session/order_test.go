package session

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/kelpiedb/kelpie/internal/techniques"
)

// TestOrderKept: without ORDER BY, rows of one source come in its order as long as nothing in the
// plan (a join's build side, groups, a sort) needs another one, whatever the threads and morsels.
func TestOrderKept(t *testing.T) {
	const n = 80_000 // more than a segment holds
	s := New(NewDB())
	dir := t.TempDir()
	parquet, csv := filepath.Join(dir, "t.parquet"), filepath.Join(dir, "t.csv")
	mustRun(t, s, fmt.Sprintf(`create table t as select g, g %% 10 as m, 'text ' || g as s from generate_series(1, %d) g;
		create table few (k int, name varchar); insert into few values (1, 'one'), (4, 'four'), (7, null);
		COPY t TO '%s' (ROW_GROUP_SIZE 20000); COPY t TO '%s'`, n, parquet, csv))

	// The first column rises from row to row, or falls.
	queries := []string{
		"select * from generate_series(1, 150000) g",
		"select -g from generate_series(150000, 1, -1) g",
		"select g * 3, 'x' || g from generate_series(-75000, 75000) g where g % 3 = 0",
		"select g from range(5, 9000000000, 60000) r(g) limit 30000 offset 50000",
		"select g, m, s from t",
		"select g from t where m = 3",
		"select g, s, m, g + 1, s || 'x' from t where m < 8",         // late columns
		"select g, replace(s, 'x', 'yy'), ln(g) from t where m <> 5", // computed in Go
		"select g from t where s like '%7%' limit 9000",
		"select g from t where m = 3 limit 500 offset 7000",
		"select g, name from t left join few on t.m = few.k",
		"select g, name from t join few on t.m = few.k limit 20000",
		"select g from t where m in (select k from few)",
		"select g from t where m not in (select k from few where name is not null)",
		"select g from t where exists (select 1 from few where k = m and name > 'o')",
		"with w as materialized (select g, m from t where m > 2) select g from w where m < 9",
		"select g from (select g, m from t limit 100000) q where m = 1",
		"select g from t where g < 50000 union all select g + 50000 from t where m = 2",
		"select g from '" + parquet + "' where m = 3",
		"select g, m, s from '" + parquet + "'",
		"select g, upper(s) from '" + parquet + "' where s not like '%99' limit 40000 offset 11",
		"select g from '" + csv + "' where m <> 4",
	}
	check := func(t *testing.T, q string) {
		t.Helper()
		rows, err := ask(s, q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if len(rows) == 0 {
			t.Errorf("%s: no rows", q)
		}
		for i := 1; i < len(rows); i++ {
			if rows[i-1][0].I >= rows[i][0].I {
				t.Errorf("%s: row %d is %v, the row before %v", q, i, rows[i], rows[i-1])
				return
			}
		}
	}
	for _, threads := range []int{1, 2, 16} {
		for _, morsel := range []int{0, 7, 1024, 100_000} {
			if testing.Short() && morsel != map[int]int{1: 1024, 2: 0, 16: 7}[threads] {
				continue
			}
			t.Run(fmt.Sprintf("threads=%d morsel=%d", threads, morsel), func(t *testing.T) {
				s.Configure(func(x *Settings) {
					x.Threads, x.MorselRows = threads, morsel
					x.Off = techniques.Off{ThreadTrial: true} // all threads from the first row on
				})
				for _, q := range thin(queries) {
					check(t, q)
				}
				out := filepath.Join(dir, "out")
				for _, how := range []string{
					"create table u as %s",
					"create table u (g bigint); insert into u %s",
					"COPY (%s) TO '" + out + ".parquet'; create table u (g bigint); COPY u FROM '" + out + ".parquet'",
					"COPY (%s) TO '" + out + ".csv' (HEADER); create table u (g bigint); COPY u FROM '" + out + ".csv' (HEADER)",
				} {
					mustRun(t, s, "drop table if exists u; "+fmt.Sprintf(how, "select g from t where m <> 8"))
					check(t, "select g from u")
					mustRun(t, s, "delete from u where g % 7 = 0; update u set g = g + 1 where g % 10 = 7")
					check(t, "select g from u")
				}
			})
		}
	}
}
