package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// share is a lane's part of an aggregate: registers that begin with the neutral element, so
// that lanes without a row change nothing. v.null is 1 while there is no value; it is a
// register where the field can be NULL, else the immediate 0.
type share struct {
	fn  plan.AggFunc // Sum (also of counts), Min, Max, BoolAnd, BoolOr or AnyValue
	f   *layout.Field
	v   value
	one bool // a count whose v.a is 0 or 1: a ballot adds it up
	all bool // likewise, and always 1: there is no register
}

// newShare opens the registers of an aggregate by open, or refuses what no atomic can add to.
// A row's own share of a count is a flag.
func (e *emitter) newShare(a plan.Agg, f *layout.Field, row bool, open func(name string, t ir.Type, init int64) ir.Reg) *share {
	s := &share{fn: a.Func, f: f, v: value{d: f.Desc, null: ir.K(0)}}
	e.gpu.shares[f] = s
	form := f.Desc.Form
	switch a.Func {
	case plan.Count, plan.CountStar:
		s.fn, s.one = plan.Sum, row
		s.all = row && a.Func == plan.CountStar && a.Filter == nil
	case plan.Min, plan.Max, plan.BoolAnd, plan.BoolOr:
		switch form {
		case layout.I64, layout.F64:
		case layout.I128:
			e.refuseGPU("%s of wide decimals is not supported", a.Func)
		default:
			e.refuseGPU("%s(%s) is not supported", a.Func, f.Desc.Type)
		}
	case plan.AnyValue:
		if form == layout.I128 || form == layout.Ivl {
			e.refuseGPU("any_value(%s) with NULLs is not supported", f.Desc.Type)
		}
	}
	if s.all {
		return s
	}
	lo, hi := Neutral(a.Func, form)
	if form == layout.F64 {
		s.v.a = open(f.Name, ir.F64, lo).V()
	} else {
		s.v.a = open(f.Name, ir.I64, lo).V()
	}
	if s.v.two() {
		s.v.b = open(f.Name+".2", ir.I64, hi).V()
	}
	if f.Null >= 0 {
		s.v.null = open(f.Name+".none", ir.I64, 1).V()
	}
	return s
}

// fold takes a value into a share. v stays the caller's.
func (e *emitter) fold(s *share, v value) {
	if v.isNull() || s.all {
		return
	}
	if s.fn == plan.AnyValue {
		e.foldAny(s, v)
		return
	}
	w := e.reform(e.orNeutral(s, v.borrowed()), s.f.Desc.Form)
	e.foldWords(s, w)
	w.ownNull = false
	e.free(w)
	switch {
	case s.v.null.IsImm():
	case v.never():
		e.b.Mov(s.v.null.R, ir.K(0))
	default:
		e.b.Op2(ir.And, s.v.null.R, s.v.null, v.null)
	}
}

// orNeutral is v with the neutral element in place of NULL; v is used up.
func (e *emitter) orNeutral(s *share, v value) value {
	if v.never() {
		return v
	}
	lo, _ := Neutral(s.fn, s.f.Desc.Form)
	if v.d.Form == layout.F64 {
		z := e.float("or0")
		e.b.FConst(z, lo)
		e.b.FSel(z, ir.NE, v.null, ir.K(0), z, v.a.R)
		v.a, v.ownA = z.V(), true
		return v
	}
	r := e.int("or0")
	e.b.Sel(r, ir.NE, v.null, ir.K(0), ir.K(lo), v.a)
	v.a, v.ownA = r.V(), true
	if v.two() { // sums only
		r := e.int("or0.hi")
		e.b.Sel(r, ir.NE, v.null, ir.K(0), ir.K(0), v.b)
		v.b, v.ownB = r.V(), true
	}
	return v
}

// foldWords combines values of the same form, none of them NULL.
func (e *emitter) foldWords(s *share, w value) {
	x := s.v
	switch {
	case s.fn != plan.Sum && x.d.Form == layout.F64:
		better := e.floatCompare(s.better(), w.a.R, x.a.R)
		e.b.FSel(x.a.R, ir.NE, better.V(), ir.K(0), w.a.R, x.a.R)
		e.b.Clear(better)
	case s.fn != plan.Sum:
		e.b.Sel(x.a.R, s.better(), w.a, x.a, w.a, x.a)
	case x.d.Form == layout.F64:
		e.b.Op2(ir.FAdd, x.a.R, x.a, w.a)
	case x.d.Form == layout.I128 && x.d.Range.Known:
		e.b.Op128(ir.Add128, x.a.R, x.b.R, x.a, x.b, w.a, w.b, 0)
	case x.d.Form == layout.I128:
		e.b.Op128(ir.Add128X, x.a.R, x.b.R, x.a, x.b, w.a, w.b, e.fail(overflow(x.d.Type, -1)))
	case s.mayOverflow():
		e.b.OpX(ir.AddX, x.a.R, x.a, w.a, e.fail(overflow(x.d.Type, -1)))
	default:
		e.b.Op2(ir.Add, x.a.R, x.a, w.a)
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
func (e *emitter) foldAny(s *share, v value) {
	w := e.reform(v.borrowed(), s.f.Desc.Form)
	if w.d.Form == layout.F64 {
		e.b.FSel(s.v.a.R, ir.NE, s.v.null, ir.K(0), w.a.R, s.v.a.R)
	} else {
		e.b.Sel(s.v.a.R, ir.NE, s.v.null, ir.K(0), w.a, s.v.a)
		if w.two() {
			e.b.Sel(s.v.b.R, ir.NE, s.v.null, ir.K(0), w.b, s.v.b)
		}
	}
	e.b.Op2(ir.And, s.v.null.R, s.v.null, v.null)
	w.ownNull = false
	e.free(w)
}

// shuffled opens registers with another lane's share, by op and its operand: Shfl takes a
// lane, ShflXor a distance.
func (e *emitter) shuffled(s *share, op ir.Op, x ir.Val) value {
	w := value{d: s.v.d, ownA: true, null: ir.K(0)}
	if w.d.Form == layout.F64 {
		bits, f := e.int("bits"), e.float("other")
		e.b.Op1(ir.FBits, bits, s.v.a)
		e.b.Op2(op, bits, bits.V(), x)
		e.b.Op1(ir.BitsF, f, bits.V())
		e.b.Clear(bits)
		w.a = f.V()
		return w
	}
	r := e.int("other")
	e.b.Op2(op, r, s.v.a, x)
	w.a = r.V()
	if s.v.two() {
		r := e.int("other.2")
		e.b.Op2(op, r, s.v.b, x)
		w.b, w.ownB = r.V(), true
	}
	return w
}

// chosen gives every lane of a set the value of one of its lanes that has one. set is the
// mask of lanes that belong together.
func (e *emitter) chosen(s *share, set ir.Val) {
	have, from := e.int("have"), e.int("from")
	e.b.Op2(ir.Xor, have, s.v.null, ir.K(1))
	e.b.Op1(ir.Ballot, have, have.V())
	e.b.Op2(ir.And, have, have.V(), set)
	e.b.Op1(ir.Ctz, from, have.V())
	e.b.Sel(from, ir.EQ, have.V(), ir.K(0), e.gpu.lane.V(), from.V())
	w := e.shuffled(s, ir.Shfl, from.V())
	if w.d.Form == layout.F64 {
		e.b.FMov(s.v.a.R, w.a.R)
	} else {
		e.b.Mov(s.v.a.R, w.a)
		if w.two() {
			e.b.Mov(s.v.b.R, w.b)
		}
	}
	e.free(w)
	e.b.Set(s.v.null.R, ir.EQ, have.V(), ir.K(0))
	e.b.Clear(have, from)
}

// propagate adds a share to the tuple at p in global memory: atomically, since other warps
// do the same.
func (e *emitter) propagate(p ir.Reg, s *share) {
	at := ir.At(p, s.f.Off)
	old := ir.NoReg
	if s.fn != plan.AnyValue && s.f.Desc.Form != layout.F64 {
		old = e.int("old")
	}
	switch {
	case s.fn == plan.AnyValue:
		e.when(ir.EQ, s.v.null, ir.K(0), func() { e.putAny(p, s) }, nil)
		return
	case s.fn != plan.Sum && s.f.Desc.Form == layout.F64:
		e.putFloat(at, s)
	case s.fn == plan.Min || s.fn == plan.BoolAnd:
		e.b.Atom(ir.AtomMin, old, at, s.v.a, ir.Val{})
	case s.fn == plan.Max || s.fn == plan.BoolOr:
		e.b.Atom(ir.AtomMax, old, at, s.v.a, ir.Val{})
	case s.f.Desc.Form == layout.F64:
		f := e.float("old")
		e.b.Atom(ir.AtomFAdd, f, at, s.v.a, ir.Val{})
		e.b.Clear(f)
	case s.f.Desc.Form == layout.I128:
		// The low half tells by its old value whether it carries into the high one.
		hi := e.int("high")
		e.b.Atom(ir.AtomAdd, old, at, s.v.a, ir.Val{})
		e.b.Op2(ir.Add, old, old.V(), s.v.a)
		e.b.Set(hi, ir.ULT, old.V(), s.v.a)
		e.b.Op2(ir.Add, hi, hi.V(), s.v.b)
		e.b.Atom(ir.AtomAdd, old, ir.At(p, s.f.Off+8), hi.V(), ir.Val{})
		if !s.f.Desc.Range.Known {
			e.b.OpX(ir.AddX, old, old.V(), hi.V(), e.fail(overflow(s.f.Desc.Type, -1)))
		}
		e.b.Clear(hi)
	default:
		e.b.Atom(ir.AtomAdd, old, at, s.v.a, ir.Val{})
		if s.mayOverflow() {
			e.b.OpX(ir.AddX, old, old.V(), s.v.a, e.fail(overflow(s.f.Desc.Type, -1)))
		}
	}
	if old != ir.NoReg {
		e.b.Clear(old)
	}
	if s.f.Null >= 0 {
		e.when(ir.EQ, s.v.null, ir.K(0), func() { e.b.Store(ir.At(p, s.f.Null), ir.K(0), 1) }, nil)
	}
}

// putFloat replaces a float if it is not as good. No atomic does that, so it is swapped as
// long as somebody else was faster; every round somebody gets ahead.
func (e *emitter) putFloat(at ir.Mem, s *share) {
	cur, old, bits, f := e.int("cur"), e.int("old"), e.int("bits"), e.float("f")
	e.b.Op1(ir.FBits, bits, s.v.a)
	e.b.Load8(cur, at)
	e.loop(func(l int32) {
		e.b.Op1(ir.BitsF, f, cur.V())
		better := e.floatCompare(s.better(), s.v.a.R, f)
		e.b.Break(l, ir.EQ, better.V(), ir.K(0))
		e.b.Clear(better)
		e.b.Atom(ir.AtomCAS, old, at, cur.V(), bits.V())
		e.b.Break(l, ir.EQ, old.V(), cur.V())
		e.b.Mov(cur, old.V())
	})
	e.b.Clear(cur, old, bits, f)
}

// putAny stores a value where any will do. Whoever comes last wins; a text's two words must
// come from one lane, so the first to change its address from 0 writes both.
func (e *emitter) putAny(p ir.Reg, s *share) {
	at := ir.At(p, s.f.Off)
	switch s.f.Desc.Form {
	case layout.F64:
		e.b.FStore(at, s.v.a.R, 8)
	case layout.Str:
		old := e.int("old")
		e.b.Atom(ir.AtomCAS, old, at, ir.K(0), s.v.a)
		e.when(ir.EQ, old.V(), ir.K(0), func() { e.b.Store(ir.At(p, s.f.Off+8), s.v.b, 8) }, nil)
		e.b.Clear(old)
	default:
		e.b.Store(at, s.v.a, 8)
	}
	e.b.Store(ir.At(p, s.f.Null), ir.K(0), 1)
}

// reduceRows is the aggregation without groups: every lane adds its rows up in registers;
// after the last one the warp adds up its lanes, and one lane adds that to the result.
func (e *emitter) reduceRows(s *pipe.Aggregate, gp *GroupPlan) {
	g := s.Group
	var shares []*share
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[i]
		shares = append(shares, e.newShare(a, f, false, e.perKernel))
		e.aggregate(ir.NoReg, f, a)
	}
	e.arrive(nil)
	e.gpu.finally = func() {
		e.b.Comment("add up the lanes, then the warps")
		for _, sh := range shares {
			if sh.fn == plan.AnyValue {
				e.chosen(sh, ir.K(1<<32-1))
				continue
			}
			for d := int64(16); d > 0; d /= 2 {
				w := e.shuffled(sh, ir.ShflXor, ir.K(d))
				e.foldWords(sh, w)
				e.free(w)
			}
			if !sh.v.null.IsImm() {
				e.anyOf(sh, ir.K(1<<32-1))
			}
		}
		e.when(ir.EQ, e.gpu.lane.V(), ir.K(0), func() {
			p := e.int("result")
			e.b.Load8(p, ir.At(ir.Ctx, layout.CtxState))
			for _, sh := range shares {
				e.propagate(p, sh)
			}
			e.b.Clear(p)
		}, nil)
	}
}

// anyOf makes a share's NULL flag that of a set of lanes: 0 if one of them has a value.
func (e *emitter) anyOf(s *share, set ir.Val) {
	r := e.int("have")
	e.b.Op2(ir.Xor, r, s.v.null, ir.K(1))
	e.b.Op1(ir.Ballot, r, r.V())
	e.b.Op2(ir.And, r, r.V(), set)
	e.b.Set(s.v.null.R, ir.EQ, r.V(), ir.K(0))
	e.b.Clear(r)
}
