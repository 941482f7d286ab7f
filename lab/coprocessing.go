package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// The tables of the paper about co-processing TPC-H Q1.
var coprocessing = []Figure{
	{Name: "cwi-2", Paper: "CPU+GPU co-processing, Table 2", Title: "flavours of Q1", Missing: "needs the switches share (both processors at once, filters computed ahead) and groups (homes of the table)"},
	{Name: "cwi-3", Paper: "CPU+GPU co-processing, Table 3", Title: "Q1 by rows per thread and threads per block", Devices: onGPUs, run: launchShapes},
}

// launchShapes runs Q1 with blocks of several sizes, and as many of them as let a thread have so many rows.
func launchShapes(b *bench, r *Result) error {
	sf := b.sf(10)
	r.Workload = fmt.Sprintf("TPC-H Q1, scale factor %g, by rows per thread (rows) and threads per block (columns)", sf)
	r.Table.Columns = []string{"rows per thread"}
	threads := []int{64, 128, 256, 512, 1024}
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
	for _, each := range []int{64, 256, 1024, 4096} {
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
		r.Table.add(fmt.Sprint(each), values...)
	}
	least := plot.None
	for _, row := range r.Table.Rows {
		least = best(append(row.Values, least))
	}
	r.Claim = "the best shape takes a half to a third of the worst; hundreds of rows per thread, as many threads as registers allow"
	r.Ours = fmt.Sprintf("what is chosen by itself costs %s; the best shape of the table %s", plot.Number(free.Cost), plot.Number(least))
	c := r.chart(r.Cost, 0, 1, 2, 3, 4)
	c.Labels = r.Table.labels()
	r.Picture = c.Bars()
	return nil
}
