package text

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Worker is the space of a worker of the CPU, for itself. The executor is asked for more when there is none, and for what only Go
// knows: the letters beyond ASCII.
func Worker(e *code.Emitter) code.TextSpace { return workerSpace{e} }

type workerSpace struct{ *code.Emitter }

// word reads a word of the space into a register.
func (e workerSpace) word(r ir.Reg, off int) {
	e.B.Load8(r, ir.At(ir.Ctx, e.Word(code.Word{Kind: code.WordTexts})))
	e.B.Load8(r, ir.At(r, off))
}

// setWord writes one.
func (e workerSpace) setWord(off int, v ir.Val) {
	s := e.LoadWord("texts", code.Word{Kind: code.WordTexts})
	e.B.Store(ir.At(s, off), v, 8)
	e.B.Clear(s)
}

func (e workerSpace) Ready() {}

func (e workerSpace) Room(n ir.Val) ir.Reg {
	p, t, end := e.Int("text"), e.Int("t"), e.Int("end")
	e.word(p, layout.TextCur)
	e.word(end, layout.TextEnd)
	e.B.Op2(ir.Add, t, p.V(), n)
	e.When(ir.UGE, t.V(), end.V(), func() { // also at the very beginning, when all are 0
		e.setWord(layout.TextArg, n)
		e.B.Yield(layout.YieldText)
		e.word(p, layout.TextCur)
	}, nil)
	e.B.Clear(t, end)
	return p
}

func (e workerSpace) Take(end ir.Val) { e.setWord(layout.TextCur, end) }

func (e workerSpace) Mark() ir.Reg {
	mark := e.Int("mark")
	e.word(mark, layout.TextCur)
	return mark
}

// Drop: if a new piece of space was begun since, it is all that can be taken back.
func (e workerSpace) Drop(mark ir.Reg) {
	start, t, cur := e.Int("start"), e.Int("t"), e.Int("cur")
	e.word(start, layout.TextStart)
	e.word(cur, layout.TextCur)
	e.B.Op2(ir.Sub, t, mark.V(), start.V())
	e.B.Op2(ir.Sub, cur, cur.V(), start.V())
	e.B.Sel(t, ir.ULE, t.V(), cur.V(), mark.V(), start.V())
	e.setWord(layout.TextCur, t.V())
	e.B.Clear(start, t, cur)
}

// ask lets Go make a text of another, by a status with which the code yields. p and size become those of the answer.
func (e workerSpace) ask(status int32, p, size, src ir.Reg) {
	e.setWord(layout.TextArg, src.V())
	e.setWord(layout.TextArg+8, size.V())
	e.B.Yield(status)
	e.word(p, layout.TextArg)
	e.word(size, layout.TextArg+8)
}
