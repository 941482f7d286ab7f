package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/plot"
)

// groupCounts sweeps the number of groups: with keys that are computed, as in the paper, which are hashed, since nothing is known of
// them; and with the same keys in a column. Of a column few keys are numbers of slots, which blocks keep in their shared memory;
// block_groups off: all rows change one table in global memory (C2, after the lanes of a warp have added up); resolve
// segments: blocks sort rows by key, and tell each run once (C3).
func groupCounts(b *bench, r *Result) error {
	sf := b.sf(10)
	r.Workload = fmt.Sprintf("Query 2: sum(lo_extendedprice) by lo_orderkey %% x; SSB, scale factor %g", sf)
	r.Table.Columns = []string{"groups", "computed keys", "keys in a column, groups in blocks", "keys in a column, groups in global memory", "global against blocks, ×",
		"rows per global atomic, computed", "in blocks", "in global memory", "keys in a column, sorted segments (C3)", "of blocks, ×", "rows per global atomic, segments"}
	if err := b.here(fmt.Sprintf("call ssb(sf => %g)", sf)); err != nil {
		return err
	}
	var at []float64
	for _, x := range []int{2, 16, 128, 1024, 4096, 16384} {
		if err := b.here("drop table if exists keyed", fmt.Sprintf("create table keyed as select lo_extendedprice as p, lo_orderkey %% %d as g from lineorder", x)); err != nil {
			return err
		}
		column := "select sum(p), g from keyed group by g"
		computed := fmt.Sprintf("select sum(lo_extendedprice), lo_orderkey %% %d from lineorder group by 2", x)
		var cost, per []float64
		p, err := b.explain(computed)
		if err != nil {
			return err
		}
		rows := float64(p.Pipelines[0].Source.Actual)
		for _, w := range []struct{ sql, on string }{{computed, "on"}, {column, "on"}, {column, "off"}} {
			if err := b.do("set block_groups = " + w.on); err != nil {
				return err
			}
			s, err := b.ask(w.sql)
			if err != nil {
				return err
			}
			cost = append(cost, s.Cost)
			if b.Device == "simt" {
				per = append(per, rows/s.Atomics)
			} else {
				per = append(per, plot.None)
			}
		}
		c3, err := b.under(model{"segments", "resolve = segments"}, column)
		if err != nil {
			return err
		}
		if err := b.do("reset block_groups"); err != nil {
			return err
		}
		told := plot.None
		if b.Device == "simt" {
			told = rows / c3.Atomics
		}
		values := append(append(cost, cost[2]/cost[1]), per...)
		r.Table.add(fmt.Sprint(x), append(values, c3.Cost, c3.Cost/cost[1], told)...)
		at = append(at, float64(x))
	}
	gain := r.Table.column(3)
	r.Claim = "pre-aggregation takes up to 126× off where few groups are contended, and has little effect on many"
	sorts := r.Table.column(8)
	r.Ours = fmt.Sprintf("tables of blocks cost %s to %s less than the global one; to sort in the block and tell segments, as the paper does, costs %s to %s of them",
		times(best(gain)), times(worst(gain)), times(best(sorts)), times(worst(sorts)))
	c := r.chart(r.Cost, 0, 1, 2, 7)
	c.LogX, c.LogY = true, true
	for i := range c.Series {
		c.Series[i].At = at
	}
	r.Picture = c.Lines()
	return nil
}
