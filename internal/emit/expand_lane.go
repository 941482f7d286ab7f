package emit

import "github.com/kelpiedb/kelpie/internal/ir"

// expandLane lets every lane take its own matches: while some lane of the warp has candidates left, every such lane takes its next
// match. That is best where all have about as many; one that has more than its neighbours lets them wait.
func (e *warp) expandLane(x *expansion) {
	active, outer := e.guard.active, x.lacking != ir.NoReg
	if x.waits {
		e.expandRefilled(x)
		return
	}
	e.warpLoop(while{c: ir.ULT, x: x.from.V(), y: x.to.V(), set: func(has ir.Reg) {
		if outer {
			e.B.Op2(ir.Or, has, has.V(), x.lacking.V())
		}
		e.B.Op2(ir.And, has, has.V(), active.V())
	}}, func() {
		if !outer {
			e.takeMatch(x)
			return
		}
		r := e.nextMatch(x.p, x.from, x.to)
		// No match: only if a row is owed.
		e.When(ir.EQ, r.V(), ir.K(0), func() { e.skip(ir.EQ, x.lacking.V(), ir.K(0)) }, nil)
		e.B.Mov(x.lacking, ir.K(0))
		e.outerRow(x.p, r, func() { e.consume(x.p.i + 1) })
		e.B.Clear(r)
	}, func() {})
}

// takeMatch goes on with the lane's next match, if there is one.
func (e *warp) takeMatch(x *expansion) {
	r := e.nextMatch(x.p, x.from, x.to)
	e.skip(ir.EQ, r.V(), ir.K(0))
	e.bindTuple(x.p, r, ir.K(0))
	e.setFlag(x.p, r)
	e.consume(x.p.i + 1)
	e.B.Clear(r)
}
