package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/internal/diag"
)

var errDiffer = errors.New("the results differ")

// suiteCommand is the subcommand of a suite.
func suiteCommand(name string) func(args []string, out, log io.Writer) error {
	return func(args []string, out, log io.Writer) error {
		o, err := parseArgs(name, args, log)
		if err != nil {
			return err
		}
		return run(o, out, log)
	}
}

// run loads the engines, measures and reports. Progress goes to log.
func run(o options, out, log io.Writer) error {
	var reports []report
	var err error
	if o.memory && o.engine == "" {
		reports, err = runApart(o, log)
	} else {
		reports, err = runHere(o, log)
	}
	if err != nil {
		return err
	}
	for _, r := range reports {
		r.print(out, o.markdown)
	}
	if o.json != "" {
		text, err := json.MarshalIndent(reports, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	for _, r := range reports {
		for _, m := range r.Queries {
			if m.Error != "" {
				return errDiffer
			}
		}
	}
	return nil
}

// open opens and loads the engines that the options ask for.
func (o options) open(log io.Writer) (k *kelpie, d *duck, err error) {
	if o.engine != "duckdb" {
		k = openKelpie()
		if err := k.apply(o.settings); err != nil {
			return nil, nil, err
		}
		start := time.Now()
		if err := o.suite.loadKelpie(k, o.sf); err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(log, "kelpie: %s sf %g loaded in %.1f s\n", o.suite.name, o.sf, time.Since(start).Seconds())
	}
	if o.engine != "kelpie" {
		if d, err = openDuckAt(o.duckdb); err != nil {
			return nil, nil, err
		}
		start := time.Now()
		if err := o.suite.loadDuck(d, o.sf); err != nil {
			d.close()
			return nil, nil, err
		}
		fmt.Fprintf(log, "duckdb %s: loaded in %.1f s\n", duckdb.LibraryVersion(), time.Since(start).Seconds())
	}
	debug.FreeOSMemory() // what loading needed
	return k, d, nil
}

// runHere measures in this process: both engines in turns, or one alone.
func runHere(o options, log io.Writer) ([]report, error) {
	k, d, err := o.open(log)
	if err != nil {
		return nil, err
	}
	var engines []engine
	if k != nil {
		engines = append(engines, k)
	}
	if d != nil {
		engines = append(engines, d)
		defer d.close()
	}
	storage := "in memory"
	if o.duckdb != ":memory:" {
		storage = "in a file, compressed"
	}
	loaded := memoryNow()
	var reports []report
	for _, threads := range o.threads {
		r := report{Storage: storage, Suite: o.suite.name, SF: o.sf, Threads: threads, Runs: o.runs, Settings: o.settings, CPU: o.cpu,
			DuckDB: duckdb.LibraryVersion(), Date: time.Now()}
		if err := setThreads(threads, engines...); err != nil {
			return nil, err
		}
		for _, q := range o.suite.queries {
			var m measurement
			switch {
			case k != nil && d != nil:
				m = measure(q, k, d, o.runs, o.clock())
			case k != nil:
				m = measurement{Query: q.Name}
				m.Kelpie, m.KelpiePeak, m.Error = alone(q, k, o)
				r.KelpieLoaded = loaded
			default:
				m = measurement{Query: q.Name}
				m.Duck, m.DuckPeak, m.Error = alone(q, d, o)
				r.DuckLoaded = loaded
			}
			if m.Error != "" {
				fmt.Fprintf(log, "%s: %s\n", q.Name, m.Error)
			}
			r.Queries = append(r.Queries, m)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// measure compares both engines' rows, which warms both up, and then times them in turns: what
// disturbs the machine for a while disturbs both.
func measure(q gen.Query, k, d engine, runs int, now clock) measurement {
	m := measurement{Query: q.Name}
	a, err := collect(k, q.SQL)
	if err != nil {
		m.Error = "kelpie: " + diag.Format(err, q.SQL)
		return m
	}
	b, err := collect(d, q.SQL)
	if err != nil {
		m.Error = "duckdb: " + err.Error()
		return m
	}
	m.Rows = a.n
	diff, inOrder := a.same(b)
	if diff != "" {
		m.Error = "kelpie against duckdb: " + diff
	}
	m.Reordered = diff == "" && !inOrder
	a, b = nil, nil
	for i := range runs {
		both := []engine{k, d}
		if i%2 == 1 {
			slices.Reverse(both)
		}
		for _, e := range both {
			start := now()
			err := e.drain(q.SQL)
			took := now() - start
			if err != nil {
				m.Error = e.name() + ": " + err.Error()
				return m
			}
			if e == k {
				m.Kelpie = append(m.Kelpie, took)
			} else {
				m.Duck = append(m.Duck, took)
			}
		}
	}
	return m
}

// alone measures one engine: a run to warm it up, then the hot runs.
func alone(q gen.Query, e engine, o options) (took []time.Duration, peak int64, failure string) {
	now := o.clock()
	if o.memory {
		debug.FreeOSMemory()
		resetPeak()
	}
	for i := range o.runs + 1 {
		start := now()
		if err := e.drain(q.SQL); err != nil {
			return nil, 0, e.name() + ": " + diag.Format(err, q.SQL)
		}
		if i > 0 {
			took = append(took, now()-start)
		}
	}
	if o.memory {
		peak = peakMemory()
	}
	return took, peak, ""
}
