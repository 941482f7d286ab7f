package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// share is a lane's part of an aggregate: registers that begin with the neutral element, so
// that lanes without a row change nothing. v.null is 1 while there is no value; it is a
// register where the field can be NULL, else the immediate 0.
type share struct {
	fn  plan.AggFunc // Sum (also of counts), Min, Max, BoolAnd, BoolOr or AnyValue
	f   *layout.Field
	v   code.Value
	one bool // a count whose v.a is 0 or 1: a ballot adds it up
	all bool // likewise, and always 1: there is no register

	version int // the offset of the word that guards a value of two words; 0: none does
}

// wide reports the least or the greatest of values of two words.
func (s *share) wide() bool { return s.version > 0 && s.fn != plan.AnyValue }

// newShare opens the registers of an aggregate by open. A row's own share of a count is a flag.
func (e *warp) newShare(a plan.Agg, f *layout.Field, version int, row bool, open func(name string, t ir.Type, init int64) ir.Reg) *share {
	s := &share{fn: a.Func, f: f, v: code.Value{Desc: f.Desc, Null: ir.K(0)}, version: version}
	e.shares[f] = s
	form := f.Desc.Form
	switch a.Func {
	case plan.Count, plan.CountStar:
		s.fn, s.one = plan.Sum, row
		s.all = row && a.Func == plan.CountStar && a.Filter == nil
	}
	if s.all {
		return s
	}
	lo, hi := Neutral(a.Func, form)
	if form == layout.F64 {
		s.v.A = open(f.Name, ir.F64, lo).V()
	} else {
		s.v.A = open(f.Name, ir.I64, lo).V()
	}
	if s.v.Two() {
		s.v.B = open(f.Name+".2", ir.I64, hi).V()
	}
	if f.Null >= 0 {
		s.v.Null = open(f.Name+".none", ir.I64, 1).V()
	}
	return s
}

// fold takes a value into a share. v stays the caller's.
func (e *warp) fold(s *share, v code.Value) {
	if v.IsNull() || s.all {
		return
	}
	if s.fn == plan.AnyValue {
		e.foldAny(s, v)
		return
	}
	if s.wide() {
		w := e.Reform(v.Borrowed(), s.f.Desc.Form)
		e.foldWide(s, w)
		w.OwnNull = false
		e.Free(w)
		return
	}
	w := e.Reform(e.orNeutral(s, v.Borrowed()), s.f.Desc.Form)
	e.foldWords(s, w)
	w.OwnNull = false
	e.Free(w)
	switch {
	case s.v.Null.IsImm():
	case v.Never():
		e.B.Mov(s.v.Null.R, ir.K(0))
	default:
		e.B.Op2(ir.And, s.v.Null.R, s.v.Null, v.Null)
	}
}

// orNeutral is v with the neutral element in place of NULL; v is used up.
func (e *warp) orNeutral(s *share, v code.Value) code.Value {
	if v.Never() {
		return v
	}
	lo, _ := Neutral(s.fn, s.f.Desc.Form)
	if v.Desc.Form == layout.F64 {
		z := e.Float("or0")
		e.B.FConst(z, lo)
		e.B.FSel(z, ir.NE, v.Null, ir.K(0), z, v.A.R)
		v.A, v.OwnA = z.V(), true
		return v
	}
	r := e.Int("or0")
	e.B.Sel(r, ir.NE, v.Null, ir.K(0), ir.K(lo), v.A)
	v.A, v.OwnA = r.V(), true
	if v.Two() { // sums only
		r := e.Int("or0.hi")
		e.B.Sel(r, ir.NE, v.Null, ir.K(0), ir.K(0), v.B)
		v.B, v.OwnB = r.V(), true
	}
	return v
}

// foldWords combines values of the same form, none of them NULL.
func (e *warp) foldWords(s *share, w code.Value) {
	x := s.v
	switch {
	case s.fn != plan.Sum && x.Desc.Form == layout.F64:
		better := e.CompareFloats(s.better(), w.A.R, x.A.R)
		e.B.FSel(x.A.R, ir.NE, better.V(), ir.K(0), w.A.R, x.A.R)
		e.B.Clear(better)
	case s.fn != plan.Sum:
		e.B.Sel(x.A.R, s.better(), w.A, x.A, w.A, x.A)
	case x.Desc.Form == layout.F64:
		before := e.Float("before")
		e.B.FMov(before, x.A.R)
		e.B.Op2(ir.FAdd, x.A.R, x.A, w.A)
		e.SumRange(s.f.Desc.Type, x.A.R, before, w.A.R, e.raise)
		e.B.Clear(before)
	case x.Desc.Form == layout.I128 && x.Desc.Range.Known:
		e.B.Op128(ir.Add128, x.A.R, x.B.R, x.A, x.B, w.A, w.B, 0)
	case x.Desc.Form == layout.I128:
		e.B.Op128(ir.Add128X, x.A.R, x.B.R, x.A, x.B, w.A, w.B, e.Fail(scalar.Overflow(x.Desc.Type, -1)))
	case s.mayOverflow():
		e.B.OpX(ir.AddX, x.A.R, x.A, w.A, e.Fail(scalar.Overflow(x.Desc.Type, -1)))
	default:
		e.B.Op2(ir.Add, x.A.R, x.A, w.A)
	}
}

// better is how a value must compare with the one that it replaces, for min and max.
func (s *share) better() ir.Cond {
	if s.fn == plan.Max || s.fn == plan.BoolOr {
		return ir.GT
	}
	return ir.LT
}

// mayOverflow reports a 64-bit sum that the range does not bound.
func (s *share) mayOverflow() bool {
	all := layout.TypeRange(types.TInt64)
	return s.f.Desc.Range.Lo == all.Lo || s.f.Desc.Range.Hi == all.Hi
}

// foldAny takes the first value that is not NULL.
func (e *warp) foldAny(s *share, v code.Value) {
	w := e.Reform(v.Borrowed(), s.f.Desc.Form)
	if w.Desc.Form == layout.F64 {
		e.B.FSel(s.v.A.R, ir.NE, s.v.Null, ir.K(0), w.A.R, s.v.A.R)
	} else {
		e.B.Sel(s.v.A.R, ir.NE, s.v.Null, ir.K(0), w.A, s.v.A)
		if w.Two() {
			e.B.Sel(s.v.B.R, ir.NE, s.v.Null, ir.K(0), w.B, s.v.B)
		}
	}
	e.B.Op2(ir.And, s.v.Null.R, s.v.Null, v.Null)
	w.OwnNull = false
	e.Free(w)
}

// shuffled opens registers with another lane's share, by op and its operand: Shfl takes a
// lane, ShflXor a distance. That there is none comes along where no value says so.
func (e *warp) shuffled(s *share, op ir.Op, x ir.Val) code.Value {
	w := code.Value{Desc: s.v.Desc, OwnA: true, Null: ir.K(0)}
	if w.Desc.Form == layout.F64 {
		bits, f := e.Int("bits"), e.Float("other")
		e.B.Op1(ir.FBits, bits, s.v.A)
		e.B.Op2(op, bits, bits.V(), x)
		e.B.Op1(ir.BitsF, f, bits.V())
		e.B.Clear(bits)
		w.A = f.V()
		return w
	}
	r := e.Int("other")
	e.B.Op2(op, r, s.v.A, x)
	w.A = r.V()
	if s.v.Two() {
		r := e.Int("other.2")
		e.B.Op2(op, r, s.v.B, x)
		w.B, w.OwnB = r.V(), true
	}
	if s.wide() {
		r := e.Int("other.none")
		e.B.Op2(op, r, s.v.Null, x)
		w.Null, w.OwnNull = r.V(), true
	}
	return w
}

// chosen gives every lane of a set the value of one of its lanes that has one. set is the
// mask of lanes that belong together.
func (e *warp) chosen(s *share, set ir.Val) {
	have, from := e.Int("have"), e.Int("from")
	e.B.Op2(ir.Xor, have, s.v.Null, ir.K(1))
	e.B.Op1(ir.Ballot, have, have.V())
	e.B.Op2(ir.And, have, have.V(), set)
	e.B.Op1(ir.Ctz, from, have.V())
	e.B.Sel(from, ir.EQ, have.V(), ir.K(0), e.lane.V(), from.V())
	w := e.shuffled(s, ir.Shfl, from.V())
	e.takeNumber(s, w)
	e.Free(w)
	e.B.Set(s.v.Null.R, ir.EQ, have.V(), ir.K(0))
	e.B.Clear(have, from)
}

// setShare sets a share to a value of its form.
func (e *warp) setShare(s *share, v code.Value) {
	e.takeNumber(s, v)
	if !s.v.Null.IsImm() {
		e.B.Mov(s.v.Null.R, v.Null)
	}
}

// takeNumber sets a share as setShare does, but for whether it is NULL.
func (e *warp) takeNumber(s *share, v code.Value) {
	if v.Desc.Form == layout.F64 {
		e.B.FMov(s.v.A.R, v.A.R)
	} else {
		e.B.Mov(s.v.A.R, v.A)
	}
	if v.Two() {
		e.B.Mov(s.v.B.R, v.B)
	}
}

// propagate adds a share to the tuple at p in global memory: atomically, since other warps
// do the same.
func (e *warp) propagate(p ir.Reg, s *share) {
	if s.wide() {
		e.When(ir.EQ, s.v.Null, ir.K(0), func() { e.putWide(p, s) }, nil)
		return
	}
	at := ir.At(p, s.f.Off)
	old := ir.NoReg
	if s.fn != plan.AnyValue && s.f.Desc.Form != layout.F64 {
		old = e.Int("old")
	}
	switch {
	case s.fn == plan.AnyValue:
		e.When(ir.EQ, s.v.Null, ir.K(0), func() { e.putAny(p, s) }, nil)
		return
	case s.fn != plan.Sum && s.f.Desc.Form == layout.F64:
		e.putFloat(at, s)
	case s.fn == plan.Min || s.fn == plan.BoolAnd:
		e.B.Atom(ir.AtomMin, old, at, s.v.A, ir.Val{})
	case s.fn == plan.Max || s.fn == plan.BoolOr:
		e.B.Atom(ir.AtomMax, old, at, s.v.A, ir.Val{})
	case s.f.Desc.Form == layout.F64:
		e.addFloat(at, s.f.Desc.Type, s.v.A.R)
	case s.f.Desc.Form == layout.I128:
		// The low half tells by its old value whether it carries into the high one.
		hi := e.Int("high")
		e.B.Atom(ir.AtomAdd, old, at, s.v.A, ir.Val{})
		e.B.Op2(ir.Add, old, old.V(), s.v.A)
		e.B.Set(hi, ir.ULT, old.V(), s.v.A)
		e.B.Op2(ir.Add, hi, hi.V(), s.v.B)
		e.B.Atom(ir.AtomAdd, old, ir.At(p, s.f.Off+8), hi.V(), ir.Val{})
		if !s.f.Desc.Range.Known {
			e.B.OpX(ir.AddX, old, old.V(), hi.V(), e.Fail(scalar.Overflow(s.f.Desc.Type, -1)))
		}
		e.B.Clear(hi)
	default:
		e.B.Atom(ir.AtomAdd, old, at, s.v.A, ir.Val{})
		if s.mayOverflow() {
			e.B.OpX(ir.AddX, old, old.V(), s.v.A, e.Fail(scalar.Overflow(s.f.Desc.Type, -1)))
		}
	}
	if old != ir.NoReg {
		e.B.Clear(old)
	}
	if s.f.Null >= 0 {
		e.When(ir.EQ, s.v.Null, ir.K(0), func() { e.clearOnce(ir.At(p, s.f.Null)) }, nil)
	}
}

// addFloat adds a float to a sum that others add to.
func (e *warp) addFloat(at ir.Mem, t types.Type, x ir.Reg) {
	old, sum := e.Float("old"), e.Float("sum")
	e.B.Atom(ir.AtomFAdd, old, at, x.V(), ir.Val{})
	e.B.Op2(ir.FAdd, sum, old.V(), x.V())
	e.SumRange(t, sum, old, x, e.raise)
	e.B.Clear(old, sum)
}

// putFloat replaces a float if it is not as good. No atomic does that, so it is swapped as
// long as somebody else was faster; every round somebody gets ahead.
func (e *warp) putFloat(at ir.Mem, s *share) {
	cur, old, bits, f := e.Int("cur"), e.Int("old"), e.Int("bits"), e.Float("f")
	e.B.Op1(ir.FBits, bits, s.v.A)
	e.B.Load8(cur, at)
	e.Loop(func(l int32) {
		e.B.Op1(ir.BitsF, f, cur.V())
		better := e.CompareFloats(s.better(), s.v.A.R, f)
		e.B.Break(l, ir.EQ, better.V(), ir.K(0))
		e.B.Clear(better)
		e.B.Atom(ir.AtomCAS, old, at, cur.V(), bits.V())
		e.B.Break(l, ir.EQ, old.V(), cur.V())
		e.B.Mov(cur, old.V())
	})
	e.B.Clear(cur, old, bits, f)
}

// putAny stores a value where any will do. Whoever comes last wins; two words must come from one lane, so the
// first to change the version writes both.
func (e *warp) putAny(p ir.Reg, s *share) {
	at := ir.At(p, s.f.Off)
	switch {
	case s.f.Desc.Form == layout.F64:
		e.B.FStore(at, s.v.A.R, 8)
	case s.version > 0:
		old := e.Int("old")
		e.B.Atom(ir.AtomCAS, old, ir.At(p, s.version), ir.K(0), ir.K(2))
		e.When(ir.EQ, old.V(), ir.K(0), func() {
			e.keepTexts()
			e.B.Store(at, s.v.A, 8)
			e.B.Store(ir.At(p, s.f.Off+8), s.v.B, 8)
		}, nil)
		e.B.Clear(old)
	default:
		e.B.Store(at, s.v.A, 8)
	}
	e.clearOnce(ir.At(p, s.f.Null))
}

// reduceRows is the aggregation without groups: every lane adds its rows up in registers;
// after the last one the warp adds up its lanes, and one lane adds that to the result.
func (e *warp) reduceRows(g *plan.Group, gp *GroupPlan) {
	if e.Resolve != phys.ResolveAuto {
		e.reduceEachRow(g, gp)
		return
	}
	var shares []*share
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[i]
		shares = append(shares, e.newShare(a, f, gp.Versions[i], false, e.perKernel))
		e.aggregate(ir.NoReg, f, a)
	}
	e.arrive(nil)
	e.finally = func() {
		e.B.Comment("add up the lanes, then the warps")
		for _, sh := range shares {
			e.addUpWarp(sh)
		}
		e.When(ir.EQ, e.lane.V(), ir.K(0), func() {
			p := e.Int("result")
			e.B.Load8(p, ir.At(ir.Ctx, layout.CtxState))
			for _, sh := range shares {
				e.propagate(p, sh)
			}
			e.B.Clear(p)
		}, nil)
	}
}

// addUpWarp gives every lane what all lanes of the warp have of an aggregate.
func (e *warp) addUpWarp(s *share) {
	all := ir.K(1<<32 - 1)
	if s.fn == plan.AnyValue {
		e.chosen(s, all)
		return
	}
	for d := int64(16); d > 0; d /= 2 {
		w := e.shuffled(s, ir.ShflXor, ir.K(d))
		if s.wide() {
			e.foldWide(s, w)
		} else {
			e.foldWords(s, w)
		}
		e.Free(w)
	}
	if !s.v.Null.IsImm() && !s.wide() {
		e.anyOf(s, all)
	}
}

// anyOf makes a share's NULL flag that of a set of lanes: 0 if one of them has a value.
func (e *warp) anyOf(s *share, set ir.Val) {
	r := e.Int("have")
	e.B.Op2(ir.Xor, r, s.v.Null, ir.K(1))
	e.B.Op1(ir.Ballot, r, r.V())
	e.B.Op2(ir.And, r, r.V(), set)
	e.B.Set(s.v.Null.R, ir.EQ, r.V(), ir.K(0))
	e.B.Clear(r)
}

// foldUnless takes another lane's share of words into s, unless that lane counts for nothing; other is used up.
func (e *warp) foldUnless(s *share, other code.Value, none ir.Val) {
	other.Null = none
	v := e.orNeutral(s, other.Borrowed())
	e.foldWords(s, v)
	v.OwnNull = false
	e.Free(v)
	e.Free(other)
}
