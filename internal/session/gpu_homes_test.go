package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

var homes = []phys.Home{phys.HomeGlobal, phys.HomeLocal, phys.HomeShared, phys.HomeRegisters, phys.HomeLanes, phys.HomeBlock}

// TestHomes: wherever groups live, the benchmarks are answered as they must be; the queries that group by few values by all of them.
func TestHomes(t *testing.T) {
	always := map[string]bool{"tpch q1": true, "ssb q4.1": true}
	for _, suite := range []string{"tpch", "ssb"} {
		s := load(t, suite, "0.01")
		for i, home := range homes {
			accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
				x.Home = home
				if i%2 == 0 {
					x.Grid, x.Block = 3, 64
				}
			})
			for k, q := range suiteQueries(suite) {
				if k%len(homes) == i || always[suite+" "+q] {
					checkAnswer(t, s, suite, "0.01", q)
				}
			}
		}
	}
}

// homeRows has keys of several sizes, some NULL, and values of all kinds: narrow and wide, of 128 bits in their sums, NULL now and then, floats with NaN and
// infinities.
const homeRows = `create table h as select
	i % 5 as five, case when i % 7 = 0 then null else i % 3 end as nul, i % 16 as k16, i % 17 as k17, i % 32 as k32, i % 33 as k33,
	i * 37 % 1001 - 500 as v, case when i % 4 = 0 then null else i end as x, (i % 11 - 5) * 1000000000000000 as w,
	case when i % 6 = 0 then null when i % 101 = 0 then 'NaN'::double precision when i % 103 = 0 then '-Infinity'::double precision else i * 0.5 end as d,
	case when i % 3 = 0 then null else 'text ' || i end as s, i % 2 = 0 as b
	from generate_series(1, 1500) g(i)`

// homeQueries group rows in all kinds of ways.
var homeQueries = []struct {
	sql string
	not string // homes that cannot be
}{
	{"select five, count(*), sum(v), min(v), max(w) from h group by five", ""},
	{"select nul, count(*), count(x), sum(x), min(x), max(x) from h group by nul", ""},
	{"select nul, five, count(*) filter (where v > 300), sum(v) filter (where v > 499), max(v) filter (where x is null) from h group by nul, five", "registers shared"},
	{"select nul, sum(w::numeric(38,0) * 1000000000000000), min(w) from h group by nul", ""},
	{"select nul, min(d), max(d) from h group by nul", ""},
	{"select five, sum(d) from h where d < 1e300 and d > -1e300 group by five", ""},
	{"select nul, bool_and(b), bool_or(v > 499) from h group by nul", ""},
	{"select distinct nul from h", ""},
	{"select 1, count(*), sum(v) from h where five = 3 group by five", ""},
	{"select five, sum(v), count(*) from h where v > 100000 group by five", ""},
	{"select five, sum(v), count(*) from none group by five", ""},
	{"select k16, min(v), max(v), sum(v) from h group by k16", ""},
	{"select k17, min(v), max(v), sum(v) from h group by k17", "registers"},
	{"select k32, sum(v) from h group by k32", ""},
	{"select k33, sum(v) from h group by k33", "registers lanes"},
	{"select nul, count(distinct v), sum(distinct x) from h group by nul", "?"},
	{"select five, min(s), max(s) from h group by five", "local shared registers lanes block"},
	{"select five, left(any_value(s), 4), count(*) from h where s is not null group by five", "?"},
	{"select v, count(*), sum(x) from h group by v", "local shared registers lanes"},
	{"select a.five, count(*), sum(b.v) from h a join h b on a.v = b.v where a.x < 40 group by a.five", "?"},
	{"select five, sum(v) from h where v between -3 and 3 and x > 3 group by five", ""},
}

// TestHomesEdges: NULL keys, no rows, one group, as many groups as a home takes and more, sums of 128 bits, filters, floats, texts, DISTINCT: as on the CPU. EXPLAIN
// tells where groups live, or why they do not live where they should.
func TestHomesEdges(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, homeRows)
	mustRun(t, s, "create table none as select * from h where false")
	var want []string
	for _, q := range homeQueries {
		want = append(want, rowsText(t, s, q.sql+" order by 1"))
	}
	for i, home := range homes {
		for _, refill := range []phys.Refill{phys.RefillList, phys.RefillFlush} {
			if refill == phys.RefillFlush && (testing.Short() || raced) {
				continue
			}
			accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) { x.Home, x.Refill = home, refill })
			for k, q := range homeQueries {
				if got := rowsText(t, s, q.sql+" order by 1"); got != want[k] {
					t.Errorf("%s, refill %s: %s:\n%s\nwant\n%s", home, refill, q.sql, got, want[k])
				}
			}
		}
		s.Configure(func(x *Settings) { x.Refill = phys.RefillAuto })
		for _, q := range homeQueries {
			if q.not == "?" {
				continue
			}
			text := explainText(t, s, "EXPLAIN (pipelines) "+q.sql)
			refused := strings.Contains(text, fmt.Sprintf("(not %s: ", home))
			if want := strings.Contains(" "+q.not+" ", " "+home.String()+" "); refused != want {
				t.Errorf("%s: %s: refused is %v:\n%s", home, q.sql, refused, text)
			}
		}
		s.Configure(func(x *Settings) { x.Device = "cpu" })
	}
}

// TestHomesCounts counts what homes are about. Rows of Q1's kind change device memory by atomics only where groups live there, or when they are told at the end; blocks change
// their memory by atomics, threads theirs without.
func TestHomesCounts(t *testing.T) {
	s := load(t, "tpch", "0.01")
	const rows = 60175
	sql := "select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), count(*) from lineitem group by 1, 2"
	for _, home := range homes {
		s.Configure(func(x *Settings) {
			x.Device, x.Home, x.Resolve, x.Grid, x.Block = "simt", home, phys.ResolveTuple, 2, 64
		})
		_, st := kernels(t, s, sql)
		n := st.Pipelines[0].Lanes
		if global := n.Atomics >= 3*rows; global != (home == phys.HomeGlobal) || !global && n.Atomics > 2*2*4*10 {
			t.Errorf("%s: %d atomics in device memory", home, n.Atomics)
		}
		if block := n.SharedAtomics >= 3*rows; block != (home == phys.HomeBlock) || !block && n.SharedAtomics > 0 {
			t.Errorf("%s: %d atomics in shared memory", home, n.SharedAtomics)
		}
		if own := n.SharedBytes >= rows*3*16 && n.SharedAtomics == 0; own != (home == phys.HomeShared) {
			t.Errorf("%s: %d bytes of shared memory", home, n.SharedBytes)
		}
		if local := n.LocalBytes >= rows*3*16; local != (home == phys.HomeLocal) || !local && n.LocalBytes > 0 {
			t.Errorf("%s: %d bytes of local memory", home, n.LocalBytes)
		}
	}
}
