package main

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/more"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
)

// suite is a set of queries and the tables that they read.
type suite struct {
	name   string
	call   string // Kelpie's procedure that makes the tables
	tables []gen.Table
	// setup are statements that make further tables, in both engines; nil: there are none.
	setup   func(sf float64, queries []gen.Query) []string
	queries []gen.Query
}

func suites() []suite {
	return []suite{
		{name: "tpch", call: "tpch", tables: tpch.Tables(), queries: tpch.Queries()},
		{name: "ssb", call: "ssb", tables: ssb.Tables(), queries: ssb.Queries()},
		{name: "more", call: "tpch", tables: tpch.Tables(), setup: more.Tables, queries: more.Queries()},
	}
}

func findSuite(name string) (suite, error) {
	for _, s := range suites() {
		if s.name == name {
			return s, nil
		}
	}
	return suite{}, fmt.Errorf("there is no suite %q", name)
}

// pick selects queries by names separated by commas, all if there are none. A name that ends with a star stands for all
// queries that begin so.
func (s suite) pick(names string) (out []gen.Query, err error) {
	if names == "" {
		return s.queries, nil
	}
	for _, name := range strings.Split(names, ",") {
		n := len(out)
		head, star := strings.CutSuffix(name, "*")
		for _, q := range s.queries {
			if q.Name == name || star && strings.HasPrefix(q.Name, head) {
				out = append(out, q)
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("--queries: %s has no query %q", s.name, name)
		}
	}
	return out, nil
}

// loadKelpie makes the suite's tables in Kelpie, under its settings.
func (s suite) loadKelpie(k *kelpie, sf float64) error {
	if err := k.drain(fmt.Sprintf("CALL %s(sf => %g)", s.call, sf)); err != nil {
		return fmt.Errorf("kelpie: %w", err)
	}
	return s.runSetup(k, sf)
}

// loadDuck makes the same tables in DuckDB.
func (s suite) loadDuck(d *duck, sf float64) error {
	for _, sql := range []string{"SET integer_division = true", "SET default_null_order = 'nulls_last_on_asc_first_on_desc'"} {
		if err := d.drain(sql); err != nil { // PostgreSQL's ways, as Kelpie has them
			return fmt.Errorf("duckdb: %w", err)
		}
	}
	if err := d.load(s.tables, sf); err != nil {
		return fmt.Errorf("duckdb: %w", err)
	}
	if err := s.runSetup(d, sf); err != nil {
		return err
	}
	if d.inFile {
		if err := d.drain("CHECKPOINT"); err != nil {
			return fmt.Errorf("duckdb: %w", err)
		}
	}
	return nil
}

func (s suite) runSetup(e engine, sf float64) error {
	if s.setup == nil {
		return nil
	}
	for _, sql := range s.setup(sf, s.queries) {
		if err := e.drain(sql); err != nil {
			return fmt.Errorf("%s: %w\n%s", e.name(), err, sql)
		}
	}
	return nil
}
