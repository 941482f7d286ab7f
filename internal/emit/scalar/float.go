package scalar

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Arithmetic on floats. What leaves their range is an error, as in PostgreSQL; infinities and NaN that were there before
// are not. One comparison of a result's bits tells nearly all rows that nothing is wrong with them, and only the others
// look at their operands.

func floatOverflow(pos int) *diag.Error {
	return diag.Errorf(diag.NumericOutOfRange, pos, "value out of range: overflow")
}

func floatUnderflow(pos int) *diag.Error {
	return diag.Errorf(diag.NumericOutOfRange, pos, "value out of range: underflow")
}

// floatOp is l op r; both are used up. REAL is computed in double precision and rounded once, which is exact for + - * /.
func (e *Evaluator) floatOp(op ir.Op, l, r code.Value, x *plan.Call) code.Value {
	d := e.Float(ir.Op.String(op))
	e.B.Op2(op, d, l.A, r.A)
	if x.T.Kind == types.Float32 {
		e.B.Op1(ir.FRound32, d, d.V())
	}
	n, own := e.AnyNull(l, r)
	if n != ir.K(1) {
		e.floatRange(op, d, l.A.R, r.A.R, n, x.Pos)
	}
	e.Free(l, r)
	return code.Value{Desc: layout.Desc{Type: x.T, Form: layout.F64}, A: d.V(), OwnA: true}.WithNull(n, own)
}

// floatRange fails if d, which is l op r, is infinite or zero and should not be.
func (e *Evaluator) floatRange(op ir.Op, d, l, r ir.Reg, null ir.Val, pos int) {
	vanishes := op == ir.FMul || op == ir.FDiv // differences are exact where they are small
	size, bound := e.twice(d), twiceBits(math.Inf(1))
	if vanishes {
		e.B.Op2(ir.Sub, size, size.V(), ir.K(1)) // zero is then the largest
		bound--
	}
	e.When(ir.UGE, size.V(), ir.K(bound), func() {
		e.whereValue(null, func() {
			if !vanishes {
				e.failIfFinite(e.Exit, floatOverflow(pos), l, r)
				return
			}
			e.When(ir.NE, size.V(), ir.K(-1), func() { e.failIfFinite(e.Exit, floatOverflow(pos), l, r) }, func() {
				// Zero is right if an operand of a product is, or the dividend; and of a division by infinity.
				small, other := e.twice(l), e.twice(r)
				if op == ir.FMul {
					e.B.Sel(small, ir.EQ, other.V(), ir.K(0), ir.K(0), small.V())
				} else {
					e.B.Sel(small, ir.EQ, other.V(), ir.K(twiceBits(math.Inf(1))), ir.K(0), small.V())
				}
				e.Exit(e.Fail(floatUnderflow(pos)), ir.NE, small.V(), ir.K(0))
				e.B.Clear(small, other)
			})
		})
	}, nil)
	e.B.Clear(size)
}

// SumRange fails if sum, which is l + r, is beyond the range of its type, and both were within it. There may be no row to
// drop: exit ends the query where the caller is.
func (e *Evaluator) SumRange(t types.Type, sum, l, r ir.Reg, exit func(status int32, c ir.Cond, x, y ir.Val)) {
	bound := math.Inf(1)
	if t.Kind == types.Float32 {
		bound = maxReal
	}
	size := e.twice(sum)
	e.When(ir.UGE, size.V(), ir.K(twiceBits(bound)), func() {
		before := e.twice(l)
		// A sum that had left the range has failed, or had an infinity in it.
		e.When(ir.ULT, before.V(), ir.K(twiceBits(bound)), func() { e.failIfFinite(exit, floatOverflow(-1), r) }, nil)
		e.B.Clear(before)
	}, nil)
	e.B.Clear(size)
}

// NotFinite runs f where x is infinite or NaN.
func (e *Evaluator) NotFinite(x ir.Reg, f func()) {
	size := e.twice(x)
	e.When(ir.UGE, size.V(), ir.K(twiceBits(math.Inf(1))), f, nil)
	e.B.Clear(size)
}

// FailIfInfinite ends the query where x is infinite although all of from are numbers.
func (e *Evaluator) FailIfInfinite(exit func(status int32, c ir.Cond, x, y ir.Val), x ir.Reg, from ...ir.Reg) {
	size := e.twice(x)
	e.When(ir.EQ, size.V(), ir.K(twiceBits(math.Inf(1))), func() {
		if len(from) == 0 {
			exit(e.Fail(floatOverflow(-1)), ir.Always, ir.K(0), ir.K(0))
			return
		}
		e.failIfFinite(exit, floatOverflow(-1), from...)
	}, nil)
	e.B.Clear(size)
}

// maxReal is where doubles begin that are rounded to an infinite REAL.
const maxReal = math.MaxFloat32 + 1<<102

// twice opens a register with the bits of |x|, one to the left. As unsigned numbers they have the order of the
// floats; infinity and NaN come last.
func (e *Evaluator) twice(x ir.Reg) ir.Reg {
	r := e.Int("size")
	e.B.Op1(ir.FBits, r, x.V())
	e.B.Op2(ir.Add, r, r.V(), r.V())
	return r
}

func twiceBits(f float64) int64 { return 2 * floatBits(f) }

// failIfFinite ends the query if all of xs are numbers.
func (e *Evaluator) failIfFinite(exit func(status int32, c ir.Cond, x, y ir.Val), err *diag.Error, xs ...ir.Reg) {
	most := e.twice(xs[0])
	for _, x := range xs[1:] {
		size := e.twice(x)
		e.B.Sel(most, ir.UGT, size.V(), most.V(), size.V(), most.V())
		e.B.Clear(size)
	}
	exit(e.Fail(err), ir.ULT, most.V(), ir.K(twiceBits(math.Inf(1))))
	e.B.Clear(most)
}

// whereValue runs f for rows that are not NULL.
func (e *Evaluator) whereValue(null ir.Val, f func()) {
	if null.IsImm() {
		if null != ir.K(1) {
			f()
		}
		return
	}
	e.When(ir.EQ, null, ir.K(0), f, nil)
}

// divideFloats is l / r; both are used up. Zero is no divisor, but of NaN.
func (e *Evaluator) divideFloats(x *plan.Call, l, r code.Value) code.Value {
	zero, bad := e.Float("zero"), e.Int("bad")
	e.B.FConst(zero, 0)
	e.B.FSet(bad, ir.EQ, r.A.R, zero)
	n, own := e.AnyNull(l, r)
	e.When(ir.NE, bad.V(), ir.K(0), func() {
		e.whereValue(n, func() {
			size := e.twice(l.A.R)
			e.Exit(e.Fail(divisionByZero(x.Pos)), ir.ULE, size.V(), ir.K(twiceBits(math.Inf(1))))
			e.B.Clear(size)
		})
	}, nil)
	e.B.Clear(zero, bad)
	e.FreeNull(n, own)
	return e.floatOp(ir.FDiv, l, r, x)
}
