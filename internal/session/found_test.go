package session

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestFound repeats what the differential test in bench once found, for those who build without DuckDB.
func TestFound(t *testing.T) {
	s := New(NewDB())
	run := func(sql string) (string, error) {
		res, err := s.Query(context.Background(), sql)
		if err != nil {
			return "", err
		}
		defer res.Close()
		var rows []string
		for _, r := range res.Values() {
			cells := make([]string, len(r))
			for i, v := range r {
				cells[i] = v.String()
			}
			rows = append(rows, strings.Join(cells, ","))
		}
		return strings.Join(rows, " "), nil
	}
	if _, err := run(`SET check = on; create table n (k int primary key, s varchar not null, b boolean, j int, w decimal(38,10));
		insert into n values (1, 'x', true, -2147483648, -1.5), (2, '', null, 5, null)`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sql, want string }{
		// A column declared NOT NULL is NULL in the rows that ROLLUP adds.
		{"select coalesce(s, 'all'), count(*) from n group by rollup (s) order by 2, 1", ",1 x,1 all,2"},
		{"select concat(s, '!') from n group by rollup (s) order by 1", "! ! x!"},
		// Two names for one column are two grouping columns.
		{"select x, y from (select k as x, k as y from n) q group by rollup (x, y) order by 1, 2", "1,1 1,NULL 2,2 2,NULL NULL,NULL"},
		// NULL of bool_and is not true; what an aggregate starts from is not its value.
		{"select count(*) from (select bool_and(b) as x from n where k > 9) q where x", "0"},
		// Rows without a match group as NULL, whatever was computed from them.
		{"select distinct m.k - n.k from n full join (select 7 as k) m on m.k = n.k", "NULL"},
		{"select coalesce(null, j), m.s like 'x%', m.s in ('x', 'y'), m.s = n.s from n full join (select 7 as k, 'x' as s) m on m.k = n.k where n.k = 2",
			"5,NULL,NULL,NULL"},
		{"select null as z, count(*) from n group by z", "NULL,2"},
		// A NULL never fails.
		{"select abs(nullif(j, -2147483648)), nullif(w, -1.5) * 99999999999999999999 from n where k = 1", "NULL,NULL"},
		{"select w::double precision from n where k = 1", "-1.5"},
		{"select starts_with(s, '') from n order by k", "true true"},
		{"select greatest(w, 1), least(w, k) from n order by k", "1.0000000000,-1.5000000000 1.0000000000,2.0000000000"},
	} {
		got, err := run(c.sql)
		if err != nil {
			t.Errorf("%s\n%s", c.sql, diag.Format(err, c.sql))
		} else if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.sql, got, c.want)
		}
	}
	if _, err := run("select abs(j) from n"); diag.CodeOf(err) != diag.NumericOutOfRange {
		t.Errorf("abs of the least integer: %v", err)
	}
	start := time.Now() // each level once doubled the time
	if _, err := run("select " + strings.Repeat("case when k > 1 then k else ", 60) + "0" + strings.Repeat(" end", 60) + " from n"); err != nil || time.Since(start) > 10*time.Second {
		t.Errorf("nested CASE: %v after %v", err, time.Since(start))
	}
}
