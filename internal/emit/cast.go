package emit

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

const microsPerDay = 86400_000_000

// cast converts between types.
func (e *evaluator) cast(x *plan.Call) value {
	if c, ok := x.Args[0].(*plan.Call); ok && c.Op == plan.DateTrunc && x.T.Kind == types.Date && clockUnits[constantOf(c.Args[0]).S]%microsPerDay == 0 {
		return e.truncDays(c) // no way round by microseconds
	}
	v := e.eval(x.Args[0])
	from, to := v.d.Type, x.T
	if v.isNull() {
		e.free(v)
		return e.nullValue(to)
	}
	fail := overflow(to, x.Pos)
	switch {
	case from.IsInteger() && to.Kind == types.Text:
		return e.integerText(v)
	case from == to:
		return v
	case from.Kind == types.Text && to.Kind == types.Text:
		if to.Len > 0 && (from.Len == 0 || from.Len > to.Len) {
			v = e.firstChars(v, int64(to.Len))
		}
		v.d.Type = to
		return v
	case isExact(from) && isExact(to):
		return e.castExact(v, from, to, fail)
	case isExact(from) && to.IsFloat():
		return e.exactToFloat(v, from, to)
	case from.IsFloat() && to.IsFloat():
		if to.Kind == types.Float64 {
			v.d.Type = to
			return v
		}
		r := e.float("real")
		e.b.Op1(ir.FRound32, r, v.a)
		n, own := e.anyNull(v)
		e.realCheck(r, v.a.R, n, x.Pos)
		e.free(v)
		return value{d: layout.Desc{Type: to, Form: layout.F64}, a: r.V(), ownA: true}.withNull(n, own)
	case from.IsFloat() && to.IsInteger():
		return e.floatToInt(v, to, fail)
	case from.Kind == types.Date && to.Kind == types.Timestamp:
		k := e.constant(types.IntValue(types.TInt64, microsPerDay))
		v = e.intOp(ir.Mul, v, k, to, diag.Errorf(diag.DatetimeOverflow, x.Pos, "date out of range for timestamp"))
		return v
	case from.Kind == types.Timestamp && to.Kind == types.Date:
		v = e.floorDiv(v, microsPerDay)
		v.d.Type = to
		v.d.Range = v.d.Range.Intersect(layout.TypeRange(to))
		return v
	case from.Kind == types.Bool && to.IsInteger():
		v.d.Type = to
		return v
	case from.IsInteger() && to.Kind == types.Bool:
		r := e.int("bool")
		e.b.Set(r, ir.NE, v.a, ir.K(0))
		n, own := e.anyNull(v)
		if !n.IsImm() {
			e.b.Sel(r, ir.NE, n, ir.K(0), ir.K(0), r.V())
		}
		e.free(v)
		return boolVal(r).withNull(n, own)
	}
	refuse(x.Pos, "cast from %s to %s is not supported in compiled code yet", from, to)
	panic("unreachable")
}

func isExact(t types.Type) bool { return t.IsInteger() || t.Kind == types.Decimal }

// castExact converts among integers and decimals: rescale, then check the range.
func (e *evaluator) castExact(v value, from, to types.Type, fail *diag.Error) value {
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
func (e *evaluator) fit(v value, to types.Type, fail *diag.Error) value {
	limit := layout.TypeRange(to)
	rng := v.d.Range
	inside := rng.Known && rng.Lo.Cmp(limit.Lo) >= 0 && rng.Hi.Cmp(limit.Hi) <= 0
	if !inside {
		n := v.null
		if v.d.Form == layout.I128 {
			check := func() { e.precisionLimits(v.a, v.b, limit, fail) }
			if n.IsImm() {
				check()
			} else {
				e.when(ir.EQ, n, ir.K(0), check, nil)
			}
		} else if limit.Fits64() {
			r, own := e.reg(v.a, "fit")
			e.rangeCheck(r, limit, n, fail)
			if own {
				e.b.Clear(r)
			}
		}
	}
	v.d.Type = to
	v.d.Range = limit.Intersect(rng)
	return e.reform(v, layout.FormOf(to, v.d.Range))
}

// precisionLimits fails when the pair hi:lo lies outside of a range.
func (e *evaluator) precisionLimits(lo, hi ir.Val, limit layout.Range, fail *diag.Error) {
	x := value{d: layout.Desc{Form: layout.I128}, a: lo, b: hi}
	for _, c := range []struct {
		cond  ir.Cond
		bound types.Int128
	}{{ir.GT, limit.Hi}, {ir.LT, limit.Lo}} {
		y := value{d: x.d, a: ir.K(int64(c.bound.Lo)), b: ir.K(c.bound.Hi)}
		bad := e.cmp128(c.cond, x, y)
		e.exit(e.fail(fail), ir.NE, bad.V(), ir.K(0))
		e.b.Clear(bad)
	}
}

// scaleUp multiplies by 10^k; v is used up.
func (e *evaluator) scaleUp(v value, k int, to types.Type, fail *diag.Error) value {
	if k == 0 {
		return e.fit(v, to, fail)
	}
	m := types.Pow10(k)
	c := value{d: layout.Desc{Type: to, Range: layout.Range{Known: true, Lo: m, Hi: m}}, null: ir.K(0)}
	c.d.Form = layout.FormOf(types.TDecimal(38, 0), c.d.Range)
	c.a, c.b = ir.K(int64(m.Lo)), ir.K(m.Hi)
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
func (e *evaluator) scaleDown(v value, k int, mode rounding) value {
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
	rng := v.d.Range
	n, own := e.anyNull(v)
	grown := rng.Add(layout.Between(neg, pos))
	if v.d.Form == layout.I64 && grown.Fits64() {
		q := e.int("scaled")
		if pos == 0 && neg == 0 {
			e.b.Op2(ir.Div, q, v.a, ir.K(c))
		} else {
			if rng.Lo.Sign() >= 0 {
				e.b.Op2(ir.Add, q, v.a, ir.K(pos))
			} else {
				e.b.Sel(q, ir.LT, v.a, ir.K(0), ir.K(neg), ir.K(pos))
				e.b.Op2(ir.Add, q, q.V(), v.a)
			}
			e.b.Op2(ir.Div, q, q.V(), ir.K(c))
		}
		e.free(v)
		lo, _ := grown.Lo.DivRem(types.FromInt64(c))
		hi, _ := grown.Hi.DivRem(types.FromInt64(c))
		one := types.FromInt64(1)
		d := layout.Desc{Type: v.d.Type, Form: layout.I64, Range: layout.Range{Known: true, Lo: lo.Sub(one), Hi: hi.Add(one)}}
		return value{d: d, a: q.V(), ownA: true}.withNull(n, own)
	}
	w := e.wide(v)
	lo, hi, t, th := e.int("scaled"), e.int("scaled.hi"), e.int("add"), e.int("add.hi")
	e.b.Sel(t, ir.LT, w.b, ir.K(0), ir.K(neg), ir.K(pos))
	e.b.Op2(ir.Sar, th, t.V(), ir.K(63))
	e.b.Op128(ir.Add128, lo, hi, w.a, w.b, t.V(), th.V(), 0)
	e.div128(lo, hi, ir.K(c))
	e.b.Clear(t, th)
	e.free(w)
	d := layout.Desc{Type: v.d.Type, Form: layout.I128}
	if grown.Known {
		l, _ := grown.Lo.DivRem(types.FromInt64(c))
		h, _ := grown.Hi.DivRem(types.FromInt64(c))
		one := types.FromInt64(1)
		d.Range = layout.Range{Known: true, Lo: l.Sub(one), Hi: h.Add(one)}
	}
	return value{d: d, a: lo.V(), b: hi.V(), ownA: true, ownB: true}.withNull(n, own)
}

// floorDiv divides an integer by a positive constant, rounding down.
func (e *evaluator) floorDiv(v value, c int64) value {
	n, own := e.anyNull(v)
	q := e.int("floor")
	rng := layout.Range{}
	if v.d.Range.Known {
		lo, _ := v.d.Range.Lo.DivRem(types.FromInt64(c))
		hi, _ := v.d.Range.Hi.DivRem(types.FromInt64(c))
		rng = layout.Range{Known: true, Lo: lo, Hi: hi}
	}
	if rng.Known && v.d.Range.Lo.Sign() >= 0 { // as it mostly is: dates after 1970
		e.b.Op2(ir.Div, q, v.a, ir.K(c))
	} else {
		t := e.int("adj")
		e.b.Op2(ir.Sar, t, v.a, ir.K(63))
		e.b.Op2(ir.And, t, t.V(), ir.K(c-1))
		e.b.Op2(ir.Sub, q, v.a, t.V())
		e.b.Op2(ir.Div, q, q.V(), ir.K(c))
		e.b.Clear(t)
		if rng.Known {
			rng.Lo = rng.Lo.Sub(types.FromInt64(1))
		}
	}
	e.free(v)
	return intVal(v.d.Type, q, rng).withNull(n, own)
}

// realCheck fails when rounding f to the single precision of r made it infinite or zero.
func (e *evaluator) realCheck(r, f ir.Reg, n ir.Val, pos int) {
	k, t, bad := e.float("k"), e.float("abs"), e.int("bad")
	for _, c := range []struct {
		bits int64
		msg  string
	}{{floatBits(math.Inf(1)), "value out of range: overflow"}, {0, "value out of range: underflow"}} {
		e.b.FConst(k, c.bits)
		e.b.Op1(ir.FAbs, t, r.V())
		e.b.FSet(bad, ir.EQ, t, k)
		was := e.int("was")
		e.b.Op1(ir.FAbs, t, f.V())
		e.b.FSet(was, ir.EQ, t, k)
		e.b.Op2(ir.Sub, bad, bad.V(), was.V())
		e.b.Clear(was)
		if !n.IsImm() {
			e.b.Sel(bad, ir.NE, n, ir.K(0), ir.K(0), bad.V())
		}
		e.exit(e.fail(diag.Errorf(diag.NumericOutOfRange, pos, "%s", c.msg)), ir.NE, bad.V(), ir.K(0))
	}
	e.b.Clear(k, t, bad)
}

// floatToInt rounds half to even, as PostgreSQL does; values that 64 bits cannot hold are out
// of range.
func (e *evaluator) floatToInt(v value, to types.Type, fail *diag.Error) value {
	f, k, bad := e.float("scaled"), e.float("bound"), e.int("bad")
	e.b.Op1(ir.FRound, f, v.a)
	n, own := e.anyNull(v)
	// Outside of ±2^63, or NaN: neither below the bound.
	ok := e.int("ok")
	e.b.FConst(k, floatBits(1<<63))
	e.b.FSet(ok, ir.LT, f, k)
	e.b.FConst(k, floatBits(-(1 << 63)))
	e.b.FSet(bad, ir.GE, f, k)
	e.b.Op2(ir.And, ok, ok.V(), bad.V())
	if !n.IsImm() {
		e.b.Op2(ir.Or, ok, ok.V(), n)
	}
	e.exit(e.fail(fail), ir.EQ, ok.V(), ir.K(0))
	if !n.IsImm() { // a NULL's bits must not reach the conversion
		z := e.float("zero")
		e.b.FConst(z, 0)
		e.b.FSel(f, ir.NE, n, ir.K(0), z, f)
		e.b.Clear(z)
	}
	r := e.int("int")
	e.b.Op1(ir.F2I, r, f.V())
	e.b.Clear(f, k, bad, ok)
	e.free(v)
	out := intVal(to, r, layout.Between(-1<<63, 1<<63-1)).withNull(n, own)
	return e.fit(out, to, fail)
}
