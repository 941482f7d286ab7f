package session

import (
	"fmt"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
)

// TestGPUTextSegments: texts of segments with and without a dictionary come to the device as one column, packed where all are long, in pieces of many sizes.
func TestGPUTextSegments(t *testing.T) {
	const few, many = "select g, '%s' || g %% 9 || ' is one of few texts, é語' from generate_series(1, 8300) x(g)", "select g, '%s' || g || ' is one of many texts, é語' from generate_series(1, 8193) x(g)"
	for i, c := range []struct{ parts, ask []string }{
		{[]string{few, many, few}, []string{"a long text with the number ", "another long text of ", "a long text with the number "}},
		{[]string{many, few, many}, []string{"", "a long text with the number ", ""}},
		{[]string{many, few}, []string{"", ""}},
		{[]string{many}, []string{"ß"}},
	} {
		s := New(NewDB())
		mustRun(t, s, "create table t (a int, s text)")
		for k, part := range c.parts {
			mustRun(t, s, fmt.Sprintf("insert into t "+part, c.ask[k]))
		}
		if i == 3 {
			mustRun(t, s, "insert into t values (1, null), (2, '')")
		}
		const sql = "select count(*), count(s), count(distinct s), min(s), max(s), sum(length(s)), sum(case when s like '%9 is%' then a end), min(right(s, 3) || left(s, 4)) from t"
		const rows = "select a, s from t where a in (1, 4, 8191, 8192, 8193, 8300) order by s, a"
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want, wantRows := rowsOf(t, s, sql), rowsOf(t, s, rows)
		for k, block := range []int{0, 4 << 10} {
			store := gpu.NewStore(device.NewSimulated(device.SimulatedOptions{}), 0)
			store.Block, store.PackLeast = block, int64(1-k%2) // 0: as many rows as pay
			s.DB.Accelerate(store)
			s.Configure(func(x *Settings) { x.Device = "gpu" })
			if got := rowsOf(t, s, sql); got != want {
				t.Errorf("%d, blocks of %d: %s\nwant %s", i, block, got, want)
			}
			if got := rowsOf(t, s, rows); got != wantRows {
				t.Errorf("%d, blocks of %d: %s\nwant %s", i, block, got, wantRows)
			}
			if testing.Short() || raced || i%2 == 1 {
				break
			}
		}
	}
}
