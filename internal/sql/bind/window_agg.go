package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// foldCall is a fold of a window's frames: the aggregate but for its arguments.
type foldCall struct {
	*plan.Fold
	direct   []types.Value
	filter   plan.Expr // nil: all rows count
	distinct bool
	order    []windowKey
}

// windowFold notes a fold over a window's frames.
func (b *binder) windowFold(s *scope, c windowCall, name string, a *plan.Agg, t types.Type) plan.Expr {
	c.fn.Func, c.fn.Agg = plan.WinAgg, plan.Folded
	c.args = a.Args()
	c.fold = &foldCall{Fold: a.Fold, direct: a.Direct, filter: a.Filter, distinct: a.Distinct}
	for _, o := range a.Order {
		c.fold.order = append(c.fold.order, windowKey{o.X, o.Desc, o.NullsFirst})
	}
	if a.Filter != nil {
		// Arguments that may fail are only looked at where the filter is true.
		for i, x := range c.args {
			if mayFail(x) {
				c.args[i] = plan.NewCall(plan.Case, x.Type(), a.Filter, x, plan.NullConst(x.Type()))
			}
		}
	}
	return b.addWindow(s, &c, name, t)
}

func (f *foldCall) same(g *foldCall) bool {
	if f == nil || g == nil {
		return f == g
	}
	filters := f.filter == nil && g.filter == nil || f.filter != nil && g.filter != nil && plan.EqualExpr(f.filter, g.filter)
	return f.Fold == g.Fold && f.distinct == g.distinct && filters && slices.Equal(f.direct, g.direct) && slices.EqualFunc(f.order, g.order, windowKey.equal)
}

func (f *foldCall) rewrite(g *grouper, at span) {
	if f.filter != nil {
		f.filter = g.rewrite(f.filter, at)
	}
	for k := range f.order {
		f.order[k].x = g.rewrite(f.order[k].x, at)
	}
}

// columns is the fold over columns that p computes.
func (f *foldCall) columns(p *projector) *plan.WindowFold {
	out := &plan.WindowFold{Fold: f.Fold, Direct: f.direct, Distinct: f.distinct}
	if f.filter != nil {
		out.Filter = p.shared(f.filter, "filter")
	}
	for _, k := range f.order {
		out.Order = append(out.Order, plan.SortKey{Col: p.shared(k.x, "sort key"), Desc: k.desc, NullsFirst: k.nullsFirst})
	}
	return out
}

// windowAggregate binds an aggregate with OVER. What FILTER leaves out is NULL, which aggregates do not look at.
// Averages are made of sums and counts, and so are deviations of exact numbers. What looks at values that are equal only
// once, or in an order, is a fold.
func (b *binder) windowAggregate(s *scope, call *windowCall, e *ast.Func, f plan.AggFunc) plan.Expr {
	name := e.Name.Last()
	a := plan.Agg{Func: f, Distinct: e.Distinct}
	args := b.windowArgs(s, e)
	switch {
	case e.Star, f == plan.Count && name == "count" && len(args) == 0 && !e.Distinct:
		a.Func, a.Distinct = plan.CountStar, false
	case len(args) != 1:
		panic(noFunction(name, args, e.Pos))
	default:
		a.Arg = args[0]
	}
	s.windows.in = "call"
	order := b.aggregateOrder(s, e.OrderBy)
	s.windows.in = ""
	t := b.aggregateType(&a, name, e)
	b.ordered(&a, e, order)
	intervals(&a)
	if e.Filter != nil {
		s.windows.in = "call"
		cond := b.boolean(s, e.Filter, "FILTER")
		s.windows.in = ""
		if a.Func == plan.CountStar {
			a.Func, a.Arg = plan.Count, plan.BoolConst(true)
		}
		a.Arg = plan.NewCall(plan.Case, a.Arg.Type(), cond, a.Arg, plan.NullConst(a.Arg.Type()))
	}
	folded := func(f *plan.Fold, arg plan.Expr, t types.Type) plan.Expr {
		return b.windowFold(s, *call, name, &plan.Agg{Fold: f, Arg: arg, Distinct: a.Distinct, Order: a.Order}, t)
	}
	simple := func(f plan.AggFunc, arg plan.Expr, t types.Type) plan.Expr {
		switch {
		case f == plan.Count && a.Distinct:
			return folded(funcs.CountRows, arg, t)
		case f == plan.Sum && a.Distinct && !t.IsFloat():
			return folded(funcs.SumExact, arg, t)
		case f == plan.Sum && a.Distinct:
			return folded(funcs.InOrder[plan.Sum], arg, t)
		}
		c := *call
		c.fn.Func, c.fn.Agg = plan.WinAgg, f
		if arg != nil {
			c.args = []plan.Expr{arg}
		}
		return b.addWindow(s, &c, name, t)
	}
	sum := func(arg plan.Expr) plan.Expr {
		st, _ := types.SumType(arg.Type())
		return simple(plan.Sum, arg, st)
	}
	count := func() plan.Expr { return simple(plan.Count, a.Arg, types.TInt64) }
	switch a.Func {
	case plan.Folded:
		return folded(a.Fold, a.Arg, t)
	case plan.Avg:
		x := plan.AvgOf(a.Arg.Type(), sum(a.Arg), count())
		if x.Type() != t {
			x = plan.NewCall(plan.Cast, t, x)
		}
		return x
	case plan.StddevSamp, plan.StddevPop, plan.VarSamp, plan.VarPop:
		if x, square, ok := funcs.SumsOfVariance(a.Arg); ok && !a.Distinct {
			return funcs.VarianceOfSums(a.Func, sum(x), sum(square), count())
		}
		return folded(funcs.InOrder[a.Func], plan.Double(a.Arg), t)
	}
	return simple(a.Func, a.Arg, t)
}
