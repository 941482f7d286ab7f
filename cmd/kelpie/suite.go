package main

import (
	"context"
	"fmt"
	"time"

	"github.com/kelpiedb/kelpie"
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/more"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
)

// suite is a benchmark: tables that CALL call(sf => …) generates, and queries over them.
type suite struct {
	name    string
	title   string
	call    string
	tables  []gen.Table
	queries []gen.Query
	// further are statements that make more tables, for some queries; nil: there are none.
	further func(sf float64, queries []gen.Query) []string
}

var suites = []suite{
	{"tpch", "TPC-H", "tpch", tpch.Tables(), tpch.Queries(), nil},
	{"ssb", "Star Schema Benchmark", "ssb", ssb.Tables(), ssb.Queries(), nil},
	{"more", "More queries", "tpch", nil, more.Queries(), more.Tables},
}

// findSuite takes the suite's name from the words of a command line.
func findSuite(command string, words []string) (suite, error) {
	names := "tpch, ssb or more"
	if command == "gen" { // tables by SQL are not written
		names = "tpch, or ssb"
	}
	if len(words) == 1 {
		for _, s := range suites {
			if s.name == words[0] && (s.tables != nil || command != "gen") {
				return s, nil
			}
		}
	}
	return suite{}, usagef("%s needs the name of a benchmark: kelpie %s %s", command, command, names)
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
		if _, err := r.session.Exec(ctx, fmt.Sprintf("call %s(sf => %v)", s.call, sf)); err != nil || s.further == nil {
			return err
		}
		for _, sql := range s.further(sf, s.queries) {
			if _, err := r.session.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
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
