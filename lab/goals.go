package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// What Kelpie asks of its own techniques, where no figure of a paper has the same case.
var asked = []Figure{
	{Name: "goals", Paper: "Kelpie", Title: "what is asked of divergence handling and text search, in one run", Devices: onGPUs, run: goals},
}

// goal is a case that is measured in two ways: as decided, and in the way that it is to be better than.
type goal struct {
	name    string
	sql     string
	against way
	asked   float64 // times as fast at least
}

// steps are so many operations on an expression, each of which needs what the one before computed.
func steps(n int, of, with string) string {
	x := of
	for i := range n {
		least, bound := "least", 999983-i
		if i%2 == 1 {
			least, bound = "greatest", -bound
		}
		x = fmt.Sprintf("%s((%s) * %d - %s, %d)", least, x, 3+i%2, with, bound)
	}
	return x
}

// goals measures them all, and tells each as a ratio.
func goals(b *bench, r *Result) error {
	n := b.rows(48_000_000)
	r.Workload = fmt.Sprintf("joins with %d build rows by numbers of matches and operators behind them, against a loop per lane (or balanced); scans of as many rows that a part passes, against a frame without a list (or one row per lane); NOT LIKE over orders of TPC-H, scale factor %g, against the memory", n, b.sf(10))
	r.Table.Columns = []string{"case", "as decided", "against it", "times as fast", "asked"}
	for _, part := range []func(*bench, int) error{unevenMatches, evenMatches, thinRows, longTexts} {
		if err := part(b, n); err != nil {
			return err
		}
	}
	r.Claim = "each case at least as many times as fast as its last column says; for LIKE the columns are the kernels' time, the memory's bound, and the part of the bound that is reached"
	missed := 0
	for _, row := range r.Table.Rows {
		if row.Values[2] < row.Values[3] {
			missed++
		}
	}
	r.Ours = fmt.Sprintf("%d of %d are missed", missed, len(r.Table.Rows))
	c := r.chart("times as fast", 2, 3)
	c.Labels, c.LogY = r.Table.labels(), true
	r.Picture = c.Bars()
	return nil
}

// compare adds a row for each case: what the pipeline that feeds the last one costs.
func (b *bench) compare(list []goal) error {
	for _, g := range list {
		mine, err := b.try(way{}, g.sql)
		if err != nil {
			return err
		}
		other, err := b.try(g.against, g.sql)
		if err != nil {
			return err
		}
		b.r.Table.add(g.name, mine.Main, other.Main, other.Main/mine.Main, g.asked)
	}
	return nil
}

// expanded is a join with so many operators on each match, the build side as it is written.
func expanded(ops int, probe, key, build string) string {
	return fmt.Sprintf("select sum(%s), count(*), sum(p.k) from %s p join %s b on p.%s = b.k", steps(ops/3, "b.v::bigint", "p.f"), probe, build, key)
}

var aLoopPerLane = way{"a loop per lane", "set expand = lane"}

// unevenMatches has a few keys with most of the build rows.
func unevenMatches(b *bench, n int) error {
	keys := n / 12
	err := b.here("drop table if exists z75, z1, probe",
		fmt.Sprintf("create table z75 as select least(floor(%d * power(i / %d::double, 4))::int, %d) k, (i %% 1000003)::int v from generate_series(0, %d) g(i)", keys, n, keys-1, n-1),
		fmt.Sprintf("create table z1 as select least(floor(power(%d::double, i / %d::double))::int, %d) k, (i %% 1000003)::int v from generate_series(0, %d) g(i)", keys, n, keys-1, n-1),
		fmt.Sprintf("create table probe as select i::int k, (i::bigint * 7919 %% %d)::int rnd, (i %% 100)::int f from generate_series(0, %d) g(i)", keys, keys-1))
	if err != nil {
		return err
	}
	if err := b.do(asWritten); err != nil {
		return err
	}
	if err := b.compare([]goal{
		{"zipf 0.75", expanded(0, "probe", "rnd", "z75"), aLoopPerLane, 30},
		{"zipf 0.75, 27 operators", expanded(27, "probe", "rnd", "z75"), aLoopPerLane, 100},
	}); err != nil {
		return err
	}
	for i, ops := range []int{0, 27} {
		heavy, err := b.ask(expanded(ops, "probe", "rnd", "z1"))
		if err != nil {
			return err
		}
		light := b.r.Table.Rows[i]
		b.r.Table.add(fmt.Sprintf("zipf 1 against 0.75, %d operators", ops), heavy.Main, light.Values[0], light.Values[0]/heavy.Main, 1/1.1)
	}
	return b.do("reset disabled_optimizers")
}

// evenMatches has a few matches for a twelfth of the rows, and for all.
func evenMatches(b *bench, n int) error {
	err := b.here("drop table if exists z75, z1, probe",
		fmt.Sprintf("create table b7 as select (k * 12)::int k, (k::bigint * 3 %% 1000003)::int v from generate_series(0, %d) g(k), generate_series(1, 7) h(j) where j <= 1 + k::bigint * 7919 %% 7", n/12-1),
		fmt.Sprintf("create table p7 as select i::int k, (i %% 100)::int f from generate_series(0, %d) g(i)", n-1),
		fmt.Sprintf("create table b8 as select k::int k, (k::bigint * 3 %% 1000003)::int v from generate_series(0, %d) g(k), generate_series(1, 8) h(j) where j <= 1 + k::bigint * 7919 %% 8", n/4-1),
		fmt.Sprintf("create table p8 as select i::int k, (i %% 100)::int f from generate_series(0, %d) g(i)", n/4-1))
	if err != nil {
		return err
	}
	if err := b.do(asWritten); err != nil {
		return err
	}
	var list []goal
	for _, c := range []struct {
		ops   int
		asked float64
	}{{9, 1.8}, {27, 2.2}} {
		name, sql := fmt.Sprintf("1–7 for a 12th, %d operators", c.ops), expanded(c.ops, "p7", "k", "b7")
		list = append(list, goal{name, sql, aLoopPerLane, c.asked}, goal{name + " (balanced)", sql, way{"balanced", "set expand = balanced"}, 0.95})
	}
	for _, ops := range []int{0, 9, 27} {
		list = append(list, goal{fmt.Sprintf("1–8 for all, %d operators", ops), expanded(ops, "p8", "k", "b8"), aLoopPerLane, 0.95})
	}
	if err := b.compare(list); err != nil {
		return err
	}
	return b.do("reset disabled_optimizers")
}

// thinRows has filters, then much to compute or something to look up.
func thinRows(b *bench, n int) error {
	err := b.here("drop table if exists b7, p7, b8, p8",
		fmt.Sprintf("create table f as select (i::bigint * 2654435761 %% 1000)::int a, (i::bigint * 7919 %% 1000003)::int v, (i::bigint * 104729 %% 1000003)::int w, (i::bigint * 48271 %% %d)::int g from generate_series(0, %d) s(i)", n/8, n-1),
		fmt.Sprintf("create table u as select i::int k, (i * 3 %% 1009)::int x from generate_series(0, %d) s(i)", n/8-1))
	if err != nil {
		return err
	}
	much := fmt.Sprintf("select sum(%s), count(*) from f where a < 50", steps(45, "v::bigint", "w"))
	frame := way{"without a list", "set refill = off"}
	list := []goal{
		{"5 %, 450 instructions (frame)", much, frame, 2.5},
		{"5 %, 450 instructions (row)", much, together("one row per lane", "set row_front = off", "set wide_rows = off", "set refill = off"), 8},
	}
	for _, pass := range []int{10, 50, 200, 400, 800} {
		list = append(list, goal{fmt.Sprintf("%d %%, look-up", pass/10), fmt.Sprintf("select sum(v * 2 + x), count(*) from f join u on f.g = u.k where a < %d", pass), frame, 0.95})
	}
	return b.compare(list)
}

// longTexts searches comments for two words, and tells how much of the memory's bandwidth that takes.
func longTexts(b *bench, _ int) error {
	if err := b.here("drop table if exists f, u", fmt.Sprintf("call tpch(sf => %g)", b.sf(10))); err != nil {
		return err
	}
	for _, c := range []struct {
		words string
		asked float64
	}{{"%special%requests%", 0.6}, {"%zzyzx%requests%", 0.8}} {
		sql := fmt.Sprintf("select count(*) from orders where o_comment not like '%s'", c.words)
		s, err := b.ask(sql)
		if err != nil {
			return err
		}
		bound := plot.None // the simulated memory has no speed
		if b.Device == "gpu" {
			bound = s.MemoryBound
		}
		b.r.Table.add("NOT LIKE "+c.words, s.Cost, bound, bound/s.Cost, c.asked)
	}
	if b.Device != "gpu" {
		return nil
	}
	s, err := b.ask(tpch.Queries()[12].SQL)
	if err != nil {
		return err
	}
	b.r.Notes = append(b.r.Notes, fmt.Sprintf("all kernels of Q13 take %s ms", plot.Number(s.Cost)))
	return nil
}
