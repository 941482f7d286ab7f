package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// together goes on with rest where a test of texts, by operator i, holds for the row, if the lanes of a warp do that together; after are the tests that rest begins with. Rows whose texts
// have other lengths end before. The rest end the guard; then the first lane that has a row left hands the addresses of its texts to all, which
// compare them side by side, 8 bytes each, until some differ.
func (e *warp) together(i int, pred plan.Expr, after []plan.Expr, rest func()) bool {
	t, ok := phys.TextTestOf(pred)
	if !ok || e.strategy(i) != phys.ExpandWarp || e.Queue.Pieces || e.Makes(t.Text, false) || e.Makes(t.With, false) { // what a lane made, others may not see
		return false
	}
	l, r := e.Eval(t.Text), e.Eval(t.With)
	if l.Desc.Form != layout.Str || r.Desc.Form != layout.Str {
		e.Free(l, r)
		return false
	}
	e.skipNulls(l, r)
	if t.Prefix {
		e.skip(ir.LT, l.B, r.B)
	} else {
		e.skip(ir.NE, l.B, r.B)
	}
	one, two, size := e.perRow("one", ir.I64, 0), e.perRow("two", ir.I64, 0), e.perRow("size", ir.I64, 0)
	e.B.Mov(one, l.A)
	e.B.Mov(two, r.A)
	e.B.Mov(size, r.B)
	e.Free(l, r)
	var read plan.ColSet
	for _, x := range after {
		plan.AddRefs(&read, x)
	}
	cols := e.keepColumns(read, plan.ColSet{}, i+1)
	number := e.perRow("number", ir.I64, 0)
	e.B.Mov(number, e.number.V())
	e.arrive(func() {
		e.rebind(cols)
		same := e.sameTexts(e.guard.active, one, two, size)
		e.warpLoop(while{c: ir.NE, x: same.V(), y: ir.K(0), once: true}, func() {
			e.number, e.row = number, number
			rest()
		}, func() {})
		e.B.Clear(same)
	})
	return true
}

// sameTexts opens a register that is 1 in active lanes whose texts, of so many bytes from two addresses on, are the same. All lanes come here.
func (e *warp) sameTexts(active, one, two, size ir.Reg) ir.Reg {
	e.B.Comment("the lanes of the warp compare the texts of one row after the other")
	same, left, lead := e.Int("same"), e.ballot("left", active.V()), e.Int("lead")
	a, b, n, first, at, differ, any := e.Int("a"), e.Int("b"), e.Int("n"), e.Int("first"), e.Int("at"), e.Int("differ"), e.Int("any")
	e.B.Mov(same, active.V())
	rows := e.B.Loop()
	e.B.Break(rows, ir.EQ, left.V(), ir.K(0))
	e.B.Op1(ir.Ctz, lead, left.V())
	e.B.Op2(ir.Shfl, a, one.V(), lead.V())
	e.B.Op2(ir.Shfl, b, two.V(), lead.V())
	e.B.Op2(ir.Shfl, n, size.V(), lead.V())
	e.B.Mov(first, ir.K(0))
	e.B.Mov(differ, ir.K(0))
	e.B.Mov(any, ir.K(0))
	words := e.B.Loop()
	e.B.Break(words, ir.GE, first.V(), n.V())
	e.B.Op2(ir.Shl, at, e.lane.V(), ir.K(3))
	e.B.Op2(ir.Add, at, at.V(), first.V())
	e.When(ir.LT, at.V(), n.V(), func() {
		x := text.Difference(&e.Emitter, a.V(), b.V(), at, n.V())
		e.B.Mov(differ, x.V())
		e.B.Clear(x)
	}, nil)
	e.B.Op1(ir.Ballot, any, differ.V())
	e.B.Break(words, ir.NE, any.V(), ir.K(0))
	e.B.Op2(ir.Add, first, first.V(), ir.K(8*layout.WarpLanes))
	e.B.EndLoop(words, ir.Always, ir.K(0), ir.K(0))
	e.When(ir.EQ, lead.V(), e.lane.V(), func() { e.B.Sel(same, ir.EQ, any.V(), ir.K(0), same.V(), ir.K(0)) }, nil)
	e.B.Op2(ir.Sub, at, left.V(), ir.K(1))
	e.B.Op2(ir.And, left, left.V(), at.V())
	e.B.EndLoop(rows, ir.Always, ir.K(0), ir.K(0))
	e.B.Clear(left, lead, a, b, n, first, at, differ, any)
	return same
}
