package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A LIMIT in a correlated subquery is one for each outer row. Evaluated for all of them at once, rows are numbered
// within the outer row that they belong to, in the order that was asked for, and the first of each are kept.

// pullLimit pulls correlation through a limit. Only equalities can pass: rows that are equal to one outer value
// are then a partition, which the limit cuts.
func (s *state) pullLimit(x *plan.Sort, outer *plan.ColSet, exists bool) (plan.Node, []plan.Expr, bool) {
	if x.Limit < 0 && x.Offset == 0 {
		return s.pull(x.Input, outer, exists)
	}
	in, preds, ok := s.pull(x.Input, outer, false)
	if !ok {
		return nil, nil, false
	}
	made := plan.Produced(in)
	var partition []plan.ColID
	keys := &plan.Project{Input: in, Keep: in.Produces(nil)}
	up := make([]plan.Expr, len(preds))
	for i, p := range preds {
		inner, out, equi := plan.EquiSides(p, &made, outer)
		if !equi {
			return nil, nil, false
		}
		ref, plain := inner.(*plan.Ref)
		if !plain {
			id := s.newCol("expr", inner)
			keys.Exprs, keys.Cols = append(keys.Exprs, inner), append(keys.Cols, id)
			ref = s.cols.NewRef(id)
		}
		if !slices.Contains(partition, ref.ID) {
			partition = append(partition, ref.ID)
		}
		up[i] = plan.Compare(p.(*plan.Call).Op, ref, out)
	}
	if len(keys.Exprs) > 0 {
		in = keys
	}
	return s.limitEach(x, in, partition), up, true
}

// limitEach is the limit of x within each value of the partition's columns, over in, which takes the place of its input.
func (s *state) limitEach(x *plan.Sort, in plan.Node, partition []plan.ColID) plan.Node {
	if x.Limit < 0 && x.Offset == 0 {
		return in
	}
	number := s.cols.New("row_number", types.TInt64, true)
	w := &plan.Window{
		Input: in,
		Specs: []plan.WindowSpec{{Partition: partition, Order: x.Keys}},
		Funcs: []plan.WindowFunc{{Func: plan.RowNumber, Frame: plan.DefaultFrame(), Col: number}},
	}
	bound := func(op plan.Op, n int64) plan.Expr {
		return plan.Compare(op, s.ref(number), plan.NewConst(types.IntValue(types.TInt64, n)))
	}
	f := &plan.Filter{Input: w}
	if x.Offset > 0 {
		f.Preds = append(f.Preds, bound(plan.Gt, x.Offset))
	}
	if last := x.Offset + x.Limit; x.Limit >= 0 && last >= x.Offset { // more rows than can be counted are no limit
		f.Preds = append(f.Preds, bound(plan.Le, last))
	}
	return f
}
