package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen/tpch"
)

// tpchBalanced runs TPC-H with what balances lanes, and without.
func tpchBalanced(b *bench, r *Result) error {
	sf := b.sf(10)
	r.Workload = fmt.Sprintf("TPC-H, scale factor %g; naive: each lane walks its own matches, and takes one row at a time", sf)
	r.Table.Columns = []string{"query", "naive", "as decided", "×", "mean lanes of iterations, naive", "as decided"}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
		return err
	}
	naive := []string{"set row_front = off"}
	reset := []string{"reset row_front"}
	if b.has("expand", "lane") {
		naive, reset = append(naive, "set expand = 'lane'"), append(reset, "reset expand")
	}
	better, gain := 0, 0.0
	for _, q := range tpch.Queries() {
		var cost, lanes [2]float64
		for i, set := range [][]string{naive, reset} {
			if err := b.do(set...); err != nil {
				return err
			}
			s, err := b.ask(q.SQL)
			if err != nil {
				return err
			}
			p, err := b.explain(q.SQL)
			if err != nil {
				return err
			}
			cost[i], lanes[i] = s.Cost, p.allLanes()
		}
		f := cost[0] / cost[1]
		if f > 1.05 {
			better++
		}
		gain = max(gain, f)
		r.Table.add(q.Name, cost[0], cost[1], f, lanes[0], lanes[1])
	}
	r.Claim = "balancing takes more than 5% off 10 of 22 queries, 2.0× at most"
	r.Ours = fmt.Sprintf("more than 5%% off %d of 22, %s at most", better, times(gain))
	c := r.chart(r.Cost, 0, 1)
	c.LogY = true
	r.Picture = c.Bars()
	return nil
}
