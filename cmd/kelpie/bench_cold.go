package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/gen"
)

// How long a query waits for the driver: the first time that anybody asks it, in a process that finds the code on disk, and again. The
// columns are on the device in all three.

// coldMeasurement is a query's times in ms, medians. Ready is when the last kernel that the query needed was loaded, from its beginning on, Wait how
// long it waited for kernels; hot queries wait for none.
type coldMeasurement struct {
	Name     string     `json:"name"`
	Kernels  int        `json:"kernels"`
	Foreseen int        `json:"foreseen"`
	New      coldTiming `json:"new"`
	Stored   coldTiming `json:"stored"`
	Hot      coldTiming `json:"hot"`
	CPU      string     `json:"on_cpu,omitempty"`
}

type coldTiming struct {
	Ready float64 `json:"ready_ms"`
	Wait  float64 `json:"wait_ms"`
	Total float64 `json:"total_ms"`
}

// measureCold prints how long kernels take to be there.
func (r *runner) measureCold(ctx context.Context, queries []gen.Query, runs int, out io.Writer) ([]coldMeasurement, error) {
	if os.Getenv("CUDA_CACHE_DISABLE") != "1" {
		fmt.Fprint(out, "the driver may know kernels from earlier: CUDA_CACHE_DISABLE=1 in the environment lets it forget them\n\n")
	}
	row := func(name string, cells ...any) {
		fmt.Fprintf(out, " %-14s %8v %8v %11v %9v %11v %9v %9v\n", append([]any{name}, cells...)...)
	}
	row("", "", "", "new", "", "stored", "", "kept")
	row("query", "kernels", "foreseen", "ready ms", "total", "ready ms", "total", "total")
	var all []coldMeasurement
	for _, q := range queries {
		m := coldMeasurement{Name: q.Name}
		if _, _, err := r.coldRuns(ctx, q, "kept", 1); err != nil { // columns
			return nil, err
		}
		for _, from := range []struct {
			name string
			to   *coldTiming
		}{{"new", &m.New}, {"stored", &m.Stored}, {"kept", &m.Hot}} {
			if from.name == "stored" { // which is what a process leaves that had time to optimize its kernels
				if err := r.optimize(ctx, q); err != nil {
					return nil, err
				}
			}
			t, last, err := r.coldRuns(ctx, q, from.name, runs)
			if err != nil {
				return nil, err
			}
			*from.to = t
			if from.name == "new" {
				m.Kernels, m.Foreseen = last.Kernels, last.Foreseen
			}
		}
		row(q.Name, m.Kernels, m.Foreseen, number(m.New.Ready), number(m.New.Total), number(m.Stored.Ready), number(m.Stored.Total), number(m.Hot.Total))
		all = append(all, m)
	}
	of := func(part func(m *coldMeasurement) float64) (mid, worst float64) {
		var list []float64
		for i := range all {
			list = append(list, part(&all[i]))
		}
		slices.Sort(list)
		return list[len(list)/2], list[len(list)-1]
	}
	mid, worst := of(func(m *coldMeasurement) float64 { return m.New.Ready })
	midStored, worstStored := of(func(m *coldMeasurement) float64 { return m.Stored.Ready })
	row("median", "", "", number(mid), "", number(midStored), "", "")
	row("worst", "", "", number(worst), "", number(worstStored), "", "")
	return all, nil
}

// optimize lets the driver optimize all kernels of a query.
func (r *runner) optimize(ctx context.Context, q gen.Query) error {
	if _, err := r.session.Exec(ctx, "set quick_kernels = off"); err != nil {
		return err
	}
	if _, _, err := r.coldRuns(ctx, q, "kept", 1); err != nil {
		return err
	}
	_, err := r.session.Exec(ctx, "set quick_kernels = on")
	return err
}

// coldRuns runs a query with code that comes from there.
func (r *runner) coldRuns(ctx context.Context, q gen.Query, from string, runs int) (t coldTiming, last kelpie.GPUUse, err error) {
	if _, err = r.session.Exec(ctx, "set gpu_code = '"+from+"'"); err != nil {
		return t, last, err
	}
	var ready, wait, total []time.Duration
	r.progress.prefix = q.Name
	err = r.progress.during(func() error {
		for range runs {
			res, err := r.session.Query(ctx, q.SQL)
			if err != nil {
				return failed(ctx, err, source{q.Name, q.SQL})
			}
			last, _ = res.GPU()
			ready, wait, total = append(ready, last.Ready), append(wait, last.Wait), append(total, res.Timing().Total())
			res.Close()
		}
		return nil
	})
	if err != nil {
		return t, last, err
	}
	return coldTiming{ms(median(ready)), ms(median(wait)), ms(median(total))}, last, nil
}
