package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// unevenTables have keys of which some are there once, some never, some NULL and one very often, in dense and in sparse numbers and in texts.
func unevenTables(t *testing.T, s *Session) {
	mustRun(t, s, `create table l as select g id, case when g % 11 = 0 then null else g % 40 end k, (g % 40)::bigint * 1000003 far, 'key ' || g % 23 txt,
		g * 0.5::double f, (g * 1000000000000000::decimal(38,0)) * 1000000 big, case when g % 4 = 0 then null else g end maybe from generate_series(1, 430) x(g)`)
	mustRun(t, s, "create table few as select * from l where id <= 75")
	mustRun(t, s, `create table r as select g w, case when g % 13 = 0 then null when g <= 260 then 7 else g % 25 end k,
		(case when g <= 260 then 7 else g % 25 end)::bigint * 1000003 far, 'key ' || case when g <= 260 then 3 else g % 30 end txt,
		case when g % 3 = 0 then null else g end maybe from generate_series(1, 330) x(g)`)
	mustRun(t, s, "create table one as select * from r where w = 300")
	mustRun(t, s, "create table none as select * from r where w < 0")
}

// unevenJoins are joins of all kinds, by keys of all kinds, into sinks of all kinds.
var unevenJoins = []string{
	"select count(*), sum(l.id), sum(r.w), min(l.f), max(l.big), count(l.maybe) from l join r on l.k = r.k",
	"select count(*), sum(l.id * r.w), sum(l.f), sum(l.big) from l join r on l.far = r.far",
	"select count(*), sum(l.id), max(l.txt) from l join r on l.txt = r.txt",
	"select l.id, l.txt, r.w, l.big, l.f, l.maybe from l join r on l.k = r.k and r.w % 5 = l.id % 5 order by 1, 3",
	"select l.k, count(*), sum(r.w), max(l.txt) from l join r on l.far = r.far and r.w > l.id group by l.k order by 1",
	"select l.id, r.w from l left join r on l.k = r.k and r.w % 7 = l.id % 9 order by 1, 2",
	"select l.id, l.f, count(r.w), count(*) from l left join r on l.txt = r.txt and r.w > 250 + l.id group by l.id, l.f order by 1",
	"select count(*), sum(l.id), sum(r.w) from l full join r on l.far = r.far and l.id > r.w",
	"select count(*), sum(l.id), sum(r.w), count(r.maybe) from l right join r on l.k = r.k and l.maybe < r.maybe",
	"select id, k from l where exists (select 1 from r where r.far = l.far and 3 * r.w > l.id) order by 1",
	"select id, txt from l where not exists (select 1 from r where r.txt = l.txt and r.w < l.id) order by 1",
	"select id, f from l where not exists (select 1 from r where r.k = l.k and r.maybe = l.maybe) order by 1",
	"select id, id in (select w from r where r.k = l.k) from l order by 1",
	"select id, maybe in (select maybe from r where r.w > l.id) from l order by 1",
	"select id from l where k not in (select k from r where k is not null) order by 1",
	"select count(*), sum(l.id + r.w) from l, r where l.id < r.w and r.w % 3 = l.k % 3",
	"select l.id, r.w, q.w from l left join r on l.k = r.k and r.w > 255 left join r q on q.k = r.k and q.w % 50 = r.w % 50 order by 1, 2, 3",
	"select a.k, count(*), sum(b.id) from r a join l b on a.k = b.k join l c on c.k = b.k where a.w % 2 = 1 group by a.k order by 1",
	"select l.id, r.w from few l left join r on l.k = r.k and r.w % 7 = l.id % 9 order by 1, 2",
	"select id, txt from few l where not exists (select 1 from r where r.txt = l.txt and r.w < l.id) order by 1",
	"select id, maybe in (select k from r) from l order by 1",
	"select id, k not in (select k from r where k is not null) from l order by 1",
	"select id, far in (select far from r where r.w > l.id) from l order by 1",
	"select id, far, maybe, (maybe, far) in (select w, far from r) from l order by 1",
	"select id, case when id % 5 = 0 then null else far end in (select far from r) from l order by 1",
	"select l.id, o.w from l left join one o on l.k = o.k order by 1",
	"select count(*), count(n.w) from l left join none n on l.k = n.k",
	"select count(*) from l join none n on l.far = n.far",
	"select r.k, sum(l.id) from r join l on r.k = l.k where r.w < 20 or r.w > 300 group by r.k order by 1",
	"select l.id, 100 / (r.w - 260) from l join r on l.k = r.k where r.w < 260 order by 1, 2",
	"select l.id, 100 / (r.w - 259) from l join r on l.k = r.k",
}

// TestGPUExpand: whichever way the lanes of a warp share the matches of their rows, these are the CPU's: for inner, outer, semi and anti joins, few
// and many matches, few numbered at a time, launches of all shapes and sinks that turn out too small.
func TestGPUExpand(t *testing.T) {
	s := New(NewDB())
	unevenTables(t, s)
	const waiting = phys.ExpandBalanced + 1 // each lane its own, and rows that have matches left wait
	for _, how := range []phys.Expand{phys.ExpandAuto, phys.ExpandLane, phys.ExpandGroup, phys.ExpandWarp, phys.ExpandBalanced, waiting} {
		for i, sql := range unevenJoins {
			if testing.Short() && (i+int(how))%3 != 0 {
				continue
			}
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := answerText(s, sql, nil)
			accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
				if x.Expand = how; how == waiting {
					x.Expand, x.Refill = phys.ExpandLane, phys.RefillFlush
				}
				x.Grid, x.Block = []int{0, 1, 3}[i%3], []int{0, 32, 96, 256}[i%4]
				g.Stretch = []int64{0, 1, 3, 40}[(i+int(how))%4]
				if i%5 == 0 {
					g.Room = 3
				}
				if i%3 > 0 || i%2 == 0 { // some rows, most, or none for lack of room
					g.Queue = &phys.Queue{Heavy: []int64{20, 5, 0}[i%3], Piece: 3, Room: []int64{1 << 20, 7, 100}[i%3]}
				}
			})
			onCPU := map[string]int{}
			if got := answerText(s, sql, onCPU); got != want || len(onCPU) > 0 {
				t.Errorf("%d: %s\ngot  %.300s\nwant %.300s\n%v", how, sql, got, want, onCPU)
			}
		}
	}
}

// TestGPUExpandExplained: EXPLAIN names the way, which facts decide if nobody does.
func TestGPUExpandExplained(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table even as select g % 100 k, g v from generate_series(1, 800) x(g)")
	mustRun(t, s, "create table skewed as select case when g <= 400 then 5 else g % 100 end k, g v from generate_series(1, 800) x(g)")
	mustRun(t, s, "create table l as select g % 100 k, g id from generate_series(1, 2000) x(g)")
	for _, c := range []struct{ set, table, want string }{
		{"auto", "even", "probes dense buckets;"},
		{"auto", "skewed", "probes dense buckets (balanced)"},
		{"lane", "skewed", "probes dense buckets;"},
		{"group", "even", "probes dense buckets (group)"},
		{"warp", "even", "probes dense buckets (warp)"},
		{"balanced", "even", "probes dense buckets (balanced)"},
	} {
		accelerate(t, s, 1, nil)
		mustRun(t, s, "set expand = '"+c.set+"'")
		got := answerText(s, "explain analyze select count(*), sum(r.v * l.id) from l join "+c.table+" r on l.k = r.k", nil)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: no %q in\n%s", c.set, c.table, c.want, got)
		}
	}
	mustRun(t, s, "set expand = 'lane'; set refill = 'flush'")
	if got, want := answerText(s, "explain analyze select sum(r.v * l.id) from l join even r on l.k = r.k", nil), "idle lanes take rows that wait, also those that have matches left"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	mustRun(t, s, "set expand = 'balanced'; reset refill")
	if _, err := ask(s, "set expand = 'all'"); err == nil || !strings.Contains(err.Error(), "is none of auto, lane, group, warp, balanced") {
		t.Error(err)
	}
	if got := answerText(s, "show expand", nil); got != "balanced|\n" {
		t.Error(got)
	}
}

// TestGPUExpandLanes: how many lanes are active behind a join can be worked out. Of 32 rows in a warp, lane 5 has 64 matches, lane 6 has two, lane
// 31 none and each other one; then a warp of four rows has one match each.
func TestGPUExpandLanes(t *testing.T) {
	s, _, _ := onGPU(t, 0, device.SimulatedOptions{})
	mustRun(t, s, "create table p as select i k from generate_series(0, 35) g(i)")
	mustRun(t, s, "create table b as select i k from generate_series(0, 34) g(i) where i <> 31")
	mustRun(t, s, "insert into b select 5 from generate_series(1, 63) g(i)")
	mustRun(t, s, "insert into b values (6), (35)")
	mustRun(t, s, "create table nulls as select * from p union all select null from generate_series(1, 200) g(i)") // so that b is the build side
	mustRun(t, s, "set semijoin_filters = off")                                                                    // lane 31 shall come to the join
	inner := "select count(*) from b, nulls n where n.k = b.k"
	outer := "select count(*) from p left join b on p.k = b.k"
	for _, c := range []struct{ how, inner, outer string }{
		{"lane", "1×31 1×4 1×2 62×1", "1×32 1×4 1×2 62×1"},
		{"group", "1×11 7×8 1×5 5×4 1×3 4×1", "1×11 7×8 1×5 6×4 4×1"},
		{"warp", "2×32 1×2 33×1", "2×32 1×2 34×1"},
		{"balanced", "2×32 1×31 1×4", "2×32 1×31 1×4 1×1"},
	} {
		mustRun(t, s, "set expand = '"+c.how+"'")
		for sql, want := range map[string]string{inner: c.inner, outer: c.outer} {
			for _, p := range profiled(t, s, sql) {
				if last := p[len(p)-1]; last.Kind == "probe" {
					if got := bins(last.Lanes); got != want {
						t.Errorf("%s: %s\n%s, want %s", c.how, sql, got, want)
					}
				}
			}
		}
	}
}

// TestGPURefillMatches: one warp takes the rows of TestGPUExpandLanes. The 31 with matches wait for the next 32, of which four have one: all lanes have a match then. Left are
// the three that had to wait, the row with 63 matches more and that with one more; they wait until the source has no rows, and then the long one is alone.
func TestGPURefillMatches(t *testing.T) {
	s, _, _ := onGPU(t, 0, device.SimulatedOptions{})
	mustRun(t, s, "create table p as select i k from generate_series(0, 35) g(i)")
	mustRun(t, s, "create table b as select i k from generate_series(0, 34) g(i) where i <> 31")
	mustRun(t, s, "insert into b select 5 from generate_series(1, 63) g(i)")
	mustRun(t, s, "insert into b values (6), (35)")
	mustRun(t, s, "create table nulls as select * from p union all select null from generate_series(1, 200) g(i)")
	mustRun(t, s, "set semijoin_filters = off; set expand = 'lane'; set refill = 'flush'; set gpu_blocks = 1; set gpu_threads = 32")
	for _, p := range profiled(t, s, "select count(*) from b, nulls n where n.k = b.k") {
		if last := p[len(p)-1]; last.Kind == "probe" {
			if got := bins(last.Lanes); got != "1×32 1×5 62×1" {
				t.Error(got)
			}
		}
	}
}

// TestGPUQueueCounts: rows that go through the queue are counted once, before the join and behind it.
func TestGPUQueueCounts(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table p as select i k from generate_series(0, 499) g(i)")
	mustRun(t, s, "create table b as select i % 10 k from generate_series(0, 399) g(i)")
	for _, room := range []int64{0, 3, 1000} {
		accelerate(t, s, 1, func(g *gpu.Store, x *Settings) {
			x.Expand, g.Queue = phys.ExpandBalanced, &phys.Queue{Heavy: 39, Piece: 7, Room: room}
		})
		for _, p := range profiled(t, s, "select count(*) from p, b where p.k = b.k and p.k <> 3") {
			if last := p[len(p)-1]; last.Kind == "probe" {
				if got := fmt.Sprint(p[0].Lanes.Tuples, *p[0].Actual, last.Lanes.Tuples, *last.Actual); got != "499 499 360 360" {
					t.Errorf("room for %d: %s", room, got)
				}
			}
		}
	}
}

// TestGPUSwitches: all queries of the benchmarks have the CPU's rows with every value of the switches that change how warps run, and
// where the CPU tests the filters of columns that stream. Without time, each query has one value, drawn by a fixed seed.
func TestGPUSwitches(t *testing.T) {
	type way struct {
		expand phys.Expand
		refill phys.Refill
	}
	ways := []way{{phys.ExpandLane, phys.RefillOff}, {phys.ExpandGroup, phys.RefillList}, {phys.ExpandWarp, phys.RefillFlush}, {phys.ExpandAuto, phys.RefillFlush}, {phys.ExpandBalanced, phys.RefillList}}
	draw := rand.New(rand.NewPCG(12, 5))
	for _, suite := range []string{"tpch", "ssb"} {
		s := load(t, suite, "0.01")
		for _, q := range thin(suiteQueries(suite)) {
			drawn := draw.IntN(len(ways))
			if testing.Short() && draw.IntN(3) > 0 {
				continue
			}
			for i, how := range ways {
				if testing.Short() && i != drawn {
					continue
				}
				t.Run(fmt.Sprintf("%s %s expand=%s refill=%s", suite, q, how.expand, how.refill), func(t *testing.T) {
					accelerate(t, s, uint64(i), func(_ *gpu.Store, x *Settings) {
						if x.Expand, x.Refill = how.expand, how.refill; how.expand == phys.ExpandAuto {
							x.Feed, x.FeedBlock, x.Prefilter = phys.FeedBatch, 1<<20, phys.PrefilterOn
						}
					})
					checkAnswer(t, s, suite, "0.01", q)
					onDevice(t, s, suite, q)
				})
			}
		}
	}
}

// refilled are scans of which few rows pass, in front of sinks and joins of all kinds.
var refilled = []string{
	"select count(*), sum(id), min(txt), max(f) from t where a < 5",
	"select id, txt, f from t where a = 3 and b < 50 order by id",
	"select b, count(*), sum(f), max(txt) from t where a between 10 and 14 group by b order by b",
	"select id % 5, count(*) from t where a < 20 group by 1 order by 1",
	"select count(*), sum(t.id), sum(d.v) from t join d on t.b = d.k where a < 7",
	"select t.id, d.v from t left join d on t.b = d.k and d.v > t.id where a < 2 order by 1, 2",
	"select id from t where a < 30 and exists (select 1 from d where d.k = t.b and d.v < t.id) order by 1",
	"select id, 100 / (b - 7) from t where a < 4 order by id",
	"select count(*) from t where a < 0",
	"select count(*), sum(id) from t where a >= 0",
	"select count(*), sum(id * 2 + b) from t where a < 25 and txt like '%7%'",
}

// TestGPURefill: rows that wait in a list for each other are those that the CPU finds, in tables of any length and launches of any shape.
func TestGPURefill(t *testing.T) {
	for n, size := range []int{0, 1, 31, 32, 33, 255, 256, 257, 1000, 5003} {
		if testing.Short() && n%3 != 1 {
			continue
		}
		s := New(NewDB())
		mustRun(t, s, fmt.Sprintf(`create table t as select g id, (g * 7919 %% 101)::int a, (g * 31 %% 97)::int b, g * 0.25::double f, 'text ' || g %% 41 txt
			from generate_series(1, %d) x(g)`, size))
		mustRun(t, s, "create table d as select g % 40 k, g v from generate_series(1, 100) x(g)")
		for i, sql := range refilled {
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := answerText(s, sql, nil)
			for _, how := range []phys.Refill{phys.RefillAuto, phys.RefillOff, phys.RefillFlush, phys.RefillList} {
				accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
					x.Refill, x.Expand = how, phys.Expand((i+n)%5)
					x.Grid, x.Block = []int{0, 1, 3, 2}[(i+n)%4], []int{0, 32, 96, 1024}[i%4]
					if i%5 == 0 {
						g.Room = 3
					}
				})
				onCPU := map[string]int{}
				if got := answerText(s, sql, onCPU); got != want || len(onCPU) > 0 {
					t.Errorf("%s, %d rows: %s\ngot  %.300s\nwant %.300s\n%v", how, size, sql, got, want, onCPU)
				}
			}
		}
	}
}

// TestGPURefillLanes: behind the front, all lanes have a row but in the last round of a warp, whatever rows pass.
func TestGPURefillLanes(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select i, (case when i < 512 then i % 10 else 0 end)::int a from generate_series(0, 1023) g(i)")
	for _, c := range []struct{ how, want string }{
		// One warp takes 256 rows at a time, eight for each lane. Every tenth row passes, then every.
		{"off", "16×32 2×26"},
		{"list", "17×32 1×20"},
	} {
		accelerate(t, s, 1, func(_ *gpu.Store, x *Settings) { x.Grid, x.Block = 1, 32 })
		mustRun(t, s, "set refill = '"+c.how+"'")
		if got := bins(profiled(t, s, "select sum(i) from t where a < 1")[0][0].Lanes); got != c.want {
			t.Errorf("%s: %s, want %s", c.how, got, c.want)
		}
	}
	// Taken one by one, three or four of 32 rows pass, then all. Those that wait come to the join together, the last when there are no others.
	mustRun(t, s, "create table u as select i k from generate_series(0, 1023) g(i)")
	mustRun(t, s, "set refill = 'flush'")
	for _, p := range profiled(t, s, "select count(u.k + t.i) from t left join u on t.i = u.k where a < 1 and t.i >= 0") {
		if last := p[len(p)-1]; last.Kind == "probe" {
			if got := bins(p[0].Lanes) + ", " + bins(last.Lanes); got != "16×32 4×4 12×3, 17×32 1×20" {
				t.Error(got)
			}
		}
	}
}
