package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/device"
)

// qualityCommand repeats Figure 2.14 of the Flounder paper: what it brings that values live in registers, in
// executed instructions and in time, for TPC-H and for the paper's four families of queries. Vector instructions are
// off, as in the paper, so that rows pass through the code one by one. Instructions are counted by the code itself, in a run
// of its own; times are those of running generated code and its surroundings, without planning and compiling.
func qualityCommand(args []string, out, log io.Writer) error {
	fs := flag.NewFlagSet("bench quality", flag.ContinueOnError)
	fs.SetOutput(log)
	sf := fs.Float64("sf", 0.1, "scale factor of TPC-H")
	runs := fs.Int("runs", 7, "runs per query; the fastest counts")
	if err := fs.Parse(args); err != nil {
		return errUsage
	}
	k := openKelpie()
	if err := k.all(fmt.Sprintf("CALL tpch(sf => %g)", *sf), "SET threads = 1", "SET simd = off"); err != nil {
		return err
	}
	templates, err := paperQueries(k)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nevery value in memory against registers; TPC-H SF %g, 1 thread, without SIMD, fastest of %d runs\n", *sf, *runs)
	fmt.Fprintf(out, "%-14s | %7s %9s %9s %9s %9s | %7s %9s %9s %9s %9s | %7s %7s\n", "",
		"static", "executed", "memory", "spill", "ms", "static", "executed", "memory", "spill", "ms", "instr ×", "time ×")
	var fewer, faster []float64
	for _, q := range append(templates, tpch.Queries()...) {
		var tallies [2]device.Tally
		times := [2]time.Duration{math.MaxInt64, math.MaxInt64}
		for i, on := range []string{"off", "on"} {
			if err := k.all("SET register_allocation = "+on, "SET count_instructions = on"); err != nil {
				return err
			}
			if _, tallies[i], err = k.execTime(q.SQL); err != nil {
				return fmt.Errorf("%s: %w", q.Name, err)
			}
		}
		if err := k.all("SET count_instructions = off"); err != nil {
			return err
		}
		for range *runs {
			for i, on := range []string{"off", "on"} {
				if err := k.all("SET register_allocation = " + on); err != nil {
					return err
				}
				t, _, err := k.execTime(q.SQL)
				if err != nil {
					return err
				}
				times[i] = min(times[i], t)
			}
		}
		fmt.Fprintf(out, "%-14s", q.Name)
		for i, t := range tallies {
			fmt.Fprintf(out, " | %7d %9s %9s %9s %9.2f", t.Static, millions(t.Instructions), millions(t.Memory), millions(t.Spills), ms(times[i]))
		}
		few, fast := float64(tallies[0].Instructions)/float64(tallies[1].Instructions), float64(times[0])/float64(times[1])
		fmt.Fprintf(out, " | %7.2f %7.2f\n", few, fast)
		fewer, faster = append(fewer, few), append(faster, fast)
	}
	fmt.Fprintf(out, "%-14s | %47s | %47s | %7.2f %7.2f\n", "geomean", "", "", geomean(fewer), geomean(faster))
	return nil
}

func millions(n int64) string { return fmt.Sprintf("%.2fM", float64(n)/1e6) }

// all runs statements one after the other.
func (k *kelpie) all(sqls ...string) error {
	for _, sql := range sqls {
		if err := k.drain(sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// execTime runs a query and says how long it ran, and what it executed if that is counted.
func (k *kelpie) execTime(sql string) (time.Duration, device.Tally, error) {
	res, err := k.s.Query(context.Background(), sql)
	if err != nil {
		return 0, device.Tally{}, err
	}
	defer res.Close()
	return res.Timing.Exec, res.Stats.Tally, nil
}

// paperQueries are two of each of the templates of Figure 2.12, and their tables.
func paperQueries(k *kelpie) ([]gen.Query, error) {
	const rows = 1_000_000
	random := func(i, mod int) string { return fmt.Sprintf("(i::bigint * %d + %d) %% %d", 7919+2*i, 31*i, mod) }
	table := func(name string, n int, cols string) string {
		return fmt.Sprintf("CREATE TABLE %s AS SELECT %s FROM generate_series(0, %d) t(i)", name, cols, n-1)
	}
	sqls := []string{
		table("small_r", rows/10, random(1, rows/10)+" AS b, "+random(2, 100)+" AS c, "+random(3, 1000)+" AS e"),
		table("small_s", rows/10, "i AS d"),
		table("large_r", rows, random(1, rows)+" AS b, "+random(2, 100)+" AS c, "+random(3, 1000)+" AS e"),
		table("large_s", rows, "i AS d"),
		table("pi", rows, list(100, ", ", func(i int) string { return fmt.Sprintf("%s AS a%d", random(i, 1000), i) })),
	}
	for i := range 25 {
		sqls = append(sqls, table(fmt.Sprintf("r%d", i+1), 10_000, "i AS a"))
	}
	if err := k.all(sqls...); err != nil {
		return nil, err
	}
	join := func(size string) string {
		return fmt.Sprintf("SELECT avg(r.e) FROM %s_r r, %s_s s WHERE r.b = s.d AND r.c BETWEEN 40 AND 50", size, size)
	}
	return []gen.Query{
		{Name: "Q l=100K", SQL: join("small")},
		{Name: "Q l=1M", SQL: join("large")},
		{Name: "Qπ p=10", SQL: projection(10, 10)},
		{Name: "Qπ p=100", SQL: projection(100, 10)},
		{Name: "Q⋈ j=2", SQL: chain(2)},
		{Name: "Q⋈ j=25", SQL: chain(25)},
		{Name: "Qσ s=10", SQL: selection("pi", "a1", 10)},
		{Name: "Qσ s=100", SQL: selection("pi", "a1", 100)},
	}, nil
}

// chain joins n relations: select r1.a, … from r1, … where r1.a = r2.a and …
func chain(n int) string {
	return "SELECT " + list(n, ", ", func(i int) string { return fmt.Sprintf("r%d.a", i) }) +
		" FROM " + list(n, ", ", func(i int) string { return fmt.Sprintf("r%d", i) }) +
		" WHERE " + list(n-1, " AND ", func(i int) string { return fmt.Sprintf("r%d.a = r%d.a", i, i+1) })
}

// projection reads n columns of the rows of which so many in 1000 pass.
func projection(n, pass int) string {
	return "SELECT " + list(n, ", ", func(i int) string { return fmt.Sprintf("a%d", i) }) + fmt.Sprintf(" FROM pi WHERE a1 < %d", pass)
}

// selection compares a column with n literals.
func selection(table, col string, n int) string {
	return fmt.Sprintf("SELECT %s FROM %s WHERE ", col, table) + list(n, " AND ", func(i int) string { return fmt.Sprintf("%s <> %d", col, i*7) })
}

// projectionCommand repeats Figure 2.15: what it brings to read a column only for rows that passed the filter. The paper
// compares without vector instructions; the last column shows the filter that has them, which hands out row numbers.
func projectionCommand(args []string, out, log io.Writer) error {
	fs := flag.NewFlagSet("bench projection", flag.ContinueOnError)
	fs.SetOutput(log)
	runs := fs.Int("runs", 7, "runs per query; the fastest counts")
	if err := fs.Parse(args); err != nil {
		return errUsage
	}
	k := openKelpie()
	if err := k.all("SET threads = 1"); err != nil {
		return err
	}
	if _, err := paperQueries(k); err != nil {
		return err
	}
	ways := []string{"post_projection=off,simd=off", "post_projection=on,simd=off", "post_projection=on,simd=auto"}
	fmt.Fprintf(out, "\nall columns read first against read when needed; 1M rows, 1 thread, fastest of %d runs, ms\n", *runs)
	fmt.Fprintf(out, "%-8s %-8s %12s %12s %8s %12s\n", "columns", "pass", "read first", "when needed", "×", "with SIMD")
	for _, n := range []int{10, 50, 100} {
		for _, pass := range []int{1, 10, 100, 500, 1000} {
			times := []time.Duration{math.MaxInt64, math.MaxInt64, math.MaxInt64}
			for range *runs {
				for i, way := range ways {
					if err := k.apply(way); err != nil {
						return err
					}
					t, _, err := k.execTime(projection(n, pass))
					if err != nil {
						return err
					}
					times[i] = min(times[i], t)
				}
			}
			fmt.Fprintf(out, "%-8d %-8s %12.2f %12.2f %8.2f %12.2f\n", n, fmt.Sprintf("%g %%", float64(pass)/10), ms(times[0]), ms(times[1]),
				float64(times[0])/float64(times[1]), ms(times[2]))
		}
	}
	return nil
}
