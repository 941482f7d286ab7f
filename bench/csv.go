package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie/gen/tpch"
)

// runCSV imports lineitem from a CSV file into both engines, in turns.
func runCSV(args []string, out, log io.Writer) error {
	o, dir, remove, err := beginFiles("csv", args)
	if err != nil {
		return err
	}
	defer remove()
	path := filepath.Join(dir, fmt.Sprintf("sf%g_lineitem.csv", o.sf))
	if _, err := os.Stat(path); err != nil {
		k := openKelpie()
		for _, sql := range []string{fmt.Sprintf("CALL tpch(sf => %g)", o.sf), fmt.Sprintf("COPY lineitem TO '%s' (FORMAT csv, HEADER)", path)} {
			if err := k.drain(sql); err != nil {
				return err
			}
		}
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "CSV import of lineitem sf %g: %.0f MB, least of %d runs\n%-8s %8s %10s %10s %10s %10s\n", o.sf, float64(st.Size())/1e6, o.runs,
		"engine", "threads", "seconds", "MB/s", "CPU s", "MB/CPU s")
	for _, threads := range o.threads {
		k := openKelpie()
		d, err := openDuck()
		if err != nil {
			return err
		}
		defer d.close()
		if err := setThreads(threads, k, d); err != nil {
			return err
		}
		wall := map[engine]float64{k: math.Inf(1), d: math.Inf(1)}
		cpu := map[engine]float64{k: math.Inf(1), d: math.Inf(1)}
		for range o.runs {
			for _, e := range []engine{k, d} {
				if err := createLineitem(e); err != nil {
					return err
				}
				start, used := time.Now(), cpuTime()
				if err := e.drain(fmt.Sprintf("COPY lineitem FROM '%s' (FORMAT csv, HEADER)", path)); err != nil {
					return fmt.Errorf("%s: %w", e.name(), err)
				}
				wall[e] = min(wall[e], time.Since(start).Seconds())
				cpu[e] = min(cpu[e], (cpuTime() - used).Seconds())
			}
		}
		for _, e := range []engine{k, d} {
			mb := float64(st.Size()) / 1e6
			fmt.Fprintf(out, "%-8s %8d %10.2f %10.0f %10.2f %10.0f\n", e.name(), threads, wall[e], mb/wall[e], cpu[e], mb/cpu[e])
		}
	}
	return nil
}

// createLineitem makes the empty table anew.
func createLineitem(e engine) error {
	for _, sql := range []string{"DROP TABLE IF EXISTS lineitem", "CREATE TABLE lineitem (" + lineitemColumns() + ")"} {
		if err := e.drain(sql); err != nil {
			return fmt.Errorf("%s: %w", e.name(), err)
		}
	}
	return nil
}

// lineitemColumns are the columns of lineitem with their types.
func lineitemColumns() string {
	var cols []string
	for _, t := range tpch.Tables() {
		for _, c := range t.Columns {
			if t.Name == "lineitem" {
				cols = append(cols, c.Name+" "+c.Type)
			}
		}
	}
	return strings.Join(cols, ", ")
}
