package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// streamed runs the star join of SSB q3.1 at growing scale factors, with its columns on the device, and with columns that come over the bus each time: all of them
// before the first kernel, a block before each kernel, or the next block while a kernel is at one. At the largest scale factor, blocks have various sizes.
func streamed(b *bench, r *Result) error {
	r.Workload = "SSB q3.1, by how its columns come to the device (SET feed), and by the size of blocks (SET feed_block)"
	r.Cost = "ms end to end, and MB"
	ways := []string{"resident", "run_to_finish", "kernel_at_a_time", "batch"}
	r.Table.Columns = []string{"scale factor", "resident", "run to finish", "kernel at a time", "batch", "bus, ms at least", "MB over the bus, resident", "batch", "batch, % of the bus"}
	sql := ""
	for _, q := range ssb.Queries() {
		if q.Name == "q3.1" {
			sql = q.SQL
		}
	}
	row := func(name string, ways []string) error {
		got := map[string]sample{}
		for _, way := range ways {
			if err := b.do("set feed = '" + way + "'"); err != nil {
				return err
			}
			s, err := b.ask(sql)
			if err != nil {
				return err
			}
			got[way] = s
		}
		batch := got["batch"]
		values := []float64{plot.None, plot.None, plot.None, plot.None, batch.BusBound, plot.None, float64(batch.Moved.Bus) / 1e6, 100 * batch.BusBound / batch.total()}
		for i, way := range []string{"resident", "run_to_finish", "kernel_at_a_time", "batch"} {
			if s, ok := got[way]; ok {
				values[i] = s.total()
			}
		}
		if s, ok := got["resident"]; ok {
			values[5] = float64(s.Moved.Bus) / 1e6
		}
		r.Table.add(name, values...)
		return nil
	}
	for _, f := range []float64{2.5, 5, 10} {
		sf := b.sf(f)
		if n := len(r.Table.Rows); n > 0 && r.Table.Rows[n-1].Name == fmt.Sprint(sf) { // too small to differ
			continue
		}
		if err := b.here("drop table if exists lineorder, customer, supplier, part, date", fmt.Sprintf("call ssb(sf => %g)", sf)); err != nil {
			return err
		}
		if err := row(fmt.Sprint(sf), ways); err != nil {
			return err
		}
	}
	last := r.Table.Rows[len(r.Table.Rows)-1]
	for _, block := range []string{"512kB", "2MB", "8MB", "32MB"} {
		if err := b.do("set feed_block = '" + block + "'"); err != nil {
			return err
		}
		if err := row(fmt.Sprintf("%s, blocks of %s", last.Name, block), ways[2:]); err != nil {
			return err
		}
	}
	if err := b.do("reset feed_block", "reset feed"); err != nil {
		return err
	}
	v := last.Values
	r.Claim = "time grows linearly with the scale factor, and blocks of 2 MB and more saturate the bus"
	r.Ours = fmt.Sprintf("in batches, %.1f MB cross the bus, %.1f MB when resident; the bus is used to %.0f%%", v[6], v[5], v[7])
	if b.Device == "simt" {
		r.Ours = fmt.Sprintf("in batches, %.2f MB cross the bus, %.2f MB when resident", v[6], v[5])
	}
	r.Notes = []string{"columns that stream come from copies that the host keeps in the device's form since the first run; those that few rows need are read over the bus"}
	r.Picture = r.chart("MB over the bus", 5, 6).Bars()
	if b.Device == "gpu" {
		r.Picture = r.chart("ms", 0, 1, 2, 3, 4).Bars()
	}
	return nil
}
