package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/diag"
)

const usage = `usage: bench tpch|ssb [--sf 1] [--threads 1,2] [--runs 5] [--queries q1,q3] [--json FILE] [--markdown] [--duckdb FILE]`

// options are the command line.
type options struct {
	suite    string
	sf       float64
	threads  []int
	runs     int
	queries  []gen.Query
	json     string
	markdown bool
	duckdb   string
}

var errDiffer = errors.New("the results differ")

func main() {
	o, err := parseArgs(os.Args[1:])
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(2)
	}
	if err := run(o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parseArgs(args []string) (options, error) {
	o := options{}
	if len(args) == 0 || args[0] != "tpch" && args[0] != "ssb" {
		return o, errors.New(usage)
	}
	o.suite = args[0]
	fs := flag.NewFlagSet("bench "+o.suite, flag.ContinueOnError)
	fs.Float64Var(&o.sf, "sf", 1, "scale factor")
	threads := fs.String("threads", strconv.Itoa(runtime.NumCPU()), "thread counts, separated by commas")
	fs.IntVar(&o.runs, "runs", 5, "hot runs per query; the median counts")
	names := fs.String("queries", "", "queries to run, separated by commas; all if empty")
	fs.StringVar(&o.json, "json", "", "file to write all measurements to")
	fs.BoolVar(&o.markdown, "markdown", false, "print tables for LOG.md")
	fs.StringVar(&o.duckdb, "duckdb", ":memory:", "file for DuckDB's tables, which it compresses there; in memory it does not")
	if err := fs.Parse(args[1:]); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("%q is not an option\n%s", fs.Arg(0), usage)
	}
	if o.runs < 1 || o.sf <= 0 {
		return o, errors.New("--runs and --sf must be positive")
	}
	for _, t := range strings.Split(*threads, ",") {
		n, err := strconv.Atoi(t)
		if err != nil || n < 1 {
			return o, fmt.Errorf("--threads: %q is not a number of threads", t)
		}
		o.threads = append(o.threads, n)
	}
	o.queries = tpch.Queries()
	if o.suite == "ssb" {
		o.queries = ssb.Queries()
	}
	if *names == "" {
		return o, nil
	}
	all := o.queries
	o.queries = nil
	for _, name := range strings.Split(*names, ",") {
		i := slices.IndexFunc(all, func(q gen.Query) bool { return q.Name == name })
		if i < 0 {
			return o, fmt.Errorf("--queries: %s has no query %q", o.suite, name)
		}
		o.queries = append(o.queries, all[i])
	}
	return o, nil
}

// run loads both engines, measures and reports. Progress goes to log.
func run(o options, out, log io.Writer) error {
	k := openKelpie()
	d, err := openDuckAt(o.duckdb)
	if err != nil {
		return err
	}
	defer d.close()
	tables := tpch.Tables()
	if o.suite == "ssb" {
		tables = ssb.Tables()
	}
	start := time.Now()
	if err := k.drain(fmt.Sprintf("CALL %s(sf => %g)", o.suite, o.sf)); err != nil {
		return fmt.Errorf("kelpie: %w", err)
	}
	fmt.Fprintf(log, "kelpie: %s sf %g loaded in %.1f s\n", o.suite, o.sf, time.Since(start).Seconds())
	start = time.Now()
	if err := d.load(tables, o.sf); err != nil {
		return fmt.Errorf("duckdb: %w", err)
	}
	if o.duckdb != ":memory:" {
		if err := d.drain("CHECKPOINT"); err != nil {
			return fmt.Errorf("duckdb: %w", err)
		}
	}
	fmt.Fprintf(log, "duckdb %s: loaded in %.1f s\n", duckdb.LibraryVersion(), time.Since(start).Seconds())

	var reports []report
	for _, threads := range o.threads {
		if err := setThreads(threads, k, d); err != nil {
			return err
		}
		storage := "in memory"
		if o.duckdb != ":memory:" {
			storage = "in a file, compressed"
		}
		r := report{Storage: storage, Suite: o.suite, SF: o.sf, Threads: threads, Runs: o.runs,
			DuckDB: duckdb.LibraryVersion(), Date: time.Now()}
		for _, q := range o.queries {
			m := measure(q, k, d, o.runs)
			if m.Error != "" {
				fmt.Fprintf(log, "%s: %s\n", q.Name, m.Error)
			}
			r.Queries = append(r.Queries, m)
		}
		r.print(out, o.markdown)
		reports = append(reports, r)
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

// measure compares both engines' rows, which warms both up, and then times them in turns: what
// disturbs the machine for a while disturbs both.
func measure(q gen.Query, k, d engine, runs int) measurement {
	m := measurement{Query: q.Name}
	a, err := k.rows(q.SQL)
	if err != nil {
		m.Error = "kelpie: " + diag.Format(err, q.SQL)
		return m
	}
	b, err := d.rows(q.SQL)
	if err != nil {
		m.Error = "duckdb: " + err.Error()
		return m
	}
	m.Rows = len(a)
	diff, inOrder := sameRows(a, b)
	if diff != "" {
		m.Error = "kelpie against duckdb: " + diff
	}
	m.Reordered = diff == "" && !inOrder
	for i := range runs {
		both := []engine{k, d}
		if i%2 == 1 {
			slices.Reverse(both)
		}
		for _, e := range both {
			start := time.Now()
			err := e.drain(q.SQL)
			took := time.Since(start)
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
