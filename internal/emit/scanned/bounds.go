package scanned

import (
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Bounds is a conjunction of bounds on one integer column.
type Bounds struct {
	Col    plan.ColID
	Lo, Hi int64
	// Below and Above: something bounds the column from below, from above; Point: it must be one value.
	Below, Above, Point bool
	Share               float64     // of rows that pass, by the column's range
	Preds               []plan.Expr // what it stands for
}

// Integer reports a column of the scan that is an integer in a register and never NULL.
func (t *Table) Integer(x plan.Expr) (layout.Desc, bool) {
	ref, ok := x.(*plan.Ref)
	if !ok {
		return layout.Desc{}, false
	}
	d, ok := t.DescOf(ref.ID)
	return d, ok && d.Form == layout.I64 && !d.Nullable
}

// AddBounds folds a comparison of an integer column with a literal into the column's range.
func (t *Table) AddBounds(ranges *[]*Bounds, x plan.Expr) bool {
	c, ok := x.(*plan.Call)
	if !ok || !c.Op.IsComparison() || c.Op == plan.Ne {
		return false
	}
	op, l, r := c.Op, c.Args[0], c.Args[1]
	if _, ok := l.(*plan.Const); ok {
		op, l, r = op.Mirror(), r, l
	}
	k, ok := r.(*plan.Const)
	d, okCol := t.Integer(l)
	if !ok || !okCol || k.V.Null || k.V.Type.Phys() > types.PhysI128 || !k.V.Int128().FitsInt64() || !d.Range.Fits64() {
		return false
	}
	id, v := l.(*plan.Ref).ID, k.V.I
	lo, hi := RangeOf(op, v)
	var b *Bounds
	for _, r := range *ranges {
		if r.Col == id {
			b = r
		}
	}
	first, last := int64(d.Range.Lo.Lo), int64(d.Range.Hi.Lo)
	if b == nil {
		b = &Bounds{Col: id, Lo: first, Hi: last}
		*ranges = append(*ranges, b)
	}
	b.Preds = append(b.Preds, x)
	b.Point = b.Point || op == plan.Eq
	b.Below = b.Below || op == plan.Eq || op == plan.Gt || op == plan.Ge
	b.Above = b.Above || op == plan.Eq || op == plan.Lt || op == plan.Le
	b.Lo, b.Hi = max(b.Lo, lo), min(b.Hi, hi)
	b.Share = ShareOf(d.Range, b.Lo, b.Hi)
	if t.Scan.Ordinal[slices.Index(t.Scan.Cols, id)] == plan.Tested {
		b.Share = min(t.Scan.Props().Rows/max(float64(t.Scan.Snap.Rows), 1), 1)
	}
	return true
}

// RangeOf is the values for which a comparison with v holds; for Ne, those for which it does not. Where there is none, lo is
// above hi.
func RangeOf(op plan.Op, v int64) (lo, hi int64) {
	lo, hi = math.MinInt64, math.MaxInt64
	switch op {
	case plan.Eq, plan.Ne:
		return v, v
	case plan.Lt:
		if v == math.MinInt64 {
			return hi, lo
		}
		hi = v - 1
	case plan.Le:
		hi = v
	case plan.Gt:
		if v == math.MaxInt64 {
			return hi, lo
		}
		lo = v + 1
	case plan.Ge:
		lo = v
	}
	return lo, hi
}

// ShareOf guesses the share of a column's rows with values from lo to hi.
func ShareOf(r layout.Range, lo, hi int64) float64 {
	first, last := int64(r.Lo.Lo), int64(r.Hi.Lo)
	lo, hi = max(lo, first), min(hi, last)
	if lo > hi {
		return 0
	}
	return (float64(hi) - float64(lo) + 1) / (float64(last) - float64(first) + 1)
}
