package compile

import (
	"maps"
	"math"

	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// statistics are facts that nobody has measured: the layouts of tuples are those that earlier pipelines of the walk have fixed, and
// estimates of the optimizer tell the rest.
type statistics struct {
	w    *Walk
	left map[pipe.Sink]int
	rows map[pipe.Sink]int64 // of sinks that all pipelines into them are compiled for
}

func newStatistics(w *Walk) *statistics {
	return &statistics{w: w, left: maps.Clone(w.makers), rows: map[pipe.Sink]int64{}}
}

// ran notes that a pipeline would have run. After the last one into a sink, what is in there can be guessed.
func (s *statistics) ran(p *pipe.Pipeline) {
	if s.left[p.Sink]--; s.left[p.Sink] > 0 {
		return
	}
	l := s.w.Layout(p.Sink)
	switch k := p.Sink.(type) {
	case *pipe.Stage:
		s.rows[k] = l.MaxRows
	case *pipe.Collect:
		s.rows[k] = phys.Expected(k.Node)
	case *pipe.Aggregate:
		s.rows[k] = phys.Expected(k.Group)
	case *pipe.Fold:
		s.rows[k] = phys.Expected(k.Group)
	case *pipe.Rounds:
		s.rows[k] = phys.Expected(k.Node)
	case *pipe.Build:
		side := phys.BuildSide{Tuple: l.Tuple, Keys: len(k.Keys), Rows: phys.Expected(k.Side()), NoDirect: s.w.Off.DirectTables, FreeSlots: s.w.Can.FreeSlots}
		d, _ := phys.ChooseTable(side, phys.BelievedKeys(k, l.Tuple))
		s.w.Tables[k] = &layout.Table{Tuple: l.Tuple, Rows: side.Rows, Kind: d.Kind, Min: d.Min, Span: d.Span, Bits: d.Bits}
		s.rows[k] = side.Rows
	}
}

func (s *statistics) Scan(t *pipe.Table) Scan {
	arrays := s.w.Copies != nil && !load.InFiles(t.Scan)
	return Scan{Rows: t.Scan.Snap.Rows, Arrays: arrays, Whole: arrays}
}

func (s *statistics) Shapes(t *pipe.Table, filters []scanned.Filter) []scanned.Shape {
	if s.w.Copies != nil && !load.InFiles(t.Scan) {
		return s.w.Copies(t.Scan)
	}
	return load.FirstShapes(t.Scan, filters)
}

func (s *statistics) Rows(of pipe.Sink) (Rows, bool) {
	n, ok := s.rows[of]
	if !ok {
		return Rows{}, false
	}
	l := s.w.Layout(of)
	out := Rows{Tuple: l.Tuple, N: n}
	switch of := of.(type) {
	case *pipe.Collect:
		out.Indirect = len(of.Keys) > 0
		out.InParts = l.Parts != nil
	case *pipe.Fold:
		out.Tuple = FoldTuple(s.w.prog.Query.Cols, of.Group)
	case *pipe.Aggregate:
		out.Indirect = s.w.Can.Lists && l.Group.Mode != phys.RunGroups && l.Group.Mode != phys.PartGroups || l.Group.Mode == phys.ArrayGroups
	}
	return out, true
}

func (s *statistics) Keys(b *pipe.Build, key int) (Keys, error) {
	t := s.w.Tables[b]
	if rng := t.Tuple.Fields[key].Desc.Range; rng.Fits64() {
		return &believed{phys.ChooseKeySet(t.Rows, int64(rng.Lo.Lo), int64(rng.Hi.Lo), s.w.Can), rng, t.Rows}, nil
	}
	return nil, nil
}

// believed is a set of keys that nobody has made.
type believed struct {
	set   phys.KeySet
	rng   layout.Range
	count int64
}

func (k *believed) Count() int64 {
	if k.set.Kind == layout.Bitmap {
		return min(k.count, k.rng.Span(math.MaxInt64))
	}
	return k.count
}

func (k *believed) Filter() (scanned.Filter, bool, error) {
	return scanned.Filter{Range: k.rng, Kind: k.set.Kind, Bits: k.set.Bits}, true, nil
}
