package scalar

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// result opens registers for a value that one of several expressions will give.
func (e *Evaluator) result(x *plan.Call, branches []plan.Expr) code.Value {
	d := layout.Desc{Type: x.T}
	first := true
	for _, b := range branches {
		bd := e.Describe(b)
		if c, ok := b.(*plan.Const); ok && c.V.Null {
			d.Nullable = true
			continue
		}
		d.Nullable = d.Nullable || bd.Nullable
		if first {
			d.Form, d.Range, d.Dict = bd.Form, bd.Range, bd.Dict
			first = false
			continue
		}
		d.Range = d.Range.Union(bd.Range)
		if bd.Form != d.Form || bd.Dict != d.Dict {
			switch d.Type.Phys() {
			case types.PhysStr:
				d.Form, d.Dict, d.Range = layout.Str, nil, layout.Range{}
			default:
				d.Form = layout.I128
			}
		}
	}
	if first {
		d.Form = layout.FormOf(d.Type, layout.Between(0, 0))
	}
	v := code.Value{Desc: d, OwnA: true, Null: ir.K(0)}
	if d.Form == layout.F64 {
		v.A = e.Float("case").V()
		e.B.FConst(v.A.R, 0)
	} else {
		v.A = e.Int("case").V()
		e.B.Mov(v.A.R, ir.K(0))
	}
	if v.Two() {
		v.B, v.OwnB = e.Int("case.2").V(), true
		e.B.Mov(v.B.R, ir.K(0))
	}
	if d.Nullable {
		v.Null, v.OwnNull = e.Int("case.null").V(), true
		e.B.Mov(v.Null.R, ir.K(1))
	}
	return v
}

// assign copies v into the registers of out; v stays the caller's.
func (e *Evaluator) assign(out, v code.Value) {
	if v.IsNull() {
		if !out.Null.IsImm() { // else a later operand takes its place
			e.B.Mov(out.Null.R, ir.K(1))
		}
		if out.Desc.Form != layout.F64 {
			e.B.Mov(out.A.R, ir.K(0))
		}
		if out.Two() { // a text without address has no length
			e.B.Mov(out.B.R, ir.K(0))
		}
		return
	}
	w := e.Reform(v.Borrowed(), out.Desc.Form)
	if out.Desc.Form == layout.F64 {
		e.B.FMov(out.A.R, w.A.R)
	} else {
		e.B.Mov(out.A.R, w.A)
		if out.Two() {
			e.B.Mov(out.B.R, w.B)
		}
	}
	if !out.Null.IsImm() {
		e.B.Mov(out.Null.R, v.Null)
	}
	w.OwnNull = false
	e.Free(w)
}

// caseExpr evaluates the first branch whose condition is true.
func (e *Evaluator) caseExpr(x *plan.Call) code.Value {
	n := len(x.Args)
	var branches []plan.Expr
	for i := 1; i < n; i += 2 {
		branches = append(branches, x.Args[i])
	}
	otherwise := plan.Expr(plan.NullConst(x.T))
	if n%2 == 1 {
		otherwise = x.Args[n-1]
	}
	branches = append(branches, otherwise)
	if v, ok := e.selectConst(x, branches); ok {
		return v
	}
	out := e.result(x, branches)
	var arm func(i int)
	arm = func(i int) {
		if 2*i+1 >= n {
			v := e.FactValue(e.Eval(otherwise))
			e.assign(out, v)
			e.Free(v)
			return
		}
		c := e.Eval(x.Args[2*i])
		e.When(ir.NE, c.A, ir.K(0), func() {
			v := e.FactValue(e.Eval(x.Args[2*i+1]))
			e.assign(out, v)
			e.Free(v)
		}, func() { arm(i + 1) })
		e.Free(c)
	}
	arm(0)
	return out
}

// maxSelects is the most branches that are all looked at instead of jumping to the right one.
const maxSelects = 8

// selectConst is CASE with integer literals: no branch needed. Of several conditions all are computed, the
// last one first, so they must be cheap.
func (e *Evaluator) selectConst(x *plan.Call, branches []plan.Expr) (code.Value, bool) {
	if e.Off.BranchFree || len(branches) < 2 || len(branches) > maxSelects || x.T.Phys() != types.PhysI64 {
		return code.Value{}, false
	}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	ks := make([]int64, len(branches))
	for i, b := range branches {
		k, ok := b.(*plan.Const)
		if !ok || k.V.Null || len(branches) > 2 && i < len(branches)-1 && !e.cheap(x.Args[2*i]) {
			return code.Value{}, false
		}
		ks[i] = k.V.I
		lo, hi = min(lo, ks[i]), max(hi, ks[i])
	}
	last := len(branches) - 1
	r, own := e.Fact(ks[last]), false
	for i := last - 1; i >= 0; i-- {
		c := e.Eval(x.Args[2*i])
		d := e.Int("case")
		e.B.Sel(d, ir.NE, c.A, ir.K(0), e.Fact(ks[i]), r)
		e.Free(c)
		if own {
			e.B.Clear(r.R)
		}
		r, own = d.V(), true
	}
	return code.IntValue(x.T, r.R, layout.Between(lo, hi)), true
}

// coalesce is the first operand that is not NULL.
func (e *Evaluator) coalesce(x *plan.Call) code.Value {
	out := e.result(x, x.Args)
	last := len(x.Args) - 1
	nullable := e.Describe(x.Args[last]).Nullable
	if !nullable && out.OwnNull {
		// The last resort is never NULL, so neither is the result.
		e.B.Clear(out.Null.R)
		out = out.WithNull(ir.K(0), false)
	}
	var arm func(i int)
	arm = func(i int) {
		v := e.FactValue(e.Eval(x.Args[i]))
		e.assign(out, v)
		if i < last && !v.Never() {
			e.When(ir.NE, v.Null, ir.K(0), func() { arm(i + 1) }, nil)
		}
		e.Free(v)
	}
	arm(0)
	return out
}

// nullIf is NULL where both operands are equal, else the first.
func (e *Evaluator) nullIf(x *plan.Call) code.Value {
	l, r := e.FactValue(e.Eval(x.Args[0])), e.FactValue(e.Eval(x.Args[1]))
	if l.IsNull() {
		e.Free(r)
		return l
	}
	out := l.Borrowed()
	n := e.Int("nullif")
	if r.IsNull() {
		e.B.Mov(n, l.Null)
	} else {
		same := e.Compare(ir.EQ, l, r)
		if !r.Never() {
			e.B.Sel(same, ir.NE, r.Null, ir.K(0), ir.K(0), same.V())
		}
		e.B.Op2(ir.Or, n, same.V(), l.Null)
		e.B.Clear(same)
	}
	if l.OwnNull {
		e.B.Clear(l.Null.R)
	}
	out.OwnA, out.OwnB = l.OwnA, l.OwnB
	e.Free(r)
	if out.Desc.Type.Kind == types.Bool {
		r := e.Int("bool")
		e.B.Sel(r, ir.NE, n.V(), ir.K(0), ir.K(0), out.A)
		if out.OwnA {
			e.B.Clear(out.A.R)
		}
		out.A, out.OwnA = r.V(), true
	}
	return out.WithNull(n.V(), true)
}
