package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen/tpch"
)

// registerAllocation compares code that keeps values in registers with code that keeps each in memory. Instructions are counted by the
// code itself, in a run of its own.
func registerAllocation(b *bench, r *Result) error {
	sf := b.sf(1)
	r.Workload = fmt.Sprintf("the eight queries of Figure 2.16, and TPC-H at scale factor %g, one thread, without vector instructions, so that rows pass one by one, as in the paper", sf)
	r.Cost = "million instructions, ms"
	r.Table.Columns = []string{"query", "instructions, spilled", "instructions", "fewer, ×", "ms, spilled", "ms", "faster, ×"}
	queries, err := b.paperQueries()
	if err != nil {
		return err
	}
	if err := b.do(fmt.Sprintf("call tpch(sf => %g)", sf), "set threads = 1", "set simd = off"); err != nil {
		return err
	}
	for _, q := range tpch.Queries() {
		queries = append(queries, paperQuery{q.Name, q.SQL})
	}
	for _, q := range queries {
		var count, took [2]float64
		for i, on := range []string{"off", "on"} {
			if err := b.do("set register_allocation = "+on, "set count_instructions = on"); err != nil {
				return err
			}
			s, err := b.once(q.sql)
			if err != nil {
				return err
			}
			count[i] = float64(s.Tally.Instructions) / 1e6
			if err := b.do("set count_instructions = off"); err != nil {
				return err
			}
			if s, err = b.ask(q.sql); err != nil {
				return err
			}
			took[i] = s.Exec
		}
		r.Table.add(q.name, count[0], count[1], count[0]/count[1], took[0], took[1], took[0]/took[1])
	}
	fewer, faster := r.Table.column(2), r.Table.column(5)
	r.Claim = "1.2 to 1.8× fewer instructions, with one exception, and 1.02 to 1.35× faster"
	r.Ours = fmt.Sprintf("%s to %s fewer instructions, %s to %s as fast", times(best(fewer)), times(worst(fewer)), times(best(faster)), times(worst(faster)))
	c := r.chart("million instructions", 0, 1)
	c.LogY = true
	r.Picture = c.Bars()
	return nil
}
