package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// home is where the groups of Q1 live, and how lanes come together on the way there.
type home struct{ name, groups, resolve string }

// homes are the placements of the paper, in its order, and one that is younger: tables of blocks.
var homes = []home{
	{"global", "global", "tuple"}, {"global, lanes add up first", "global", "warp"}, {"local_mem", "local", "auto"},
	{"shared_mem_per_thread", "shared", "auto"}, {"in_registers", "registers", "auto"}, {"in_registers_per_thread", "lanes", "auto"},
	{"tables of blocks", "block", "auto"},
}

// in settles where groups live.
func (b *bench) in(h home) error {
	return b.do("set groups = '"+h.groups+"'", "set resolve = '"+h.resolve+"'")
}

// flavours runs Q1 with its groups in all homes: with columns on the GPU, and where there is a real one also from the host, alone and beside the CPU.
func flavours(b *bench, r *Result) error {
	sf := b.sf(10)
	r.Workload = fmt.Sprintf("TPC-H Q1, scale factor %g, by where its groups live (SET groups): columns resident; streamed (SET feed = 'batch'); streamed and shared with the CPU (SET share)", sf)
	r.Table.Columns = []string{"home", "resident", "of the best, ×", "atomics in device memory per row", "in shared memory", "bytes of shared memory per row", "of local memory",
		"streamed, ms end to end", "with the CPU"}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
		return err
	}
	sql := tpch.Queries()[0].SQL
	p, err := b.explain(sql)
	if err != nil {
		return err
	}
	rows := float64(p.Pipelines[0].Source.Actual)
	for _, h := range homes {
		if err := b.in(h); err != nil {
			return err
		}
		s, err := b.ask(sql)
		if err != nil {
			return err
		}
		values := []float64{s.Cost, 0, plot.None, plot.None, plot.None, plot.None, plot.None, plot.None}
		if b.Device == "simt" {
			copy(values[2:], []float64{s.Atomics / rows, s.SharedAtomics / rows, s.Shared / rows, s.Local / rows})
		} else {
			for i, share := range []string{"off", "on"} {
				if err := b.do("set feed = 'batch'", "set share = '"+share+"'"); err != nil {
					return err
				}
				if values[6+i], err = b.timed(sql, 20); err != nil {
					return err
				}
			}
			if err := b.do("reset feed", "reset share"); err != nil {
				return err
			}
		}
		r.Table.add(h.name, values...)
	}
	least := best(r.Table.column(0))
	for i := range r.Table.Rows {
		r.Table.Rows[i].Values[1] = r.Table.Rows[i].Values[0] / least
	}
	r.Claim = "all homes but the global table are bound by the bus; the CPU beside the GPU takes 30% off; filters computed ahead bring nothing"
	gain := r.Table.column(1)
	r.Ours = fmt.Sprintf("one global table costs %s of the best home, tables of threads in shared memory %s, in local memory %s, in registers %s, of lanes %s, of blocks %s",
		times(gain[0]), times(gain[3]), times(gain[2]), times(gain[4]), times(gain[5]), times(gain[6]))
	if b.Device == "simt" {
		r.Notes = []string{"warp instructions know nothing of waiting: what atomics cost is in their number"}
	}
	c := r.chart(r.Cost, 0)
	c.Labels = r.Table.labels()
	r.Picture = c.Bars()
	return nil
}
