package eval

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Columns gives the value of a column; ok is false if it is not known.
type Columns func(plan.ColID) (v types.Value, ok bool)

// Expr computes an expression. cols may be nil for one that reads no column.
func Expr(e plan.Expr, cols Columns) (types.Value, error) {
	switch x := e.(type) {
	case *plan.Const:
		return x.V, nil
	case *plan.Ref:
		if cols != nil {
			if v, ok := cols(x.ID); ok {
				return v, nil
			}
		}
		return types.Value{}, diag.Internalf("eval", "column #%d has no value", x.ID)
	case *plan.Call:
		switch x.Op {
		case plan.And, plan.Or:
			return logic(x, cols)
		case plan.Case:
			return choose(x, cols)
		case plan.Coalesce:
			return coalesce(x, cols)
		}
		return call(x, cols)
	}
	return types.Value{}, diag.Internalf("eval", "expression %T", e)
}

// call computes the operands, in order and all of them, then the operation.
func call(x *plan.Call, cols Columns) (types.Value, error) {
	var buf [4]types.Value // most operations have no more operands, and need no memory of their own
	args := buf[:0]
	if len(x.Args) > len(buf) {
		args = make([]types.Value, 0, len(x.Args))
	}
	null := false
	for _, a := range x.Args {
		v, err := Expr(a, cols)
		if err != nil {
			return v, err
		}
		null = null || v.Null
		args = append(args, v)
	}
	if null && x.Op.Strict() {
		return types.NullOf(x.T), nil
	}
	v, err := apply(x, args)
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
func logic(x *plan.Call, cols Columns) (types.Value, error) {
	null := false
	for _, a := range x.Args {
		v, err := Expr(a, cols)
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
func choose(x *plan.Call, cols Columns) (types.Value, error) {
	n := len(x.Args)
	for i := 0; i+1 < n; i += 2 {
		c, err := Expr(x.Args[i], cols)
		if err != nil {
			return c, err
		}
		if !c.Null && c.I != 0 {
			return typed(x.Args[i+1], cols, x.T)
		}
	}
	if n%2 == 0 {
		return types.NullOf(x.T), nil
	}
	return typed(x.Args[n-1], cols, x.T)
}

// coalesce is the first operand that is not NULL.
func coalesce(x *plan.Call, cols Columns) (types.Value, error) {
	for _, a := range x.Args {
		if v, err := typed(a, cols, x.T); err != nil || !v.Null {
			return v, err
		}
	}
	return types.NullOf(x.T), nil
}

// typed computes an operand that is the result as it is: it differs from it at most by the
// limit of a VARCHAR.
func typed(e plan.Expr, cols Columns, t types.Type) (types.Value, error) {
	v, err := Expr(e, cols)
	v.Type = t
	return v, err
}
