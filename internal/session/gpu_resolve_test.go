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
		for i, how := range []phys.Resolve{phys.ResolveTuple, phys.ResolveWarp, phys.ResolveBlock, phys.ResolveSegments} {
			accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
				x.Resolve = how
				switch i {
				case 0:
					g.Room, x.Grid, x.Block = 100, 3, 64
				case 2:
					g.Room, x.Block = 100, 96 // no power of two
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

// TestResolveAtomics counts what it is about: atomics for each row that comes to the sink, for each warp of them, or for each turn of a block. 60175 rows of lineitem have
// 0.01; 7 line numbers, of which nearly each warp has 5 or more.
func TestResolveAtomics(t *testing.T) {
	s := load(t, "tpch", "0.01")
	const rows, turns, warps = 60175, (60175 + 255) / 256, (60175 + 31) / 32
	type bounds map[phys.Resolve][2]uint64 // least and most
	for _, c := range []struct {
		sql  string
		want bounds
		says string // of blocks, if not that they resolve
	}{
		{"select l_orderkey + 1 from lineitem",
			bounds{phys.ResolveTuple: {rows, rows}, phys.ResolveWarp: {warps, warps}, phys.ResolveBlock: {turns, turns}, phys.ResolveSegments: {turns, turns}, phys.ResolveAuto: {rows / 64, rows/32 + 64}}, ""},
		{"select count(*) from lineitem where l_tax >= 0",
			bounds{phys.ResolveTuple: {rows, rows}, phys.ResolveWarp: {warps, warps}, phys.ResolveBlock: {turns, turns}, phys.ResolveSegments: {turns, turns}, phys.ResolveAuto: {1, 2000}}, ""},
		{"select l_linenumber, count(*) from lineitem group by l_linenumber",
			bounds{phys.ResolveTuple: {rows, rows}, phys.ResolveWarp: {warps * 5, warps * 7}, phys.ResolveBlock: {warps * 5, warps * 7}, phys.ResolveSegments: {turns*7 - 7, turns * 7}, phys.ResolveAuto: {1, 2000}},
			"resolved by warp (not block: groups want segments)"},
	} {
		for how, want := range c.want {
			s.Configure(func(x *Settings) { x.Device, x.Resolve, x.Block = "simt", how, 256 })
			_, st := kernels(t, s, c.sql)
			if n := st.Pipelines[0].Lanes.Atomics; n < want[0] || n > want[1] {
				t.Errorf("%s, %s: %d atomics, want %d to %d", c.sql, how, n, want[0], want[1])
			}
			said := "resolved by " + how.String()
			if how == phys.ResolveBlock && c.says != "" {
				said = c.says
			}
			if text := explainText(t, s, "EXPLAIN (pipelines) "+c.sql); strings.Contains(text, said) != (how != phys.ResolveAuto) {
				t.Errorf("%s: EXPLAIN says\n%s", how, text)
			}
		}
	}
}

// TestResolveEdges: NULLs, no rows, texts, extremes of keys, sums of 128 bits and joins with many matches come out as on the CPU however blocks resolve them, whatever the
// number of their threads.
func TestResolveEdges(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, homeRows)
	mustRun(t, s, "create table none as select * from h where false")
	mustRun(t, s, "create table far as select case when v % 3 = 0 then 9223372036854775807 when v % 3 = 1 then -9223372036854775808 else v end as k, v, x, s from h where v < 300")
	queries := []string{
		"select k, count(*), sum(v), min(x) from far group by k",
		"select s, count(*), sum(v) from h where x < 70 group by s",
		"select x, v, s from h where v between -40 and 40 and x is not null",
		"select count(*), sum(v), min(d), max(x), min(s), bool_or(b) from h",
		"select count(*), sum(x), max(v), sum(w::numeric(38,0) * 1000000000000000) from h where v > 250",
		"select count(*), sum(x), max(v) from none",
	}
	for _, q := range homeQueries {
		queries = append(queries, q.sql)
	}
	var want []string
	for _, q := range queries {
		want = append(want, rowsText(t, s, q+" order by 1"))
	}
	for i, how := range []phys.Resolve{phys.ResolveBlock, phys.ResolveSegments} {
		for _, threads := range []int{32, 96, 1024} {
			if (testing.Short() || raced || how == phys.ResolveBlock) && threads != 96 {
				continue
			}
			accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) { x.Resolve, x.Block, g.Room = how, threads, 10 })
			for k, q := range queries {
				if got := rowsText(t, s, q+" order by 1"); got != want[k] {
					t.Errorf("%s, %d threads: %s:\n%s\nwant\n%s", how, threads, q, got, want[k])
				}
			}
		}
		for sql, why := range map[string]string{
			"select a.five, sum(b.v) from h a join h b on a.v = b.v group by a.five": "warps come there one by one",
			"select count(*), min(s) from h":                                         "an aggregate is more than numbers",
		} {
			if text := explainText(t, s, "EXPLAIN (pipelines) "+sql); !strings.Contains(text, why) {
				t.Errorf("%s: %s: EXPLAIN says\n%s", how, sql, text)
			}
		}
		s.Configure(func(x *Settings) { x.Device = "cpu" })
	}
}
