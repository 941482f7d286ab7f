package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kelpiedb/kelpie/cmd/kelpie/internal/render"
)

const planHelp = `Plans as JSON documents: operators, columns, expressions, and with "cut": true where
the result of an operator is kept, so that a new pipeline begins. A plan that is run
stays as it is: the optimizer does not touch it, unless it says "optimize": true.

Usage:
  kelpie plan write SQL [flags]    prints the plan of a query
  kelpie plan run FILE [flags]     runs a plan; FILE - is stdin

Flags:
  -c SQL, -f FILE    run this before, any number of times: the tables of the plan
  --format FORMAT    of the rows, as without a command
  --timing           tell how long it took
  --device, --threads, --memory    as without a command

Example:
  kelpie plan write "SELECT count(*) FROM orders" -c "CALL tpch(sf => 0.01)" > plan.json
  kelpie plan run plan.json -c "CALL tpch(sf => 0.01)"
`

// planCommand writes and runs plans.
func planCommand(ctx context.Context, args []string) error {
	var engine engineFlags
	var before []source
	fs := flag.NewFlagSet("plan", flag.ContinueOnError)
	engine.register(fs)
	format := fs.String("format", "table", "")
	timing := fs.Bool("timing", false, "")
	fs.Func("c", "", func(text string) error {
		before = append(before, source{"", text})
		return nil
	})
	fs.Func("f", "", func(name string) error {
		text, err := readAll(name)
		before = append(before, source{name, text})
		return err
	})
	words, err := parseFlags(fs, args, planHelp)
	switch {
	case err != nil:
		return err
	case len(words) != 2 || words[0] != "run" && words[0] != "write":
		return usagef("plan wants run and a file, or write and a query")
	}
	r := &runner{timing: *timing, progress: newProgress(os.Stderr), options: render.Options{Null: "NULL"}}
	if err := r.setFormat(*format); err != nil {
		return usageError{err}
	}
	text := words[1]
	if words[0] == "run" {
		if text, err = readAll(words[1]); err != nil {
			return err
		}
	}
	db, err := engine.open(r.progress.option())
	if err != nil {
		return err
	}
	defer db.Close()
	r.session = db.Session()
	for _, src := range before {
		if _, err := r.session.Exec(ctx, src.text); err != nil {
			return failed(ctx, err, src)
		}
	}
	if words[0] == "write" {
		const head = "EXPLAIN (FORMAT plan-json) "
		var plan string
		if err := r.session.QueryRow(ctx, head+text).Scan(&plan); err != nil {
			return failed(ctx, err, source{"", head + text})
		}
		fmt.Println(plan)
		return nil
	}
	r.setOutput(standardOutput())
	err = r.run(ctx, scriptOf("", "CALL run_plan('"+strings.ReplaceAll(text, "'", "''")+"')"))
	if end := r.endOutput(); err == nil {
		err = end
	}
	return err
}

// readAll reads a file; - is stdin.
func readAll(name string) (string, error) {
	if name == "-" {
		text, err := io.ReadAll(os.Stdin)
		return string(text), err
	}
	text, err := os.ReadFile(name)
	return string(text), err
}
