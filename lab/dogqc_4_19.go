package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// coldTPCH runs TPC-H from the text to the last row as DogQC does: all columns cross the bus before the first kernel, and all kernels are compiled. Beside it stand what is hot, and the
// CPU, which is in the place of MonetDB.
func coldTPCH(b *bench, r *Result) error {
	sf := b.sf(25)
	r.Workload = fmt.Sprintf("TPC-H, scale factor %g; cold: columns come over the bus, one after the other, and all code is compiled", sf)
	r.Cost = "ms end to end, and MB"
	r.Table.Columns = []string{"query", "cold", "code compiled before", "hot", "CPU", "MB over the bus, cold", "hot", "ms that the bus needs"}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
		return err
	}
	cold := together("cold", "set feed = run_to_finish", "set gpu_code = new")
	compiled := way{"compiled", "set feed = run_to_finish"}
	faster := 0
	for _, q := range tpch.Queries() {
		took, host, err := b.besideHost(q.SQL, [3]way{cold, compiled, {}}, 2)
		if err != nil {
			return err
		}
		if took[0].total() < host {
			faster++
		}
		mb := func(s sample) float64 { return float64(s.Moved.Bus) / 1e6 }
		r.Table.add(q.Name, took[0].total(), took[1].total(), took[2].total(), host, mb(took[0]), mb(took[2]), took[0].BusBound)
	}
	all, hot, bus, left := r.Table.column(0), r.Table.column(2), total(r.Table.column(4)), total(r.Table.column(5))
	r.Claim = "DogQC takes 1188 to 3705 ms, less than MonetDB for 12 of 22 queries: most goes into transfers and into compiling"
	r.Ours = fmt.Sprintf("cold %.1f to %.1f ms, less than our CPU for %d of 22 queries; hot %.1f to %.1f ms; %s MB cross the bus, %s when hot", best(all), worst(all), faster, best(hot), worst(hot), plot.Number(bus), plot.Number(left))
	c := r.chart("ms", 0, 1, 2, 3)
	if b.Device == "simt" {
		r.Ours = fmt.Sprintf("%s MB cross the bus when cold, %s when hot; times of a simulation mean nothing", plot.Number(bus), plot.Number(left))
		c = r.chart("MB", 4, 5)
	}
	c.LogY = true
	r.Picture = c.Bars()
	return nil
}
