package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Rows that are written in parts come to a stage of their block first, in shared memory: some of each thread, in cells of its own, with the numbers of their parts and of the rows before them
// in these. When the threads have filled their cells, all of them sort what is there by part, and write it: lanes side by side then have rows of one part, mostly, whose places lie side by side. If
// each wrote its row where it belongs, each store would be an access of its own to the cache that all multiprocessors share, of which that has 95 billion a second.
//
// So all warps of a block take the same number of turns through the rows of the source: they meet at barriers after some of them.

// Shared memory: for each part the block's next place, the rows on the stage, and those of parts before; then sums of 32 parts each.
const (
	countsAt   = 4 * phys.MostParts
	offsetsAt  = 2 * countsAt
	sumsAt     = 3 * countsAt
	sums       = phys.MostParts / layout.WarpLanes
	stageBytes = sumsAt + 4*sums
)

// stage is that of a block. Registers are words of the kernel.
type stage struct {
	size  int    // bytes of a tuple
	rows  int    // cells of a thread
	cell  ir.Reg // the thread's next cell; its cells are as far apart as there are threads
	cells ir.Reg // the number of all
	marks ir.Reg // where their marks are in dynamic shared memory, behind the tuples: the part and the number in it; then, in the order of parts, the part and the cell
	turn  ir.Reg // how many rows each thread has taken since the stage was empty
	crew  *crew

	first *place // where the number of the block's first row is known, but for how many rows lanes take at a time
	begin ir.Reg
}

// ofStage are the bytes that a thread has on the stage, beside marks. Twice as many pay where there are so many parts that hardly two rows of a turn would be of the same; then
// a multiprocessor has room for one block alone.
const (
	ofStage  = 64
	fewParts = 512
)

// newStage decides that rows come to a stage, as far as that is known before the first operator: that all warps of a block take the same number of turns. w is then the loop of all turns.
func (e *warp) newStage(w *while) {
	if e.Writing != phys.WriteParted || e.Queue.Pieces || e.Refill == phys.RefillFlush {
		return
	}
	e.stage = &stage{}
	if w.first == 0 {
		w.first, w.staged = e.firstOfBlock(), true
	}
	e.stage.begin = w.first
}

// stageTuples lays the stage out, unless tuples are too large.
func (e *warp) stageTuples(size int) {
	s := e.stage
	if s == nil || size > ofStage {
		e.stage = nil
		return
	}
	s.size, s.rows = size, 1
	bytes := ofStage
	if e.f.Parts.Count > fewParts {
		bytes *= 2
	}
	for 2*s.rows*size <= bytes {
		s.rows *= 2
	}
	e.takeShared(stageBytes)
	e.f.WarpBytes = layout.WarpLanes * s.rows * (size + 4)
	s.crew = e.crewOfBlock()
	e.insert(e.kernel, func() {
		s.cell, s.cells, s.marks, s.turn = e.word("cell"), e.word("cells"), e.word("marks"), e.word("turn")
		e.B.Mov(s.cell, s.crew.id.V())
		e.B.Op2(ir.Mul, s.cells, s.crew.n.V(), ir.K(int64(s.rows)))
		e.B.Op2(ir.Mul, s.marks, s.cells.V(), ir.K(int64(size)))
		e.B.Mov(s.turn, ir.K(0))
	})
	e.ofKernel = append(e.ofKernel, s.cell, s.cells, s.marks, s.turn)
}

// clearStage makes the stage empty, with nothing of parts that are there for lanes alone.
func (e *warp) clearStage(parts int64) {
	if e.stage != nil {
		e.eachLane(parts, func(_, part ir.Reg) {
			e.B.Store(scratch(part, 0), ir.K(0), 4)
			e.B.Store(scratch(part, countsAt), ir.K(0), 4)
		})
	}
}

// mark is the mark of a cell.
func (s *stage) mark(cell ir.Reg) ir.Mem {
	return ir.Mem{Base: s.marks, Index: cell, Scale: 4, Space: ir.Dynamic}
}

// tuple opens a register with where the tuple of a cell is, and hands out where its bytes are.
func (e *warp) stagedTuple(cell ir.Reg, f func(at func(off int) ir.Mem)) {
	p := e.word("tuple")
	e.B.Op2(ir.Mul, p, cell.V(), ir.K(int64(e.stage.size)))
	f(func(off int) ir.Mem {
		return ir.Mem{Base: p, Index: ir.NoReg, Scale: 1, Disp: int32(off), Space: ir.Dynamic}
	})
	e.B.Clear(p)
}

// stageRow puts a row into the thread's next cell. at is four times its part, n is lost.
func (e *warp) stageRow(at, n ir.Reg, w *tupleWords) {
	s := e.stage
	e.B.Atom4(ir.AtomAdd, n, scratch(at, countsAt), ir.K(1), ir.Val{})
	mark := e.word("mark")
	e.B.Op2(ir.Shl, mark, at.V(), ir.K(14))
	e.B.Op2(ir.Or, mark, mark.V(), n.V())
	e.B.Store(s.mark(s.cell), mark.V(), 4)
	e.B.Clear(mark)
	e.stagedTuple(s.cell, func(at func(off int) ir.Mem) { w.store(at) })
	e.B.Op2(ir.Add, s.cell, s.cell.V(), s.crew.n.V())
}

// endTurn writes what is on the stage if threads have no cells left for another turn. How many rows they take in one is not known yet: see takeAtATime.
func (e *warp) endTurn(parts int64) {
	s := e.stage
	counts := e.onlyCounts()
	e.B.Op2(ir.Add, s.turn, s.turn.V(), ir.K(1))
	e.When(ir.EQ, counts.V(), ir.K(0), func() {
		e.When(ir.UGE, s.turn.V(), ir.K(int64(s.rows)), func() { e.writeStage(parts) }, nil)
	}, nil)
	e.B.Clear(counts)
}

// takeAtATime tells how many rows a lane takes in a turn.
func (e *warp) takeAtATime(rows int) {
	s := e.stage
	e.insert(s.first, func() { e.B.Op2(ir.Mul, s.begin, s.begin.V(), ir.K(int64(rows))) })
	e.placeInsertions()
	for i := range e.B.F.Code {
		if in := &e.B.F.Code[i]; in.Op == ir.Add && in.D == s.turn {
			in.B = ir.K(int64(rows))
		}
	}
}

// writeStage has the block write what is on the stage, and begin again.
func (e *warp) writeStage(parts int64) {
	s := e.stage
	e.B.Comment("the block writes its rows, those of a part side by side")
	e.B.Barrier()
	lane := e.word("lane")
	e.B.Special(lane, ir.LaneID)
	e.addUpParts(parts, lane)
	e.B.Barrier()
	e.sortStage()
	e.B.Barrier()
	all, chunks := e.word("all"), e.word("chunks")
	e.B.Op1(ir.Narrow, chunks, e.Fact(4*wholeWarps(parts)/layout.WarpLanes))
	e.sumBefore(all, chunks, lane)
	e.B.Clear(chunks, lane)
	e.writeSorted(all)
	e.B.Clear(all)
	e.eachLane(parts, func(_, part ir.Reg) {
		x, y := e.word("x"), e.word("y")
		e.B.Load(x, scratch(part, 0), 4, false)
		e.B.Load(y, scratch(part, countsAt), 4, false)
		e.B.Op2(ir.Add, x, x.V(), y.V())
		e.B.Store(scratch(part, 0), x.V(), 4)
		e.B.Store(scratch(part, countsAt), ir.K(0), 4)
		e.B.Clear(x, y)
	})
	e.B.Mov(s.cell, s.crew.id.V())
	e.B.Mov(s.turn, ir.K(0))
	e.B.Barrier()
}

// addUpParts finds how many rows on the stage are of parts before each: those of the same 32 parts by a prefix sum of the warp, then those of all 32 before.
func (e *warp) addUpParts(parts int64, lane ir.Reg) {
	x, y := e.word("x"), e.word("y")
	e.eachLane(parts, func(chunk, part ir.Reg) {
		e.B.Load(x, scratch(part, countsAt), 4, false)
		for d := int64(1); d < layout.WarpLanes; d *= 2 {
			e.B.Op2(ir.ShflUp, y, x.V(), ir.K(d))
			e.B.Sel(y, ir.UGE, lane.V(), ir.K(d), y.V(), ir.K(0))
			e.B.Op2(ir.Add, x, x.V(), y.V())
		}
		e.B.Load(y, scratch(part, countsAt), 4, false)
		e.B.Op2(ir.Sub, y, x.V(), y.V())
		e.B.Store(scratch(part, offsetsAt), y.V(), 4)
		e.When(ir.EQ, lane.V(), ir.K(layout.WarpLanes-1), func() { e.B.Store(scratch(chunk, sumsAt), x.V(), 4) }, nil)
	})
	e.B.Barrier()
	e.eachLane(parts, func(chunk, part ir.Reg) {
		e.sumBefore(x, chunk, lane)
		e.B.Load(y, scratch(part, offsetsAt), 4, false)
		e.B.Op2(ir.Add, x, x.V(), y.V())
		e.B.Store(scratch(part, offsetsAt), x.V(), 4)
	})
	e.B.Clear(x, y)
}

// sumBefore sets x to how many rows on the stage are of the 32 parts before a chunk, which is four times its number, and of those before.
func (e *warp) sumBefore(x, chunk, lane ir.Reg) {
	at, y := e.word("at"), e.word("y")
	e.B.Op2(ir.Shl, at, lane.V(), ir.K(2))
	e.B.Mov(x, ir.K(0))
	for range (sums + layout.WarpLanes - 1) / layout.WarpLanes {
		e.When(ir.ULT, at.V(), chunk.V(), func() {
			e.B.Load(y, scratch(at, sumsAt), 4, false)
			e.B.Op2(ir.Add, x, x.V(), y.V())
		}, nil)
		e.B.Op2(ir.Add, at, at.V(), ir.K(4*layout.WarpLanes))
	}
	e.B.Op1(ir.RedAdd, x, x.V())
	e.B.Clear(at, y)
}

// sortStage puts the numbers of the cells in the order of their parts: marks become the cell and the part. Each thread takes its own to registers before.
func (e *warp) sortStage() {
	s := e.stage
	marks := make([]ir.Reg, s.rows)
	ofThread := func(k int, f func(cell ir.Reg)) { // its cell k, if that is in use
		cell := e.word("cell")
		e.B.Op2(ir.Mul, cell, s.crew.n.V(), ir.K(int64(k)))
		e.B.Op2(ir.Add, cell, cell.V(), s.crew.id.V())
		e.When(ir.ULT, cell.V(), s.cell.V(), func() { f(cell) }, nil)
		e.B.Clear(cell)
	}
	for k := range s.rows {
		marks[k] = e.word("mark")
		e.B.Mov(marks[k], ir.K(0))
		ofThread(k, func(cell ir.Reg) { e.B.Load(marks[k], s.mark(cell), 4, false) })
	}
	e.B.Barrier()
	for k := range s.rows {
		ofThread(k, func(cell ir.Reg) {
			part, to := e.word("part"), e.word("to")
			e.B.Op2(ir.Shr, part, marks[k].V(), ir.K(16))
			e.B.Op2(ir.And, marks[k], marks[k].V(), ir.K(1<<16-1))
			e.B.Op2(ir.Shl, to, part.V(), ir.K(2))
			e.B.Load(to, scratch(to, offsetsAt), 4, false)
			e.B.Op2(ir.Add, to, to.V(), marks[k].V())
			e.B.Op2(ir.Shl, part, part.V(), ir.K(16))
			e.B.Op2(ir.Or, part, part.V(), cell.V())
			e.B.Store(s.mark(to), part.V(), 4)
			e.B.Clear(part, to)
		})
		e.B.Clear(marks[k])
	}
}

// writeSorted writes the rows on the stage, so many, to their places: that of a row in its part is the block's next place there, and the rows before it on the stage that are of the part.
func (e *warp) writeSorted(all ir.Reg) {
	s := e.stage
	step := wordStep(s.size)
	row, cell, part, place, t, out, start := e.word("row"), e.word("cell"), e.word("part"), e.word("place"), e.word("t"), e.Int("out"), e.Int("start")
	e.B.Load8(start, ir.At(ir.Ctx, layout.CtxCur))
	e.B.Mov(row, s.crew.id.V())
	e.Loop(func(l int32) {
		e.B.Break(l, ir.UGE, row.V(), all.V())
		e.B.Load(cell, s.mark(row), 4, false)
		e.B.Op2(ir.Shr, part, cell.V(), ir.K(16))
		e.B.Op2(ir.Shl, part, part.V(), ir.K(2))
		e.B.Op2(ir.And, cell, cell.V(), ir.K(1<<16-1))
		e.B.Load(place, scratch(part, 0), 4, false)
		e.B.Load(t, scratch(part, offsetsAt), 4, false)
		e.B.Op2(ir.Add, place, place.V(), row.V())
		e.B.Op2(ir.Sub, place, place.V(), t.V())
		e.B.Op2(ir.MulWU, out, place.V(), ir.K(int64(s.size)))
		e.B.Op2(ir.Add, out, out.V(), start.V())
		e.stagedTuple(cell, func(at func(off int) ir.Mem) {
			for i := 0; i < s.size/8; i += step {
				word := e.B.Vregs("word", ir.I64, step)
				e.loadStep(at(8*i), word, step)
				e.storeStep(ir.At(out, 8*i), word, step)
				e.clearStep(word, step)
			}
		})
		e.B.Op2(ir.Add, row, row.V(), s.crew.n.V())
	})
	e.B.Clear(row, cell, part, place, t, out, start)
	e.B.Barrier() // before the places move on
}

// wholeWarps is the number of parts, and some more, so that each lane of a warp has one.
func wholeWarps(parts int64) int64 {
	return (parts + layout.WarpLanes - 1) / layout.WarpLanes * layout.WarpLanes
}

// eachLane lets the warps of a block go through the parts, 32 at a time: part is four times the number of the lane's, chunk four times that of these 32.
func (e *warp) eachLane(parts int64, f func(chunk, part ir.Reg)) {
	part, step, end, chunk := e.word("part"), e.word("step"), e.word("end"), e.word("chunk")
	e.B.Special(part, ir.ThreadID)
	e.B.Op2(ir.Shl, part, part.V(), ir.K(2))
	e.B.Special(step, ir.BlockDim)
	e.B.Op2(ir.Shl, step, step.V(), ir.K(2))
	e.B.Op1(ir.Narrow, end, e.Fact(4*wholeWarps(parts)))
	e.Loop(func(l int32) {
		more := e.Int("more")
		e.B.Set(more, ir.ULT, part.V(), end.V())
		e.B.Op1(ir.Ballot, more, more.V())
		e.B.Break(l, ir.EQ, more.V(), ir.K(0))
		e.B.Clear(more)
		e.B.Op2(ir.Shr, chunk, part.V(), ir.K(7))
		e.B.Op2(ir.Shl, chunk, chunk.V(), ir.K(2))
		f(chunk, part)
		e.B.Op2(ir.Add, part, part.V(), step.V())
	})
	e.B.Clear(part, step, end, chunk)
}
