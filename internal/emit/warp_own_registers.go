package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// ownInRegisters keeps the table of a thread in its registers. These have no addresses: a row comes to the cells of all groups, and counts for nothing where the group
// is another.
func (e *warp) ownInRegisters(o *ownGroups) {
	var groups [][]*share
	for range phys.RoomFor(o.gp.Slots) {
		groups = append(groups, e.ownShares(o, e.perKernel))
	}
	o.take = func(k int, v code.Value) {
		w := e.Reform(v.Borrowed(), o.aggs[k].f.Desc.Form)
		for s, shares := range groups {
			other := e.Int("other")
			e.B.Set(other, ir.NE, o.slot.V(), ir.K(int64(s)))
			if !w.Never() {
				e.B.Op2(ir.Or, other, other.V(), w.Null)
			}
			e.fold(shares[k], w.Borrowed().WithNull(other.V(), false))
			e.B.Clear(other)
		}
		w.OwnNull = false
		e.Free(w)
	}
	e.finally = func() {
		e.B.Comment("groups in registers are added to those of all")
		slot, base := e.word("slot"), e.Int("groups")
		e.B.Load8(base, ir.At(ir.Ctx, layout.CtxDir))
		for s, shares := range groups {
			e.B.Mov(slot, ir.K(int64(s)))
			e.addUpOwn(o, slot, base, shares)
		}
		e.B.Clear(slot, base)
	}
}
