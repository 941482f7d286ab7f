package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Where lanes take several rows at a time and write those that pass, each row has a ballot, but the warp looks for room once: first the values of all rows are
// computed, and wait in registers; then it is known how many tuples there are, and they go to places side by side, those of a row next to each other. A row costs half of the instructions so.
// The counter of the sink's space is what holds warps up: each takes room for many tuples at a time, but for no more than it will have, so that hardly a gap is left.

// rowTuples is how the tuples of a scan's rows are written: by the code between two places, to the address in a register.
type rowTuples struct {
	own      *room
	out      ir.Reg
	from, to *place
}

// joinedTakes is for how many times as many tuples a warp takes room as one that looks for it for each row.
const joinedTakes = 4

// writeJoined writes the code for the lane's rows, which stood there for one row at from. end is behind the last row of all, step what lies between the rows that the lane takes at a time.
func (r *laneRows) writeJoined(body []ir.Instr, from int, c rowCode, end, step ir.Reg) {
	e, t := r.warp, c.tuples
	size := ir.K(int64(t.own.size))
	own := *t.own
	own.takes *= joinedTakes
	below, n, u := e.word("below"), e.word("n"), e.word("t")
	e.B.Special(below, ir.LanesBelow)
	e.B.Mov(n, ir.K(0))
	rows, places := make([]*ir.Again, r.how.Rows), make([]ir.Reg, r.how.Rows)
	for j := range rows {
		rows[j] = r.write(body[:c.meet.at-from], j, c.gate.at-from, c.label)
		active, all := rows[j].Reg(c.active), e.word("writers")
		places[j] = e.word("place") // how far the tuple lies behind the warp's first; -1: it is none
		e.B.Op1(ir.Ballot, all, active.V())
		e.B.Op2(ir.And, u, all.V(), below.V())
		e.B.Op1(ir.Popcnt, u, u.V())
		e.B.Op2(ir.Mul, u, u.V(), size)
		e.B.Op2(ir.Add, u, u.V(), n.V())
		e.B.Sel(places[j], ir.NE, active.V(), ir.K(0), u.V(), ir.K(-1))
		e.B.Op1(ir.Popcnt, all, all.V())
		e.B.Op2(ir.Mul, all, all.V(), size)
		e.B.Op2(ir.Add, n, n.V(), all.V())
		e.B.Clear(all, active)
	}
	e.B.Comment("write positions of the warp")
	bytes, last := e.Int("bytes"), e.Int("end")
	e.B.Op1(ir.WidenU, bytes, n.V())
	each := e.Fact(max(int64(c.writes*float64(r.how.Rows*layout.WarpLanes))*int64(own.size), 1)) // bytes that the warp's next rows are expected to want
	p := e.takePlaces(&own, bytes, func() ir.Reg {
		turns := e.Int("turns")
		e.B.Op2(ir.Shfl, turns, r.row.V(), ir.K(0))
		e.B.Op2(ir.Sub, turns, end.V(), turns.V())
		e.B.Op2(ir.Sub, turns, turns.V(), ir.K(1))
		e.B.Op2(ir.Div, turns, turns.V(), step.V())
		e.B.Op2(ir.Mul, turns, turns.V(), each)
		return turns
	})
	e.B.Op1(ir.Narrow, n, p.left.V())
	e.B.Load8(last, ir.At(ir.Ctx, layout.CtxEnd))
	e.When(ir.ULE, own.end.V(), last.V(), func() { // otherwise all is written again
		for j, again := range rows {
			e.When(ir.GE, places[j].V(), ir.K(0), func() {
				out := e.Int("out")
				e.B.Op1(ir.WidenU, bytes, places[j].V())
				e.B.Sel(out, ir.LT, places[j].V(), n.V(), p.first.V(), p.then.V())
				e.B.Op2(ir.Add, out, out.V(), bytes.V())
				again.Stand(out, t.out)
				for _, in := range body[t.from.at-from : t.to.at-from] {
					again.Add(in)
				}
				e.B.Clear(out)
			}, nil)
		}
	}, nil)
	p.close(e)
	e.B.Clear(below, n, u, bytes, last)
	e.B.Clear(places...)
	for _, again := range rows {
		for _, x := range c.ofRow {
			if x != c.active {
				e.B.Clear(again.Reg(x))
			}
		}
	}
}
