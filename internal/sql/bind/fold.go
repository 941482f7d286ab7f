package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// fold binds the call of an aggregate that Go computes.
func (b *binder) fold(s *scope, e *ast.Func, row *funcs.FoldRow) plan.Expr {
	frame := &aggFrame{outer: b.agg, scope: s, level: -1}
	b.agg = frame
	a, t := b.foldCall(s, e, row)
	b.agg = frame.outer
	return b.addAggregate(s, e, a, a.Order, t, frame)
}

// foldCall binds what a fold computes, and finds its type.
func (b *binder) foldCall(s *scope, e *ast.Func, row *funcs.FoldRow) (plan.Agg, types.Type) {
	name := e.Name.Last()
	switch {
	case e.Star:
		fail(diag.UndefinedFunction, e.Pos, "function %s(*) does not exist", name)
	case !row.Within && len(e.WithinGroup) > 0:
		notOrderedSet(name, e.Pos)
	case row.Within && e.Distinct:
		fail(diag.SyntaxError, e.Pos, "cannot use DISTINCT with WITHIN GROUP")
	case row.Within && len(e.OrderBy) > 0:
		fail(diag.SyntaxError, e.Pos, "cannot use multiple ORDER BY clauses with WITHIN GROUP")
	}
	a := plan.Agg{Func: plan.Folded, Fold: row.Fold, Distinct: e.Distinct}
	if e.Filter != nil {
		a.Filter = b.boolean(s, e.Filter, "FILTER")
	}
	var args []plan.Expr
	var at []int
	order := b.aggregateOrder(s, e.OrderBy)
	if row.Within {
		order = b.aggregateOrder(s, e.WithinGroup)
		for i, o := range order {
			args, at = append(args, unkeyed(o.X)), append(at, e.WithinGroup[i].X.Position())
		}
	}
	for _, x := range e.Args {
		args, at = append(args, b.expr(s, x.X)), append(at, x.X.Position())
	}
	if row.Within && len(e.WithinGroup) == 0 {
		panic(noFunction(name, args, e.Pos).WithHint("WITHIN GROUP (ORDER BY …) is missing"))
	}
	if row.Default != nil && len(args) == len(row.Params)-1 {
		args, at = append(args, plan.NewConst(*row.Default)), append(at, e.Pos)
	}
	if len(args) != len(row.Params) || row.Within && len(order) != 1 {
		panic(noFunction(name, args, e.Pos))
	}
	bound := args
	places := 0 // how many lists are around the fractions
	for i, x := range args {
		want := x.Type()
		for ; row.Several != nil && i == len(args)-1 && want.Kind == types.List; want = want.Elem() {
			places++
		}
		t, ok := foldParam(row.Params[i], want)
		for range places {
			t = types.TList(t)
		}
		if !ok {
			panic(noFunction(name, bound, e.Pos))
		}
		args[i] = b.convert(b.settle(x), t, at[i])
		if strings.HasPrefix(name, "json") {
			args[i] = b.zonedJSON(args[i], at[i])
		}
	}
	if e.IgnoreNulls && row.Fold.Skips == plan.SkipNone {
		a.Fold = funcs.InOrder[plan.AnyValue]
		if name == "last" {
			unsupported(e.Pos, "IGNORE NULLS in last")
		}
	}
	rows := len(args) - row.Direct
	for i, x := range args[rows:] {
		if list, ok := x.(*plan.Call); ok && list.Op == plan.Apply && !list.Fn.Volatile {
			x = computed(list)
		}
		c, ok := x.(*plan.Const)
		if !ok {
			unsupported(at[rows+i], "%s with a fraction that is not a constant", name)
		}
		a.Direct = append(a.Direct, c.V)
	}
	a.Arg, a.More = args[0], args[1:rows:rows]
	switch {
	case row.Within:
		order[0].X = args[0]
	case row.Sorted && len(order) == 0:
		order = []plan.AggOrder{{X: args[0]}}
	}
	distinctOrder(&a, e, order[:min(len(order), len(e.OrderBy))])
	for i := range order {
		// What is written as an argument is that argument, with its cast.
		for k := range e.Args {
			if i < len(e.OrderBy) && k < rows && ast.Format(e.Args[k].X) == ast.Format(e.OrderBy[i].X) {
				order[i].X = args[k]
			}
		}
	}
	a.Order = order
	t := row.Result
	if t == funcs.ListResult {
		t = b.listOf(args[0].Type(), at[0])
	}
	if t == funcs.CountsResult {
		t = types.TMap(args[0].Type(), types.TInt64)
	}
	if t == (types.Type{}) {
		t = args[0].Type()
	}
	for range places {
		a.Fold, t = row.Several, b.listOf(t, at[0])
	}
	return a, t
}

// foldParam is the type that an argument is converted to; ok is false if it does not fit.
func foldParam(letter byte, t types.Type) (to types.Type, ok bool) {
	unknown := t.Kind == types.Unknown
	if unknown {
		t = types.TText
	}
	switch letter {
	case 't':
		return t, t.Kind == types.Text
	case 'd':
		return types.TFloat64, t.IsNumeric() || unknown
	case 'i':
		return t, t.IsInteger()
	case 'c':
		switch {
		case t.IsNumeric():
			return types.TFloat64, true
		case t.Kind == types.Date:
			return types.TTimestamp, true
		}
		return t, t.Kind == types.Timestamp || t.Kind == types.TimestampTZ || t.Kind == types.Interval
	}
	return t, true
}
