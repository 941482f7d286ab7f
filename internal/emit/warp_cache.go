package emit

import (
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Groups that are not a small array lie in device memory, where lanes that change the same few of them wait for each other. So each block has a
// cache of groups in its shared memory: slots by the group's address, with cells as those of an array (warp_block.go). A row finds its group as
// ever, which only reads once the group is there; if the block has a slot for it, or one is free, the row is added there, and slots
// are added to their groups when the block has no rows left. Else it is added to the group itself.

// cacheProbes is how many slots side by side a group may have.
const cacheProbes = 4

// blockCache is how a block keeps some of the groups; nil if it cannot.
func (e *warp) blockCache(g *plan.Group, gp *GroupPlan) *blockGroups {
	b, words, longs := e.blockCells(g, gp)
	if b == nil || len(b.order) == 0 {
		return nil
	}
	how := phys.ChooseCache(gp.Expect, 4*words+8*longs+8)
	if !how.Cache {
		return nil
	}
	b.cached, b.slots, b.copies, b.how = true, how.Slots, 1, how
	b.place()
	return b
}

// openCache lets the block begin with an empty cache, and end with what is in it.
func (e *warp) openCache(b *blockGroups) {
	e.f.How.Block = b.how
	e.B.F.SharedBytes = b.bytes
	e.clearBlock(b, b.how.Copies, 8) // copies of a group have slots of their own: addresses are multiples of 8
	e.finally = func() { e.flushBlock(b) }
}

// addToCache adds the row to its group's slot, if there is one. Then the lane has nothing left to do with the others.
func (e *warp) addToCache(b *blockGroups, group ir.Reg, shares []*share) {
	e.B.Comment("or in the block's slot of the group")
	at, name, left := e.word("slot"), e.Int("name"), e.word("left")
	e.B.Op1(ir.WidenU, name, b.lane.V())
	e.B.Op2(ir.Add, name, name.V(), group.V())
	e.B.Op2(ir.Mul, name, name.V(), ir.K(layout.HashMul))
	e.B.Op2(ir.Shr, name, name.V(), ir.K(int64(64-bits.Len64(uint64(b.slots-1)))))
	e.B.Op1(ir.Narrow, at, name.V())
	e.B.Op2(ir.Shl, at, at.V(), ir.K(2))
	b.at = at
	e.B.Mov(left, ir.K(cacheProbes))
	e.Loop(func(l int32) {
		e.B.Load8(name, b.long(b.names))
		e.When(ir.EQ, name.V(), ir.K(0), func() {
			e.B.Atom(ir.AtomCAS, name, b.long(b.names), ir.K(0), group.V())
			e.B.Sel(name, ir.EQ, name.V(), ir.K(0), group.V(), name.V())
		}, nil)
		e.B.Break(l, ir.EQ, name.V(), group.V())
		e.B.Op2(ir.Sub, left, left.V(), ir.K(1))
		e.B.Break(l, ir.EQ, left.V(), ir.K(0))
		e.B.Op2(ir.Add, at, at.V(), ir.K(4))
		e.B.Op2(ir.And, at, at.V(), ir.K(4*b.slots-4))
	})
	e.When(ir.EQ, name.V(), group.V(), func() {
		b.inside++ // nothing is put off
		for _, s := range shares {
			v := s.v
			if s.all {
				v.A = ir.K(1)
			}
			e.addToCells(b, b.aggs[s.f], v.Borrowed())
		}
		e.B.Mov(e.guard.active, ir.K(0))
	}, nil)
	e.B.Clear(at, name, left)
}
