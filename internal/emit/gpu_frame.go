package emit

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// The GPU frame: what surrounds a row where 32 lanes go in step.
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
type gpuFrame struct {
	lane  ir.Reg // this lane's number
	below ir.Reg // mask of the lanes below

	kernel   *place   // where registers of the kernel are opened
	ofKernel []ir.Reg // those
	guard    *guard   // the innermost
	places   []*place // all, for insert
	shares   map[*layout.Field]*share
	finally  func()
}

// guard is where lanes without a row stay out.
type guard struct {
	has    ir.Reg // 1: the lane has a row
	active ir.Reg // 1: the row came to the guard's end

	row      *place   // where registers of the row are opened
	ofRow    []ir.Reg // those
	together func()
}

// place is a spot in the code to which more can be added later: which registers must be
// opened before a loop is known only when its body has been written.
type place struct{ at int }

// here is the present end of the code.
func (e *emitter) here() *place {
	p := &place{len(e.B.F.Code)}
	e.gpu.places = append(e.gpu.places, p)
	return p
}

// insert adds what f emits at a place, after what was added there before.
func (e *emitter) insert(p *place, f func()) {
	code := &e.B.F.Code
	tail := append([]ir.Instr(nil), (*code)[p.at:]...)
	*code = (*code)[:p.at]
	f()
	by, at := len(*code)-p.at, p.at
	*code = append(*code, tail...)
	for _, q := range e.gpu.places {
		if q.at >= at {
			q.at += by
		}
	}
}

// laneRows is the row loop of the GPU: every lane takes rows a grid's width apart.
func (e *emitter) laneRows(body func(i ir.Reg)) {
	g := &gpuFrame{shares: map[*layout.Field]*share{}}
	e.gpu = g
	e.fuel = ir.NoReg // a launch runs to its end
	i, n, step, t := e.Int("row"), e.Int("end"), e.Int("step"), e.Int("t")
	g.lane, g.below = e.Int("lane"), e.Int("below")
	e.B.Special(step, ir.BlockDim)
	e.B.Special(i, ir.BlockID)
	e.B.Op2(ir.Mul, i, i.V(), step.V())
	e.B.Special(t, ir.ThreadID)
	e.B.Op2(ir.Add, i, i.V(), t.V())
	e.B.Load8(t, ir.At(ir.Ctx, layout.CtxLo))
	e.B.Op2(ir.Add, i, i.V(), t.V())
	e.B.Special(t, ir.GridDim)
	e.B.Op2(ir.Mul, step, step.V(), t.V())
	e.B.Load8(n, ir.At(ir.Ctx, layout.CtxHi))
	e.B.Special(g.lane, ir.LaneID)
	e.B.Op2(ir.Shl, g.below, ir.K(1), g.lane.V())
	e.B.Op2(ir.Sub, g.below, g.below.V(), ir.K(1))
	e.B.Clear(t)
	g.kernel = e.here()

	e.warpLoop(func(has ir.Reg) { e.B.Set(has, ir.LT, i.V(), n.V()) },
		func() { body(i) },
		func() { e.B.Op2(ir.Add, i, i.V(), step.V()) })
	hoistWords(e)
	if g.finally != nil {
		g.finally()
	}
	e.B.Clear(g.ofKernel...)
	e.B.Clear(i, n, step, g.lane, g.below)
}

// warpLoop repeats body under a guard while some lane of the warp has a row. next comes after
// it, for all lanes.
func (e *emitter) warpLoop(hasRow func(has ir.Reg), body, next func()) {
	outer, skipTo := e.gpu.guard, e.skipTo
	g := &guard{}
	e.gpu.guard = g
	l := e.B.Loop()
	g.has, g.active = e.Int("has"), e.Int("active")
	hasRow(g.has)
	any := e.ballot("any", g.has.V())
	e.B.Break(l, ir.EQ, any.V(), ir.K(0))
	e.B.Clear(any)
	e.B.Mov(g.active, ir.K(0))
	g.row = e.here()
	once := e.B.Loop()
	e.skipTo = once
	e.Block(func() {
		e.B.Break(once, ir.EQ, g.has.V(), ir.K(0))
		body()
	})
	e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	if g.together != nil {
		g.together()
	}
	e.B.Clear(g.ofRow...)
	e.B.Clear(g.has, g.active)
	next()
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.gpu.guard, e.skipTo = outer, skipTo
}

// arrive is the end of the guard: the row is in, and together takes over.
func (e *emitter) arrive(together func()) {
	e.B.Mov(e.gpu.guard.active, ir.K(1))
	e.gpu.guard.together = together
}

// perKernel opens a register that lives through all rows of the lane, perRow one that lives
// through one row, guard or not. Both begin with the bits init.
func (e *emitter) perKernel(name string, t ir.Type, init int64) ir.Reg {
	return e.openAt(e.gpu.kernel, &e.gpu.ofKernel, name, t, init)
}

func (e *emitter) perRow(name string, t ir.Type, init int64) ir.Reg {
	return e.openAt(e.gpu.guard.row, &e.gpu.guard.ofRow, name, t, init)
}

func (e *emitter) openAt(p *place, list *[]ir.Reg, name string, t ir.Type, init int64) (r ir.Reg) {
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
func (e *emitter) keep(name string, v code.Value) code.Value {
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

// ballot opens a register with the mask of lanes where x is not 0.
func (e *emitter) ballot(name string, x ir.Val) ir.Reg {
	r := e.Int(name)
	e.B.Op1(ir.Ballot, r, x)
	return r
}

// position opens a register with this lane's place in the sink's space for tuples: local
// resolution by counting the lanes below, global propagation by one atomic of the first lane.
// all is the mask of lanes that want one; the others get an address that they must not use.
func (e *emitter) position(all ir.Reg, size int) ir.Reg {
	out, first, n := e.Int("out"), e.Int("first"), e.Int("n")
	e.B.Op1(ir.Ctz, first, all.V())
	e.B.Mov(out, ir.K(0))
	e.When(ir.EQ, e.gpu.lane.V(), first.V(), func() {
		e.B.Op1(ir.Popcnt, n, all.V())
		e.B.Op2(ir.Mul, n, n.V(), ir.K(int64(size)))
		e.B.Atom(ir.AtomAdd, out, ir.At(ir.Ctx, layout.CtxCur), n.V(), ir.Val{})
	}, nil)
	e.B.Op2(ir.Shfl, out, out.V(), first.V())
	e.B.Op2(ir.And, n, all.V(), e.gpu.below.V())
	e.B.Op1(ir.Popcnt, n, n.V())
	e.B.Op2(ir.Mul, n, n.V(), ir.K(int64(size)))
	e.B.Op2(ir.Add, out, out.V(), n.V())
	e.B.Clear(first, n)
	return out
}

// writeTogether gives every active lane a tuple of the sink's and lets store fill it.
func (e *emitter) writeTogether(size int, store func(out ir.Reg)) {
	e.B.Comment("write positions of the warp")
	active := e.gpu.guard.active
	all := e.ballot("writers", active.V())
	e.When(ir.NE, all.V(), ir.K(0), func() {
		out := e.position(all, size)
		e.When(ir.NE, active.V(), ir.K(0), func() {
			fits := e.fits(out, size)
			e.When(ir.NE, fits.V(), ir.K(0), func() { store(out) }, nil)
			e.B.Clear(fits)
		}, nil)
		e.B.Clear(out)
	}, nil)
	e.B.Clear(all)
}

// fits opens a register that tells whether a tuple lies inside of the sink's space. One that does not is counted, but
// not written: whoever launched the kernel makes more room and starts again.
func (e *emitter) fits(out ir.Reg, size int) ir.Reg {
	r, end := e.Int("fits"), e.Int("end")
	e.B.Load8(end, ir.At(ir.Ctx, layout.CtxEnd))
	e.B.Lea(r, ir.At(out, size))
	e.B.Set(r, ir.ULE, r.V(), end.V())
	e.B.Clear(end)
	return r
}

// leave ends the query with an error under a condition. A lane of the GPU must not vanish
// before the next collective: it leaves the code in the context and drops its row.
func (e *emitter) leave(code int32, c ir.Cond, x, y ir.Val) {
	if e.gpu == nil {
		e.B.Exit(code, c, x, y)
		return
	}
	e.When(c, x, y, func() {
		old := e.Int("status")
		e.B.Atom(ir.AtomCAS, old, ir.At(ir.Ctx, ir.CtxStatus), ir.K(0), ir.K(int64(code)))
		e.B.Clear(old)
		e.B.Break(e.skipTo, ir.Always, ir.K(0), ir.K(0))
	}, nil)
}

// refuseGPU ends the compilation: the device lacks something that the CPU has.
func (e *emitter) refuseGPU(format string, args ...any) {
	err := diag.Errorf(diag.FeatureNotSupported, -1, format+" yet", args...)
	err.Msg = "device " + e.Device + ": " + err.Msg
	panic(code.Unsupported{Err: err.WithHint("SET device = 'cpu' runs it")})
}
