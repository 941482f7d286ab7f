package emit

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Where a whole block settles what its rows mean to a sink before one of its threads tells all (phys.ResolveBlock), all its warps take the same number of turns: they
// meet at barriers in each. What they exchange lies in the block's shared memory.

// maxThreads of a block bound the shared memory that they need.
const maxThreads = 1024

// crew is the threads of a block. Registers are words of the kernel.
type crew struct {
	id   ir.Reg // this thread's number
	n    ir.Reg // how many there are
	even ir.Reg // likewise, or the next power of two
}

// inTurns reports that all warps of a block take the same number of turns through the rows of the source.
func (e *warp) inTurns() bool {
	return e.Resolve.ByBlock() && !e.Queue.Pieces && e.Refill != phys.RefillFlush
}

// meets reports that all threads of a block settle what their rows mean to a sink: that somebody wants it so, that the aggregates are numbers, for which there are cells, and
// that all warps of the block come by together. Else the lanes of a warp do, and EXPLAIN says why.
func (e *warp) meets(shares []*share) bool {
	switch {
	case !e.Resolve.ByBlock():
		return false
	case !e.inTurns() || e.guard.up != nil:
		e.f.How.Apart = "warps come there one by one"
	case slices.ContainsFunc(shares, func(s *share) bool { return s.wide() || s.fn == plan.AnyValue }):
		e.f.How.Apart = "an aggregate is more than numbers"
	}
	return e.f.How.Apart == ""
}

// firstOfBlock opens a register with the first row of the block's next turn, which is the same in all its threads.
func (e *warp) firstOfBlock() ir.Reg {
	first, t := e.Int("first"), e.Int("t")
	e.B.Special(first, ir.BlockID)
	e.B.Special(t, ir.BlockDim)
	e.B.Op2(ir.Mul, first, first.V(), t.V())
	if e.stage != nil {
		e.stage.first = e.here()
	}
	e.B.Load8(t, ir.At(ir.Ctx, layout.CtxLo))
	e.B.Op2(ir.Add, first, first.V(), t.V())
	e.B.Clear(t)
	e.ofKernel = append(e.ofKernel, first)
	return first
}

// crewOfBlock opens the registers of the block's threads.
func (e *warp) crewOfBlock() *crew {
	c := &crew{}
	e.insert(e.kernel, func() {
		c.id, c.n, c.even = e.word("thread"), e.word("threads"), e.word("even")
		e.B.Special(c.id, ir.ThreadID)
		e.B.Special(c.n, ir.BlockDim)
		e.B.Mov(c.even, ir.K(1))
		e.Loop(func(l int32) {
			e.B.Break(l, ir.UGE, c.even.V(), c.n.V())
			e.B.Op2(ir.Add, c.even, c.even.V(), c.even.V())
		})
	})
	e.ofKernel = append(e.ofKernel, c.id, c.n, c.even)
	return c
}

// takeShared makes sure that the block has so many bytes of shared memory.
func (e *warp) takeShared(bytes int) { e.B.F.SharedBytes = max(e.B.F.SharedBytes, bytes) }

// scratch is shared memory at an address in a register.
func scratch(at ir.Reg, disp int) ir.Mem {
	return ir.Mem{Base: at, Index: ir.NoReg, Scale: 1, Disp: int32(disp), Space: ir.Shared}
}

// doubling emits body for d = 1, 2, 4 … below the number of cells, halving for the same d from the largest on. All threads come to body together.
func (e *warp) doubling(c *crew, body func(d ir.Reg)) {
	d := e.word("d")
	e.B.Mov(d, ir.K(1))
	e.Loop(func(l int32) {
		e.B.Break(l, ir.UGE, d.V(), c.even.V())
		body(d)
		e.B.Op2(ir.Add, d, d.V(), d.V())
	})
	e.B.Clear(d)
}

func (e *warp) halving(c *crew, body func(d ir.Reg)) {
	d := e.word("d")
	e.B.Op2(ir.Shr, d, c.even.V(), ir.K(1))
	e.Loop(func(l int32) {
		e.B.Break(l, ir.EQ, d.V(), ir.K(0))
		body(d)
		e.B.Op2(ir.Shr, d, d.V(), ir.K(1))
	})
	e.B.Clear(d)
}

// writeByBlock gives every active lane a tuple: a prefix sum over the block tells its place among those of the block, and one thread takes room for all.
func (e *warp) writeByBlock(size int, store func(out ir.Reg)) {
	e.B.Comment("write positions of the block")
	active := e.guard.active
	e.fill(active, e.positionInBlock(e.crewOfBlock(), active, size), size, store)
}

// positionInBlock opens a register with the thread's place in the sink's space for tuples, if it is active. The prefix sum is the work-efficient one: sums of pairs
// upwards, then downwards what lies before each of a pair.
func (e *warp) positionInBlock(c *crew, active ir.Reg, size int) ir.Reg {
	const begins = 2 * 4 * maxThreads // behind the cells: where the tuples of the block begin
	e.takeShared(begins + 8)
	at, x, y := e.word("at"), e.word("x"), e.word("y")
	e.B.Op2(ir.Add, at, c.id.V(), c.n.V()) // cells beyond the threads
	e.B.Op2(ir.Shl, at, at.V(), ir.K(2))
	e.B.Store(scratch(at, 0), ir.K(0), 4)
	e.B.Op1(ir.Narrow, x, active.V())
	e.B.Op2(ir.Shl, at, c.id.V(), ir.K(2))
	e.B.Store(scratch(at, 0), x.V(), 4)
	pair := func(d ir.Reg, then func(lower, upper ir.Mem)) { // of neighbours of d cells each; x and y are what their last cells have
		e.B.Barrier()
		e.B.Op2(ir.Add, at, c.id.V(), ir.K(1))
		e.B.Op2(ir.Mul, at, at.V(), d.V())
		e.B.Op2(ir.Add, at, at.V(), at.V())
		e.When(ir.ULE, at.V(), c.even.V(), func() {
			lower := e.word("lower")
			e.B.Op2(ir.Sub, lower, at.V(), d.V())
			e.B.Op2(ir.Shl, lower, lower.V(), ir.K(2))
			e.B.Op2(ir.Shl, at, at.V(), ir.K(2))
			e.B.Load(x, scratch(lower, -4), 4, false)
			e.B.Load(y, scratch(at, -4), 4, false)
			e.B.Op2(ir.Add, x, x.V(), y.V())
			then(scratch(lower, -4), scratch(at, -4))
			e.B.Clear(lower)
		}, nil)
	}
	e.doubling(c, func(d ir.Reg) {
		pair(d, func(_, upper ir.Mem) { e.B.Store(upper, x.V(), 4) })
	})
	out, n := e.Int("out"), e.Int("n")
	e.B.Mov(out, ir.K(begins))
	e.When(ir.EQ, c.id.V(), ir.K(0), func() { // which wrote the last sum
		e.B.Op2(ir.Shl, at, c.even.V(), ir.K(2))
		e.B.Load(n, scratch(at, -4), 4, false)
		e.B.Store(scratch(at, -4), ir.K(0), 4)
		e.B.Op2(ir.Mul, n, n.V(), ir.K(int64(size)))
		e.When(ir.NE, n.V(), ir.K(0), func() { e.B.Atom(ir.AtomAdd, n, ir.At(ir.Ctx, layout.CtxCur), n.V(), ir.Val{}) }, nil)
		e.B.Store(scratch(out, 0), n.V(), 8)
	}, nil)
	e.halving(c, func(d ir.Reg) {
		pair(d, func(lower, upper ir.Mem) {
			e.B.Store(lower, y.V(), 4)
			e.B.Store(upper, x.V(), 4)
		})
	})
	e.B.Barrier()
	e.B.Load8(out, scratch(out, 0))
	e.B.Op2(ir.Shl, at, c.id.V(), ir.K(2))
	e.B.Load(n, scratch(at, 0), 4, false)
	e.B.Op2(ir.Mul, n, n.V(), ir.K(int64(size)))
	e.B.Op2(ir.Add, out, out.V(), n.V())
	e.B.Clear(at, x, y, n)
	return out
}

// addUpBlock adds what the threads of a block have of an aggregate up, in the first of them, by a tree of sums.
func (e *warp) addUpBlock(c *crew, s *share) {
	at := e.word("at")
	e.B.Op2(ir.Shl, at, c.id.V(), ir.K(3))
	e.writeShare(s, at)
	e.halving(c, func(d ir.Reg) {
		e.B.Barrier()
		e.When(ir.ULT, c.id.V(), d.V(), func() {
			other := e.word("other")
			e.B.Op2(ir.Add, other, c.id.V(), d.V())
			e.When(ir.ULT, other.V(), c.n.V(), func() {
				e.B.Op2(ir.Shl, other, other.V(), ir.K(3))
				v := e.readShare(s, other)
				e.foldShare(s, v)
				e.Free(v)
				e.writeShare(s, at)
			}, nil)
			e.B.Clear(other)
		}, nil)
	})
	e.B.Barrier() // the cells are the next aggregate's
	e.B.Clear(at)
}

// foldShare takes what another thread has of an aggregate.
func (e *warp) foldShare(s *share, v code.Value) {
	e.foldWords(s, v)
	if !s.v.Null.IsImm() {
		e.B.Op2(ir.And, s.v.Null.R, s.v.Null, v.Null)
	}
}

// shareBytes is what cells of a share of each thread take, shareWord the distance of its words.
const (
	shareWord  = 8 * maxThreads
	shareBytes = 3 * shareWord
)

// writeShare puts a share into cells at an address, from 0 on; readShare opens registers with what is there.
func (e *warp) writeShare(s *share, at ir.Reg) {
	e.takeShared(shareBytes)
	if s.v.Desc.Form == layout.F64 {
		e.B.FStore(scratch(at, 0), s.v.A.R, 8)
	} else {
		e.B.Store(scratch(at, 0), s.v.A, 8)
	}
	if s.v.Two() {
		e.B.Store(scratch(at, shareWord), s.v.B, 8)
	}
	if !s.v.Null.IsImm() {
		e.B.Store(scratch(at, 2*shareWord), s.v.Null, 8)
	}
}

func (e *warp) readShare(s *share, at ir.Reg) code.Value {
	v := code.Value{Desc: s.v.Desc, OwnA: true, Null: ir.K(0)}
	if v.Desc.Form == layout.F64 {
		f := e.Float("other")
		e.B.FLoad(f, scratch(at, 0), 8)
		v.A = f.V()
	} else {
		r := e.Int("other")
		e.B.Load8(r, scratch(at, 0))
		v.A = r.V()
	}
	if v.Two() {
		r := e.Int("other.2")
		e.B.Load8(r, scratch(at, shareWord))
		v.B, v.OwnB = r.V(), true
	}
	if !s.v.Null.IsImm() {
		r := e.Int("other.none")
		e.B.Load8(r, scratch(at, 2*shareWord))
		v.Null, v.OwnNull = r.V(), true
	}
	return v
}
