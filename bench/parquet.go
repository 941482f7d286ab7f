package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/tpch"
)

// fileOptions are the command lines of the benchmarks over files.
type fileOptions struct {
	sf       float64
	threads  []int
	runs     int
	queries  []gen.Query
	dir      string   // where files are kept; empty: a temporary folder
	writers  []string // whose files are read
	cache    bool     // Kelpie may keep decoded columns
	settings string   // of Kelpie
	cases    string   // of loading: those whose names have this in them
	cpu      bool     // of loading: time that processors worked, not on the wall
}

func parseFileArgs(name string, args []string) (fileOptions, error) {
	o := fileOptions{}
	fs := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	fs.Float64Var(&o.sf, "sf", 1, "scale factor")
	threads := fs.String("threads", strconv.Itoa(runtime.NumCPU()), "thread counts, separated by commas")
	fs.IntVar(&o.runs, "runs", 5, "runs; the median counts")
	names := fs.String("queries", "", "queries to run, separated by commas; all if empty")
	fs.StringVar(&o.dir, "dir", "", "folder to keep the files in, and to find them in the next time")
	writers := fs.String("writers", "duckdb,kelpie", "who wrote the files")
	fs.BoolVar(&o.cache, "cache", false, "let Kelpie keep decoded columns from query to query")
	fs.StringVar(&o.settings, "settings", "", "settings of Kelpie, such as file_statistics=off")
	if name == "load" {
		fs.StringVar(&o.cases, "cases", "", "only those whose names have this in them")
		fs.BoolVar(&o.cpu, "cpu", false, "CPU time of the process instead of time on the wall: for machines that others use, and one thread")
	}
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.runs < 1 || o.sf <= 0 || fs.NArg() > 0 {
		return o, errors.New("--runs and --sf must be positive, and there are no arguments but options")
	}
	for _, t := range strings.Split(*threads, ",") {
		n, err := strconv.Atoi(t)
		if err != nil || n < 1 {
			return o, fmt.Errorf("--threads: %q is not a number of threads", t)
		}
		o.threads = append(o.threads, n)
	}
	o.writers = strings.Split(*writers, ",")
	for _, q := range tpch.Queries() {
		if *names == "" || strings.Contains(","+*names+",", ","+q.Name+",") {
			o.queries = append(o.queries, q)
		}
	}
	return o, nil
}

// beginFiles is the options of a benchmark, where its files are, and how to remove them if nobody asked to keep them.
func beginFiles(name string, args []string) (o fileOptions, dir string, remove func(), err error) {
	if o, err = parseFileArgs(name, args); err != nil {
		return o, "", nil, err
	}
	if o.dir != "" {
		return o, o.dir, func() {}, os.MkdirAll(o.dir, 0o777)
	}
	dir, err = os.MkdirTemp("", "kelpie-bench")
	return o, dir, func() { os.RemoveAll(dir) }, err
}

// runParquet runs TPC-H over views of Parquet files, written by either engine with its defaults.
func runParquet(args []string, out, log io.Writer) error {
	o, dir, remove, err := beginFiles("parquet", args)
	if err != nil {
		return err
	}
	defer remove()
	if err := writeParquet(&o, dir, log); err != nil {
		return err
	}
	differ := false
	for _, writer := range o.writers {
		k := openKelpie()
		d, err := openDuck()
		if err != nil {
			return err
		}
		for _, t := range tpch.Tables() {
			view := fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM read_parquet('%s')", t.Name, parquetPath(dir, writer, o.sf, t.Name))
			for _, e := range []engine{k, d} {
				if err := e.drain(view); err != nil {
					return fmt.Errorf("%s: %w", e.name(), err)
				}
			}
		}
		if err := k.apply("file_cache=" + map[bool]string{true: "on", false: "off"}[o.cache] + "," + o.settings); err != nil {
			return err
		}
		for _, threads := range o.threads {
			if err := setThreads(threads, k, d); err != nil {
				return err
			}
			r := report{Storage: "Parquet files by " + writer, Suite: "tpch", Settings: o.settings, SF: o.sf, Threads: threads, Runs: o.runs,
				DuckDB: duckdb.LibraryVersion(), Date: time.Now()}
			var cpu []float64
			for _, q := range o.queries {
				m, c := measureCPU(q, k, d, o.runs)
				cpu = append(cpu, c)
				if m.Error != "" {
					differ = true
					fmt.Fprintf(log, "%s: %s\n", q.Name, m.Error)
				}
				r.Queries = append(r.Queries, m)
			}
			r.print(out, false)
			fmt.Fprintf(out, "processor time: %.2f times as much for DuckDB (geomean of each query's least)\n", geomean(cpu))
		}
		d.close()
	}
	if differ {
		return errDiffer
	}
	return nil
}

func parquetPath(dir, writer string, sf float64, table string) string {
	return filepath.Join(dir, fmt.Sprintf("%s_sf%g_%s.parquet", writer, sf, table))
}

// writeParquet writes the tables with each engine, unless the files are there.
func writeParquet(o *fileOptions, dir string, log io.Writer) error {
	for _, writer := range o.writers {
		if _, err := os.Stat(parquetPath(dir, writer, o.sf, "lineitem")); err == nil {
			continue
		}
		start := time.Now()
		var e engine
		if writer == "kelpie" {
			k := openKelpie()
			if err := k.drain(fmt.Sprintf("CALL tpch(sf => %g)", o.sf)); err != nil {
				return err
			}
			e = k
		} else {
			d, err := openDuck()
			if err != nil {
				return err
			}
			defer d.close()
			if err := d.load(tpch.Tables(), o.sf); err != nil {
				return err
			}
			e = d
		}
		tables := tpch.Tables()
		for i := range tables { // lineitem is the last: its file says that all are there
			name := tables[i].Name
			if name == "lineitem" {
				continue
			}
			if err := copyParquet(e, name, parquetPath(dir, writer, o.sf, name)); err != nil {
				return err
			}
		}
		if err := copyParquet(e, "lineitem", parquetPath(dir, writer, o.sf, "lineitem")); err != nil {
			return err
		}
		fmt.Fprintf(log, "%s: files written in %.1f s\n", writer, time.Since(start).Seconds())
	}
	runtime.GC()
	return nil
}

func copyParquet(e engine, table, path string) error {
	if err := e.drain(fmt.Sprintf("COPY %s TO '%s' (FORMAT parquet)", table, path)); err != nil {
		return fmt.Errorf("%s: %w", e.name(), err)
	}
	return nil
}

// measureCPU is measure, and how many times as much processor time DuckDB takes: on a machine that
// others use too, that says more.
func measureCPU(q gen.Query, k, d engine, runs int) (measurement, float64) {
	kc, dc := &cpuEngine{engine: k, least: math.Inf(1)}, &cpuEngine{engine: d, least: math.Inf(1)}
	m := measure(q, kc, dc, runs, wallTime)
	return m, dc.least / kc.least
}

// cpuEngine notes the least processor time of a run.
type cpuEngine struct {
	engine
	least float64
}

func (e *cpuEngine) drain(sql string) error {
	start := cpuTime()
	err := e.engine.drain(sql)
	e.least = min(e.least, (cpuTime() - start).Seconds())
	return err
}
