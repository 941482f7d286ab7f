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
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
)

// suite is a benchmark: tables that CALL name(sf => …) generates, and queries over them.
type suite struct {
	name    string
	title   string
	tables  []gen.Table
	queries []gen.Query
}

var suites = []suite{
	{"tpch", "TPC-H", tpch.Tables(), tpch.Queries()},
	{"ssb", "Star Schema Benchmark", ssb.Tables(), ssb.Queries()},
}

// findSuite takes the suite's name from the words of a command line.
func findSuite(command string, words []string) (suite, error) {
	if len(words) == 1 {
		for _, s := range suites {
			if s.name == words[0] {
				return s, nil
			}
		}
	}
	return suite{}, usagef("%s needs the name of a benchmark: kelpie %s tpch, or ssb", command, command)
}

func checkScale(sf float64) error {
	if !(sf > 0 && sf <= 30000) {
		return usagef("--sf %g: the scale factor must be more than 0 and at most 30000", sf)
	}
	return nil
}

// load generates the suite's tables in the database and says how long it took.
func (s suite) load(ctx context.Context, r *runner, sf float64) (time.Duration, error) {
	start := time.Now()
	r.progress.prefix = ""
	err := r.progress.during(func() error {
		_, err := r.session.Exec(ctx, fmt.Sprintf("call %s(sf => %v)", s.name, sf))
		return err
	})
	return time.Since(start), err
}

// sizes says how much the database holds.
func sizes(db *kelpie.DB) string {
	var rows, bytes int64
	for _, t := range db.Tables() {
		rows += t.Rows
		bytes += t.Bytes
	}
	return fmt.Sprintf("%s rows, %.1f MB", thousands(rows), float64(bytes)/1e6)
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// measurement is a query's times. The JSON of bench is a list of these.
type measurement struct {
	Name    string  `json:"name"`
	Parse   float64 `json:"parse_ms"`
	Plan    float64 `json:"plan_ms"`
	Compile float64 `json:"compile_ms"`
	Exec    float64 `json:"exec_ms"`
	Total   float64 `json:"total_ms"`
	Rows    int64   `json:"rows"`
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

// The table of times is printed line by line, as the queries finish.
const timesRow = " %-7s %8v %11s %9s %9s %9s\n"

func timesHeader(w io.Writer) {
	fmt.Fprintf(w, timesRow, "query", "rows", "parse+plan", "compile", "execute", "total ms")
	fmt.Fprintln(w, " "+strings.Repeat("-", 58))
}

func timesLine(w io.Writer, m measurement) {
	fmt.Fprintf(w, timesRow, m.Name, m.Rows, number(m.Parse+m.Plan), number(m.Compile), number(m.Exec), number(m.Total))
}

func timesFooter(w io.Writer, list []measurement) {
	sum := 0.0
	for _, m := range list {
		sum += m.Total
	}
	fmt.Fprintln(w, " "+strings.Repeat("-", 58))
	fmt.Fprintf(w, timesRow, "sum", "", "", "", "", number(sum))
	fmt.Fprintf(w, timesRow, "geomean", "", "", "", "", number(geomean(list)))
}

func number(x float64) string { return fmt.Sprintf("%.2f", x) }
