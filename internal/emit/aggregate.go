package emit

import (
	"fmt"
	"math"

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
			refuse(-1, "DISTINCT ON with columns that may be NULL is not supported on a GPU yet")
		}
	default:
		panic(fmt.Sprintf("aggregate %s should have been rewritten", a.Func))
	}
	arg := e.describe(a.Arg)
	if a.Func == plan.Sum && arg.Form == layout.Ivl {
		refuse(-1, "the sum of intervals is not supported")
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
			e.update(p, f, plan.Sum, e.constant(types.IntValue(types.TInt64, 1)))
		case plan.Count:
			v := e.eval(a.Arg)
			one := e.constant(types.IntValue(types.TInt64, 1))
			switch {
			case v.isNull():
			case v.never():
				e.update(p, f, plan.Sum, one)
			default:
				r := e.int("one")
				e.b.Op2(ir.Xor, r, v.null, ir.K(1))
				e.update(p, f, plan.Sum, intVal(types.TInt64, r, layout.Between(0, 1)))
				e.b.Clear(r)
			}
			e.free(v)
		default:
			mark := e.markText(a.Arg)
			v := e.eval(a.Arg)
			e.update(p, f, a.Func, v)
			if mark != ir.NoReg {
				e.dropUnless(mark, p, f, v)
				e.b.Clear(mark)
			}
			e.free(v)
		}
	}
	if a.Filter == nil {
		run()
		return
	}
	c := e.eval(a.Filter)
	e.when(ir.NE, c.a, ir.K(0), run, nil)
	e.free(c)
}

// update folds v into the running value in field f of the group at p. v stays the caller's.
func (e *emitter) update(p ir.Reg, f *layout.Field, fn plan.AggFunc, v value) {
	if v.isNull() {
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
		e.updateIf(p, f, v, func(cur value) ir.Reg {
			r := e.int("take")
			e.b.Mov(r, ir.K(0))
			return r
		})
		return
	}
	c := ir.LT
	if fn == plan.Max || fn == plan.BoolOr {
		c = ir.GT
	}
	v = e.text(v.borrowed())
	if f.Null < 0 && f.Desc.Form == layout.I64 && v.never() {
		cur := e.int(f.Name)
		e.b.Load8(cur, ir.At(p, f.Off))
		e.b.Sel(cur, c, v.a, cur.V(), v.a, cur.V())
		e.b.Store(ir.At(p, f.Off), cur.V(), 8)
		e.b.Clear(cur)
		return
	}
	e.updateIf(p, f, v, func(cur value) ir.Reg { return e.comparison(c, v, cur) })
	v.ownNull = false
	e.free(v)
}

// updateIf replaces the running value by v if there is none yet or better says so.
func (e *emitter) updateIf(p ir.Reg, f *layout.Field, v value, better func(cur value) ir.Reg) {
	run := func() {
		cur := e.loadField(p, f, ir.K(0))
		take := e.int("take")
		if cur.never() {
			b := better(cur)
			e.b.Mov(take, b.V())
			e.b.Clear(b)
		} else {
			e.b.Mov(take, ir.K(1))
			e.when(ir.EQ, cur.null, ir.K(0), func() {
				b := better(cur)
				e.b.Mov(take, b.V())
				e.b.Clear(b)
			}, nil)
		}
		e.free(cur)
		e.when(ir.NE, take.V(), ir.K(0), func() { e.storeField(p, f, v.borrowed().withNull(ir.K(0), false)) }, nil)
		e.b.Clear(take)
	}
	if v.never() {
		run()
	} else {
		e.when(ir.EQ, v.null, ir.K(0), run, nil)
	}
}

// updateSum adds v; NULL adds nothing.
func (e *emitter) updateSum(p ir.Reg, f *layout.Field, v value) {
	switch f.Desc.Form {
	case layout.F64:
		s := e.float(f.Name)
		e.b.FLoad(s, ir.At(p, f.Off), 8)
		if v.never() {
			e.b.Op2(ir.FAdd, s, s.V(), v.a)
		} else {
			z := e.float("or0")
			e.b.FConst(z, 0)
			e.b.FSel(z, ir.NE, v.null, ir.K(0), z, v.a.R)
			e.b.Op2(ir.FAdd, s, s.V(), z.V())
			e.b.Clear(z)
		}
		e.b.FStore(ir.At(p, f.Off), s, 8)
		e.b.Clear(s)
	case layout.I128:
		w := e.wide(v.borrowed())
		a, b := w.a, w.b
		var ta, tb ir.Reg
		if !v.never() {
			ta, tb = e.int("or0"), e.int("or0.hi")
			e.b.Sel(ta, ir.NE, v.null, ir.K(0), ir.K(0), a)
			e.b.Sel(tb, ir.NE, v.null, ir.K(0), ir.K(0), b)
			a, b = ta.V(), tb.V()
		}
		lo, hi := e.int(f.Name), e.int(e.partName(f.Name, ".hi"))
		e.b.Load8(lo, ir.At(p, f.Off))
		e.b.Load8(hi, ir.At(p, f.Off+8))
		if f.Desc.Range.Known {
			e.b.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), a, b, 0)
		} else {
			e.b.Op128(ir.Add128X, lo, hi, lo.V(), hi.V(), a, b, e.fail(overflow(f.Desc.Type, -1)))
		}
		e.b.Store(ir.At(p, f.Off), lo.V(), 8)
		e.b.Store(ir.At(p, f.Off+8), hi.V(), 8)
		e.b.Clear(lo, hi)
		if !v.never() {
			e.b.Clear(ta, tb)
		}
		w.ownNull = false
		e.free(w)
	default:
		s := e.int(f.Name)
		e.b.Load8(s, ir.At(p, f.Off))
		add := func(x ir.Val) {
			if all := layout.TypeRange(types.TInt64); f.Desc.Range.Lo == all.Lo || f.Desc.Range.Hi == all.Hi {
				e.b.OpX(ir.AddX, s, s.V(), x, e.fail(overflow(f.Desc.Type, -1)))
				return
			}
			e.b.Op2(ir.Add, s, s.V(), x)
		}
		if v.never() {
			add(v.a)
		} else {
			t := e.int("or0")
			e.b.Sel(t, ir.NE, v.null, ir.K(0), ir.K(0), v.a)
			add(t.V())
			e.b.Clear(t)
		}
		e.b.Store(ir.At(p, f.Off), s.V(), 8)
		e.b.Clear(s)
	}
	if f.Null < 0 {
		return
	}
	if v.never() {
		e.b.Store(ir.At(p, f.Null), ir.K(0), 1)
		return
	}
	n := e.int("null")
	e.b.Load(n, ir.At(p, f.Null), 1, false)
	e.b.Op2(ir.And, n, n.V(), v.null)
	e.b.Store(ir.At(p, f.Null), n.V(), 1)
	e.b.Clear(n)
}
