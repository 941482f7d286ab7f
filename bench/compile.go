package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/session"
)

// compileCommand shows how long text becomes code: the 22 queries of TPC-H, and queries that grow in one
// dimension (the paper's Figure 2.13). DuckDB's prepare stands beside it, which plans and generates no code.
func compileCommand(args []string, out, log io.Writer) error {
	fs := flag.NewFlagSet("bench compile", flag.ContinueOnError)
	fs.SetOutput(log)
	runs := fs.Int("runs", 15, "runs per query; the fastest counts")
	only := fs.String("only", "", "one part: tpch, joins, columns or predicates")
	if err := fs.Parse(args); err != nil {
		return errUsage
	}
	k := openKelpie()
	d, err := openDuck()
	if err != nil {
		return err
	}
	defer d.close()
	if err := setThreads(1, k, d); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func(k *kelpie, d *duck, runs int, out io.Writer) error
	}{{"tpch", compileTPCH}, {"joins", growJoins}, {"columns", growColumns}, {"predicates", growPredicates}} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.run(k, d, *runs, out); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// stages is the least time that each stage took.
type stages struct{ parse, plan, compile, prepare time.Duration }

func (s stages) total() time.Duration { return s.parse + s.plan + s.compile }

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// timeStages runs a query on Kelpie and prepares it on DuckDB.
func timeStages(k *kelpie, d *duck, sql string, runs int) (stages, error) {
	s := stages{1 << 60, 1 << 60, 1 << 60, 1 << 60}
	for range runs {
		t, err := k.timing(sql)
		if err != nil {
			return s, err
		}
		s.parse, s.plan, s.compile = min(s.parse, t.Parse), min(s.plan, t.Plan), min(s.compile, t.Compile)
		start := time.Now()
		if err := d.prepare(sql); err != nil {
			return s, err
		}
		s.prepare = min(s.prepare, time.Since(start))
	}
	return s, nil
}

// timing runs a query to its end and says where its time went.
func (k *kelpie) timing(sql string) (session.Timing, error) {
	res, err := k.s.Query(context.Background(), sql)
	if err != nil {
		return session.Timing{}, err
	}
	defer res.Close()
	return res.Timing, nil
}

// prepare makes DuckDB's plan of a query.
func (d *duck) prepare(sql string) error {
	var p duckdb.PreparedStatement
	defer duckdb.DestroyPrepare(&p)
	if duckdb.Prepare(d.conn, sql, &p) == duckdb.StateError {
		return errors.New(duckdb.PrepareError(p))
	}
	return nil
}

func compileTPCH(k *kelpie, d *duck, runs int, out io.Writer) error {
	const sf = 0.01
	if err := k.drain(fmt.Sprintf("CALL tpch(sf => %g)", sf)); err != nil {
		return err
	}
	if err := d.load(tpch.Tables(), sf); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nTPC-H SF %g, 1 thread, fastest of %d runs, ms\n", sf, runs)
	fmt.Fprintf(out, "%-10s %9s %9s %9s %9s %15s\n", "query", "parse", "plan", "compile", "total", "duckdb prepare")
	var totals []time.Duration
	for _, q := range tpch.Queries() {
		s, err := timeStages(k, d, q.SQL, runs)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		totals = append(totals, s.total())
		fmt.Fprintf(out, "%-10s %9.3f %9.3f %9.3f %9.3f %15.3f\n", q.Name, ms(s.parse), ms(s.plan), ms(s.compile), ms(s.total()), ms(s.prepare))
	}
	fmt.Fprintf(out, "%-10s %39.3f\n%-10s %39.3f\n", "median", median(totals), "worst", ms(slices.Max(totals)))
	return nil
}

// grow measures a family of queries by size.
func grow(k *kelpie, d *duck, runs int, out io.Writer, unit string, sizes []int, query func(n int) string) error {
	fmt.Fprintf(out, "\n%s, 1 thread, fastest of %d runs, ms\n", unit, runs)
	fmt.Fprintf(out, "%-10s %9s %9s %9s %9s %12s %15s\n", unit, "parse", "plan", "compile", "total", "µs per unit", "duckdb prepare")
	for _, n := range sizes {
		s, err := timeStages(k, d, query(n), runs)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-10d %9.3f %9.3f %9.3f %9.3f %12.2f %15.3f\n", n, ms(s.parse), ms(s.plan), ms(s.compile), ms(s.total()),
			ms(s.total())*1e3/float64(n), ms(s.prepare))
	}
	return nil
}

// onBoth runs a statement on both engines.
func onBoth(k *kelpie, d *duck, sql string) error {
	for _, e := range []engine{k, d} {
		if err := e.drain(sql); err != nil {
			return fmt.Errorf("%s: %w", e.name(), err)
		}
	}
	return nil
}

// list is f(1), f(2), … f(n), with sep between them.
func list(n int, sep string, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i + 1)
	}
	return strings.Join(parts, sep)
}

// growJoins joins more and more relations in a chain.
func growJoins(k *kelpie, d *duck, runs int, out io.Writer) error {
	sizes := []int{2, 5, 10, 20, 50, 100}
	for i := range slices.Max(sizes) {
		if err := onBoth(k, d, fmt.Sprintf("CREATE TABLE r%d AS SELECT i AS a FROM generate_series(1, 1000) t(i)", i+1)); err != nil {
			return err
		}
	}
	return grow(k, d, runs, out, "relations", sizes, chain)
}

// growColumns is a projection: select a1, … from wide where a1 < c, one row in a hundred.
func growColumns(k *kelpie, d *duck, runs int, out io.Writer) error {
	sizes := []int{50, 100, 200, 300, 400, 500}
	if err := wideTable(k, d, slices.Max(sizes), 1000); err != nil {
		return err
	}
	return grow(k, d, runs, out, "columns", sizes, func(n int) string {
		return "SELECT " + list(n, ", ", func(i int) string { return fmt.Sprintf("a%d", i) }) + " FROM wide WHERE a1 < 10"
	})
}

// wideTable makes a table of integers whose first column is 0 … 999 in turn.
func wideTable(k *kelpie, d *duck, cols, rows int) error {
	return onBoth(k, d, "CREATE OR REPLACE TABLE wide AS SELECT "+
		list(cols, ", ", func(c int) string { return fmt.Sprintf("(i * %d) %% 1000 AS a%d", 2*c-1, c) })+
		fmt.Sprintf(" FROM generate_series(0, %d) t(i)", rows-1))
}

// growPredicates is a selection: select a from s where a <> c1 and a <> c2 …
func growPredicates(k *kelpie, d *duck, runs int, out io.Writer) error {
	if err := onBoth(k, d, "CREATE TABLE s AS SELECT i AS a FROM generate_series(1, 1000) t(i)"); err != nil {
		return err
	}
	return grow(k, d, runs, out, "predicates", []int{10, 50, 100, 200, 500, 1000}, func(n int) string {
		return selection("s", "a", n)
	})
}

// selection compares a column with n literals.
func selection(table, col string, n int) string {
	return fmt.Sprintf("SELECT %s FROM %s WHERE ", col, table) + list(n, " AND ", func(i int) string { return fmt.Sprintf("%s <> %d", col, i*7) })
}

// chain joins n relations: select r1.a, … from r1, … where r1.a = r2.a and …
func chain(n int) string {
	return "SELECT " + list(n, ", ", func(i int) string { return fmt.Sprintf("r%d.a", i) }) +
		" FROM " + list(n, ", ", func(i int) string { return fmt.Sprintf("r%d", i) }) +
		" WHERE " + list(n-1, " AND ", func(i int) string { return fmt.Sprintf("r%d.a = r%d.a", i, i+1) })
}
