package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// aggregate leaves only aggregates that generated code computes with one accumulator: averages and
// deviations become expressions over sums and counts, and what several of them need is
// computed once.
func (s *state) aggregate() {
	s.mapNodes(func(n plan.Node) plan.Node {
		if g, ok := n.(*plan.Group); ok {
			return s.splitGroup(g, !slices.ContainsFunc(g.Aggs, func(a plan.Agg) bool { return a.Func == plan.Folded && !s.spreadable(a) }))
		}
		return n
	})
}

// splitter collects the simple aggregates of a group, and the expressions over them.
type splitter struct {
	s       *state
	aggs    []plan.Agg
	index   plan.Index  // of aggs
	exprs   []plan.Expr // computed above the group …
	cols    []plan.ColID
	notNull plan.ColSet // of the group's input
	below   *columnsBelow
	spread  bool
}

// splitGroup has the sums that aggregates are made of in the group, and the rest above it. spread: also those of folds, beside which no others then
// stay in the group.
func (s *state) splitGroup(g *plan.Group, spread bool) plan.Node {
	if len(g.Aggs) == 0 {
		return g
	}
	sp := splitter{s: s, notNull: plan.NotNullCols(s.q, g.Input), below: s.newColumnsBelow(g), spread: spread}
	for _, a := range g.Aggs {
		sp.add(a)
	}
	g.Aggs = sp.aggs
	sp.below.put(g)
	if len(sp.exprs) == 0 {
		return g
	}
	p := &plan.Project{Input: g, Exprs: sp.exprs, Cols: sp.cols}
	computed := plan.MakeColSet(sp.cols...)
	for _, id := range g.KeyCols {
		p.Keep = append(p.Keep, id)
	}
	for _, a := range g.Aggs {
		if !computed.Has(a.Col) {
			p.Keep = append(p.Keep, a.Col)
		}
	}
	return p
}

// add takes one aggregate of the query.
func (sp *splitter) add(a plan.Agg) {
	s := sp.s
	if a.Distinct { // left to the distinct pass, which comes back here
		sp.append(a)
		return
	}
	if a.Func == plan.Count && plan.NotNullExpr(a.Arg, &sp.notNull) {
		a.Func, a.Arg = plan.CountStar, nil
	}
	if sp.spread && s.spreadable(a) {
		sp.compute(a.Col, sp.spreads(a))
		return
	}
	switch a.Func {
	case plan.Avg:
		if !a.Arg.Type().IsNumeric() {
			panic(diag.Unsupported(diag.NoPos, "avg of %s", a.Arg.Type().SQLName()))
		}
		sp.compute(a.Col, plan.AvgOf(a.Arg.Type(), sp.sum(a.Arg, a.Filter), sp.count(a)))
	case plan.StddevSamp, plan.StddevPop, plan.VarSamp, plan.VarPop:
		sp.compute(a.Col, sp.variance(a))
	default:
		if i := sp.find(&a); i >= 0 && s.cols.Get(a.Col).Type == s.cols.Get(sp.aggs[i].Col).Type {
			sp.compute(a.Col, s.ref(sp.aggs[i].Col))
			return
		}
		sp.append(a)
	}
}

// find is the aggregate that computes the same as a, -1 if there is none.
func (sp *splitter) find(a *plan.Agg) int {
	return sp.index.Find(a.Hash(), func(i int) bool { return a.Same(&sp.aggs[i]) })
}

func (sp *splitter) append(a plan.Agg) {
	sp.index.Add(a.Hash())
	sp.aggs = append(sp.aggs, a)
}

func (sp *splitter) compute(col plan.ColID, e plan.Expr) {
	t := sp.s.cols.Get(col).Type
	if e.Type() != t {
		e = plan.NewCall(plan.Cast, t, e)
	}
	sp.exprs = append(sp.exprs, e)
	sp.cols = append(sp.cols, col)
}

// sum is a reference to sum(arg).
func (sp *splitter) sum(arg, filter plan.Expr) plan.Expr {
	t, ok := types.SumType(arg.Type())
	if !ok {
		panic(diag.Internalf("opt aggregate", "sum of %s", arg.Type()))
	}
	return sp.simple(plan.Agg{Func: plan.Sum, Arg: arg, Filter: filter}, t)
}

// count is a reference to the number of rows that a's argument counts for.
func (sp *splitter) count(a plan.Agg) plan.Expr {
	c := plan.Agg{Func: plan.Count, Arg: a.Arg, Filter: a.Filter}
	if plan.NotNullExpr(a.Arg, &sp.notNull) {
		c.Func, c.Arg = plan.CountStar, nil
	}
	return sp.simple(c, types.TInt64)
}

// simple finds or adds an aggregate.
func (sp *splitter) simple(a plan.Agg, t types.Type) plan.Expr {
	if i := sp.find(&a); i >= 0 {
		return sp.s.ref(sp.aggs[i].Col)
	}
	a.Col = sp.s.cols.New(a.Func.String(), t, a.Func == plan.Count || a.Func == plan.CountStar)
	if a.Func == plan.CountStar {
		sp.s.cols.Get(a.Col).Name = "count"
	}
	sp.append(a)
	return sp.s.ref(a.Col)
}

// variance is an expression over sums of numbers and of their squares.
func (sp *splitter) variance(a plan.Agg) plan.Expr {
	if x, square, ok := funcs.SumsOfVariance(a.Arg); ok {
		return funcs.VarianceOfSums(a.Func, sp.sum(x, a.Filter), sp.sum(square, a.Filter), sp.count(a))
	}
	x := plan.Double(a.Arg)
	sum := sp.sum(x, a.Filter)
	squares := sp.sum(plan.NewCall(plan.Mul, types.TFloat64, x, x), a.Filter)
	return plan.VarianceOf(a.Func, sum, squares, sp.count(a))
}
