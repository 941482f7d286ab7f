package lab

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// The figures of the thesis about Red Fox and Kernel Weaver.
var redFox = []Figure{
	{Name: "redfox-t4", Paper: "Red Fox, Table 4", Title: "TPC-H at scale factor 1", Devices: []string{"gpu", "cpu", "simt"}, run: power},
	{Name: "redfox-10", Paper: "Red Fox, Figure 10", Title: "operators: how often, and how long", Devices: []string{"gpu", "cpu"}, run: breakdown},
}

var kernelWeaver = []Figure{
	{Name: "weaver-26", Paper: "Kernel Weaver, Figures 26 and 28", Title: "the patterns (a) to (e), fused and not", Devices: onGPUs, run: patterns},
	{Name: "weaver-27", Paper: "Kernel Weaver, Figure 27", Title: "memory that is allocated", Devices: onGPUs, run: memoryTaken},
	{Name: "weaver-29", Paper: "Kernel Weaver, Figure 29", Title: "what the compiler adds", Devices: onGPUs, run: optimized},
	{Name: "weaver-30", Paper: "Kernel Weaver, Figure 30", Title: "two selections by their ratio", Devices: onGPUs, run: ratiosOfSelects},
	{Name: "weaver-t7", Paper: "Kernel Weaver, Table 7", Title: "resources of fused operators", Devices: onGPUs, run: fusedNeeds},
}

// power runs TPC-H and computes its power metric.
func power(b *bench, r *Result) error {
	sf := b.sf(1)
	r.Workload = fmt.Sprintf("TPC-H, scale factor %g, end to end, hot", sf)
	r.Cost = "ms end to end"
	r.Table.Columns = []string{"query", "total", "cost in " + b.unit()}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
		return err
	}
	for _, q := range tpch.Queries() {
		s, err := b.ask(q.SQL)
		if err != nil {
			return err
		}
		r.Table.add(q.Name, s.total(), s.Cost)
	}
	sum := 0.0
	for _, v := range r.Table.column(0) {
		sum += v
	}
	r.Claim = "all 22 queries in 4.49 s (3.96 s without the bus) on a GTX Titan; TPC-H Power@Size 49,061 (67,245 without the bus)"
	r.Ours = fmt.Sprintf("all 22 in %.3f s; TPC-H Power@Size, 3600 × scale factor ÷ geometric mean of seconds: %s", sum/1000, plot.Number(3600*sf/(geomean(r.Table.column(0))/1000)))
	if b.Device == "simt" {
		r.Ours = fmt.Sprintf("all 22 run; %s warp instructions in all; times of a simulation mean nothing", plot.Number(1000*total(r.Table.column(1))))
	}
	if b.Device == "gpu" {
		if err := b.watts(r); err != nil {
			return err
		}
	}
	c := r.chart("ms", 0)
	if b.Device == "simt" {
		c = r.chart(b.unit(), 1)
	}
	c.LogY = true
	r.Picture = c.Bars()
	return nil
}

// metered is how long the 22 queries are repeated while the GPU's meter runs, whose readings are renewed some times a second.
const metered = 3 * time.Second

// watts notes what the GPU takes of power while the queries follow each other without a pause, and of energy for one round of them.
func (b *bench) watts(r *Result) error {
	meter, err := device.Energy()
	if err != nil {
		r.Notes = append(r.Notes, "watts are not known: "+err.Error())
		return nil
	}
	if err := b.do("set gpu_times = off"); err != nil {
		return err
	}
	before, err := meter()
	if err != nil {
		return err
	}
	start, rounds := time.Now(), 0
	for ; time.Since(start) < metered; rounds++ {
		for _, q := range tpch.Queries() {
			if err := b.do(q.SQL); err != nil {
				return err
			}
		}
	}
	took := time.Since(start).Seconds()
	after, err := meter()
	if err != nil {
		return err
	}
	joules := after - before
	r.Notes = append(r.Notes, fmt.Sprintf("the GPU takes %s W while the queries follow each other without a pause: %s J for all 22, %s J for a query (NVML, over %d rounds in %.1f s)",
		plot.Number(joules/took), plot.Number(joules/float64(rounds)), plot.Number(joules/float64(rounds)/22), rounds, took))
	return nil
}

func total(list []float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// breakdown tells which operators the 22 queries have, and what share of the time they take. On the CPU samples tell that of each; on a
// GPU a pipeline is one kernel, and its time goes to its sink.
func breakdown(b *bench, r *Result) error {
	sf := b.sf(1)
	r.Workload = fmt.Sprintf("the 22 queries of TPC-H, scale factor %g", sf)
	r.Cost = "number of operators, % of the time"
	by := "samples, by operator"
	if b.Device != "cpu" {
		by = "kernels, by the sink of their pipeline"
	}
	r.Table.Columns = []string{"operator", "how often", "rows in million", "% of time (" + by + ")"}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
		return err
	}
	often, took, rows := map[string]float64{}, map[string]float64{}, map[string]float64{}
	sum := 0.0
	for _, q := range tpch.Queries() {
		if _, err := b.ask(q.SQL); err != nil { // so that code and columns are there
			return err
		}
		p, err := b.explain(q.SQL)
		if err != nil {
			return err
		}
		for _, l := range p.Pipelines {
			for _, o := range append([]part{l.Source}, l.Operators...) {
				often[o.Kind]++
				rows[o.Kind] += float64(o.Actual) / 1e6
				if b.Device == "cpu" {
					took[o.Kind] += o.MS
					sum += o.MS
				}
			}
			often[l.Sink.Kind]++
			t := l.Stats.Kernel
			if b.Device == "cpu" {
				t = l.Sink.MS + l.Stats.Finish
			}
			took[l.Sink.Kind] += t
			sum += t
		}
	}
	kinds := slices.SortedFunc(maps.Keys(often), func(a, b string) int {
		if often[a] != often[b] {
			return int(often[b] - often[a])
		}
		return len(a) - len(b)
	})
	for _, k := range kinds {
		r.Table.add(k, often[k], rows[k], 100*took[k]/sum)
	}
	most := kinds[0]
	for _, k := range kinds {
		if took[k] > took[most] {
			most = k
		}
	}
	r.Claim = "projection is the most frequent, then joins; 38% of the time goes into sorting for joins, 31% into joins"
	r.Ours = fmt.Sprintf("%s is the most frequent; %.0f%% of the time goes into %s, and none into sorting for joins: they hash", kinds[0], 100*took[most]/sum, most)
	r.Picture = r.chart("", 0, 2).Bars()
	return nil
}
