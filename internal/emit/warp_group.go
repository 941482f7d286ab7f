package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// group adds the row to its group in the one table of all lanes. Under the guard it finds the group and evaluates what
// the row brings; then the lanes of a warp that met in one group add up among themselves, and one of them adds that
// to the group.
func (e *warp) group(r *groupRow) {
	if r.plan.Mode == phys.Ungrouped {
		e.reduceRows(r.g, r.plan)
	} else {
		e.addToGroup(r.g, r.plan, r.keys, r.hash)
	}
	if r.hash != ir.NoReg {
		e.B.Clear(r.hash)
	}
	e.Free(r.keys...)
}

func (e *warp) addToGroup(g *plan.Group, gp *GroupPlan, keys []code.Value, h ir.Reg) {
	if gp.Mode == phys.RunGroups {
		e.f.How.Home = phys.ChooseHome(e.Home, phys.Grouped{Apart: true})
		e.addToRun(g, gp, keys)
		return
	}
	if gp.Mode == phys.PartGroups {
		e.f.How.Home = phys.ChooseHome(e.Home, phys.Grouped{Apart: true})
		e.addToPart(g, gp, keys)
		return
	}
	cache := e.settleGroups(g, gp, keys)
	if cache != nil && !cache.cached || e.own != nil {
		return
	}
	if cache == nil && e.Resolve != phys.ResolveTuple && e.addUpFirst(g, gp, keys, h) {
		return
	}
	group := e.perRow("group", ir.I64, 0)
	switch gp.Mode {
	case phys.ArrayGroups:
		e.arrayGroup(group, gp, g, keys)
	case phys.DenseGroups:
		e.laneDenseGroup(group, e.spareTuples(gp), gp, g, keys)
	default:
		e.hashGroup(group, e.spareTuples(gp), gp, g, keys, h)
	}
	shares := e.rowShares(g, gp)
	if e.Resolve == phys.ResolveTuple {
		e.addToGroupAlone(group, shares)
		return
	}
	e.arrive(func() {
		e.resolve(group, shares, func() {
			for _, s := range shares {
				e.propagate(group, s)
			}
		})
		e.dropTexts()
	})
	if cache != nil {
		e.addToCache(cache, group, shares)
	}
}

// rowShares are what the row brings to the aggregates.
func (e *warp) rowShares(g *plan.Group, gp *GroupPlan) (out []*share) {
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(g.Keys)+i]
		if firstOnly(a, f) {
			continue
		}
		out = append(out, e.newShare(a, f, gp.Versions[i], e.Resolve != phys.ResolveSegments, e.perRow))
		e.aggregate(ir.NoReg, f, a)
	}
	return out
}

// addUpFirst adds the lanes of a group up before one of them looks for it, which is possible where one word tells groups apart, and better: lanes
// side by side often have rows of one group. It reports that it did so.
func (e *warp) addUpFirst(g *plan.Group, gp *GroupPlan, keys []code.Value, h ir.Reg) bool {
	word := gp.Packed || gp.Mode == phys.DenseGroups || len(keys) == 1 && keys[0].Desc.Form == layout.I64 && !gp.Tuple.Fields[0].Desc.Nullable
	if !word || gp.Mode == phys.ArrayGroups {
		return false
	}
	for i, a := range g.Aggs {
		if firstOnly(a, &gp.Tuple.Fields[len(g.Keys)+i]) {
			return false // what the first row of a group decides is not worked out for the others
		}
	}
	group := e.perRow("group", ir.I64, 0)
	id, hash := e.perRow("id", ir.I64, 0), ir.NoReg
	switch {
	case gp.Packed:
		e.B.Mov(id, h.V())
		hash = id
	case gp.Mode == phys.DenseGroups:
		e.arrayIndex(id, gp, keys)
	default:
		e.B.Mov(id, keys[0].A)
		hash = e.perRow("hash", ir.I64, 0)
		e.B.Mov(hash, h.V())
	}
	kept := make([]code.Value, len(keys))
	for i, v := range keys {
		kept[i] = e.keep(gp.Tuple.Fields[i].Name, v)
	}
	shares, spare := e.rowShares(g, gp), e.spareTuples(gp)
	e.arrive(func() {
		e.resolve(id, shares, func() {
			outer := e.skipTo
			once := e.B.Loop()
			e.skipTo = once
			e.Block(func() {
				if gp.Mode == phys.DenseGroups {
					e.laneDenseGroup(group, spare, gp, g, kept)
				} else {
					e.hashGroup(group, spare, gp, g, kept, hash)
				}
				for _, s := range shares {
					e.propagate(group, s)
				}
			})
			e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
			e.skipTo = outer
		})
		e.dropTexts()
	})
	return true
}

// arrayGroup finds the group's slot. The host has filled all slots with neutral elements;
// whoever comes first writes the keys, and if several do, they write the same.
func (e *warp) arrayGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value) {
	e.arrayIndex(p, gp, keys)
	e.arrayAt(p, gp)
	t := e.Int("made")
	e.B.Load(t, ir.At(p, gp.Tuple.Flag), 1, false)
	e.When(ir.EQ, t.V(), ir.K(0), func() {
		e.nameGroup(p, gp, g, keys)
		e.B.Store(ir.At(p, gp.Tuple.Flag), ir.K(1), 1)
	}, nil)
	e.B.Clear(t)
}

// arrayAt turns the number of a slot into its address.
func (e *warp) arrayAt(p ir.Reg, gp *GroupPlan) {
	t := e.Int("groups")
	e.B.Op2(ir.Mul, p, p.V(), ir.K(int64(gp.Tuple.Size)))
	e.B.Load8(t, ir.At(ir.Ctx, layout.CtxDir))
	e.B.Op2(ir.Add, p, p.V(), t.V())
	e.B.Clear(t)
}

// hashGroup finds the group in the directory or makes it. A new group's tuple is written
// completely before its entry is swapped in; who loses that race goes on with the winner's
// entry like with any other, so nobody waits.
func (e *warp) hashGroup(p, spare ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value, h ir.Reg) {
	dir, mask, slot, tag, ent := e.Int("dir"), e.Int("mask"), e.Int("slot"), e.Int("tag"), e.Int("entry")
	e.B.Op2(ir.Shr, tag, h.V(), ir.K(layout.TagShift))
	e.B.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
	e.B.Load8(mask, ir.At(ir.Ctx, layout.CtxMask))
	e.B.Op2(ir.And, slot, h.V(), mask.V())
	l := e.B.Loop()
	e.Block(func() {
		e.B.Load8(ent, ir.AtIndex(dir, slot, 8, 0))
		e.When(ir.EQ, ent.V(), ir.K(0), func() {
			e.unlessFull(spare, gp.Tuple.Size)
			if gp.Tuple.HasHash {
				e.B.Store(ir.At(spare, 0), h.V(), 8)
			}
			e.initGroup(spare, gp, g, keys)
			e.B.Fence()
			e.B.Op2(ir.Shl, p, tag.V(), ir.K(layout.TagShift))
			e.B.Op2(ir.Or, p, p.V(), spare.V())
			e.B.Atom(ir.AtomCAS, ent, ir.AtIndex(dir, slot, 8, 0), ir.K(0), p.V())
			e.When(ir.EQ, ent.V(), ir.K(0), func() {
				e.B.Mov(p, spare.V())
				e.B.Mov(spare, ir.K(0))
				e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
			}, nil)
		}, nil)
		e.B.Op2(ir.And, p, ent.V(), ir.K(layout.AddrMask))
		e.B.Op2(ir.Shr, ent, ent.V(), ir.K(layout.TagShift))
		e.B.Continue(l, ir.NE, ent.V(), tag.V())
		e.seeTexts(gp, len(keys))
		from := len(e.B.F.Code)
		e.sameGroup(l, p, gp, keys, h)
		e.relax(from, p)
		e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
	})
	e.B.Next(l)
	e.B.Op2(ir.Add, slot, slot.V(), ir.K(1))
	e.B.Op2(ir.And, slot, slot.V(), mask.V())
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.B.Clear(dir, mask, slot, tag, ent)
}

// sameGroup goes on in a loop unless the tuple at p has the keys.
func (e *warp) sameGroup(l int32, p ir.Reg, gp *GroupPlan, keys []code.Value, h ir.Reg) {
	if gp.Packed { // the hash tells
		v := e.Int("hash")
		e.B.Load8(v, ir.At(p, 0))
		e.B.Continue(l, ir.NE, v.V(), h.V())
		e.B.Clear(v)
		return
	}
	for i := range keys {
		f := &gp.Tuple.Fields[i]
		if f.Desc.Form.Words() == 1 && f.Desc.Form != layout.F64 && f.Null < 0 && keys[i].Never() {
			v := e.Int(f.Name)
			e.B.Load8(v, ir.At(p, f.Off))
			e.B.Continue(l, ir.NE, v.V(), keys[i].A)
			e.B.Clear(v)
			continue
		}
		same := e.sameField(p, f, keys[i], true)
		e.B.Continue(l, ir.EQ, same.V(), ir.K(0))
		e.B.Clear(same)
	}
}

// relax lets loads from the tuple at p, in code from an index on, pass by what the multiprocessor has in its own cache. The keys there are those
// that were written before the entry: its writer has seen to that, and a load by an address that another load has brought cannot come before it.
func (e *warp) relax(from int, p ir.Reg) {
	for i := from; i < len(e.B.F.Code); i++ {
		if in := &e.B.F.Code[i]; (in.Op == ir.Load || in.Op == ir.FLoad) && in.M.Base == p && in.Kind == ir.Plain {
			in.Kind = ir.Relaxed
		}
	}
}

// laneDenseGroup finds the group by the key's place in the directory or makes it. All tuples begin as groups without rows, so that a new one can be
// added to as soon as its entry is there; nobody reads its keys before the kernel ends.
func (e *warp) laneDenseGroup(p, spare ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value) {
	k, dir := e.Int("k"), e.Int("dir")
	e.arrayIndex(k, gp, keys)
	e.B.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
	e.B.Load8(p, ir.AtIndex(dir, k, 8, 0))
	e.When(ir.EQ, p.V(), ir.K(0), func() {
		e.unlessFull(spare, gp.Tuple.Size)
		e.B.Atom(ir.AtomCAS, p, ir.AtIndex(dir, k, 8, 0), ir.K(0), spare.V())
		e.When(ir.EQ, p.V(), ir.K(0), func() {
			e.B.Store(ir.At(spare, 0), k.V(), 8)
			e.nameGroup(spare, gp, g, keys)
			e.B.Mov(p, spare.V())
			e.B.Mov(spare, ir.K(0))
		}, nil)
	}, nil)
	e.B.Clear(k, dir)
}

// unlessFull drops the row if there was no room for the lane's tuple: all rows will come again.
func (e *warp) unlessFull(spare ir.Reg, size int) {
	fits := e.fits(spare, size)
	e.skip(ir.EQ, fits.V(), ir.K(0))
	e.B.Clear(fits)
}

// spareTuples gives every lane with a row an unused tuple before its guard, in case that the
// row makes a group. A lane keeps its tuple until it is used.
func (e *warp) spareTuples(gp *GroupPlan) ir.Reg {
	spare := e.perKernel("spare", ir.I64, 0)
	var own *room
	if n := e.room().Takes(gp.Expect); n > 0 {
		own = e.newRoom(gp.Tuple.Size, n)
	}
	e.guard.before = true
	e.insert(e.guard.row, func() {
		want := e.Int("want")
		e.B.Set(want, ir.EQ, spare.V(), ir.K(0))
		e.B.Op2(ir.And, want, want.V(), e.guard.has.V())
		all := e.ballot("wanting", want.V())
		e.When(ir.NE, all.V(), ir.K(0), func() {
			var out ir.Reg
			if own != nil {
				out = e.positionIn(own, all)
			} else {
				out = e.position(all, gp.Tuple.Size)
			}
			e.B.Sel(spare, ir.NE, want.V(), ir.K(0), out.V(), spare.V())
			e.B.Clear(out)
		}, nil)
		e.B.Clear(want, all)
	})
	return spare
}

// update takes a value into an aggregate: the block's, or the lane's share.
func (e *warp) update(_ ir.Reg, f *layout.Field, _ plan.AggFunc, v code.Value) {
	switch {
	case v.IsNull():
	case e.block != nil:
		e.addToCells(e.block, e.block.aggs[f], v)
	case e.own != nil:
		e.own.takeOwn(f, v)
	default:
		e.fold(e.shares[f], v)
	}
}

// merge: groups of a device are in one table, there is nothing to combine.
func (e *warp) merge(ir.Reg) { e.refuse("merging groups is not supported") }

// resolve adds up the shares of lanes that met in one group, which one word tells, and lets the first lane of each take over, whose shares then
// are the sums.
//
// All groups of the warp are added up at the same time: a lane takes the share of the next
// lane above it in its group, whereupon every second lane of the group is done; after at most
// five rounds the first lane of each group has the whole.
func (e *warp) resolve(group ir.Reg, shares []*share, take func()) {
	if e.f.How.Home.Home == phys.HomeGlobal && e.segments(shares) {
		e.resolveSegments(group, shares, take)
		return
	}
	e.B.Comment("lanes of one group add up")
	active := e.guard.active
	act := e.ballot("rows", active.V())
	e.When(ir.NE, act.V(), ir.K(0), func() {
		mates := e.Int("mates")
		e.B.Op1(ir.Match, mates, group.V())
		e.B.Sel(mates, ir.NE, active.V(), ir.K(0), mates.V(), ir.K(0)) // whose row was dropped may have a group in hand
		e.B.Op2(ir.And, mates, mates.V(), act.V())
		rank, first := e.Int("rank"), e.Int("first")
		e.B.Op2(ir.And, rank, mates.V(), e.below.V())
		e.B.Op1(ir.Popcnt, rank, rank.V())
		e.B.Set(first, ir.EQ, rank.V(), ir.K(0))
		e.B.Op2(ir.And, first, first.V(), active.V())
		e.settle(mates, shares, func(rest []*share) { e.addUp(mates, rank, rest) }, func() { e.When(ir.NE, first.V(), ir.K(0), take, nil) })
		e.B.Clear(rank, first)
		e.B.Clear(mates)
	}, nil)
	e.B.Clear(act)
}

// settle adds up the shares of sets of lanes: the first lane of each, whose mates are its set, has the sums for all that comes then. What cannot be told
// by counting lanes addUp adds up.
func (e *warp) settle(mates ir.Reg, shares []*share, addUp func(rest []*share), then func()) {
	var rest []*share
	for _, s := range shares {
		switch {
		case s.all:
			n := e.Int(s.f.Name)
			e.B.Op1(ir.Popcnt, n, mates.V())
			s.v.A = n.V()
		case s.one:
			e.B.Op1(ir.Ballot, s.v.A.R, s.v.A)
			e.B.Op2(ir.And, s.v.A.R, s.v.A, mates.V())
			e.B.Op1(ir.Popcnt, s.v.A.R, s.v.A)
		case s.fn == plan.AnyValue:
			e.chosen(s, mates.V())
			continue
		default:
			rest = append(rest, s)
			if s.wide() {
				continue
			}
		}
		if !s.v.Null.IsImm() {
			e.anyOf(s, mates.V())
		}
	}
	if len(rest) > 0 {
		addUp(rest)
	}
	then()
	for _, s := range shares {
		if s.all {
			e.B.Clear(s.v.A.R)
		}
	}
}

// addUp folds the shares of each set of lanes into its first lane. mates is the lane's set,
// rank its place in it; both are used up.
func (e *warp) addUp(mates, rank ir.Reg, shares []*share) {
	// Only lanes above are of interest.
	t := e.Int("upto")
	e.B.Op2(ir.Shl, t, ir.K(2), e.lane.V())
	e.B.Op2(ir.Sub, t, t.V(), ir.K(1))
	e.B.Op1(ir.Not, t, t.V())
	e.B.Op2(ir.And, mates, mates.V(), t.V())
	e.B.Clear(t)
	e.Loop(func(l int32) {
		any := e.ballot("left", mates.V())
		e.B.Break(l, ir.EQ, any.V(), ir.K(0))
		next, alone := e.Int("next"), e.Int("alone")
		e.B.Set(alone, ir.EQ, mates.V(), ir.K(0))
		e.B.Op1(ir.Ctz, next, mates.V())
		e.B.Sel(next, ir.NE, alone.V(), ir.K(0), e.lane.V(), next.V())
		for _, s := range shares {
			other := e.shuffled(s, ir.Shfl, next.V())
			if s.wide() {
				e.B.Op2(ir.Or, other.Null.R, other.Null, alone.V())
				e.foldWide(s, other)
				e.Free(other)
				continue
			}
			e.foldUnless(s, other, alone.V())
		}
		// Lanes at odd places have been taken.
		e.B.Op2(ir.And, next, rank.V(), ir.K(1))
		taken := e.ballot("taken", next.V())
		e.B.Op1(ir.Not, taken, taken.V())
		e.B.Op2(ir.And, mates, mates.V(), taken.V())
		e.B.Sel(mates, ir.NE, next.V(), ir.K(0), ir.K(0), mates.V())
		e.B.Op2(ir.Shr, rank, rank.V(), ir.K(1))
		e.B.Clear(any, next, alone, taken)
	})
}
