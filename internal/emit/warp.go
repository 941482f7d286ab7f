package emit

import (
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// warp is the frame of a GPU: what surrounds a row where 32 lanes go in step.
//
//	registers of the kernel
//	loop while some lane of the warp has a row
//	    registers of the row
//	    loop once {                          the guard: a dropped row breaks out of it
//	        operators
//	        what comes after needs is copied to registers of the row; active = 1
//	    }
//	    together                             what all lanes do: the sink, or a loop over the
//	                                         matches of a join with a guard of its own
//	finally                                  after the last row
//
// Operators see nothing of it but skip. Ballots and shuffles stand in together and finally,
// where all lanes of the warp come by, whatever became of their rows.
type warp struct {
	*emitter
	lane  ir.Reg // this lane's number
	below ir.Reg // mask of the lanes below

	begin    int         // where words of the context are read
	stride   *place      // where it is known how far a lane's rows lie apart
	kernel   *place      // where registers of the kernel are opened
	ofKernel []ir.Reg    // those
	guard    *guard      // the innermost
	places   []*place    // all, for insert
	later    []later     // what was inserted, and is not in its place
	spare    *[]ir.Instr // memory for that; nil: none was needed
	shares   map[*layout.Field]*share
	block    *blockGroups // groups of the block; nil: none
	own      *ownGroups   // groups of threads or lanes, likewise
	finally  func()
	tallies  []tally
	bins     []tally // of the lane-activity profile
	skipTo   int32   // the loop that a dropped row breaks out of
	number   ir.Reg  // that of the source's row
	drained  ir.Reg  // 1: the source has no more rows, but shelves may have; NoReg: there are none
	shelves  ir.Reg  // where those of the warp are
	memories []warpMemory
	piece    piece       // of a row from the queue
	made     *textRoom   // nil: no texts are made
	ofGroup  *groupTexts // nil: its keys and aggregates make no texts, or keep them
	runs     *runs       // groups are runs of rows; nil: they are not
	parts    *partGroups // groups are made part after part; nil: they are not
	stage    *stage      // of rows that are written in parts; nil: there is none
}

// guard is where lanes without a row stay out.
type guard struct {
	up    *guard // around it; nil: the source's
	once  bool   // it is no loop
	any   ir.Reg // not 0: some lane has a row
	drain *place // where any can be changed before it counts

	has    ir.Reg // 1: the lane has a row
	active ir.Reg // 1: the row came to the guard's end; only where lanes then do something together

	row      *place   // where registers of the row are opened
	ofRow    []ir.Reg // those
	reached  []reached
	before   bool    // lanes do something together before the guard
	inner    bool    // there is another around it
	writes   float64 // the share of rows that the sink writes; 0: what lanes do together is something else
	tuples   *rowTuples
	together func()
}

// place is a spot in the code to which more can be added later: which registers must be
// opened before a loop is known only when its body has been written.
type place struct{ at, by int }

// here is the present end of the code.
func (e *warp) here() *place {
	p := &place{at: len(e.B.F.Code)}
	e.places = append(e.places, p)
	return p
}

// later is code that was written for a place and is not there yet.
type later struct {
	p    *place
	code []ir.Instr
}

// insert adds what f emits at a place, after what was added there before. It comes there with all the other insertions, when somebody looks at the code: to move
// what is behind it each time took a third of the time to write a kernel.
func (e *warp) insert(p *place, f func()) {
	if e.spare == nil {
		e.spare = spares.Get().(*[]ir.Instr)
	}
	outer, room := e.B.F.Code, *e.spare
	e.B.F.Code = room[len(room):]
	*e.spare = nil // if f inserts something, that has memory of its own
	f()
	e.later = append(e.later, later{p, e.B.F.Code})
	if n := len(room) + len(e.B.F.Code); n <= cap(room) {
		room = room[:n]
	}
	*e.spare, e.B.F.Code = room, outer
}

// spares is memory for what is inserted or copied.
var spares = sync.Pool{New: func() any { return new(make([]ir.Instr, 0, 1024)) }}

// copied is a copy of code until give is called.
func copied(code []ir.Instr) (out []ir.Instr, give func()) {
	p := spares.Get().(*[]ir.Instr)
	*p = append((*p)[:0], code...)
	return *p, func() {
		*p = (*p)[:0]
		spares.Put(p)
	}
}

// placeInsertions puts all insertions where they belong.
func (e *warp) placeInsertions() {
	if len(e.later) == 0 {
		return
	}
	all := e.later
	slices.SortStableFunc(all, func(a, b later) int { return a.p.at - b.p.at })
	code := e.B.F.Code
	n := 0
	for i := range all {
		n += len(all[i].code)
	}
	end := len(code)
	code = slices.Grow(code, n)[:end+n]
	e.B.F.Code = code
	for i := len(all) - 1; i >= 0; i-- { // from the end, what is behind each moves by all that come before
		x := all[i].code
		copy(code[all[i].p.at+n:], code[all[i].p.at:end])
		end = all[i].p.at
		n -= len(x)
		copy(code[end+n:], x)
	}
	for _, q := range e.places {
		q.by = 0
		for i := range all {
			if all[i].p.at > q.at {
				break
			}
			q.by += len(all[i].code)
		}
	}
	for _, q := range e.places {
		q.at += q.by
	}
	e.later, *e.spare = e.later[:0], (*e.spare)[:0]
}

// scan takes the rows of the table through the body, those that its front lets pass where it has one.
func (e *warp) scan(s *pipe.Table) {
	if e.Queue.Pieces { // they have passed all filters before
		e.rows(func(i ir.Reg) { e.scanRow(s, i, nil, nil) })
		return
	}
	flush := e.Refill == phys.RefillFlush || e.inTurns() // takes rows one by one, as they come
	if f := e.front(s); f != nil && !flush {
		e.f.How.Front = f.how
		e.readFirst = !e.Counting && len(f.rest) == 0 && len(f.left) == 0 && !e.Off.EarlyReads && e.lasting() >= phys.WorthReading
		e.f.How.Refill = phys.ChooseRefill(f.how, e.Rows, phys.RowWork(e.Pipeline), e.Refill)
		loop := f.loop
		if e.f.How.Refill == phys.RefillList {
			loop = f.listed
		}
		loop(func(i ir.Reg) {
			e.setNumber(i)
			e.scanRow(s, i, f.rest, f.left)
		})
		return
	}
	e.takeRows(func(i ir.Reg) { e.scanRow(s, i, s.Filter, e.Filters) }, e.Arrays && !e.Off.WideRows && !flush && (e.Writing == phys.WriteClaimed || e.Writing == phys.WriteParted))
}

// rows gives every lane rows a grid's width apart.
func (e *warp) rows(body func(i ir.Reg)) { e.takeRows(body, false) }

// takeRows does so; several: a lane may take several rows at a time.
func (e *warp) takeRows(body func(i ir.Reg), several bool) {
	if e.Parted != nil {
		e.takeParts(body)
		return
	}
	e.outlines = e.writesEvery()
	i, n, step := e.openRows(1)
	w := while{c: ir.LT, x: i.V(), y: n.V()}
	if e.inTurns() {
		w.first = e.firstOfBlock()
	}
	e.newStage(&w)
	code := e.warpLoop(w,
		func() {
			if e.Queue.Pieces {
				e.pieces(i, body)
				return
			}
			e.setNumber(i)
			body(i)
		},
		func() {
			e.B.Op2(ir.Add, i, i.V(), step.V())
			if w.first != 0 {
				e.B.Op2(ir.Add, w.first, w.first.V(), step.V())
			}
			if e.stage != nil {
				e.endTurn(e.f.Parts.Count)
			}
		})
	if e.runs != nil {
		e.takeRuns(code, i, n, step, several)
	} else if several {
		e.takeSeveral(code, i, n, step)
	}
	e.closeRows(i, n, step)
}

// openRows opens the registers of a loop over all rows, of which each lane takes several at a time: the lane's first, the
// end of all and what lies between a lane's steps.
func (e *warp) openRows(per int64) (i, n, step ir.Reg) {
	i, n, step = e.Int("row"), e.Int("end"), e.Int("step")
	t := e.Int("t")
	e.lane, e.below = e.Int("lane"), e.Int("below")
	e.B.Special(step, ir.BlockDim)
	e.B.Special(i, ir.BlockID)
	e.B.Op2(ir.Mul, i, i.V(), step.V())
	e.B.Special(t, ir.ThreadID)
	e.B.Op2(ir.Add, i, i.V(), t.V())
	e.B.Special(t, ir.GridDim)
	e.B.Op2(ir.Mul, step, step.V(), t.V())
	e.stride = e.here()
	if per > 1 {
		e.B.Op2(ir.Mul, i, i.V(), ir.K(per))
		e.B.Op2(ir.Mul, step, step.V(), ir.K(per))
	}
	e.B.Load8(t, ir.At(ir.Ctx, layout.CtxLo))
	e.B.Op2(ir.Add, i, i.V(), t.V())
	e.B.Load8(n, ir.At(ir.Ctx, layout.CtxHi))
	e.B.Special(e.lane, ir.LaneID)
	e.B.Op2(ir.Shl, e.below, ir.K(1), e.lane.V())
	e.B.Op2(ir.Sub, e.below, e.below.V(), ir.K(1))
	e.B.Clear(t)
	e.kernel, e.begin = e.here(), len(e.B.F.Code)
	return i, n, step
}

// closeRows comes after the loop.
func (e *warp) closeRows(i, n, step ir.Reg) {
	if e.finally != nil {
		e.finally()
	}
	e.addTallies()
	e.addBins()
	e.placeMemory()
	e.hoistWords()
	e.B.Clear(e.ofKernel...)
	e.B.Clear(i, n, step, e.lane, e.below)
	e.B.F.ForwardWords()
	e.boundRegisters()
}

// boundRegisters says how many registers are worth having.
func (e *warp) boundRegisters() {
	if e.Off.Assembler {
		e.B.F.Bound = ir.AsItIs
		return
	}
	if e.Pipeline == nil || e.Off.RegisterBound {
		return
	}
	_, scans := e.Pipeline.Source.(*pipe.Table)
	looks := len(e.Filters) > 0 || slices.ContainsFunc(e.Pipeline.Ops, func(op pipe.Op) bool { _, ok := op.(*pipe.Probe); return ok })
	f := e.B.F
	f.Bound = phys.ChooseBound(phys.Kernel{Scans: scans, Looks: looks, Shared: f.SharedBytes, Pressure: f.Pressure()})
}

// while is the condition under which a lane has a row: a comparison, and what else set adds to it.
type while struct {
	c    ir.Cond
	x, y ir.Val
	set  func(has ir.Reg)
	once bool // it is no loop
	// first is the first row of the block's turn: all its warps go on while there is one, whether they have some or not; 0: each goes on by itself.
	first  ir.Reg
	staged bool // that is for the stage's sake alone, to which nothing belongs that is done for a row
	// before comes before the guard, for all lanes, where some lane has a row; nil: nothing does.
	before func()
}

// warpLoop repeats body under a guard while some lane of the warp has a row. next comes after
// it, for all lanes.
func (e *warp) warpLoop(w while, body, next func()) rowCode {
	outer, skipTo := e.guard, e.skipTo
	g := &guard{has: ir.NoReg, inner: outer != nil, up: outer, once: w.once}
	e.guard = g
	l := e.B.Loop()
	g.has = e.Int("has")
	head := e.here()
	e.B.Set(g.has, w.c, w.x, w.y)
	if w.set != nil {
		w.set(g.has)
	}
	if w.first == 0 {
		g.any = e.ballot("any", g.has.V())
	} else {
		g.any = e.Int("any")
		e.B.Set(g.any, w.c, w.first.V(), w.y)
	}
	g.drain = e.here()
	e.B.Break(l, ir.EQ, g.any.V(), ir.K(0))
	e.B.Clear(g.any)
	if w.before != nil {
		w.before()
	}
	g.row = e.here()
	once := e.B.Loop()
	e.skipTo = once
	gate := e.here()
	e.Block(func() {
		e.B.Break(once, ir.EQ, g.has.V(), ir.K(0))
		body()
	})
	e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	e.countLanes(g)
	meet := e.here()
	if g.together != nil {
		g.together()
	}
	alone := e.here()
	e.B.Clear(g.ofRow...)
	end := e.here()
	e.B.Clear(g.has)
	next()
	if w.once {
		e.B.EndLoop(l, ir.NE, ir.K(0), ir.K(0))
	} else {
		e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	}
	meets := w.set != nil || w.before != nil || g.before || g.reached != nil || w.first != 0 && !w.staged
	together := meets || g.together != nil || w.staged
	if !together {
		// None has to wait for the others: each leaves when it has no row.
		code := e.B.F.Code
		out := ir.Instr{Op: ir.Break, Label: l, Cond: w.c.Negate(), A: w.x, B: w.y}
		copy(code[head.at:], []ir.Instr{out, {}, {}, {}, {}})
		code[gate.at] = ir.Instr{}
	}
	e.guard, e.skipTo = outer, skipTo
	return rowCode{head: head, gate: gate, meet: meet, alone: alone, end: end, label: once, together: meets || g.together != nil && g.writes == 0, writes: g.writes, tuples: g.tuples, active: g.active, ofRow: g.ofRow, has: g.has}
}

// arrive is the end of the guard: the row is in, and together takes over, if there is something that lanes do together.
func (e *warp) arrive(together func()) {
	g := e.guard
	if g.together = together; together != nil {
		g.active = e.perRow("active", ir.I64, 0)
		e.B.Mov(g.active, ir.K(1))
	}
}

// perKernel opens a register that lives through all rows of the lane, perRow one that lives
// through one row, guard or not. Both begin with the bits init.
func (e *warp) perKernel(name string, t ir.Type, init int64) ir.Reg {
	return e.openAt(e.kernel, &e.ofKernel, name, t, init)
}

func (e *warp) perRow(name string, t ir.Type, init int64) ir.Reg {
	return e.openAt(e.guard.row, &e.guard.ofRow, name, t, init)
}

func (e *warp) openAt(p *place, list *[]ir.Reg, name string, t ir.Type, init int64) (r ir.Reg) {
	e.insert(p, func() {
		r = e.B.Vreg(name, t)
		if t == ir.F64 {
			e.B.FConst(r, init)
		} else {
			e.B.Mov(r, ir.K(init))
		}
	})
	*list = append(*list, r)
	return r
}

// keep copies a value made under the guard to registers that outlive it. The caller still
// frees v.
func (e *warp) keep(name string, v code.Value) code.Value {
	out := v.Borrowed()
	copyOf := func(x ir.Val, name string) ir.Val {
		if x.IsImm() {
			return x
		}
		r := e.perRow(name, ir.I64, 0)
		e.B.Mov(r, x)
		return r.V()
	}
	if v.Desc.Form == layout.F64 {
		r := e.perRow(name, ir.F64, 0)
		e.B.FMov(r, v.A.R)
		out.A = r.V()
	} else {
		out.A = copyOf(v.A, name)
	}
	if v.Two() {
		out.B = copyOf(v.B, name+".2")
	}
	out.Null = copyOf(v.Null, name+".null")
	return out
}

// keepRead is keep for whoever only reads the registers: those that outlive the guard already stay as they are, as do those of a row whose matches
// come under this guard.
func (e *warp) keepRead(name string, v code.Value) code.Value {
	if ends := func(x ir.Val) bool { return !x.IsImm() && !e.outlives(x.R) }; ends(v.A) || ends(v.Null) || v.Two() && ends(v.B) {
		return e.keep(name, v)
	}
	return v.Borrowed()
}

// outlives reports a register of a row around the guard.
func (e *warp) outlives(r ir.Reg) bool {
	for g := e.guard.up; g != nil; g = g.up {
		if slices.Contains(g.ofRow, r) {
			return true
		}
	}
	return false
}

// factWord is a register of the kernel with the low half of a number that the query or the data says.
func (e *warp) factWord(x int64) (r ir.Reg) {
	e.insert(e.kernel, func() {
		r = e.word("fact")
		e.B.Op1(ir.Narrow, r, e.Fact(int64(int32(x))))
	})
	e.ofKernel = append(e.ofKernel, r)
	return r
}

// ballot opens a register with the mask of lanes where x is not 0.
func (e *warp) ballot(name string, x ir.Val) ir.Reg {
	r := e.Int(name)
	e.B.Op1(ir.Ballot, r, x)
	return r
}

// fits opens a register that tells whether a tuple lies inside of the sink's space. One that does not is counted, but
// not written: whoever launched the kernel makes more room and starts again.
func (e *warp) fits(out ir.Reg, size int) ir.Reg {
	r, end := e.Int("fits"), e.Int("end")
	e.B.Load8(end, ir.At(ir.Ctx, layout.CtxEnd))
	e.B.Lea(r, ir.At(out, size))
	e.B.Set(r, ir.ULE, r.V(), end.V())
	e.B.Clear(end)
	return r
}

// skip drops the lane's row under a condition.
func (e *warp) skip(c ir.Cond, x, y ir.Val) { e.B.Break(e.skipTo, c, x, y) }

// exit ends the query with an error under a condition. A lane must not vanish before the next collective: it leaves the
// code in the context and drops its row.
func (e *warp) exit(status int32, c ir.Cond, x, y ir.Val) {
	e.When(c, x, y, func() {
		e.leave(status)
		e.B.Break(e.skipTo, ir.Always, ir.K(0), ir.K(0))
	}, nil)
}

// raise is exit where there is no row to drop.
func (e *warp) raise(status int32, c ir.Cond, x, y ir.Val) {
	e.When(c, x, y, func() { e.leave(status) }, nil)
}

// leave puts an error into the context, unless there is one.
func (e *warp) leave(status int32) {
	old := e.Int("status")
	e.B.Atom(ir.AtomCAS, old, ir.At(ir.Ctx, ir.CtxStatus), ir.K(0), ir.K(int64(status)))
	e.B.Clear(old)
}

// setOnce makes a byte 1 that is 0 or 1, clearOnce 0. Writing what others read holds them up: it is done only where it changes something.
func (e *warp) setOnce(at ir.Mem)   { e.changeOnce(at, 0, 1) }
func (e *warp) clearOnce(at ir.Mem) { e.changeOnce(at, 1, 0) }

func (e *warp) changeOnce(at ir.Mem, from, to int64) {
	old := e.Int("old")
	e.B.Load(old, at, 1, false)
	e.When(ir.EQ, old.V(), ir.K(from), func() { e.B.Store(at, ir.K(to), 1) }, nil)
	e.B.Clear(old)
}

// alone: other lanes add to the same state.
func (e *warp) alone() bool { return false }

// tick does nothing: a launch runs to its end.
func (e *warp) tick() {}

// tally adds one to a counter that all lanes share: each lane counts in a register, and adds that up with its warp after its last row.
func (e *warp) tally(off int) {
	i := slices.IndexFunc(e.tallies, func(t tally) bool { return t.off == off })
	if i < 0 {
		i = len(e.tallies)
		e.tallies = append(e.tallies, tally{off, e.perKernel("rows", ir.I64, 0)})
	}
	n := e.tallies[i].n
	e.B.Op2(ir.Add, n, n.V(), ir.K(1))
}

// tally is a counter at a context offset, and a lane's part of it.
type tally struct {
	off int
	n   ir.Reg
}

// addTallies adds the lanes' counts up.
func (e *warp) addTallies() {
	for _, t := range e.tallies {
		other := e.Int("other")
		for d := int64(16); d > 0; d /= 2 {
			e.B.Op2(ir.ShflXor, other, t.n.V(), ir.K(d))
			e.B.Op2(ir.Add, t.n, t.n.V(), other.V())
		}
		e.When(ir.EQ, e.lane.V(), ir.K(0), func() { e.B.Atom(ir.AtomAdd, other, ir.At(ir.Ctx, t.off), t.n.V(), ir.Val{}) }, nil)
		e.B.Clear(other)
	}
}

// refuse ends the compilation: the device lacks something that the CPU has.
func (e *warp) refuse(format string, args ...any) {
	err := diag.Errorf(diag.FeatureNotSupported, -1, format+" yet", args...)
	err.Msg = "device " + e.Device + ": " + err.Msg
	panic(code.Unsupported{Err: err.WithHint("SET device = 'cpu' runs it")})
}
