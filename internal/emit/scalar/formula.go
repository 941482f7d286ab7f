package scalar

import (
	"math"
	"strings"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// formula computes what plan.Formula says. It is computed for all rows, and some are NULL all the same.
func (e *Evaluator) formula(x *plan.Call) code.Value {
	f := x.Fn.Formula
	args := make([]code.Value, len(x.Args))
	none := false // of its sums is known to be one of any row
	for i, a := range x.Args {
		args[i] = e.Eval(a)
		none = none || args[i].IsNull()
	}
	if none {
		e.Free(args...)
		return e.NullValue(x.T)
	}
	null := e.Int("null")
	e.B.Set(null, ir.LE, args[0].A, ir.K(f.Over))
	for _, i := range f.NotZero {
		zero := e.isZero(args[i].A.R)
		e.B.Op2(ir.Or, null, null.V(), zero.V())
		e.B.Clear(zero)
	}
	d := e.steps(f.Steps, args)
	if f.OneIfZero > 0 {
		one, zero := e.Float("one"), e.isZero(args[f.OneIfZero].A.R)
		e.B.FConst(one, int64(math.Float64bits(1)))
		e.B.FSel(d, ir.NE, zero.V(), ir.K(0), one, d)
		e.B.Clear(one, zero)
	}
	e.Free(args...)
	return code.Value{Desc: layout.Desc{Type: x.T, Form: layout.F64}, A: d.V(), OwnA: true}.WithNull(null.V(), true)
}

// isZero opens a register that tells whether x is zero.
func (e *Evaluator) isZero(x ir.Reg) ir.Reg {
	zero, is := e.Float("zero"), e.Int("iszero")
	e.B.FConst(zero, 0)
	e.B.FSet(is, ir.EQ, x, zero)
	e.B.Clear(zero)
	return is
}

// steps opens a register with what the steps of a formula come to.
func (e *Evaluator) steps(steps string, args []code.Value) ir.Reg {
	var stack []ir.Reg
	for _, s := range strings.Fields(steps) {
		if op, ok := formulaOps[s]; ok {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			e.B.Op2(op, stack[len(stack)-1], stack[len(stack)-1].V(), top.V())
			e.B.Clear(top)
			continue
		}
		if s == "sqrt" {
			e.B.Op1(ir.FSqrt, stack[len(stack)-1], stack[len(stack)-1].V())
			continue
		}
		r := e.Float("value")
		switch {
		case s == "one":
			e.B.FConst(r, int64(math.Float64bits(1)))
		case s == "0":
			e.B.Op1(ir.I2F, r, args[0].A)
		default:
			e.B.FMov(r, args[s[0]-'0'].A.R)
		}
		stack = append(stack, r)
	}
	return stack[0]
}

var formulaOps = map[string]ir.Op{"+": ir.FAdd, "-": ir.FSub, "*": ir.FMul, "/": ir.FDiv}
