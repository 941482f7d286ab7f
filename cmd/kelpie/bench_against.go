package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie/gen"
)

// One device against another, by turns in one process: what else the machine does meets both. The other runs twice in each round, so that what the same device
// takes longer than itself says which differences mean nothing.

// againstMeasurement is a query's times in ms. Runs are in their order, the first one, for which nothing is there yet, among them; medians are without it.
type againstMeasurement struct {
	Name  string  `json:"name"`
	Here  float64 `json:"ms"`
	Other float64 `json:"other_ms"`
	Ratio float64 `json:"ratio"`
	// Noise is the ratio of the other device's second runs to its first ones.
	Noise float64 `json:"noise"`
	// Slowest is the longest of the runs against the other's median.
	Slowest float64      `json:"slowest_ratio"`
	OnGPU   int          `json:"runs_on_gpu"`
	Runs    []againstRun `json:"runs"`
	Before  []float64    `json:"other_before_ms"`
	After   []float64    `json:"other_after_ms"`
}

type againstRun struct {
	Plan    float64 `json:"plan_ms"`
	Compile float64 `json:"compile_ms"`
	Exec    float64 `json:"exec_ms"`
	Total   float64 `json:"total_ms"`
	GPU     bool    `json:"on_gpu,omitempty"`
	Why     string  `json:"why,omitempty"` // what EXPLAIN said of the device before it
}

// notable is a ratio of medians that is worth to be told.
const notable = 1.05

// measureAgainst prints how long queries take here and on another device.
func (r *runner) measureAgainst(ctx context.Context, here, other string, queries []gen.Query, runs int, out io.Writer) ([]againstMeasurement, error) {
	wide := 7
	for _, q := range queries {
		wide = max(wide, len(q.Name))
	}
	row := func(cells ...any) {
		fmt.Fprintf(out, " %-*v %10v %10v %8v %8v %8v %8v %10v\n", append([]any{wide}, cells...)...)
	}
	row("query", here+" ms", other+" ms", "ratio", "noise", "slowest", "on GPU", "first ms")
	var all []againstMeasurement
	for _, q := range queries {
		m, err := r.against(ctx, here, other, q, runs)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
		row(m.Name, number(m.Here), number(m.Other), number(m.Ratio), number(m.Noise), number(m.Slowest), fmt.Sprintf("%d/%d", m.OnGPU, runs+1), number(m.Runs[0].Total))
	}
	slower, noisy, ratio := 0, 0, 0.0
	for _, m := range all {
		ratio += math.Log(m.Ratio)
		if m.Ratio > notable {
			slower++
		}
		if m.Noise > notable {
			noisy++
		}
	}
	fmt.Fprintf(out, "\n geometric mean of the ratios %.3f; %d of %d took over %.2f times as long as on %s, which itself took so much longer %d times\n",
		math.Exp(ratio/float64(len(all))), slower, len(all), notable, other, noisy)
	return all, nil
}

// against runs a query on both devices by turns.
func (r *runner) against(ctx context.Context, here, other string, q gen.Query, runs int) (m againstMeasurement, err error) {
	m.Name = q.Name
	var times, before, after []time.Duration
	for i := range runs + 1 {
		for turn, device := range []string{other, here, other} {
			if _, err = r.session.Exec(ctx, "set device = '"+device+"'"); err != nil {
				return m, err
			}
			why := ""
			if device == "auto" {
				if why, err = r.choice(ctx, q); err != nil {
					return m, err
				}
			}
			res, err := r.session.Query(ctx, q.SQL)
			if err != nil {
				return m, failed(ctx, err, source{q.Name, q.SQL})
			}
			t := res.Timing()
			_, gpu := res.GPU()
			res.Close()
			list, written := &before, &m.Before
			switch turn {
			case 1:
				if gpu {
					m.OnGPU++
				}
				m.Runs = append(m.Runs, againstRun{ms(t.Parse + t.Plan), ms(t.Compile), ms(t.Execute), ms(t.Total()), gpu, why})
				if i > 0 {
					times = append(times, t.Total())
				}
				continue
			case 2:
				list, written = &after, &m.After
			}
			*written = append(*written, ms(t.Total()))
			if i > 0 {
				*list = append(*list, t.Total())
			}
		}
	}
	over := func(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }
	slowest := slices.Max(times)
	m.Noise = over(median(after), median(before))
	both := median(append(before, after...))
	m.Here, m.Other, m.Ratio, m.Slowest = ms(median(times)), ms(both), over(median(times), both), over(slowest, both)
	return m, nil
}

// choice is what EXPLAIN says of the device that a query would run on.
func (r *runner) choice(ctx context.Context, q gen.Query) (string, error) {
	res, err := r.session.Query(ctx, "explain "+q.SQL)
	if err != nil {
		return "", failed(ctx, err, source{q.Name, q.SQL})
	}
	defer res.Close()
	for res.Next() {
		if _, why, ok := strings.Cut(fmt.Sprint(res.Values()[0]), "device "); ok {
			return why, nil
		}
	}
	return "", res.Err()
}
