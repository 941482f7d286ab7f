package scalar

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Infinite dates and timestamps are numbers that no calendar knows. Code that computes is written for finite ones; where a
// column may have others, which its range tells, it works on a harmless day in their place, and the result is put right behind it.

// infinity is the number that stands for the infinite future of a type.
func infinity(t types.Type) int64 {
	if t.Kind == types.Date {
		return types.InfiniteDate
	}
	return types.InfiniteTimestamp
}

func finite(v code.Value) bool {
	return v.IsNull() || v.Desc.Range.Within(layout.FiniteRange(v.Desc.Type))
}

// infinite opens a register that tells whether v is infinite.
func (e *Evaluator) infinite(v code.Value) ir.Reg {
	s := infinity(v.Desc.Type)
	inf, past := e.Int("infinite"), e.Int("past")
	e.B.Mov(past, v.A)
	e.B.Set(inf, ir.EQ, past.V(), ir.K(s))
	e.B.Set(past, ir.EQ, past.V(), ir.K(-s))
	e.B.Op2(ir.Or, inf, inf.V(), past.V())
	e.B.Clear(past)
	return inf
}

// tamed is v with a finite day in the place of infinite ones, in a register of its own. The NULL flag stays v's.
func (e *Evaluator) tamed(v code.Value, inf ir.Reg) code.Value {
	r := e.Int("finite")
	e.B.Mov(r, v.A)
	e.B.Sel(r, ir.NE, inf.V(), ir.K(0), ir.K(0), r.V())
	rng := layout.FiniteRange(v.Desc.Type)
	if v.Desc.Range.Known {
		// Bounds that are infinite themselves say nothing.
		zero := layout.Between(0, 0)
		rng = rng.Intersect(v.Desc.Range.Union(zero))
	}
	return code.IntValue(v.Desc.Type, r, rng).WithNull(v.Null, false)
}

// unlessInfinite is what compute makes of a finite date or timestamp, which has type to; an infinite one stays so. v is used up.
func (e *Evaluator) unlessInfinite(v code.Value, to types.Type, compute func(code.Value) code.Value) code.Value {
	if finite(v) {
		return compute(v)
	}
	inf := e.infinite(v)
	out := compute(e.tamed(v, inf))
	s := infinity(to)
	ends, back := e.Int("ends"), e.Int("past")
	e.B.Mov(ends, ir.K(s))
	e.B.Mov(back, ir.K(-s))
	at := e.Int("time")
	e.B.Mov(at, v.A)
	e.B.Sel(ends, ir.LT, at.V(), ir.K(0), back.V(), ends.V())
	e.B.Clear(back)
	e.B.Sel(at, ir.NE, inf.V(), ir.K(0), ends.V(), out.A)
	e.B.Clear(ends, inf)
	n, own := e.AnyNull(out)
	e.Free(out, v)
	return code.IntValue(to, at, layout.TypeRange(to)).WithNull(n, own)
}

// nullIfInfinite is what compute makes of a finite date or timestamp, and NULL for others. v is used up.
func (e *Evaluator) nullIfInfinite(v code.Value, compute func(code.Value) code.Value) code.Value {
	if finite(v) {
		return compute(v)
	}
	inf := e.infinite(v)
	out := compute(e.tamed(v, inf))
	if !out.Null.IsImm() {
		e.B.Op2(ir.Or, inf, inf.V(), out.Null)
		if out.OwnNull {
			e.B.Clear(out.Null.R)
		}
	}
	e.Free(v)
	return out.WithNull(inf.V(), true)
}

// mustBeFinite fails for infinite dates in rows without NULL.
func (e *Evaluator) mustBeFinite(v code.Value, null ir.Val, fail *diag.Error) code.Value {
	if finite(v) {
		return v
	}
	inf := e.infinite(v)
	if !null.IsImm() {
		e.B.Sel(inf, ir.NE, null, ir.K(0), ir.K(0), inf.V())
	}
	e.Exit(e.Fail(fail), ir.NE, inf.V(), ir.K(0))
	e.B.Clear(inf)
	v.Desc.Range = layout.FiniteRange(v.Desc.Type).Intersect(v.Desc.Range)
	return v
}
