package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// command is a subcommand. It gets the arguments after its name.
type command struct {
	name string
	doc  string
	run  func(args []string, out, log io.Writer) error
}

var commands = []command{
	{"tpch", "TPC-H, both engines side by side", suiteCommand("tpch")},
	{"ssb", "the Star Schema Benchmark, likewise", suiteCommand("ssb")},
	{"more", "further queries over TPC-H and tables with what it lacks", suiteCommand("more")},
	{"compile", "how long text becomes code, and how that grows with the query", compileCommand},
	{"techniques", "what each technique of Kelpie brings: suites with one switched off at a time", techniquesCommand},
	{"scaling", "what further threads bring: thread counts in turns", scalingCommand},
	{"parquet", "TPC-H from Parquet files, written by either engine", runParquet},
	{"csv", "importing lineitem from a CSV file", runCSV},
	{"load", "filling tables: CREATE TABLE AS, INSERT … SELECT, COPY", runLoad},
}

// errUsage is a command line that makes no sense; what is wrong was printed.
var errUsage = errors.New("")

func main() {
	switch err := runCommand(os.Args[1:], os.Stdout, os.Stderr); {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func runCommand(args []string, out, log io.Writer) error {
	for _, c := range commands {
		if len(args) > 0 && c.name == args[0] {
			return c.run(args[1:], out, log)
		}
	}
	fmt.Fprintln(log, "usage: bench COMMAND [OPTIONS]; bench COMMAND -h lists the options")
	for _, c := range commands {
		fmt.Fprintf(log, "  %-12s %s\n", c.name, c.doc)
	}
	return errUsage
}
