package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// logic is AND and OR as a value, three-valued. Cheap operands are combined with bit
// operations; expensive ones are only evaluated when the outcome still depends on them.
func (e *evaluator) logic(x *plan.Call) value {
	stop := ir.K(0) // the value of an operand that decides the outcome
	if x.Op == plan.Or {
		stop = ir.K(1)
	}
	acc := e.ownBool(e.eval(x.Args[0]))
	for _, arg := range x.Args[1:] {
		if e.cheap(arg) {
			v := e.eval(arg)
			acc = e.combine(x.Op, acc, v)
			e.free(v)
			continue
		}
		// Nullness may change inside: keep it in a register if anything can be NULL.
		if acc.null.IsImm() && (acc.isNull() || e.mayBeNull(arg)) {
			n := e.int("null")
			e.b.Mov(n, acc.null)
			acc = acc.withNull(n.V(), true)
		}
		run := func() {
			v := e.eval(arg)
			w := e.combine(x.Op, acc, v)
			if w.null != acc.null && !acc.null.IsImm() {
				e.b.Mov(acc.null.R, w.null)
			}
			e.free(v)
		}
		// Decided only if definite: AND by false and not NULL, OR by true.
		if x.Op == plan.And && !acc.never() {
			open := e.int("open")
			e.b.Op2(ir.Or, open, acc.a, acc.null)
			e.when(ir.NE, open.V(), ir.K(0), run, nil)
			e.b.Clear(open)
		} else {
			e.when(ir.NE, acc.a, stop, run, nil)
		}
	}
	return acc
}

// ownBool is v in registers that may be overwritten.
func (e *evaluator) ownBool(v value) value {
	if !v.ownA {
		r := e.int("bool")
		e.b.Mov(r, v.a)
		v.a, v.ownA = r.V(), true
	}
	if !v.null.IsImm() && !v.ownNull {
		n := e.int("null")
		e.b.Mov(n, v.null)
		v.null, v.ownNull = n.V(), true
	}
	v.d.Range = layout.Between(0, 1)
	return v
}

// combine does acc = acc op v, in acc's registers; acc.a is 0 where acc is NULL.
func (e *evaluator) combine(op plan.Op, acc, v value) value {
	if acc.never() && v.never() {
		if op == plan.And {
			e.b.Op2(ir.And, acc.a.R, acc.a, v.a)
		} else {
			e.b.Op2(ir.Or, acc.a.R, acc.a, v.a)
		}
		return acc
	}
	n, t := acc.null, ir.NoReg
	if !acc.ownNull {
		t = e.int("null")
		n = t.V()
		e.b.Mov(t, acc.null)
	}
	u := e.int("u")
	if op == plan.And {
		// NULL if one is NULL and the other is not false.
		e.b.Op2(ir.Or, u, v.a, v.null)
		e.b.Op2(ir.And, u, u.V(), n) // acc NULL, v not false
		e.b.Op2(ir.And, n.R, acc.a, v.null)
		e.b.Op2(ir.Or, n.R, n, u.V())
		e.b.Op2(ir.And, acc.a.R, acc.a, v.a)
	} else {
		e.b.Op2(ir.Or, acc.a.R, acc.a, v.a)
		e.b.Op2(ir.Or, n.R, n, v.null)
		e.b.Op2(ir.Xor, u, acc.a, ir.K(1))
		e.b.Op2(ir.And, n.R, n, u.V())
	}
	e.b.Clear(u)
	return acc.withNull(n, true)
}

func (e *evaluator) not(x *plan.Call) value {
	v := e.ownBool(e.eval(x.Args[0]))
	e.b.Op2(ir.Xor, v.a.R, v.a, ir.K(1))
	if !v.never() {
		e.b.Sel(v.a.R, ir.NE, v.null, ir.K(0), ir.K(0), v.a)
	}
	return v
}

// cheap reports an expression of a few instructions that cannot fail.
func (e *evaluator) cheap(x plan.Expr) bool {
	switch x := x.(type) {
	case *plan.Ref:
		return x.T.Phys() == types.PhysI64
	case *plan.Const:
		return true
	case *plan.Call:
		switch x.Op {
		case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge, plan.And, plan.Or, plan.Not, plan.IsNull:
			for _, a := range x.Args {
				if !e.cheap(a) {
					return false
				}
			}
			return true
		}
	}
	return false
}

// mayBeNull is a cheap guess that errs towards true.
func (e *evaluator) mayBeNull(x plan.Expr) bool { return e.describe(x).Nullable }

// describe tells what evaluating x here would give, by emitting it and taking that back. The answer is
// kept: a CASE asks about its branches, and those about theirs.
func (e *evaluator) describe(x plan.Expr) layout.Desc {
	if e.asOf != e.bound { // a column means something else now
		clear(e.descs)
		e.asOf = e.bound
	}
	if d, ok := e.descs[x]; ok {
		return d
	}
	mark, pool := e.b.Mark(), len(e.Pool)
	var d layout.Desc
	// Words allotted meanwhile are kept: the real evaluation wants them next.
	e.block(func() {
		v := e.eval(x)
		d = v.d
		d.Nullable = !v.never()
		e.free(v)
	})
	e.b.Undo(mark)
	e.Pool = e.Pool[:pool]
	e.forgetPool(pool)
	if e.descs == nil {
		e.descs = map[plan.Expr]layout.Desc{}
	}
	e.descs[x] = d
	return d
}
