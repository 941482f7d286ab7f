package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// listed is n texts with something between.
func listed(n int, between string, text func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, between)
}

// waiting is an expression of doubles, each of which waits until all that come after it are there.
func waiting(n int) string {
	return listed(n, " + (", func(i int) string { return fmt.Sprintf("d%d * d%d", i, (i+1)%n) }) + strings.Repeat(")", n-1)
}

// makeWide makes a table of many columns.
func makeWide(t testing.TB, s *Session) {
	mustRun(t, s, "create table wide as select i as id, "+listed(80, ", ", func(i int) string { return fmt.Sprintf("((i * %d) %% 1009)::double as d%d", 31+i, i) })+
		", nullif(i % 7, 3) as k from generate_series(1, 600) g(i)")
}

// cutsOf are the cuts of a query's pipelines, in words.
func cutsOf(t testing.TB, s *Session, sql string) (out []string) {
	t.Helper()
	set := s.Settings()
	prog, _, err := s.plan(context.Background(), boundQuery(t, s, sql), &set, nil, &Timing{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prog.Pipelines {
		if p.Cut != nil {
			out = append(out, p.Cut.String())
		}
	}
	return out
}

// TestCuts: a pipeline whose kernel would need too many registers is cut where the fewest bytes are kept, and only where that helps; EXPLAIN tells where and why; and
// the answers are those of one kernel.
func TestCuts(t *testing.T) {
	s := New(NewDB())
	makeWide(t, s)
	mustRun(t, s, "create table other as select i % 5 as k, i as y from generate_series(1, 20) g(i)")
	sums := func(n int, of string) string {
		return listed(n, ", ", func(i int) string { return fmt.Sprintf("sum(%s * %d)", of, i) })
	}
	expensive := "(select k, id, " + waiting(24) + " as x from wide where id % 3 = 0) t"
	cases := []struct {
		sql  string
		want string // of the cuts
	}{
		{"select " + sums(24, "x") + " from " + expensive, "cut after the projection, at a block dependence: 144 registers estimated, 128 allowed; 8 bytes × "},
		// Before the join there are as many rows, but they are wider: their key, too.
		{"select " + sums(24, "x + y") + " from " + expensive + " join other on t.k = other.k", "cut after the join with other, at a block dependence: "},
		{"select " + sums(4, "x") + " from " + expensive, ""},                    // within the budget
		{"select " + sums(64, "d1") + " from wide", ""},                          // sums need them wherever they are
		{"select " + waiting(80) + " from wide where id > 3", ""},                // rows of 80 columns need them to be kept
		{"select k, " + sums(3, "x") + " from " + expensive + " group by k", ""}, // within the budget
	}
	want := make([]string, len(cases))
	for i, c := range cases {
		want[i] = sortedLines(answerText(s, c.sql, nil))
	}
	for seed, fuse := range []phys.Fuse{phys.FuseAuto, phys.FuseCompound} {
		accelerate(t, s, uint64(seed), func(g *gpu.Store, x *Settings) { x.Fuse = fuse })
		for i, c := range cases {
			cuts := cutsOf(t, s, c.sql)
			if text := strings.Join(cuts, "; "); len(cuts) > 1 || fuse == phys.FuseCompound && text != "" || fuse == phys.FuseAuto && (!strings.HasPrefix(text, c.want) || c.want == "" && text != "") {
				t.Errorf("fuse = %s: %q, not %q: %.100s", fuse, text, c.want, c.sql)
			}
			onCPU := map[string]int{}
			if got := sortedLines(answerText(s, c.sql, onCPU)); got != want[i] || len(onCPU) > 0 {
				t.Errorf("fuse = %s: %.300s, not %.300s %v: %.100s", fuse, got, want[i], onCPU, c.sql)
			}
		}
	}
	mustRun(t, s, "set fuse = 'auto'")
	for _, how := range []string{"explain (pipelines) ", "explain (analyze, pipelines) "} {
		if text := explainText(t, s, how+cases[0].sql); !strings.Contains(text, cases[0].want+"200 rows") {
			t.Errorf("%s says\n%s", how, text)
		}
	}
	for value, wrong := range map[string]string{"15": "neither auto nor a number of registers from 16 to 255", "256": "neither", "all": "neither", "16": "", "255": "", "auto": ""} {
		if _, err := ask(s, "set fuse_budget = '"+value+"'"); err == nil != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestSharedCuts: a pipeline whose tables of threads and rows that wait leave shared memory for few threads is cut, and where nobody lets it be cut, rows wait at some of the places only. EXPLAIN tells
// why, and the rows are the CPU's.
func TestSharedCuts(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table facts as select i as id, "+listed(30, ", ", func(i int) string { return fmt.Sprintf("((i * %d) %% 1009) as d%d", 31+i, i) })+
		", "+listed(6, ", ", func(i int) string { return fmt.Sprintf("nullif(i * %d %% 7, 3) as k%d", i+3, i) })+", i % 12 as g from generate_series(1, 600) s(i)")
	for i := range 6 {
		mustRun(t, s, fmt.Sprintf("create table o%d as select i as k, i %% 3 as y from generate_series(0, 5) s(i)", i))
	}
	few := "select g, count(*), " + listed(5, ", ", func(i int) string { return fmt.Sprintf("sum(d%d + y)", i) }) + " from facts join o0 on k0 = o0.k where id % 3 = 0 group by g order by g"
	many := "select count(*), " + listed(30, ", ", func(i int) string { return fmt.Sprintf("sum(d%d)", i) }) + ", " + listed(6, ", ", func(i int) string { return fmt.Sprintf("sum(o%d.y)", i) }) + " from facts " +
		listed(6, " ", func(i int) string { return fmt.Sprintf("join o%d on k%d = o%d.k", i, i, i) }) + " where id % 3 = 0"
	for i, c := range []struct {
		sql    string
		refill phys.Refill
		home   phys.Home
		fuse   phys.Fuse
		told   string // "": nothing of shared memory
	}{
		{few, phys.RefillFlush, phys.HomeShared, phys.FuseAuto, " threads, 512 wanted ("},
		{few, phys.RefillFlush, phys.HomeShared, phys.FuseCompound, ""},
		{few, phys.RefillFlush, phys.HomeAuto, phys.FuseAuto, ""},
		{few, phys.RefillOff, phys.HomeShared, phys.FuseAuto, ""},
		{many, phys.RefillFlush, phys.HomeAuto, phys.FuseCompound, "idle lanes take rows that wait, as far as shared memory is for 512 threads"},
		{many, phys.RefillOff, phys.HomeAuto, phys.FuseCompound, ""},
	} {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := answerText(s, c.sql, nil)
		accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
			x.Refill, x.Home, x.Fuse, x.Grid, x.Block = c.refill, c.home, c.fuse, 2, 64
		})
		plan := explainText(t, s, "explain (analyze, pipelines) "+c.sql)
		if told := c.told != "" && strings.Contains(plan, c.told); told != (c.told != "") || c.told == "" && (strings.Contains(plan, "wanted (") || strings.Contains(plan, "as far as shared")) {
			t.Errorf("refill = %s, groups = %s, fuse = %s:\n%s", c.refill, c.home, c.fuse, plan)
		}
		onCPU := map[string]int{}
		if got := answerText(s, c.sql, onCPU); got != want || len(onCPU) > 0 {
			t.Errorf("refill = %s, groups = %s, fuse = %s: %.300s, not %.300s %v", c.refill, c.home, c.fuse, got, want, onCPU)
		}
	}
}

// TestWeaverPatterns: the five patterns run fused, operator by operator, and cut within budgets, with the CPU's rows. Where a budget leaves a pipeline whole, a plan as JSON cuts
// it.
func TestWeaverPatterns(t *testing.T) {
	s := New(NewDB())
	for _, sql := range weaverSetup {
		mustRun(t, s, sql)
	}
	want, cuts := map[string]string{}, map[string]int{}
	for _, p := range weaverPatterns {
		want[p.name] = sortedLines(answerText(s, p.sql, nil))
	}
	ways := []string{"set fuse = 'compound'", "set fuse = 'multipass'", "set fuse = 'operator'"}
	for _, budget := range []int{24, 29, 36} {
		ways = append(ways, fmt.Sprintf("set fuse = 'auto'; set fuse_budget = %d", budget))
	}
	for i, way := range ways {
		accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) { x.Disabled = map[string]bool{"pushdown": true} })
		mustRun(t, s, way)
		for _, p := range weaverPatterns {
			cuts[p.name] += len(cutsOf(t, s, p.sql))
			onCPU := map[string]int{}
			if got := sortedLines(answerText(s, p.sql, onCPU)); got != want[p.name] || len(onCPU) > 0 {
				t.Errorf("%s: %s: %.300s, not %.300s %v", way, p.name, got, want[p.name], onCPU)
			}
		}
	}
	// What small kernels need, their parts need as well.
	if fmt.Sprint(cuts) != "map[arithmetic:0 joins:1 selections and joins:1 selections of one input:0 selections, projection:0]" {
		t.Error(cuts)
	}
	for _, p := range weaverPatterns {
		doc, err := planText(s, p.sql)
		if err != nil {
			t.Fatal(err)
		}
		cut := doc
		for _, op := range []string{"filter", "project", "join"} {
			cut = strings.ReplaceAll(cut, `"op": "`+op+`"`, `"cut": true, "op": "`+op+`"`)
		}
		whole, parts := len(planDecisions(t, s, doc)), len(planDecisions(t, s, cut))
		onCPU := map[string]int{}
		got := sortedLines(answerText(s, "CALL run_plan('"+strings.ReplaceAll(cut, "'", "''")+"')", onCPU))
		if parts <= whole || got != want[p.name] || len(onCPU) > 0 {
			t.Errorf("%s: %d pipelines, then %d: %.300s, not %.300s %v", p.name, whole, parts, got, want[p.name], onCPU)
		}
	}
}

// weaverPatterns are the sequences of operators that Kernel Weaver found to be frequent (its Figure 24), over small tables with NULLs and keys that come several times.
var weaverPatterns = []struct{ name, sql string }{
	{"selections, projection", "select w from (select * from (select * from (select * from weave where k < 90) where v < 80) where u < 70) t where w >= 0"},
	{"joins", "select t.w, a.x, b.x from weave t join weave_a a on t.k = a.k join weave_b b on t.v = b.k"},
	{"selections and joins", "select t.w, a.x, b.x from (select * from weave where k < 50) t join (select * from weave_a where x < 50) a on t.k = a.k join (select * from weave_b where x < 50) b on t.v = b.k"},
	{"selections of one input", "select w from weave where k < 50 union all select w from weave where v < 50"},
	{"arithmetic", "select p * (1 - d) * (1 + t) from (select u * 1.5::double as p, v * 0.0000001::double as d, w * 0.0000001::double as t from weave) x"},
}

var weaverSetup = []string{
	"create table weave as select nullif(i * 79 % 100, 7) as k, i * 103 % 100 as v, i * 129 % 100 as u, i % 100 as w from generate_series(1, 700) g(i)",
	"create table weave_a as select nullif(i % 120, 5) as k, i * 31 % 100 as x from generate_series(1, 150) g(i)",
	"create table weave_b as select i % 90 as k, i * 37 % 100 as x from generate_series(1, 150) g(i)",
}
