package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// matches ends the guard around the row with the candidates; then, while some lane of the warp has candidates left, every such
// lane takes its next match, and what follows stands once, under a guard of its own.
func (e *warp) matches(p *probe) {
	outer := p.op.Kind == pipe.ProbeOuter
	e.multiply(p.t.Rows)
	cur, end := e.candidates(p)
	if !outer {
		e.skip(ir.UGE, cur.V(), end.V())
	}
	from, to := e.perRow("cur", ir.I64, 0), e.perRow("last", ir.I64, 0)
	e.B.Mov(from, cur.V())
	e.B.Mov(to, end.V())
	e.B.Clear(cur, end)
	// 1: a row must still come out, match or not.
	owed := ir.NoReg
	if outer {
		owed = e.perRow("owed", ir.I64, 0)
		e.B.Mov(owed, ir.K(1))
	}
	kept := *p
	kept.keys = nil
	for i, v := range p.keys {
		kept.keys = append(kept.keys, e.keep(p.t.Tuple.Fields[i].Name, v))
	}
	var read, build plan.ColSet
	for _, x := range p.op.On {
		plan.AddRefs(&read, x)
	}
	for i := range p.t.Tuple.Fields {
		build.Add(plan.ColID(p.t.Tuple.Fields[i].ID))
	}
	cols := e.keepColumns(read, build, p.i+1)
	e.probeDone(p)
	e.arrive(func() {
		active := e.guard.active
		for id, v := range cols {
			e.Rebind(id, v)
		}
		e.warpLoop(while{ir.ULT, from.V(), to.V(), func(has ir.Reg) {
			if outer {
				e.B.Op2(ir.Or, has, has.V(), owed.V())
			}
			e.B.Op2(ir.And, has, has.V(), active.V())
		}}, func() {
			r := e.nextMatch(&kept, from, to)
			if outer {
				// No match: only if a row is owed.
				e.When(ir.EQ, r.V(), ir.K(0), func() { e.skip(ir.EQ, owed.V(), ir.K(0)) }, nil)
				e.B.Mov(owed, ir.K(0))
				e.outerRow(&kept, r, func() { e.consume(p.i + 1) })
			} else {
				e.skip(ir.EQ, r.V(), ir.K(0))
				e.bindTuple(&kept, r, ir.K(0))
				e.setFlag(&kept, r)
				e.consume(p.i + 1)
			}
			e.B.Clear(r)
		}, func() {})
	})
}

// keepColumns keeps the columns that are read, there and by the operators from number next on, apart from those that are
// made. What is defined by an expression is computed later, as on the CPU: it may fail, and rows
// without match must not.
func (e *warp) keepColumns(read, made plan.ColSet, next int) map[plan.ColID]code.Value {
	out := map[plan.ColID]code.Value{}
	seen := made
	var add func(id plan.ColID)
	add = func(id plan.ColID) {
		if seen.Has(id) || !e.Visible(id) {
			return // made here, or defined further on
		}
		seen.Add(id)
		if x := e.Pending(id); x != nil {
			refs := plan.Refs(x)
			for r := range refs.All {
				add(r)
			}
			return
		}
		out[id] = e.keep(e.Cols.Get(id).Name, e.Column(id))
	}
	for id := range read.All {
		add(id)
	}
	for id := range e.live[next].All {
		add(id)
	}
	return out
}
