package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Lane refill between the steps of a text search. A row in whose text the first part of a LIKE pattern was found waits on a shelf with the place behind it; lanes
// that look for the second part all have a row.

// stepwise is a search that rows are in the middle of.
type stepwise struct {
	steps           text.LikeSteps
	p, stop, number ir.Reg // where the next part is looked for, up to where, and the row's number
	cols            []keptColumn
	rest            func()
}

// inSteps goes on with rest where operator i finds a text LIKE a pattern, if rows may wait between its parts; after are the tests that rest begins with.
func (e *warp) inSteps(i int, pred plan.Expr, after []plan.Expr, rest func()) bool {
	like, pattern, ok := phys.LikeSteps(pred)
	if !ok || !e.waits() || e.Makes(like.Args[0], false) { // what a lane made, others may not see
		return false
	}
	steps := text.StepsOf(pattern, like.Pos)
	if steps.Count() == 1 || !e.roomToWait(i+1, 2*(steps.Count()-1)) {
		return false
	}
	v := e.Eval(like.Args[0])
	if v.Desc.Form != layout.Str {
		e.Free(v)
		return false
	}
	e.f.How.Refill, e.f.How.RefillTexts = phys.RefillFlush, true
	e.skipNulls(v)
	s := &stepwise{steps: steps, p: e.perRow("p", ir.I64, 0), stop: e.perRow("stop", ir.I64, 0), number: e.perRow("number", ir.I64, 0), rest: rest}
	e.B.Mov(s.p, v.A)
	e.B.Op2(ir.Add, s.stop, v.A, v.B)
	e.Free(v)
	e.B.Mov(s.number, e.number.V())
	e.step(s, 0)
	var read plan.ColSet
	for _, x := range after {
		plan.AddRefs(&read, x)
	}
	s.cols = e.keepColumns(read, plan.ColSet{}, i+1)
	e.stepsFrom(s, 1)
	return true
}

// step drops the row unless its text has part k.
func (e *warp) step(s *stepwise, k int) {
	found := s.steps.Do(&e.Emitter, k, s.p, s.stop)
	e.skip(ir.EQ, found.V(), ir.K(0))
	e.B.Clear(found)
}

// stepsFrom lets rows wait, and goes on with part k and those behind it.
func (e *warp) stepsFrom(s *stepwise, k int) {
	if k == s.steps.Count() {
		s.rest()
		return
	}
	words := []code.Value{wordValue(s.p), wordValue(s.stop), wordValue(s.number)}
	place := e.newShelf(append(words, valuesOf(s.cols)...))
	e.arrive(func() {
		active := e.guard.active
		e.rebind(s.cols)
		e.exchange(place, active)
		e.warpLoop(while{c: ir.NE, x: active.V(), y: ir.K(0), once: true}, func() {
			e.number, e.row = s.number, s.number
			e.step(s, k)
			e.stepsFrom(s, k+1)
		}, func() {})
	})
}

// inSteps: a thread waits for nobody.
func (e *rowLoop) inSteps(int, plan.Expr, []plan.Expr, func()) bool { return false }
