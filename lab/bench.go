package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/plot"
	"github.com/kelpiedb/kelpie/internal/session"
)

// bench is a database on a device, and how queries are measured there.
type bench struct {
	Options
	ctx context.Context
	s   *session.Session
	r   *Result
}

func newBench(ctx context.Context, o Options, r *Result) (*bench, error) {
	if o.db == nil {
		o.db = session.NewDB()
	}
	b := &bench{Options: o, ctx: ctx, s: session.New(o.db), r: r}
	b.s.Configure(func(x *session.Settings) { x.Off.QuickKernels = true }) // what is measured is as good as it will be
	for _, rel := range b.s.View().Relations() {                           // what another figure left
		if t, ok := rel.(*catalog.Table); ok {
			if err := b.do(fmt.Sprintf("drop table %q", t.Name)); err != nil {
				return nil, err
			}
		}
	}
	if o.Threads > 0 {
		b.s.Configure(func(x *session.Settings) { x.Threads = o.Threads })
	}
	r.Cost = b.unit()
	var err error
	r.On, err = where(o.Device)
	return b, err
}

// where names the processor.
func where(dev string) (string, error) {
	switch dev {
	case "cpu":
		return fmt.Sprintf("%s CPU, %d threads at most", runtime.GOARCH, runtime.GOMAXPROCS(0)), nil
	case "simt":
		return "simulated GPU", nil
	}
	list, err := device.GPUs()
	if err != nil {
		return "", err
	}
	return list[0].Name, nil
}

// unit is what costs are counted in.
func (b *bench) unit() string {
	switch b.Device {
	case "simt":
		return "thousand warp instructions"
	case "gpu":
		return "ms of kernels"
	}
	return "ms of execution"
}

// rows is a number of rows by the scale, at least 4096.
func (b *bench) rows(n int) int { return max(int(float64(n)*b.Scale), 4096) }

// sf is a scale factor by the scale, at least 0.01.
func (b *bench) sf(f float64) float64 { return max(f*b.Scale, 0.01) }

// do runs statements.
func (b *bench) do(sqls ...string) error {
	for _, sql := range sqls {
		res, err := b.s.Query(b.ctx, sql)
		if err != nil {
			return fmt.Errorf("%s: %w", shorten(sql), err)
		}
		res.Close()
	}
	return nil
}

// here lets queries run on the device; tables are made before, on the CPU.
func (b *bench) here(sqls ...string) error {
	cpu := "simt"
	if device.HasCPU() {
		cpu = "cpu"
	}
	if err := b.do("set device = '" + cpu + "'"); err != nil {
		return err
	}
	if b.Log != nil {
		b.Log(b.r.Figure + ": tables")
	}
	if err := b.do(sqls...); err != nil {
		return err
	}
	return b.do("set device = '"+b.Device+"'", "set gpu_times = on")
}

// onHost is how long a query takes on the CPU, in ms end to end; missing where there is no code for it.
func (b *bench) onHost(sql string) (float64, error) {
	if !device.HasCPU() {
		return plot.None, nil
	}
	if err := b.do("set device = 'cpu'"); err != nil {
		return 0, err
	}
	least := plot.None
	for range b.Runs {
		res, err := b.s.Query(b.ctx, sql)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", shorten(sql), err)
		}
		if took := float64(res.Timing.Total()) / 1e6; !(took >= least) {
			least = took
		}
		res.Close()
	}
	return least, b.do("set device = '" + b.Device + "'")
}

// has reports that a setting can have a value: other switches come and go.
func (b *bench) has(setting, value string) bool {
	if b.do(fmt.Sprintf("set %s = '%s'", setting, value)) != nil {
		return false
	}
	return b.do("reset "+setting) == nil
}

// sample is what a query took.
type sample struct {
	Cost                    float64 // in the device's unit
	Main                    float64 // of it, that of the pipeline which feeds the last one
	Parse, Plan, Code, Exec float64 // ms
	Kernel                  float64 // ms
	Rows                    int64
	Moved                   exec.Movement
	Instrs                  float64 // simulated: warp instructions
	Atomics, SharedAtomics  float64 // simulated
	Shared, Local           float64 // simulated: bytes of shared and of local memory
	Tally                   device.Tally
	MemoryBound, BusBound   float64 // ms
	Taken                   float64 // GPU: bytes of its memory, columns aside
	Columns                 float64 // GPU: bytes of the columns that were read
	Needs                   []needs // GPU: of each pipeline
}

// needs is what a pipeline's kernel needs of a multiprocessor.
type needs struct {
	Registers, Shared float64 // of a thread, and of a block in bytes
	Code              float64 // instructions of its function
	Occupancy         float64 // % of the threads that can be its own
}

func (s sample) total() float64 { return s.Parse + s.Plan + s.Code + s.Exec }

// ask runs a query once to warm up, then as often as was asked for, and keeps the least of each.
func (b *bench) ask(sql string) (sample, error) {
	best := sample{}
	runs := b.Runs + 1
	if b.Device == "simt" {
		runs = 2 // the first has columns to copy
	}
	for i := range runs {
		s, err := b.once(sql)
		if err != nil {
			return s, fmt.Errorf("%s: %w", shorten(sql), err)
		}
		if i <= 1 {
			best = s
			continue
		}
		best.Cost, best.Kernel, best.Main = min(best.Cost, s.Cost), min(best.Kernel, s.Kernel), min(best.Main, s.Main)
		best.Parse, best.Plan, best.Code, best.Exec = min(best.Parse, s.Parse), min(best.Plan, s.Plan), min(best.Code, s.Code), min(best.Exec, s.Exec)
	}
	return best, b.moved(sql, &best)
}

// moved asks once more for what a query moves: kernels of a real GPU count their rows only for those who want to know, so that the account is not whole otherwise.
func (b *bench) moved(sql string, s *sample) error {
	if b.Device != "gpu" {
		return nil
	}
	p, err := b.explain(sql)
	if err != nil {
		return err
	}
	m := p.Summary.Moved
	s.Moved.Bus, s.Moved.Memory, s.Moved.Chip = int64(m.Bus), int64(m.Memory), int64(m.Chip)
	s.BusBound, s.MemoryBound = m.BusMS, m.BoundMS
	return nil
}

// once runs a query.
func (b *bench) once(sql string) (sample, error) {
	res, err := b.s.Query(b.ctx, sql)
	if err != nil {
		return sample{}, err
	}
	defer res.Close()
	if said := res.Notices(); len(said) > 0 && b.Device != "cpu" { // it ran elsewhere
		return sample{}, fmt.Errorf("%s", said[0])
	}
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	t, st := res.Timing, &res.Stats
	s := sample{Parse: ms(t.Parse), Plan: ms(t.Plan), Code: ms(t.Compile), Exec: ms(t.Exec), Rows: res.Rows, Tally: st.Tally}
	for i := range st.Pipelines {
		p := &st.Pipelines[i]
		s.Kernel += ms(p.Device.Kernel)
		s.Instrs += float64(p.Lanes.WarpInstrs)
		s.Atomics += float64(p.Lanes.Atomics)
		s.SharedAtomics += float64(p.Lanes.SharedAtomics)
		s.Shared += float64(p.Lanes.SharedBytes)
		s.Local += float64(p.Lanes.LocalBytes)
	}
	if m, ok := st.Movement(); ok {
		s.Moved = m
		bus, memory := m.Bounds(st.Bandwidth)
		s.BusBound, s.MemoryBound = ms(bus), ms(memory)
	}
	cost := func(p *exec.PipelineStats) float64 {
		switch b.Device {
		case "simt":
			return float64(p.Lanes.WarpInstrs) / 1000
		case "gpu":
			return ms(p.Device.Kernel)
		}
		return ms(p.Exec)
	}
	s.Taken = float64(st.DevicePeak)
	for i := range st.Pipelines {
		n := &st.Pipelines[i].Device.Needs
		s.Needs = append(s.Needs, needs{float64(n.Registers), float64(n.Shared), float64(n.Code), 100 * n.Occupancy()})
		s.Columns += float64(st.Pipelines[i].Device.Columns)
		s.Cost += cost(&st.Pipelines[i])
		if i == len(st.Pipelines)-2 {
			s.Main = cost(&st.Pipelines[i])
		}
	}
	if b.Device == "cpu" {
		s.Cost = s.Exec
	}
	return s, nil
}

// part is an operator of a pipeline as EXPLAIN tells of it.
type part struct {
	Kind   string
	Actual int64   `json:"actual_rows"`
	MS     float64 `json:"sampled_ms"`
	Lanes  *struct {
		Tuples     int64
		Iterations int64
		Mean       float64 `json:"mean_lanes"`
		Histogram  []int64
	}
}

// profile is what EXPLAIN (ANALYZE, LANES) tells of a query.
type profile struct {
	Pipelines []struct {
		Name      string
		Source    part
		Operators []part
		Sink      part
		Stats     struct {
			Execute float64 `json:"execute_ms"`
			Finish  float64 `json:"finish_ms"`
			Kernel  float64 `json:"kernel_ms"`
		}
	}
	Summary struct {
		Moved moved
	}
}

// moved is the account of data movement.
type moved struct {
	Bus     float64 `json:"bus_bytes"`
	Memory  float64 `json:"memory_bytes"`
	Chip    float64 `json:"chip_bytes"`
	Least   float64 `json:"least_bus_bytes"`
	Passes  float64
	Exact   bool
	BusMS   float64 `json:"bus_bound_ms"`
	BoundMS float64 `json:"memory_bound_ms"`
}

// explain profiles a query.
func (b *bench) explain(sql string) (*profile, error) {
	res, err := b.s.Query(b.ctx, "explain (analyze, lanes, pipelines, format json) "+sql)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shorten(sql), err)
	}
	defer res.Close()
	p := &profile{}
	return p, json.Unmarshal([]byte(res.Values()[0][0].S), p)
}

// lanes is the mean number of lanes behind the last operator of the pipeline which feeds the last one.
func (p *profile) lanes() (mean float64) {
	q := p.Pipelines[max(len(p.Pipelines)-2, 0)]
	for _, o := range append([]part{q.Source}, q.Operators...) {
		if o.Lanes != nil {
			mean = o.Lanes.Mean
		}
	}
	return mean
}

// behind is the first operator of a kind in the pipeline which feeds the last one.
func (p *profile) behind(kind string) (part, error) {
	for _, o := range p.Pipelines[max(len(p.Pipelines)-2, 0)].Operators {
		if o.Kind == kind && o.Lanes != nil {
			return o, nil
		}
	}
	return part{}, fmt.Errorf("no rows came behind a %s", kind)
}

// allLanes is the mean number of lanes over all iterations behind all operators.
func (p *profile) allLanes() float64 {
	tuples, iterations := 0.0, 0.0
	for _, q := range p.Pipelines {
		for _, o := range append([]part{q.Source}, q.Operators...) {
			if o.Lanes != nil {
				tuples, iterations = tuples+float64(o.Lanes.Tuples), iterations+float64(o.Lanes.Iterations)
			}
		}
	}
	return tuples / max(iterations, 1)
}

// shorten makes a statement fit a message.
func shorten(sql string) string {
	sql = strings.Join(strings.Fields(sql), " ")
	if r := []rune(sql); len(r) > 90 {
		return string(r[:89]) + "…"
	}
	return sql
}

// best and worst are the least and the largest of numbers; what is missing does not count.
func best(list []float64) float64 {
	out := plot.None
	for _, v := range list {
		if v == v && !(v >= out) {
			out = v
		}
	}
	return out
}

func worst(list []float64) float64 {
	out := plot.None
	for _, v := range list {
		if v == v && !(v <= out) {
			out = v
		}
	}
	return out
}

// ratios divides number by number.
func ratios(a, b []float64) []float64 {
	var out []float64
	for i := range a {
		out = append(out, a[i]/b[i])
	}
	return out
}

func geomean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += math.Log(max(v, 1e-9))
	}
	return math.Exp(sum / float64(len(list)))
}

// times writes a factor.
func times(f float64) string { return plot.Number(f) + "×" }
