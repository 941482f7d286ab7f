package session

import (
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// TestResolve: however lanes come together, the answers are the same, also with sinks that are too small at first, and other launches.
func TestResolve(t *testing.T) {
	for _, suite := range []string{"tpch", "ssb"} {
		s := load(t, suite, "0.01")
		for i, how := range []phys.Resolve{phys.ResolveTuple, phys.ResolveWarp} {
			accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
				x.Resolve = how
				if i == 0 {
					g.Room, x.Grid, x.Block = 100, 3, 64
				}
			})
			for k, q := range suiteQueries(suite) {
				if (testing.Short() || raced) && k%5 != i {
					continue
				}
				checkAnswer(t, s, suite, "0.01", q)
			}
		}
	}
}

// TestResolveAtomics counts what it is about: atomics for each row that comes to the sink, or for each warp of them. 60175 rows of lineitem have
// 0.01; 7 line numbers.
func TestResolveAtomics(t *testing.T) {
	s := load(t, "tpch", "0.01")
	const rows = 60175
	for _, c := range []struct {
		sql               string
		tuple, warp, auto [2]uint64 // least and most
	}{
		{"select l_orderkey + 1 from lineitem", [2]uint64{rows, rows}, [2]uint64{rows / 32, rows/32 + 64}, [2]uint64{rows / 64, rows/32 + 64}},
		{"select count(*) from lineitem where l_tax >= 0", [2]uint64{rows, rows}, [2]uint64{rows / 32, rows/32 + 64}, [2]uint64{1, 2000}},
		{"select l_linenumber, count(*) from lineitem group by l_linenumber", [2]uint64{rows, rows}, [2]uint64{rows * 5 / 32, rows * 7 / 32}, [2]uint64{1, 2000}},
	} {
		for how, want := range map[phys.Resolve][2]uint64{phys.ResolveTuple: c.tuple, phys.ResolveWarp: c.warp, phys.ResolveAuto: c.auto} {
			s.Configure(func(x *Settings) { x.Device, x.Resolve = "simt", how })
			_, st := kernels(t, s, c.sql)
			if n := st.Pipelines[0].Lanes.Atomics; n < want[0] || n > want[1] {
				t.Errorf("%s, %s: %d atomics, want %d to %d", c.sql, how, n, want[0], want[1])
			}
			said := "resolved by " + how.String()
			if text := explainText(t, s, "EXPLAIN (pipelines) "+c.sql); strings.Contains(text, said) != (how != phys.ResolveAuto) {
				t.Errorf("%s: EXPLAIN says\n%s", how, text)
			}
		}
	}
}
