package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// options are the command line of a suite.
type options struct {
	suite    suite
	sf       float64
	threads  []int
	runs     int
	json     string
	markdown bool
	duckdb   string
	engine   string // the only one to run, or empty
	memory   bool
	cpu      bool
	settings string
}

// clock is what the runs are timed by.
func (o options) clock() clock {
	if o.cpu {
		return cpuTime
	}
	return wallTime
}

func parseArgs(name string, args []string, log io.Writer) (options, error) {
	o := options{}
	var err error
	if o.suite, err = findSuite(name); err != nil {
		return o, err
	}
	fs := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	fs.SetOutput(log)
	fs.Float64Var(&o.sf, "sf", 1, "scale factor")
	threads := fs.String("threads", strconv.Itoa(runtime.NumCPU()), "thread counts, separated by commas")
	fs.IntVar(&o.runs, "runs", 5, "hot runs per query; the median counts")
	names := fs.String("queries", "", "queries to run, separated by commas; all if empty")
	fs.StringVar(&o.json, "json", "", "file to write all measurements to")
	fs.BoolVar(&o.markdown, "markdown", false, "print tables for LOG.md")
	fs.StringVar(&o.duckdb, "duckdb", ":memory:", "file for DuckDB's tables, which it compresses there; in memory it does not")
	fs.StringVar(&o.engine, "engine", "", "run kelpie or duckdb alone; rows are not compared then")
	fs.BoolVar(&o.memory, "memory", false, "peak memory per query; each engine runs in a process of its own")
	fs.BoolVar(&o.cpu, "cpu", false, "CPU time of the process instead of time on the wall: for machines that others use, and one thread")
	fs.StringVar(&o.settings, "settings", "", "settings of Kelpie, such as simd=off,prefetch=off")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("%q is not an option", fs.Arg(0))
	}
	if o.runs < 1 || o.sf <= 0 {
		return o, errors.New("--runs and --sf must be positive")
	}
	if !slices.Contains([]string{"", "kelpie", "duckdb"}, o.engine) {
		return o, fmt.Errorf("--engine: %q is not kelpie or duckdb", o.engine)
	}
	if o.threads, err = threadList(*threads); err != nil {
		return o, err
	}
	o.suite.queries, err = o.suite.pick(*names)
	return o, err
}

func threadList(list string) (out []int, err error) {
	for _, t := range strings.Split(list, ",") {
		n, err := strconv.Atoi(t)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("--threads: %q is not a number of threads", t)
		}
		out = append(out, n)
	}
	return out, nil
}

// settingList turns a=b,c=d into SET statements.
func settingList(list string) (sqls []string, err error) {
	for _, s := range strings.Split(list, ",") {
		if s == "" {
			continue
		}
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not a setting like name=value", s)
		}
		// A list of optimizer passes is written a+b: the comma separates settings.
		sqls = append(sqls, fmt.Sprintf("SET %s = '%s'", name, strings.ReplaceAll(value, "+", ",")))
	}
	return sqls, nil
}
