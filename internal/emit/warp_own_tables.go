package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// ownTable is the table of a thread in memory: a row changes the cells of its group by loads and stores. Words of a thread lie step bytes apart: side by side in
// local memory, which the device interleaves by itself, and a warp's width in shared memory, so that its lanes never meet in a bank.
type ownTable struct {
	*ownGroups
	space ir.Space
	step  int
	first []int  // of each aggregate's words
	base  ir.Reg // where the thread's begins
	at    ir.Reg // the row's group
}

// ownInTables keeps groups in tables of threads.
func (e *warp) ownInTables(o *ownGroups) {
	t := &ownTable{ownGroups: o, space: ir.Dynamic, step: 8 * layout.WarpLanes, at: e.Int("at")}
	if e.f.How.Home.Home == phys.HomeLocal {
		t.space, t.step = ir.Local, 8
	}
	n := 0
	for i := range o.aggs {
		t.first = append(t.first, n)
		n += o.aggs[i].words()
	}
	slots := phys.RoomFor(o.gp.Slots)
	group := int64(n * t.step)
	if t.space == ir.Local {
		e.B.F.LocalBytes = int(slots * group)
		t.base = e.perKernel("table", ir.I64, 0)
		e.insert(e.kernel, func() { e.clearTable(t, slots*group, group) })
	} else {
		before := e.f.WarpBytes
		e.f.WarpBytes += int(slots * group)
		t.base = e.warpMemory("table", ir.I64, func() {
			lane := e.Int("lane")
			e.B.Op2(ir.Mul, lane, e.lane.V(), ir.K(8))
			e.B.Op2(ir.Add, lane, lane.V(), ir.K(int64(before)))
			e.B.Op2(ir.Add, t.base, t.base.V(), lane.V())
			e.B.Clear(lane)
			e.clearTable(t, slots*group, group)
		})
	}
	o.find = func() {
		e.B.Op2(ir.Mul, t.at, o.slot.V(), ir.K(group))
		e.B.Op2(ir.Add, t.at, t.at.V(), t.base.V())
	}
	o.take = func(k int, v code.Value) {
		s, open := e.readOwn(t, k)
		e.fold(s, v)
		e.writeOwn(t, k, s)
		e.B.Clear(open...)
	}
	o.done = func() { e.B.Clear(t.at) }
	e.finally = func() {
		e.B.Comment("tables of threads are added to that of all")
		slot, base, at := e.word("slot"), e.Int("groups"), e.Int("at")
		e.B.Load8(base, ir.At(ir.Ctx, layout.CtxDir))
		e.B.Mov(slot, ir.K(0))
		e.B.Mov(at, t.base.V())
		t.at = at
		e.Loop(func(l int32) {
			var shares []*share
			var all []ir.Reg
			for k := range o.aggs {
				s, open := e.readOwn(t, k)
				shares, all = append(shares, s), append(all, open...)
			}
			e.addUpOwn(o, slot, base, shares)
			e.B.Clear(all...)
			e.B.Op2(ir.Add, at, at.V(), ir.K(group))
			e.B.Op2(ir.Add, slot, slot.V(), ir.K(1))
			e.B.Break(l, ir.EQ, slot.V(), ir.K(slots))
		})
		e.B.Clear(slot, base, at)
	}
}

// clearTable lets the thread begin without rows: so many bytes, and so many for each group.
func (e *warp) clearTable(t *ownTable, bytes, group int64) {
	e.B.Comment("groups of the thread")
	at, end := e.Int("at"), e.Int("end")
	e.B.Mov(at, t.base.V())
	e.B.Op2(ir.Add, end, at.V(), ir.K(bytes))
	e.Loop(func(l int32) {
		for k, x := range t.aggs {
			lo, hi := Neutral(x.a.Func, x.f.Desc.Form)
			words := []int64{lo, hi}[:x.f.Desc.Form.Words()]
			if x.f.Null >= 0 {
				words = append(words, 1)
			}
			for w, v := range words {
				e.B.Store(t.word(at, k, w), ir.K(v), 8)
			}
		}
		e.B.Op2(ir.Add, at, at.V(), ir.K(group))
		e.B.Break(l, ir.EQ, at.V(), end.V())
	})
	e.B.Clear(at, end)
}

// word is word w of aggregate k of the group at an address.
func (t *ownTable) word(at ir.Reg, k, w int) ir.Mem {
	return ir.Mem{Base: at, Index: ir.NoReg, Scale: 1, Disp: int32((t.first[k] + w) * t.step), Space: t.space}
}

// readOwn opens the share of an aggregate of the row's group.
func (e *warp) readOwn(t *ownTable, k int) (s *share, open []ir.Reg) {
	x := t.aggs[k]
	w := 0
	s = e.newShare(x.a, x.f, 0, false, func(name string, typ ir.Type, _ int64) ir.Reg {
		r := e.B.Vreg(name, typ)
		if typ == ir.F64 {
			e.B.FLoad(r, t.word(t.at, k, w), 8)
		} else {
			e.B.Load8(r, t.word(t.at, k, w))
		}
		w++
		open = append(open, r)
		return r
	})
	return s, open
}

// writeOwn puts it back.
func (e *warp) writeOwn(t *ownTable, k int, s *share) {
	if s.v.Desc.Form == layout.F64 {
		e.B.FStore(t.word(t.at, k, 0), s.v.A.R, 8)
	} else {
		e.B.Store(t.word(t.at, k, 0), s.v.A, 8)
	}
	w := 1
	if s.v.Two() {
		e.B.Store(t.word(t.at, k, w), s.v.B, 8)
		w++
	}
	if !s.v.Null.IsImm() {
		e.B.Store(t.word(t.at, k, w), s.v.Null, 8)
	}
}
