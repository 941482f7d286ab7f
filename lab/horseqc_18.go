package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/plot"
)

// groupCounts sweeps the number of groups: with keys that are computed, as in the paper, which are hashed, since nothing is known of
// them; and with the same keys in a column. Of a column few keys are numbers of slots, which blocks keep in their shared memory;
// block_groups off: all rows change one table in global memory.
func groupCounts(b *bench, r *Result) error {
	sf := b.sf(10)
	r.Workload = fmt.Sprintf("Query 2: sum(lo_extendedprice) by lo_orderkey %% x; SSB, scale factor %g", sf)
	r.Table.Columns = []string{"groups", "computed keys", "keys in a column, groups in blocks", "keys in a column, groups in global memory", "global against blocks, ×",
		"rows per global atomic, computed", "in blocks", "in global memory"}
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
		r.Table.add(fmt.Sprint(x), append(append(cost, cost[2]/cost[1]), per...)...)
		at = append(at, float64(x))
	}
	gain := r.Table.column(3)
	r.Claim = "pre-aggregation takes up to 126× off where few groups are contended, and has little effect on many"
	r.Ours = fmt.Sprintf("tables of blocks cost %s to %s less than the global one", times(best(gain)), times(worst(gain)))
	r.Notes = []string{"the sort in the block with segments (C3), and other homes of groups, need another value of the switch resolve, and a switch for the homes of groups, which do not exist yet"}
	c := r.chart(r.Cost, 0, 1, 2)
	c.LogX, c.LogY = true, true
	for i := range c.Series {
		c.Series[i].At = at
	}
	r.Picture = c.Lines()
	return nil
}
