package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// ownInLanes spreads a table over lanes side by side, as many as make it a power of two: each has the cells of one group in registers. The rows of these lanes go round
// among them by shuffles, and each takes those of its group.
func (e *warp) ownInLanes(o *ownGroups) {
	lanes := int64(1)
	for lanes < phys.RoomFor(o.gp.Slots) {
		lanes *= 2
	}
	cells, row := e.ownShares(o, e.perKernel), e.ownShares(o, e.perRow)
	o.slot = e.perRow("slot", ir.I64, -1)
	o.take = func(k int, v code.Value) { e.fold(row[k], v) }
	mine := e.perKernel("mine", ir.I64, 0)
	e.insert(e.kernel, func() { e.B.Op2(ir.And, mine, e.lane.V(), ir.K(lanes-1)) })
	o.together = func() {
		e.B.Comment("rows go round among the lanes of a table")
		e.B.Sel(o.slot, ir.NE, e.guard.active.V(), ir.K(0), o.slot.V(), ir.K(-1)) // a dropped row is no group's
		from := e.Int("from")
		e.B.Mov(from, ir.K(0))
		e.Loop(func(l int32) {
			other := e.Int("other")
			e.B.Op2(ir.ShflXor, other, o.slot.V(), from.V())
			e.B.Set(other, ir.NE, other.V(), mine.V())
			for k, s := range row {
				e.takeFrom(cells[k], s, from.V(), other.V())
			}
			e.B.Clear(other)
			e.B.Op2(ir.Add, from, from.V(), ir.K(1))
			e.B.Break(l, ir.EQ, from.V(), ir.K(lanes))
		})
		e.B.Clear(from)
	}
	e.finally = func() {
		e.B.Comment("tables of lanes are added up, then to that of all")
		for d := lanes; d < layout.WarpLanes; d *= 2 {
			for _, s := range cells {
				e.takeFrom(s, s, ir.K(d), ir.K(0))
			}
		}
		slot, base := e.word("slot"), e.Int("groups")
		e.B.Load8(base, ir.At(ir.Ctx, layout.CtxDir))
		e.B.Op1(ir.Narrow, slot, e.lane.V())
		e.When(ir.LT, e.lane.V(), ir.K(lanes), func() {
			e.When(ir.NE, cells[o.rows].v.A, ir.K(0), func() { e.tellOwn(o, slot, base, cells) }, nil)
		}, nil)
		e.B.Clear(slot, base)
	}
}

// takeFrom takes the share of another lane, whose distance is an exclusive or, into one of this lane, unless it counts for nothing.
func (e *warp) takeFrom(into, s *share, distance, none ir.Val) {
	w := e.shuffled(s, ir.ShflXor, distance)
	if !into.v.Null.IsImm() {
		n := e.Int("none")
		e.B.Op2(ir.ShflXor, n, s.v.Null, distance)
		e.B.Op2(ir.Or, n, n.V(), none)
		e.B.Op2(ir.And, into.v.Null.R, into.v.Null, n.V())
		e.B.Clear(n)
	}
	e.foldUnless(into, w, none)
}
