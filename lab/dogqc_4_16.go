package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/device"
)

// units is how many multiprocessors the device has.
func (b *bench) units() (int, error) {
	if b.Device != "gpu" {
		return device.NewSimulated(device.SimulatedOptions{}).Info().Units, nil
	}
	list, err := device.GPUs()
	if err != nil {
		return 0, err
	}
	return list[0].Units, nil
}

// pushOrRefill applies both techniques to the matches of a join, with 1 to 32 warps on each multiprocessor. With refill, lanes without matches take rows that wait; what
// is left for the end, when no rows wait any more, is the flush: iterations of a single lane.
func pushOrRefill(b *bench, r *Result) error {
	n := b.rows(10_000_000)
	units, err := b.units()
	if err != nil {
		return err
	}
	r.Workload = fmt.Sprintf("pk-zipf-fk of about %d rows, by the number of warps on each of %d multiprocessors", n, units)
	if err := b.keyTables(keyDistributions[3], n); err != nil {
		return err
	}
	list := []way{{"a loop per lane", "set expand = lane"}, together("lane refill", "set expand = lane", "set refill = flush"),
		{"push-down parallelism", "set expand = warp"}, {"balanced", "set expand = balanced"}}
	r.Table.Columns = []string{"warps"}
	for _, w := range list {
		r.Table.Columns = append(r.Table.Columns, w.name)
	}
	for _, w := range list {
		r.Table.Columns = append(r.Table.Columns, w.name+", mean lanes")
	}
	r.Table.Columns = append(r.Table.Columns, "a loop per lane, % of iterations with one lane", "lane refill, likewise")
	if err := b.do(asWritten); err != nil {
		return err
	}
	join := operators(0, expansion)
	for _, warps := range []int{1, 2, 4, 8, 16, 32} {
		if err := b.do(fmt.Sprintf("set gpu_blocks = %d", units), fmt.Sprintf("set gpu_threads = %d", 32*warps)); err != nil {
			return err
		}
		var cost, lanes, single []float64
		for i, w := range list {
			s, err := b.try(w, join)
			if err != nil {
				return err
			}
			p, err := b.seen(w, join)
			if err != nil {
				return err
			}
			j, err := p.behind("probe")
			if err != nil {
				return err
			}
			cost, lanes = append(cost, s.Main), append(lanes, j.Lanes.Mean)
			if i < 2 {
				single = append(single, 100*float64(j.Lanes.Histogram[0])/float64(j.Lanes.Iterations))
			}
		}
		r.Table.add(fmt.Sprint(warps), append(append(cost, lanes...), single...)...)
	}
	naive, refill, push, even := best(r.Table.column(0)), best(r.Table.column(1)), best(r.Table.column(2)), best(r.Table.column(3))
	first, last := r.Table.Rows[0].Values, r.Table.Rows[len(r.Table.Rows)-1].Values
	r.Claim = "with the best number of warps, lane refill is no better than a loop per lane, since the flush grows with them; push-down parallelism is 3.3× faster"
	r.Ours = fmt.Sprintf("with the best number of warps, lane refill takes %s of a loop per lane, push-down parallelism %s, balanced %s; of the iterations with lane refill, %.0f%% have one lane with one warp on a multiprocessor, %.0f%% with 32",
		times(refill/naive), times(push/naive), times(even/naive), first[9], last[9])
	r.Picture = r.chart(r.Cost, 0, 1, 2, 3).Lines()
	return nil
}
