package scalar

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

const microsPerDay = 86400_000_000

// cast converts between types.
func (e *Evaluator) cast(x *plan.Call) code.Value {
	if c, ok := x.Args[0].(*plan.Call); ok && c.Op == plan.DateTrunc && x.T.Kind == types.Date && clockUnits[constantOf(c.Args[0]).S]%microsPerDay == 0 {
		return e.truncDays(c) // no way round by microseconds
	}
	v := e.Eval(x.Args[0])
	from, to := v.Desc.Type, x.T
	if v.IsNull() {
		e.Free(v)
		return e.NullValue(to)
	}
	fail := Overflow(to, x.Pos)
	switch {
	case from.IsInteger() && to.Kind == types.Text:
		return text.FromInteger(&e.Emitter, v)
	case from == to:
		return v
	case from.Kind == types.Text && to.Kind == types.Text:
		if to.Len > 0 && (from.Len == 0 || from.Len > to.Len) {
			v = text.FirstChars(&e.Emitter, v, int64(to.Len))
		}
		v.Desc.Type = to
		return v
	case isExact(from) && isExact(to):
		return e.castExact(v, from, to, fail)
	case isExact(from) && to.IsFloat():
		return e.exactToFloat(v, from, to)
	case from.IsFloat() && to.IsFloat():
		if to.Kind == types.Float64 {
			v.Desc.Type = to
			return v
		}
		r := e.Float("real")
		e.B.Op1(ir.FRound32, r, v.A)
		n, own := e.AnyNull(v)
		e.realCheck(r, v.A.R, n, x.Pos)
		e.Free(v)
		return code.Value{Desc: layout.Desc{Type: to, Form: layout.F64}, A: r.V(), OwnA: true}.WithNull(n, own)
	case from.IsFloat() && to.IsInteger():
		return e.floatToInt(v, to, fail)
	case from.Kind == types.Date && to.IsCalendar():
		return e.unlessInfinite(v, to, func(d code.Value) code.Value {
			k := e.Constant(types.IntValue(types.TInt64, microsPerDay))
			return e.intOp(ir.Mul, d, k, to, diag.Errorf(diag.DatetimeOverflow, x.Pos, "date out of range for timestamp"))
		})
	case from.IsCalendar() && to.IsCalendar() && to.Kind != types.Date: // the same in UTC
		v.Desc.Type = to
		return v
	case from.IsCalendar() && to.Kind == types.Date:
		return e.unlessInfinite(v, to, func(v code.Value) code.Value {
			v = e.floorDiv(v, microsPerDay)
			v.Desc.Type = to
			v.Desc.Range = v.Desc.Range.Intersect(layout.FiniteRange(to))
			return v
		})
	case from.Kind == types.Bool && to.IsInteger():
		v.Desc.Type = to
		return v
	case from.IsInteger() && to.Kind == types.Bool:
		r := e.Int("bool")
		e.B.Set(r, ir.NE, v.A, ir.K(0))
		n, own := e.AnyNull(v)
		if !n.IsImm() {
			e.B.Sel(r, ir.NE, n, ir.K(0), ir.K(0), r.V())
		}
		e.Free(v)
		return code.BoolValue(r).WithNull(n, own)
	}
	code.Refuse(x.Pos, "cast from %s to %s is not supported in compiled code yet", from, to)
	panic("unreachable")
}

func isExact(t types.Type) bool { return t.IsInteger() || t.Kind == types.Decimal }

// castExact converts among integers and decimals: rescale, then check the range.
func (e *Evaluator) castExact(v code.Value, from, to types.Type, fail *diag.Error) code.Value {
	up := int(to.Scale) - int(from.Scale)
	switch {
	case up > 0:
		return e.scaleUp(v, up, to, fail)
	case up < 0:
		v = e.scaleDown(v, -up, roundHalf)
	}
	return e.fit(v, to, fail)
}

// fit makes v a value of type to, after a check that its range does not make superfluous.
func (e *Evaluator) fit(v code.Value, to types.Type, fail *diag.Error) code.Value {
	limit := layout.TypeRange(to)
	rng := v.Desc.Range
	inside := rng.Known && rng.Lo.Cmp(limit.Lo) >= 0 && rng.Hi.Cmp(limit.Hi) <= 0
	if !inside {
		n := v.Null
		if v.Desc.Form == layout.I128 {
			check := func() { e.precisionLimits(v.A, v.B, limit, fail) }
			if n.IsImm() {
				check()
			} else {
				e.When(ir.EQ, n, ir.K(0), check, nil)
			}
		} else if limit.Fits64() || limit.Lo.Sign() == 0 { // UBIGINT's end is beyond what is in one register
			r, own := e.Reg(v.A, "fit")
			e.rangeCheck(r, limit.Intersect(layout.TypeRange(types.TInt64)), n, fail)
			if own {
				e.B.Clear(r)
			}
		}
	}
	v.Desc.Type = to
	v.Desc.Range = limit.Intersect(rng)
	return e.Reform(v, layout.FormOf(to, v.Desc.Range))
}

// precisionLimits fails when the pair hi:lo lies outside of a range.
func (e *Evaluator) precisionLimits(lo, hi ir.Val, limit layout.Range, fail *diag.Error) {
	x := code.Value{Desc: layout.Desc{Form: layout.I128}, A: lo, B: hi}
	for _, c := range []struct {
		cond  ir.Cond
		bound types.Int128
	}{{ir.GT, limit.Hi}, {ir.LT, limit.Lo}} {
		y := code.Value{Desc: x.Desc, A: ir.K(int64(c.bound.Lo)), B: ir.K(c.bound.Hi)}
		bad := e.compare128(c.cond, x, y)
		e.Exit(e.Fail(fail), ir.NE, bad.V(), ir.K(0))
		e.B.Clear(bad)
	}
}

// scaleUp multiplies by 10^k; v is used up.
func (e *Evaluator) scaleUp(v code.Value, k int, to types.Type, fail *diag.Error) code.Value {
	if k == 0 {
		return e.fit(v, to, fail)
	}
	m := types.Pow10(k)
	c := code.Value{Desc: layout.Desc{Type: to, Range: layout.Range{Known: true, Lo: m, Hi: m}}, Null: ir.K(0)}
	c.Desc.Form = layout.FormOf(types.TDecimal(38, 0), c.Desc.Range)
	c.A, c.B = ir.K(int64(m.Lo)), ir.K(m.Hi)
	return e.intOp(ir.Mul, v, c, to, fail)
}

// rounding is what happens to the digits that a smaller scale cannot hold.
type rounding uint8

const (
	roundHalf rounding = iota // half away from zero
	roundDown
	roundUp
	roundZero
)

// maxScaleDown is how many digits one division by a 64-bit power of ten takes away.
const maxScaleDown = 18

// scaleDown divides by 10^k; v is used up. The caller sets the type.
func (e *Evaluator) scaleDown(v code.Value, k int, mode rounding) code.Value {
	if k <= 0 {
		return v
	}
	// A divisor has 64 bits. Steps give what one division would: rounding down or up in each of
	// them, and a half is one if it is one after the digits behind it were cut off.
	for k > maxScaleDown {
		first := mode
		if mode == roundHalf {
			first = roundZero
		}
		step := min(k-maxScaleDown, maxScaleDown)
		v = e.scaleDown(v, step, first)
		k -= step
	}
	c := int64(types.Pow10(k).Lo)
	pos, neg := int64(0), int64(0) // added before truncating division, by sign
	switch mode {
	case roundHalf:
		pos, neg = c/2, -(c / 2)
	case roundDown:
		neg = -(c - 1)
	case roundUp:
		pos = c - 1
	}
	rng := v.Desc.Range
	n, own := e.AnyNull(v)
	grown := rng.Add(layout.Between(neg, pos))
	if v.Desc.Form == layout.I64 && grown.Fits64() {
		q := e.Int("scaled")
		if pos == 0 && neg == 0 {
			e.B.Op2(ir.Div, q, v.A, ir.K(c))
		} else {
			if rng.Lo.Sign() >= 0 {
				e.B.Op2(ir.Add, q, v.A, ir.K(pos))
			} else {
				e.B.Sel(q, ir.LT, v.A, ir.K(0), ir.K(neg), ir.K(pos))
				e.B.Op2(ir.Add, q, q.V(), v.A)
			}
			e.B.Op2(ir.Div, q, q.V(), ir.K(c))
		}
		e.Free(v)
		lo, _ := grown.Lo.DivRem(types.FromInt64(c))
		hi, _ := grown.Hi.DivRem(types.FromInt64(c))
		one := types.FromInt64(1)
		d := layout.Desc{Type: v.Desc.Type, Form: layout.I64, Range: layout.Range{Known: true, Lo: lo.Sub(one), Hi: hi.Add(one)}}
		return code.Value{Desc: d, A: q.V(), OwnA: true}.WithNull(n, own)
	}
	w := e.Wide(v)
	lo, hi, t, th := e.Int("scaled"), e.Int("scaled.hi"), e.Int("add"), e.Int("add.hi")
	e.B.Sel(t, ir.LT, w.B, ir.K(0), ir.K(neg), ir.K(pos))
	e.B.Op2(ir.Sar, th, t.V(), ir.K(63))
	e.B.Op128(ir.Add128, lo, hi, w.A, w.B, t.V(), th.V(), 0)
	e.div128(lo, hi, ir.K(c))
	e.B.Clear(t, th)
	e.Free(w)
	d := layout.Desc{Type: v.Desc.Type, Form: layout.I128}
	if grown.Known {
		l, _ := grown.Lo.DivRem(types.FromInt64(c))
		h, _ := grown.Hi.DivRem(types.FromInt64(c))
		one := types.FromInt64(1)
		d.Range = layout.Range{Known: true, Lo: l.Sub(one), Hi: h.Add(one)}
	}
	return code.Value{Desc: d, A: lo.V(), B: hi.V(), OwnA: true, OwnB: true}.WithNull(n, own)
}

// floorDiv divides an integer by a positive constant, rounding down.
func (e *Evaluator) floorDiv(v code.Value, c int64) code.Value {
	n, own := e.AnyNull(v)
	q := e.Int("floor")
	rng := layout.Range{}
	if v.Desc.Range.Known {
		lo, _ := v.Desc.Range.Lo.DivRem(types.FromInt64(c))
		hi, _ := v.Desc.Range.Hi.DivRem(types.FromInt64(c))
		rng = layout.Range{Known: true, Lo: lo, Hi: hi}
	}
	if rng.Known && v.Desc.Range.Lo.Sign() >= 0 { // as it mostly is: dates after 1970
		e.B.Op2(ir.Div, q, v.A, ir.K(c))
	} else {
		t := e.Int("adj")
		e.B.Op2(ir.Sar, t, v.A, ir.K(63))
		e.B.Op2(ir.And, t, t.V(), ir.K(c-1))
		e.B.Op2(ir.Sub, q, v.A, t.V())
		e.B.Op2(ir.Div, q, q.V(), ir.K(c))
		e.B.Clear(t)
		if rng.Known {
			rng.Lo = rng.Lo.Sub(types.FromInt64(1))
		}
	}
	e.Free(v)
	return code.IntValue(v.Desc.Type, q, rng).WithNull(n, own)
}

// realCheck fails when rounding f to the single precision of r made it infinite or zero.
func (e *Evaluator) realCheck(r, f ir.Reg, n ir.Val, pos int) {
	k, t, bad := e.Float("k"), e.Float("abs"), e.Int("bad")
	for _, c := range []struct {
		bits int64
		err  *diag.Error
	}{{floatBits(math.Inf(1)), floatOverflow(pos)}, {0, floatUnderflow(pos)}} {
		e.B.FConst(k, c.bits)
		e.B.Op1(ir.FAbs, t, r.V())
		e.B.FSet(bad, ir.EQ, t, k)
		was := e.Int("was")
		e.B.Op1(ir.FAbs, t, f.V())
		e.B.FSet(was, ir.EQ, t, k)
		e.B.Op2(ir.Sub, bad, bad.V(), was.V())
		e.B.Clear(was)
		if !n.IsImm() {
			e.B.Sel(bad, ir.NE, n, ir.K(0), ir.K(0), bad.V())
		}
		e.Exit(e.Fail(c.err), ir.NE, bad.V(), ir.K(0))
	}
	e.B.Clear(k, t, bad)
}

// floatToInt rounds half to even, as PostgreSQL does; values that 64 bits cannot hold are out
// of range.
func (e *Evaluator) floatToInt(v code.Value, to types.Type, fail *diag.Error) code.Value {
	f, k, bad := e.Float("scaled"), e.Float("bound"), e.Int("bad")
	e.B.Op1(ir.FRound, f, v.A)
	n, own := e.AnyNull(v)
	// Outside of ±2^63, or NaN: neither below the bound.
	ok := e.Int("ok")
	e.B.FConst(k, floatBits(1<<63))
	e.B.FSet(ok, ir.LT, f, k)
	e.B.FConst(k, floatBits(-(1 << 63)))
	e.B.FSet(bad, ir.GE, f, k)
	e.B.Op2(ir.And, ok, ok.V(), bad.V())
	if !n.IsImm() {
		e.B.Op2(ir.Or, ok, ok.V(), n)
	}
	e.Exit(e.Fail(fail), ir.EQ, ok.V(), ir.K(0))
	if !n.IsImm() { // a NULL's bits must not reach the conversion
		z := e.Float("zero")
		e.B.FConst(z, 0)
		e.B.FSel(f, ir.NE, n, ir.K(0), z, f)
		e.B.Clear(z)
	}
	r := e.Int("int")
	e.B.Op1(ir.F2I, r, f.V())
	e.B.Clear(f, k, bad, ok)
	e.Free(v)
	out := code.IntValue(to, r, layout.Between(-1<<63, 1<<63-1)).WithNull(n, own)
	return e.fit(out, to, fail)
}
