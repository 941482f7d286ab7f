package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// aggregates are the aggregate calls of one SELECT, and where it names columns outside of them.
type aggregates struct {
	list      []plan.Agg
	cols      plan.ColSet // of list
	index     plan.Index  // of list
	groupings []groupingCall
	constants *constantKeys // nil without grouping sets
	refs      []written
	// queries are the subqueries that are values here: GROUP BY may write one again.
	queries map[*plan.Subquery]ast.Expr
}

// noteQuery remembers how a subquery is written.
func (s *scope) noteQuery(q *plan.Subquery, e ast.Expr) plan.Expr {
	if s != nil && s.aggs != nil {
		if s.aggs.queries == nil {
			s.aggs.queries = map[*plan.Subquery]ast.Expr{}
		}
		s.aggs.queries[q] = e
	}
	return q
}

// written is a column reference outside of aggregates, kept for the message that
// a grouped query may owe.
type written struct {
	rel *rel
	i   int
	pos int
}

// aggFrame is an aggregate call whose arguments are being bound. By the standard it belongs
// to the innermost query that its arguments refer to, which need not be the one that
// it is written in; level is the depth of that query's scope, -1 for no reference.
type aggFrame struct {
	outer *aggFrame
	scope *scope
	level int
}

// aggFuncs has one row per name of an aggregate.
var aggFuncs = [...]struct {
	name      string
	f         plan.AggFunc
	args, doc string
}{
	{"approx_count_distinct", plan.Count, "any", "how many different values there are: the exact number"},
	{"any_value", plan.AnyValue, "any", "some value that is not NULL"},
	{"avg", plan.Avg, "number or interval", "the mean"},
	{"bool_and", plan.BoolAnd, "boolean", "whether all are true"},
	{"bool_or", plan.BoolOr, "boolean", "whether any is true"},
	{"count", plan.Count, "any", "how many are not NULL; `count(*)`: how many rows"},
	{"count_if", plan.Count, "boolean", "how many are true"},
	{"countif", plan.Count, "boolean", "how many are true"},
	{"every", plan.BoolAnd, "boolean", "whether all are true"},
	{"max", plan.Max, "any", "the greatest value"},
	{"mean", plan.Avg, "number or interval", "the mean"},
	{"min", plan.Min, "any", "the least value"},
	{"regr_avgx", plan.Avg, "number y, number x", "the mean of x where neither is NULL"},
	{"regr_avgy", plan.Avg, "number y, number x", "the mean of y where neither is NULL"},
	{"regr_count", plan.Count, "number y, number x", "how many pairs have no NULL"},
	{"stddev", plan.StddevSamp, "number", "the standard deviation of a sample"},
	{"stddev_pop", plan.StddevPop, "number", "the standard deviation of a population"},
	{"stddev_samp", plan.StddevSamp, "number", "the standard deviation of a sample"},
	{"sum", plan.Sum, "number or interval", "the sum"},
	{"var_pop", plan.VarPop, "number", "the variance of a population"},
	{"var_samp", plan.VarSamp, "number", "the variance of a sample"},
	{"variance", plan.VarSamp, "number", "the variance of a sample"},
}

func aggregateNamed(name string) (plan.AggFunc, bool) {
	for i := range aggFuncs {
		if aggFuncs[i].name == name {
			return aggFuncs[i].f, true
		}
	}
	return 0, false
}

// aggregate binds an aggregate call: it adds the computation to the SELECT that the
// call belongs to and gives a reference to its result.
func (b *binder) aggregate(s *scope, e *ast.Func, f plan.AggFunc) plan.Expr {
	name := e.Name.Last()
	if len(e.WithinGroup) > 0 {
		notOrderedSet(name, e.Pos)
	}
	a := plan.Agg{Func: f, Distinct: e.Distinct}
	frame := &aggFrame{outer: b.agg, scope: s, level: -1}
	b.agg = frame
	switch {
	case e.Star, f == plan.Count && name == "count" && len(e.Args) == 0 && !e.Distinct: // DuckDB writes count()
		if f != plan.Count {
			fail(diag.UndefinedFunction, e.Pos, "function %s(*) does not exist", name)
		}
		a.Func, a.Distinct = plan.CountStar, false
	case len(e.Args) != 1:
		var args []plan.Expr
		for _, x := range e.Args {
			args = append(args, b.expr(s, x.X))
		}
		panic(noFunction(name, args, e.Pos))
	default:
		a.Arg = b.expr(s, e.Args[0].X)
	}
	if e.Filter != nil {
		a.Filter = b.boolean(s, e.Filter, "FILTER")
	}
	order := b.aggregateOrder(s, e.OrderBy)
	b.agg = frame.outer

	t := b.aggregateType(&a, name, e)
	b.ordered(&a, e, order)
	b.deviation(&a)
	intervals(&a)
	return b.addAggregate(s, e, a, order, t, frame)
}

// deviation has a variance of numbers that have no exact sums, doubles above all, computed row by row: the difference of sums
// would have no digit that is right where numbers are large and lie close together.
func (b *binder) deviation(a *plan.Agg) {
	switch a.Func {
	case plan.VarPop, plan.VarSamp, plan.StddevPop, plan.StddevSamp:
		if _, _, exact := funcs.SumsOfVariance(a.Arg); !exact {
			a.Func, a.Fold, a.Arg = plan.Folded, funcs.InOrder[a.Func], plan.Double(a.Arg)
		} else if c, ok := a.Arg.(*plan.Call); ok && c.Op == plan.Cast && c.T.Kind == types.Float64 {
			a.Arg = c.Args[0] // distinct values are told apart as what they are
		}
	}
}

// intervals has Go add intervals up: each is three numbers, of which none carries into another.
func intervals(a *plan.Agg) {
	if a.Arg == nil || a.Arg.Type().Kind != types.Interval {
		return
	}
	switch a.Func {
	case plan.Sum:
		a.Func, a.Fold = plan.Folded, funcs.SumExact
	case plan.Avg:
		a.Func, a.Fold = plan.Folded, funcs.AvgInterval
	}
}

// notOrderedSet is the error for WITHIN GROUP after any other function.
func notOrderedSet(name string, pos int) {
	panic(diag.Errorf(diag.UndefinedFunction, pos, "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", name))
}

// addAggregate adds a computation to the SELECT that its call belongs to, unless it is there already.
func (b *binder) addAggregate(s *scope, e *ast.Func, a plan.Agg, order []plan.AggOrder, t types.Type, frame *aggFrame) plan.Expr {
	name := e.Name.Last()
	owner := s
	for frame.level >= 0 && owner.depth > frame.level {
		owner = owner.outer
	}
	if owner.clause != "" || owner.aggs == nil {
		clause := owner.clause
		if clause == "" {
			clause = "this place"
		}
		fail(diag.GroupingError, e.Pos, "aggregate functions are not allowed in %s", clause)
	}
	for _, r := range owner.rels {
		if r.working {
			fail(diag.InvalidRecursion, e.Pos, "aggregate functions are not allowed in a recursive query's recursive term")
		}
	}
	b.checkNested(owner, &a, order, e.Pos)
	for f := b.agg; f != nil; f = f.outer {
		if owner.depth <= f.scope.depth {
			f.level = max(f.level, owner.depth)
		}
	}
	b.free = min(b.free, owner.depth)

	list, h := owner.aggs.list, a.Hash()
	if i := owner.aggs.index.Find(h, func(i int) bool { return a.Same(&list[i]) }); i >= 0 {
		return b.ref(list[i].Col)
	}
	a.Col = b.cols.New(name, t, a.Func == plan.CountStar || a.Func == plan.Count)
	owner.aggs.list = append(list, a)
	owner.aggs.cols.Add(a.Col)
	owner.aggs.index.Add(h)
	return &plan.Ref{ID: a.Col, T: t}
}

// aggregateOrder binds ORDER BY inside of an aggregate call. A number there is a number, not a column.
func (b *binder) aggregateOrder(s *scope, items []ast.OrderItem) []plan.AggOrder {
	var out []plan.AggOrder
	for i := range items {
		if x := items[i].X; x != nil {
			k := direction(&items[i], orderKey{})
			key := orderedBy(b.settle(b.expr(s, x)), x.Position())
			out = append(out, plan.AggOrder{X: key, Desc: k.desc, NullsFirst: k.nullsFirst})
		}
	}
	return out
}

// distinctOrder checks that an aggregate of distinct values is ordered by these.
func distinctOrder(a *plan.Agg, e *ast.Func, order []plan.AggOrder) {
	if !e.Distinct {
		return
	}
	for i, o := range order {
		listed := plan.ContainsExpr(a.Args(), o.X)
		for _, x := range e.Args {
			listed = listed || ast.Format(x.X) == ast.Format(e.OrderBy[i].X)
		}
		if !listed {
			fail(diag.InvalidColumnReference, e.OrderBy[i].X.Position(),
				"in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
		}
	}
}

// ordered takes account of ORDER BY inside of an aggregate call. The order of rows has no influence on most
// functions; where it has, Go computes them. What is ordered by is computed all the same if it may
// fail, since a query that fails should not do so at our choice.
func (b *binder) ordered(a *plan.Agg, e *ast.Func, order []plan.AggOrder) {
	if len(order) == 0 {
		return
	}
	distinctOrder(a, e, order)
	switch a.Func {
	case plan.CountStar, plan.Count, plan.Min, plan.Max, plan.BoolAnd, plan.BoolOr:
	default:
		if fold := funcs.InOrder[a.Func]; a.Func == plan.AnyValue || fold != nil && floatOf(a.Arg) {
			a.Func, a.Fold, a.Order = plan.Folded, fold, order
			return
		}
	}
	for _, o := range order {
		if x := o.X; a.Arg != nil && mayFail(x) {
			t := a.Arg.Type()
			// A comparison with any constant: whether x is NULL may be known without computing it.
			any, null := plan.NewConst(types.Value{Type: x.Type()}), plan.NullConst(t)
			compute := plan.NewCall(plan.Case, t, plan.Compare(plan.NotDistinct, x, any), null, null)
			a.Arg = plan.NewCall(plan.Coalesce, t, compute, a.Arg)
		}
	}
}

// floatOf reports a sum of floating-point numbers, as they are before an aggregate makes them so.
func floatOf(e plan.Expr) bool {
	if c, ok := e.(*plan.Call); ok && c.Op == plan.Cast && c.T.IsFloat() {
		return c.Args[0].Type().IsFloat()
	}
	return e.Type().IsFloat()
}

// mayFail reports that computing e can raise an error.
func mayFail(e plan.Expr) bool {
	found := false
	plan.WalkExpr(e, func(e plan.Expr) bool {
		switch x := e.(type) {
		case *plan.Call:
			found = found || x.MayFail()
		case *plan.Subquery:
			found = true
		}
		return !found
	})
	return found
}

// checkNested forbids sum(max(x)).
func (b *binder) checkNested(owner *scope, a *plan.Agg, order []plan.AggOrder, pos int) {
	if len(owner.aggs.list) == 0 {
		return
	}
	var refs plan.ColSet
	a.EachExpr(func(x plan.Expr) { plan.AddRefs(&refs, x) })
	for _, o := range order { // also where it makes no difference
		plan.AddRefs(&refs, o.X)
	}
	if refs.Intersects(&owner.aggs.cols) {
		fail(diag.GroupingError, pos, "aggregate function calls cannot be nested")
	}
}

// aggregateType checks the argument of an aggregate, casts it where the function wants it,
// and gives the result's type.
func (b *binder) aggregateType(a *plan.Agg, name string, e *ast.Func) types.Type {
	if a.Func == plan.CountStar {
		return types.TInt64
	}
	if (a.Func == plan.Sum || a.Func == plan.Avg) && a.Arg.Type().Kind == types.Time {
		a.Arg = b.convert(a.Arg, types.TInterval, e.Args[0].X.Position())
	}
	arg := a.Arg
	t := arg.Type()
	var out types.Type
	ok := true
	switch a.Func {
	case plan.Count:
		if c, isConst := arg.(*plan.Const); isConst && !c.V.Null && !a.Distinct { // count(1)
			a.Func, a.Arg = plan.CountStar, nil
			return types.TInt64
		}
		a.Arg = b.settle(arg)
		return types.TInt64
	case plan.Sum:
		out, ok = types.SumType(t)
	case plan.Avg:
		out, ok = types.AvgType(t)
	case plan.Min, plan.Max:
		a.Arg, a.Distinct = b.settle(arg), false
		if out, ok = a.Arg.Type(), t.Kind != types.Bool && t != types.TJSONB; ok && t.Keyed() {
			key := orderedBy(a.Arg, e.Args[0].X.Position())
			a.Order = []plan.AggOrder{{X: key, Desc: a.Func == plan.Max}}
			a.Func, a.Fold = plan.Folded, funcs.InOrder[plan.AnyValue]
		}
	case plan.AnyValue:
		a.Arg, a.Distinct = b.settle(arg), false
		out = a.Arg.Type()
	case plan.BoolAnd, plan.BoolOr:
		if ok = t.Kind == types.Bool || t.Kind == types.Unknown; ok {
			a.Arg, a.Distinct = b.convert(arg, types.TBool, e.Args[0].X.Position()), false
			out = types.TBool
		}
	default: // the statistical ones
		if ok = t.IsNumeric(); ok {
			a.Arg = b.convert(arg, types.TFloat64, e.Args[0].X.Position())
			out = types.TFloat64
		}
	}
	if !ok {
		panic(noFunction(name, []plan.Expr{arg}, e.Pos))
	}
	return out
}

// Aggregates are what the reference says of them.
func Aggregates() []funcs.Aggregate {
	var out []funcs.Aggregate
	for _, f := range aggFuncs {
		out = append(out, funcs.Aggregate{Name: f.name, Args: f.args, Doc: f.doc})
	}
	out = append(out, funcs.Folds()...)
	slices.SortStableFunc(out, func(a, b funcs.Aggregate) int { return strings.Compare(a.Name, b.Name) })
	return out
}
