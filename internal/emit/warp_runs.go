package emit

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Where a table's rows come in the order of the key, a group is a run of rows, and no table is needed to find it. Each warp takes a range of rows,
// 32 at a time. Lanes of one run add up among themselves; what the last run has stays in registers until a row with another key comes, and then it is
// a tuple. The first run of a warp may have begun in the range before, and its last may go on in the next: these two are groups of a
// hash table, as any other.

// runs is the run that a warp is at. Its registers are the same in all lanes.
type runs struct {
	g      *plan.Group
	gp     *GroupPlan
	begun  ir.Reg // 1: there is one
	open   ir.Reg // 1: it may have begun before the warp's first row
	key    ir.Reg
	shares []*share // what it has so far
	own    *room    // for tuples; nil: they are taken as they are written
}

// inRuns: see frame.
func (e *warp) inRuns(g *plan.Group, fs []layout.Field) bool {
	several := e.United != nil || e.Generic || e.guard.inner || e.Queue.Op > 0 || e.Queue.Pieces
	if e.Off.SortedRuns || e.Resolve != phys.ResolveAuto || e.table == nil || !e.Arrays || !e.Whole || several {
		return false
	}
	if e.f.How.Front.Rows > 0 || e.Refill == phys.RefillFlush { // rows do not come in their order
		return false
	}
	if slices.ContainsFunc(e.Pipeline.Ops, func(op pipe.Op) bool { _, ok := op.(*pipe.Repeat); return ok }) {
		return false
	}
	for i, a := range g.Aggs {
		f := &fs[len(g.Keys)+i]
		mayBeLong := f.Desc.Form == layout.I128 && !f.Desc.Range.Within(layout.TypeRange(f.Desc.Type)) // who checks that wants a list of groups
		if firstOnly(a, f) || a.Func == plan.AnyValue || a.Func != plan.Sum && f.Desc.Form.Words() > 1 || mayBeLong {
			return false
		}
	}
	ref, ok := unwidened(g.Keys[0]).(*plan.Ref)
	if !ok {
		return false
	}
	k := slices.Index(e.table.Scan.Cols, ref.ID)
	return k >= 0 && e.table.Sorted(k) && !e.table.Shapes[k].Nulls && e.table.Desc(k).Form == layout.I64
}

// inRuns: a thread takes rows as they come.
func (e *rowLoop) inRuns(*plan.Group, []layout.Field) bool { return false }

// addToRun adds the row to the run that it belongs to.
func (e *warp) addToRun(g *plan.Group, gp *GroupPlan, keys []code.Value) {
	e.ranges = true
	r := &runs{g: g, gp: gp, begun: e.perKernel("begun", ir.I64, 0), open: e.perKernel("open", ir.I64, 1), key: e.perKernel("run", ir.I64, 0)}
	for i, a := range g.Aggs {
		r.shares = append(r.shares, e.newShare(a, &gp.Tuple.Fields[len(keys)+i], 0, false, e.perKernel))
	}
	if n := e.room().Takes(gp.Expect); n > 0 {
		r.own = e.newRoom(gp.Tuple.Size, n)
	}
	key := e.perRow(gp.Tuple.Fields[0].Name, ir.I64, 0)
	e.B.Mov(key, keys[0].A)
	shares := e.rowShares(g, gp)
	e.arrive(func() { e.addRuns(r, key, shares) })
	e.finally = func() {
		e.B.Comment("the last run of the warp")
		e.When(ir.NE, r.begun.V(), ir.K(0), func() {
			e.When(ir.EQ, e.lane.V(), ir.K(0), func() { e.shareRun(r, r.key, r.shares) }, nil)
		}, nil)
		if r.own != nil {
			e.noteGap(r.own)
		}
	}
}

// addRuns adds up the lanes of each run, and ends those behind which another key came.
func (e *warp) addRuns(r *runs, key ir.Reg, shares []*share) {
	e.B.Comment("lanes of one run add up")
	active := e.guard.active
	act := e.ballot("rows", active.V())
	e.When(ir.NE, act.V(), ir.K(0), func() {
		first := e.Int("first")
		e.B.Op1(ir.Ctz, first, act.V())
		e.When(ir.EQ, r.begun.V(), ir.K(0), func() {
			e.B.Op2(ir.Shfl, r.key, key.V(), first.V())
			e.B.Mov(r.begun, ir.K(1))
		}, nil)
		// A lane begins a run if the row before it has another key.
		before, other, head := e.Int("before"), e.Int("other"), e.Int("head")
		e.B.Op2(ir.And, before, act.V(), e.below.V())
		e.highest(other, before)
		e.B.Op2(ir.Shfl, other, key.V(), other.V())
		e.B.Sel(other, ir.EQ, before.V(), ir.K(0), r.key.V(), other.V())
		e.B.Set(head, ir.NE, key.V(), other.V())
		e.B.Op2(ir.And, head, head.V(), active.V())
		heads := e.ballot("heads", head.V())
		e.B.Clear(before, other)
		mates, next := e.runMates(heads, act)
		e.settle(mates, shares, func(rest []*share) { e.addUpRuns(next, rest) }, func() {
			t := e.Int("t")
			e.B.Op2(ir.Shr, t, heads.V(), first.V())
			e.B.Op2(ir.And, t, t.V(), ir.K(1))
			e.When(ir.EQ, t.V(), ir.K(0), func() { // the first lanes go on with the run at hand
				for i, s := range shares {
					w := e.ofLane(s, first.V())
					e.foldWords(r.shares[i], w)
					if !w.Null.IsImm() {
						e.B.Op2(ir.And, r.shares[i].v.Null.R, r.shares[i].v.Null, w.Null)
					}
					e.Free(w)
				}
			}, nil)
			e.B.Clear(t)
			e.When(ir.NE, heads.V(), ir.K(0), func() { e.endRuns(r, key, head, heads, shares) }, nil)
		})
		e.B.Clear(mates, next, head, heads, first)
	}, nil)
	e.B.Clear(act)
}

// highest sets d to the number of the highest bit of a mask; 0 if there is none.
func (e *warp) highest(d, mask ir.Reg) {
	e.B.Op2(ir.Or, d, mask.V(), ir.K(1))
	e.B.Op1(ir.Clz, d, d.V())
	e.B.Op2(ir.Sub, d, ir.K(63), d.V())
}

// runMates opens registers with the mask of lanes that go on with the lane's run, from itself on, and with the number of the first lane behind them.
func (e *warp) runMates(heads, act ir.Reg) (mates, next ir.Reg) {
	above, at, t := e.word("above"), e.word("next"), e.word("t")
	next = e.Int("next")
	e.B.Op1(ir.Narrow, above, heads.V())
	e.B.Op1(ir.Narrow, at, e.below.V())
	e.B.Op1(ir.Narrow, t, act.V())
	e.B.Op1(ir.Not, at, at.V())
	e.B.Op2(ir.And, t, t.V(), at.V()) // rows from the lane on
	e.B.Op2(ir.Shl, at, at.V(), ir.K(1))
	e.B.Op2(ir.And, above, above.V(), at.V())
	e.B.Op2(ir.Sub, at, above.V(), ir.K(1))
	e.B.Op2(ir.And, t, t.V(), at.V())
	e.B.Op1(ir.Not, at, above.V())
	e.B.Op2(ir.And, t, t.V(), at.V()) // before the first that begins another run
	e.B.Op1(ir.Ctz, at, above.V())
	e.B.Op1(ir.WidenU, next, at.V())
	mates = e.Int("mates")
	e.B.Op1(ir.WidenU, mates, t.V())
	e.B.Clear(above, at, t)
	return mates, next
}

// addUpRuns gives every lane what its run has from there on; next is the first lane behind the run. A lane takes the share of that which lies one
// further up, then two, four and so on, as long as a run is longer. Lanes without a row have nothing, and hand on what others have.
func (e *warp) addUpRuns(next ir.Reg, shares []*share) {
	by, from, none := e.Int("by"), e.Int("from"), e.Int("none")
	e.B.Mov(by, ir.K(1))
	e.Loop(func(l int32) {
		e.B.Op2(ir.Add, from, e.lane.V(), by.V())
		e.B.Set(none, ir.LT, from.V(), next.V())
		any := e.ballot("any", none.V())
		e.B.Break(l, ir.EQ, any.V(), ir.K(0))
		e.B.Op2(ir.Xor, none, none.V(), ir.K(1))
		e.B.Sel(from, ir.NE, none.V(), ir.K(0), e.lane.V(), from.V())
		for _, s := range shares {
			e.foldUnless(s, e.shuffled(s, ir.Shfl, from.V()), none.V())
		}
		e.B.Op2(ir.Shl, by, by.V(), ir.K(1))
		e.B.Clear(any)
	})
	e.B.Clear(by, from, none)
}

// ofLane opens registers with the share of a lane.
func (e *warp) ofLane(s *share, lane ir.Val) code.Value {
	w := e.shuffled(s, ir.Shfl, lane)
	if !s.v.Null.IsImm() {
		null := e.Int("none")
		e.B.Op2(ir.Shfl, null, s.v.Null, lane)
		w.Null, w.OwnNull = null.V(), true
	}
	return w
}

// endRuns writes the run at hand and all that begin here, but for the last, which is then at hand: the lane that has it writes the one before.
func (e *warp) endRuns(r *runs, key, head, heads ir.Reg, shares []*share) {
	last, isLast, k, own := e.Int("last"), e.Int("islast"), e.Int("k"), e.Int("own")
	e.highest(last, heads)
	e.B.Set(isLast, ir.EQ, e.lane.V(), last.V())
	for i, s := range shares {
		w := e.ofLane(s, last.V())
		e.handOver(isLast, s, r.shares[i], w)
		e.Free(w)
	}
	e.B.Sel(k, ir.NE, isLast.V(), ir.K(0), r.key.V(), key.V())
	e.B.Op2(ir.Shfl, r.key, key.V(), last.V())
	e.B.Op2(ir.And, own, isLast.V(), r.open.V()) // others may have rows of that
	e.When(ir.NE, r.open.V(), ir.K(0), func() {
		e.When(ir.NE, own.V(), ir.K(0), func() { e.shareRun(r, k, shares) }, nil)
		e.B.Mov(r.open, ir.K(0))
	}, nil)
	e.B.Op2(ir.Xor, own, own.V(), ir.K(1))
	e.B.Op2(ir.And, own, own.V(), head.V())
	all := e.ballot("writers", own.V())
	e.When(ir.NE, all.V(), ir.K(0), func() {
		t := r.gp.Tuple
		var out ir.Reg
		if r.own != nil {
			out = e.positionIn(r.own, all)
		} else {
			out = e.position(all, t.Size)
		}
		e.When(ir.NE, own.V(), ir.K(0), func() {
			fits := e.fits(out, t.Size)
			e.When(ir.NE, fits.V(), ir.K(0), func() {
				e.storeField(out, &t.Fields[0], r.keyOf(k))
				for _, s := range shares {
					e.storeField(out, s.f, s.v.Borrowed())
				}
			}, nil)
			e.B.Clear(fits)
		}, nil)
		e.B.Clear(out)
	}, nil)
	e.B.Clear(last, isLast, k, own, all)
}

// keyOf is a register as the key of a group.
func (r *runs) keyOf(k ir.Reg) code.Value {
	return code.Value{Desc: r.gp.Tuple.Fields[0].Desc, A: k.V(), Null: ir.K(0)}
}

// handOver gives a lane's share the run at hand where that is the last, and the run at hand what w has.
func (e *warp) handOver(isLast ir.Reg, s, at *share, w code.Value) {
	swap := func(s, at, w ir.Val) {
		e.B.Sel(s.R, ir.NE, isLast.V(), ir.K(0), at, s)
		e.B.Mov(at.R, w)
	}
	if s.v.Desc.Form == layout.F64 {
		e.B.FSel(s.v.A.R, ir.NE, isLast.V(), ir.K(0), at.v.A.R, s.v.A.R)
		e.B.FMov(at.v.A.R, w.A.R)
	} else {
		swap(s.v.A, at.v.A, w.A)
	}
	if s.v.Two() {
		swap(s.v.B, at.v.B, w.B)
	}
	if !s.v.Null.IsImm() {
		swap(s.v.Null, at.v.Null, w.Null)
	}
}

// shareRun lets the lane add a run to its group in the table of those that warps share.
func (e *warp) shareRun(r *runs, k ir.Reg, shares []*share) {
	size := r.gp.Tuple.Size
	spare, group := e.Int("spare"), e.Int("group")
	e.B.Atom(ir.AtomAdd, spare, ir.At(ir.Ctx, layout.CtxCur), ir.K(int64(size)), ir.Val{})
	outer := e.skipTo
	once := e.B.Loop()
	e.skipTo = once
	e.Block(func() {
		keys := []code.Value{r.keyOf(k)}
		h := e.Hash(keys)
		e.hashGroup(group, spare, r.gp, r.g, keys, h)
		for _, s := range shares {
			e.propagate(group, s)
		}
		e.B.Clear(h)
	})
	e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	e.skipTo = outer
	e.When(ir.NE, spare.V(), ir.K(0), func() {
		e.B.Lea(group, ir.At(spare, size))
		e.noteUnused(spare, group)
	}, nil)
	e.B.Clear(spare, group)
}

// takeRanges gives each warp a range of rows, of which its lanes take those side by side: row is the number of a lane's first, so far by its place
// among all lanes, end that behind the last, step what lies between the rows of a lane, so far the number of lanes.
func (e *warp) takeRanges(row, end, step ir.Reg) {
	e.insert(e.kernel, func() {
		e.B.Comment("each warp has a range of rows")
		lo, per := e.Int("lo"), e.Int("per")
		e.B.Load8(lo, ir.At(ir.Ctx, layout.CtxLo))
		e.B.Op2(ir.Sub, per, end.V(), lo.V())
		e.B.Op2(ir.Add, per, per.V(), step.V())
		e.B.Op2(ir.Sub, per, per.V(), ir.K(1))
		e.B.Op2(ir.Div, per, per.V(), step.V())
		e.B.Op2(ir.Shl, per, per.V(), ir.K(5))
		e.B.Op2(ir.Sub, row, row.V(), lo.V())
		e.B.Op2(ir.Shr, row, row.V(), ir.K(5))
		e.B.Op2(ir.Mul, row, row.V(), per.V())
		e.B.Op2(ir.Add, row, row.V(), lo.V())
		e.B.Op2(ir.Add, per, per.V(), row.V())
		e.B.Sel(end, ir.LT, per.V(), end.V(), per.V(), end.V())
		e.B.Op2(ir.Add, row, row.V(), e.lane.V())
		e.B.Mov(step, ir.K(32))
		e.B.Clear(lo, per)
	})
}
