package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/gen"
)

const benchHelp = `Generates a benchmark's tables in memory, runs each query runs+1 times, the
first time to warm up, and prints the medians. On a GPU also the time of its
kernels, and the bound: the time that reading the columns takes at least.

Usage:
  kelpie bench tpch|ssb|more [flags]

Flags:
  --sf N             scale factor (default 1)
  --runs N           measured runs of each query (default 3)
  --queries LIST     only these, such as q1,q6
  --json FILE        write the times as JSON, too (- is stdout, no table)
  --analyze FILE     write EXPLAIN ANALYZE of each query there, once it is hot
  --cold             on a GPU, how long kernels take to be there: compiled anew,
                     stored by earlier processes, and kept by this one
  --without LIST     then all once more with these techniques off, such as
                     packed_columns; SHOW ALL lists them
  --clients N        one client, then N at once, each of which runs all queries
  --against DEVICE   each query by turns here and on another device, such as
                     --device auto --against cpu
` + engineHelp

// benchResult is what --json writes.
type benchResult struct {
	Suite   string        `json:"suite"`
	SF      float64       `json:"sf"`
	Device  string        `json:"device"`
	Threads int           `json:"threads"`
	Runs    int           `json:"runs"`
	Version string        `json:"version"`
	Queries []measurement `json:"queries,omitempty"`
	Geomean float64       `json:"geomean_ms,omitempty"`
	// GPUBytes is what the columns of all queries take in the GPU's memory.
	GPUBytes   int64              `json:"gpu_column_bytes,omitempty"`
	GPUColumns []kelpie.GPUColumn `json:"gpu_columns,omitempty"`
	// Without is the same with some techniques off.
	Without *withoutResult `json:"without,omitempty"`
	// With --cold and --clients.
	Cold    []coldMeasurement   `json:"cold,omitempty"`
	Clients *clientsMeasurement `json:"clients,omitempty"`
	// With --against, the other device and the times on both.
	Other   string               `json:"other_device,omitempty"`
	Against []againstMeasurement `json:"against,omitempty"`
}

// withoutResult is what was measured with techniques off.
type withoutResult struct {
	Off      string        `json:"off"`
	Queries  []measurement `json:"queries"`
	Geomean  float64       `json:"geomean_ms"`
	GPUBytes int64         `json:"gpu_column_bytes,omitempty"`
}

func benchCommand(ctx context.Context, args []string) error {
	var engine engineFlags
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	engine.register(fs)
	sf := fs.Float64("sf", 1, "")
	runs := fs.Int("runs", 3, "")
	only := fs.String("queries", "", "")
	file := fs.String("json", "", "")
	analyzeFile := fs.String("analyze", "", "")
	cold := fs.Bool("cold", false, "")
	clients := fs.Int("clients", 0, "")
	without := fs.String("without", "", "")
	against := fs.String("against", "", "")
	words, err := parseFlags(fs, args, benchHelp)
	if err != nil {
		return err
	}
	s, err := findSuite("bench", words)
	if err != nil {
		return err
	}
	if err := checkScale(*sf); err != nil {
		return err
	}
	if *runs < 1 {
		return usagef("--runs %d: it must be 1 or more", *runs)
	}
	if *clients < 0 || *clients > maxClients {
		return usagef("--clients %d: it must be from 1 to %d", *clients, maxClients)
	}
	if *without != "" && (*cold || *clients > 0) {
		return usagef("--without is for times of queries, not for --cold or --clients")
	}
	if *cold && *clients > 0 {
		return usagef("--cold and --clients measure different things")
	}
	if *against != "" && (*cold || *clients > 0 || *without != "" || *analyzeFile != "") {
		return usagef("--against is by itself: --cold, --clients, --without and --analyze measure other things")
	}
	if s.queries, err = choose(s.queries, *only); err != nil {
		return err
	}
	// The file is made first: an hour's measurement should not end with a mistyped path.
	var jsonFile io.WriteCloser
	out := io.Writer(os.Stdout)
	switch *file {
	case "":
	case "-":
		jsonFile, out = os.Stdout, io.Discard
	default:
		if jsonFile, err = os.Create(*file); err != nil {
			return err
		}
		defer jsonFile.Close()
	}
	var analyzed io.Writer
	if *analyzeFile != "" {
		f, err := os.Create(*analyzeFile)
		if err != nil {
			return err
		}
		defer f.Close()
		analyzed = f
	}
	meter := newProgress(os.Stderr)
	db, err := engine.open(meter.option())
	if err != nil {
		return err
	}
	defer db.Close()
	r := &runner{session: db.Session(), progress: meter}
	took, err := s.load(ctx, r, *sf)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s at scale factor %v: %s in memory, generated in %.1f s\n", s.title, *sf, sizes(db), took.Seconds())
	fmt.Fprintf(out, "medians of %d run%s on %s with %d thread%s\n\n", *runs, plural(*runs), engine.device, engine.threads, plural(engine.threads))
	doc := benchResult{Suite: s.name, SF: *sf, Device: engine.device, Threads: engine.threads, Runs: *runs, Version: versionText()}
	if !*cold { // times are those of kernels that are as good as they will be
		if _, err := r.session.Exec(ctx, "set quick_kernels = off"); err != nil {
			return err
		}
	}
	switch {
	case *cold:
		if doc.Cold, err = r.measureCold(ctx, s.queries, *runs, out); err != nil {
			return err
		}
	case *clients > 0:
		if doc.Clients, err = measureClients(ctx, db, s.queries, *clients, *runs, out); err != nil {
			return err
		}
	case *against != "":
		doc.Other = *against
		if doc.Against, err = r.measureAgainst(ctx, engine.device, *against, s.queries, *runs, out); err != nil {
			return err
		}
	default:
		if doc.Queries, err = r.measureAll(ctx, s.queries, *runs, out, &engine, analyzed); err != nil {
			return err
		}
		doc.Geomean = geomean(doc.Queries)
		doc.GPUBytes, doc.GPUColumns = gpuBytes(db, out), db.GPUColumns()
		if *without != "" {
			if doc.Without, err = r.measureWithout(ctx, *without, s.queries, *runs, out, &engine); err != nil {
				return err
			}
			doc.Without.GPUBytes = gpuBytes(db, out)
		}
	}
	if jsonFile == nil {
		return nil
	}
	return writeJSON(jsonFile, doc)
}

// gpuBytes prints what columns take in a GPU's memory, if there are any.
func gpuBytes(db *kelpie.DB, out io.Writer) int64 {
	n := db.GPUBytes()
	if n > 0 {
		fmt.Fprintf(out, " columns on the device: %.1f MB\n", float64(n)/1e6)
	}
	return n
}

// measureWithout prints the times of all queries with techniques off.
func (r *runner) measureWithout(ctx context.Context, off string, queries []gen.Query, runs int, out io.Writer, engine *engineFlags) (*withoutResult, error) {
	for name := range strings.SplitSeq(off, ",") {
		if _, err := r.session.Exec(ctx, "set "+name+" = off"); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(out, "\nwithout %s\n\n", off)
	all, err := r.measureAll(ctx, queries, runs, out, engine, nil)
	if err != nil {
		return nil, err
	}
	return &withoutResult{Off: off, Queries: all, Geomean: geomean(all)}, nil
}

// measureAll prints the times of all queries, one after the other.
func (r *runner) measureAll(ctx context.Context, queries []gen.Query, runs int, out io.Writer, engine *engineFlags, analyzed io.Writer) ([]measurement, error) {
	onGPU := engine.device == "gpu" || engine.device == "auto"
	table := newTimesTable(out, queries, onGPU)
	table.bus = onGPU && engine.gpu != ""
	table.header()
	var all []measurement
	for _, q := range queries {
		m, err := r.measure(ctx, q, 1, runs)
		if err != nil {
			return nil, err
		}
		if onGPU {
			if m.GPU, err = r.measureGPU(ctx, q, runs); err != nil {
				return nil, err
			}
		}
		if analyzed != nil {
			if err := r.analyze(ctx, q, analyzed); err != nil {
				return nil, err
			}
		}
		table.line(m)
		all = append(all, m)
	}
	table.footer(all)
	return all, nil
}

// analyze writes what EXPLAIN ANALYZE says of a query.
func (r *runner) analyze(ctx context.Context, q gen.Query, w io.Writer) error {
	res, err := r.session.Query(ctx, "explain analyze "+q.SQL)
	if err != nil {
		return failed(ctx, err, source{q.Name, q.SQL})
	}
	defer res.Close()
	fmt.Fprintf(w, "== %s\n", q.Name)
	for res.Next() {
		if _, err := fmt.Fprintln(w, res.Values()[0]); err != nil {
			return err
		}
	}
	return res.Err()
}

func writeJSON(w io.WriteCloser, r benchResult) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return err
	}
	return w.Close()
}

// choose keeps the queries of a list such as q1,q6.
func choose(all []gen.Query, list string) ([]gen.Query, error) {
	if list == "" {
		return all, nil
	}
	var out []gen.Query
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(all, func(q gen.Query) bool { return q.Name == name || q.Name == "q"+name })
		if i < 0 {
			return nil, usagef("--queries: there is no query %q (%s to %s)", name, all[0].Name, all[len(all)-1].Name)
		}
		out = append(out, all[i])
	}
	return out, nil
}
