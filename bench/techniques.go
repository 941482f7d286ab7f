package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie/gen"
)

// technique is something that makes Kelpie fast and that settings switch off.
type technique struct {
	name     string
	settings string
	reload   bool   // tables are made differently
	base     string // settings of both sides: where another technique would hide this one
}

var techniques = []technique{
	{"SIMD filters", "simd=off", false, ""},
	{"branch-free selection, beside SIMD", "branch_free=off", false, ""},
	{"branch-free selection, instead of SIMD", "branch_free=off", false, "simd=off"},
	{"prefetch", "prefetch=off", false, ""},
	{"Bloom and semi-join filters", "semijoin_filters=off", false, ""},
	{"narrow integers", "narrow_integers=off", true, ""},
	{"dictionaries", "dictionaries=off", true, ""},
	{"narrow tuples", "narrow_tuples=off", false, ""},
	{"direct addressing", "direct_tables=off", false, ""},
	{"group keys packed into one", "packed_keys=off", false, ""},
	{"groups in parts, two threads", "group_parts=off", false, "threads=2"},
	{"keys of a match from the row at hand", "matched_keys=off", false, ""},
	{"post-projection", "post_projection=off", false, ""},
	{"checks removed by statistics", "range_checks=off", false, ""},
	{"register allocation", "register_allocation=off", false, ""},
	{"fused operands", "fused_operands=off", false, ""},
	{"radix sort", "radix_sort=off", false, ""},
	{"rows that are sort keys, as numbers", "bare_sort=off", false, ""},
	{"top-N filter", "topn_filter=off", false, ""},
	{"results without tuples", "direct_scan=off,late_columns=off", false, ""},
	{"layouts of shared sinks", "shared_sinks=off", false, ""},
	{"memory used again", "memory_pool=off", false, ""},
	{"texts made by code", "text_code=off", false, ""},
	{"functions of texts once per dictionary entry", "text_maps=off", false, ""},
	{"calendars and IN tables", "lookup_tables=off", false, ""},
	{"group keys as numbers", "disabled_optimizers=simplekeys", false, ""},
}

// apply changes settings.
func (k *kelpie) apply(list string) error {
	sqls, err := settingList(list)
	for _, sql := range sqls {
		if err == nil {
			err = k.drain(sql)
		}
	}
	return err
}

// gain is what a technique brings to a suite.
type gain struct {
	ratio float64 // how many times as long queries take without it, geometric mean
	query string  // the one that profits most
	most  float64
	worst string // the one that profits least, or loses
	least float64
}

// techniquesCommand runs suites with and without each technique, in turns in one process, and
// prints how many times the CPU time queries take without it. The fastest run counts: a technique changes
// the work, what else goes on only adds to it.
func techniquesCommand(args []string, out, log io.Writer) error {
	fs := flag.NewFlagSet("bench techniques", flag.ContinueOnError)
	fs.SetOutput(log)
	names := fs.String("suites", "tpch,ssb,more", "suites to run, separated by commas")
	only := fs.String("only", "", "settings of the techniques to look at, separated by commas")
	sf := fs.Float64("sf", 1, "scale factor")
	threads := fs.Int("threads", 1, "threads")
	runs := fs.Int("runs", 5, "runs per query with and without; the fastest counts")
	queries := fs.String("queries", "", "queries to run, separated by commas; all if empty")
	markdown := fs.Bool("markdown", false, "print tables for LOG.md")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 || *runs < 1 || *sf <= 0 || *threads < 1 {
		return errors.New("techniques: see -h for the options")
	}
	for _, name := range strings.Split(*names, ",") {
		s, err := findSuite(name)
		if err != nil {
			return err
		}
		if s.queries, err = s.pick(*queries); err != nil {
			return err
		}
		t := table{rows: [][]string{{"without", "× slower", "most", "", "least", ""}}}
		fmt.Fprintf(out, "\n%s sf %g, threads: %d, times the CPU time without a technique, fastest of %d runs\n", s.name, *sf, *threads, *runs)
		on := openKelpie()
		if err := s.loadKelpie(on, *sf); err != nil {
			return err
		}
		for _, tech := range techniques {
			if *only != "" && !strings.Contains(","+*only+",", ","+strings.TrimSuffix(tech.settings, "=off")+",") {
				continue
			}
			g, err := s.gain(tech, on, *sf, *threads, *runs, log)
			if err != nil {
				fmt.Fprintf(log, "%s: %v\n", tech.name, err)
				t.rows = append(t.rows, []string{tech.name, "–", "", "", "", ""})
				continue
			}
			t.rows = append(t.rows, []string{tech.name, number2(g.ratio), g.query, number2(g.most), g.worst, number2(g.least)})
		}
		t.print(out, *markdown)
		debug.FreeOSMemory()
	}
	return nil
}

// gain measures a suite with and without a technique; on has the suite's tables.
func (s suite) gain(tech technique, on *kelpie, sf float64, threads, runs int, log io.Writer) (gain, error) {
	off := on.another()
	on = on.another()
	if tech.reload {
		off = openKelpie()
		defer debug.FreeOSMemory()
	}
	if err := off.apply(tech.settings); err != nil {
		return gain{}, err
	}
	if tech.reload {
		if err := s.loadKelpie(off, sf); err != nil {
			return gain{}, err
		}
	}
	if err := setThreads(threads, on, off); err != nil {
		return gain{}, err
	}
	for _, k := range []*kelpie{on, off} {
		if err := k.apply(tech.base); err != nil {
			return gain{}, err
		}
	}
	g := gain{least: 1e9}
	var ratios []float64
	for _, q := range s.queries {
		r, err := slowdown(q, on, off, runs)
		if err != nil {
			return gain{}, fmt.Errorf("%s: %w", q.Name, err)
		}
		ratios = append(ratios, r)
		if r > g.most {
			g.query, g.most = q.Name, r
		}
		if r < g.least {
			g.worst, g.least = q.Name, r
		}
	}
	g.ratio = geomean(ratios)
	fmt.Fprintf(log, "%s %s: %s\n", s.name, tech.name, strconv.FormatFloat(g.ratio, 'f', 2, 64))
	return g, nil
}

// slowdown is how many times as long off takes as on.
func slowdown(q gen.Query, on, off *kelpie, runs int) (float64, error) {
	best := [2]time.Duration{1 << 62, 1 << 62}
	for range runs + 1 { // the first one warms up
		for i, k := range []*kelpie{on, off} {
			start := cpuTime()
			if err := k.drain(q.SQL); err != nil {
				return 0, err
			}
			best[i] = min(best[i], cpuTime()-start)
		}
	}
	return float64(best[1]) / float64(best[0]), nil
}
