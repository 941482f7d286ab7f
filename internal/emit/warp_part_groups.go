package emit

import (
	"math/bits"
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Groups of rows that lie in parts (warp_parts.go), where a block's shared memory has room for all slots of a part: a block takes one part after the other. It adds the rows up in cells there, as
// blocks do that keep all groups of a small array (warp_block.go), and then writes a tuple for each slot that has rows. Nobody else has rows of these slots, so that there is no table of
// groups in device memory, and no atomic operation there but to take room for tuples.

// partGroups is a block's part. Registers are words of the kernel.
type partGroups struct {
	part  ir.Reg // its number
	base  ir.Reg // four times that of its first slot
	begin *place // before its first row
	end   func() // after its last
}

// blockShift is how many bits of a slot's number do not tell its part, if a block is to have room for all slots of one; 0: there is no room, or there are no such cells.
func (e *warp) blockShift(parts *pipe.Parts, gp *GroupPlan) int {
	g := parts.Group
	if !parts.Plain || gp.Mode != phys.DenseGroups || !e.mayKeep() {
		return 0
	}
	keys := make([]code.Value, len(g.Keys))
	for i, x := range g.Keys {
		keys[i] = e.Outline(x)
	}
	void := e.f.Void
	whole := e.planGroups(g, keys)
	e.f.Void = void
	if !keepsNumbers(g, whole.Tuple.Fields) {
		return 0
	}
	b, bytes := e.partCells(g, whole)
	if b == nil {
		return 0
	}
	return bits.Len64(uint64((e.BlockShared-reservedShared)/bytes)) - 1
}

// reservedShared is what a block needs for itself.
const reservedShared = 1 << 10

// mayKeep reports that blocks may keep groups in their shared memory at all.
func (e *warp) mayKeep() bool {
	return !e.Off.BlockGroups && e.Resolve == phys.ResolveAuto && (e.Home == phys.HomeAuto || e.Home == phys.HomeBlock)
}

// keepsNumbers reports that all aggregates are numbers of one word, which are known when the last row is there.
func keepsNumbers(g *plan.Group, fs []layout.Field) bool {
	for i, a := range g.Aggs {
		if f := &fs[len(g.Keys)+i]; firstOnly(a, f) || a.Func == plan.AnyValue || f.Desc.Form.Words() > 1 {
			return false
		}
	}
	return true
}

// partCells is the cells of a block, not in their places, and how many bytes a slot takes.
func (e *warp) partCells(g *plan.Group, gp *GroupPlan) (*blockGroups, int) {
	b, words, longs := e.blockCells(g, gp)
	if b == nil {
		return nil, 0
	}
	if b.seenBy == nil {
		words++
	}
	b.space, b.copies = ir.Dynamic, 1
	return b, int(4*words + 8*longs)
}

func (e *warp) mayPart(gp *GroupPlan, g *plan.Group, fs []layout.Field) bool {
	several := e.United != nil || e.Generic || e.Queue.Op > 0 || e.Queue.Pieces
	return e.Parted != nil && gp.Mode == phys.DenseGroups && slices.Equal(gp.Domains, e.Parted.Domains) && e.mayKeep() && !several && keepsNumbers(g, fs)
}

func (e *warp) partFits(g *plan.Group, gp *GroupPlan) bool {
	b, bytes := e.partCells(g, gp)
	return b != nil && int64(bytes)*gp.Part <= int64(e.BlockShared-reservedShared)
}

// mayPart: a thread takes rows as they come.
func (e *rowLoop) mayPart(*GroupPlan, *plan.Group, []layout.Field) bool { return false }
func (e *rowLoop) partFits(*plan.Group, *GroupPlan) bool                { return false }

// takeParts gives every block one part after the other, and its threads their rows.
func (e *warp) takeParts(body func(i ir.Reg)) {
	i, n, step := e.openRows(1)
	p := &partGroups{part: e.word("part"), base: e.word("base"), end: func() {}}
	e.parts = p
	at, parts, blocks := e.Int("at"), e.word("parts"), e.word("blocks")
	e.B.Special(p.part, ir.BlockID)
	e.B.Special(blocks, ir.GridDim)
	e.B.Op1(ir.Narrow, parts, e.Fact(e.Parted.Count))
	e.Loop(func(l int32) {
		e.B.Break(l, ir.UGE, p.part.V(), parts.V())
		starts := e.Int("starts")
		e.B.Load8(starts, ir.At(ir.Ctx, layout.CtxPlaces))
		e.B.Op1(ir.WidenU, at, p.part.V())
		e.B.Load8(i, ir.AtIndex(starts, at, 8, 0))
		e.B.Load8(n, ir.AtIndex(starts, at, 8, 8))
		e.B.Clear(starts)
		e.B.Special(at, ir.ThreadID)
		e.B.Op2(ir.Add, i, i.V(), at.V())
		e.B.Special(step, ir.BlockDim)
		e.B.Op2(ir.Shl, p.base, p.part.V(), ir.K(int64(e.Parted.Shift+2)))
		p.begin = e.here()
		e.warpLoop(while{c: ir.LT, x: i.V(), y: n.V()}, func() {
			e.setNumber(i)
			body(i)
		}, func() { e.B.Op2(ir.Add, i, i.V(), step.V()) })
		p.end()
		e.B.Op2(ir.Add, p.part, p.part.V(), blocks.V())
	})
	e.ofKernel = append(e.ofKernel, p.part, p.base, at, parts, blocks)
	e.closeRows(i, n, step)
}

// addToPart adds the row to its slot of the block's part.
func (e *warp) addToPart(g *plan.Group, gp *GroupPlan, keys []code.Value) {
	b, _ := e.partCells(g, gp)
	b.slots, b.how = gp.Part, phys.Block{Copies: 1, Slots: gp.Part}
	b.place()
	e.block, e.f.BlockBytes = b, b.bytes
	e.insert(e.kernel, func() {
		b.lane = e.word("copy")
		e.B.Mov(b.lane, ir.K(0))
	})
	e.ofKernel = append(e.ofKernel, b.lane)
	e.insert(e.parts.begin, func() {
		e.B.Comment("slots of the part")
		e.fillBlock(b)
	})
	b.at = e.blockOffset(b, keys)
	e.B.Op2(ir.Sub, b.at, b.at.V(), e.parts.base.V())
	e.aggregateInBlock(b, keys)
	e.parts.end = func() { e.writePart(b) }
}

// writePart writes a tuple for each slot of the part that has rows.
func (e *warp) writePart(b *blockGroups) {
	e.B.Comment("the groups of the part")
	e.B.Barrier()
	slot, step := e.word("slot"), e.word("step")
	e.B.Special(slot, ir.ThreadID)
	e.B.Special(step, ir.BlockDim)
	e.Loop(func(l int32) {
		has := e.Int("has")
		e.B.Set(has, ir.ULT, slot.V(), ir.K(b.slots))
		any := e.ballot("any", has.V())
		e.B.Break(l, ir.EQ, any.V(), ir.K(0))
		e.B.Clear(any)
		b.at = e.word("at")
		e.B.Op2(ir.Shl, b.at, slot.V(), ir.K(2))
		e.When(ir.NE, has.V(), ir.K(0), func() { // else there is no such cell
			used := e.usedSlot(b)
			e.B.Op1(ir.WidenU, has, used.V())
			e.B.Clear(used)
		}, nil)
		all := e.ballot("groups", has.V())
		e.When(ir.NE, all.V(), ir.K(0), func() {
			e.fill(has, e.position(all, b.gp.Tuple.Size), b.gp.Tuple.Size, func(out ir.Reg) { e.writeSlot(b, slot, out) })
		}, nil)
		e.B.Clear(all, b.at, has)
		e.B.Op2(ir.Add, slot, slot.V(), step.V())
	})
	e.B.Clear(slot, step)
	e.B.Barrier() // before the cells are the next part's
}

// writeSlot writes the group of a slot of the part to out.
func (e *warp) writeSlot(b *blockGroups, slot, out ir.Reg) {
	number := e.word("number")
	e.B.Op2(ir.Shr, number, e.parts.base.V(), ir.K(2))
	e.B.Op2(ir.Add, number, number.V(), slot.V())
	e.storeKeys(b.gp, number, out)
	e.B.Clear(number)
	for _, x := range b.order {
		var open []ir.Reg
		s := e.newShare(x.a, x.f, 0, false, func(name string, t ir.Type, _ int64) ir.Reg {
			r := e.B.Vreg(name, t)
			open = append(open, r)
			return r
		})
		e.readCells(b, x, s)
		e.storeField(out, x.f, s.v)
		e.B.Clear(open...)
	}
}
