package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
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
	name string
	f    plan.AggFunc
}{
	{"any_value", plan.AnyValue},
	{"avg", plan.Avg},
	{"bool_and", plan.BoolAnd},
	{"bool_or", plan.BoolOr},
	{"count", plan.Count},
	{"every", plan.BoolAnd},
	{"max", plan.Max},
	{"mean", plan.Avg},
	{"min", plan.Min},
	{"stddev", plan.StddevSamp},
	{"stddev_pop", plan.StddevPop},
	{"stddev_samp", plan.StddevSamp},
	{"sum", plan.Sum},
	{"var_pop", plan.VarPop},
	{"var_samp", plan.VarSamp},
	{"variance", plan.VarSamp},
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
		unsupported(e.Pos, "WITHIN GROUP")
	}
	a := plan.Agg{Func: f, Distinct: e.Distinct}
	frame := &aggFrame{outer: b.agg, scope: s, level: -1}
	b.agg = frame
	switch {
	case e.Star:
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
	for i := range e.OrderBy { // has no influence on these functions, but must have a meaning
		if x := e.OrderBy[i].X; x != nil {
			b.expr(s, x)
		}
	}
	b.agg = frame.outer

	t := b.aggregateType(&a, name, e)
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
	b.checkNested(owner, &a, e.Pos)
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

// checkNested forbids sum(max(x)).
func (b *binder) checkNested(owner *scope, a *plan.Agg, pos int) {
	if len(owner.aggs.list) == 0 {
		return
	}
	var refs plan.ColSet
	plan.AddRefs(&refs, a.Arg)
	plan.AddRefs(&refs, a.Filter)
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
		out, ok = a.Arg.Type(), t.Kind != types.Bool
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
