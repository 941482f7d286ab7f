package session

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestCalendar: dates taken apart by a table, where there are many rows for few days, and by
// reckoning, agree with package time.
func TestCalendar(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "SET check = on")
	for first, days := range map[string]int{"1999-11-30": 900, "1969-12-20": 30, "0001-01-01": 800, "1890-03-01": 9000} {
		if raced && days > 100 {
			continue
		}
		rowsOf(t, s, "drop table if exists d")
		// Every other time a day too far away for a table.
		rowsOf(t, s, fmt.Sprintf(`create table d as select case when i %% 13 = 5 then null else date '%[1]s' + (i * 7) %% %[2]d end as day,
			case when i %% 11 = 5 then null else timestamp '%[1]s 00:00:00' + ((i * 7) %% %[2]d) * interval '1 day' + i * interval '1 second' end as ts
			from generate_series(0, 30000) as g(i)`, first, days))
		for _, far := range []bool{false, true} {
			if far {
				rowsOf(t, s, "insert into d values (date '9999-01-01', timestamp '9999-01-01 10:11:12')")
			}
			for _, col := range []string{"day", "ts"} {
				q := fmt.Sprintf(`select %[1]s, extract(year from %[1]s), extract(month from %[1]s), extract(day from %[1]s), extract(quarter from %[1]s),
					extract(doy from %[1]s), extract(dow from %[1]s), date_trunc('day', %[1]s), date_trunc('week', %[1]s), date_trunc('month', %[1]s),
					date_trunc('quarter', %[1]s), date_trunc('year', %[1]s), date_trunc('hour', %[1]s), cast(date_trunc('quarter', %[1]s) as date)
					from d where %[1]s is not null and %[1]s > date '0001-01-08'`, col)
				res, err := s.Query(context.Background(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range res.Values() {
					at := time.UnixMicro(row[0].I).UTC()
					if col == "day" {
						at = time.Unix(row[0].I*86400, 0).UTC()
					}
					y, m, d := at.Date()
					q := (m-1)/3 + 1
					micros := func(y int, m time.Month, d int) int64 { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).UnixMicro() }
					want := []int64{int64(y), int64(m), int64(d), int64(q), int64(at.YearDay()), int64(at.Weekday()), micros(y, m, d),
						micros(y, m, d-(int(at.Weekday())+6)%7), micros(y, m, 1), micros(y, q*3-2, 1), micros(y, 1, 1), at.Truncate(time.Hour).UnixMicro(),
						time.Date(y, q*3-2, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400}
					for i, w := range want {
						if row[i+1].I != w {
							t.Fatalf("%s %v, column %d: got %d, want %d", col, at, i+1, row[i+1].I, w)
						}
					}
				}
				res.Close()
				whole := rowsOf(t, s, fmt.Sprintf("select date_trunc('month', %[1]s) as m, count(*), min(%[1]s) from d group by 1 order by 1", col))
				if again := rowsOf(t, s, fmt.Sprintf("select m, count(*), min(x) from (select date_trunc('month', %[1]s) as m, %[1]s as x from d limit 100000) q group by m order by m", col)); again != whole {
					t.Errorf("groups by month of %s differ", col)
				}
			}
		}
	}
}
