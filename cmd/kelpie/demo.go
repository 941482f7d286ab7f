package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

const demoHelp = `Generates the TPC-H tables in memory and runs the 22 queries, each once.

Usage:
  kelpie demo [flags]

Flags:
  --sf N             scale factor (default 0.1; 1 is about 8.7 million rows)
` + engineHelp

// demoCommand is the first thing that a new user runs: all of TPC-H, cold, in a few seconds.
func demoCommand(ctx context.Context, args []string) error {
	var engine engineFlags
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	engine.register(fs)
	sf := fs.Float64("sf", 0.1, "")
	words, err := parseFlags(fs, args, demoHelp)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		return usagef("demo takes no argument %q", words[0])
	}
	if err := checkScale(*sf); err != nil {
		return err
	}
	meter := newProgress(os.Stderr)
	db, err := engine.open(meter.option())
	if err != nil {
		return err
	}
	defer db.Close()
	r := &runner{session: db.Session(), progress: meter}
	s := suites[0]
	took, err := s.load(ctx, r, *sf)
	if err != nil {
		return err
	}
	fmt.Printf("%s at scale factor %v: %s in memory, generated in %.1f s\n", s.title, *sf, sizes(db), took.Seconds())
	fmt.Printf("each query once, compiled and run on %s with %d thread%s\n\n", engine.device, engine.threads, plural(engine.threads))
	table := newTimesTable(os.Stdout, s.queries, false)
	table.header()
	var list []measurement
	for _, q := range s.queries {
		m, err := r.measure(ctx, q, 0, 1)
		if err != nil {
			return err
		}
		table.line(m)
		list = append(list, m)
	}
	table.footer(list)
	fmt.Printf("\nTry these tables yourself: run kelpie, then CALL tpch(sf => %v);\n", *sf)
	return nil
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
