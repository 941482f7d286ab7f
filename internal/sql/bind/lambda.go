package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/eval"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A lambda is an expression over its parameters and the columns around its call. The call becomes a function of the list and
// of these columns, which Go computes element by element.

// lambda is a bound one.
type lambda struct {
	params []plan.ColID
	body   plan.Expr
	outer  []plan.ColID // columns of the query that the body reads
	pos    int
}

// lambdaOf is the lambda among the arguments of a call; nil if there is none.
func lambdaOf(e *ast.Func) *ast.Lambda {
	for i := range e.Args {
		if l, ok := e.Args[i].X.(*ast.Lambda); ok {
			if i != 1 {
				fail(diag.SyntaxError, l.Pos, "a lambda is the second argument of %s", e.Name.Last())
			}
			return l
		}
	}
	return nil
}

// lambda binds a lambda whose parameters have these types; it may name fewer of them.
func (b *binder) lambda(s *scope, l *ast.Lambda, least int, ts ...types.Type) *lambda {
	if n := len(l.Params); n < least || n > len(ts) {
		fail(diag.InvalidFunctionDefinition, l.Pos, "a lambda here has %d to %d parameters, not %d", least, len(ts), n)
	}
	out := &lambda{pos: l.Pos}
	r := &rel{pos: l.Pos}
	for i, p := range l.Params {
		id := b.cols.New(p.Name, ts[i], false)
		out.params = append(out.params, id)
		r.cols = append(r.cols, relCol{name: p.Name, typ: ts[i], expr: b.ref(id)})
	}
	sc := &scope{outer: s, depth: s.depth, rels: []*rel{r}, clause: "lambda expressions", params: true}
	out.body = b.settle(b.expr(sc, l.Body))
	if plan.HasSubquery(out.body) {
		panic(diag.Unsupported(l.Pos, "a subquery in a lambda").WithHint("unnest the list in FROM, and make a list of the results by array_agg"))
	}
	refs := plan.Refs(out.body)
	for id := range refs.All {
		if !slices.Contains(out.params, id) {
			out.outer = append(out.outer, id)
		}
	}
	return out
}

// function makes a function of the list, what else is given, and the columns that the lambda reads. each gets the list's elements, what
// else was given, and a way to call the lambda.
func (l *lambda) function(name string, given int, each func(list []types.Value, given []types.Value, call func(...types.Value) (types.Value, error)) (types.Value, error)) *plan.Function {
	volatile := plan.Volatile(l.body)
	run := eval.Expr
	if volatile {
		run = func(e plan.Expr, cols eval.Columns) (types.Value, error) { return eval.Row(e, cols, nil) }
	}
	return &plan.Function{Name: name, NullOut: true, Fails: true, Volatile: volatile, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		if a[0].Null {
			return types.NullOf(t), nil
		}
		outer := a[1+given:]
		call := func(args ...types.Value) (types.Value, error) {
			return run(l.body, func(id plan.ColID) (types.Value, bool) {
				if i := slices.Index(l.params, id); i >= 0 {
					return args[i], true
				}
				if i := slices.Index(l.outer, id); i >= 0 {
					return outer[i], true
				}
				return types.Value{}, false
			})
		}
		return each(a[0].Elems(), a[1:1+given], call)
	}}
}

// applyLambda is the call of a function that was made of the lambda.
func (b *binder) applyLambda(l *lambda, fn *plan.Function, t types.Type, e *ast.Func, args ...plan.Expr) plan.Expr {
	if b.lambdas == nil {
		b.lambdas = map[*plan.Function]string{}
	}
	b.lambdas[fn] = ast.Format(e)
	for _, id := range l.outer {
		args = append(args, b.ref(id))
	}
	return plan.NewApply(fn, t, e.Pos, args...)
}

// lambdaCall binds list_transform, list_filter and list_reduce, by whichever of their names.
func (b *binder) lambdaCall(s *scope, e *ast.Func, l *ast.Lambda) plan.Expr {
	name := e.Name.Last()
	list := b.settle(b.expr(s, e.Args[0].X))
	if c, ok := list.(*plan.Const); ok && c.V.Null && list.Type().Kind == types.Text {
		list = plan.NullConst(types.TList(types.TInt32))
	}
	if list.Type().Kind != types.List {
		panic(noFunction(name, []plan.Expr{list}, e.Pos).WithHint("its first argument is a list"))
	}
	reduce := strings.HasSuffix(name, "reduce")
	if len(e.Args) > 3 || len(e.Args) == 3 && !reduce {
		fail(diag.UndefinedFunction, e.Pos, "%s takes a list and a lambda", name)
	}
	elem := list.Type().Elem()
	switch {
	case reduce:
		return b.listReduce(s, e, l, list)
	case strings.HasSuffix(name, "filter"):
		f := b.lambda(s, l, 1, elem, types.TInt64)
		if f.body.Type().Kind != types.Bool {
			fail(diag.DatatypeMismatch, l.Body.Position(), "the lambda of %s must be boolean, not %s", name, f.body.Type().SQLName())
		}
		fn := f.function("list_filter", 0, func(list, _ []types.Value, call func(...types.Value) (types.Value, error)) (types.Value, error) {
			var kept []types.Value
			for i, v := range list {
				yes, err := call(v, types.IntValue(types.TInt64, int64(i+1)))
				if err != nil {
					return yes, err
				}
				if !yes.Null && yes.I != 0 {
					kept = append(kept, v)
				}
			}
			return types.ListValue(elem, kept), nil
		})
		return b.applyLambda(f, fn, list.Type(), e, list)
	}
	f := b.lambda(s, l, 1, elem, types.TInt64)
	to := f.body.Type()
	fn := f.function("list_transform", 0, func(list, _ []types.Value, call func(...types.Value) (types.Value, error)) (types.Value, error) {
		out := make([]types.Value, len(list))
		for i, v := range list {
			var err error
			if out[i], err = call(v, types.IntValue(types.TInt64, int64(i+1))); err != nil {
				return out[i], err
			}
		}
		return types.ListValue(to, out), nil
	})
	return b.applyLambda(f, fn, b.listOf(to, l.Body.Position()), e, list)
}

// listReduce is list_reduce(list, (sum, x, i) -> … [, first]). The result has the type to which that of the lambda and that of what it
// begins with lead.
func (b *binder) listReduce(s *scope, e *ast.Func, l *ast.Lambda, list plan.Expr) plan.Expr {
	elem := list.Type().Elem()
	begin, given := plan.Expr(nil), 0
	t := elem
	if len(e.Args) == 3 {
		begin, given = b.settle(b.expr(s, e.Args[2].X)), 1
		t = begin.Type()
	}
	f := b.lambda(s, l, 2, t, elem, types.TInt64)
	if got := f.body.Type(); got != t {
		wider, ok := types.CommonType(got, t)
		if !ok {
			fail(diag.DatatypeMismatch, l.Body.Position(), "the lambda of %s makes %s of %s", e.Name.Last(), got.SQLName(), t.SQLName())
		}
		t = wider
		f = b.lambda(s, l, 2, t, elem, types.TInt64)
		f.body = b.convert(f.body, t, l.Body.Position())
	}
	args := []plan.Expr{list}
	if begin != nil {
		args = append(args, b.convert(begin, t, e.Args[2].X.Position()))
	} else if t != elem {
		list = b.convert(list, b.listOf(t, e.Pos), e.Args[0].X.Position())
		f = b.lambda(s, l, 2, t, t, types.TInt64)
		f.body = b.convert(f.body, t, l.Body.Position())
		args[0] = list
	}
	fn := f.function("list_reduce", given, func(list, given []types.Value, call func(...types.Value) (types.Value, error)) (types.Value, error) {
		var sum types.Value
		from := 0
		switch {
		case len(given) > 0:
			sum = given[0]
		case len(list) == 0:
			return sum, diag.Errorf(diag.InvalidParameter, diag.NoPos, "list_reduce of an empty list needs a third argument to begin with")
		default:
			sum, from = list[0], 1
		}
		for i := from; i < len(list); i++ {
			var err error
			if sum, err = call(sum, list[i], types.IntValue(types.TInt64, int64(i+1))); err != nil {
				return sum, err
			}
		}
		return sum, nil
	})
	return b.applyLambda(f, fn, t, e, args...)
}
