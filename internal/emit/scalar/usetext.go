package scalar

import (
	"github.com/kelpiedb/kelpie/internal/automaton"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Which expressions make texts, and for how long those are needed.

// MakesText reports the operations that make texts.
func MakesText(x *plan.Call) bool {
	switch x.Op {
	case plan.Concat, plan.Lower, plan.Upper, plan.Replace:
		return true
	case plan.Cast:
		return x.T.Kind == types.Text && x.Args[0].Type().IsInteger()
	case plan.Apply:
		u := x.Matching()
		return u != nil && u.Does == automaton.Replaces
	}
	return false
}

// canMake reports that there is code for an operation that makes a text.
func canMake(x *plan.Call) bool {
	switch x.Op {
	case plan.Replace:
		from, to := constantOf(x.Args[1]), constantOf(x.Args[2])
		return from != nil && to != nil && from.S != ""
	case plan.Cast:
		return x.T.Len == 0
	}
	return true
}

// Makes reports that evaluating x would make texts: by itself, or, lazily, by columns that it reads.
func (e *Evaluator) Makes(x plan.Expr, lazily bool) bool {
	found := false
	plan.WalkExpr(x, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Call:
			if inner, _, ok := e.foldedText(x); ok {
				found = found || e.Makes(inner, lazily)
				return false
			}
			found = found || !lazily && MakesText(x)
		case *plan.Ref:
			if lazily {
				if by := e.Pending(x.ID); by != nil {
					found = found || e.Makes(by, false) || e.Makes(by, true)
				}
			}
		}
		return !found
	})
	return found
}

// withTexts emits f, after which the texts that it made are not needed any more. Columns that are first
// computed inside of it live on, so there must be none that make texts.
func (e *Evaluator) withTexts(f func(), xs ...plan.Expr) {
	made := false
	for _, x := range xs {
		if x == nil {
			continue
		}
		if e.Makes(x, true) {
			f()
			return
		}
		made = made || e.Makes(x, false)
	}
	if !made {
		f()
		return
	}
	mark := e.Texts.Mark()
	f()
	e.Texts.Drop(mark)
	e.B.Clear(mark)
}

// MarkText opens a register with the place where the texts of x will begin, if x is a text that is made and
// nothing else is made with it; else it is NoReg.
func (e *Evaluator) MarkText(x plan.Expr) ir.Reg {
	c, ok := x.(*plan.Call)
	if !ok || x.Type().Kind != types.Text || !MakesText(c) || e.Makes(x, true) {
		return ir.NoReg
	}
	mark := e.Texts.Mark()
	return mark
}
