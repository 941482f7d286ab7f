package eval

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Columns gives the value of a column; ok is false if it is not known.
type Columns func(plan.ColID) (v types.Value, ok bool)

// Expr computes an expression. cols may be nil for one that reads no column.
func Expr(e plan.Expr, cols Columns) (types.Value, error) { return Within(e, cols, nil) }

// Within is Expr for texts that may be much larger than what they are made of: room is asked before one is
// made, with the bytes that it may take, and refuses it by an error.
func Within(e plan.Expr, cols Columns, room func(bytes int64) error) (types.Value, error) {
	return compute(e, &around{cols: cols, room: room})
}

// Row is Within for a row of the query that runs: functions whose value differs from row to row have one.
func Row(e plan.Expr, cols Columns, room func(bytes int64) error) (types.Value, error) {
	return compute(e, &around{cols, room, true, nil})
}

// around is what expressions are computed in.
type around struct {
	cols Columns
	room func(bytes int64) error
	row  bool // see Row
	// turns, if there are some, take elements of lists.
	turns *Turns
}

// LongestText is how many bytes a text may have that is made larger than what it is made of.
const LongestText = 1<<30 - 1

// fits refuses a text of a function that would be too large.
func (in *around) fits(fn *plan.Function, args []types.Value) error {
	n := fn.Size(args)
	if n > LongestText {
		return fail(diag.ProgramLimitExceeded, "requested length too large")
	}
	if in.room == nil {
		return nil
	}
	return in.room(n)
}

// compute computes an expression.
func compute(e plan.Expr, in *around) (types.Value, error) {
	switch x := e.(type) {
	case *plan.Const:
		return x.V, nil
	case *plan.Ref:
		if in.cols != nil {
			if v, ok := in.cols(x.ID); ok {
				return v, nil
			}
		}
		return types.Value{}, diag.Internalf("eval", "column #%d has no value", x.ID)
	case *plan.Call:
		switch x.Op {
		case plan.And, plan.Or:
			return logic(x, in)
		case plan.Case:
			return choose(x, in)
		case plan.Coalesce:
			return coalesce(x, in)
		case plan.Apply:
			return function(x, in)
		}
		return call(x, in)
	}
	return types.Value{}, diag.Internalf("eval", "expression %T", e)
}

// call computes the operands, in order and all of them, then the operation.
func call(x *plan.Call, in *around) (types.Value, error) {
	var buf [4]types.Value // most operations have no more operands, and need no memory of their own
	args := buf[:0]
	if len(x.Args) > len(buf) {
		args = make([]types.Value, 0, len(x.Args))
	}
	null := false
	for _, a := range x.Args {
		v, err := compute(a, in)
		if err != nil {
			return v, err
		}
		null = null || v.Null
		args = append(args, v)
	}
	if null && x.Strict() {
		return types.NullOf(x.T), nil
	}
	v, err := apply(x, args)
	if err != nil {
		return types.Value{}, at(err, x.Pos)
	}
	v.Type = x.T
	return v, nil
}

// function is call for a function of package funcs. It keeps its operands on the heap, where call does without.
func function(x *plan.Call, in *around) (types.Value, error) {
	if x.Fn.Volatile && !in.row {
		return types.Value{}, diag.Internalf("eval", "%s before the query runs", x.Fn.Name)
	}
	if in.turns != nil && x.Fn.InTurn && !plan.Volatile(x.Args[0]) {
		return in.turns.element(x, in)
	}
	args := make([]types.Value, len(x.Args))
	null := false
	for i, a := range x.Args {
		v, err := compute(a, in)
		if err != nil {
			return v, err
		}
		null = null || v.Null
		args[i] = v
	}
	if null && x.Fn.Strict {
		return types.NullOf(x.T), nil
	}
	if x.Fn.Size != nil {
		if err := in.fits(x.Fn, args); err != nil {
			return types.Value{}, at(err, x.Pos)
		}
	}
	v, err := x.Fn.Eval(args, x.T)
	if err != nil {
		return types.Value{}, at(err, x.Pos)
	}
	v.Type = x.T
	return v, nil
}

// at gives an error its place in the query text.
func at(err error, pos int) error {
	switch e := err.(type) {
	case *types.Error:
		d := diag.Errorf(e.Code, pos, "%s", e.Msg)
		d.Detail = e.Detail
		return d
	case *diag.Error:
		return e.At(pos)
	}
	return err
}

// fail is an error of this package's own; the caller knows the place.
func fail(code, msg string) error { return diag.Errorf(code, -1, "%s", msg) }

// logic is AND and OR: the first operand that decides ends the search, so that those after it
// cannot fail.
func logic(x *plan.Call, in *around) (types.Value, error) {
	null := false
	for _, a := range x.Args {
		v, err := compute(a, in)
		switch {
		case err != nil:
			return v, err
		case v.Null:
			null = true
		case (v.I != 0) == (x.Op == plan.Or):
			return v, nil
		}
	}
	if null {
		return types.NullOf(types.TBool), nil
	}
	return types.BoolValue(x.Op == plan.And), nil
}

// choose is CASE: only the branch that is taken is computed.
func choose(x *plan.Call, in *around) (types.Value, error) {
	n := len(x.Args)
	for i := 0; i+1 < n; i += 2 {
		c, err := compute(x.Args[i], in)
		if err != nil {
			return c, err
		}
		if !c.Null && c.I != 0 {
			return typed(x.Args[i+1], in, x.T)
		}
	}
	if n%2 == 0 {
		return types.NullOf(x.T), nil
	}
	return typed(x.Args[n-1], in, x.T)
}

// coalesce is the first operand that is not NULL.
func coalesce(x *plan.Call, in *around) (types.Value, error) {
	for _, a := range x.Args {
		if v, err := typed(a, in, x.T); err != nil || !v.Null {
			return v, err
		}
	}
	return types.NullOf(x.T), nil
}

// typed computes an operand that is the result as it is: it differs from it at most by the
// limit of a VARCHAR.
func typed(e plan.Expr, in *around, t types.Type) (types.Value, error) {
	v, err := compute(e, in)
	v.Type = t
	return v, err
}
