package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A list that a query makes of values only to look into it need not be made: its length is known, and an element is one of the values. So unnest of
// values runs in generated code.

// mostListed bounds the values that are told apart one by one.
const mostListed = 16

// foldList rewrites a function of lists, if it can.
func (s *state) foldList(x *plan.Call) plan.Expr {
	switch {
	case x.Fn == funcs.ListRows:
		most := 0
		for _, a := range x.Args {
			values, ok := listed(a)
			if !ok {
				return x
			}
			most = max(most, len(values))
		}
		return plan.NewConst(types.IntValue(x.T, int64(most)))
	case x.Fn == funcs.ListNext || x.Fn == funcs.ListAt:
		if values, ok := listed(x.Args[0]); ok && len(values) <= mostListed {
			return s.oneOf(values, x.Args[1], x.T)
		}
	case x.Fn.Name == "len" || x.Fn.Name == "array_length" && len(x.Args) == 1:
		if values, ok := listed(x.Args[0]); ok {
			return plan.NewConst(types.IntValue(x.T, int64(len(values))))
		}
		return lengthOfSplit(x)
	case x.Fn.Name == "list_contains":
		return containedIn(x)
	}
	return x
}

// listed are the values that a list is made of, none of which matters if it is not asked for.
func listed(x plan.Expr) ([]plan.Expr, bool) {
	c, ok := x.(*plan.Call)
	if !ok || c.Op != plan.Apply || c.Fn.Name != funcs.ListMake.Name || c.T.Elem().IsNested() {
		return nil, false
	}
	return c.Args, !slices.ContainsFunc(c.Args, func(a plan.Expr) bool { return mayFail(a) || plan.Volatile(a) || a.Type() != c.T.Elem() })
}

// oneOf is the value of a number, from 1; NULL if there is none.
func (s *state) oneOf(values []plan.Expr, number plan.Expr, t types.Type) plan.Expr {
	if len(values) == 0 {
		return plan.NullConst(t)
	}
	var args []plan.Expr
	for i, v := range values {
		if t.IsFloat() { // lists do not know -0
			v = s.foldOne(plan.NewCall(plan.Add, t, v, plan.NewConst(types.FloatValue(t, 0))))
		}
		args = append(args, s.foldOne(plan.Compare(plan.Eq, number, plan.NewConst(types.IntValue(number.Type(), int64(i+1))))), v)
	}
	return s.foldOne(plan.NewCall(plan.Case, t, append(args, plan.NullConst(t))...))
}

// lengthOfSplit is the length of a list of the parts of a text: one more than there are places to cut it.
func lengthOfSplit(x *plan.Call) plan.Expr {
	c, ok := x.Args[0].(*plan.Call)
	if !ok || c.Op != plan.Apply || !slices.Contains(funcs.SplitNames, c.Fn.Name) {
		return x
	}
	by, ok := c.Args[1].(*plan.Const)
	if !ok || by.V.Null || by.V.S == "" {
		return x
	}
	return plan.NewCall(plan.Add, x.T, plan.NewApply(funcs.Occurrences, x.T, x.Pos, c.Args...), plan.NewConst(types.IntValue(x.T, 1)))
}

// containedIn is whether a value is in a list of constants.
func containedIn(x *plan.Call) plan.Expr {
	list, ok := x.Args[0].(*plan.Const)
	elem := x.Args[1].Type()
	if !ok || list.V.Null || list.V.Type.Elem() != elem || elem.IsNested() || elem.IsFloat() || elem.Kind == types.Interval {
		return x
	}
	args := []plan.Expr{x.Args[1]}
	for _, v := range list.V.Elems() {
		if v.Null {
			return x
		}
		v.Type = elem
		args = append(args, plan.NewConst(v))
	}
	if len(args) == 1 {
		return x
	}
	return plan.NewCall(plan.InList, x.T, args...)
}
