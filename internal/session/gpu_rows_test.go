package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
)

// TestGPURows: rows of which a lane takes several by wide loads are those that the CPU finds, in tables of any length, from columns of all widths,
// with and without NULLs, whether most rows pass, all or few.
func TestGPURows(t *testing.T) {
	s := New(NewDB())
	queries := []struct {
		sql  string
		wide bool // lanes take several rows
	}{
		{"select count(*), sum(b7), sum(b8), min(h15), max(h16), sum(w32) from t%d", true},
		{"select sum(neg), min(neg), max(neg), count(nul), sum(nul), avg(nul) from t%d where b8 >= 0", true},
		{"select sum(id * b7), sum(-h16), max(big), min(big) from t%d where b7 <> 17", true},
		{"select sum(case when nul is null then b8 when nul > 4 then -h16 else w32 end), count(*) filter (where d1 < d2) from t%d where nul is null or nul <> 2", true},
		{"select b7 %% 4 k, count(*), sum(w32), sum(-w32), sum(w32 * h16), min(d1), max(neg) from t%d where h15 > 300 group by k order by k", true},
		{"select s, sum(nul), count(nul), sum(b8::double precision), max(h15) from t%d where h16 <> 7 group by s order by s", true},
		{"select s, nul, count(*), sum(big / 1000000) from t%d group by s, nul order by s, nul", true},
		{"select sum(f), max(f), count(*) from (select b7 / 4.0::double precision f, b7 from t%d) x where b7 >= 0", true},
		{"select sum(w32 * w32 * 4), sum(b8 * 1000000000000000000) from t%d", true},
		{"select sum(w32 / b7) from t%d where b7 >= 0", true}, // fails for rows with 0
		{"select sum(w32 / b7) from t%d where b7 > 0", true},
		{"select count(*), sum(id) from t%d where s <> 'x1' or b7 < 50", true},
		{"select min(s), max(s), count(distinct b7) from t%d where b8 > 3", false},
		{"select id, b7 from t%d where b8 > 3 order by id", false},
	}
	// Rows that are written, in room that warps take for many at a time: some columns, narrow ones at the end of a tuple, NULLs.
	written := []string{
		"select id, b7 from t%d where b8 > 3",
		"select b8 from t%d where id >= 0",
		"select id * 3, b7 + b8, case when b8 > 9 then b7 end, b7 < 50 from t%d where b8 > 3",
		"select x.id, y.b7 from t%[1]d x join t%[1]d y on x.id = y.id and y.b8 > 3",
	}
	for _, sql := range written {
		queries = append(queries, struct {
			sql  string
			wide bool
		}{sql + " order by 1", false})
	}
	plain := len(queries) - len(written)
	sizes := []int{2049, 0, 1, 2, 7, 8, 9, 15, 16, 17, 255, 256, 257, 263, 300, 4095}
	shapes := []struct{ grid, block int }{{0, 0}, {1, 32}, {3, 64}, {2, 1024}}
	for i, n := range thin(sizes) {
		mustRun(t, s, widthsTable(n))
		for j, q := range queries {
			sh := shapes[(i+j)%len(shapes)]
			sql := fmt.Sprintf(q.sql, n)
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := answerText(s, sql, nil)
			for _, off := range []bool{false, true} {
				wide := (q.wide || j >= plain) && !off
				accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
					x.Grid, x.Block, x.Off.WideRows = sh.grid, sh.block, off
					if j >= plain {
						g.Takes, g.Room = int64(32*(1+i%3)), int64(i%2*3) // of no rows at first, or of as many as are expected
					}
				})
				onCPU := map[string]int{}
				if got := answerText(s, sql, onCPU); got != want || len(onCPU) > 0 {
					t.Errorf("%s\ngot  %.300s\nwant %.300s\n%v", sql, got, want, onCPU)
				}
				explain := "explain (pipelines) "
				if j >= plain {
					explain = "explain (analyze, pipelines) "
				}
				if how := answerText(s, explain+sql, nil); n > 0 && strings.Contains(how, "rows a lane") != wide {
					t.Errorf("%s\n%s", sql, how)
				}
			}
			s.Configure(func(x *Settings) { x.Off.WideRows = false })
		}
	}
}
