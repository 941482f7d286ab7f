package load

import (
	"slices"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// parted is a stream of parts in which column 0 has one value each.
type parted struct {
	catalog.Stream
	years []int64
	kept  []bool
}

func (p *parted) Parts() (out []*catalog.Segment) {
	for _, y := range p.years {
		c := &column.Chunk{Shape: column.PlainShape(types.TInt64), Type: types.TInt64, Rows: 1}
		c.Zone.NoNulls, c.Zone.Min, c.Zone.Max = true, types.IntValue(types.TInt64, y), types.IntValue(types.TInt64, y)
		out = append(out, &catalog.Segment{Rows: 1, Chunks: []*column.Chunk{c, nil}})
	}
	return out
}

func (p *parted) Keep(parts []bool) {
	if p.kept != nil {
		panic("Keep is called twice")
	}
	p.kept = append([]bool{}, parts...)
}

// TestLeaveParts: parts that a condition excludes are not read; a stream of which nothing is known is read whole, and so is
// a part about whose column nothing is known.
func TestLeaveParts(t *testing.T) {
	year := func(op plan.Op, y int64) plan.Expr {
		return &plan.Call{Op: op, T: types.TBool, Args: []plan.Expr{&plan.Ref{ID: 7, T: types.TInt64}, &plan.Const{V: types.IntValue(types.TInt64, y)}}}
	}
	other := &plan.Call{Op: plan.Eq, T: types.TBool, Args: []plan.Expr{&plan.Ref{ID: 8, T: types.TInt64}, &plan.Const{V: types.IntValue(types.TInt64, 1)}}}
	for _, c := range []struct {
		filter []plan.Expr
		want   []bool
	}{
		{nil, []bool{true, true, true}},
		{[]plan.Expr{year(plan.Ge, 2024)}, []bool{false, true, true}},
		{[]plan.Expr{year(plan.Gt, 2024)}, []bool{false, false, true}},
		{[]plan.Expr{year(plan.Eq, 2024), other}, []bool{false, true, false}},
		{[]plan.Expr{year(plan.Lt, 2023)}, []bool{false, false, false}},
		{[]plan.Expr{other}, []bool{true, true, true}},
	} {
		s := &parted{years: []int64{2023, 2024, 2025}}
		scan := &plan.Scan{Snap: &catalog.Snapshot{Stream: s}, Cols: []plan.ColID{7, 8}, Ordinal: []int{0, 1}, Filter: c.filter}
		LeaveParts(scan, nil)
		if !slices.Equal(s.kept, c.want) {
			t.Errorf("%v: %v, not %v", c.filter, s.kept, c.want)
		}
	}
	unknown := &parted{}
	LeaveParts(&plan.Scan{Snap: &catalog.Snapshot{Stream: unknown}}, nil)
	if unknown.kept != nil {
		t.Error("parts of a stream that has none are chosen:", unknown.kept)
	}
}
