package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/gen"
)

// measurement is a query's times. The JSON of bench is a list of these.
type measurement struct {
	Name    string  `json:"name"`
	Parse   float64 `json:"parse_ms"`
	Plan    float64 `json:"plan_ms"`
	Compile float64 `json:"compile_ms"`
	Exec    float64 `json:"exec_ms"`
	Total   float64 `json:"total_ms"`
	Rows    int64   `json:"rows"`
	// On a GPU.
	GPU *gpuMeasurement `json:"gpu,omitempty"`
	// CPU is why a query that was meant for a GPU ran on the CPU.
	CPU string `json:"on_cpu,omitempty"`
}

// measure runs a query warmup+runs times and takes the median of the last runs of them, of each
// part of the time by itself.
func (r *runner) measure(ctx context.Context, q gen.Query, warmup, runs int) (measurement, error) {
	var took []kelpie.Timing
	m := measurement{Name: q.Name}
	r.progress.prefix = q.Name
	for i := range warmup + runs {
		err := r.progress.during(func() error {
			res, err := r.session.Query(ctx, q.SQL)
			if err != nil {
				return err
			}
			defer res.Close()
			m.Rows = res.Len()
			m.CPU = strings.Join(res.Notices(), "; ")
			if i >= warmup {
				took = append(took, res.Timing())
			}
			return nil
		})
		if err != nil {
			return m, failed(ctx, err, source{q.Name, q.SQL})
		}
	}
	of := func(part func(kelpie.Timing) time.Duration) float64 {
		list := make([]time.Duration, len(took))
		for i, t := range took {
			list[i] = part(t)
		}
		return ms(median(list))
	}
	m.Parse = of(func(t kelpie.Timing) time.Duration { return t.Parse })
	m.Plan = of(func(t kelpie.Timing) time.Duration { return t.Plan })
	m.Compile = of(func(t kelpie.Timing) time.Duration { return t.Compile })
	m.Exec = of(func(t kelpie.Timing) time.Duration { return t.Execute })
	m.Total = of(kelpie.Timing.Total)
	return m, nil
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// geomean is the geometric mean of the total times: every query counts alike, however long it is.
func geomean(list []measurement) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, m := range list {
		sum += math.Log(max(m.Total, 1e-6))
	}
	return math.Exp(sum / float64(len(list)))
}

// gpuMeasurement is what a query does on a GPU when it comes again: times by the device's clock, bytes over the bus, and the time
// that reading the query's columns takes at least.
type gpuMeasurement struct {
	Kernel      float64 `json:"kernel_ms"`
	Transfer    float64 `json:"transfer_ms"`
	Bound       float64 `json:"bound_ms"`
	Launches    int64   `json:"launches"`
	ToDevice    int64   `json:"bytes_to_device"`
	FromDevice  int64   `json:"bytes_from_device"`
	ColumnBytes int64   `json:"column_bytes"`
	// BusBound is the least time for the bytes to the device, by the speed of copies from pinned memory.
	BusBound float64 `json:"bus_bound_ms"`
	BusSpeed float64 `json:"bus_gb_per_s"` // of such copies
}

// measureGPU runs a query again with kernels timed, which takes time of its own: the other times are measured without.
func (r *runner) measureGPU(ctx context.Context, q gen.Query, runs int) (*gpuMeasurement, error) {
	if _, err := r.session.Exec(ctx, "set gpu_times = on"); err != nil {
		return nil, err
	}
	var uses []kelpie.GPUUse
	err := r.progress.during(func() error {
		for range runs {
			res, err := r.session.Query(ctx, q.SQL)
			if err != nil {
				return err
			}
			if u, ok := res.GPU(); ok {
				uses = append(uses, u)
			}
			res.Close()
		}
		return nil
	})
	if err != nil {
		return nil, failed(ctx, err, source{q.Name, q.SQL})
	}
	if _, err := r.session.Exec(ctx, "set gpu_times = off"); err != nil || len(uses) == 0 {
		return nil, err
	}
	of := func(part func(u kelpie.GPUUse) time.Duration) float64 {
		list := make([]time.Duration, len(uses))
		for i, u := range uses {
			list[i] = part(u)
		}
		return ms(median(list))
	}
	last := uses[len(uses)-1]
	m := &gpuMeasurement{
		Kernel:   of(func(u kelpie.GPUUse) time.Duration { return u.Kernel }),
		Transfer: of(func(u kelpie.GPUUse) time.Duration { return u.Transfer }),
		Bound:    ms(last.Bound), Launches: last.Launches, ToDevice: last.BytesUp, FromDevice: last.BytesDown, ColumnBytes: last.ColumnBytes,
	}
	if last.Bus > 0 {
		m.BusBound, m.BusSpeed = float64(last.BytesUp)/last.Bus*1e3, last.Bus/1e9
	}
	return m, nil
}

// timesTable is printed line by line, as queries finish.
type timesTable struct {
	io.Writer
	name int  // width of names
	gpu  bool // with the columns of a GPU
	bus  bool // and those of its bus
}

func newTimesTable(w io.Writer, queries []gen.Query, gpu bool) *timesTable {
	t := &timesTable{Writer: w, name: 7, gpu: gpu}
	for _, q := range queries {
		t.name = max(t.name, len(q.Name))
	}
	return t
}

func (t *timesTable) row(name string, rows any, plan, compile, exec, total, kernel, bound string, bus ...string) {
	line := fmt.Sprintf(" %-*s %8v %11s %9s %9s %9s", t.name, name, rows, plan, compile, exec, total)
	if t.gpu {
		line += fmt.Sprintf(" %9s %9s", kernel, bound)
	}
	if t.bus {
		for _, x := range bus {
			line += fmt.Sprintf(" %9s", x)
		}
	}
	fmt.Fprintln(t, strings.TrimRight(line, " "))
}

func (t *timesTable) rule() {
	width := t.name + 51
	if t.gpu {
		width += 20
	}
	if t.bus {
		width += 40
	}
	fmt.Fprintln(t, " "+strings.Repeat("-", width))
}

func (t *timesTable) header() {
	t.row("query", "rows", "parse+plan", "compile", "execute", "total ms", "kernels", "bound ms", "bus MB", "GB/s", "bus ms", "of bound")
	t.rule()
}

func (t *timesTable) line(m measurement) {
	kernel, bound := "-", "-"
	bus := []string{"-", "-", "-", "-"}
	if g := m.GPU; g != nil {
		kernel, bound = number(g.Kernel), number(g.Bound)
		bus = []string{number(float64(g.ToDevice) / 1e6), number(float64(g.ToDevice) / 1e6 / max(m.Exec, 1e-6)), number(g.BusBound),
			fmt.Sprintf("%.0f%%", 100*g.BusBound/max(m.Exec, 1e-6))}
	}
	t.row(m.Name, m.Rows, number(m.Parse+m.Plan), number(m.Compile), number(m.Exec), number(m.Total), kernel, bound, bus...)
}

func (t *timesTable) footer(list []measurement) {
	total, kernel, bound := 0.0, 0.0, 0.0
	for _, m := range list {
		total += m.Total
		if m.GPU != nil {
			kernel, bound = kernel+m.GPU.Kernel, bound+m.GPU.Bound
		}
	}
	t.rule()
	t.row("sum", "", "", "", "", number(total), number(kernel), number(bound))
	t.row("geomean", "", "", "", "", number(geomean(list)), "", "")
	for _, m := range list {
		if m.CPU != "" {
			fmt.Fprintf(t, " %s: %s\n", m.Name, m.CPU)
		}
	}
}

func number(x float64) string { return fmt.Sprintf("%.2f", x) }
