package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// The tables of the paper about co-processing TPC-H Q1.
var coprocessing = []Figure{
	{Name: "cwi-2", Paper: "CPU+GPU co-processing, Table 2", Title: "flavours of Q1", Devices: onGPUs, run: flavours},
	{Name: "cwi-3", Paper: "CPU+GPU co-processing, Table 3", Title: "Q1 by home of its groups, rows per thread and threads per block", Devices: onGPUs, run: launchShapes},
}

// launchShapes runs Q1 with its groups in all homes, with blocks of several sizes, and as many of them as let a thread have so many rows.
func launchShapes(b *bench, r *Result) error {
	sf := b.sf(10)
	r.Workload = fmt.Sprintf("TPC-H Q1, scale factor %g, by home of the groups and rows per thread (rows), and threads per block (columns)", sf)
	r.Table.Columns = []string{"home, rows per thread"}
	threads, eachs := []int{64, 128, 256, 512, 1024}, []int{64, 256, 1024, 4096}
	if b.Device == "simt" { // which has nothing to wait for
		threads, eachs = []int{64, 256}, []int{64, 1024}
	}
	for _, t := range threads {
		r.Table.Columns = append(r.Table.Columns, fmt.Sprintf("%d threads", t))
	}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
		return err
	}
	sql := tpch.Queries()[0].SQL
	p, err := b.explain(sql)
	if err != nil {
		return err
	}
	rows := int(p.Pipelines[0].Source.Actual)
	free, err := b.ask(sql)
	if err != nil {
		return err
	}
	for _, h := range homes {
		if err := b.in(h); err != nil {
			return err
		}
		for _, each := range eachs {
			var values []float64
			for _, t := range threads {
				blocks := (rows + each*t - 1) / (each * t)
				if err := b.do(fmt.Sprintf("set gpu_blocks = %d", blocks), fmt.Sprintf("set gpu_threads = %d", t)); err != nil {
					return err
				}
				s, err := b.ask(sql)
				if err != nil {
					return err
				}
				values = append(values, s.Cost)
			}
			r.Table.add(fmt.Sprintf("%s, %d", h.name, each), values...)
		}
	}
	least, at := plot.None, ""
	for _, row := range r.Table.Rows {
		if x := best(row.Values); !(x >= least) {
			least, at = x, row.Name
		}
	}
	r.Claim = "tables of threads in shared memory are best, with hundreds of rows per thread: a tenth of what the global table takes, two thirds of registers"
	r.Ours = fmt.Sprintf("what is chosen by itself costs %s; the best of the table %s (%s rows per thread)", plot.Number(free.Cost), plot.Number(least), at)
	c := r.chart(r.Cost, columns(len(threads))...)
	c.Labels = r.Table.labels()
	r.Picture = c.Bars()
	return nil
}

// columns are the first n of a table.
func columns(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}
