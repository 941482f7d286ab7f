package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommand runs both suites on little data, as the command does.
func TestCommand(t *testing.T) {
	for suite, queries := range map[string]int{"tpch": 22, "ssb": 13} {
		file := filepath.Join(t.TempDir(), "out.json")
		o, err := parseArgs([]string{suite, "--sf", "0.01", "--threads", "1,2", "--runs", "1", "--json", file})
		if err != nil {
			t.Fatal(err)
		}
		var out, log strings.Builder
		if err := run(o, &out, &log); err != nil {
			t.Fatalf("%v\n%s%s", err, log.String(), out.String())
		}
		if n := strings.Count(out.String(), "\nq"); n != 2*(queries+1) { // with the head of each table
			t.Errorf("%s: %d lines, want %d\n%s", suite, n, 2*(queries+1), out.String())
		}
		var reports []report
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &reports)
		}
		if err != nil || len(reports) != 2 || len(reports[1].Queries) != queries {
			t.Errorf("%s: JSON %v\n%s", suite, err, text)
		}
	}
	for _, args := range []string{"", "tpcds", "tpch --threads 0", "tpch --queries q23", "ssb --runs 0", "tpch more"} {
		if _, err := parseArgs(strings.Fields(args)); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
