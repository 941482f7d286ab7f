package load

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// skipSegment reports that no row of the segment can pass the scan's filter, by its zone maps.
func skipSegment(scan *plan.Scan, seg *catalog.Segment, filters []scanned.Filter) bool {
	if seg.Loader != nil && skipFixed(scan, seg) {
		return true
	}
	for _, x := range scan.Filter {
		c, ok := x.(*plan.Call)
		if !ok || !c.Op.IsComparison() {
			continue
		}
		ref, k := operands(c)
		if ref == nil || k.V.Null {
			continue
		}
		ch := chunkOf(scan, seg, ref.ID)
		if ch == nil || ref.T.Kind != k.V.Type.Kind {
			continue
		}
		if ch.Zone.NullCount == seg.Rows {
			return true
		}
		if ref.T.Kind == types.Interval || ref.T.IsFloat() || ch.Zone.Min.Type.Kind != ref.T.Kind { // unknown: files may not tell
			continue
		}
		op := c.Op
		if _, flipped := c.Args[1].(*plan.Ref); flipped {
			op = op.Mirror()
		}
		lo, hi := types.Compare(ch.Zone.Min, k.V), types.Compare(ch.Zone.Max, k.V)
		switch op {
		case plan.Eq:
			if lo > 0 || hi < 0 {
				return true
			}
		case plan.Lt:
			if lo >= 0 {
				return true
			}
		case plan.Le:
			if lo > 0 {
				return true
			}
		case plan.Gt:
			if hi <= 0 {
				return true
			}
		case plan.Ge:
			if hi < 0 {
				return true
			}
		}
	}
	for _, f := range filters {
		ch := chunkOf(scan, seg, f.Col)
		if ch == nil || ch.Enc != column.EncInt {
			continue
		}
		if ch.Zone.NullCount == seg.Rows ||
			ch.Zone.Min.Int128().Cmp(f.Range.Hi) > 0 || ch.Zone.Max.Int128().Cmp(f.Range.Lo) < 0 {
			return true
		}
	}
	return false
}

// chunkOf is the chunk of a scan's column; nil if the segment has none.
func chunkOf(scan *plan.Scan, seg *catalog.Segment, id plan.ColID) *column.Chunk {
	for k, c := range scan.Cols {
		if c == id {
			return seg.Chunks[scan.Ordinal[k]]
		}
	}
	return nil
}

// operands takes a comparison of a column with a literal apart.
func operands(c *plan.Call) (*plan.Ref, *plan.Const) {
	for i := range 2 {
		if r, ok := c.Args[i].(*plan.Ref); ok {
			if k, ok := c.Args[1-i].(*plan.Const); ok {
				return r, k
			}
		}
	}
	return nil, nil
}
