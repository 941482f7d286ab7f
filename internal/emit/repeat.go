package emit

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// times opens a register with the number of copies that are wanted of the row, which is dropped if there are none.
func (e *emitter) times(op *pipe.Repeat) ir.Reg {
	v := e.Eval(op.Count)
	e.skipNulls(v)
	if v.Desc.Form == layout.I128 { // computed wider than BIGINT; so often nobody waits for it
		hi := e.Int("sign")
		e.B.Op2(ir.Sar, hi, v.A, ir.K(63))
		e.Exit(e.Fail(diag.Errorf(diag.ProgramLimitExceeded, -1, "a row is repeated too often")), ir.NE, hi.V(), v.B)
		e.B.Clear(hi)
	}
	e.skip(ir.LE, v.A, ir.K(0))
	n := e.Int("times")
	e.B.Mov(n, v.A)
	most := layout.TypeRange(op.Count.Type())
	if v.Desc.Range.Fits64() {
		most = v.Desc.Range
	}
	e.multiply(int64(most.Hi.Lo))
	e.Free(v)
	return n
}

// numbered binds the number of a copy.
func (e *emitter) numbered(op *pipe.Repeat, at ir.Reg) {
	e.BindLazy(op.Col, func() code.Value {
		r := e.Int(e.Cols.Get(op.Col).Name)
		e.B.Mov(r, at.V())
		return code.IntValue(e.Cols.Get(op.Col).Type, r, layout.Between(0, 1<<62))
	})
}

func (e *rowLoop) repeat(op *pipe.Repeat, i int) {
	n := e.times(op)
	at := e.Int("copy")
	e.B.Mov(at, ir.K(0))
	outer := e.skipTo
	l := e.B.Loop()
	e.Block(func() {
		e.skipTo = l
		e.numbered(op, at)
		e.consume(i + 1)
	})
	e.B.Next(l)
	e.tick()
	e.B.Op2(ir.Add, at, at.V(), ir.K(1))
	e.B.EndLoop(l, ir.LT, at.V(), n.V())
	e.skipTo = outer
	e.B.Clear(n, at)
}

// repeat goes on, while some lane has copies left, with one of each such lane.
func (e *warp) repeat(op *pipe.Repeat, i int) {
	n := e.times(op)
	at, to := e.perRow("copy", ir.I64, 0), e.perRow("times", ir.I64, 0)
	e.B.Mov(at, ir.K(0))
	e.B.Mov(to, n.V())
	e.B.Clear(n)
	cols := e.keepColumns(plan.ColSet{}, plan.MakeColSet(op.Col), i+1)
	e.arrive(func() {
		active := e.guard.active
		e.rebind(cols)
		e.warpLoop(while{c: ir.ULT, x: at.V(), y: to.V(), set: func(has ir.Reg) {
			e.B.Op2(ir.And, has, has.V(), active.V())
		}}, func() {
			now := e.Int("now")
			e.B.Mov(now, at.V())
			e.B.Op2(ir.Add, at, at.V(), ir.K(1))
			e.numbered(op, now)
			e.consume(i + 1)
			e.B.Clear(now)
		}, func() {})
	})
}
