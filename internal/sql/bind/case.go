package bind

import (
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// caseExpr binds both forms of CASE; the simple one compares its operand with each value.
func (b *binder) caseExpr(s *scope, e *ast.Case) plan.Expr {
	var operand plan.Expr
	if e.Operand != nil {
		operand = b.expr(s, e.Operand)
	}
	n := len(e.Whens)
	conds := make([]plan.Expr, n)
	thens := make([]plan.Expr, n, n+1)
	for i, w := range e.Whens {
		if operand == nil {
			conds[i] = b.boolean(s, w.Cond, "CASE/WHEN")
		} else {
			x := operand
			if i > 0 {
				x = b.again(s, e.Operand, operand)
			}
			at := place{w.Cond.Position(), e.Operand.Position(), w.Cond.Position()}
			conds[i] = b.compare(plan.Eq, x, b.expr(s, w.Cond), at)
		}
		thens[i] = b.expr(s, w.Then)
	}
	pos := func(i int) int {
		if i < n {
			return e.Whens[i].Then.Position()
		}
		return e.Else.Position()
	}
	if e.Else != nil {
		thens = append(thens, b.expr(s, e.Else))
	}
	t := b.commonType(thens, pos, "CASE")
	args := make([]plan.Expr, 0, 2*n+1)
	for i := range n {
		args = append(args, conds[i], b.convert(thens[i], t, pos(i)))
	}
	if e.Else != nil {
		args = append(args, b.convert(thens[n], t, pos(n)))
	} else {
		args = append(args, plan.NullConst(t))
	}
	return &plan.Call{Op: plan.Case, T: t, Args: args, Pos: e.Pos}
}

// variadic binds COALESCE, GREATEST and LEAST.
func (b *binder) variadic(op plan.Op, c *call) plan.Expr {
	t := b.commonType(c.args, c.argPos, c.upper())
	args := make([]plan.Expr, 0, len(c.args))
	ended := false
	for i, a := range c.args {
		a = b.convert(a, t, c.argPos(i))  // also behind the end: a literal that is none of the type is an error
		if ended || plan.IsNullConst(a) { // says nothing in any of the three
			continue
		}
		args = append(args, a)
		// A column declared NOT NULL does not end the list: above ROLLUP it may be NULL.
		_, constant := a.(*plan.Const)
		ended = constant && op == plan.Coalesce
	}
	switch len(args) {
	case 0:
		return plan.NullConst(t)
	case 1:
		return args[0]
	}
	if sign, compares := map[plan.Op]int64{plan.Least: -1, plan.Greatest: 1}[op]; compares && t.Keyed() {
		args = append([]plan.Expr{plan.NewConst(types.IntValue(types.TInt64, sign))}, args...)
		return plan.NewApply(funcs.Extreme, t, c.pos, args...)
	}
	return &plan.Call{Op: op, T: t, Args: args, Pos: c.pos}
}

// nullIf binds NULLIF(a, b): a unless a = b.
func (b *binder) nullIf(c *call) plan.Expr {
	x, y := c.args[0], c.args[1]
	at := place{c.pos, c.argPos(0), c.argPos(1)}
	l, r, ok := b.unify(x, y, at)
	if !ok {
		panic(noOperator("=", x, y, c.pos))
	}
	l, r = equalBy(l, at.l), equalBy(r, at.r)
	x = b.settle(x)
	if plan.EqualExpr(l, x) {
		return &plan.Call{Op: plan.NullIf, T: x.Type(), Args: []plan.Expr{l, r}, Pos: c.pos}
	}
	// The comparison needs a cast, the result must not have it.
	if plan.HasSubquery(x) {
		x = b.expr(c.scope, c.f.Args[0].X)
	}
	eq := &plan.Call{Op: plan.Eq, T: types.TBool, Args: []plan.Expr{l, r}, Pos: c.pos}
	return &plan.Call{Op: plan.Case, T: x.Type(), Args: []plan.Expr{eq, plan.NullConst(x.Type()), x}, Pos: c.pos}
}
