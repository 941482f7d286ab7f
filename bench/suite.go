package main

import (
	"embed"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
)

// suite is a set of queries and the tables that they read.
type suite struct {
	name    string
	call    string // Kelpie's procedure that makes the tables
	tables  []gen.Table
	setup   string // statements that make further tables in both engines
	queries []gen.Query
}

//go:embed queries
var queryFiles embed.FS

func suites() []suite {
	return []suite{
		{name: "tpch", call: "tpch", tables: tpch.Tables(), queries: tpch.Queries()},
		{name: "ssb", call: "ssb", tables: ssb.Tables(), queries: ssb.Queries()},
		{name: "more", call: "tpch", tables: tpch.Tables(), setup: readQuery("more/tables.sql"), queries: readQueries("more")},
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

func readQuery(name string) string {
	text, err := queryFiles.ReadFile(path.Join("queries", name))
	if err != nil {
		panic(err) // embedded
	}
	return string(text)
}

// readQueries reads a folder of queries, one per file; tables.sql is not one.
func readQueries(dir string) (out []gen.Query) {
	files, err := queryFiles.ReadDir(path.Join("queries", dir))
	if err != nil {
		panic(err) // embedded
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".sql"); ok && name != "tables" {
			out = append(out, gen.Query{Name: name, SQL: readQuery(path.Join(dir, f.Name()))})
		}
	}
	return out
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

var scaled = regexp.MustCompile(`\{(\d+)\}`)

var makes = regexp.MustCompile(`create table (\w+)`)

// statements are the setup at a scale factor, where {n} is n rows at scale factor 1. Tables that no query
// reads are left out.
func (s suite) statements(sf float64) []string {
	text := scaled.ReplaceAllStringFunc(s.setup, func(m string) string {
		n, _ := strconv.ParseFloat(m[1:len(m)-1], 64)
		return strconv.Itoa(int(math.Ceil(n * sf)))
	})
	out := strings.SplitAfter(text, ";\n")
	return slices.DeleteFunc(out, func(sql string) bool {
		made := makes.FindStringSubmatch(sql)
		return made == nil || !slices.ContainsFunc(s.queries, func(q gen.Query) bool {
			return regexp.MustCompile(`\b` + made[1] + `\b`).MatchString(q.SQL)
		})
	})
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
	for _, sql := range s.statements(sf) {
		if err := e.drain(sql); err != nil {
			return fmt.Errorf("%s: %w\n%s", e.name(), err, sql)
		}
	}
	return nil
}
