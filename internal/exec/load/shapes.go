package load

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// IsStream reports a scan whose rows nobody can count before they are read.
func IsStream(s *plan.Scan) bool { return s.Snap.Stream != nil }

// Shapes are the shapes of a segment's columns.
func Shapes(scan *plan.Scan, seg *catalog.Segment) []scanned.Shape {
	out := make([]scanned.Shape, len(scan.Cols))
	for k, ord := range scan.Ordinal {
		c := seg.Chunks[ord]
		out[k] = scanned.Shape{Shape: c.Shape, Based: c.Base != 0}
	}
	return out
}

// EmptyShape is a stand-in for the shape of a column without any segment.
func EmptyShape(scan *plan.Scan, k int) scanned.Shape {
	s := column.Shape{Width: 8}
	switch scan.Table.Columns[scan.Ordinal[k]].Type.Phys() {
	case types.PhysI128:
		s.Enc = column.EncI128
	case types.PhysF64:
		s.Enc = column.EncF64
	case types.PhysStr:
		s.Enc = column.EncStr
	case types.PhysIvl:
		s.Enc = column.EncIvl
	}
	return scanned.Shape{Shape: s}
}

// FirstShapes are those of the first segment that has rows and is not left out.
func FirstShapes(scan *plan.Scan, filters []scanned.Filter) []scanned.Shape {
	if IsStream(scan) {
		return Shapes(scan, scan.Snap.Segments[0])
	}
	out := make([]scanned.Shape, len(scan.Cols))
	for k := range out {
		out[k] = EmptyShape(scan, k)
	}
	found := false
	for _, seg := range scan.Snap.Segments {
		skip := skipSegment(scan, seg, filters)
		if seg.Rows == 0 || skip && found {
			continue
		}
		out = Shapes(scan, seg)
		if found = true; !skip {
			break
		}
	}
	return out
}
