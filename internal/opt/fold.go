package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// fold simplifies every expression, also in subqueries, and splits conjunctions.
func (s *state) fold() {
	s.roots(s.foldTree)
}

func (s *state) foldTree(n plan.Node) plan.Node {
	return plan.MapNode(n, func(n plan.Node) plan.Node {
		plan.MapNodeExprs(n, s.foldExpr)
		switch x := n.(type) {
		case *plan.Filter:
			x.Preds = s.conjunction(x.Preds)
			if len(x.Preds) == 0 {
				return x.Input
			}
		case *plan.Scan:
			x.Filter = s.conjunction(x.Filter)
		case *plan.Join:
			x.On = s.conjunction(x.On)
		}
		return n
	})
}

// foldExpr simplifies an expression.
func (s *state) foldExpr(e plan.Expr) plan.Expr {
	return plan.MapExpr(e, func(e plan.Expr) plan.Expr {
		s.patience.Tick()
		return s.foldOne(e)
	})
}

// conjunction flattens predicates of a WHERE or ON, where NULL counts as false: TRUE
// disappears, a FALSE or NULL swallows the rest.
func (s *state) conjunction(preds []plan.Expr) []plan.Expr {
	if len(preds) == 0 {
		return nil
	}
	out := plan.ExprList{Exprs: make([]plan.Expr, 0, len(preds))}
	for _, p := range preds {
		var buf [8]plan.Expr
		for _, c := range plan.Conjuncts(buf[:0], p) {
			c = s.asCondition(c)
			if k, ok := c.(*plan.Const); ok {
				if k.V.Null || k.V.I == 0 {
					return []plan.Expr{plan.BoolConst(false)}
				}
				continue
			}
			out.Add(c)
		}
	}
	return out.Exprs
}

// asCondition simplifies what need not tell NULL from false.
func (s *state) asCondition(e plan.Expr) plan.Expr {
	x, ok := e.(*plan.Call)
	if !ok {
		return e
	}
	switch x.Op {
	case plan.IsTrue:
		return s.asCondition(x.Args[0])
	case plan.Eq, plan.Le, plan.Ge:
		if plan.EqualExpr(x.Args[0], x.Args[1]) {
			return s.foldOne(plan.Negate(s.foldOne(plan.NewCall(plan.IsNull, types.TBool, x.Args[0]))))
		}
	case plan.Ne, plan.Lt, plan.Gt:
		if plan.EqualExpr(x.Args[0], x.Args[1]) {
			return plan.BoolConst(false)
		}
	}
	return e
}

// foldOne simplifies a node whose operands are already simple.
func (s *state) foldOne(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.Subquery:
		x.Plan = s.foldTree(x.Plan)
		if x.Kind == plan.All && x.Cmp == plan.Ne {
			// NOT IN: one form for unnesting to recognize.
			y := *x
			y.Kind, y.Cmp = plan.In, plan.Eq
			return plan.Negate(&y)
		}
	case *plan.Call:
		return s.foldCall(x)
	}
	return e
}

func (s *state) foldCall(x *plan.Call) plan.Expr {
	switch x.Op {
	case plan.And, plan.Or:
		return s.foldLogic(x)
	case plan.Not:
		return s.foldNot(x)
	case plan.Case:
		return s.foldCase(x)
	case plan.Coalesce:
		return s.foldCoalesce(x)
	case plan.IsNull:
		if plan.NotNullExpr(x.Args[0], s.declared(x.Args[0])) {
			return plan.BoolConst(false)
		}
	case plan.IsTrue:
		if plan.NotNullExpr(x.Args[0], s.declared(x.Args[0])) {
			return x.Args[0]
		}
	case plan.InList:
		return s.foldIn(x)
	}
	if constants(x.Args) {
		if v, ok := evaluate(x, nil); ok {
			v.Type = x.T
			return plan.NewConst(v)
		}
		return x
	}
	if x.Strict() && slices.ContainsFunc(x.Args, plan.IsNullConst) {
		return plan.NullConst(x.T)
	}
	switch {
	case x.Op.IsComparison():
		return s.foldComparison(x)
	case x.Op == plan.Cast:
		if x.Args[0].Type() == x.T {
			return x.Args[0]
		}
	case x.Op == plan.Apply:
		if u := x.Matching(); u != nil && u.IsLike { // code that searches for texts is faster than an automaton
			like := &plan.Call{Op: plan.Like, T: x.T, Args: []plan.Expr{x.Args[0], plan.NewConst(types.TextValue(u.Like))}, Pos: x.Pos}
			if y := s.foldCall(like); u.Not {
				return s.foldOne(plan.Negate(y))
			} else {
				return y
			}
		}
		return s.foldList(x)
	case x.Op == plan.Like:
		if c, ok := x.Args[1].(*plan.Const); ok && len(x.Args) == 2 {
			if text, whole, _ := likeLiteral(c.V.S); whole {
				return plan.Compare(plan.Eq, x.Args[0], plan.NewConst(types.Value{Type: c.V.Type, S: text}))
			}
		}
	}
	return x
}

func constants(args []plan.Expr) bool {
	for _, a := range args {
		if _, ok := a.(*plan.Const); !ok {
			return false
		}
	}
	return true
}

// declared is the set of e's columns that are never NULL anywhere in the query.
func (s *state) declared(e plan.Expr) *plan.ColSet {
	set := plan.Refs(e)
	for id := range set.All {
		if !s.cols.Get(id).NotNull {
			set.Remove(id)
		}
	}
	return &set
}

func (s *state) foldNot(x *plan.Call) plan.Expr {
	switch in := x.Args[0].(type) {
	case *plan.Const:
		if in.V.Null {
			return in
		}
		return plan.BoolConst(in.V.I == 0)
	case *plan.Call:
		switch {
		case in.Op == plan.Not:
			return in.Args[0]
		case in.Op.IsComparison():
			if in.Op != plan.Eq && in.Op != plan.Ne && in.Args[0].Type().IsFloat() {
				return x // keep what the query says about NaN
			}
			y := *in
			y.Op = in.Op.Inverse()
			return &y
		case in.Op == plan.Or:
			// A conjunction can be split; a disjunction cannot.
			args := make([]plan.Expr, len(in.Args))
			for i, a := range in.Args {
				args[i] = s.foldOne(plan.Negate(a))
			}
			return s.foldOne(plan.AndOf(args...))
		}
	case *plan.Subquery:
		if in.Kind == plan.All || in.Kind == plan.In && in.Cmp != plan.Eq {
			y := *in
			y.Kind = plan.All + plan.In - in.Kind
			y.Cmp = in.Cmp.Inverse()
			if len(y.Needle) == 1 {
				return &y
			}
		}
	}
	return x
}

func (s *state) foldCase(x *plan.Call) plan.Expr {
	args := x.Args
	out := make([]plan.Expr, 0, len(args))
	var rest plan.Expr = plan.NullConst(x.T)
	if len(args)%2 == 1 {
		rest = args[len(args)-1]
	}
	for i := 0; i+1 < len(args); i += 2 {
		if c, ok := args[i].(*plan.Const); ok {
			if c.V.Null || c.V.I == 0 {
				continue
			}
			rest = args[i+1]
			break
		}
		out = append(out, args[i], args[i+1])
	}
	if len(out) == 0 {
		return rest
	}
	if len(out) == 2 && plan.IsTrueConst(out[1]) && plan.IsFalseConst(rest) {
		return s.foldOne(plan.NewCall(plan.IsTrue, types.TBool, out[0]))
	}
	if len(out)+1 == len(args) && out[len(out)-1] == args[len(args)-2] && rest == args[len(args)-1] {
		return x
	}
	y := *x
	y.Args = append(out, rest)
	return &y
}

func (s *state) foldCoalesce(x *plan.Call) plan.Expr {
	var out []plan.Expr
	for _, a := range x.Args {
		if plan.IsNullConst(a) {
			continue
		}
		out = append(out, a)
		if plan.NotNullExpr(a, s.declared(a)) {
			break
		}
	}
	switch {
	case len(out) == 0:
		return plan.NullConst(x.T)
	case len(out) == 1 && out[0].Type() == x.T:
		return out[0]
	case len(out) == len(x.Args):
		return x
	}
	y := *x
	y.Args = out
	return &y
}

func (s *state) foldIn(x *plan.Call) plan.Expr {
	if constants(x.Args) {
		if v, ok := evaluate(x, nil); ok {
			return plan.NewConst(v)
		}
	}
	var vals plan.ExprList
	for _, a := range x.Args[1:] {
		vals.Add(a)
	}
	if len(vals.Exprs) == 0 {
		return x
	}
	y := *x
	y.Args = append([]plan.Expr{x.Args[0]}, vals.Exprs...)
	return s.foldNeedle(&y)
}

// foldNeedle takes a widening cast off an IN's needle when the list can be narrowed, and
// makes a list of one a comparison.
func (s *state) foldNeedle(x *plan.Call) plan.Expr {
	if cast, ok := x.Args[0].(*plan.Call); ok && cast.Op == plan.Cast && widening(cast) {
		t := cast.Args[0].Type()
		args := []plan.Expr{cast.Args[0]}
		for _, a := range x.Args[1:] {
			if v, ok := narrowed(a.(*plan.Const).V, t); ok {
				args = append(args, plan.NewConst(v))
			}
		}
		if len(args) == len(x.Args) {
			y := *x
			y.Args = args
			x = &y
		}
	}
	if len(x.Args) == 2 {
		return plan.Compare(plan.Eq, x.Args[0], x.Args[1])
	}
	return x
}
