package emit

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// The lane-activity profile. An iteration of a warp is one turn of the loop around a guard; an operator has the lanes whose row came
// behind it in that turn. Where the guard ends all lanes come by, so that a ballot tells how many those were; the lane whose turn it is
// to count that number, the third for three, adds one to a register. So a lane's registers are a histogram's bins, which are added up
// after the last row: iterations are all of them, and tuples each bin times its number. That does not depend on when a device
// lets parted lanes meet again, so it is the same on all.

// reached is a lane's mark that its row came behind an operator in this turn.
type reached struct {
	off  int // the operator's bins
	mark ir.Reg
}

// activity counts lanes behind operator op, in words of the context: those of all lanes, one after the other.
func (e *emitter) activity(op int) {
	if !e.Lanes || !e.counted(op) {
		return
	}
	first := e.Word(code.Word{Kind: code.WordLanes, Index: op * layout.WarpLanes})
	for k := 1; k < layout.WarpLanes; k++ {
		e.Word(code.Word{Kind: code.WordLanes, Index: op*layout.WarpLanes + k})
	}
	e.watch(first)
	if !slices.ContainsFunc(e.f.Lanes, func(c Counter) bool { return c.Op == op }) {
		e.f.Lanes = append(e.f.Lanes, Counter{first, op})
	}
}

// watch marks the lane's row.
func (e *warp) watch(off int) {
	g := e.guard
	i := slices.IndexFunc(g.reached, func(r reached) bool { return r.off == off })
	if i < 0 {
		i = len(g.reached)
		g.reached = append(g.reached, reached{off, e.perRow("reached", ir.I64, 0)})
	}
	e.B.Mov(g.reached[i].mark, ir.K(1))
}

// countLanes stands behind a guard.
func (e *warp) countLanes(g *guard) {
	for _, r := range g.reached {
		i := slices.IndexFunc(e.bins, func(t tally) bool { return t.off == r.off })
		if i < 0 {
			i = len(e.bins)
			e.bins = append(e.bins, tally{r.off, e.perKernel("lanes", ir.I64, 0)})
		}
		n := e.ballot("lanes", r.mark.V())
		e.B.Op1(ir.Popcnt, n, n.V())
		e.B.Op2(ir.Sub, n, n.V(), ir.K(1)) // nobody counts turns without a row
		e.B.Set(n, ir.EQ, n.V(), e.lane.V())
		e.B.Op2(ir.Add, e.bins[i].n, e.bins[i].n.V(), n.V())
		e.B.Clear(n)
	}
}

// addBins adds the bins of all warps up.
func (e *warp) addBins() {
	for _, t := range e.bins {
		e.When(ir.NE, t.n.V(), ir.K(0), func() {
			old := e.Int("old")
			e.B.Atom(ir.AtomAdd, old, ir.AtIndex(ir.Ctx, e.lane, 8, t.off), t.n.V(), ir.Val{})
			e.B.Clear(old)
		}, nil)
	}
}

// watch: a thread has no lanes.
func (e *rowLoop) watch(int) {}
