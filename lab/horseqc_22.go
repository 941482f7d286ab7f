package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// endToEnd runs TPC-H in the ways of the systems that the paper compares: HorseQC keeps nothing on the device, and pipelines are one kernel; CoGaDB keeps columns there and
// runs operator by operator; MonetDB runs on the CPU, which is our own here.
func endToEnd(b *bench, r *Result) error {
	sf := b.sf(10)
	r.Workload = fmt.Sprintf("TPC-H, scale factor %g, end to end", sf)
	r.Cost = "ms end to end, and MB"
	r.Table.Columns = []string{"query", "HorseQC's way: one kernel, columns stream", "CoGaDB's: operator at a time, columns there", "CPU", "one kernel, columns there",
		"MB over the bus, HorseQC's way", "CoGaDB's", "MB through memory, one kernel", "CoGaDB's"}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
		return err
	}
	for _, q := range tpch.Queries() {
		took, host, err := b.besideHost(q.SQL, [3]way{{"", "set feed = batch"}, {"", "set fuse = operator"}, {}}, 1)
		if err != nil {
			return err
		}
		streamed, apart := took[0], took[1]
		r.Table.add(q.Name, streamed.total(), apart.total(), host, took[2].total(), float64(streamed.Moved.Bus)/1e6, float64(apart.Moved.Bus)/1e6,
			float64(took[2].Moved.Memory)/1e6, float64(apart.Moved.Memory)/1e6)
	}
	r.Claim = "up to 5.8× faster than CoGaDB although nothing is kept, and up to 26.9× faster than MonetDB; Q6 is bound by the bus, and MonetDB wins Q19"
	operators, host := ratios(r.Table.column(1), r.Table.column(0)), ratios(r.Table.column(2), r.Table.column(0))
	through := ratios(r.Table.column(7), r.Table.column(6))
	r.Ours = fmt.Sprintf("streaming, %s to %s faster than operator at a time with all columns there, %s to %s faster than the CPU", times(best(operators)), times(worst(operators)), times(best(host)), times(worst(host)))
	c := r.chart("ms", 0, 1, 2, 3)
	if b.Device == "simt" {
		r.Ours = fmt.Sprintf("operator at a time moves %s to %s as much through memory, %s on average, and %s MB over the bus instead of %s; times of a simulation mean nothing",
			times(best(through)), times(worst(through)), times(geomean(through)), plot.Number(total(r.Table.column(5))), plot.Number(total(r.Table.column(4))))
		c = r.chart("MB through memory", 6, 7)
	}
	c.LogY = true
	r.Picture = c.Bars()
	return nil
}
