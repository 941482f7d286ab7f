package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Where few rows pass the front of a scan, the loop over the ones of a lane's mask has few lanes at work: as many rounds as the lane with
// most rows needs, for all operators after it. So the warp keeps a list of the rows that have passed, in its shared memory, and takes 32 of them
// at a time when there are as many; what is left waits for the next step. Only the last round has fewer.

// listRows is how many rows the list of a warp has room for: it grows by a step of all lanes while it has fewer than 32.
func (f *laneFront) listRows() int { return layout.WarpLanes * (f.n + 1) }

// listed is loop with a list of survivors.
func (f *laneFront) listed(body func(i ir.Reg)) {
	e := f.warp
	e.f.WarpBytes = 4 * f.listRows()
	first, n, step := e.openRows(int64(f.n))
	f.first = first
	f.mask = e.word("mask")
	list := e.warpMemory("list", ir.I32, nil) // it comes first
	kept, lane, row, i := e.word("kept"), e.word("lane"), e.word("row"), e.Int("row")
	e.B.Special(lane, ir.LaneID)
	e.B.Mov(kept, ir.K(0))
	e.B.Mov(row, ir.K(0))
	at := func(k ir.Reg) ir.Mem { return ir.Mem{Base: list, Index: k, Scale: 4, Space: ir.Dynamic} }
	e.warpLoop(while{c: ir.NE, x: ir.K(0), y: ir.K(0), set: func(has ir.Reg) {
		fill := e.B.Loop()
		e.B.Break(fill, ir.UGE, kept.V(), ir.K(layout.WarpLanes))
		own, any := e.word("has"), e.word("any")
		e.B.Set(own, ir.LT, first.V(), n.V())
		e.B.Op1(ir.Ballot, any, own.V())
		e.B.Break(fill, ir.EQ, any.V(), ir.K(0))
		f.beginShort()
		e.B.Mov(f.mask, ir.K(0))
		e.When(ir.NE, own.V(), ir.K(0), func() { f.test(n) }, nil)
		f.endShort()
		e.B.Clear(own, any)
		f.append(kept, lane, at)
		e.B.Op2(ir.Add, first, first.V(), step.V())
		e.B.EndLoop(fill, ir.Always, ir.K(0), ir.K(0))

		e.B.Comment("the last 32 of the list")
		e.B.Sync()
		from, t := e.word("from"), e.word("t")
		e.B.Op2(ir.Sub, from, kept.V(), ir.K(layout.WarpLanes))
		e.B.Sel(from, ir.LT, from.V(), ir.K(0), ir.K(0), from.V())
		e.B.Op2(ir.Add, t, from.V(), lane.V())
		e.B.Set(has, ir.ULT, t.V(), kept.V())
		e.When(ir.NE, has.V(), ir.K(0), func() { e.B.Load(row, at(t), 4, false) }, nil)
		e.B.Mov(kept, from.V())
		e.B.Sync()
		e.B.Clear(from, t)
	}}, func() {
		e.B.Op1(ir.WidenU, i, row.V())
		body(i)
	}, func() {})
	e.B.Clear(f.mask, kept, lane, row, i)
	e.closeRows(first, n, step)
}

// append puts the rows of the lanes' masks behind those of the list.
func (f *laneFront) append(kept, lane ir.Reg, at func(k ir.Reg) ir.Mem) {
	e := f.warp
	count, place, t := e.word("count"), e.word("place"), e.word("t")
	e.B.Op1(ir.Popcnt, count, f.mask.V())
	e.B.Mov(place, count.V())
	for d := int64(1); d < layout.WarpLanes; d *= 2 {
		e.B.Op2(ir.ShflUp, t, place.V(), ir.K(d))
		e.B.Sel(t, ir.UGE, lane.V(), ir.K(d), t.V(), ir.K(0))
		e.B.Op2(ir.Add, place, place.V(), t.V())
	}
	e.B.Op2(ir.Shfl, t, place.V(), ir.K(layout.WarpLanes-1))
	e.B.Op2(ir.Sub, place, place.V(), count.V())
	e.B.Op2(ir.Add, place, place.V(), kept.V())
	e.B.Op2(ir.Add, kept, kept.V(), t.V())
	e.Loop(func(l int32) {
		e.B.Break(l, ir.EQ, f.mask.V(), ir.K(0))
		e.B.Op1(ir.Ctz, t, f.mask.V())
		e.B.Op1(ir.Narrow, count, f.first.V())
		e.B.Op2(ir.Add, t, t.V(), count.V())
		e.B.Store(at(place), t.V(), 4)
		e.B.Op2(ir.Add, place, place.V(), ir.K(1))
		e.B.Op2(ir.Sub, t, f.mask.V(), ir.K(1))
		e.B.Op2(ir.And, f.mask, f.mask.V(), t.V())
	})
	e.B.Clear(count, place, t)
}
