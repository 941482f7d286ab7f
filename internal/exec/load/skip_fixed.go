package load

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/eval"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A column that has one value in a whole segment of a file, such as that of a folder's name, decides
// any condition on it before the segment is read: the condition is computed once, whatever it is.

// mostFixed bounds how often a condition is computed for a segment.
const mostFixed = 8

// skipFixed reports that a condition of the scan's filter is TRUE for no row of a segment, because the columns that it
// reads have one value there, or NULL.
func skipFixed(scan *plan.Scan, seg *catalog.Segment) bool {
	return slices.ContainsFunc(scan.Filter, func(x plan.Expr) bool { return fixedOut(x, scan, seg) })
}

func fixedOut(x plan.Expr, scan *plan.Scan, seg *catalog.Segment) bool {
	var refs plan.ColSet
	plan.AddRefs(&refs, x)
	ids := refs.Slice()
	if len(ids) == 0 {
		return false
	}
	values := make([][]types.Value, len(ids))
	ways := 1
	for i, id := range ids {
		if ch := chunkOf(scan, seg, id); ch != nil {
			values[i] = fixedValues(ch, seg.Rows)
		}
		if ways *= len(values[i]); ways == 0 || ways > mostFixed {
			return false
		}
	}
	for way := range ways {
		v, err := eval.Expr(x, func(id plan.ColID) (types.Value, bool) {
			n := way
			for i := range ids {
				if ids[i] == id {
					return values[i][n%len(values[i])], true
				}
				n /= len(values[i])
			}
			return types.Value{}, false
		})
		if err != nil || !v.Null && v.I != 0 {
			return false
		}
	}
	return true
}

// fixedValues are the values that a column may have in a segment, if it is one at most, and NULL.
func fixedValues(ch *column.Chunk, rows int) (out []types.Value) {
	if ch.Zone.NullCount == rows {
		return []types.Value{types.NullOf(ch.Type)}
	}
	z := &ch.Zone
	if ch.Type.Kind == types.Interval || ch.Type.IsFloat() || z.Min.Type.Kind != ch.Type.Kind || types.Compare(z.Min, z.Max) != 0 {
		return nil
	}
	if ch.Nulls && !z.NoNulls {
		out = append(out, types.NullOf(ch.Type))
	}
	return append(out, z.Min)
}
