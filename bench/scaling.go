package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/kelpiedb/kelpie/gen"
)

// scalingCommand shows what further threads bring. The thread counts take turns, query by query: measured
// minutes apart, what else goes on at the machine is larger than the difference.
func scalingCommand(args []string, out, log io.Writer) error {
	o := options{duckdb: ":memory:"}
	fs := flag.NewFlagSet("bench scaling", flag.ContinueOnError)
	fs.SetOutput(log)
	name := fs.String("suite", "tpch", "the suite to run")
	fs.Float64Var(&o.sf, "sf", 1, "scale factor")
	threads := fs.String("threads", "1,2", "thread counts, separated by commas; the first is what the others are compared with")
	fs.IntVar(&o.runs, "runs", 5, "hot runs per query and thread count; the median counts")
	fastest := fs.Bool("fastest", false, "the fastest run counts: where others use the machine as well")
	names := fs.String("queries", "", "queries to run, separated by commas; all if empty")
	fs.StringVar(&o.engine, "engine", "kelpie", "kelpie, duckdb, or both: each one's own scaling")
	fs.StringVar(&o.settings, "settings", "", "settings of Kelpie, such as memory_pool=off")
	fs.BoolVar(&o.cpu, "cpu", false, "show CPU times as well, and which share of the threads' time was spent waiting")
	fs.BoolVar(&o.markdown, "markdown", false, "print tables for LOG.md")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var err error
	if o.threads, err = threadList(*threads); err != nil {
		return err
	}
	if fs.NArg() > 0 || o.runs < 1 || o.sf <= 0 || len(o.threads) < 2 || !slices.Contains([]string{"kelpie", "duckdb", "both"}, o.engine) {
		return errors.New("scaling: see -h for the options")
	}
	if o.suite, err = findSuite(*name); err != nil {
		return err
	}
	if o.suite.queries, err = o.suite.pick(*names); err != nil {
		return err
	}
	if o.engine == "both" {
		o.engine = ""
	}
	k, d, err := o.open(log)
	if err != nil {
		return err
	}
	var sides []side
	if k != nil {
		sides = append(sides, side{engine: k})
	}
	if d != nil {
		defer d.close()
		sides = append(sides, side{engine: d})
	}
	for _, q := range o.suite.queries {
		for i := range sides {
			m, err := sides[i].scale(q, o)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", sides[i].name(), q.Name, err)
			}
			sides[i].queries = append(sides[i].queries, m)
		}
	}
	count, how := median, "median"
	if *fastest {
		count, how = least, "fastest"
	}
	for _, s := range sides {
		fmt.Fprintf(out, "\n%s: %s sf %g, threads: %s in turns, %s of %d hot runs, ms", s.name(), o.suite.name, o.sf, *threads, how, o.runs)
		if o.settings != "" {
			fmt.Fprintf(out, ", with %s", o.settings)
		}
		fmt.Fprintln(out)
		s.table(o, count).print(out, o.markdown)
	}
	return nil
}

// side is an engine and how its queries scale.
type side struct {
	engine
	queries []byThreads
}

// byThreads is a query's runs by thread count.
type byThreads struct {
	query     string
	wall, cpu [][]time.Duration
}

// scale runs a query with every thread count in turns.
func (s side) scale(q gen.Query, o options) (byThreads, error) {
	m := byThreads{q.Name, make([][]time.Duration, len(o.threads)), make([][]time.Duration, len(o.threads))}
	for run := range o.runs + 1 {
		for i, n := range o.threads {
			if err := setThreads(n, s.engine); err != nil {
				return m, err
			}
			wall, cpu := wallTime(), cpuTime()
			if err := s.drain(q.SQL); err != nil {
				return m, err
			}
			wall, cpu = wallTime()-wall, cpuTime()-cpu
			if run > 0 { // the first one warms up
				m.wall[i], m.cpu[i] = append(m.wall[i], wall), append(m.cpu[i], cpu)
			}
		}
	}
	return m, nil
}

// table has, for each thread count beyond the first, how many times as fast the query is; with CPU times, how many
// times the work it is (more than 1: work that one thread would not have, or waiting for memory), and which share of the threads' time
// was spent waiting for each other, or was taken by other programs.
func (s side) table(o options, count func([]time.Duration) float64) table {
	head := []string{"query"}
	for i, n := range o.threads {
		head = append(head, fmt.Sprint(n))
		if i > 0 {
			head = append(head, "×")
		}
		if o.cpu {
			head = append(head, "cpu")
			if i > 0 {
				head = append(head, "work ×")
			}
			head = append(head, "idle %")
		}
	}
	t := table{rows: [][]string{append(head, "")}}
	sums := make([][]float64, len(head)-1)
	for _, m := range s.queries {
		var row []float64
		for i, n := range o.threads {
			wall, cpu := count(m.wall[i]), count(m.cpu[i])
			row = append(row, wall)
			if i > 0 {
				row = append(row, count(m.wall[0])/wall)
			}
			if o.cpu {
				row = append(row, cpu)
				if i > 0 {
					row = append(row, cpu/count(m.cpu[0]))
				}
				row = append(row, max(100*(1-cpu/(wall*float64(n))), 0.01))
			}
		}
		cells := []string{m.query}
		for i, x := range row {
			cells = append(cells, number2(x))
			sums[i] = append(sums[i], x)
		}
		t.rows = append(t.rows, append(cells, ""))
	}
	cells := []string{"geomean"}
	for i, xs := range sums {
		if head[i+1] == "idle %" {
			cells = append(cells, "")
			continue
		}
		cells = append(cells, number2(geomean(xs)))
	}
	t.rows = append(t.rows, append(cells, ""))
	return t
}

// least is the fastest run in milliseconds.
func least(ds []time.Duration) float64 {
	if len(ds) == 0 {
		return math.NaN()
	}
	return float64(slices.Min(ds)) / float64(time.Millisecond)
}
