package session

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plot"
)

// EXPLAIN (ANALYZE, LANES): how many lanes of a warp had a row behind each operator. emit/warp_lanes.go says how they are counted.

// laneParts is into how many classes the numbers of active lanes are put where 32 are too many to read.
const laneParts = 8

// partOf is the class of a number of active lanes, partName its name.
func partOf(lanes int) int     { return (lanes - 1) * laneParts / layout.WarpLanes }
func partName(part int) string { return fmt.Sprintf("%d-%d", part*width+1, (part+1)*width) }
func partsOf(bins []uint64) (out [laneParts]float64) {
	for k, n := range bins {
		out[partOf(k+1)] += float64(n)
	}
	return out
}

const width = layout.WarpLanes / laneParts

// laneRow is a line of the profile.
type laneRow struct {
	name       string
	tuples     string // what cannot be told is empty
	iterations float64
	mean       float64
	parts      [laneParts]float64
}

// laneRows are the lines of a pipeline; nil: it did not run on a device.
func (x *explanation) laneRows(t *pipe.Text, i int) []laneRow {
	st := &x.stats.Pipelines[i]
	var out []laneRow
	for k := -1; k < len(t.Ops); k++ {
		a := st.OpLanes[k]
		if a == nil || k >= 0 && !t.Changes(k) {
			continue
		}
		p := t.At(k)
		row := laneRow{name: strings.TrimSpace(p.Kind + " " + p.What), tuples: strconv.FormatInt(a.Tuples(), 10), iterations: float64(a.Iterations()), mean: a.Mean()}
		var bins [layout.WarpLanes]uint64
		for k, n := range a {
			bins[k] = uint64(n)
		}
		row.parts = partsOf(bins[:])
		out = append(out, row)
	}
	if l := &st.Lanes; l.WarpInstrs > 0 { // simulated: every instruction was seen
		out = append(out, laneRow{name: "(instructions)", iterations: float64(l.WarpInstrs), mean: l.Activity() * layout.WarpLanes, parts: partsOf(l.Active[1:])})
	}
	return out
}

// lanesText is the profile as a table.
func (x *explanation) lanesText() string {
	var parts []string
	for i, t := range pipe.Describe(x.prog) {
		rows := x.laneRows(t, i)
		if rows == nil {
			parts = append(parts, fmt.Sprintf("%s: no lanes; %s", t.Pipeline.Name(), x.withoutLanes(i)))
			continue
		}
		const most = 36 // of a name
		w := len("after")
		for k := range rows {
			if r := []rune(rows[k].name); len(r) > most {
				rows[k].name = string(r[:most-1]) + "…"
			}
			w = max(w, len([]rune(rows[k].name)))
		}
		head := fmt.Sprintf("  %-*s  %12s  %12s  %5s ", w, "after", "tuples", "iterations", "lanes")
		for k := range laneParts {
			head += fmt.Sprintf(" %6s", partName(k))
		}
		lines := []string{t.Pipeline.Name() + ": " + x.stats.Pipelines[i].Device.Needs.String(), head}
		for _, r := range rows {
			pad := strings.Repeat(" ", w-len([]rune(r.name)))
			line := fmt.Sprintf("  %s%s  %12s  %12.0f  %5.1f ", r.name, pad, r.tuples, r.iterations, r.mean)
			for _, n := range r.parts {
				share := "."
				if n > 0 {
					share = fmt.Sprintf("%.1f%%", 100*n/r.iterations)
				}
				line += fmt.Sprintf(" %6s", share)
			}
			lines = append(lines, line)
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

// withoutLanes says why a pipeline has no profile.
func (x *explanation) withoutLanes(i int) string {
	switch st := &x.stats.Pipelines[i]; {
	case st.Idle:
		return "it was not run"
	case st.Device == (exec.DeviceStats{}):
		return "it ran on the CPU"
	}
	return "it had no rows"
}

// lanesPicture is the profile as SVG.
func (x *explanation) lanesPicture() string {
	c := plot.Chart{Title: "Active lanes behind each operator", Note: "shares of warp iterations, by the number of their 32 lanes that had a row"}
	for k := range laneParts {
		c.Series = append(c.Series, plot.Series{Name: partName(k)})
	}
	var notes []string
	for i, t := range pipe.Describe(x.prog) {
		for _, r := range x.laneRows(t, i) {
			c.Labels = append(c.Labels, t.Pipeline.Name()+"  "+r.name)
			for k, n := range r.parts {
				c.Series[k].Values = append(c.Series[k].Values, n)
			}
			notes = append(notes, fmt.Sprintf("%s × %.1f lanes", plot.Number(r.iterations), r.mean))
		}
	}
	return c.Shares(notes)
}

// jsonLanes is the profile behind an operator.
type jsonLanes struct {
	Tuples     int64          `json:"tuples"`
	Iterations int64          `json:"iterations"`
	Mean       float64        `json:"mean_lanes"`
	Histogram  *exec.Activity `json:"histogram"` // iterations with 1, 2 … 32 active lanes
}

func jsonLanesOf(a *exec.Activity) *jsonLanes {
	if a == nil {
		return nil
	}
	return &jsonLanes{Tuples: a.Tuples(), Iterations: a.Iterations(), Mean: a.Mean(), Histogram: a}
}
