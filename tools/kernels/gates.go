package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/internal/exec"
)

// gate is a query, and what its largest pipeline may cost by the design; 0: the design does not say.
type gate struct {
	suite, query string
	instrs       float64 // of a warp, for 32 rows
	sectors      float64 // of columns, of what these take
	atomics      float64 // on global memory, for 1000 rows
	note         string  // why the design's limit is not there
}

// allGates are queries of every shape. The limits are those of the design, where it is about them: it bounds sectors of columns, but the bytes of a text lie
// where they lie; and atomics of groups in an array, but each block adds its groups up at its end, which is much where there are few rows for each
// block, and where few of many rows come to thousands of groups, those are in device memory.
var allGates = []gate{
	{"tpch", "q6", 18, mostSectors, 1, ""}, {"tpch", "q1", 80, mostSectors, 1, ""},
	{"tpch", "q3", 0, mostSectors, 0, ""},
	{"tpch", "q9", 0, mostSectors, 0, ""}, {"tpch", "q13", 0, 0, 0, "reads texts"}, {"tpch", "q18", 0, mostSectors, 0, "runs of sorted rows"},
	{"ssb", "q1.1", 0, mostSectors, 1, ""}, {"ssb", "q2.1", 0, mostSectors, 0, "7000 groups in device memory"},
	{"ssb", "q3.1", 0, mostSectors, 1, ""}, {"ssb", "q4.1", 0, mostSectors, 0, "few rows for each block"},
}

const (
	mostSectors  = 1.1 // of what the columns take
	mostLaunches = 5   // of a pipeline
	mostBus      = 64 << 10
)

// gatesFile is the table that CI keeps.
var gatesFile = func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "gates.txt")
}()

const gatesHead = `# What kernels cost, counted by the simulated GPU at scale factor %v, in the largest pipeline of each query when it comes again: warp
# instructions for 32 rows; bytes that its warps ask for of each byte of its columns, sector by sector, and what they ask for beside that for each row: tables, sets of keys,
# groups, of which a row that is looked up touches a sector wherever that lies; atomics on global memory for 1000 rows; the most launches of a pipeline; bytes over
# the bus of the whole query. What the design asks for stands behind the slash: no figure may be above that, nor worse than here.
# go run ./tools/kernels -rewrite writes this file.
`

// gates is the table.
func gates() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, gatesHead, scale)
	fmt.Fprintf(&b, "%-10s %14s %10s %10s %10s %10s %14s\n", "query", "instructions", "columns", "looked up", "atomics", "launches", "bus bytes")
	worlds := map[string]*world{}
	for _, g := range allGates {
		s := suites()[slices.IndexFunc(suites(), func(s suite) bool { return s.name == g.suite })]
		w := worlds[g.suite]
		if w == nil {
			var err error
			if w, err = newWorld(s, 90); err != nil {
				return "", err
			}
			worlds[g.suite] = w
		}
		sql := s.queries[slices.IndexFunc(s.queries, func(q gen.Query) bool { return q.Name == g.query })].SQL
		if _, err := w.ask(sql); err != nil {
			return "", fmt.Errorf("%s %s: %w", g.suite, g.query, err)
		}
		st, err := w.ask(sql)
		if err != nil {
			return "", fmt.Errorf("%s %s: %w", g.suite, g.query, err)
		}
		b.WriteString(g.line(&st))
	}
	err := launches(&b)
	return b.String(), err
}

const launchesHead = `
# The most launches of a pipeline of all queries.
`

// launches is the table of all queries' launches, also of those that are not measured above.
func launches(b *strings.Builder) error {
	b.WriteString(launchesHead)
	for _, s := range suites() {
		w, err := newWorld(s, 90)
		if err != nil {
			return err
		}
		most := int64(0)
		for _, q := range s.queries {
			st, err := w.ask(q.SQL)
			if err != nil {
				return fmt.Errorf("%s %s: %w", s.name, q.Name, err)
			}
			for i := range st.Pipelines {
				if n := st.Pipelines[i].Launches; n > mostLaunches {
					fmt.Printf("%s %s: pipeline %d has %d launches\n", s.name, q.Name, i, n)
				}
				most = max(most, st.Pipelines[i].Launches)
			}
		}
		fmt.Fprintf(b, "%-10s %-20s %s\n", "launches", s.name, fmt.Sprintf("%d/%d", most, mostLaunches))
	}
	return nil
}

func (g *gate) line(st *exec.Stats) string {
	p := &st.Pipelines[0]
	launches, bus := int64(0), int64(0)
	for i := range st.Pipelines {
		x := &st.Pipelines[i]
		if x.RowsIn > p.RowsIn {
			p = x
		}
		launches = max(launches, x.Launches)
		bus += x.Device.Up + x.Device.Down
	}
	rows := float64(p.RowsIn)
	of := func(x float64, digits int, limit float64) string {
		s := strconv.FormatFloat(x, 'f', digits, 64)
		if limit > 0 {
			s += "/" + strconv.FormatFloat(limit, 'g', -1, 64)
		}
		return s
	}
	line := fmt.Sprintf("%-10s %14s %10s %10s %10s %10s %14s", g.suite+" "+g.query,
		of(float64(p.Lanes.WarpInstrs)*32/rows, 1, g.instrs),
		of(float64(p.Lanes.SectorsRead-p.Lanes.SectorsMade)*32/float64(max(p.Device.Columns, 1)), 2, g.sectors),
		of(float64(p.Lanes.SectorsMade)*32/rows, 2, 0),
		of(float64(p.Lanes.Atomics)*1000/rows, 2, g.atomics),
		of(float64(launches), 0, mostLaunches), of(float64(bus), 0, mostBus))
	if g.note != "" {
		line += "  # " + g.note
	}
	return line + "\n"
}

// slack is by how much a figure may grow unnoticed.
const slack = 1.02

// compareGates fails if a figure is above what the design asks for, or worse than in the file.
func compareGates(text string) error {
	if above := aboveLimits(text); len(above) > 0 {
		return errors.New("more than the design asks for:\n" + strings.Join(above, "\n"))
	}
	kept, err := os.ReadFile(gatesFile)
	if err != nil {
		return err
	}
	worse, better := compareTables(string(kept), text)
	for _, b := range better {
		fmt.Println("better than gates.txt, write it with -rewrite:", b)
	}
	if len(worse) > 0 {
		return errors.New("worse than gates.txt says:\n" + strings.Join(worse, "\n"))
	}
	return nil
}

// aboveLimits lists the figures that are above what stands behind their slashes.
func aboveLimits(text string) (above []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, _, _ = strings.Cut(line, " # ")
		for _, word := range strings.Fields(line) {
			figure, limit, ok := strings.Cut(word, "/")
			x, err1 := strconv.ParseFloat(figure, 64)
			most, err2 := strconv.ParseFloat(limit, 64)
			if ok && (err1 != nil || err2 != nil || x > most) {
				above = append(above, word+" in "+strings.TrimSpace(line))
			}
		}
	}
	return above
}

// compareTables lists the figures that are worse, and those that are better, than those that were kept.
func compareTables(kept, now string) (worse, better []string) {
	was, is := figures(kept), figures(now)
	for query, figures := range is {
		if was[query] == nil {
			worse = append(worse, query+": it is not in the file")
			continue
		}
		for i, x := range figures {
			what := fmt.Sprintf("%s: %v, was %v", query, x, was[query][i])
			if len(figures) > 1 {
				what = fmt.Sprintf("%s: %s %v, was %v", query, figureNames[i], x, was[query][i])
			}
			switch {
			case x > was[query][i]*slack+0.005:
				worse = append(worse, what)
			case x*slack+0.005 < was[query][i]:
				better = append(better, what)
			}
		}
	}
	slices.Sort(worse)
	slices.Sort(better)
	return worse, better
}

// figureNames are the columns of the first table.
var figureNames = []string{"instructions", "columns", "looked up", "atomics", "launches", "bus bytes"}

// figures reads tables: the figures before the slashes of each line, by its first two words.
func figures(text string) (out map[string][]float64) {
	out = map[string][]float64{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " # ")
		f := strings.Fields(line)
		if len(f) < 3 || f[0] == "#" || f[0] == "query" {
			continue
		}
		for _, word := range f[2:] {
			n, _, _ := strings.Cut(word, "/")
			x, _ := strconv.ParseFloat(n, 64)
			out[f[0]+" "+f[1]] = append(out[f[0]+" "+f[1]], x)
		}
	}
	return out
}
