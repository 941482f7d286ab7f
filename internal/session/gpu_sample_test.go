package session

import (
	"fmt"
	"strings"
	"testing"
)

// TestGPUSample: where the best of a sample bound the other rows, the first rows are the same, whatever the keys are, in whatever order rows lie, and
// however many are wanted.
func TestGPUSample(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, sortRows)
	mustRun(t, s, "create table few as select id as k, id * 2 as twice from r where id % 3 = 0")
	_, store := limited(t, 3, 0)
	store.SortLeast, store.Sample = 2, 256
	s.DB.Accelerate(store)
	forms := []string{"select id, small, big, d, txt from r order by %s%s", "select count(*), sum(id), min(txt) from (select * from r order by %s%s) x",
		"select id, small, twice from r join few on k = id where d > date '1991-01-01' order by %s%s"}
	orders := []string{"id", "id desc", "small, id", "small desc, id", "small nulls first, id", "small desc nulls last, id", "big desc nulls last, id", "big, id desc", "d, id", "d desc, id", "f desc, id", "dict, id", "wide, id", "flag, id"}
	limits := []string{" limit 1", " limit 10", " limit 20 offset 37", " limit 256", " limit 300", " limit 0", " offset 1190"}
	for i, order := range orders {
		for j, limit := range limits {
			for k, form := range forms {
				if testing.Short() && (i+j+k)%5 != 0 {
					continue
				}
				sql := fmt.Sprintf(form, order, limit)
				s.Configure(func(x *Settings) { x.Device = "cpu" })
				want := rowsOf(t, s, sql)
				s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true })
				if got := rowsOf(t, s, sql); got != want {
					t.Errorf("%s:\n%.600s\nwant\n%.600s", sql, got, want)
				}
			}
		}
	}
}

// TestGPUSampleBounds: rows behind the bound are not written, those beside it are; NULLs that come first are behind none.
func TestGPUSampleBounds(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select g as id, g * 7919 % 10007 as mixed, case when g < 9000 or g % 100 > 0 then g % 50 end as late, g / 4000 as rough from generate_series(1, 10000) x(g)")
	_, store := limited(t, 3, 0)
	store.SortLeast, store.Sample = 2, 1024
	s.DB.Accelerate(store)
	s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true })
	for _, c := range []struct {
		sql  string
		rows string // that come to the sink; "": there is no sample
	}{
		{"select id from t order by mixed limit 10", ""},
		{"select id from t order by id limit 10", "rows 1024"},       // nothing else is as good
		{"select id from t order by id desc limit 10", "rows 1040"},  // the sample is the table's end
		{"select rough from t order by rough limit 10", "rows 3999"}, // as good as the bound
		{"select late from t order by late desc limit 10", "no sample"},
		{"select late from t order by late desc nulls last limit 10", ""},
		{"select id from t order by id limit 2000", "no sample"},
		{"select id from t order by id + 1 limit 10", "no sample"},
	} {
		text := rowsOf(t, s, "explain analyze "+c.sql)
		if sampled := strings.Contains(text, "the best of "); sampled != (c.rows != "no sample") {
			t.Errorf("%s: sampled %v\n%s", c.sql, sampled, text)
		}
		if c.rows != "no sample" && !strings.Contains(text, c.rows) {
			t.Errorf("%s: not %s\n%s", c.sql, c.rows, text)
		}
	}
}
