package session

import (
	"fmt"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
)

// TestGPUFront: rows that lanes test several at a time are those that the CPU finds, in tables of any length, for codes of all
// widths with and without a bit to spare, bounds on one side or both, comparisons of columns, and columns that the front
// leaves to the rows: those with NULLs, texts and what is computed. Rows past the front go to sinks of all kinds.
func TestGPUFront(t *testing.T) {
	s := New(NewDB())
	preds := []string{
		"b7 < 30", "b7 > 90", "b7 = 17", "b7 between 20 and 40", "b8 < 77", "b8 >= 200", "b8 between 120 and 135", "b8 = 255", "b8 = 0",
		"h15 < 5000", "h15 > 31000", "h15 between 100 and 9000", "h16 > 50000", "h16 between 30000 and 40000", "h16 <= 0",
		"w32 < 1000000000", "w32 = 4294967295", "w32 between 5 and 1000000005", "neg between -30 and 10", "neg = -100", "neg < -90", "big > 9000000000000000000",
		"b7 < 40 and h15 < 12000 and b8 < 100", "b7 < 60 and w32 < 3000000000 and h16 > 20000", "b8 between 10 and 90 and neg > 0 and nul > 3",
		"d1 < d2 and b7 < 50", "d2 >= d1 and h15 < 12000", "d1 > d2 and d1 < date '1995-01-01'", "d1 <= d2 and neg < 0", "b7 > t7 and b8 < 100", "b7 < 20 and s = 'x1'",
		"b7 < 30 and nul is null", "b7 < 30 and (nul = 2 or b8 > 128)", "b7 between 101 and 103", "b7 < 30 and d1 = d2",
	}
	sizes := []int{1, 0, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 255, 256, 257, 2049}
	shapes := []struct{ grid, block int }{{0, 0}, {1, 32}, {3, 64}, {2, 1024}}
	for i, n := range thin(sizes) {
		if testing.Short() && i%4 != 0 {
			continue
		}
		mustRun(t, s, widthsTable(n))
		for j, p := range preds {
			sh := shapes[(i+j)%len(shapes)]
			for k, sql := range []string{
				"select count(*), sum(id), min(b8), max(w32) from t%d where %s",
				"select s, count(*), sum(id * b8) from t%[1]d where %[2]s group by s order by s",
				"select id, s, nul from t%d where %s order by id",
				"select a.id, count(*) from t%[1]d a join t%[1]d b on a.b7 = b.t7 where a.id > 0 and %[3]s group by a.id order by a.id",
			} {
				if k == 3 && (n > 300 || j%5 != 0) {
					continue
				}
				sql = fmt.Sprintf(sql+"%.0[3]s%.0[2]s", n, p, "a."+p)
				s.Configure(func(x *Settings) { x.Device = "cpu" })
				want := answerText(s, sql, nil)
				accelerate(t, s, uint64(i), func(_ *gpu.Store, x *Settings) { x.Grid, x.Block = sh.grid, sh.block })
				onCPU := map[string]int{}
				if got := answerText(s, sql, onCPU); got != want || len(onCPU) > 0 {
					t.Errorf("%s\ngot  %.300s\nwant %.300s\n%v", sql, got, want, onCPU)
				}
			}
		}
	}
}

// widthsTable makes a table tN of so many rows, with columns of all widths.
func widthsTable(n int) string {
	// The first two rows have the ends of all ranges.
	return fmt.Sprintf(`create table t%d as select g id,
		(case g when 1 then 0 when 2 then 100 else g * 7 %% 101 end)::int b7, (case g when 1 then 0 when 2 then 255 else g * 37 %% 256 end)::int b8,
		(case g when 1 then 0 when 2 then 32767 else g * 1237 %% 32768 end)::int h15, (case g when 1 then 0 when 2 then 65535 else g * 4241 %% 65536 end)::int h16,
		case g when 1 then 0 when 2 then 4294967295 else g::bigint * 2654435761 %% 4294967296 end w32, (case g when 1 then -100 when 2 then 100 else g * 13 %% 201 - 100 end)::int neg,
		case g when 1 then -9223372036854775806 when 2 then 9223372036854775806 else g end big,
		case when g %% 3 = 0 then null else g %% 10 end nul, date '1993-01-01' + (g * 31 %% 2000)::int d1, date '1993-02-01' + (g * 17 %% 2000)::int d2,
		(case g when 1 then 0 when 2 then 100 else g * 11 %% 101 end)::int t7, 'x' || g %% 3 s from generate_series(1, %d) x(g)`, n, n)
}
