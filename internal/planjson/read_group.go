package planjson

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

func (r *reader) group(o *operator, path string) plan.Node {
	in := r.node(o.Input, path+".input")
	have := plan.Produced(in)
	g := &plan.Group{Input: in}
	g.KeyCols, g.Keys = r.computed(o.By, have, path+".by")
	for i := range o.Aggs {
		g.Aggs = append(g.Aggs, r.aggregate(&o.Aggs[i], have, fmt.Sprintf("%s.aggregates[%d]", path, i)))
	}
	return g
}

func (r *reader) aggregate(a *aggregate, have plan.ColSet, path string) plan.Agg {
	out := plan.Agg{Distinct: a.Distinct}
	args := r.exprs(a.Args, have, path+".args")
	if a.Filter != nil {
		out.Filter = r.preds([]operand{*a.Filter}, have, path+".filter")[0]
	}
	t := r.typeAt(a.Type, path+".type")
	if a.Fold {
		r.fold(a, &out, args, have, path)
	} else {
		out.Func = choice(aggFuncs, a.Function, "aggregate", path+".function")
		if want := min(int(out.Func), 1); len(args) != want { // of count(*) none, of all others one
			fail(path+".args", "%s has %d argument(s), not %d", a.Function, want, len(args))
		}
		if a.Within || len(a.Direct) > 0 || len(a.Order) > 0 {
			fail(path, "only folds have WITHIN, an order and arguments that are the same for all rows")
		}
		if len(args) > 0 {
			out.Arg = args[0]
		}
		if !aggregates(out.Func, out.Arg, t) {
			fail(path+".type", "%s of %s is not %s", a.Function, typesOf(args), t)
		}
	}
	if ref, ok := out.Arg.(*plan.Ref); ok && r.names[a.As] == ref.ID && (out.Func == plan.AnyValue || out.Func == plan.First || out.Func == plan.Min || out.Func == plan.Folded) {
		out.Col = ref.ID // a column that keeps its name
		return out
	}
	out.Col = r.define(a.As, t, false, path+".as")
	return out
}

func (r *reader) fold(a *aggregate, out *plan.Agg, args []plan.Expr, have plan.ColSet, path string) {
	out.Func = plan.Folded
	if out.Fold = foldOf(a.Function, a.Within); out.Fold == nil {
		fail(path+".function", "there is no fold %q", a.Function)
	}
	if len(args) == 0 {
		fail(path+".args", "a fold has an argument")
	}
	out.Arg, out.More = args[0], args[1:]
	if len(out.More) == 0 {
		out.More = nil
	}
	for i := range a.Direct {
		out.Direct = append(out.Direct, r.literalAt(&a.Direct[i], fmt.Sprintf("%s.direct[%d]", path, i)))
	}
	for i := range a.Order {
		k := &a.Order[i]
		out.Order = append(out.Order, plan.AggOrder{X: r.expr(&k.Value, have, fmt.Sprintf("%s.order[%d].value", path, i)), Desc: k.Desc, NullsFirst: k.NullsFirst})
	}
}

func (r *reader) windowFold(f *windowFunc, out *plan.WindowFunc, have plan.ColSet, path string) {
	fold := &plan.WindowFold{Fold: windowFoldOf(f.Function), Distinct: f.Distinct, Order: r.order(f.Order, have, path+".order")}
	if fold.Fold == nil {
		fail(path+".function", "there is no fold %q", f.Function)
	}
	for i := range f.Direct {
		fold.Direct = append(fold.Direct, r.literalAt(&f.Direct[i], fmt.Sprintf("%s.direct[%d]", path, i)))
	}
	if f.Filter != "" {
		fold.Filter = r.ref(f.Filter, have, path+".filter")
	}
	out.Func, out.Agg, out.Fold = plan.WinAgg, plan.Folded, fold
}

// literalAt reads an argument that is the same for all rows.
func (r *reader) literalAt(x *operand, path string) types.Value {
	c, ok := r.expr(x, plan.ColSet{}, path).(*plan.Const)
	if !ok {
		fail(path, "this is no literal")
	}
	return c.V
}

// aggregates reports that an aggregate of an argument can have a type.
func aggregates(f plan.AggFunc, arg plan.Expr, t types.Type) bool {
	if f == plan.CountStar || f == plan.Count {
		return t == types.TInt64
	}
	from := arg.Type()
	switch f {
	case plan.Sum:
		switch {
		case from.IsInteger():
			return t == types.TInt64 || t.Kind == types.Decimal && t.Scale == 0
		case from.Kind == types.Decimal:
			return t.Kind == types.Decimal && t.Scale == from.Scale
		}
		return from.IsFloat() && t.IsFloat() || from.Kind == types.Interval && t == from
	case plan.BoolAnd, plan.BoolOr:
		return from.Kind == types.Bool && t.Kind == types.Bool
	case plan.Avg, plan.StddevSamp, plan.StddevPop, plan.VarSamp, plan.VarPop:
		return from.IsNumeric() && t.IsNumeric() && !t.IsInteger() || f == plan.Avg && from.Kind == types.Interval && t == from
	}
	return fits(from, t) // min, max, any_value, first
}

func (r *reader) window(o *operator, path string) plan.Node {
	in := r.node(o.Input, path+".input")
	have := plan.Produced(in)
	w := &plan.Window{Input: in}
	for i := range o.Windows {
		s, at := &o.Windows[i], fmt.Sprintf("%s.windows[%d]", path, i)
		w.Specs = append(w.Specs, plan.WindowSpec{Partition: r.refs(s.Partition, have, at+".partition"), Order: r.order(s.Order, have, at+".order")})
	}
	for i := range o.Functions {
		w.Funcs = append(w.Funcs, r.windowFunc(&o.Functions[i], len(w.Specs), have, fmt.Sprintf("%s.functions[%d]", path, i)))
	}
	if len(w.Funcs) == 0 {
		fail(path+".functions", "a window operator computes at least one function")
	}
	return w
}

// windowArgs are how many arguments functions have, at least and at most.
var windowArgs = map[plan.WinFunc][2]int{plan.Ntile: {1, 1}, plan.Lag: {1, 3}, plan.Lead: {1, 3}, plan.FirstValue: {1, 1}, plan.LastValue: {1, 1}, plan.NthValue: {2, 2}}

func (r *reader) windowFunc(f *windowFunc, windows int, have plan.ColSet, path string) plan.WindowFunc {
	out := plan.WindowFunc{Args: r.refs(f.Args, have, path+".args"), Spec: f.Window, IgnoreNulls: f.IgnoreNulls}
	if f.Window < 0 || f.Window >= windows {
		fail(path+".window", "there is no window %d", f.Window)
	}
	t := r.typeAt(f.Type, path+".type")
	var args [2]int
	if f.Fold {
		r.windowFold(f, &out, have, path)
		args = [2]int{1, 2}
	} else if f.Aggregate {
		out.Func, out.Agg = plan.WinAgg, choice(aggFuncs, f.Function, "aggregate", path+".function")
		args = [2]int{min(int(out.Agg), 1), min(int(out.Agg), 1)}
	} else {
		out.Func = choice(winFuncs, f.Function, "window function", path+".function")
		args = windowArgs[out.Func]
	}
	if n := len(out.Args); n < args[0] || n > args[1] {
		fail(path+".args", "%s has %d to %d arguments, not %d", f.Function, args[0], args[1], n)
	}
	ok := t.Kind == types.Int64 || t.Kind == types.Int32
	switch {
	case out.Func == plan.PercentRank || out.Func == plan.CumeDist:
		ok = t == types.TFloat64
	case out.Func == plan.WinAgg:
		var arg plan.Expr
		if len(out.Args) > 0 {
			arg = r.q.Cols.NewRef(out.Args[0])
		}
		switch out.Agg {
		case plan.Folded:
			ok = true
		case plan.CountStar, plan.Count, plan.Sum, plan.Min, plan.Max, plan.AnyValue, plan.BoolAnd, plan.BoolOr:
			ok = aggregates(out.Agg, arg, t)
		default:
			fail(path+".function", "%s is not computed over a frame", f.Function)
		}
	case out.Func >= plan.Lag:
		ok = fits(r.q.Cols.Get(out.Args[0]).Type, t)
	}
	if !ok {
		fail(path+".type", "%s is not %s", f.Function, t)
	}
	out.Frame = plan.Frame{Unit: choice(units, f.Unit, "unit of frames", path+".unit"), Start: r.bound(f.Start, path+".start"), End: r.bound(f.End, path+".end"),
		Exclude: choice(excludes, f.Exclude, "exclusion", path+".exclude"), Desc: f.Desc}
	if f.Key != "" {
		out.Frame.Key = r.ref(f.Key, have, path+".key")
	}
	offset := func(k plan.BoundKind) bool { return k == plan.Preceding || k == plan.Following }
	if out.Frame.Unit == plan.RangeFrame && (offset(out.Frame.Start.Kind) || offset(out.Frame.End.Kind)) != (f.Key != "") {
		fail(path+".key", "a RANGE whose bounds have offsets, and no other frame, has a key")
	}
	out.Col = r.define(f.As, t, false, path+".as")
	return out
}

func (r *reader) bound(b bound, path string) plan.FrameBound {
	out := plan.FrameBound{Kind: choice(bounds, b.Kind, "bound", path+".kind")}
	if (out.Kind == plan.Preceding || out.Kind == plan.Following) != (b.Offset != nil) {
		fail(path+".offset", "preceding and following have an offset, and no other bound")
	}
	if b.Offset != nil {
		c, ok := r.expr(b.Offset, plan.ColSet{}, path+".offset").(*plan.Const)
		if !ok {
			fail(path+".offset", "this is no literal")
		}
		out.Offset = c.V
	}
	return out
}
