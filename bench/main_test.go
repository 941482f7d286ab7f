package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/gen/more"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
)

// TestCommand runs the suites on little data, as the command does.
func TestCommand(t *testing.T) {
	for suite, queries := range map[string]int{"tpch": len(tpch.Queries()), "ssb": len(ssb.Queries()), "more": len(more.Queries())} {
		file := filepath.Join(t.TempDir(), "out.json")
		var out, log strings.Builder
		args := []string{suite, "--sf", "0.01", "--threads", "1,2", "--runs", "1", "--json", file, "--settings", "prefetch=off"}
		if err := runCommand(args, &out, &log); err != nil {
			t.Errorf("%v\n%s%s", err, log.String(), out.String())
		}
		if n := strings.Count(out.String(), "\n"); n != 2*(queries+4) { // two lines of head, one of sums, one empty
			t.Errorf("%s: %d lines, want %d\n%s", suite, n, 2*(queries+4), out.String())
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
}

// TestOneEngine runs an engine alone and reads its peak memory.
func TestOneEngine(t *testing.T) {
	for _, e := range []string{"kelpie", "duckdb"} {
		var out, log strings.Builder
		if err := runCommand(strings.Fields("tpch --sf 0.01 --runs 1 --threads 1 --queries q1,q6 --memory --engine "+e), &out, &log); err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		if !strings.Contains(out.String(), "MB in RAM") {
			t.Error(out.String())
		}
	}
}

func TestTechniques(t *testing.T) {
	var out, log strings.Builder
	if err := runCommand(strings.Fields("techniques --suites tpch --sf 0.01 --runs 1 --queries q1,q6"), &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	if strings.Count(out.String(), "\n") != len(techniques)+3 || !strings.Contains(out.String(), "prefetch") {
		t.Error(out.String())
	}
}

func TestScaling(t *testing.T) {
	var out, log strings.Builder
	if err := runCommand(strings.Fields("scaling --sf 0.01 --runs 1 --threads 1,2,3 --queries q1,q6 --engine both --cpu"), &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	if strings.Count(out.String(), "\n") != 2*6 || strings.Count(out.String(), "work ×") != 4 {
		t.Error(out.String())
	}
}

func TestUsage(t *testing.T) {
	for _, args := range []string{"", "tpcds", "tpch --threads 0", "tpch --queries q23", "ssb --runs 0", "tpch more", "more --queries q1",
		"tpch --engine sqlite", "techniques --suites tpcds", "scaling --threads 2", "scaling --engine sqlite", "scaling --queries q23"} {
		var out, log strings.Builder
		if runCommand(strings.Fields(args), &out, &log) == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
