package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// steppedPatterns are filters by LIKE patterns of several parts, in front of sinks and operators of all kinds.
var steppedPatterns = []string{
	"select count(*), sum(id) from t where a like '%special%requests%'",
	"select id, a from t where a like '%special%requests%' order by id",
	"select id from t where a like 'pre%special%end' order by id",
	"select id from t where a like '%ü%ü%' order by id",
	"select id from t where a like '%special%special%special%' order by id",
	"select id from t where a like '%e%x%special' and b like '%q%x%' and id % 2 = 0 order by id",
	"select k, count(*), max(b), sum(f) from t where a like '%requests%special%' or k = 3 group by k order by k",
	"select k, count(*), max(b), sum(f) from t where a like '%requests%special%' group by k order by k",
	"select t.id, d.v, t.b from t left join d on t.k = d.k where a like '%special%requests%' and f > 10 order by 1, 2",
	"select count(*), sum(d.v) from t join d on t.k = d.k where a like '%special%s%' and d.v % 3 = 1",
	"select count(*) from t where a not like '%special%requests%'",
	"select count(*) from t where a like 'special%requests'",
	"select count(*) from t where a like '%special%re_uests%'",
	"select count(*), sum(id) from t where a like '%special%requests%' and 100 / (id - 7) >= 0 and id <> 7",
	"select count(*) from (select id, a from t where id < 400 union all select id, b from t) u where a like '%special%requests%'",
	"select count(*) from t where upper(a) like '%SPECIAL%REQUESTS%'",
}

// TestGPURefillPatterns: rows that wait between the parts of a pattern are those that the CPU finds.
func TestGPURefillPatterns(t *testing.T) {
	s := patternTable(t, 700)
	for i, sql := range steppedPatterns {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := answerText(s, sql, nil)
		for k, expand := range []phys.Expand{phys.ExpandAuto, phys.ExpandWarp} {
			accelerate(t, s, uint64(i), func(_ *gpu.Store, x *Settings) {
				x.Refill, x.Expand = phys.RefillFlush, expand
				x.Grid, x.Block = []int{0, 1, 3}[(i+k)%3], []int{0, 32, 96, 1024}[i%4]
			})
			onCPU := map[string]int{}
			if got := answerText(s, sql, onCPU); got != want || len(onCPU) > 0 {
				t.Errorf("expand %s: %s\ngot  %.300s\nwant %.300s\n%v", expand, sql, got, want, onCPU)
			}
		}
		told := strings.Contains(explainText(t, s, "explain (analyze, pipelines) "+sql), "also between the parts of a pattern")
		whole := strings.Contains(sql, "not like") || strings.Contains(sql, " or ") || strings.Contains(sql, "re_uests") || strings.Contains(sql, "'special%requests'") || strings.Contains(sql, "upper")
		if told == whole {
			t.Errorf("told: %v: %s", told, sql)
		}
	}
}

// patternTable has texts with any of several words, NULLs and empty ones among them.
func patternTable(t *testing.T, n int) *Session {
	s := New(NewDB())
	mustRun(t, s, "set dictionaries = off")
	mustRun(t, s, "create table d as select g % 40 k, g v from generate_series(1, 100) x(g)")
	words := []string{"special", "requests", "prefix ", " end", "Grüße", "x", "specia", "requestsspecial", strings.Repeat("long ", 20), "special", "q"}
	var rows []string
	for i := range n {
		text := func(seed int) string {
			var out []string
			for j := range seed % 6 {
				out = append(out, words[(seed*31+j*j*7+seed/5)%len(words)])
			}
			if seed%23 == 0 {
				return "null"
			}
			return "'" + strings.Join(out, []string{"", " ", "--"}[seed%3]) + "'"
		}
		rows = append(rows, fmt.Sprintf("(%d, %d, %s, %s, %d.25)", i, i*7%50, text(i*13+1), text(i*29+5), i))
	}
	mustRun(t, s, "create table t (id int, k int, a text, b text, f double)")
	mustRun(t, s, "insert into t values "+strings.Join(rows, ", "))
	return s
}

// TestGPURefillPatternLanes: where rows wait for each other, all lanes look for the second part.
func TestGPURefillPatternLanes(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "set dictionaries = off")
	mustRun(t, s, "create table t as select i, case when i % 16 = 3 then 'some special ' else 'some other ' end || case when i % 5 < 4 then 'requests' else 'wishes' end || i a from generate_series(1, 8192) g(i)")
	mean := map[phys.Refill]float64{}
	for _, refill := range []phys.Refill{phys.RefillOff, phys.RefillFlush} {
		accelerate(t, s, 0, func(_ *gpu.Store, x *Settings) { x.Refill, x.Grid, x.Block = refill, 2, 64 })
		parts := profiled(t, s, "select count(*) from t where a like '%special%requests%'")[0]
		mean[refill] = parts[len(parts)-1].Lanes.Mean
	}
	if off, flush := mean[phys.RefillOff], mean[phys.RefillFlush]; off > 4 || flush < 20 { // of those with the first part, four fifths have the second
		t.Errorf("%.1f lanes without refill, %.1f with it", off, flush)
	}
}

// TestGPUTextLanesPtxas: kernels in which lanes wait inside of a pattern, or compare the text keys of a join together, are assembled without spills, if KELPIE_PTXAS names an assembler, and run.
func TestGPUTextLanesPtxas(t *testing.T) {
	s := patternTable(t, 200)
	mustRun(t, s, "set disabled_optimizers = 'joinorder'")
	for i, sql := range []string{
		"select count(*), max(b) from t where a like '%special%special%requests%'",
		"select count(*), sum(u.k) from t join t u on t.a = u.b and t.k = u.k",
		"select count(*), sum(u.k) from t left join t u on t.a = u.b",
		"select count(*) from t where a like '%s%x%' and not exists (select 1 from t u where u.b = t.a and u.id > t.id)",
	} {
		accelerate(t, s, uint64(i), func(_ *gpu.Store, x *Settings) {
			x.Refill, x.Expand, x.Grid, x.Block = phys.RefillFlush, phys.ExpandWarp, 2, 64
		})
		st := launched(t, s, sql)
		for k := range st.Pipelines {
			assembled(t, sql, 255, &st.Pipelines[k])
		}
	}
}
