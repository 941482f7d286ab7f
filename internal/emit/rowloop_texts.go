package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Texts that a thread makes for groups of its own: whoever puts one into a group knows that at once.

func (e *rowLoop) texts() code.TextSpace { return text.Worker(&e.Emitter) }

// markKeys is MarkText for the keys of a grouping. What columns make while keys are computed may be looked at later, so
// there must be none.
func (e *rowLoop) markKeys(g *plan.Group) ir.Reg {
	made := false
	for _, x := range g.Keys {
		if c, ok := x.(*plan.Call); ok && scalar.MakesText(c) {
			made = true
		}
		if e.Makes(x, true) {
			return ir.NoReg
		}
	}
	if !made {
		return ir.NoReg
	}
	return e.Texts.Mark()
}

// keepTexts: what was not kept is seen by looking at the group.
func (e *rowLoop) keepTexts() {}

// dropUnless takes texts back unless a tuple's field got one of them.
func (e *rowLoop) dropUnless(mark, tuple ir.Reg, f *layout.Field, v code.Value) {
	held := e.Int("held")
	e.B.Load8(held, ir.At(tuple, f.Off))
	e.When(ir.NE, held.V(), v.A, func() { e.Texts.Drop(mark) }, nil)
	e.B.Clear(held)
}
