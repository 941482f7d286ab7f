package catalog

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// columnState is what a table remembers of a column between appends. Stats are made
// from it for each snapshot.
type columnState struct {
	nulls    int64
	hasRange bool
	noRange  bool // some chunk has values, but does not tell their range
	min, max types.Value
	bytes    int64
	unsorted bool  // some value is less than its predecessor, or NULL
	runs     int64 // different values, while sorted
	sketch   column.Sketch
}

// foldAll makes the state of segments that take the place of base, whose state was before. Values of those that stay are not
// counted again: that would take as long as the table is, and a few that are gone change an estimate little.
func (t *Table) foldAll(base *Snapshot, before []columnState, segs []*Segment) {
	stay := make(map[*Segment]bool, len(base.Segments))
	for _, s := range base.Segments {
		stay[s] = true
	}
	var rows, known int64
	for _, s := range segs {
		if stay[s] {
			known += int64(s.Rows)
		}
	}
	if known > 0 && len(before) == len(t.state) {
		for i := range t.state {
			t.state[i].sketch = before[i].sketch
		}
	}
	for _, s := range segs {
		t.fold(rows, s, known > 0 && stay[s])
		rows += int64(s.Rows)
	}
}

// fold adds a segment that comes after the first rows rows. The values of a known one are counted already.
func (t *Table) fold(rows int64, s *Segment, known bool) {
	for i, c := range s.Chunks {
		st, z := &t.state[i], &c.Zone
		if !known {
			c.AddTo(&st.sketch)
		}
		st.nulls += int64(z.NullCount)
		st.bytes += z.Bytes
		hasRange := c.HasRange()
		noRange := c.Rows > z.NullCount && !hasRange
		st.noRange = st.noRange || noRange
		var order int // the column's largest value so far against the chunk's smallest
		if st.hasRange && hasRange {
			order = types.Compare(st.max, z.Min)
		} else if rows == 0 {
			order = -1
		}
		st.unsorted = st.unsorted || !z.Sorted || order > 0 || noRange
		st.runs += int64(z.Runs)
		if order == 0 { // a value goes on from the segment before, or, of texts that were cut, may do so
			st.runs--
		}
		if !hasRange {
			continue
		}
		if !st.hasRange || types.Compare(z.Min, st.min) < 0 {
			st.min = z.Min
		}
		if !st.hasRange || types.Compare(z.Max, st.max) > 0 {
			st.max = z.Max
		}
		st.hasRange = true
	}
}

// stats describes a snapshot whose rows have all been folded.
func (t *Table) stats(s *Snapshot) []ColumnStats {
	out := make([]ColumnStats, len(t.Columns))
	for i := range out {
		st, cs := &t.state[i], &out[i]
		values := float64(s.Rows - st.nulls)
		cs.NullCount = st.nulls
		cs.HasRange, cs.Min, cs.Max = st.hasRange && !st.noRange, st.min, st.max
		cs.Sorted = s.Rows > 0 && !st.unsorted
		if values > 0 {
			cs.AvgLen = float64(st.bytes) / values
		}
		if cs.Dict = t.commonDict(s, i); cs.Dict != nil {
			cs.DictLen = cs.Dict.Len()
		}
		cs.Distinct = t.distinct(i, values, cs)
	}
	return out
}

// distinct corrects the sketch's estimate by what is certain.
func (t *Table) distinct(col int, values float64, cs *ColumnStats) float64 {
	st := &t.state[col]
	if values == 0 {
		return 0
	}
	if t.isKey(col) {
		return values
	}
	if !st.unsorted {
		return float64(st.runs)
	}
	d := math.Round(st.sketch.Estimate())
	if st.hasRange && st.min.Type.Phys() == types.PhysI64 {
		d = min(d, float64(st.max.I)-float64(st.min.I)+1)
	}
	if n := float64(cs.DictLen); cs.Dict != nil && d > 0.9*n { // its entries are in use, or nearly all
		d = n
	}
	return max(1, min(d, values))
}

// isKey reports a column that is unique by itself.
func (t *Table) isKey(col int) bool {
	for _, k := range t.Keys {
		if len(k) == 1 && k[0] == col {
			return true
		}
	}
	return false
}

// commonDict is the column's dictionary if all chunks use it.
func (t *Table) commonDict(s *Snapshot, col int) *column.Dict {
	if t.dicts[col] == nil || len(s.Segments) == 0 {
		return nil
	}
	for _, seg := range s.Segments {
		if seg.Chunks[col].Enc != column.EncDict {
			return nil
		}
	}
	return t.dicts[col]
}
