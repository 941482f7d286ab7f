package lab

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// streamed runs the star join of SSB q3.1 at growing scale factors, with its columns on the device, and with so little room there that
// they stream over the bus in blocks.
func streamed(b *bench, r *Result) error {
	r.Workload = "SSB q3.1, resident, and streamed with room for a tenth of lineorder's columns"
	r.Cost = "ms end to end, and MB"
	r.Table.Columns = []string{"scale factor", "resident", "streamed", "bus, ms at least", "MB over the bus, resident", "streamed", "streamed, % of the bus"}
	sql := ""
	for _, q := range ssb.Queries() {
		if q.Name == "q3.1" {
			sql = q.SQL
		}
	}
	for _, f := range []float64{2.5, 5, 10} {
		sf := b.sf(f)
		if n := len(r.Table.Rows); n > 0 && r.Table.Rows[n-1].Name == fmt.Sprint(sf) { // too small to differ
			continue
		}
		if err := b.here("drop table if exists lineorder, customer, supplier, part, date", fmt.Sprintf("call ssb(sf => %g)", sf)); err != nil {
			return err
		}
		got := map[string]sample{}
		var columns int64
		for _, way := range []string{"resident", "streamed"} {
			limit := "0"
			if way == "streamed" {
				limit = fmt.Sprint(columns / 10)
			}
			if err := b.do("set gpu_memory_limit = '" + limit + "'"); err != nil {
				return err
			}
			s, err := b.ask(sql)
			if err != nil {
				if way == "streamed" && strings.Contains(err.Error(), "memory") {
					s.Exec = plot.None
				} else {
					return err
				}
			}
			got[way] = s
			columns = s.Moved.Once
		}
		res, str := got["resident"], got["streamed"]
		r.Table.add(fmt.Sprint(sf), res.total(), str.total(), str.BusBound, float64(res.Moved.Bus)/1e6, float64(str.Moved.Bus)/1e6, 100*str.BusBound/str.total())
	}
	last := r.Table.Rows[len(r.Table.Rows)-1].Values
	r.Claim = "time grows linearly with the scale factor, and blocks of 2 MB and more saturate the bus"
	r.Ours = fmt.Sprintf("streamed, %.1f MB cross the bus, %.1f MB when resident; the bus is used to %.0f%%", last[4], last[3], last[5])
	if b.Device == "simt" {
		r.Ours = fmt.Sprintf("streamed, %.2f MB cross the bus, %.2f MB when resident", last[4], last[3])
	}
	r.Notes = []string{"the size of blocks is not a setting yet (switch feed)"}
	r.Picture = r.chart("MB over the bus", 3, 4).Bars()
	if b.Device == "gpu" {
		r.Picture = r.chart("ms", 0, 1, 2).Bars()
	}
	return nil
}
