package lab

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// Both processors at once, and one before the other.
var sharing = []Figure{
	{Name: "share", Paper: "CPU+GPU co-processing", Title: "Q1 and Q6 stream, and both processors take rows", Devices: onGPUs, run: sharedRows},
	{Name: "cpu-first", Paper: "CPU+GPU co-processing", Title: "a cold query begins on the CPU, and the GPU takes over rows", Devices: onGPUs, run: cpuFirst},
}

// taken is who did which rows of a query's first pipeline.
type taken struct {
	CPU    float64 `json:"cpu_rows"`
	GPU    float64 `json:"gpu_rows"`
	Ranges []struct {
		By   string
		Lo   float64 `json:"from_row"`
		Hi   float64 `json:"to_row"`
		From float64 `json:"from_ms"`
		To   float64 `json:"to_ms"`
	}
}

// percent is the part of the rows that the GPU did.
func (t *taken) percent() float64 { return 100 * t.GPU / max(t.CPU+t.GPU, 1) }

// takes runs a query to see who takes its rows; nil: one processor does all.
func (b *bench) takes(sql string) (*taken, error) {
	res, err := b.s.Query(b.ctx, "explain (analyze, pipelines, format json) "+sql)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shorten(sql), err)
	}
	defer res.Close()
	var p struct {
		Pipelines []struct{ Stats struct{ Shared *taken } }
	}
	err = json.Unmarshal([]byte(res.Values()[0][0].S), &p)
	return p.Pipelines[0].Stats.Shared, err
}

// timed is the median time of a query's runs, in ms from its text to its rows, after so many that do not count.
func (b *bench) timed(sql string, before int) (float64, error) {
	var list []float64
	for i := range before + b.Runs {
		s, err := b.once(sql)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", shorten(sql), err)
		}
		if i >= before {
			list = append(list, s.total())
		}
	}
	slices.Sort(list)
	return list[len(list)/2], nil
}

// sharedRows has Q1 and Q6 stream, with rows divided by percentages and as they are taken.
func sharedRows(b *bench, r *Result) error {
	sf := b.sf(10)
	r.Workload = fmt.Sprintf("TPC-H Q1 and Q6, scale factor %g, nothing on the GPU (SET feed = 'batch'), by the GPU's part of the rows (SET share)", sf)
	r.Cost = "ms end to end"
	r.Table.Columns = []string{"share", "Q1", "GPU, % of Q1's rows", "Q6", "GPU, % of Q6's rows"}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf), "set feed = 'batch'", "set gpu_times = off"); err != nil {
		return err
	}
	queries := []string{tpch.Queries()[0].SQL, tpch.Queries()[5].SQL}
	warm := 0
	if b.Device == "gpu" {
		warm = 60 // until the host has copies of all columns
	}
	if err := b.do("set share = off"); err != nil {
		return err
	}
	for _, sql := range queries {
		if _, err := b.timed(sql, warm); err != nil {
			return err
		}
	}
	least := []float64{plot.None, plot.None}
	for _, share := range []string{"cpu", "off", "20", "40", "60", "80", "on"} {
		dev := b.Device
		if share == "cpu" {
			dev = "cpu"
		} else if err := b.do("set share = " + share); err != nil {
			return err
		}
		if err := b.do("set device = '" + dev + "'"); err != nil {
			return err
		}
		var values []float64
		for i, sql := range queries {
			ms, err := b.timed(sql, 2)
			if err != nil {
				return err
			}
			percent := map[string]float64{"cpu": 0, "off": 100}[share]
			if t, err := b.takes(sql); err != nil {
				return err
			} else if t != nil {
				percent = t.percent()
			}
			values = append(values, ms, percent)
			if share == "cpu" || share == "off" {
				least[i] = best([]float64{least[i], ms})
			}
		}
		name := map[string]string{"cpu": "CPU alone", "off": "GPU alone", "on": "as they come"}[share]
		if name == "" {
			name = share + " % by the GPU"
		}
		r.Table.add(name, values...)
	}
	v := r.Table.Rows[len(r.Table.Rows)-1].Values
	r.Claim = "Q1 at scale factor 100 takes a CPU 791 ms, a GPU to which columns stream 536, and both together, with half of the rows each, 373"
	r.Ours = fmt.Sprintf("as they come, %s of the better one alone for Q1, %s for Q6", times(least[0]/v[0]), times(least[1]/v[2]))
	if b.Device == "gpu" {
		if err := b.whatIsLost(queries); err != nil {
			return err
		}
	}
	r.Picture = r.chart(r.Cost, 0, 2).Bars()
	return b.do("reset share", "reset feed", "set device = '"+b.Device+"'")
}

// cpuFirst asks Q1 at growing scale factors of a GPU that has neither code nor columns: it waits for them, or the CPU begins.
func cpuFirst(b *bench, r *Result) error {
	r.Workload = "TPC-H Q1 by scale factor, with kernels that are compiled anew (SET gpu_code = 'new') and nothing on the GPU (SET feed = 'batch', host_copies = off)"
	r.Cost = "ms end to end"
	r.Table.Columns = []string{"scale factor", "CPU alone", "GPU alone", "CPU first", "CPU first ÷ CPU alone", "GPU, % of the rows"}
	sql := tpch.Queries()[0].SQL
	var last *taken
	for _, f := range []float64{0.1, 1, 10, 30} {
		sf := b.sf(f)
		if n := len(r.Table.Rows); n > 0 && r.Table.Rows[n-1].Name == fmt.Sprint(sf) { // too small to differ
			continue
		}
		if err := b.here("drop table if exists region, nation, supplier, customer, part, partsupp, orders, lineitem", fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
			return err
		}
		if err := b.do("set gpu_times = off", "set gpu_code = 'new'", "set feed = 'batch'", "set host_copies = off"); err != nil {
			return err
		}
		var values []float64
		for _, way := range [][]string{{"set device = 'cpu'"}, {"set device = '" + b.Device + "'", "set cpu_first = off", "set share = off"}, {"set cpu_first = on", "reset share"}} {
			if err := b.do(way...); err != nil {
				return err
			}
			ms, err := b.timed(sql, 2)
			if err != nil {
				return err
			}
			values = append(values, ms)
		}
		t, err := b.takes(sql)
		if err != nil || t == nil {
			return fmt.Errorf("the query was not shared: %w", err)
		}
		last = t
		r.Table.add(fmt.Sprint(sf), append(values, values[2]/values[0], t.percent())...)
	}
	r.Claim = "ours: no query that finds a GPU cold takes longer than 1.05 times as long as on the CPU, and large ones approach the GPU's time"
	r.Ours = fmt.Sprintf("at most %s of the CPU's time; %s at the largest scale factor, where the GPU does %.0f %% of the rows",
		times(worst(r.Table.column(3))), times(r.Table.Rows[len(r.Table.Rows)-1].Values[3]), last.percent())
	r.Picture = last.picture(r)
	return b.do("reset cpu_first", "reset gpu_code", "reset feed", "reset host_copies", "reset share")
}

// picture shows the rows that each processor has done, over time.
func (t *taken) picture(r *Result) string {
	c := r.chart("million rows")
	c.X, c.Labels = "ms", nil
	c.Note = "rows that each processor has done over time, at the largest scale factor; " + r.On
	for _, by := range []string{"cpu", "gpu"} {
		s := plot.Series{Name: by, At: []float64{0}, Values: []float64{0}}
		rows := 0.0
		for _, x := range t.Ranges {
			if x.By == by {
				rows += x.Hi - x.Lo
				s.At, s.Values = append(s.At, x.To), append(s.Values, rows/1e6)
			}
		}
		c.Series = append(c.Series, s)
	}
	return c.Lines()
}
