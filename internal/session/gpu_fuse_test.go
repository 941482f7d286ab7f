package session

import (
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// TestFuse: however much one kernel does, the answers are the same, also with other launches, and where columns stream.
func TestFuse(t *testing.T) {
	for _, suite := range []string{"tpch", "ssb"} {
		s := load(t, suite, "0.01")
		for i, how := range []phys.Fuse{phys.FuseMultipass, phys.FuseOperator, phys.FuseAuto} {
			accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
				x.Fuse = how
				x.FuseBudget = 32 // by which many are cut, under auto
				if i == 0 {
					x.Grid, x.Block, x.Refill = 3, 64, phys.RefillFlush
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

// TestFuseShapes: rows that passes must not lose or make twice: NULLs in keys, joins of all kinds with several matches, rows that are repeated,
// expressions that Go computes between, sinks that several pipelines fill, no rows at all, and errors that must not come too early.
func TestFuseShapes(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table l as select nullif(i % 11, 5) as k, i as v, 'text ' || i % 7 as w, (i % 5)::double as f from generate_series(1, 700) g(i)")
	mustRun(t, s, "create table r as select nullif(i % 13, 3) as k, i * 10 as x, 'żółw ' || i % 3 as z from generate_series(1, 90) g(i)")
	mustRun(t, s, "create table none as select * from l where v < 0")
	queries := []string{
		"select l.v, r.x from l join r on l.k = r.k where l.v % 3 = 0 and r.x > 100",
		"select l.v, r.x, r.z from l left join r on l.k = r.k and r.x > l.v",
		"select l.v, r.x from l full join r on l.k = r.k and r.x % 20 = 0",
		"select count(*), sum(l.v) from l where exists (select 1 from r where r.k = l.k and r.x > l.v)",
		"select v from l where k not in (select x from r where k > 3)",
		"select v, k in (select k from r) from l",
		"select w, count(*), sum(v * 2 + 1), min(f / 3) from l where v > 20 group by w having count(*) > 3",
		"select upper(w) || z, max(v + x) from l join r on l.k = r.k group by 1",
		"select v from l where v < 50 union all select x from r where x > 800 union all select v from none",
		"select l.v, i from l, generate_series(1, l.v % 4) g(i) where l.v < 40",
		"select count(*) from l where v % 2 = 0",
		"select count(*), sum(v + 1) from none where v > 1",
		"select * from none n join r on n.k = r.k",
		"select v, 100 / (v % 3) as d from l where v % 3 <> 0 and 100 / (v % 3) > 40",
		"select q from (select v, 100 / (v - 5) as q from l) t where v <> 5 and v < 9",
		"select 100 / (v - 5) from l",
		"select case when v <> 5 then 100 / (v - 5) + 1 end from l where v < 9",
		"select v, row_number() over (partition by k order by v desc) from l where v > 600",
		"select distinct k, f from l where f > 1",
		"select v, x from (select v, k from l order by v limit 100) t join r using (k) order by v, x limit 7",
	}
	want := make([]string, len(queries))
	for i, sql := range queries {
		want[i] = sortedLines(answerText(s, sql, nil))
	}
	for _, how := range []phys.Fuse{phys.FuseCompound, phys.FuseMultipass, phys.FuseOperator} {
		for _, narrow := range []bool{false, true} {
			accelerate(t, s, 3, func(g *gpu.Store, x *Settings) {
				x.Fuse = how
				if narrow {
					g.Room, x.Grid, x.Block, x.Expand, x.Refill = 5, 2, 32, phys.ExpandBalanced, phys.RefillList
				}
			})
			for i, sql := range queries {
				onCPU := map[string]int{}
				if got := sortedLines(answerText(s, sql, onCPU)); got != want[i] || len(onCPU) > 0 {
					t.Errorf("%s: %s\ngot  %.300s\nwant %.300s\n%v", how, sql, got, want[i], onCPU)
				}
			}
		}
	}
}

// TestFuseMoved: what the models do is what the account of data movement says, and what EXPLAIN tells.
func TestFuseMoved(t *testing.T) {
	s, _, _ := onGPU(t, 0, device.SimulatedOptions{})
	const n = 64_000
	mustRun(t, s, "create table r as select (i * 7919) % 100000 a, i % 200 b from generate_series(1, 64000) g(i)") // 4 and 1 bytes
	const sql = "select a * 3 + 1 as x from r where b < 100"
	type found struct {
		memory int64
		text   string
		pipes  int
	}
	got := map[phys.Fuse]found{}
	for _, how := range []phys.Fuse{phys.FuseAuto, phys.FuseCompound, phys.FuseMultipass, phys.FuseOperator} {
		mustRun(t, s, "set fuse = '"+how.String()+"'")
		moved(t, s, sql) // columns are copied
		all, pipes := moved(t, s, sql)
		got[how] = found{all.Memory, explainText(t, s, "explain (pipelines) "+sql), len(pipes)}
	}
	one, passes, apart := got[phys.FuseCompound], got[phys.FuseMultipass], got[phys.FuseOperator]
	if got[phys.FuseAuto].memory != one.memory || one.pipes != 1 || passes.pipes != 1 || apart.pipes != 3 {
		t.Errorf("%+v", got)
	}
	// A word for each row is cleared, written by those that pass, read and written by the prefix sum, which reads it twice, and read by what writes.
	least, most := int64(n*(4+4+8+4)), int64(n*(4*7)+n*5)
	if more := passes.memory - one.memory; more < least || more > most {
		t.Errorf("%d bytes, then %d: not %d to %d more", one.memory, passes.memory, least, most)
	}
	// Each operator writes what the next one reads.
	if more := apart.memory - passes.memory; more < n/2*4*2 {
		t.Errorf("%d bytes, then %d", passes.memory, apart.memory)
	}
	for how, want := range map[phys.Fuse][]string{phys.FuseMultipass: {"multi-pass: counts, prefix sum, writes"}, phys.FuseOperator: {"operator at a time: counts, prefix sum, writes", "operator at a time: writes in place"}} {
		for _, text := range want {
			if !strings.Contains(got[how].text, text) || strings.Contains(one.text, text) {
				t.Errorf("%s: EXPLAIN says\n%s", how, got[how].text)
			}
		}
	}
	if _, err := ask(s, "set fuse = 'all'"); err == nil || !strings.Contains(err.Error(), "is none of auto, compound, multipass, operator") {
		t.Error(err)
	}
}
