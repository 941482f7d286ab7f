package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
)

// ssbMoved and tpchMoved set the cost of each query beside what it moved: over the bus if nothing were on the device, and through
// its memory.
func ssbMoved(b *bench, r *Result) error {
	r.Claim = "one kernel per pipeline takes 9.7 to 78.1% of the time of the bus, for 12 of 13 queries; operator-at-a-time up to 295.5%"
	return b.suiteMoved("ssb", b.sf(10), ssb.Queries())
}

func tpchMoved(b *bench, r *Result) error {
	r.Claim = "5.6 to 268.1% of the time of the bus, below it for 8 of 11 queries, 4 of them modified"
	return b.suiteMoved("tpch", b.sf(10), tpch.Queries())
}

func (b *bench) suiteMoved(name string, sf float64, queries []gen.Query) error {
	r := b.r
	r.Workload = fmt.Sprintf("%s, scale factor %g, columns on the device", name, sf)
	r.Table.Columns = []string{"query", "cost", "bus, ms at least, if nothing is on the device", "memory, ms at least", "MB through memory", "MB on chip", "passes"}
	if err := b.here(fmt.Sprintf("call %s(sf => %g)", name, sf)); err != nil {
		return err
	}
	var shares, passes []float64
	for _, q := range queries {
		s, err := b.ask(q.SQL)
		if err != nil {
			return err
		}
		p, err := b.explain(q.SQL)
		if err != nil {
			return err
		}
		m := p.Summary.Moved
		bus := m.Least / 55.6e9 * 1e3
		r.Table.add(q.Name, s.Cost, bus, m.BoundMS, m.Memory/1e6, m.Chip/1e6, m.Passes)
		shares, passes = append(shares, 100*s.Cost/bus), append(passes, m.Passes)
	}
	r.Ours = fmt.Sprintf("%.2f to %.2f passes over what would cross the bus, all %d queries as they are", best(passes), worst(passes), len(queries))
	if b.Device == "gpu" {
		below := 0
		for _, s := range shares {
			if s < 100 {
				below++
			}
		}
		r.Ours = fmt.Sprintf("%.1f to %.1f%% of the time of the bus, below it for %d of %d queries, none modified; ", best(shares), worst(shares), below, len(queries)) + r.Ours
		r.Notes = append(r.Notes, "what moves through memory is reckoned from counted rows")
		c := r.chart(r.Cost, 0, 1)
		c.Series[0].Bounds = r.Table.column(2)
		c.Note += "; the mark is the bound of the device's memory"
		c.LogY = true
		r.Picture = c.Bars()
		return nil
	}
	r.Picture = r.chart("passes", 5).Bars()
	return nil
}
