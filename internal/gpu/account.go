package gpu

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// The account of data movement: what crosses the bus, what passes between the device's memory and its chip, and what stays on the
// chip. The bus is counted on every device. The rest a simulated device counts, sector by sector; on a real one it is reckoned from the
// rows that were counted behind each operator and from the sizes of what they look at. That leaves out what sorting and other steps
// between pipelines move, and takes rows that pass for scattered evenly.

// sector is the unit in which memory is moved.
const sector = 32

// scattered is how many bytes of an array of n items, so wide each, pass to the chip if m of them are read, each sector once.
func scattered(n, m int64, width float64) int64 {
	if n <= 0 || m <= 0 || width <= 0 {
		return 0
	}
	all := float64(n) * width
	if width >= sector {
		return int64(all * math.Min(float64(m)/float64(n), 1))
	}
	missed := math.Pow(1-math.Min(float64(m)/float64(n), 1), sector/width)
	return int64(all * (1 - missed))
}

// rowsAfter is how many rows left an operator, numbered in this part of a pipeline.
func rowsAfter(p *pipe.Pipeline, src *source, st *exec.PipelineStats, after int) int64 {
	if after < -1 {
		return src.rows
	}
	return st.OpRows[p.First+after]
}

// reckon adds what a pipeline's loop over its rows moved, by the rows that were counted.
func (r *run) reckon(p *pipe.Pipeline, f *emit.Fragment, src *source, st *exec.PipelineStats) {
	r.reckonReads(p, f, src, st)
	d := &st.Device
	n, width := rowsAfter(p, src, st, len(p.Ops)-1), size(f.Sink)
	switch g := f.Group; {
	case g == nil:
		d.Reckoned += n * width
	case g.Mode == phys.RunGroups || g.Mode == phys.PartGroups: // each is written once
		d.Reckoned += min(n, max(g.Expect, 1)) * width
		if g.Mode == phys.PartGroups {
			d.ReckonedChip += n * 8 * int64(len(g.Tuple.Fields)-len(g.Domains))
		}
	case g.Mode == phys.HashGroups || g.Mode == phys.DenseGroups: // each changes a group: it is read, and written
		groups := min(n, max(g.Expect, 1))
		d.Reckoned += 2 * groups * (width + 8)
	default: // arrays; where blocks keep them, rows change them there
		d.Reckoned += 2 * min(n, g.Slots) * width
		if f.How.Block.Copies > 0 {
			d.ReckonedChip += n * 8 * int64(len(g.Tuple.Fields)-len(g.Domains)) // mostly a cell of 4 bytes is read and written
		}
	}
}

// reckonReads adds what it read of its source and of tables.
func (r *run) reckonReads(p *pipe.Pipeline, f *emit.Fragment, src *source, st *exec.PipelineStats) {
	rows := func(after int) int64 { return rowsAfter(p, src, st, after) }
	d := &st.Device
	switch s := p.Source.(type) {
	case *pipe.Table:
		for _, c := range f.Reads {
			if col := src.scan.cols[c.Col]; src.rows > 0 {
				n := scattered(src.rows, rows(c.After), col.perRow(src.rows))
				if col.late {
					d.ReckonedHost += n
				} else {
					d.Reckoned += n
				}
			}
		}
		for _, x := range src.sieve {
			if x.Kind == layout.Bitmap {
				d.Reckoned += scattered(x.Range.Span(1<<40)/8, src.rows, 1)
			}
		}
	case *pipe.Buffer:
		d.Reckoned += src.rows * size(r.sinks[s.Of].rows().tuple)
	case *pipe.Stage:
		d.Reckoned += src.rows * size(r.sinks[s].rows().tuple)
	}
	for k, op := range p.Ops {
		pr, ok := op.(*pipe.Probe)
		if !ok || r.walk.Tables[pr.Build] == nil {
			continue
		}
		t := r.walk.Tables[pr.Build]
		tuples := t.Rows * size(t.Tuple)
		slots := t.Bytes() - tuples
		d.Reckoned += scattered(slots/8, rows(k-1), 8)
		if t.Rows > 0 {
			d.Reckoned += scattered(t.Rows, rows(k), float64(size(t.Tuple)))
		}
	}
}

// perRow is how many bytes of a column each of its rows takes.
func (c *deviceColumn) perRow(rows int64) float64 {
	if !c.streamed {
		return float64(c.bytes) / float64(rows)
	}
	if c.isTested() {
		return float64(c.bits) / 8
	}
	if c.shape.Nulls {
		return float64(c.shape.Width) + 1
	}
	return float64(c.shape.Width)
}

// reckonFinish adds what finishing a sink moved: a build side is read and gets its slots, and moves into their order where keys
// are not unique; all slots of groups are looked through, and those that have rows are listed.
func (r *run) reckonFinish(s pipe.Sink, st *exec.PipelineStats) {
	if g, ok := r.sinks[s].(*groupSink); ok {
		n, width := g.result.n, size(g.plan.Tuple)
		switch g.plan.Mode {
		case phys.RunGroups, phys.PartGroups:
		case phys.HashGroups:
			st.Device.Reckoned += n * (width + 8)
		default:
			st.Device.Reckoned += g.plan.Slots*width + n*8
		}
		return
	}
	b, ok := s.(*pipe.Build)
	if !ok || r.walk.Tables[b] == nil {
		return
	}
	t := r.walk.Tables[b]
	tuples := t.Rows * size(t.Tuple)
	slots := t.Bytes() - tuples
	st.Device.Reckoned += tuples + scattered(slots/8, t.Rows, 8)
	if !t.Kind.Unique() && t.Kind != layout.List {
		st.Device.Reckoned += 2*tuples + 4*slots // counted, summed up, and looked through for long runs
	}
}

func size(t *layout.Tuple) int64 {
	if t == nil {
		return 0
	}
	return int64(t.Size)
}
