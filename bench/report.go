package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// measurement is one query's hot runs on both engines.
type measurement struct {
	Query     string
	Rows      int
	Kelpie    []time.Duration // nanoseconds in JSON
	Duck      []time.Duration
	Reordered bool   `json:",omitempty"` // same rows in another order
	Error     string `json:",omitempty"` // different rows, or a failure
}

// report is a run of a suite with one number of threads.
type report struct {
	Suite   string
	SF      float64
	Threads int
	Runs    int
	DuckDB  string
	Storage string // where DuckDB's tables are
	Date    time.Time
	Queries []measurement
}

func median(ds []time.Duration) float64 {
	if len(ds) == 0 {
		return math.NaN()
	}
	s := slices.Clone(ds)
	slices.Sort(s)
	n := len(s)
	return float64(s[(n-1)/2]+s[n/2]) / 2 / float64(time.Millisecond)
}

func geomean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(xs)))
}

// print writes the table: medians in milliseconds, and how many times as long DuckDB took.
func (r report) print(w io.Writer, markdown bool) {
	head, line := "%-8s %10s %10s %8s  %s\n", "%-8s %10.2f %10.2f %8.2f  %s\n"
	fmt.Fprintf(w, "\n%s sf %g, threads: %d, DuckDB %s (%s), median of %d hot runs, ms\n", r.Suite, r.SF, r.Threads, r.DuckDB, r.Storage, r.Runs)
	if markdown {
		head, line = "| %s | %s | %s | %s | %s |\n", "| %s | %.2f | %.2f | %.2f | %s |\n"
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, head, "query", "kelpie", "duckdb", "ratio", "")
	if markdown {
		fmt.Fprintln(w, "|---|---:|---:|---:|---|")
	}
	var ks, ds, ratios []float64
	for _, m := range r.Queries {
		note := ""
		switch {
		case m.Error != "":
			note = "DIFFERS"
		case m.Reordered:
			note = "ties in another order"
		}
		k, d := median(m.Kelpie), median(m.Duck)
		if !math.IsNaN(k) && !math.IsNaN(d) {
			ks, ds, ratios = append(ks, k), append(ds, d), append(ratios, d/k)
		}
		fmt.Fprintf(w, line, m.Query, k, d, d/k, note)
	}
	if len(ks) > 0 {
		fmt.Fprintf(w, line, "geomean", geomean(ks), geomean(ds), geomean(ratios), "")
	}
}
