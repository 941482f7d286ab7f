package phys

import (
	"fmt"
	"strings"
)

// Decision is how a pipeline runs: all that was decided for it.
type Decision struct {
	Direct Direct // what follows is for those who want to see it run
	Stream Stream // of a scan on a GPU, once it is known
	// Prefilter is what the CPU does for a scan on a GPU.
	Prefilter Prefiltered
	Searched  Searched // what a search finds out before; no column: nothing
	Packed    int      // columns that lie packed in a GPU's memory
	Front     Front
	Refill    Refill
	// RefillMatches: rows that have matches left wait, too.
	RefillMatches bool
	Crowded       bool     // at some places rows do not wait, for want of shared memory
	RefillTexts   bool     // so do rows whose text has a part of a LIKE pattern
	LaneRows      LaneRows // of a scan without a front
	Sets          []KeySet // by which its scan drops rows that find nothing in a join
	Probes        []Probe  // of the tables that rows are looked up in, in order
	Texts         bool     // filters compare texts by all lanes of a warp, one row after the other
	Late          Late
	Top           Top
	Sample        Sample  // on a GPU: what bounds the first rows
	Groups        *Groups // nil: it does not group
	Block         Block   // of groups that blocks keep
	Home          Settled // of groups on a GPU
	Launch        Launch  // on a GPU, once it is known
	Resolve       Resolve // likewise
	Apart         string  // why Resolve is not by blocks, as somebody wants it; "": it is
	Fuse          Fuse    // likewise
	Writing       Writing
	Cut           fmt.Stringer // why the pipeline ends where it need not; nil: it has to
	Unparted      string       // why rows come to their groups as they are, see Partition; "": nobody asked
}

// String tells what is worth to be told, "" if nothing is.
func (d Decision) String() string {
	var parts []string
	if d.Direct.Scan != nil {
		return d.Direct.String()
	}
	if d.Stream.Chunks > 0 {
		parts = append(parts, d.Stream.String())
	}
	if d.Prefilter.Filters > 0 {
		parts = append(parts, d.Prefilter.String())
	}
	if d.Searched.Column != "" {
		parts = append(parts, d.Searched.String())
	}
	if d.Packed > 0 {
		parts = append(parts, plural(d.Packed, "column")+" packed")
	}
	if d.Front.Rows > 0 {
		parts = append(parts, d.Front.String())
		if d.Refill == RefillList {
			parts[len(parts)-1] += ", in a list"
		}
	}
	if d.LaneRows.Rows > 0 {
		parts = append(parts, d.LaneRows.String())
	}
	if d.Refill == RefillFlush {
		parts = append(parts, "idle lanes take rows that wait")
		if d.RefillMatches {
			parts[len(parts)-1] += ", also those that have matches left"
		}
		if d.RefillTexts {
			parts[len(parts)-1] += ", also between the parts of a pattern"
		}
		if d.Crowded {
			parts[len(parts)-1] += fmt.Sprintf(", as far as shared memory is for %d threads", wantedThreads)
		}
	}
	if len(d.Sets) > 0 {
		parts = append(parts, "semi-join by "+list(d.Sets))
	}
	if len(d.Probes) > 0 {
		parts = append(parts, "probes "+list(d.Probes))
	}
	if d.Texts {
		parts = append(parts, "texts compared by the lanes of a warp together")
	}
	if len(d.Late.Ordinal) > 0 {
		parts = append(parts, d.Late.String())
	}
	if d.Top.Room > 0 {
		parts = append(parts, "keeps "+d.Top.String())
	}
	if d.Sample.Rows > 0 {
		parts = append(parts, d.Sample.String())
	}
	if g := d.Groups; g != nil && g.Mode != Ungrouped {
		text := "groups in " + g.String()
		if d.Block.Copies > 0 {
			text += " " + d.Block.String()
		}
		text += d.Home.String()
		parts = append(parts, text)
	}
	if d.Unparted != "" {
		parts = append(parts, "rows not in parts: "+d.Unparted)
	}
	if d.Cut != nil {
		parts = append(parts, d.Cut.String())
	}
	if text := d.passes(); text != "" {
		parts = append(parts, text)
	}
	switch {
	case d.Resolve == ResolveAuto || d.Home.Home > HomeGlobal: // who has groups for himself meets nobody
	case d.Apart != "":
		parts = append(parts, fmt.Sprintf("resolved by warp (not %s: %s)", d.Resolve, d.Apart))
	default:
		parts = append(parts, "resolved by "+d.Resolve.String())
	}
	if d.Launch.Blocks > 0 {
		parts = append(parts, d.Launch.String())
	}
	return strings.Join(parts, "; ")
}

// list is things one after the other.
func list[T interface{ String() string }](all []T) string {
	var texts []string
	for _, x := range all {
		texts = append(texts, x.String())
	}
	return strings.Join(texts, ", ")
}
