package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// group adds the row to its group in the table of this thread.
func (e *rowLoop) group(r *groupRow) {
	p := e.findGroup(r.plan, r.g, r.keys, r.hash)
	if r.hash != ir.NoReg {
		e.B.Clear(r.hash)
	}
	if r.mark != ir.NoReg {
		if r.made >= 0 {
			e.dropUnless(r.mark, p, &r.plan.Tuple.Fields[r.made], r.keys[r.made])
		}
		e.B.Clear(r.mark)
	}
	e.Free(r.keys...)
	spreads, done := spreadsOf(r.g)
	for _, s := range spreads {
		e.Detail("aggregate", func(n plan.Names) string { return n.Agg(r.g.Aggs[s.products[0].agg]) })
		e.addToSpread(p, r.plan.Tuple.Fields[len(r.g.Keys):], s)
	}
	for i, a := range r.g.Aggs {
		if done[i] {
			continue
		}
		f := &r.plan.Tuple.Fields[len(r.g.Keys)+i]
		e.Detail("aggregate", func(n plan.Names) string { return n.Agg(a) })
		e.aggregate(p, f, a)
	}
	e.B.Clear(p)
}

// merge combines the partial group at src into the group with the same keys. Its tuple may be laid out otherwise, if another
// processor has made it.
func (e *rowLoop) merge(src ir.Reg) {
	s := e.Pipeline.Sink.(*pipe.Aggregate)
	g, gp, from := s.Group, e.f.Group, e.Tuple
	e.f.Sink = gp.Tuple
	e.B.Comment("merge groups into " + gp.Mode.String())
	keys := make([]code.Value, len(g.Keys))
	for i := range keys {
		keys[i] = e.Reform(e.loadField(src, &from.Fields[i], ir.K(0)), gp.Tuple.Fields[i].Desc.Form)
	}
	var h ir.Reg
	switch {
	case gp.Mode != phys.HashGroups: // dense directories find the place again
	case from == gp.Tuple:
		h = e.Int("hash")
		e.B.Load8(h, ir.At(src, 0))
	default:
		h = e.groupHash(gp, keys)
	}
	e.first = func(i int) code.Value { return e.loadField(src, &from.Fields[len(g.Keys)+i], ir.K(0)) }
	p := e.findGroup(gp, g, keys, h)
	if gp.Mode == phys.HashGroups {
		e.B.Clear(h)
	}
	e.Free(keys...)
	spreads, done := spreadsOf(g)
	for _, s := range spreads {
		e.joinSpreads(p, src, gp.Tuple.Fields[len(g.Keys):], from.Fields[len(g.Keys):], s)
	}
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(g.Keys)+i]
		if firstOnly(a, f) || done[i] {
			continue
		}
		v := e.Reform(e.loadField(src, &from.Fields[len(g.Keys)+i], ir.K(0)), f.Desc.Form)
		fn := a.Func
		if fn == plan.Count || fn == plan.CountStar {
			fn = plan.Sum
		}
		e.update(p, f, fn, v)
		e.Free(v)
	}
	e.B.Clear(p)
}

// findGroup opens a register with the address of the group's tuple, making it if it is new.
func (e *rowLoop) findGroup(gp *GroupPlan, g *plan.Group, keys []code.Value, h ir.Reg) ir.Reg {
	p := e.Int("group")
	switch gp.Mode {
	case phys.Ungrouped:
		e.B.Load8(p, ir.At(ir.Ctx, layout.CtxState))
		return p
	case phys.ArrayGroups:
		e.arrayIndex(p, gp, keys)
		e.B.Op2(ir.Mul, p, p.V(), ir.K(int64(gp.Tuple.Size)))
		base := e.Int("groups")
		e.B.Load8(base, ir.At(ir.Ctx, layout.CtxDir))
		e.B.Op2(ir.Add, p, p.V(), base.V())
		e.B.Load(base, ir.At(p, gp.Tuple.Flag), 1, false)
		e.When(ir.EQ, base.V(), ir.K(0), func() {
			e.initGroup(p, gp, g, keys)
			e.B.Store(ir.At(p, gp.Tuple.Flag), ir.K(1), 1)
		}, nil)
		e.B.Clear(base)
		return p
	case phys.DenseGroups:
		e.denseGroup(p, gp, g, keys)
		return p
	}
	dir, mask, slot, tag, ent := e.Int("dir"), e.Int("mask"), e.Int("slot"), e.Int("tag"), e.Int("entry")
	e.B.Op2(ir.Shr, tag, h.V(), ir.K(layout.TagShift))
	e.B.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
	e.B.Load8(mask, ir.At(ir.Ctx, layout.CtxMask))
	e.B.Op2(ir.And, slot, h.V(), mask.V())
	l := e.B.Loop()
	e.Block(func() {
		e.B.Load8(ent, ir.AtIndex(dir, slot, 8, 0))
		e.When(ir.EQ, ent.V(), ir.K(0), func() {
			e.insertGroup(p, gp, g, keys, h, dir, mask, slot, tag)
			e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.B.Op2(ir.And, p, ent.V(), ir.K(layout.AddrMask))
		e.B.Op2(ir.Shr, ent, ent.V(), ir.K(layout.TagShift))
		e.B.Continue(l, ir.NE, ent.V(), tag.V())
		if gp.Packed { // the same hash, the same keys
			e.B.Load8(ent, ir.At(p, 0))
			e.B.Continue(l, ir.NE, ent.V(), h.V())
			e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
			return
		}
		for i := range keys {
			f := &gp.Tuple.Fields[i]
			if f.Desc.Form == layout.I64 || f.Desc.Form == layout.Code {
				v := e.Int(f.Name)
				e.B.Load8(v, ir.At(p, f.Off))
				if f.Null < 0 && keys[i].Never() {
					e.B.Continue(l, ir.NE, v.V(), keys[i].A)
					e.B.Clear(v)
					continue
				}
				e.B.Clear(v)
			}
			same := e.sameField(p, f, keys[i], true)
			e.B.Continue(l, ir.EQ, same.V(), ir.K(0))
			e.B.Clear(same)
		}
		e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
	})
	e.B.Next(l)
	e.B.Op2(ir.Add, slot, slot.V(), ir.K(1))
	e.B.Op2(ir.And, slot, slot.V(), mask.V())
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.B.Clear(dir, mask, slot, tag, ent)
	return p
}

// denseGroup finds the group by the keys' place in the directory,
// which also stands at the head of the tuple, where the executor finds it when it merges.
func (e *rowLoop) denseGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value) {
	k, dir := e.Int("k"), e.Int("dir")
	e.arrayIndex(k, gp, keys)
	e.B.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
	e.B.Load8(p, ir.AtIndex(dir, k, 8, 0))
	e.When(ir.EQ, p.V(), ir.K(0), func() {
		t := e.newTuple(gp.Tuple.Size)
		e.B.Mov(p, t.V())
		e.B.Clear(t)
		e.B.Store(ir.At(p, 0), k.V(), 8)
		e.initGroup(p, gp, g, keys)
		e.B.Store(ir.AtIndex(dir, k, 8, 0), p.V(), 8)
	}, nil)
	e.B.Clear(k, dir)
}

// insertGroup makes a tuple for a new group and enters it at the free slot. When the
// executor had to grow the directory first, the slot is looked for again.
func (e *rowLoop) insertGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value, h, dir, mask, slot, tag ir.Reg) {
	room, end, part, full := e.Int("room"), e.Int("outend"), e.Int("part"), e.Int("full")
	cursor := func() { // of the part that the hash belongs to
		e.B.Load8(end, ir.At(ir.Ctx, layout.CtxPartMask))
		e.B.Op2(ir.Shr, part, h.V(), ir.K(layout.PartShift-4))
		e.B.Op2(ir.And, part, part.V(), end.V())
		e.B.Load8(end, ir.At(ir.Ctx, layout.CtxParts))
		e.B.Op2(ir.Add, part, part.V(), end.V())
		e.B.Load8(room, ir.At(ir.Ctx, layout.CtxRoom))
		e.B.Load8(p, ir.At(part, 0))
	}
	cursor()
	e.B.Load8(end, ir.At(part, 8))
	e.B.Set(full, ir.EQ, room.V(), ir.K(0))
	e.B.Set(end, ir.UGE, p.V(), end.V())
	e.B.Op2(ir.Or, full, full.V(), end.V())
	e.When(ir.NE, full.V(), ir.K(0), func() {
		e.B.Yield(layout.YieldGrow)
		cursor()
		e.B.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
		e.B.Load8(mask, ir.At(ir.Ctx, layout.CtxMask))
		e.B.Op2(ir.And, slot, h.V(), mask.V())
		l := e.B.Loop()
		e.B.Load8(end, ir.AtIndex(dir, slot, 8, 0))
		e.B.Break(l, ir.EQ, end.V(), ir.K(0))
		e.B.Op2(ir.Add, slot, slot.V(), ir.K(1))
		e.B.Op2(ir.And, slot, slot.V(), mask.V())
		e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	}, nil)
	e.B.Op2(ir.Sub, room, room.V(), ir.K(1))
	e.B.Store(ir.At(ir.Ctx, layout.CtxRoom), room.V(), 8)
	e.B.Lea(end, ir.At(p, gp.Tuple.Size))
	e.B.Store(ir.At(part, 0), end.V(), 8)
	e.B.Clear(end, part, full)
	e.B.Store(ir.At(p, 0), h.V(), 8)
	e.initGroup(p, gp, g, keys)
	e.B.Op2(ir.Shl, room, tag.V(), ir.K(layout.TagShift))
	e.B.Op2(ir.Or, room, room.V(), p.V())
	e.B.Store(ir.AtIndex(dir, slot, 8, 0), room.V(), 8)
	e.B.Clear(room)
}
