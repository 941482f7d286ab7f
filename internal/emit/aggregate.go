package emit

import (
	"fmt"
	"math"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Aggregates: what is known of their running values, what they start from, and how a row changes them.

// aggDesc is what is known of an aggregate's running value.
func (e *emitter) aggDesc(a plan.Agg, one bool) layout.Desc {
	d := layout.Desc{Type: e.Cols.Get(a.Col).Type}
	switch a.Func {
	case plan.CountStar, plan.Count:
		d.Form, d.Range = layout.I64, layout.Between(0, math.MaxInt64).Intersect(e.maxRows)
		if !d.Range.Fits64() {
			d.Range = layout.Between(0, math.MaxInt64)
		}
		return d
	case plan.Sum, plan.Min, plan.Max, plan.AnyValue, plan.BoolAnd, plan.BoolOr:
	case plan.First:
		if e.gpu != nil {
			code.Refuse(-1, "DISTINCT ON with columns that may be NULL is not supported on a GPU yet")
		}
	default:
		panic(fmt.Sprintf("aggregate %s should have been rewritten", a.Func))
	}
	arg := e.Describe(a.Arg)
	if a.Func == plan.Sum && arg.Form == layout.Ivl {
		code.Refuse(-1, "the sum of intervals is not supported")
	}
	d.Nullable = arg.Nullable || a.Filter != nil || one
	d.Form, d.Range, d.Dict = arg.Form, arg.Range, arg.Dict
	switch {
	case a.Func == plan.Sum && d.Form != layout.F64:
		zero := layout.Between(0, 0)
		d.Range = arg.Range.Mul(e.maxRows).Union(zero)
		d.Form = layout.I128
		if d.Type.Kind != types.Decimal { // BIGINT: beyond it lies an error
			d.Range = layout.TypeRange(d.Type).Intersect(d.Range)
		}
		if d.Range.Fits64() {
			d.Form = layout.I64
		}
	case a.Func != plan.AnyValue && a.Func != plan.First && d.Form == layout.Code: // codes are not ordered
		d.Form, d.Dict, d.Range = layout.Str, nil, layout.Range{}
	}
	if a.Func != plan.Sum && a.Func != plan.AnyValue && a.Func != plan.First && d.Form != layout.I64 {
		d.Nullable = true // there is no neutral element: NULL is "none yet"
	}
	return d
}

// firstOnly reports an aggregate whose value is that of the row which makes the group: it
// is read only there.
func firstOnly(a plan.Agg, f *layout.Field) bool {
	return a.Func == plan.First || a.Func == plan.AnyValue && f.Null < 0
}

// Neutral is what an aggregate starts from, as two words.
func Neutral(fn plan.AggFunc, f layout.Form) (lo, hi int64) {
	if f == layout.I64 {
		switch fn {
		case plan.Min, plan.BoolAnd:
			return math.MaxInt64, 0
		case plan.Max, plan.BoolOr:
			return math.MinInt64, 0
		}
	}
	if f == layout.F64 { // NaN is above all numbers
		switch fn {
		case plan.Min:
			return int64(math.Float64bits(math.NaN())), 0
		case plan.Max:
			return int64(math.Float64bits(math.Inf(-1))), 0
		}
	}
	return 0, 0
}

// aggregate evaluates an aggregate's argument for the row and updates the group.
func (e *emitter) aggregate(p ir.Reg, f *layout.Field, a plan.Agg) {
	if firstOnly(a, f) {
		return
	}
	run := func() {
		switch a.Func {
		case plan.CountStar:
			e.update(p, f, plan.Sum, e.Constant(types.IntValue(types.TInt64, 1)))
		case plan.Count:
			v := e.Eval(a.Arg)
			one := e.Constant(types.IntValue(types.TInt64, 1))
			switch {
			case v.IsNull():
			case v.Never():
				e.update(p, f, plan.Sum, one)
			default:
				r := e.Int("one")
				e.B.Op2(ir.Xor, r, v.Null, ir.K(1))
				e.update(p, f, plan.Sum, code.IntValue(types.TInt64, r, layout.Between(0, 1)))
				e.B.Clear(r)
			}
			e.Free(v)
		default:
			mark := e.MarkText(a.Arg)
			v := e.Eval(a.Arg)
			e.update(p, f, a.Func, v)
			if mark != ir.NoReg {
				e.dropUnless(mark, p, f, v)
				e.B.Clear(mark)
			}
			e.Free(v)
		}
	}
	if a.Filter == nil {
		run()
		return
	}
	c := e.Eval(a.Filter)
	e.When(ir.NE, c.A, ir.K(0), run, nil)
	e.Free(c)
}

// update folds v into the running value in field f of the group at p. v stays the caller's.
func (e *emitter) update(p ir.Reg, f *layout.Field, fn plan.AggFunc, v code.Value) {
	if v.IsNull() {
		return
	}
	if e.gpu != nil {
		e.fold(e.gpu.shares[f], v)
		return
	}
	switch fn {
	case plan.Sum:
		e.updateSum(p, f, v)
		return
	case plan.AnyValue:
		e.updateIf(p, f, v, func(cur code.Value) ir.Reg {
			r := e.Int("take")
			e.B.Mov(r, ir.K(0))
			return r
		})
		return
	}
	c := ir.LT
	if fn == plan.Max || fn == plan.BoolOr {
		c = ir.GT
	}
	v = e.Text(v.Borrowed())
	if f.Null < 0 && f.Desc.Form == layout.I64 && v.Never() {
		cur := e.Int(f.Name)
		e.B.Load8(cur, ir.At(p, f.Off))
		e.B.Sel(cur, c, v.A, cur.V(), v.A, cur.V())
		e.B.Store(ir.At(p, f.Off), cur.V(), 8)
		e.B.Clear(cur)
		return
	}
	e.updateIf(p, f, v, func(cur code.Value) ir.Reg { return e.Compare(c, v, cur) })
	v.OwnNull = false
	e.Free(v)
}

// updateIf replaces the running value by v if there is none yet or better says so.
func (e *emitter) updateIf(p ir.Reg, f *layout.Field, v code.Value, better func(cur code.Value) ir.Reg) {
	run := func() {
		cur := e.loadField(p, f, ir.K(0))
		take := e.Int("take")
		if cur.Never() {
			b := better(cur)
			e.B.Mov(take, b.V())
			e.B.Clear(b)
		} else {
			e.B.Mov(take, ir.K(1))
			e.When(ir.EQ, cur.Null, ir.K(0), func() {
				b := better(cur)
				e.B.Mov(take, b.V())
				e.B.Clear(b)
			}, nil)
		}
		e.Free(cur)
		e.When(ir.NE, take.V(), ir.K(0), func() { e.storeField(p, f, v.Borrowed().WithNull(ir.K(0), false)) }, nil)
		e.B.Clear(take)
	}
	if v.Never() {
		run()
	} else {
		e.When(ir.EQ, v.Null, ir.K(0), run, nil)
	}
}

// updateSum adds v; NULL adds nothing.
func (e *emitter) updateSum(p ir.Reg, f *layout.Field, v code.Value) {
	switch f.Desc.Form {
	case layout.F64:
		s := e.Float(f.Name)
		e.B.FLoad(s, ir.At(p, f.Off), 8)
		if v.Never() {
			e.B.Op2(ir.FAdd, s, s.V(), v.A)
		} else {
			z := e.Float("or0")
			e.B.FConst(z, 0)
			e.B.FSel(z, ir.NE, v.Null, ir.K(0), z, v.A.R)
			e.B.Op2(ir.FAdd, s, s.V(), z.V())
			e.B.Clear(z)
		}
		e.B.FStore(ir.At(p, f.Off), s, 8)
		e.B.Clear(s)
	case layout.I128:
		w := e.Wide(v.Borrowed())
		a, b := w.A, w.B
		var ta, tb ir.Reg
		if !v.Never() {
			ta, tb = e.Int("or0"), e.Int("or0.hi")
			e.B.Sel(ta, ir.NE, v.Null, ir.K(0), ir.K(0), a)
			e.B.Sel(tb, ir.NE, v.Null, ir.K(0), ir.K(0), b)
			a, b = ta.V(), tb.V()
		}
		lo, hi := e.Int(f.Name), e.Int(e.PartName(f.Name, ".hi"))
		e.B.Load8(lo, ir.At(p, f.Off))
		e.B.Load8(hi, ir.At(p, f.Off+8))
		if f.Desc.Range.Known {
			e.B.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), a, b, 0)
		} else {
			e.B.Op128(ir.Add128X, lo, hi, lo.V(), hi.V(), a, b, e.Fail(scalar.Overflow(f.Desc.Type, -1)))
		}
		e.B.Store(ir.At(p, f.Off), lo.V(), 8)
		e.B.Store(ir.At(p, f.Off+8), hi.V(), 8)
		e.B.Clear(lo, hi)
		if !v.Never() {
			e.B.Clear(ta, tb)
		}
		w.OwnNull = false
		e.Free(w)
	default:
		s := e.Int(f.Name)
		e.B.Load8(s, ir.At(p, f.Off))
		add := func(x ir.Val) {
			if all := layout.TypeRange(types.TInt64); f.Desc.Range.Lo == all.Lo || f.Desc.Range.Hi == all.Hi {
				e.B.OpX(ir.AddX, s, s.V(), x, e.Fail(scalar.Overflow(f.Desc.Type, -1)))
				return
			}
			e.B.Op2(ir.Add, s, s.V(), x)
		}
		if v.Never() {
			add(v.A)
		} else {
			t := e.Int("or0")
			e.B.Sel(t, ir.NE, v.Null, ir.K(0), ir.K(0), v.A)
			add(t.V())
			e.B.Clear(t)
		}
		e.B.Store(ir.At(p, f.Off), s.V(), 8)
		e.B.Clear(s)
	}
	if f.Null < 0 {
		return
	}
	if v.Never() {
		e.B.Store(ir.At(p, f.Null), ir.K(0), 1)
		return
	}
	n := e.Int("null")
	e.B.Load(n, ir.At(p, f.Null), 1, false)
	e.B.Op2(ir.And, n, n.V(), v.Null)
	e.B.Store(ir.At(p, f.Null), n.V(), 1)
	e.B.Clear(n)
}
