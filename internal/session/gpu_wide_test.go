package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/gpu"
)

// TestGPUWide: warps that replace values of two words in the same groups, each better than the one before, leave no half of
// another's, and what DISTINCT ON keeps is from one row.
func TestGPUWide(t *testing.T) {
	s := New(NewDB())
	// Every text has a length of its own, so that half of one does not go with half of another; every decimal and interval has
	// different halves.
	var rows []string
	for g := range 1200 {
		text, note := "null", "null"
		if g%11 > 0 {
			text = "'" + strings.Repeat("x", g%400) + fmt.Sprint(g) + "'"
		}
		if g%7 > 0 {
			note = fmt.Sprintf("'%d'", g)
		}
		rows = append(rows, fmt.Sprintf("(%d, %s, %d00000000000000000007, interval '%d days %d seconds', %s)", g, text, g+1, g, 20000-g, note))
	}
	mustRun(t, s, "create table w (id int, s varchar, d decimal(38, 0), i interval, n varchar)")
	mustRun(t, s, "insert into w values "+strings.Join(rows, ", "))
	queries := []string{
		"select min(s), max(s), min(d), max(d), min(i), max(i) from w",
		"select id % 3, min(s), max(s), min(d), max(d), min(i), max(i) from w group by 1 order by 1",
		"select id / 100, min(s), max(s), min(d), max(d), min(i), max(i), count(*) from w group by 1 order by 1",
		"select n || '', min(s), max(d) from w group by 1 order by 1 limit 50",
		"select min(s), max(d), max(i) from (select * from w union all select * from w order by 1) x",
		"select id % 2, min(s) filter (where id > 1500), max(s) filter (where id % 97 = 5), max(i) filter (where id < 3) from w group by 1 order by 1",
		"select count(*) from (select distinct on (id % 5) id, s, d, i, n from w) a join w on a.id = w.id and a.d = w.d and a.i = w.i " +
			"and a.s is not distinct from w.s and a.n is not distinct from w.n",
		"select count(*) from (select distinct on (k) * from (select id % 5 k, id, d from w union all select id % 5, id, d from w) x) a join w on a.id = w.id and a.d = w.d",
		"select count(*) from (select id % 4 k, any_value(s) s, any_value(d) d, any_value(i) i from w group by 1) a " +
			"where not exists (select 1 from w where w.s = a.s) or not exists (select 1 from w where w.d = a.d) or not exists (select 1 from w where w.i = a.i)",
		"select any_value(i) is not null, any_value(d) is not null from (select * from w union all select id, s, null, null, n from w) x",
	}
	for _, q := range queries {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := rowsOf(t, s, q)
		for seed := range uint64(4) {
			if testing.Short() && seed > 1 {
				break
			}
			accelerate(t, s, seed+1, func(g *gpu.Store, x *Settings) {
				x.Grid, x.Block = 3, 64
				if seed%2 == 1 {
					x.Grid, x.Block, g.Room = 1, 256, 5
				}
			})
			if got := rowsOf(t, s, q); got != want {
				t.Errorf("%s, seed %d: %.300s, want %.300s", q, seed, got, want)
			}
			onCPU := map[string]int{}
			if _, err := askNoting(s, q, onCPU); err != nil || len(onCPU) > 0 {
				t.Errorf("%s: %v %v", q, err, onCPU)
			}
		}
	}
}

// TestGPUDropped: a lane whose row ends in the middle of its group, by an error or for lack of room, keeps no other from
// its end.
func TestGPUDropped(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table v as select g a, g % 97 b, g * 7919 % 500 c from generate_series(1, 3000) x(g)")
	accelerate(t, s, 3, func(g *gpu.Store, x *Settings) { g.Room, x.Grid, x.Block = 1, 2, 64 })
	for _, q := range []string{"select a % 3, sum(10 / b), count(*) from v group by 1", "select b || 'x', sum(10 / b) from v group by 1"} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		if _, err := s.Query(ctx, q); diag.CodeOf(err) != diag.DivisionByZero {
			t.Errorf("%s: %v", q, err)
		}
		cancel()
	}
	q := "select count(*), sum(n), min(s), max(m) from (select c * c k, count(*) n, sum(a) s, max(a) m from v group by 1) x"
	got := rowsOf(t, s, q)
	s.Configure(func(x *Settings) { x.Device = "cpu" })
	if want := rowsOf(t, s, q); got != want {
		t.Errorf("%s: %s, want %s", q, got, want)
	}
}
