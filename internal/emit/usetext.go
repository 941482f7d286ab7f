package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Which expressions make texts, and for how long those are needed.

// makesText reports the operations that make texts.
func makesText(x *plan.Call) bool {
	switch x.Op {
	case plan.Concat, plan.Lower, plan.Upper, plan.Replace:
		return true
	case plan.Cast:
		return x.T.Kind == types.Text && x.Args[0].Type().IsInteger()
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

// makes reports that evaluating x would make texts: by itself, or, lazily, by columns that it reads.
func (e *evaluator) makes(x plan.Expr, lazily bool) bool {
	found := false
	plan.WalkExpr(x, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Call:
			found = found || !lazily && makesText(x)
		case *plan.Ref:
			if lazily {
				if by := e.pending(x.ID); by != nil {
					found = found || e.makes(by, false) || e.makes(by, true)
				}
			}
		}
		return !found
	})
	return found
}

// withTexts emits f, after which the texts that it made are not needed any more. Columns that are first
// computed inside of it live on, so there must be none that make texts.
func (e *evaluator) withTexts(f func(), xs ...plan.Expr) {
	made := false
	for _, x := range xs {
		if x == nil {
			continue
		}
		if e.makes(x, true) {
			f()
			return
		}
		made = made || e.makes(x, false)
	}
	if !made {
		f()
		return
	}
	mark := e.markTexts()
	f()
	e.dropTexts(mark)
	e.b.Clear(mark)
}

// markText opens a register with the place where the texts of x will begin, if x is a text that is made and
// nothing else is made with it; else it is NoReg.
func (e *evaluator) markText(x plan.Expr) ir.Reg {
	c, ok := x.(*plan.Call)
	if !ok || x.Type().Kind != types.Text || !makesText(c) || e.makes(x, true) || !e.Can.Yield {
		return ir.NoReg
	}
	mark := e.markTexts()
	return mark
}
