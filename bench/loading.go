package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/kelpiedb/kelpie/internal/types"
)

// loading is a way in which rows get into a table. PARQUET and CSV stand for files of lineitem.
type loading struct {
	name  string
	empty bool // into an empty table of lineitem's columns, made beforehand
	sql   string
	mixed bool // DuckDB's rows come in any order
}

var loadings = []loading{
	{"CTAS, all columns", false, "CREATE TABLE loaded AS SELECT * FROM lineitem", false},
	{"CTAS, filter", false, "CREATE TABLE loaded AS SELECT * FROM lineitem WHERE l_quantity < 25", false},
	{"CTAS, expressions", false, `CREATE TABLE loaded AS SELECT l_orderkey, l_linenumber, l_extendedprice * (1 - l_discount) AS price,
		l_shipdate + 30 AS due, upper(l_shipmode) AS mode, l_comment FROM lineitem`, false},
	{"CTAS, join", false, `CREATE TABLE loaded AS SELECT l_orderkey, l_linenumber, l_quantity, l_extendedprice, l_shipdate, o_custkey, o_orderdate, o_orderpriority
		FROM lineitem, orders WHERE l_orderkey = o_orderkey`, true},
	{"INSERT SELECT", true, "INSERT INTO loaded SELECT * FROM lineitem", false},
	{"CTAS from Parquet", false, "CREATE TABLE loaded AS SELECT * FROM 'PARQUET'", false},
	{"COPY from Parquet", true, "COPY loaded FROM 'PARQUET' (FORMAT parquet)", false},
	{"COPY from CSV", true, "COPY loaded FROM 'CSV' (FORMAT csv, HEADER)", false},
	{"CTAS from CSV", false, "CREATE TABLE loaded AS SELECT * FROM 'CSV'", false},
}

// runLoad times how tables are filled, in both engines by turns, and compares what is in them, row by row in order.
func runLoad(args []string, out, log io.Writer) error {
	o, dir, remove, err := beginFiles("load", args)
	if err != nil {
		return err
	}
	defer remove()
	k := openKelpie()
	if err := k.drain(fmt.Sprintf("CALL tpch(sf => %g)", o.sf)); err != nil {
		return err
	}
	if err := k.apply("file_cache=off," + o.settings); err != nil {
		return err
	}
	d, err := openDuck()
	if err != nil {
		return err
	}
	defer d.close()
	suite, err := findSuite("tpch")
	if err != nil {
		return err
	}
	if err := d.load(suite.tables, o.sf); err != nil {
		return err
	}
	files := map[string]string{"PARQUET": filepath.Join(dir, fmt.Sprintf("sf%g_lineitem.parquet", o.sf)),
		"CSV": filepath.Join(dir, fmt.Sprintf("sf%g_lineitem.csv", o.sf))}
	for format, path := range files {
		if _, err := os.Stat(path); err == nil {
			continue
		}
		e := engine(d) // whose Parquet files are what people have
		if format == "CSV" {
			e = k
		}
		if err := e.drain(fmt.Sprintf("COPY lineitem TO '%s' (FORMAT %s)", path, strings.ToLower(format))); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "Loading lineitem sf %g, least of %d runs in seconds, DuckDB %s\n\n%-20s", o.sf, o.runs, duckdb.LibraryVersion(), "")
	for _, t := range o.threads {
		fmt.Fprintf(out, " %26s", fmt.Sprintf("threads=%d  DuckDB  times", t))
	}
	fmt.Fprintln(out, "   rows")
	differ := false
	clock := wallTime
	if o.cpu {
		clock = cpuTime
	}
	for _, l := range loadings {
		if !strings.Contains(l.name, o.cases) {
			continue
		}
		sql := l.sql
		for format, path := range files {
			sql = strings.ReplaceAll(sql, format, path)
		}
		fmt.Fprintf(out, "%-20s", l.name)
		verdict := ""
		for _, t := range o.threads {
			if err := setThreads(t, k, d); err != nil {
				return err
			}
			best := map[engine]float64{k: math.Inf(1), d: math.Inf(1)}
			for range o.runs {
				for _, e := range []engine{k, d} {
					took, err := l.run(e, sql, clock)
					if err != nil {
						return fmt.Errorf("%s: %s: %w", l.name, e.name(), err)
					}
					best[e] = min(best[e], took.Seconds())
				}
			}
			fmt.Fprintf(out, " %12.3f %7.3f %5.2f", best[k], best[d], best[d]/best[k])
			if diff, err := sameTables(k, d, l.mixed); err != nil {
				return err
			} else if diff != "" {
				verdict, differ = diff, true
			}
		}
		if verdict == "" {
			verdict = "agree"
		}
		fmt.Fprintf(out, "   %s\n", verdict)
	}
	if differ {
		return fmt.Errorf("rows differ")
	}
	return nil
}

// run fills the table once.
func (l *loading) run(e engine, sql string, now clock) (time.Duration, error) {
	if err := e.drain("DROP TABLE IF EXISTS loaded"); err != nil {
		return 0, err
	}
	if l.empty {
		if err := e.drain("CREATE TABLE loaded (" + lineitemColumns() + ")"); err != nil {
			return 0, err
		}
	}
	start := now()
	err := e.drain(sql)
	return now() - start, err
}

// Of a large table windows of rows are compared cell by cell, from the first to the last; sums take in the others.
const (
	windows    = 40
	windowRows = 500
)

// sameTables compares what both engines have loaded: sums over all rows, and rows at the same places.
func sameTables(k, d engine, mixed bool) (diff string, err error) {
	same := func(sql string) ([][]types.Value, error) {
		a, err := k.rows(sql)
		if err != nil {
			return nil, err
		}
		b, err := d.rows(sql)
		if err != nil {
			return nil, err
		}
		if len(a) != len(b) {
			diff = fmt.Sprintf("%d rows against %d", len(a), len(b))
			return a, nil
		}
		for i := range a {
			if !sameRow(a[i], b[i]) && diff == "" {
				diff = fmt.Sprintf("%s is against %s: %s", rowText(a[i]), rowText(b[i]), sql)
			}
		}
		return a, nil
	}
	sums, err := same("SELECT count(*), sum(l_orderkey), sum(l_orderkey * l_linenumber), min(l_orderkey), max(l_linenumber) FROM loaded")
	if err != nil || diff != "" {
		return diff, err
	}
	if mixed {
		_, err := same(fmt.Sprintf("SELECT * FROM loaded ORDER BY l_orderkey, l_linenumber LIMIT %d", windows*windowRows))
		return diff, err
	}
	for w := range int64(windows) {
		at := w * max(sums[0][0].I-windowRows, 0) / (windows - 1)
		if _, err := same(fmt.Sprintf("SELECT * FROM loaded LIMIT %d OFFSET %d", windowRows, at)); err != nil || diff != "" {
			return diff, err
		}
	}
	return "", nil
}
