package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Rows of one group can be brought side by side before they are added up (phys.ResolveSegments): the block sorts the words that tell groups apart in its shared memory, adds
// up each run of equal ones, and the thread whose row is the first of a run tells the group.

// Behind the cells of shares lie the words, the threads that they are of, and which threads are the first of a run.
const (
	segmentWords = shareBytes
	segmentOf    = segmentWords + 8*maxThreads
	segmentFirst = segmentOf + 4*maxThreads
	segmentBytes = segmentFirst + 4*maxThreads

	noRow = 1 << 16 // in the place of a thread: it has no row, and comes last
)

// sorted is the place of a thread among the sorted words.
type sorted struct {
	*crew
	word ir.Reg // that of the place
	of   ir.Reg // the thread whose it is; itself where there is none
	live ir.Reg // 1: there is one
}

// segments reports that the block sorts rows of groups.
func (e *warp) segments(shares []*share) bool {
	if e.Resolve == phys.ResolveBlock {
		e.f.How.Apart = "groups want segments"
	}
	return e.meets(shares)
}

// resolveSegments adds up the shares of threads that met in one group, which one word tells, and lets the first thread of each take over, whose shares then are
// the sums.
func (e *warp) resolveSegments(word ir.Reg, shares []*share, take func()) {
	e.B.Comment("the block sorts its rows by group")
	e.takeShared(segmentBytes)
	c := e.crewOfBlock()
	e.sortWords(c, word)
	p, mine := &sorted{crew: c}, e.word("mine")
	e.findPlace(p, mine)
	for _, s := range shares {
		e.addUpSegments(p, mine, s)
	}
	e.B.Clear(p.word, p.of, p.live)
	e.When(ir.NE, mine.V(), ir.K(0), take, nil)
	e.B.Clear(mine)
}

// cellOf sets at to the address of cell i of so many bytes, a power of two.
func (e *warp) cellOf(at, i ir.Reg, shift int64) { e.B.Op2(ir.Shl, at, i.V(), ir.K(shift)) }

// sortWords sorts the words of active threads, as a bitonic network does: each of its steps compares pairs and is the same for all words.
func (e *warp) sortWords(c *crew, word ir.Reg) {
	a8, a4, of, t := e.word("a8"), e.word("a4"), e.word("of"), e.word("t")
	put := func(of ir.Val) {
		e.cellOf(a8, t, 3)
		e.cellOf(a4, t, 2)
		e.B.Store(scratch(a8, segmentWords), word.V(), 8)
		e.B.Store(scratch(a4, segmentOf), of, 4)
	}
	e.B.Op2(ir.Add, t, c.id.V(), c.n.V())
	e.When(ir.ULT, t.V(), c.even.V(), func() { put(ir.K(noRow)) }, nil)
	e.B.Op1(ir.Narrow, of, e.guard.active.V())
	e.B.Sel(of, ir.NE, of.V(), ir.K(0), c.id.V(), ir.K(noRow))
	e.B.Mov(t, c.id.V())
	put(of.V())
	e.doubling(c, func(run ir.Reg) { // runs of so many words are sorted, two of them opposite ways
		d := e.word("distance")
		e.B.Mov(d, run.V())
		e.Loop(func(l int32) {
			e.B.Break(l, ir.EQ, d.V(), ir.K(0))
			e.B.Barrier()
			e.B.Op2(ir.Sub, t, d.V(), ir.K(1))
			e.B.Op2(ir.And, t, t.V(), c.id.V())
			e.B.Op2(ir.Sub, t, c.id.V(), t.V())
			e.B.Op2(ir.Add, t, t.V(), c.id.V())
			e.When(ir.ULT, t.V(), c.even.V(), func() { e.orderPair(t, d, run) }, nil)
			e.B.Op2(ir.Shr, d, d.V(), ir.K(1))
		})
		e.B.Clear(d)
	})
	e.B.Barrier()
	e.B.Clear(a8, a4, of, t)
}

// orderPair puts the words at places i and i+d in order: upwards in every second pair of runs, downwards in the others.
func (e *warp) orderPair(i, d, run ir.Reg) {
	j, a8, a4, b8, b4 := e.word("j"), e.word("a8"), e.word("a4"), e.word("b8"), e.word("b4")
	x, y, xOf, yOf := e.Int("x"), e.Int("y"), e.word("x.of"), e.word("y.of")
	e.B.Op2(ir.Add, j, i.V(), d.V())
	e.cellOf(a8, i, 3)
	e.cellOf(a4, i, 2)
	e.cellOf(b8, j, 3)
	e.cellOf(b4, j, 2)
	e.B.Load8(x, scratch(a8, segmentWords))
	e.B.Load8(y, scratch(b8, segmentWords))
	e.B.Load(xOf, scratch(a4, segmentOf), 4, false)
	e.B.Load(yOf, scratch(b4, segmentOf), 4, false)
	after, last := e.word("after"), e.word("last")
	e.greater(after, x, y)
	e.B.Set(j, ir.UGE, xOf.V(), ir.K(noRow))
	e.B.Set(last, ir.UGE, yOf.V(), ir.K(noRow))
	e.B.Sel(after, ir.EQ, j.V(), last.V(), after.V(), j.V()) // who has no row comes last
	e.B.Op2(ir.Add, last, run.V(), run.V())
	e.B.Op2(ir.And, last, last.V(), i.V())
	e.B.Set(last, ir.EQ, last.V(), ir.K(0)) // upwards
	e.When(ir.EQ, after.V(), last.V(), func() {
		e.B.Store(scratch(a8, segmentWords), y.V(), 8)
		e.B.Store(scratch(b8, segmentWords), x.V(), 8)
		e.B.Store(scratch(a4, segmentOf), yOf.V(), 4)
		e.B.Store(scratch(b4, segmentOf), xOf.V(), 4)
	}, nil)
	e.B.Clear(j, a8, a4, b8, b4, x, y, xOf, yOf, after, last)
}

// greater sets a word to 1 if x > y, else 0.
func (e *warp) greater(d, x, y ir.Reg) {
	t := e.Int("t")
	e.B.Set(t, ir.GT, x.V(), y.V())
	e.B.Op1(ir.Narrow, d, t.V())
	e.B.Clear(t)
}

// findPlace opens what is at the thread's place, and sets mine to 1 in the threads whose row is the first of a run.
func (e *warp) findPlace(p *sorted, mine ir.Reg) {
	p.word, p.of, p.live = e.Int("word"), e.word("of"), e.word("live")
	at, t, before := e.word("at"), e.word("t"), e.Int("before")
	e.cellOf(at, p.id, 3)
	e.B.Load8(p.word, scratch(at, segmentWords))
	e.cellOf(at, p.id, 2)
	e.B.Load(p.of, scratch(at, segmentOf), 4, false)
	e.B.Store(scratch(at, segmentFirst), ir.K(0), 4)
	e.B.Set(p.live, ir.ULT, p.of.V(), ir.K(noRow))
	e.B.Sel(p.of, ir.NE, p.live.V(), ir.K(0), p.of.V(), p.id.V())
	e.B.Barrier()
	e.B.Mov(t, p.live.V())
	e.When(ir.NE, p.id.V(), ir.K(0), func() {
		e.cellOf(at, p.id, 3)
		e.B.Load8(before, scratch(at, segmentWords-8))
		e.B.Sel(t, ir.EQ, before.V(), p.word.V(), ir.K(0), t.V())
	}, nil)
	e.When(ir.NE, t.V(), ir.K(0), func() {
		e.cellOf(at, p.of, 2)
		e.B.Store(scratch(at, segmentFirst), ir.K(1), 4)
	}, nil)
	e.B.Barrier()
	e.cellOf(at, p.id, 2)
	e.B.Load(mine, scratch(at, segmentFirst), 4, false)
	e.B.Clear(at, t, before)
}

// addUpSegments adds an aggregate up in each run. Places take what lies 1, 2, 4 … places behind, if it is of the same run, so that the first gets all; the thread
// whose row is there gets it in its share.
func (e *warp) addUpSegments(p *sorted, mine ir.Reg, s *share) {
	at, from := e.word("at"), e.word("from")
	e.cellOf(at, p.id, 3)
	e.writeShare(s, at)
	e.B.Barrier()
	e.cellOf(from, p.of, 3)
	r := *s
	r.v = e.readShare(s, from)
	e.B.Barrier()
	e.writeShare(&r, at)
	e.doubling(p.crew, func(d ir.Reg) {
		other := e.otherOfRun(p, d, from)
		e.B.Barrier()
		e.cellOf(from, from, 3)
		v := e.readShare(s, from)
		e.B.Barrier()
		e.foldUnlessNone(&r, v, other)
		e.B.Clear(other)
		e.writeShare(&r, at)
	})
	e.B.Barrier()
	e.B.Op2(ir.Mul, from, p.of.V(), ir.K(8))
	e.When(ir.NE, p.live.V(), ir.K(0), func() { e.writeFirst(p, &r, from) }, nil)
	e.B.Barrier()
	e.Free(r.v)
	e.When(ir.NE, mine.V(), ir.K(0), func() {
		v := e.readShare(s, at)
		e.setShare(s, v)
		e.Free(v)
	}, nil)
	e.B.Clear(at, from)
}

// writeFirst gives the sum of a run to the thread at an address of cells, if its row is the first of the run.
func (e *warp) writeFirst(p *sorted, r *share, to ir.Reg) {
	at, first := e.word("at"), e.word("first")
	e.cellOf(at, p.of, 2)
	e.B.Load(first, scratch(at, segmentFirst), 4, false)
	e.When(ir.NE, first.V(), ir.K(0), func() { e.writeShare(r, to) }, nil)
	e.B.Clear(at, first)
}

// otherOfRun opens a register of 1 if the place d behind is not of the same run; from becomes that place, or the thread's own.
func (e *warp) otherOfRun(p *sorted, d, from ir.Reg) ir.Reg {
	other, at, word, of := e.Int("other"), e.word("at"), e.Int("word"), e.word("of")
	e.B.Mov(other, ir.K(1))
	e.B.Op2(ir.Add, from, p.id.V(), d.V())
	e.When(ir.ULT, from.V(), p.n.V(), func() {
		e.cellOf(at, from, 3)
		e.B.Load8(word, scratch(at, segmentWords))
		e.cellOf(at, from, 2)
		e.B.Load(of, scratch(at, segmentOf), 4, false)
		e.When(ir.ULT, of.V(), ir.K(noRow), func() { e.B.Set(other, ir.NE, word.V(), p.word.V()) }, nil)
	}, nil)
	e.B.Sel(from, ir.EQ, other.V(), ir.K(0), from.V(), p.id.V())
	e.B.Clear(at, word, of)
	return other
}

// foldUnlessNone takes what another place has, unless it counts for nothing; v is used up.
func (e *warp) foldUnlessNone(s *share, v code.Value, none ir.Reg) {
	if !s.v.Null.IsImm() {
		e.B.Op2(ir.Or, v.Null.R, v.Null, none.V())
		e.B.Op2(ir.And, s.v.Null.R, s.v.Null, v.Null)
		e.B.Clear(v.Null.R)
		v.OwnNull = false
	}
	e.foldUnless(s, v, none.V())
}
