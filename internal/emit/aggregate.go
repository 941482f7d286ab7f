package emit

import (
	"fmt"
	"math"

	"github.com/kelpiedb/kelpie/internal/emit/code"
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
	case plan.Spread:
		d.Form = layout.F64
		return d
	case plan.Sum, plan.Min, plan.Max, plan.AnyValue, plan.BoolAnd, plan.BoolOr, plan.First:
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
