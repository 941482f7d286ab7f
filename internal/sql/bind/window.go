package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Window functions are bound like aggregates: a call becomes a reference to a column, and what the column holds is noted
// with the SELECT. In a grouped query their arguments are rewritten to columns of the group like everything else; then
// one operator computes all of them (windowNode), before QUALIFY, DISTINCT and ORDER BY.

// windows are the window functions of one SELECT.
type windows struct {
	named []*ast.Window // the WINDOW clause
	used  []bool        // by a function
	list  []windowCall
	cols  plan.ColSet // of list
	not   string      // a clause, while it is bound, in which there may be aggregates but no windows
	in    string      // what of a window is being bound: windows do not nest
}

// windowCall is a function with what it looks at, still as expressions.
type windowCall struct {
	fn        plan.WindowFunc
	args      []plan.Expr
	partition []plan.Expr
	order     []windowKey
	key       plan.Expr // Frame.Key, or nil
	fold      *foldCall // of a fold
	at        span
}

type windowKey struct {
	x                plan.Expr
	desc, nullsFirst bool
}

// windowFuncs has one row per function that is no aggregate.
var windowFuncs = [...]struct {
	name      string
	f         plan.WinFunc
	args, doc string
}{
	{"cume_dist", plan.CumeDist, "", "the share of rows up to the peers of this one"},
	{"dense_rank", plan.DenseRank, "", "the number of the group of peers, from 1"},
	{"first_value", plan.FirstValue, "any", "the value of the first row of the frame"},
	{"lag", plan.Lag, "any [, integer [, any]]", "the value as many rows before (1), or the default"},
	{"last_value", plan.LastValue, "any", "the value of the last row of the frame"},
	{"lead", plan.Lead, "any [, integer [, any]]", "the value as many rows after (1), or the default"},
	{"nth_value", plan.NthValue, "any, integer", "the value of the n-th row of the frame"},
	{"ntile", plan.Ntile, "integer", "the number of the part, of as many parts of equal size"},
	{"percent_rank", plan.PercentRank, "", "(rank - 1) / (rows - 1)"},
	{"rank", plan.Rank, "", "the number of the first peer, from 1"},
	{"row_number", plan.RowNumber, "", "the number of the row, from 1"},
}

// WindowFunctions are what the reference says of them.
func WindowFunctions() []funcs.Aggregate {
	var out []funcs.Aggregate
	for _, f := range windowFuncs {
		out = append(out, funcs.Aggregate{Name: f.name, Args: f.args, Doc: f.doc})
	}
	return out
}

// windowNamed finds a function that needs OVER.
func windowNamed(name string) *plan.WinFunc {
	for i := range windowFuncs {
		if windowFuncs[i].name == name {
			return &windowFuncs[i].f
		}
	}
	return nil
}

// count is how many functions there are.
func (w *windows) count() int {
	if w == nil {
		return 0
	}
	return len(w.list)
}

// last is the column of the only function after the first n; 0 if there is none.
func (w *windows) last(n int) plan.ColID {
	if w == nil || len(w.list) != n+1 {
		return 0
	}
	return w.list[n].fn.Col
}

// hasWindow reports that e uses the result of a window function of the SELECT.
func (b *binder) hasWindow(s *scope, e plan.Expr) bool {
	refs := plan.Refs(e)
	return s.windows != nil && refs.Intersects(&s.windows.cols)
}

// windowFunction binds a call with OVER.
func (b *binder) windowFunction(s *scope, e *ast.Func) plan.Expr {
	name := e.Name.Last()
	b.windowAllowed(s, e)
	call := windowCall{at: span{pos: e.Pos, lo: len(s.aggs.refs)}}
	agg, isAgg := aggregateNamed(name)
	win := windowNamed(name)
	fold := funcs.FindFold(name, len(e.WithinGroup) > 0)
	if row := funcs.DistinctPairs(name); row != nil && e.Distinct {
		isAgg, fold = false, row
	}
	switch {
	case isAgg:
		if made := madeAggregates[name]; made != nil {
			e = made(e)
		}
	case win == nil && fold == nil:
		if hint, ok := funcs.Absent(name); ok {
			panic(funcs.Unsupported(name, hint, e.Pos))
		}
		if funcs.Find(name) == nil {
			panic(noFunction(name, nil, e.Pos))
		}
		fail(diag.WrongObjectType, e.Pos, "OVER specified, but %s is not a window function nor an aggregate function", name)
	}
	switch {
	case win != nil && e.Distinct:
		panic(diag.Errorf(diag.FeatureNotSupported, e.Pos, "DISTINCT is not implemented for window functions that are no aggregates").
			WithHint("DISTINCT in a subquery leaves rows out"))
	case len(e.WithinGroup) > 0, fold != nil && fold.Within:
		panic(diag.Errorf(diag.FeatureNotSupported, e.Pos, "OVER is not supported for ordered-set aggregate %s", name).
			WithHint("quantile_cont(x, fraction), quantile_disc(x, fraction) and mode(x) can have OVER"))
	case win != nil && len(e.OrderBy) > 0:
		panic(diag.Errorf(diag.FeatureNotSupported, e.Pos, "ORDER BY is not implemented in window functions that are no aggregates").
			WithHint("the order goes into OVER (ORDER BY …)"))
	case win != nil && e.Filter != nil:
		panic(diag.Errorf(diag.FeatureNotSupported, e.Pos, "FILTER is not implemented for non-aggregate window functions").
			WithHint("CASE in the argument leaves values out"))
	case e.Star && isAgg && agg != plan.Count:
		fail(diag.UndefinedFunction, e.Pos, "function %s(*) does not exist", name)
	case e.IgnoreNulls && fold == nil && (isAgg || !takesNulls(*win)):
		fail(diag.FeatureNotSupported, e.Pos, "IGNORE NULLS is not supported for %s", name)
	}
	b.window(s, &call, e.Over)
	if isAgg {
		return b.windowAggregate(s, &call, e, agg)
	}
	if fold != nil {
		s.windows.in = "call"
		a, t := b.foldCall(s, e, fold)
		s.windows.in = ""
		return b.windowFold(s, call, name, &a, t)
	}
	call.fn.Func, call.fn.IgnoreNulls = *win, e.IgnoreNulls
	return b.plainWindow(s, &call, e)
}

// takesNulls reports the functions that can be told to ignore NULLs.
func takesNulls(f plan.WinFunc) bool {
	return f == plan.Lag || f == plan.Lead || f == plan.FirstValue || f == plan.LastValue || f == plan.NthValue
}

// windowAllowed refuses window functions where there are none.
func (b *binder) windowAllowed(s *scope, e *ast.Func) {
	clause := s.clause
	if clause == "" && s.windows != nil {
		clause = s.windows.not
	}
	switch {
	case clause != "":
		fail(diag.WindowingError, e.Pos, "window functions are not allowed in %s", clause)
	case s.windows == nil || s.aggs == nil:
		fail(diag.WindowingError, e.Pos, "window functions are not allowed in this place")
	case b.aggregating(s):
		fail(diag.GroupingError, e.Pos, "aggregate function calls cannot contain window function calls")
	case s.windows.in == "call":
		fail(diag.WindowingError, e.Pos, "window function calls cannot be nested")
	case s.windows.in != "":
		fail(diag.WindowingError, e.Pos, "window functions are not allowed in window definitions")
	}
}

// windowArgs binds the arguments of a call.
func (b *binder) windowArgs(s *scope, e *ast.Func) []plan.Expr {
	s.windows.in = "call"
	defer func() { s.windows.in = "" }()
	args := make([]plan.Expr, len(e.Args))
	for i := range e.Args {
		if a := &e.Args[i]; !a.Name.Empty() {
			fail(diag.UndefinedFunction, a.Name.Pos, "function %s has no parameter named %q", e.Name.Last(), a.Name.Name)
		}
		args[i] = b.expr(s, e.Args[i].X)
	}
	return args
}

// plainWindow binds a function that is no aggregate.
func (b *binder) plainWindow(s *scope, call *windowCall, e *ast.Func) plan.Expr {
	args := b.windowArgs(s, e)
	least, most := 0, 0
	t := types.TInt64
	switch call.fn.Func {
	case plan.PercentRank, plan.CumeDist:
		t = types.TFloat64
	case plan.Ntile:
		least, most, t = 1, 1, types.TInt32
	case plan.Lag, plan.Lead:
		least, most = 1, 3
	case plan.FirstValue, plan.LastValue:
		least, most = 1, 1
	case plan.NthValue:
		least, most = 2, 2
	}
	wrong := func() { panic(noFunction(e.Name.Last(), args, e.Pos)) }
	if len(args) < least || len(args) > most {
		wrong()
	}
	whole := func(i int) { // an integer
		if k := args[i].Type(); !k.IsInteger() && k.Kind != types.Unknown {
			wrong()
		}
		args[i] = b.convert(args[i], types.TInt64, e.Args[i].X.Position())
	}
	switch call.fn.Func {
	case plan.Ntile:
		whole(0)
	case plan.Lag, plan.Lead:
		if len(args) > 1 {
			whole(1)
		}
		if len(args) > 2 {
			values := []plan.Expr{args[0], args[2]}
			at := func(i int) int { return e.Args[2*i].X.Position() }
			common := b.commonType(values, at, e.Name.Last())
			args[0], args[2] = b.convert(args[0], common, at(0)), b.convert(args[2], common, at(1))
		}
	case plan.NthValue:
		whole(1)
	}
	if takesNulls(call.fn.Func) {
		args[0] = b.settle(args[0])
		t = args[0].Type()
	}
	call.args = args
	if !call.fn.Func.Framed() {
		call.fn.Frame, call.key = plan.Frame{}, nil
	}
	return b.addWindow(s, call, e.Name.Last(), t)
}

// addWindow notes a function, once, and refers to its column.
func (b *binder) addWindow(s *scope, c *windowCall, name string, t types.Type) plan.Expr {
	w := s.windows
	c.at.hi = len(s.aggs.refs)
	for i := range w.list {
		if w.list[i].same(c) {
			return b.ref(w.list[i].fn.Col)
		}
	}
	c.fn.Col = b.cols.New(name, t, c.fn.NeverNull())
	w.list = append(w.list, *c)
	w.cols.Add(c.fn.Col)
	return b.ref(c.fn.Col)
}

// same reports that two calls compute the same.
func (c *windowCall) same(d *windowCall) bool {
	x, y := c.fn, d.fn
	return x.Func == y.Func && x.Agg == y.Agg && x.IgnoreNulls == y.IgnoreNulls && x.Frame == y.Frame &&
		c.fold.same(d.fold) && plan.EqualExprs(c.args, d.args) && plan.EqualExprs(c.partition, d.partition) &&
		slices.EqualFunc(c.order, d.order, windowKey.equal)
}

func (k windowKey) equal(l windowKey) bool {
	return k.desc == l.desc && k.nullsFirst == l.nullsFirst && plan.EqualExpr(k.x, l.x)
}

// rewrite writes what the functions look at in columns of the group.
func (w *windows) rewrite(g *grouper) {
	for i := range w.list {
		c := &w.list[i]
		for k, x := range c.args {
			c.args[k] = g.rewrite(x, c.at)
		}
		for k, x := range c.partition {
			c.partition[k] = g.rewrite(x, c.at)
		}
		for k := range c.order {
			c.order[k].x = g.rewrite(c.order[k].x, c.at)
		}
		if c.key != nil {
			c.key = g.rewrite(c.key, c.at)
		}
		if c.fold != nil {
			c.fold.rewrite(g, c.at)
		}
	}
}

// windowNode computes all functions over n.
func (b *binder) windowNode(w *windows, n plan.Node) plan.Node {
	if len(w.list) == 0 {
		return n
	}
	p := b.project(n, 0)
	p.node.Keep = n.Produces(p.node.Keep)
	out := &plan.Window{}
	for i := range w.list {
		c := &w.list[i]
		f := c.fn
		for _, x := range c.args {
			f.Args = append(f.Args, p.shared(x, "argument"))
		}
		spec := plan.WindowSpec{}
		for _, x := range c.partition {
			if id := p.shared(x, "partition"); !slices.Contains(spec.Partition, id) {
				spec.Partition = append(spec.Partition, id)
			}
		}
		for _, k := range c.order {
			id := p.shared(k.x, "sort key")
			if !slices.Contains(spec.Partition, id) && !slices.ContainsFunc(spec.Order, func(o plan.SortKey) bool { return o.Col == id }) {
				spec.Order = append(spec.Order, plan.SortKey{Col: id, Desc: k.desc, NullsFirst: k.nullsFirst})
			}
		}
		if c.fold != nil {
			f.Fold = c.fold.columns(p)
		}
		if c.key != nil {
			f.Frame.Key = p.shared(c.key, "range key")
		}
		f.Spec = slices.IndexFunc(out.Specs, func(o plan.WindowSpec) bool {
			return slices.Equal(o.Partition, spec.Partition) && slices.Equal(o.Order, spec.Order)
		})
		if f.Spec < 0 {
			f.Spec = len(out.Specs)
			out.Specs = append(out.Specs, spec)
		}
		out.Funcs = append(out.Funcs, f)
	}
	out.Input = p.done()
	return out
}
