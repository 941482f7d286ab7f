package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// A row with very many matches keeps its warp at work long after all others have ended. Such rows are cut into pieces instead, which go into a
// queue; a second kernel of the same operators takes a piece for each lane, so that all multiprocessors share them. An entry of the queue is
// the number of the source's row, which the second kernel brings to the join again, and where its candidates begin and end.

// What a queue looks like, in bytes: how many entries were wanted, and from QueueHead on entries of QueueEntry.
const (
	QueueHead  = 64
	QueueEntry = 24
)

// queued reports that rows of a probe go to the queue.
func (e *warp) queued(p *probe) bool { return e.Queue.Op == p.i+1 }

// enqueue puts rows with many candidates into the queue, each by all lanes of its warp, and leaves them without. Where there is no room, they
// stay: what was claimed then has nothing in it.
func (e *warp) enqueue(x *expansion) {
	q, size := e.Queue, int64(x.p.t.Tuple.Size)
	active := e.guard.active
	e.B.Comment("rows with many candidates go to the queue")
	many, lead := e.Int("many"), e.Int("lead")
	e.B.Op2(ir.Sub, many, x.to.V(), x.from.V())
	e.B.Set(many, ir.GT, many.V(), ir.K(q.Heavy*size))
	e.B.Op2(ir.And, many, many.V(), active.V())
	e.B.Op1(ir.Ballot, many, many.V())
	l := e.B.Loop()
	e.B.Break(l, ir.EQ, many.V(), ir.K(0))
	e.B.Op1(ir.Ctz, lead, many.V())
	row, from, to, n, at := e.Int("row"), e.Int("from"), e.Int("to"), e.Int("pieces"), e.Int("at")
	e.B.Op2(ir.Shfl, row, x.number.V(), lead.V())
	e.B.Op2(ir.Shfl, from, x.from.V(), lead.V())
	e.B.Op2(ir.Shfl, to, x.to.V(), lead.V())
	e.B.Op2(ir.Sub, n, to.V(), from.V())
	e.B.Op2(ir.Add, n, n.V(), ir.K(q.Piece*size-1))
	e.B.Op2(ir.Div, n, n.V(), ir.K(q.Piece*size))
	e.B.Mov(at, ir.K(0))
	queue := e.LoadWord("queue", code.Word{Kind: code.WordQueue})
	e.When(ir.EQ, e.lane.V(), ir.K(0), func() { e.B.Atom(ir.AtomAdd, at, ir.At(queue, 0), n.V(), ir.Val{}) }, nil)
	e.B.Op2(ir.Shfl, at, at.V(), ir.K(0))
	e.B.Op2(ir.Add, n, n.V(), at.V())
	e.When(ir.LE, n.V(), ir.K(q.Room), func() {
		e.B.Op2(ir.Add, at, at.V(), e.lane.V())
		t, end := e.Int("t"), e.Int("end")
		e.B.Op2(ir.Mul, t, e.lane.V(), ir.K(q.Piece*size))
		e.B.Op2(ir.Add, from, from.V(), t.V())
		e.Loop(func(l int32) {
			e.B.Break(l, ir.GE, at.V(), n.V())
			e.B.Op2(ir.Mul, t, at.V(), ir.K(QueueEntry))
			e.B.Op2(ir.Add, t, t.V(), queue.V())
			e.B.Store(ir.At(t, QueueHead), row.V(), 8)
			e.B.Store(ir.At(t, QueueHead+8), from.V(), 8)
			e.B.Op2(ir.Add, from, from.V(), ir.K(q.Piece*size))
			e.B.Sel(end, ir.ULT, from.V(), to.V(), from.V(), to.V())
			e.B.Store(ir.At(t, QueueHead+16), end.V(), 8)
			e.B.Op2(ir.Add, at, at.V(), ir.K(32))
			e.B.Op2(ir.Add, from, from.V(), ir.K(31*q.Piece*size))
		})
		e.B.Clear(t, end)
		e.When(ir.EQ, e.lane.V(), lead.V(), func() { e.B.Mov(x.to, x.from.V()) }, nil)
	}, nil)
	e.B.Clear(row, from, to, n, at, queue)
	e.B.Op2(ir.Sub, lead, many.V(), ir.K(1))
	e.B.Op2(ir.And, many, many.V(), lead.V())
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.B.Clear(many, lead)
}

// piece is a part of a row's candidates, from the queue.
type piece struct{ from, to ir.Reg }

// pieces takes entry i of the queue: body goes on with the number of its row.
func (e *warp) pieces(i ir.Reg, body func(row ir.Reg)) {
	at, row, from, to := e.Int("entry"), e.Int("row"), e.Int("from"), e.Int("to")
	e.B.Load8(at, ir.At(ir.Ctx, e.Word(code.Word{Kind: code.WordQueue})))
	e.B.Op2(ir.Mul, row, i.V(), ir.K(QueueEntry))
	e.B.Op2(ir.Add, at, at.V(), row.V())
	e.B.Load8(from, ir.At(at, QueueHead+8))
	e.B.Load8(to, ir.At(at, QueueHead+16))
	e.skip(ir.UGE, from.V(), to.V()) // claimed in vain
	e.B.Load8(row, ir.At(at, QueueHead))
	e.piece = piece{from, to}
	body(row)
	e.B.Clear(at, row, from, to)
}

// counted reports that the kernel counts rows behind operator op: those before the join were counted when they went to the queue.
func (e *emitter) counted(op int) bool { return !e.Queue.Pieces || op >= e.Queue.Op-1 }
