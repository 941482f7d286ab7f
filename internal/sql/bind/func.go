package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// call is a function call with its arguments bound.
type call struct {
	scope *scope
	f     *ast.Func
	name  string
	args  []plan.Expr
	pos   int
}

func (c *call) argPos(i int) int { return c.f.Args[i].X.Position() }
func (c *call) upper() string    { return strings.ToUpper(c.name) }

// function binds a call in function syntax.
func (b *binder) function(s *scope, e *ast.Func) plan.Expr {
	name := e.Name.Last()
	if len(e.Name) > 1 && e.Name[len(e.Name)-2].Name != "pg_catalog" {
		fail(diag.UndefinedFunction, e.Pos, "function %s does not exist", e.Name.String())
	}
	if e.Over != nil {
		unsupported(e.Pos, "a window function")
	}
	if f, ok := aggregateNamed(name); ok {
		return b.aggregate(s, e, f)
	}
	if name == "grouping" {
		return b.groupingFunc(s, e)
	}
	switch {
	case e.Filter != nil, e.Distinct, e.Star, len(e.OrderBy) > 0, len(e.WithinGroup) > 0:
		if fn := findFunc(name); fn == nil || fn.build == nil || fn.min >= 0 {
			fail(diag.WrongObjectType, e.Pos, "%s is not an aggregate function", name)
		}
	}
	c := &call{scope: s, f: e, name: name, pos: e.Pos}
	if len(e.Args) > 0 {
		c.args = make([]plan.Expr, len(e.Args))
	}
	for i := range e.Args {
		if a := &e.Args[i]; !a.Name.Empty() {
			fail(diag.UndefinedFunction, a.Name.Pos, "function %s has no parameter named %q", name, a.Name.Name)
		}
		c.args[i] = b.expr(s, e.Args[i].X)
	}
	fn := findFunc(name)
	if fn == nil {
		panic(noFunction(name, c.args, e.Pos))
	}
	return b.apply(fn, c)
}

// apply checks the arguments against the row of the function and makes the call.
func (b *binder) apply(fn *fn, c *call) plan.Expr {
	if fn.min < 0 {
		return fn.build(b, c)
	}
	if n := len(c.args); n < fn.min || n > len(fn.args) && !strings.HasSuffix(fn.args, "…") {
		panic(noFunction(c.name, c.args, c.pos))
	}
	for i, a := range c.args {
		kind := byte('*')
		if i < len(fn.args) {
			kind = fn.args[i]
		}
		t, ok := paramType(kind, a.Type())
		if !ok || !implicit(a.Type(), t) {
			panic(noFunction(c.name, c.args, c.pos))
		}
		if t.Kind != types.Unknown {
			c.args[i] = b.convert(a, t, c.argPos(i))
		}
	}
	if fn.build != nil {
		return fn.build(b, c)
	}
	return &plan.Call{Op: fn.op, T: fn.result, Args: c.args, Pos: c.pos}
}

// paramType is the type to which an argument of type t is brought for a parameter of the
// given letter (see fn.args); Unknown leaves it as it is.
func paramType(kind byte, t types.Type) (types.Type, bool) {
	switch kind {
	case 't':
		return types.TText, true
	case 'i':
		return types.TInt64, true
	case 'f':
		return types.TFloat64, true
	case 'n':
		if t.Kind == types.Unknown {
			return types.TFloat64, true
		}
		return t, t.IsNumeric()
	case 'd':
		if t.Kind == types.Unknown {
			return types.TTimestamp, true
		}
		return t, t.Kind == types.Date || t.Kind == types.Timestamp || t.Kind == types.Interval
	}
	if t.Kind == types.Unknown {
		return types.TUnknown, true
	}
	return t, true
}

// noFunction is PostgreSQL's error for a call that matches nothing, with a hint.
func noFunction(name string, args []plan.Expr, pos int) *diag.Error {
	var sig strings.Builder
	for i, a := range args {
		if i > 0 {
			sig.WriteString(", ")
		}
		sig.WriteString(a.Type().SQLName())
	}
	err := diag.Errorf(diag.UndefinedFunction, pos, "function %s(%s) does not exist", name, sig.String())
	_, isAgg := aggregateNamed(name)
	if isAgg || findFunc(name) != nil {
		return err.WithHint("no function matches the given name and argument types; you might need to add explicit casts")
	}
	names := make([]string, 0, len(funcs)+len(aggFuncs))
	for i := range funcs {
		names = append(names, funcs[i].name)
	}
	for i := range aggFuncs {
		names = append(names, aggFuncs[i].name)
	}
	return err.WithHint(diag.DidYouMean(name, names))
}

func findFunc(name string) *fn {
	i, ok := slices.BinarySearchFunc(funcs, name, func(f fn, name string) int { return strings.Compare(f.name, name) })
	if !ok {
		return nil
	}
	return &funcs[i]
}
