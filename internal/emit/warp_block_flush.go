package emit

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// clearBlock fills the block's cells with neutral elements before the first row, and opens the register of the lane's copy: steps times its number
// among so many.
func (e *warp) clearBlock(b *blockGroups, copies, step int64) {
	e.insert(e.kernel, func() {
		b.lane = e.word("copy")
		e.B.Op1(ir.Narrow, b.lane, e.lane.V())
		e.B.Op2(ir.And, b.lane, b.lane.V(), ir.K(copies-1))
		e.B.Op2(ir.Mul, b.lane, b.lane.V(), ir.K(step))
		e.B.Comment("groups of the block")
		e.fillBlock(b)
	})
	e.ofKernel = append(e.ofKernel, b.lane)
}

// fillBlock fills the block's cells with neutral elements.
func (e *warp) fillBlock(b *blockGroups) {
	e.fillCells(b.space, 0, b.bytes, 4, 0)
	for _, x := range b.order {
		x.fillNeutral(b, e)
	}
	e.B.Barrier()
}

// fillNeutral writes what an aggregate starts from, if that is not 0.
func (x *blockAgg) fillNeutral(b *blockGroups, e *warp) {
	n := int(b.slots * b.copies)
	lo, _ := Neutral(x.fn, x.f.Desc.Form)
	switch {
	case x.fn == plan.Sum || lo == 0:
	case x.kind == wordCells:
		e.B.Barrier() // the zeros are written
		e.fillCells(b.space, x.off[0], 4*n, 4, x.neutralWord())
	default:
		e.B.Barrier()
		e.fillCells(b.space, x.off[0], 8*n, 8, lo)
	}
}

// neutralWord is what a minimum or maximum in a cell of 4 bytes starts from.
func (x *blockAgg) neutralWord() int64 {
	if x.atomic() == ir.AtomMax {
		return math.MinInt32
	}
	return math.MaxInt32
}

// fillCells lets the threads of the block write a word of so many bytes to its memory.
func (e *warp) fillCells(space ir.Space, from, bytes, width int, word int64) {
	i, step := e.word("i"), e.word("step")
	e.B.Special(i, ir.ThreadID)
	e.B.Special(step, ir.BlockDim)
	e.B.Op2(ir.Mul, i, i.V(), ir.K(int64(width)))
	e.B.Op2(ir.Mul, step, step.V(), ir.K(int64(width)))
	e.Loop(func(l int32) {
		e.B.Break(l, ir.UGE, i.V(), ir.K(int64(bytes)))
		e.B.Store(ir.Mem{Base: i, Index: ir.NoReg, Scale: 1, Disp: int32(from), Space: space}, ir.K(word), width)
		e.B.Op2(ir.Add, i, i.V(), step.V())
	})
	e.B.Clear(i, step)
}

// flushBlock adds the block's groups to the array of all blocks. As many lanes as there are copies take a slot, add up what
// the copies have, and the first of them adds that to the group.
func (e *warp) flushBlock(b *blockGroups) {
	e.B.Comment("the block's groups are added to those of all")
	e.B.Barrier()
	slot, step, base := e.word("slot"), e.word("step"), e.Int("groups")
	if !b.cached {
		e.B.Load8(base, ir.At(ir.Ctx, layout.CtxDir))
	}
	e.B.Special(slot, ir.ThreadID)
	e.B.Special(step, ir.BlockDim)
	e.B.Op2(ir.Div, slot, slot.V(), ir.K(b.copies))
	e.B.Op2(ir.Div, step, step.V(), ir.K(b.copies))
	e.Loop(func(l int32) {
		has := e.word("has")
		e.B.Set(has, ir.ULT, slot.V(), ir.K(b.slots)) // those that no key has are not in use
		any := e.word("any")
		e.B.Op1(ir.Ballot, any, has.V())
		e.B.Break(l, ir.EQ, any.V(), ir.K(0))
		e.flushSlot(b, slot, has, base)
		e.B.Op2(ir.Add, slot, slot.V(), step.V())
		e.B.Clear(has, any)
	})
	e.B.Clear(slot, step, base)
}

// flushSlot adds up the copies of a slot. has is 0 where lanes have no slot any more; they read the first.
func (e *warp) flushSlot(b *blockGroups, slot, has, base ir.Reg) {
	b.at = e.word("at")
	t := e.word("t")
	e.B.Op1(ir.Narrow, t, e.lane.V())
	e.B.Op2(ir.And, t, t.V(), ir.K(b.copies-1))
	e.B.Sel(b.at, ir.NE, has.V(), ir.K(0), slot.V(), ir.K(0))
	e.B.Op2(ir.Mul, b.at, b.at.V(), ir.K(b.copies))
	e.B.Op2(ir.Add, b.at, b.at.V(), t.V())
	e.B.Op2(ir.Mul, b.at, b.at.V(), ir.K(4))
	first := e.word("first")
	e.B.Set(first, ir.EQ, t.V(), ir.K(0))
	e.B.Clear(t)
	used := e.usedSlot(b)
	e.B.Op2(ir.And, used, used.V(), has.V())
	for d := b.copies / 2; d > 0; d /= 2 {
		t := e.word("t")
		e.B.Op2(ir.ShflXor, t, used.V(), ir.K(d))
		e.B.Op2(ir.Or, used, used.V(), t.V())
		e.B.Clear(t)
	}
	e.B.Op2(ir.And, first, first.V(), used.V())
	any := e.word("any")
	e.B.Op1(ir.Ballot, any, used.V())
	e.When(ir.NE, any.V(), ir.K(0), func() {
		p := e.flushedGroup(b, slot, first, base)
		for _, x := range b.order { // one after the other, so that what the others have needs no registers
			e.flushAgg(b, x, first, p)
		}
		e.B.Clear(p)
	}, nil)
	e.B.Clear(first, used, any, b.at)
}

// flushedGroup opens a register with the address of a slot's group, in which the first of its lanes puts the keys.
func (e *warp) flushedGroup(b *blockGroups, slot, first, base ir.Reg) ir.Reg {
	p := e.Int("group")
	if b.cached {
		e.B.Load8(p, b.long(b.names))
		return p
	}
	e.slotGroup(p, b.gp, slot, base)
	e.When(ir.NE, first.V(), ir.K(0), func() { e.makeSlot(p, b.gp, slot) }, nil)
	return p
}

// slotGroup sets p to the address of a slot's group, in the array at base.
func (e *warp) slotGroup(p ir.Reg, gp *GroupPlan, slot, base ir.Reg) {
	e.B.Op1(ir.WidenU, p, slot.V())
	e.B.Op2(ir.Mul, p, p.V(), ir.K(int64(gp.Tuple.Size)))
	e.B.Op2(ir.Add, p, p.V(), base.V())
}

// makeSlot writes what a slot's number tells of its group at p, and that there is one.
func (e *warp) makeSlot(p ir.Reg, gp *GroupPlan, slot ir.Reg) {
	e.storeKeys(gp, slot, p)
	e.B.Store(ir.At(p, gp.Tuple.Flag), ir.K(1), 1)
}

// flushAgg adds up what the copies of a slot have of an aggregate; the first of its lanes adds that to the group at p.
func (e *warp) flushAgg(b *blockGroups, x *blockAgg, first, p ir.Reg) {
	var open []ir.Reg
	s := e.newShare(x.a, x.f, 0, false, func(name string, t ir.Type, init int64) ir.Reg {
		r := e.B.Vreg(name, t)
		open = append(open, r)
		return r
	})
	e.readCells(b, x, s)
	for d := b.copies / 2; d > 0; d /= 2 {
		w := e.shuffled(s, ir.ShflXor, ir.K(d))
		e.foldWords(s, w)
		e.Free(w)
		if !s.v.Null.IsImm() {
			n := e.Int("none")
			e.B.Op2(ir.ShflXor, n, s.v.Null, ir.K(d))
			e.B.Op2(ir.And, s.v.Null.R, s.v.Null, n.V())
			e.B.Clear(n)
		}
	}
	e.When(ir.NE, first.V(), ir.K(0), func() { e.propagate(p, s) }, nil)
	e.B.Clear(open...)
}

// usedSlot opens a register of 0 or 1: whether the copy has seen a row.
func (e *warp) usedSlot(b *blockGroups) ir.Reg {
	used := e.word("used")
	if b.cached {
		p := e.Int("group")
		e.B.Load8(p, b.long(b.names))
		e.B.Set(p, ir.NE, p.V(), ir.K(0))
		e.B.Op1(ir.Narrow, used, p.V())
		e.B.Clear(p)
		return used
	}
	if b.seenBy == nil {
		e.B.Load(used, b.cell(b.seen), 4, false)
		return used
	}
	e.B.Mov(used, ir.K(0))
	for _, off := range b.seenBy.off {
		t := e.word("t")
		e.B.Load(t, b.cell(off), 4, false)
		e.B.Op2(ir.Or, used, used.V(), t.V())
		e.B.Clear(t)
	}
	e.B.Set(used, ir.NE, used.V(), ir.K(0))
	return used
}

// storeKeys writes a group's keys, which its slot's number tells.
func (e *warp) storeKeys(gp *GroupPlan, slot, p ir.Reg) {
	strides := gp.strides()
	for i, d := range gp.Domains {
		f := &gp.Tuple.Fields[i]
		k, v := e.word("k"), e.Int(f.Name)
		e.B.Op2(ir.Div, k, slot.V(), e.factWord(strides[i]).V())
		e.B.Op2(ir.Rem, k, k.V(), e.factWord(d.Size()).V())
		e.B.Op1(ir.WidenU, v, k.V())
		key := code.Value{Desc: f.Desc, Null: ir.K(0), A: v.V()}
		null := ir.NoReg
		if d.Null {
			null = e.Int("null")
			e.B.Set(null, ir.EQ, v.V(), e.Fact(d.Span))
			e.B.Sel(v, ir.NE, null.V(), ir.K(0), e.Fact(-d.Lo), v.V())
			key = key.WithNull(null.V(), false)
		}
		e.B.Op2(ir.Add, v, v.V(), e.Fact(d.Lo))
		e.storeField(p, f, key)
		if null != ir.NoReg {
			e.B.Clear(null)
		}
		e.B.Clear(k, v)
	}
}

// readCells sets a share to what a copy has.
func (e *warp) readCells(b *blockGroups, x *blockAgg, s *share) {
	if x.has >= 0 {
		t := e.word("has")
		e.B.Load(t, b.cell(x.has), 4, false)
		e.B.Op1(ir.WidenU, s.v.Null.R, t.V())
		e.B.Op2(ir.Xor, s.v.Null.R, s.v.Null, ir.K(1))
		e.B.Clear(t)
	}
	switch {
	case x.kind == floatCell:
		e.B.FLoad(s.v.A.R, b.long(x.off[0]), 8)
	case x.kind == longCell:
		e.B.Load8(s.v.A.R, b.long(x.off[0]))
	case x.fn != plan.Sum:
		e.B.Load(s.v.A.R, b.cell(x.off[0]), 4, true)
		// Another pipeline's numbers may lie beyond what is neutral here.
		lo, _ := Neutral(x.fn, layout.I64)
		e.B.Sel(s.v.A.R, ir.EQ, s.v.A, ir.K(x.neutralWord()), ir.K(lo), s.v.A)
	default:
		e.readSum(b, x, s)
	}
}

// readSum puts the cells of a sum together. One that lies outside of its type is an error.
func (e *warp) readSum(b *blockGroups, x *blockAgg, s *share) {
	n := len(x.off)
	half := func(r ir.Reg, k int) { // words k and k+1, the last with its sign
		e.B.Load(r, b.cell(x.off[k]), 4, k+1 == n)
		if k+1 < n {
			up := e.Int("up")
			e.B.Load(up, b.cell(x.off[k+1]), 4, false)
			e.B.Op2(ir.Shl, up, up.V(), ir.K(32))
			e.B.Op2(ir.Or, r, r.V(), up.V())
			e.B.Clear(up)
		}
	}
	lo := s.v.A.R
	half(lo, 0)
	switch {
	case s.v.Two() && n > 2:
		half(s.v.B.R, 2)
	case s.v.Two():
		e.B.Op2(ir.Sar, s.v.B.R, lo.V(), ir.K(63))
	case n > 2:
		hi, sign := e.Int("hi"), e.Int("sign")
		half(hi, 2)
		e.B.Op2(ir.Sar, sign, lo.V(), ir.K(63))
		e.raise(e.Fail(scalar.Overflow(x.f.Desc.Type, -1)), ir.NE, hi.V(), sign.V())
		e.B.Clear(hi, sign)
	}
}
