package scalar

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// logic is AND and OR as a value, three-valued. Cheap operands are combined with bit
// operations; expensive ones are only evaluated when the outcome still depends on them.
func (e *Evaluator) logic(x *plan.Call) code.Value {
	stop := ir.K(0) // the value of an operand that decides the outcome
	if x.Op == plan.Or {
		stop = ir.K(1)
	}
	acc := e.ownBool(e.Eval(x.Args[0]))
	for _, arg := range x.Args[1:] {
		if e.cheap(arg) {
			v := e.Eval(arg)
			acc = e.combine(x.Op, acc, v)
			e.Free(v)
			continue
		}
		// Nullness may change inside: keep it in a register if anything can be NULL.
		if acc.Null.IsImm() && (acc.IsNull() || e.mayBeNull(arg)) {
			n := e.Int("null")
			e.B.Mov(n, acc.Null)
			acc = acc.WithNull(n.V(), true)
		}
		run := func() {
			v := e.Eval(arg)
			w := e.combine(x.Op, acc, v)
			if w.Null != acc.Null && !acc.Null.IsImm() {
				e.B.Mov(acc.Null.R, w.Null)
			}
			e.Free(v)
		}
		// Decided only if definite: AND by false and not NULL, OR by true.
		if x.Op == plan.And && !acc.Never() {
			open := e.Int("open")
			e.B.Op2(ir.Or, open, acc.A, acc.Null)
			e.When(ir.NE, open.V(), ir.K(0), run, nil)
			e.B.Clear(open)
		} else {
			e.When(ir.NE, acc.A, stop, run, nil)
		}
	}
	return acc
}

// ownBool is v in registers that may be overwritten.
func (e *Evaluator) ownBool(v code.Value) code.Value {
	if !v.OwnA {
		r := e.Int("bool")
		e.B.Mov(r, v.A)
		v.A, v.OwnA = r.V(), true
	}
	if !v.Null.IsImm() && !v.OwnNull {
		n := e.Int("null")
		e.B.Mov(n, v.Null)
		v.Null, v.OwnNull = n.V(), true
	}
	v.Desc.Range = layout.Between(0, 1)
	return v
}

// combine does acc = acc op v, in acc's registers; acc.a is 0 where acc is NULL.
func (e *Evaluator) combine(op plan.Op, acc, v code.Value) code.Value {
	if acc.Never() && v.Never() {
		if op == plan.And {
			e.B.Op2(ir.And, acc.A.R, acc.A, v.A)
		} else {
			e.B.Op2(ir.Or, acc.A.R, acc.A, v.A)
		}
		return acc
	}
	n, t := acc.Null, ir.NoReg
	if !acc.OwnNull {
		t = e.Int("null")
		n = t.V()
		e.B.Mov(t, acc.Null)
	}
	u := e.Int("u")
	if op == plan.And {
		// NULL if one is NULL and the other is not false.
		e.B.Op2(ir.Or, u, v.A, v.Null)
		e.B.Op2(ir.And, u, u.V(), n) // acc NULL, v not false
		e.B.Op2(ir.And, n.R, acc.A, v.Null)
		e.B.Op2(ir.Or, n.R, n, u.V())
		e.B.Op2(ir.And, acc.A.R, acc.A, v.A)
	} else {
		e.B.Op2(ir.Or, acc.A.R, acc.A, v.A)
		e.B.Op2(ir.Or, n.R, n, v.Null)
		e.B.Op2(ir.Xor, u, acc.A, ir.K(1))
		e.B.Op2(ir.And, n.R, n, u.V())
	}
	e.B.Clear(u)
	return acc.WithNull(n, true)
}

func (e *Evaluator) not(x *plan.Call) code.Value {
	v := e.ownBool(e.Eval(x.Args[0]))
	e.B.Op2(ir.Xor, v.A.R, v.A, ir.K(1))
	if !v.Never() {
		e.B.Sel(v.A.R, ir.NE, v.Null, ir.K(0), ir.K(0), v.A)
	}
	return v
}

// cheap reports an expression of a few instructions that cannot fail.
func (e *Evaluator) cheap(x plan.Expr) bool {
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
func (e *Evaluator) mayBeNull(x plan.Expr) bool { return e.Describe(x).Nullable }

// Describe tells what evaluating x here would give, by emitting it and taking that back. The answer is
// kept: a CASE asks about its branches, and those about theirs.
func (e *Evaluator) Describe(x plan.Expr) layout.Desc { return e.Outline(x).Desc }

// Outline is Describe, with whether the value is known to be NULL, or not to be; it has no registers.
func (e *Evaluator) Outline(x plan.Expr) code.Value {
	if e.asOf != e.Bound { // a column means something else now
		clear(e.descs)
		e.asOf = e.Bound
	}
	if v, ok := e.descs[x]; ok {
		return v
	}
	if e.Makes(x, false) || e.Makes(x, true) {
		e.Texts.Ready()
	}
	mark, pool := e.B.Mark(), len(e.Pool)
	var out code.Value
	// Words allotted meanwhile are kept: the real evaluation wants them next.
	e.Block(func() {
		v := e.Eval(x)
		out.Desc = v.Desc
		out.Desc.Nullable = !v.Never()
		if v.IsNull() {
			out.Null = ir.K(1)
		}
		e.Free(v)
	})
	e.B.Undo(mark)
	e.Pool = e.Pool[:pool]
	e.forgetPool(pool)
	if e.descs == nil {
		e.descs = map[plan.Expr]code.Value{}
	}
	e.descs[x] = out
	return out
}
