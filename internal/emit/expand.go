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

// Rows of a warp that have several candidates each. They end the guard around the row with the candidates, which lie side by side in
// memory; then the lanes take candidates together, and what follows a match stands once, under a guard of its own. Who takes which
// is the strategy's: a lane its own (expand_lane.go), all lanes those of one row after the other (expand_push.go), or each the next of all
// rows' (expand_balanced.go).

// expansion is what lanes kept of their rows and of their candidates past the guard.
type expansion struct {
	p        *probe
	cols     []keptColumn
	from, to ir.Reg // addresses of the lane's candidates
	// lacking is 1 while no match was found, 0 where nobody asks: outer joins then still owe a row. NoReg: none of them cares.
	lacking ir.Reg
	number  ir.Reg // that of the source's row, where rows go to a queue or wait
	waits   bool   // rows that have matches left wait for each other
	exists  bool   // it is enough to know whether there is a match: nothing follows
}

// keptColumn is a column of the row in registers that outlive its guard.
type keptColumn struct {
	id plan.ColID
	v  code.Value
}

// strategy is how rows are expanded that operator i finds.
func (e *warp) strategy(i int) phys.Expand {
	if i < len(e.Expand) {
		return e.Expand[i]
	}
	return phys.ExpandLane
}

// matches goes on with all matches of all lanes.
func (e *warp) matches(p *probe) {
	outer := p.op.Kind == pipe.ProbeOuter
	e.multiply(p.t.Rows)
	x := e.newExpansion(p, outer)
	e.arrive(func() { e.expand(x) })
}

// exists tells rest whether the row has a match. Only where rows have candidates that may not match is there anything to share.
func (e *warp) exists(p *probe, rest func(found ir.Reg)) {
	if e.strategy(p.i) == phys.ExpandLane {
		found := e.findAny(p)
		rest(found)
		return
	}
	x := e.newExpansion(p, true)
	x.exists = true
	e.arrive(func() {
		active := e.guard.active
		e.expand(x)
		more := e.Int("more")
		e.B.Mov(more, active.V())
		e.warpLoop(while{c: ir.NE, x: more.V(), y: ir.K(0), set: func(ir.Reg) {}}, func() {
			found := e.Int("found")
			e.B.Op2(ir.Xor, found, x.lacking.V(), ir.K(1))
			*p = *x.p
			rest(found)
		}, func() { e.B.Mov(more, ir.K(0)) })
		e.B.Clear(more)
	})
}

// newExpansion finds the row's candidates, and keeps them with all that is read later. asks: somebody wants to know who has no match.
func (e *warp) newExpansion(p *probe, asks bool) *expansion {
	x := &expansion{from: e.perRow("cur", ir.I64, 0), to: e.perRow("last", ir.I64, 0), lacking: ir.NoReg}
	if e.queued(p) && e.Queue.Pieces {
		e.B.Mov(x.from, e.piece.from.V())
		e.B.Mov(x.to, e.piece.to.V())
	} else {
		cur, end := e.candidates(p)
		if !asks || p.must() {
			e.skip(ir.UGE, cur.V(), end.V())
		}
		e.B.Mov(x.from, cur.V())
		e.B.Mov(x.to, end.V())
		e.B.Clear(cur, end)
		x.waits = e.waitsForMatches(p, asks)
		if e.queued(p) || x.waits {
			x.number = e.perRow("number", ir.I64, 0)
			e.B.Mov(x.number, e.number.V())
		}
	}
	if asks {
		x.lacking = e.perRow("lacking", ir.I64, 0)
		e.B.Mov(x.lacking, ir.K(1))
	}
	kept := *p
	kept.keys, kept.dead, kept.own = nil, ir.K(0), false
	for i, v := range p.keys {
		kept.keys = append(kept.keys, e.keep(p.t.Tuple.Fields[i].Name, v))
	}
	if p.op.Kind == pipe.ProbeMark && !p.null.IsImm() { // the key's, which is kept
		kept.null = kept.keys[0].Null
	}
	x.p = &kept
	var read, build plan.ColSet
	for _, on := range p.op.On {
		plan.AddRefs(&read, on)
	}
	for i := range p.t.Tuple.Fields {
		build.Add(plan.ColID(p.t.Tuple.Fields[i].ID))
	}
	x.cols = e.keepColumns(read, build, p.i+1)
	e.probeDone(p)
	return x
}

// expand lets the lanes take their candidates, all of which come by whatever became of their rows.
func (e *warp) expand(x *expansion) {
	if e.queued(x.p) && !e.Queue.Pieces {
		e.enqueue(x)
	}
	e.rebind(x.cols)
	switch e.strategy(x.p.i) {
	case phys.ExpandWarp:
		e.expandPush(x, 32)
	case phys.ExpandGroup:
		e.expandPush(x, phys.GroupLanes)
	case phys.ExpandBalanced:
		e.expandBalanced(x)
	default:
		e.expandLane(x)
	}
	e.rebind(x.cols)
}

// rebind lets columns be found in other registers.
func (e *warp) rebind(cols []keptColumn) {
	for _, c := range cols {
		e.Rebind(c.id, c.v)
	}
}

// take goes on with the candidate at r under the guard of a loop over candidates, if it is a match. found is then 1, where it is asked.
func (e *warp) take(x *expansion, p *probe, r, found ir.Reg) {
	e.candidate(p, r, func() {
		if x.lacking != ir.NoReg {
			e.matched(p, r, found)
			return
		}
		e.bindTuple(p, r, ir.K(0))
		for _, on := range orderPreds(p.op.On) {
			e.filter(on)
		}
		e.setFlag(p, r)
		e.consume(p.i + 1)
	})
}

// matched makes found 1 for the candidate at r, whose keys are the row's, if the further conditions of the join hold.
func (e *warp) matched(p *probe, r, found ir.Reg) {
	if len(p.op.On) > 0 {
		ok := e.holds(p, r)
		e.skip(ir.EQ, ok.V(), ir.K(0))
		e.B.Clear(ok)
	}
	e.B.Mov(found, ir.K(1))
}

// handed is what lanes have been given of others' rows: registers that a strategy fills before each guard.
type handed struct {
	p    *probe
	cols []keptColumn
	all  [][2]code.Value // whose value, and where it goes
}

// newHanded opens the registers.
func (e *warp) newHanded(x *expansion) *handed {
	h := &handed{}
	open := func(v code.Value, name string) code.Value {
		w := e.copyOf(v, name)
		h.all = append(h.all, [2]code.Value{v, w})
		return w.Borrowed()
	}
	p := *x.p
	p.keys = nil
	walks := p.t.Kind == layout.Buckets
	for i, v := range x.p.keys {
		if walks { // else the address is the key
			v = open(v, p.t.Tuple.Fields[i].Name)
		}
		p.keys = append(p.keys, v)
	}
	for _, c := range x.cols {
		h.cols = append(h.cols, keptColumn{c.id, open(c.v, e.Cols.Get(c.id).Name)})
	}
	h.p = &p
	return h
}

// copyOf opens registers for a value, without anything in them.
func (e *warp) copyOf(v code.Value, name string) code.Value {
	w := v.Borrowed()
	if !v.A.IsImm() {
		if w.OwnA = true; v.Desc.Form == layout.F64 {
			w.A = e.Float(name).V()
		} else {
			w.A = e.Int(name).V()
		}
	}
	if v.Two() && !v.B.IsImm() {
		w.B, w.OwnB = e.Int(name+".2").V(), true
	}
	if !v.Null.IsImm() {
		w.Null, w.OwnNull = e.Int(name+".null").V(), true
	}
	return w
}

// hand gives every lane the values of a lane.
func (e *warp) hand(h *handed, lane ir.Reg) {
	for _, pair := range h.all {
		v, w := pair[0], pair[1]
		if w.OwnA {
			e.shuffle(w.A.R, v.A, lane, v.Desc)
		}
		if w.OwnB {
			e.B.Op2(ir.Shfl, w.B.R, v.B, lane.V())
		}
		if w.OwnNull {
			e.shuffle(w.Null.R, v.Null, lane, layout.Desc{Range: layout.Between(0, 1)})
		}
	}
}

// shuffle makes d another lane's x, by half of the work where that has no more than 32 bits.
func (e *warp) shuffle(d ir.Reg, x ir.Val, lane ir.Reg, desc layout.Desc) {
	switch {
	case desc.Form == layout.F64:
		bits := e.Int("bits")
		e.B.Op1(ir.FBits, bits, x)
		e.B.Op2(ir.Shfl, bits, bits.V(), lane.V())
		e.B.Op1(ir.BitsF, d, bits.V())
		e.B.Clear(bits)
	case desc.Form == layout.I64 && desc.Range.Within(layout.Between(0, 1<<32-1)):
		half := e.word("half")
		e.B.Op1(ir.Narrow, half, x)
		e.B.Op2(ir.Shfl, half, half.V(), lane.V())
		e.B.Op1(ir.WidenU, d, half.V())
		e.B.Clear(half)
	default:
		e.B.Op2(ir.Shfl, d, x, lane.V())
	}
}

// freeHanded ends the registers.
func (e *warp) freeHanded(h *handed) {
	for _, pair := range slices.Backward(h.all) {
		e.Free(pair[1])
	}
}

// keepColumns keeps the columns that are read, there and by the operators from number next on, apart from those that are
// made. What is defined by an expression is computed later, as on the CPU: it may fail, and rows
// without match must not.
func (e *warp) keepColumns(read, made plan.ColSet, next int) (out []keptColumn) {
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
		out = append(out, keptColumn{id, e.keep(e.Cols.Get(id).Name, e.Column(id))})
	}
	for id := range read.All {
		add(id)
	}
	for id := range e.live[next].All {
		add(id)
	}
	return out
}
