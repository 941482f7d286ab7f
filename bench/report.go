package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// measurement is one query's hot runs on both engines.
type measurement struct {
	Query      string
	Rows       int
	Kelpie     []time.Duration // nanoseconds in JSON
	Duck       []time.Duration
	KelpiePeak int64  `json:",omitempty"` // bytes in RAM, tables included
	DuckPeak   int64  `json:",omitempty"`
	Reordered  bool   `json:",omitempty"` // same rows in another order
	Error      string `json:",omitempty"` // different rows, or a failure
}

// report is a run of a suite with one number of threads.
type report struct {
	Suite        string
	SF           float64
	Threads      int
	Runs         int
	DuckDB       string
	Storage      string // where DuckDB's tables are
	Settings     string `json:",omitempty"` // of Kelpie
	CPU          bool   `json:",omitempty"` // CPU time, not time on the wall
	Date         time.Time
	KelpieLoaded int64 `json:",omitempty"` // bytes in RAM once the tables are there
	DuckLoaded   int64 `json:",omitempty"`
	Queries      []measurement
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
	fmt.Fprintf(w, "\n%s sf %g, threads: %d, DuckDB %s (%s), median of %d hot runs, ms", r.Suite, r.SF, r.Threads, r.DuckDB, r.Storage, r.Runs)
	if r.CPU {
		fmt.Fprint(w, " of CPU time")
	}
	if r.Settings != "" {
		fmt.Fprintf(w, ", with %s", r.Settings)
	}
	fmt.Fprintln(w)
	memory := slices.ContainsFunc(r.Queries, func(m measurement) bool { return m.KelpiePeak+m.DuckPeak > 0 })
	head := []string{"query", "kelpie", "duckdb", "ratio"}
	if memory { // the engines ran one after the other: their times do not compare
		fmt.Fprintf(w, "MB in RAM: with the tables kelpie %.0f, duckdb %.0f; the peak of each query below\n", mega(r.KelpieLoaded), mega(r.DuckLoaded))
		head = []string{"query", "kelpie MB", "duckdb MB", "of"}
	}
	t := table{rows: [][]string{append(head, "")}}
	var ks, ds, ratios []float64
	var kPeak, dPeak int64
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
		row := []string{m.Query, number2(k), number2(d), number2(d / k)}
		if memory {
			kPeak, dPeak = max(kPeak, m.KelpiePeak), max(dPeak, m.DuckPeak)
			size := float64(m.KelpiePeak) / float64(m.DuckPeak)
			row = []string{m.Query, fmt.Sprintf("%.0f", mega(m.KelpiePeak)), fmt.Sprintf("%.0f", mega(m.DuckPeak)), number2(size)}
		}
		t.rows = append(t.rows, append(row, note))
	}
	switch {
	case memory:
		t.rows = append(t.rows, []string{"largest", fmt.Sprintf("%.0f", mega(kPeak)), fmt.Sprintf("%.0f", mega(dPeak)), number2(float64(kPeak) / float64(dPeak)), ""})
	case len(ks) > 0:
		t.rows = append(t.rows, []string{"geomean", number2(geomean(ks)), number2(geomean(ds)), number2(geomean(ratios)), ""})
	}
	t.print(w, markdown)
}

func mega(n int64) float64 { return float64(n) / 1e6 }

func number2(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return fmt.Sprintf("%.2f", x)
}

// table prints cells in columns; the first row is the head. The first and last column are texts.
type table struct{ rows [][]string }

func (t table) print(w io.Writer, markdown bool) {
	width := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, c := range row {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	if markdown {
		fmt.Fprintln(w)
	}
	for i, row := range t.rows {
		var line strings.Builder
		for k, c := range row {
			pad := strings.Repeat(" ", width[k]-len([]rune(c)))
			switch {
			case markdown:
				line.WriteString("| " + c + " ")
			case k == 0 || k == len(row)-1:
				line.WriteString(c + pad + "  ")
			default:
				line.WriteString(pad + c + "  ")
			}
		}
		if markdown {
			line.WriteString("|")
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
		if markdown && i == 0 {
			fmt.Fprintln(w, "|---"+strings.Repeat("|---:", len(row)-2)+"|---|")
		}
	}
}
