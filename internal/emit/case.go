package emit

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// result opens registers for a value that one of several expressions will give.
func (e *evaluator) result(x *plan.Call, branches []plan.Expr) value {
	d := layout.Desc{Type: x.T}
	first := true
	for _, b := range branches {
		bd := e.describe(b)
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
	v := value{d: d, ownA: true, null: ir.K(0)}
	if d.Form == layout.F64 {
		v.a = e.float("case").V()
		e.b.FConst(v.a.R, 0)
	} else {
		v.a = e.int("case").V()
		e.b.Mov(v.a.R, ir.K(0))
	}
	if v.two() {
		v.b, v.ownB = e.int("case.2").V(), true
		e.b.Mov(v.b.R, ir.K(0))
	}
	if d.Nullable {
		v.null, v.ownNull = e.int("case.null").V(), true
		e.b.Mov(v.null.R, ir.K(1))
	}
	return v
}

// assign copies v into the registers of out; v stays the caller's.
func (e *evaluator) assign(out, v value) {
	if v.isNull() {
		if !out.null.IsImm() { // else a later operand takes its place
			e.b.Mov(out.null.R, ir.K(1))
		}
		if out.d.Form != layout.F64 {
			e.b.Mov(out.a.R, ir.K(0))
		}
		if out.two() { // a text without address has no length
			e.b.Mov(out.b.R, ir.K(0))
		}
		return
	}
	w := e.reform(v.borrowed(), out.d.Form)
	if out.d.Form == layout.F64 {
		e.b.FMov(out.a.R, w.a.R)
	} else {
		e.b.Mov(out.a.R, w.a)
		if out.two() {
			e.b.Mov(out.b.R, w.b)
		}
	}
	if !out.null.IsImm() {
		e.b.Mov(out.null.R, v.null)
	}
	w.ownNull = false
	e.free(w)
}

// caseExpr evaluates the first branch whose condition is true.
func (e *evaluator) caseExpr(x *plan.Call) value {
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
			v := e.eval(otherwise)
			e.assign(out, v)
			e.free(v)
			return
		}
		c := e.eval(x.Args[2*i])
		e.when(ir.NE, c.a, ir.K(0), func() {
			v := e.eval(x.Args[2*i+1])
			e.assign(out, v)
			e.free(v)
		}, func() { arm(i + 1) })
		e.free(c)
	}
	arm(0)
	return out
}

// maxSelects is the most branches that are all looked at instead of jumping to the right one.
const maxSelects = 8

// selectConst is CASE with integer literals: no branch needed. Of several conditions all are computed, the
// last one first, so they must be cheap.
func (e *evaluator) selectConst(x *plan.Call, branches []plan.Expr) (value, bool) {
	if e.Off.BranchFree || len(branches) < 2 || len(branches) > maxSelects || x.T.Phys() != types.PhysI64 {
		return value{}, false
	}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	ks := make([]int64, len(branches))
	for i, b := range branches {
		k, ok := b.(*plan.Const)
		if !ok || k.V.Null || len(branches) > 2 && i < len(branches)-1 && !e.cheap(x.Args[2*i]) {
			return value{}, false
		}
		ks[i] = k.V.I
		lo, hi = min(lo, ks[i]), max(hi, ks[i])
	}
	last := len(branches) - 1
	r := ir.K(ks[last])
	for i := last - 1; i >= 0; i-- {
		c := e.eval(x.Args[2*i])
		d := e.int("case")
		e.b.Sel(d, ir.NE, c.a, ir.K(0), ir.K(ks[i]), r)
		e.free(c)
		if !r.IsImm() {
			e.b.Clear(r.R)
		}
		r = d.V()
	}
	return intVal(x.T, r.R, layout.Between(lo, hi)), true
}

// coalesce is the first operand that is not NULL.
func (e *evaluator) coalesce(x *plan.Call) value {
	out := e.result(x, x.Args)
	last := len(x.Args) - 1
	nullable := e.describe(x.Args[last]).Nullable
	if !nullable && out.ownNull {
		// The last resort is never NULL, so neither is the result.
		e.b.Clear(out.null.R)
		out = out.withNull(ir.K(0), false)
	}
	var arm func(i int)
	arm = func(i int) {
		v := e.eval(x.Args[i])
		e.assign(out, v)
		if i < last && !v.never() {
			e.when(ir.NE, v.null, ir.K(0), func() { arm(i + 1) }, nil)
		}
		e.free(v)
	}
	arm(0)
	return out
}

// nullIf is NULL where both operands are equal, else the first.
func (e *evaluator) nullIf(x *plan.Call) value {
	l, r := e.eval(x.Args[0]), e.eval(x.Args[1])
	if l.isNull() {
		e.free(r)
		return l
	}
	out := l.borrowed()
	n := e.int("nullif")
	if r.isNull() {
		e.b.Mov(n, l.null)
	} else {
		same := e.comparison(ir.EQ, l, r)
		if !r.never() {
			e.b.Sel(same, ir.NE, r.null, ir.K(0), ir.K(0), same.V())
		}
		e.b.Op2(ir.Or, n, same.V(), l.null)
		e.b.Clear(same)
	}
	if l.ownNull {
		e.b.Clear(l.null.R)
	}
	out.ownA, out.ownB = l.ownA, l.ownB
	e.free(r)
	if out.d.Type.Kind == types.Bool {
		r := e.int("bool")
		e.b.Sel(r, ir.NE, n.V(), ir.K(0), ir.K(0), out.a)
		if out.ownA {
			e.b.Clear(out.a.R)
		}
		out.a, out.ownA = r.V(), true
	}
	return out.withNull(n.V(), true)
}
