package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Lane refill inside of a join: lanes walk their own matches, and those that have none left act like lanes whose rows were dropped. Before each
// match, rows that have some left wait on a shelf with the place that they have come to, if they are too few to fill the warp; else idle lanes
// take rows from there. It balances what the warps of one launch have in common; a row with very many matches is one lane's until the
// end, when nothing is left that could be beside it.

// waitsForMatches reports that rows of a probe wait so: for those that an outer join or somebody who counts matches has still to hear of, there is no shelf.
func (e *warp) waitsForMatches(p *probe, asks bool) bool {
	return !asks && e.waits() && e.strategy(p.i) == phys.ExpandLane && e.roomToWait(p.i+1, 2+2*len(p.op.Keys))
}

// expandRefilled is expandLane with a shelf.
func (e *warp) expandRefilled(x *expansion) {
	e.f.How.Refill, e.f.How.RefillMatches = phys.RefillFlush, true
	active, row, number := e.guard.active, e.row, e.number
	words := []code.Value{wordValue(x.from), wordValue(x.to), wordValue(x.number)}
	s := e.newShelf(append(append(words, x.p.keys...), valuesOf(x.cols)...))
	e.warpLoop(while{c: ir.ULT, x: x.from.V(), y: x.to.V(), set: func(has ir.Reg) {
		e.B.Op2(ir.And, has, has.V(), active.V())
		e.exchange(s, has)
		e.B.Mov(active, has.V())
	}}, func() {
		e.number, e.row = x.number, x.number
		e.takeMatch(x)
	}, func() {})
	e.row, e.number = row, number
}

// wordValue is a word in a register.
func wordValue(r ir.Reg) code.Value { return code.Value{A: r.V(), Null: ir.K(0)} }

// valuesOf are the values of columns.
func valuesOf(cols []keptColumn) (out []code.Value) {
	for _, c := range cols {
		out = append(out, c.v)
	}
	return out
}
