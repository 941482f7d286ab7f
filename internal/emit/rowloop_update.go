package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// update folds v into the running value in field f of the group at p. v stays the caller's.
func (e *rowLoop) update(p ir.Reg, f *layout.Field, fn plan.AggFunc, v code.Value) {
	if v.IsNull() {
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
func (e *rowLoop) updateIf(p ir.Reg, f *layout.Field, v code.Value, better func(cur code.Value) ir.Reg) {
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
func (e *rowLoop) updateSum(p ir.Reg, f *layout.Field, v code.Value) {
	switch f.Desc.Form {
	case layout.F64:
		s, sum := e.Float("before"), e.Float(f.Name)
		e.B.FLoad(s, ir.At(p, f.Off), 8)
		add := func(x ir.Reg) {
			e.B.Op2(ir.FAdd, sum, s.V(), x.V())
			e.SumRange(f.Desc.Type, sum, s, x, e.exit)
		}
		if v.Never() {
			add(v.A.R)
		} else {
			z := e.Float("or0")
			e.B.FConst(z, 0)
			e.B.FSel(z, ir.NE, v.Null, ir.K(0), z, v.A.R)
			add(z)
			e.B.Clear(z)
		}
		e.B.FStore(ir.At(p, f.Off), sum, 8)
		e.B.Clear(s, sum)
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
