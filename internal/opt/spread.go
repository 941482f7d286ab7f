package opt

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Deviations of doubles, and what is made of pairs of them, follow from a count, sums, and sums of products of distances from the means,
// all of which generated code keeps up to date row by row (plan.Spread).

// spreadable reports an aggregate for which that is so. One that has an order of its own is rounded in that order.
func (s *state) spreadable(a plan.Agg) bool {
	return s.spreads && a.Func == plan.Folded && !a.Distinct && len(a.Order) == 0 && a.Fold.Parts != nil && a.Fold.Parts.OfSums != nil
}

// spreads is the value of such an aggregate, over the sums that it needs.
func (sp *splitter) spreads(a plan.Agg) plan.Expr {
	before := a.Args()
	sp.below.arguments(&a)
	args := a.Args()
	var counts []plan.Expr // which rows
	if a.Filter != nil {
		counts = append(counts, a.Filter)
	}
	for i, x := range args {
		if !plan.NotNullExpr(before[i], &sp.notNull) {
			counts = append(counts, plan.Negate(plan.NewCall(plan.IsNull, types.TBool, x)))
		}
	}
	var filter plan.Expr
	if len(counts) > 0 {
		filter = plan.AndOf(counts...)
	}
	of := func(f plan.AggFunc, arg plan.Expr, more ...plan.Expr) plan.Expr {
		return sp.simple(plan.Agg{Func: f, Arg: arg, More: more, Filter: filter}, types.TFloat64)
	}
	count := sp.simple(plan.Agg{Func: plan.CountStar, Filter: filter}, types.TInt64)
	fn := a.Fold.Parts.OfSums
	if len(args) == 1 {
		x := args[0]
		return plan.NewApply(fn, types.TFloat64, -1, count, of(plan.Sum, x), of(plan.Spread, x))
	}
	y, x := args[0], args[1]
	return plan.NewApply(fn, types.TFloat64, -1, count, of(plan.Sum, x), of(plan.Sum, y), of(plan.Spread, x, x), of(plan.Spread, y, y), of(plan.Spread, x, y))
}
