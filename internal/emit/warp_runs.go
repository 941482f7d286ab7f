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

// Where a table's rows come in the order of the key, a group is a run of rows, and no table is needed to find it. Each warp takes a range of rows, and its lanes
// some rows side by side each (takeRuns), which are added up (addRuns) in three steps:
//
//	each lane adds up its rows, beginning anew where the key changes
//	lanes hand on what the last run has in each, as far as it goes
//	where the key changes, the run before it is a tuple: its key, and what was added up
//
// What the last run of the warp has stays in registers until a row with another key comes. The first run of a warp may have begun in the range before, and its last may go
// on in the next: these two are groups of a hash table, as any other.

// runs is the run that a warp is at. Its registers are the same in all lanes.
type runs struct {
	g      *plan.Group
	gp     *GroupPlan
	begun  ir.Reg // 1: there is one
	open   ir.Reg // 1: it may have begun before the warp's first row
	key    ir.Reg
	shares []*share // what it has so far
	own    *room    // for tuples; nil: they are taken as they are written
	row    runRow   // for which code was written
}

// runRow is a row of a lane. If the lane has none there, or has dropped it, its shares are neutral.
type runRow struct {
	active ir.Reg // 1: there is one
	key    ir.Reg
	shares []*share
}

// again is the row for which the code was written again.
func (x runRow) again(a *ir.Again) runRow {
	out := runRow{active: a.Reg(x.active), key: a.Reg(x.key)}
	for _, s := range x.shares {
		c := *s
		for _, v := range []*ir.Val{&c.v.A, &c.v.B, &c.v.Null} {
			if !v.IsImm() {
				v.R = a.Reg(v.R)
			}
		}
		out.shares = append(out.shares, &c)
	}
	return out
}

// words is how many registers hold a row.
func (x runRow) words() (n int) {
	for _, s := range x.shares {
		n += s.f.Desc.Form.Words()
		if s.f.Null >= 0 {
			n++
		}
	}
	return n + 1
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

// addToRun adds the row to the run that it belongs to: takeRuns will, once it is known how many rows a lane has.
func (e *warp) addToRun(g *plan.Group, gp *GroupPlan, keys []code.Value) {
	r := &runs{g: g, gp: gp, begun: e.perKernel("begun", ir.I64, 0), open: e.perKernel("open", ir.I64, 1), key: e.perKernel("run", ir.I64, 0)}
	e.runs = r
	if n := e.room().Takes(gp.Expect); n > 0 {
		r.own = e.newRoom(gp.Tuple.Size, n)
	}
	r.row.key = e.perRow(gp.Tuple.Fields[0].Name, ir.I64, 0)
	e.B.Mov(r.row.key, keys[0].A)
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(keys)+i]
		r.shares = append(r.shares, e.newShare(a, f, 0, false, e.perKernel))
		r.row.shares = append(r.row.shares, e.newShare(a, f, 0, false, e.perRow))
		e.aggregate(ir.NoReg, f, a)
	}
	e.arrive(func() {})
	r.row.active = e.guard.active
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

// takeRuns gives each warp a range of rows, and lets its lanes take some side by side at a time, if several says so and that pays: the code for a row is written again for each. row,
// end and step are as for takeSeveral.
func (e *warp) takeRuns(c rowCode, row, end, step ir.Reg, several bool) {
	e.placeInsertions()
	f := e.B.F
	from, gate := c.head.at+5, c.gate.at
	body, give := copied(f.Code[from:c.alone.at])
	defer give()
	tail, give := copied(f.Code[c.end.at:])
	defer give()
	var facts phys.RowCode
	l := laneRows{warp: e, how: phys.LaneRows{Rows: 1, Side: 1}, row: row, vecs: map[rowLoad]ir.Reg{}}
	loads := e.rowLoads(body, row, &facts)
	f.Code = f.Code[:from]
	if n := phys.ChooseRunRows(facts, e.runs.row.words()); several && n.Rows > 0 {
		e.f.How.LaneRows = n
		l.how, l.loads = n, loads
		l.countLeft(end)
		l.read()
		l.open = append(l.open, l.left)
	}
	var rows []runRow
	var ofRows []ir.Reg
	for j := range l.how.Rows {
		again := l.write(body, j, gate-from, c.label)
		rows = append(rows, e.runs.row.again(again))
		for _, r := range c.ofRow {
			ofRows = append(ofRows, again.Reg(r))
		}
	}
	e.B.Clear(l.open...)
	e.addRuns(e.runs, rows)
	e.B.Clear(ofRows...)
	f.Code = append(f.Code, tail...)
	e.takeRanges(row, end, step, int64(l.how.Rows))
}

// addRuns adds up the rows of each run, and ends those behind which another key came.
func (e *warp) addRuns(r *runs, rows []runRow) {
	e.B.Comment("rows of one run are added up")
	some, key := e.Int("some"), e.Int("last") // whether the lane has rows, and the key of its last
	e.B.Mov(some, rows[0].active.V())
	e.B.Mov(key, rows[0].key.V())
	for _, x := range rows[1:] {
		e.B.Op2(ir.Or, some, some.V(), x.active.V())
		e.B.Sel(key, ir.NE, x.active.V(), ir.K(0), x.key.V(), key.V())
	}
	act := e.ballot("rows", some.V())
	e.When(ir.NE, act.V(), ir.K(0), func() {
		e.beginRun(r, rows, act)
		before, came := e.Int("before"), e.Int("came") // the key before the lane's first row
		e.B.Op2(ir.And, before, act.V(), e.below.V())
		e.highest(came, before)
		e.B.Op2(ir.Shfl, came, key.V(), came.V())
		e.B.Sel(came, ir.EQ, before.V(), ir.K(0), r.key.V(), came.V())
		e.B.Clear(before)
		heads := e.addUpLane(rows, came)
		begins := e.Int("begins")
		e.B.Mov(begins, heads[0].V())
		for _, h := range heads[1:] {
			e.B.Op2(ir.Or, begins, begins.V(), h.V())
		}
		starts := e.ballot("starts", begins.V())
		ends := rows[len(rows)-1].shares // what the last run of each lane has
		none := e.Int("none")
		e.B.Set(none, ir.NE, e.lane.V(), ir.K(0))
		e.B.Op2(ir.Or, none, none.V(), begins.V())
		for i, s := range ends {
			e.foldRun(s, r.shares[i].v, none.V())
		}
		e.B.Clear(none)
		e.handOn(starts, ends)
		carried := e.carried(r, ends)
		last := e.Int("last")
		e.highest(last, act)
		e.B.Op2(ir.Shfl, r.key, key.V(), last.V())
		e.B.Clear(last)
		for i, s := range ends {
			w := e.ofLane(s, ir.K(layout.WarpLanes-1))
			e.setShare(r.shares[i], w)
			e.Free(w)
		}
		e.When(ir.NE, starts.V(), ir.K(0), func() { e.endRuns(r, rows, heads, begins, starts, came, carried) }, nil)
		for _, s := range carried {
			e.Free(s.v)
		}
		e.B.Clear(heads...)
		e.B.Clear(came, begins, starts)
	}, nil)
	e.B.Clear(some, key, act)
}

// beginRun lets the warp's first row begin a run.
func (e *warp) beginRun(r *runs, rows []runRow, act ir.Reg) {
	e.When(ir.EQ, r.begun.V(), ir.K(0), func() {
		key, first := e.Int("first"), e.Int("lane")
		e.B.Mov(key, rows[len(rows)-1].key.V())
		for _, x := range slices.Backward(rows[:len(rows)-1]) {
			e.B.Sel(key, ir.NE, x.active.V(), ir.K(0), x.key.V(), key.V())
		}
		e.B.Op1(ir.Ctz, first, act.V())
		e.B.Op2(ir.Shfl, r.key, key.V(), first.V())
		e.B.Mov(r.begun, ir.K(1))
		e.B.Clear(key, first)
	}, nil)
}

// addUpLane gives each of the lane's rows what its run has up to there in this lane, and opens registers telling which rows begin one. A row that is not there gets the key of the
// row before.
func (e *warp) addUpLane(rows []runRow, came ir.Reg) (heads []ir.Reg) {
	for j, x := range rows {
		h := e.Int("head")
		e.B.Set(h, ir.NE, x.key.V(), came.V())
		e.B.Op2(ir.And, h, h.V(), x.active.V())
		heads = append(heads, h)
		e.B.Sel(x.key, ir.NE, x.active.V(), ir.K(0), x.key.V(), came.V())
		came = x.key
		if j == 0 {
			continue
		}
		for i, s := range x.shares {
			e.foldRun(s, rows[j-1].shares[i].v, h.V())
		}
	}
	return heads
}

// foldRun takes what other rows of a run have into s, unless none says that they are of another.
func (e *warp) foldRun(s *share, v code.Value, none ir.Val) {
	w := e.orNeutral(s, v.Borrowed().WithNull(none, false))
	e.foldWords(s, w)
	w.OwnNull = false
	e.Free(w)
	if !s.v.Null.IsImm() {
		t := e.Int("none")
		e.B.Op2(ir.Or, t, v.Null, none)
		e.B.Op2(ir.And, s.v.Null.R, s.v.Null, t.V())
		e.B.Clear(t)
	}
}

// highest sets d to the number of the highest bit of a mask; 0 if there is none.
func (e *warp) highest(d, mask ir.Reg) {
	e.B.Op2(ir.Or, d, mask.V(), ir.K(1))
	e.B.Op1(ir.Clz, d, d.V())
	e.B.Op2(ir.Sub, d, ir.K(63), d.V())
}

// handOn gives every lane what its last run has in the lanes before, too; in those of starts one begins. A lane takes what the one before it has, then the one two before,
// four and so on, as long as a run is longer.
func (e *warp) handOn(starts ir.Reg, ends []*share) {
	start, by, from, none := e.Int("start"), e.Int("by"), e.Int("from"), e.Int("none")
	e.B.Op2(ir.Shl, start, e.below.V(), ir.K(1))
	e.B.Op2(ir.Or, start, start.V(), ir.K(1))
	e.B.Op2(ir.And, start, start.V(), starts.V())
	e.highest(start, start)
	e.B.Mov(by, ir.K(1))
	e.Loop(func(l int32) {
		e.B.Op2(ir.Sub, from, e.lane.V(), by.V())
		e.B.Set(none, ir.GE, from.V(), start.V())
		any := e.ballot("any", none.V())
		e.B.Break(l, ir.EQ, any.V(), ir.K(0))
		e.B.Op2(ir.Xor, none, none.V(), ir.K(1))
		e.B.Sel(from, ir.NE, none.V(), ir.K(0), e.lane.V(), from.V())
		for _, s := range ends {
			w := e.ofLane(s, from.V())
			e.foldRun(s, w, none.V())
			e.Free(w)
		}
		e.B.Op2(ir.Shl, by, by.V(), ir.K(1))
		e.B.Clear(any)
	})
	e.B.Clear(start, by, from, none)
}

// carried opens registers with what the run before the lane's first row has: the lane before knows, and the first goes on with the run at hand.
func (e *warp) carried(r *runs, ends []*share) (out []*share) {
	from := e.Int("from")
	e.B.Op2(ir.Sub, from, e.lane.V(), ir.K(1))
	e.B.Op2(ir.And, from, from.V(), ir.K(layout.WarpLanes-1))
	for i, s := range ends {
		c := *s
		c.v = e.ofLane(s, from.V())
		at := r.shares[i].v
		pick := func(d, x ir.Val) { e.B.Sel(d.R, ir.EQ, e.lane.V(), ir.K(0), x, d) }
		if c.v.Desc.Form == layout.F64 {
			e.B.FSel(c.v.A.R, ir.EQ, e.lane.V(), ir.K(0), at.A.R, c.v.A.R)
		} else {
			pick(c.v.A, at.A)
		}
		if c.v.Two() {
			pick(c.v.B, at.B)
		}
		if !c.v.Null.IsImm() {
			pick(c.v.Null, at.Null)
		}
		out = append(out, &c)
	}
	e.B.Clear(from)
	return out
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

// endRuns writes the runs behind which another begins in the lane. The first of them has what is carried, and what the lane's rows before it have; came is its key. heads and begins are
// used up.
func (e *warp) endRuns(r *runs, rows []runRow, heads []ir.Reg, begins, starts, came ir.Reg, carried []*share) {
	n, at, t := e.Int("n"), e.Int("at"), e.Int("t") // tuples of the warp, and of the lanes before
	e.B.Op1(ir.Popcnt, n, starts.V())
	e.B.Op2(ir.And, at, starts.V(), e.below.V())
	e.B.Op1(ir.Popcnt, at, at.V())
	seen, none := e.Int("seen"), e.Int("none")
	e.B.Mov(seen, heads[0].V())
	for j, h := range heads[1:] {
		e.B.Op2(ir.Xor, none, h.V(), ir.K(1))
		e.B.Op2(ir.Or, none, none.V(), seen.V())
		for i, s := range carried {
			e.foldRun(s, rows[j].shares[i].v, none.V())
		}
		e.B.Mov(t, seen.V())
		e.B.Op2(ir.Or, seen, seen.V(), h.V())
		e.B.Op2(ir.And, h, h.V(), t.V()) // but for the first
		e.B.Op1(ir.Ballot, t, h.V())
		e.B.Op1(ir.Popcnt, none, t.V())
		e.B.Op2(ir.Add, n, n.V(), none.V())
		e.B.Op2(ir.And, t, t.V(), e.below.V())
		e.B.Op1(ir.Popcnt, t, t.V())
		e.B.Op2(ir.Add, at, at.V(), t.V())
	}
	e.B.Clear(seen, none)
	e.When(ir.NE, r.open.V(), ir.K(0), func() { // others may have rows of the very first
		first := e.Int("first")
		e.B.Op1(ir.Ctz, first, starts.V())
		e.When(ir.EQ, e.lane.V(), first.V(), func() {
			e.shareRun(r, came, carried)
			e.B.Mov(begins, ir.K(0))
		}, nil)
		e.B.Set(t, ir.GT, e.lane.V(), first.V())
		e.B.Op2(ir.Sub, at, at.V(), t.V())
		e.B.Op2(ir.Sub, n, n.V(), ir.K(1))
		e.B.Mov(r.open, ir.K(0))
		e.B.Clear(first)
	}, nil)
	size := r.gp.Tuple.Size
	e.B.Op2(ir.Mul, n, n.V(), ir.K(int64(size)))
	e.B.Op2(ir.Mul, at, at.V(), ir.K(int64(size)))
	p := e.takePlaces(r.own, n, nil)
	write := func(when, key ir.Reg, shares []*share) {
		e.When(ir.NE, when.V(), ir.K(0), func() {
			out := p.place(e, at)
			e.B.Op2(ir.Add, at, at.V(), ir.K(int64(size)))
			fits := e.fits(out, size)
			e.When(ir.NE, fits.V(), ir.K(0), func() {
				e.storeField(out, &r.gp.Tuple.Fields[0], r.keyOf(key))
				for _, s := range shares {
					e.storeField(out, s.f, s.v.Borrowed())
				}
			}, nil)
			e.B.Clear(fits, out)
		}, nil)
	}
	write(begins, came, carried)
	for j, h := range heads[1:] {
		write(h, rows[j].key, rows[j].shares)
	}
	p.close(e)
	e.B.Clear(n, at, t)
}

// keyOf is a register as the key of a group.
func (r *runs) keyOf(k ir.Reg) code.Value {
	return code.Value{Desc: r.gp.Tuple.Fields[0].Desc, A: k.V(), Null: ir.K(0)}
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

// takeRanges gives each warp a range of rows, of which its lanes take so many each: row is the number of a lane's first, so far by its place among all lanes, end that behind
// the last, step what lies between what a lane takes, so far the number of lanes.
func (e *warp) takeRanges(row, end, step ir.Reg, each int64) {
	e.insert(e.kernel, func() {
		e.B.Comment("each warp has a range of rows")
		lo, per := e.Int("lo"), e.Int("per")
		e.B.Load8(lo, ir.At(ir.Ctx, layout.CtxLo))
		e.B.Op2(ir.Mul, step, step.V(), ir.K(each))
		e.B.Op2(ir.Sub, per, end.V(), lo.V())
		e.B.Op2(ir.Add, per, per.V(), step.V())
		e.B.Op2(ir.Sub, per, per.V(), ir.K(1))
		e.B.Op2(ir.Div, per, per.V(), step.V())
		e.B.Op2(ir.Mul, per, per.V(), ir.K(each*layout.WarpLanes))
		e.B.Op2(ir.Sub, row, row.V(), lo.V())
		e.B.Op2(ir.Shr, row, row.V(), ir.K(5))
		e.B.Op2(ir.Mul, row, row.V(), per.V())
		e.B.Op2(ir.Add, row, row.V(), lo.V())
		e.B.Op2(ir.Add, per, per.V(), row.V())
		e.B.Sel(end, ir.LT, per.V(), end.V(), per.V(), end.V())
		e.B.Op2(ir.Mul, lo, e.lane.V(), ir.K(each))
		e.B.Op2(ir.Add, row, row.V(), lo.V())
		e.B.Mov(step, ir.K(each*layout.WarpLanes))
		e.B.Clear(lo, per)
	})
}
