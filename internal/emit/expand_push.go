package emit

import "github.com/kelpiedb/kelpie/internal/ir"

// expandPush is push-down parallelism: a team of lanes, the warp or a part of it, takes the rows of its lanes one by one. The first
// lane that has candidates left is the leader, found by a ballot; it hands its row to all by shuffles, and they walk its candidates side
// by side, so that they read what lies side by side in memory.
//
// Outer joins owe a row to a leader for which nobody has found a match: the team's first lane takes it when no candidates are left.
func (e *warp) expandPush(x *expansion, width int) {
	active, size, asks := e.guard.active, int64(x.p.t.Tuple.Size), x.lacking != ir.NoReg
	team := e.newTeam(width)
	left, lead, own := e.Int("left"), e.Int("lead"), e.Int("own")
	cur, end := e.Int("cur"), e.Int("last")
	owed, found, last := ir.NoReg, ir.NoReg, ir.NoReg
	if asks {
		owed, found, last = e.Int("owed"), e.Int("found"), e.Int("last")
	}
	h := e.newHanded(x)

	e.B.Comment("the lanes of a team walk the candidates of one row after the other")
	e.B.Set(own, ir.ULT, x.from.V(), x.to.V())
	if asks && !x.exists {
		e.B.Op2(ir.Or, own, own.V(), x.lacking.V())
	}
	e.B.Op2(ir.And, own, own.V(), active.V())
	team.ballot(left, own.V())
	leaders := e.B.Loop()
	any := e.ballot("any", left.V())
	e.B.Break(leaders, ir.EQ, any.V(), ir.K(0))
	e.B.Clear(any)
	e.B.Op1(ir.Ctz, lead, left.V())
	e.B.Sel(lead, ir.EQ, left.V(), ir.K(0), ir.K(0), lead.V())
	e.B.Op2(ir.Add, lead, lead.V(), team.first.V())
	e.B.Op2(ir.Shfl, cur, x.from.V(), lead.V())
	e.B.Op2(ir.Shfl, end, x.to.V(), lead.V())
	e.hand(h, lead)
	// A team that has no leader any more waits for the others.
	e.B.Sel(end, ir.EQ, left.V(), ir.K(0), cur.V(), end.V())
	if asks {
		e.B.Op2(ir.Shfl, owed, x.lacking.V(), lead.V())
		e.B.Sel(owed, ir.EQ, left.V(), ir.K(0), ir.K(0), owed.V())
		e.B.Mov(found, ir.K(0))
	}
	e.B.Op2(ir.Mul, own, team.lane.V(), ir.K(size))
	e.B.Op2(ir.Add, cur, cur.V(), own.V())
	e.rebind(h.cols)
	w := while{c: ir.ULT, x: cur.V(), y: end.V()}
	if asks {
		w.set = func(has ir.Reg) {
			team.ballot(last, found.V())
			e.B.Sel(owed, ir.NE, last.V(), ir.K(0), ir.K(0), owed.V())
			if x.exists { // one is enough
				e.B.Sel(has, ir.NE, last.V(), ir.K(0), ir.K(0), has.V())
				return
			}
			team.ballot(last, has.V())
			e.B.Set(last, ir.EQ, last.V(), ir.K(0)) // no candidates are left
			t := e.Int("t")
			e.B.Set(t, ir.EQ, team.lane.V(), ir.K(0))
			e.B.Op2(ir.And, t, t.V(), last.V())
			e.B.Op2(ir.And, t, t.V(), owed.V())
			e.B.Op2(ir.Or, has, has.V(), t.V())
			e.B.Clear(t)
		}
	}
	e.warpLoop(w, func() {
		if !asks || x.exists {
			e.take(x, h.p, cur, found)
			return
		}
		e.outerCandidate(x, h.p, cur, last, found)
	}, func() {
		e.B.Op2(ir.Add, cur, cur.V(), ir.K(int64(width)*size))
		if asks && !x.exists {
			e.B.Sel(owed, ir.NE, last.V(), ir.K(0), ir.K(0), owed.V())
		}
	})
	if x.exists {
		e.When(ir.EQ, lead.V(), e.lane.V(), func() { e.B.Sel(x.lacking, ir.EQ, left.V(), ir.K(0), x.lacking.V(), owed.V()) }, nil)
	}
	e.B.Op2(ir.Sub, own, left.V(), ir.K(1))
	e.B.Op2(ir.And, left, left.V(), own.V())
	e.B.EndLoop(leaders, ir.Always, ir.K(0), ir.K(0))

	e.freeHanded(h)
	if asks {
		e.B.Clear(owed, found, last)
	}
	e.B.Clear(left, lead, own, cur, end)
	team.close()
}

// team is a number of lanes side by side, a power of two.
type team struct {
	e           *warp
	width       int
	first, lane ir.Reg // the team's first lane, and the lane's number in its team
}

func (e *warp) newTeam(width int) *team {
	t := &team{e, width, e.Int("first"), e.Int("mate")}
	e.B.Op2(ir.And, t.lane, e.lane.V(), ir.K(int64(width-1)))
	e.B.Op2(ir.Sub, t.first, e.lane.V(), t.lane.V())
	return t
}

// ballot makes d the mask of the team's lanes where x is not 0, by their numbers in the team.
func (t *team) ballot(d ir.Reg, x ir.Val) {
	t.e.B.Op1(ir.Ballot, d, x)
	if t.width < 32 {
		t.e.B.Op2(ir.Shr, d, d.V(), t.first.V())
		t.e.B.Op2(ir.And, d, d.V(), ir.K(1<<t.width-1))
	}
}

func (t *team) close() { t.e.B.Clear(t.first, t.lane) }
